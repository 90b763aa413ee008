"""The base of all modal windows, which escape, q and ctrl+c close: windows to read and to pick a choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text
from textual import events, on
from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen, Screen
from textual.widgets import Label, Static
from textual.widgets.option_list import Option

from foretop.widgets.line_widgets import TextPane
from foretop.widgets.prompt import PlainOptionList
from foretop.widgets.styles import FAINT
from foretop_core.tables.text.terminal_text import unsigned, width

Answer = TypeVar("Answer")
_WINDOWS = ((160, 120), (120, 100), (0, 78))
"""From how many columns of the terminal on a window has how many."""


class _Faint:
    """Draws a screen in the colour of tracks alone, which every theme has; without colours it is dim."""

    def __init__(self, behind: BackgroundScreen) -> None:
        self._behind = behind

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for text, _, control in console.render(self._behind, options):
            yield Segment(text, None if control else FAINT, control)


class BaseModal(ModalScreen[Answer]):
    """A modal window that can be closed without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "leave", "out", show=False),
    ]
    kinds_on_demand: ClassVar[frozenset[str]] = frozenset()
    """The kinds that are watched only while it is open, or a page needs them."""

    def __init__(self) -> None:
        super().__init__()
        self.is_left = False

    def render(self) -> RenderableType:
        """The page behind, faint: what is to be read and answered is the window."""
        drawn = super().render()
        return _Faint(drawn) if isinstance(drawn, BackgroundScreen) else drawn

    def action_leave(self) -> None:
        self.dismiss(None)

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Ends its workers as well: an answer that comes while it closes would be drawn into what is gone.

        A window that is left before its parts are there, by a key that came right after the one that opens it, goes
        when they have come: what it does then would not find them.
        """
        if self.is_left:
            return AwaitComplete()
        if not self.is_mounted:

            def leave() -> None:
                self.dismiss(result)

            self.call_later(leave)
            return AwaitComplete()
        self.is_left = True
        self.workers.cancel_node(self)
        return super().dismiss(result)

    def call_after_refresh(self, callback: Callable[..., Any], *args: Any, **named: Any) -> bool:
        """Drops what waits for a refresh when it is left: the screen below has that refresh, and its parts are gone."""

        def unless_left() -> Any:
            return None if self.is_left else callback(*args, **named)

        return super().call_after_refresh(unless_left)

    @property
    def window_cells(self) -> int:
        """The width of its window, as the style sheet has it; the screen gets its class of size only after this."""
        cells = self.app.size.width
        return min(cells, next(wide for least, wide in _WINDOWS if cells >= least))

    def pulse(self) -> None:
        """Called at every change of the store, and at every second of the clock."""

    def show_notice(self, text: str) -> bool:
        """Shows a message inside the window; False where it has no place for one, and the message waits."""
        return False


class TextModal(BaseModal[None]):
    """A window with a text, in one column or two, which scrolls where it does not fit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_by(1)", show=False),
        Binding("up,k", "scroll_by(-1)", show=False),
        Binding("pagedown,space,ctrl+f", "page(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("end,G", "scroll_by(1000000)", show=False),
        Binding("home,g", "scroll_by(-1000000)", show=False),
    ]

    def action_scroll_by(self, by: int) -> None:
        for pane in self.query(TextPane):
            pane.scroll_lines(by)

    def action_page(self, by: int) -> None:
        """One line of the page before stays in sight."""
        self.action_scroll_by(by * max(1, self.query(TextPane).first().size.height - 1))


_LEAST_WIDTH = 76
_FRAME = 5
"""Cells of the border, beside it and for a scrollbar."""


class ChoicePicker(BaseModal[int]):
    """A list of choices, with as many lines each; the answer is the index of the chosen one.

    `others` are further keys: what each says in the last line, and what it does with the index of the choice.
    """

    def __init__(
        self,
        title: str,
        labels: Sequence[str],
        others: Mapping[str, tuple[str, Callable[[int], None]]] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self._title = title
        self._labels = [[unsigned(line) for line in label.splitlines() or [""]] for label in labels]
        self._others = others

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Label(Text(unsigned(self._title), style="bold"))
            listed = PlainOptionList(*(Option(Text("\n".join(lines), no_wrap=True)) for lines in self._labels))
            listed.lines_each = max(map(len, self._labels), default=1)
            yield listed
            more = "".join(f"{key} {words}, " for key, (words, _) in self._others.items())
            yield Label(Text(f"enter select, {more}esc/q close", style="dim"))

    def on_mount(self) -> None:
        """As wide as its longest choice, where the terminal is."""
        longest = max(width(line) for line in (unsigned(self._title), *chain(*self._labels)))
        self.query_one(".window").styles.width = max(_LEAST_WIDTH, longest + _FRAME)

    @on(PlainOptionList.OptionSelected)
    def _chosen(self, event: PlainOptionList.OptionSelected) -> None:
        self.dismiss(event.option_index)

    def on_key(self, event: events.Key) -> None:
        other = self._others.get(event.key) or self._others.get(event.character or "")
        place = self.query_one(PlainOptionList).highlighted
        if other is not None and place is not None:
            event.stop()
            self.dismiss(None)
            self.app.call_later(other[1], place)


def choose(
    app: App[object],
    title: str,
    labels: Sequence[str],
    take: Callable[[int], object],
    others: Mapping[str, tuple[str, Callable[[int], None]]] = MappingProxyType({}),
) -> None:
    """Opens a list of choices; the index of the one that is chosen is taken."""

    def chosen(place: int | None) -> None:
        if place is not None:
            take(place)

    app.push_screen(ChoicePicker(title, labels, others), chosen)


class TooSmallScreen(Screen[None]):
    """One sentence; no key reaches what is below."""

    DEFAULT_CSS = """
    TooSmallScreen { background: ansi_default; }
    TooSmallScreen Static { width: 100%; text-align: center; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,ctrl+c", "app.leave", show=False)]

    def __init__(self, least: Size) -> None:
        super().__init__()
        self._least = least

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def on_resize(self, event: events.Resize) -> None:
        size, least = event.size, self._least
        self.query_one(Static).update(
            f"Terminal too small: {size.width}x{size.height}. foretop needs {least.width}x{least.height}. q quits."
        )
