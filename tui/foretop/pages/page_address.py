"""Where a person is: which page, how it is narrowed, and what is under the cursor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foretop_core.store import Key


@dataclass(frozen=True, slots=True)
class PageAddress:
    """A page, how it was narrowed, and what was under the cursor or open."""

    page: str
    filter: str | None = None
    key: Key | None = None
    section: str = "overview"
    jumped: bool = False
    """Reached by a jump: back leads to where that came from."""
