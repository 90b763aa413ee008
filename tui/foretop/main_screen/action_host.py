"""The protocols between the main screen, the handlers of its actions, and the app."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, Any, Protocol

from foretop.bindings import Action, Handler
from foretop.pages.page import Page, PageHost
from foretop_core.dashboard.session_protocol import DisplayOptions

if TYPE_CHECKING:
    from textual.app import App

    from foretop_core.dashboard.action_service import ActionService
    from foretop_core.dashboard.state import DashboardState
    from foretop_core.models.wire import ObjectRef


class ActionCarrier(Protocol):
    """An object that handles actions: a page, the main screen, or one of its handler objects."""

    def handlers(self) -> Mapping[str, Handler]:
        """By the id of the action, what carries it out."""

    def offers(self, action_id: str) -> bool:
        """True if one of its own actions would do something now."""


class AppHost(Protocol):
    """The services of the dashboard for its main screen, beyond those of every Textual app."""

    @property
    def told(self) -> Sequence[tuple[str, str]]:
        """The messages so far, with their times."""

    @property
    def my_zone(self) -> tzinfo:
        """The zone of the machine that foretop runs on."""

    def try_again(self) -> None:
        """Tries now whatever waits before it is tried again."""

    def toggle_mouse(self) -> None: ...

    def cycle_theme(self) -> None:
        """The next theme, remembered."""

    def show_theme(self, name: str, *, afresh: bool = False) -> None: ...

    def write_terminal(self, text: str) -> None: ...

    def note_failure(self, what: str, subject: ObjectRef | None, problem: Exception) -> bool:
        """Something failed that was asked for or drawn: it is told once, and listed in Triage."""


class ActionHost(PageHost, Protocol):
    """The main screen as those see it who carry out its actions."""

    @property
    def app(self) -> App[object]: ...

    @property
    def display_options(self) -> DisplayOptions: ...

    @property
    def state(self) -> DashboardState | None:
        """None until the session is open."""

    @property
    def page(self) -> Page | None:
        """The page that is shown."""

    @property
    def service(self) -> ActionService:
        """Carries the writes of every window, and knows what a person has agreed to."""

    def available(self) -> list[Action]:
        """The actions that would do something here and now."""

    def has_tab(self, page_id: str) -> bool:
        """True if a page has a tab; from one without, escape leads back."""

    async def action_tab(self, page_id: str) -> None: ...

    async def action_do(self, action_id: str) -> None: ...

    def pulse(self) -> None:
        """Draws what is on the screen as it is at this moment."""

    def run_worker(self, work: Coroutine[Any, Any, None], /) -> object: ...
