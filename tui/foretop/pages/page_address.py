"""The address of a page: its name, its filter, and the selected row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from foretop_core.models.wire import ObjectRef


class PageAddress(msgspec.Struct, frozen=True):
    """A page, its filter, and the object that was selected or open."""

    page: str
    filter: str | None = None
    key: ObjectRef | None = None
    section: str = "overview"
    jumped: bool = False
    """Reached by a jump: back leads to where that came from."""
