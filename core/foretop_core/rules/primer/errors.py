"""Why a schedule cannot be primed."""

from __future__ import annotations

from foretop_core.errors import BadInput


class PrimerError(BadInput):
    """There is no primed schedule for this one."""
