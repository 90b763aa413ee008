"""The base of all pages, the addresses that lead to them, those that were visited, and the sizes of a screen.

To add a page: write its record in `foretop_core.pages` and its screen half in `foretop.panes.page_records`; one
without a table also needs a `Page` of its own in `foretop.pages.make_page`. The main screen mounts it when it is first
opened, calls `attach(state)` once the session is there, and `pulse()` at most fifteen times a second while it is on the
screen and something changed or a second has passed. A page draws from `state.store`, `state.render_context(context)`
and `state.now(context)` only, and repaints only what differs from what is on the screen (`StyledLine.show` and
`TextPane.show` see to that). For each action of `foretop.bindings` that it can carry out it has a method in
`handlers()`; `offers(id)` may say that there is nothing to do just now. Other pages it reaches through `self.host`;
messages to the person go through `self.app.notify`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace
from textual.message import Message
from textual.widget import Widget

from foretop.bindings import Handler, KeyHints
from foretop.widgets.paragraphs import Line, Paragraph, span
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.errors import let_through
from foretop_core.pages import DETAIL
from foretop_core.tables.engine.status_glyphs import Tone

if TYPE_CHECKING:
    from foretop.panes.action_sentences import ApplicableAction
    from foretop_core.config.settings import Settings
    from foretop_core.dashboard.state import DashboardState
    from foretop_core.models.wire import ObjectRef
    from foretop_core.rules.facts.contents_facts import FetchedFiles


class PageHost(Protocol):
    """Navigation to other pages, and the actions that work on the page that is shown."""

    @property
    def current(self) -> str:
        """The id of the page that is shown."""

    async def go(self, place: PageAddress, *, remember: bool = True) -> None:
        """Shows another page."""

    def attach(self, state: DashboardState) -> None:
        """Every page gets the facts, also of a context that was added."""

    async def show_object(self, key: ObjectRef, section: str = "overview") -> None:
        """Opens the detail of an object."""

    def applicable_actions(self) -> list[ApplicableAction]:
        """The actions that would do something to an object here and now, and to which."""


WIDE, HUGE = 120, 160
"""Columns from which on the pane stands beside the table, and has more room."""
LOW, HIGH = 20, 36
"""Lines below which the pane is hidden, and from which on it has more lines below the table."""
SIZE_CLASSES = [(0, "-narrow"), (WIDE, "-wide"), (HUGE, "-huge")]
HEIGHT_CLASSES = [(0, "-low"), (LOW, "-middle"), (HIGH, "-high")]
"""What the style sheet calls them; the screen has the class of its size."""
_MOST_VISITED = 50


class PageAddress(msgspec.Struct, frozen=True):
    """A page, its filter, and the object that was selected or open."""

    page: str
    filter: str | None = None
    key: ObjectRef | None = None
    section: str = "overview"
    jumped: bool = False
    """Reached by a jump: back leads to where that came from."""


class Page(Widget):
    """One tab, or the detail of one object."""

    DEFAULT_CSS = "Page { width: 1fr; height: 1fr; }"

    class Altered(Message):
        """The page changed something that the main screen shows of it: its keys or its filter."""

    def __init__(self, page_id: str, display_options: DisplayOptions, host: PageHost) -> None:
        super().__init__(id=f"page-{page_id}")
        self.page_id = page_id
        self.display_options = display_options
        self.host = host
        self.state: DashboardState | None = None

    def attach(self, state: DashboardState) -> None:
        """The facts are there from now on."""
        self.state = state

    def configure(self, settings: Settings) -> None:
        """The person's configuration, when the page is made and whenever it changes."""

    def explain(self, lines: Sequence[Line]) -> None:
        """There are no facts at all yet, and this is why."""

    def pulse(self) -> None:
        """Something changed, or a second has passed."""

    def shown(self) -> None:
        """The page has come onto the screen; whoever takes the keys takes the focus."""

    def left(self) -> None:
        """Another page has taken its place."""

    def kinds_on_demand(self) -> frozenset[str]:
        """The kinds that are watched only while this page is on the screen."""
        return frozenset()

    def refocus(self) -> None:
        """A person looks at another namespace or cluster."""

    def handlers(self) -> Mapping[str, Handler]:
        """By the id of the action, what carries it out here."""
        return {}

    def offers(self, action_id: str) -> bool:
        """True if one of its own actions would do something now."""
        return True

    @property
    def is_folded(self) -> bool:
        """True if the cursor is on the head of a group whose rows are hidden."""
        return False

    def ways_of_typing(self) -> KeyHints:
        """The keys that work while a field of it is typed in; none where no field is."""
        return ()

    def subject(self) -> ObjectRef | None:
        """The object that opening, copying and jumping are about."""
        return None

    def subject_of(self, action_id: str) -> ObjectRef | None:
        """The object that this action would be asked of: on a page without a cursor there may be one for a few."""
        return self.subject()

    def typed(self) -> Mapping[str, str]:
        """The texts on the page that the fields of a dialog begin with, by their names."""
        return {}

    def run_under_cursor(self) -> ObjectRef | None:
        """The run under the cursor where the page is about another object."""
        return None

    section = ""
    """Which section of an object is on the screen; "" on a page of no object."""

    @property
    def lacks_list(self) -> bool:
        """True if a section is on the screen whose list was not fetched yet."""
        return False

    @property
    def has_list(self) -> bool:
        """True if the section on the screen has more to fetch."""
        return False

    @property
    def why_no_list(self) -> str:
        """The reason why the key that fetches it has nothing to fetch here; "" where it has."""
        return ""

    def keep_results(self, key: ObjectRef, files: FetchedFiles) -> None:
        """Takes the results of an object, which were fetched."""

    @property
    def has_frames(self) -> bool:
        """True if it has lines of its own that tell how it is narrowed, and as of when its rows are."""
        return False

    def show_frames(self) -> None:
        """Draws those lines anew where something that they tell has changed."""

    def hint(self) -> str:
        """The text of the rule above the footer: how the page is narrowed."""
        return ""

    @property
    def hint_tone(self) -> Tone:
        """Coloured where the page shows less than all, or something went wrong."""
        return Tone.BAD if self.has_problem else Tone.DIM

    @property
    def has_problem(self) -> bool:
        """The hint tells of something that went wrong."""
        return False

    def place(self) -> PageAddress:
        """The place of a person now, to come back to."""
        return PageAddress(self.page_id)

    def restore(self, place: PageAddress) -> None:
        """A person has come back."""

    def can_go_back(self) -> bool:
        """True if there is a step back within the page."""
        return False

    def go_back(self) -> bool:
        """One step back within the page; False where there is none."""
        return False


def safely(
    make: Callable[[], Sequence[Paragraph]], what: str, key: ObjectRef, state: DashboardState
) -> Sequence[Paragraph]:
    """A pane that cannot be made says so and is listed in Triage; everything else goes on."""
    try:
        return make()
    except Exception as problem:
        let_through(problem)
        failure = state.note_failure(what, key, problem)
        return (Paragraph((span(f"{key.name} cannot be shown: {failure.problem}", Tone.BAD),)),)


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
        self._places = trail[-_MOST_VISITED:]
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
