"""The history of visited pages, for back and forward."""

from __future__ import annotations

from msgspec.structs import replace

from foretop.pages.page import PageAddress
from foretop_core.pages import DETAIL

_MOST = 50


class PageHistory:
    """The visited pages in order, and the position among them."""

    def __init__(self) -> None:
        self._places: list[PageAddress] = []
        self._at = -1
        self._before = -1

    @property
    def tab(self) -> str:
        """The last tab that was on the screen, also while a detail covers it."""
        tabs = [place.page for place in self._places[: self._at + 1] if place.page != DETAIL]
        return tabs[-1] if tabs else ""

    @property
    def can_go_back(self) -> bool:
        return self._at > 0

    @property
    def has_jumped(self) -> bool:
        return self.can_go_back and self._places[self._at].jumped

    @property
    def can_go_on(self) -> bool:
        return self._at < len(self._places) - 1

    def visit(self, place: PageAddress) -> None:
        """A new place; what lay ahead is forgotten."""
        trail = [*self._places[: self._at + 1], place]
        self._places = trail[-_MOST:]
        self._before, self._at = len(self._places) - 2, len(self._places) - 1

    def note(self, seen: PageAddress) -> None:
        """Keeps how the place looked when it was left."""
        if 0 <= self._at < len(self._places) and self._places[self._at].page == seen.page:
            self._places[self._at] = replace(seen, jumped=self._places[self._at].jumped)

    def step(self, by: int) -> PageAddress | None:
        if not 0 <= self._at + by < len(self._places):
            return None
        self._before, self._at = self._at, self._at + by
        return self._places[self._at]

    def swap(self) -> PageAddress | None:
        """To and fro between the last two places."""
        if not 0 <= self._before < len(self._places):
            return None
        self._before, self._at = self._at, self._before
        return self._places[self._at]

    def out_of_detail(self) -> PageAddress | None:
        """The last place before this one that is not a detail page."""
        while (place := self.step(-1)) is not None:
            if place.page != DETAIL:
                return place
        return None
