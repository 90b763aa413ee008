"""The lanes of the calendar: a time line, the load, and one line for each schedule on the screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from foretop.widgets.line_widgets import changed_cells, explanation_strip, strip_of
from foretop.widgets.paragraphs import Line, Span, span
from foretop.widgets.styles import CURSOR, DIM, HEAD, PLAIN, style_of
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.severity import Severity
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import clean, cut, cut_end, pad, width
from foretop_core.tables.timeline.lanes import (
    HORIZONS,
    NO_OBSTACLES,
    LaneObstacles,
    StartLoad,
    TimelineItem,
    lane,
    next_runs,
)
from foretop_core.tables.timeline.time_axis import TimeAxis, axis, axis_over, bars, with_lengths
from foretop_core.tables.timeline.timeline_model import TimelineModel

_HEADS = 2
_WIDE = 110
"""From this width on there is a column that counts down to the next run."""
_SHORTEST_NAME, _LONGEST_NAME, _LONGEST_NAME_WIDE = 12, 14, 30
_NEXT = 11
_AGAIN = timedelta(seconds=1)
"""What thousands of changes a second do to the load is looked at this often."""


class Timeline(Widget, can_focus=True):
    """The lanes; the cursor belongs to a schedule, not to a line, and only visible lanes are computed."""

    DEFAULT_CSS = "Timeline { width: 1fr; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    class Moved(Message):
        """Another schedule is under the cursor."""

    def __init__(self, *, ascii: bool, id: str | None = None) -> None:
        super().__init__(id=id)
        self._ascii = ascii
        self.timeline: TimelineModel | None = None
        self.horizon = 0
        self.cursor: ObjectRef | None = None
        self.names: dict[str, str] = {}
        """What goes before a name to tell clusters apart."""
        self.length_of: Callable[[ObjectRef], timedelta | None] = lambda _: None
        """How long the runs of a schedule usually take."""
        self.obstacles_of: Callable[[ObjectRef], LaneObstacles] = lambda _: NO_OBSTACLES
        """What keeps its runs from being made."""
        self.signs: set[str] = set()
        """The signs in the lanes on the screen."""
        self._moved = False
        self._place = 0
        self._top = 0
        self._now: datetime | None = None
        self._zone: tzinfo | None = None
        self._lines: list[Line] = []
        self._empty: tuple[Line, ...] = ()
        self._load: StartLoad | None = None
        self._load_of: tuple[int, TimeAxis] | None = None
        self._load_at: datetime | None = None
        self._longest: tuple[int, int] = (-1, 0)

    # What it knows

    @property
    def height(self) -> int:
        """Lines for lanes, the two heads not counted."""
        return max(0, self.size.height - _HEADS)

    @property
    def lines(self) -> Sequence[Line]:
        return self._lines

    @property
    def load(self) -> StartLoad | None:
        return self._load

    @property
    def ruler(self) -> TimeAxis | None:
        if self._now is None or self._zone is None:
            return None
        return axis_over(self._now, HORIZONS[self.horizon], self.size.width - self._left, self._zone)

    def explain(self, lines: Sequence[Line]) -> None:
        """Set the text in place of lanes where there are none."""
        if tuple(lines) != self._empty:
            self._empty = tuple(lines)
            self.refresh()

    # What changes

    def draw(self, now: datetime, zone: tzinfo) -> None:
        """The lanes as they are at this moment; only the lines that look different are painted."""
        self._now, self._zone = now, zone
        if self.timeline is None or not self.size.height:
            return
        self._follow()
        before, self._lines = self._lines, self._made()
        for y in range(max(len(before), len(self._lines))):
            old, new = _at(before, y), _at(self._lines, y)
            if old != new:
                start, stop = changed_cells(old, new)
                self.refresh(Region(start, y, max(1, stop - start), 1))

    def _follow(self) -> None:
        """Finds the cursor's schedule again; where it is gone, its neighbour takes the cursor.

        Until a person moves it, it stays on what starts next.
        """
        assert self.timeline is not None
        if not self._moved:
            self._set(0)
            return
        found = self.timeline.place(self.cursor, self._place) if self.cursor is not None else None
        self._set(self._place if found is None else found)

    def _set(self, place: int) -> None:
        assert self.timeline is not None
        order = self.timeline.order
        self._place = max(0, min(place, len(order) - 1))
        self._top = max(self._place - self.height + 1, min(self._top, self._place))
        self._top = max(0, min(self._top, len(order) - self.height))
        found = order[self._place] if order else None
        if found != self.cursor:
            self.cursor = found
            self.post_message(self.Moved())

    # What a person does

    def go_to(self, key: ObjectRef) -> bool:
        place = self.timeline.place(key) if self.timeline is not None else None
        if place is None:
            return False
        self._move_to(place)
        return True

    def action_move(self, by: int) -> None:
        self._move_to(self._place + by)

    def action_page(self, by: int) -> None:
        self._move_to(self._place + by * max(1, self.height - 1))

    def action_edge(self, by: int) -> None:
        self._move_to(0 if by < 0 or self.timeline is None else len(self.timeline.order) - 1)

    def _move_to(self, place: int) -> None:
        if self.timeline is not None and self._now is not None and self._zone is not None:
            self._moved = True
            self._set(place)
            self.draw(self._now, self._zone)

    def on_resize(self, event: events.Resize) -> None:
        if self._now is not None and self._zone is not None:
            self.draw(self._now, self._zone)
            self.refresh()

    def on_mouse_scroll_down(self) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-3)

    def on_click(self, event: events.Click) -> None:
        if event.y >= _HEADS:
            self._move_to(self._top + event.y - _HEADS)

    # What is painted

    @property
    def _is_wide(self) -> bool:
        return self.size.width >= _WIDE

    @property
    def _name_room(self) -> int:
        assert self.timeline is not None
        if self._longest[0] != self.timeline.revision:
            longest = max((width(self._called(item.key)) for item in self.timeline.items), default=0)
            self._longest = (self.timeline.revision, longest)
        return max(_SHORTEST_NAME, min(self._longest[1], _LONGEST_NAME_WIDE if self._is_wide else _LONGEST_NAME))

    @property
    def _left(self) -> int:
        """Before the lanes: a space, the name, the glyph between spaces, and perhaps the time to the next run."""
        return 1 + self._name_room + 3 + (_NEXT if self._is_wide else 0)

    def _called(self, key: ObjectRef) -> str:
        prefix = self.names.get(key.context, "")
        return clean(f"{prefix} {key.name}" if prefix else key.name)

    def _made(self) -> list[Line]:
        assert self.timeline is not None
        assert self._now is not None
        assert self._zone is not None
        ruler = self.ruler
        assert ruler is not None
        if not self.timeline.order:
            self._load = None
            return []
        load = self._counted(ruler)
        self.signs.clear()
        shown = self.timeline.order[self._top : self._top + self.height]
        strip = Span(bars(load.peaks(self._now), ascii=self._ascii), style_of(Tone.RUNNING))
        return [
            (Span(self._head(_horizon_word(HORIZONS[self.horizon])), HEAD), Span(axis(ruler, self._zone), HEAD)),
            (Span(self._head("load"), DIM), strip),
            *(self._lane(self.timeline[key], ruler) for key in shown),
        ]

    def _head(self, word: str) -> str:
        return f" {pad(word, self._left - 1)}"

    @property
    def position(self) -> str:
        """`lane 3 of 43`."""
        lanes = len(self.timeline.order) if self.timeline is not None else 0
        return f"lane {self._place + 1} of {lanes:,}" if lanes else ""

    def hold_cursor(self) -> None:
        """Keep the cursor on its schedule from now on, though another may start next."""
        self._moved = self.cursor is not None

    def _counted(self, ruler: TimeAxis) -> StartLoad:
        """The load of all lanes: worked out anew when the ruler moves, or when something changed and it is time."""
        assert self.timeline is not None
        assert self._now is not None
        wanted = (self.timeline.revision, ruler)
        moved = self._load_of is None or self._load_of[1] != ruler
        rested = self._load_at is None or abs(self._now - self._load_at) >= _AGAIN
        if self._load is None or moved or (wanted != self._load_of and rested):
            self._load = StartLoad(self.timeline.items, ruler)
            self._load_of, self._load_at = wanted, self._now
        return self._load

    def _lane(self, item: TimelineItem, ruler: TimeAxis) -> Line:
        assert self._now is not None
        obstacles = self.obstacles_of(item.key)
        mark = _mark(item, obstacles)
        on = CURSOR if item.key == self.cursor else PLAIN
        ellipsis = "~" if self._ascii else "…"
        room = self._name_room
        name = pad(cut(self._called(item.key), room, ellipsis), room)
        tone = Tone.DIM if item.paused else Tone.PLAIN
        head = [Span(f" {name} ", style_of(tone) + on)]
        head.append(Span(f"{mark.value if mark else ' '} ", (style_of(mark.tone) if mark else PLAIN) + on))
        if self._is_wide:
            head.append(Span(pad(_next(item, self._now, obstacles), _NEXT), style_of(tone) + on))
        if item.problem:
            said = pad(cut_end(clean(item.problem), ruler.cells, ellipsis), ruler.cells)
            return (*head, span(said, Tone.BAD) if not on else Span(said, style_of(Tone.BAD) + on))
        cells = lane(item, ruler, self._now, obstacles)
        self.signs.update(cells)
        if (length := self.length_of(item.key)) is not None:
            cells = with_lengths(cells, length, ruler.step)
        return (*head, Span(cells, style_of(tone) + on) if item.paused else Span(cells, on))

    def render_line(self, y: int) -> Strip:
        if not self._lines:
            return explanation_strip(self._empty, y, self.size, self._ascii)
        line = _at(self._lines, y)
        on_cursor = bool(line) and y >= _HEADS and self._top + y - _HEADS == self._place
        strip = strip_of(line, self.size.width, self._ascii)
        if on_cursor:
            used = sum(width(piece.text) for piece in line)
            return strip_of((*line, Span(" " * max(0, self.size.width - used), CURSOR)), self.size.width, self._ascii)
        return strip


def _horizon_word(horizon: timedelta) -> str:
    return f"next {horizon.days}d" if horizon.days > 1 else f"next {horizon // timedelta(hours=1)}h"


def _mark(item: TimelineItem, obstacles: LaneObstacles) -> StatusGlyph | None:
    if item.paused:
        return StatusGlyph.PAUSED
    if item.problem or obstacles.severity is Severity.ERROR:
        return StatusGlyph.BROKEN
    return StatusGlyph.LOOK if obstacles != NO_OBSTACLES else None


def _next(item: TimelineItem, now: datetime, obstacles: LaneObstacles) -> str:
    if item.paused:
        return "paused"
    if obstacles.late is not None:
        return f"late {times.short(obstacles.late)}"
    runs = next_runs(item, now, 1)
    return times.until(runs[0] - now) if runs else ""


def _at(lines: Sequence[Line], place: int) -> Line:
    return lines[place] if place < len(lines) else ()
