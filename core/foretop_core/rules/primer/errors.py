"""The reasons why a schedule cannot be primed."""

from __future__ import annotations

from foretop_core.errors import BadInput


class PrimerError(BadInput):
    """A schedule without a primed schedule."""
