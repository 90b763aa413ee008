"""The protocol of what a page may ask of its screen."""

from __future__ import annotations

from typing import Protocol

from foretop.pages.page_address import PageAddress
from foretop.panes.action_sentences import ApplicableAction
from foretop_core.models.wire import ObjectRef


class PageHost(Protocol):
    """Navigation to other pages, and the actions that work on the page that is shown."""

    @property
    def current(self) -> str:
        """The id of the page that is shown."""

    async def go(self, place: PageAddress, *, remember: bool = True) -> None:
        """Shows another page."""

    async def show_object(self, key: ObjectRef, section: str = "overview") -> None:
        """Opens the detail of an object."""

    def applicable_actions(self) -> list[ApplicableAction]:
        """The actions that would do something to an object here and now, and to which."""
