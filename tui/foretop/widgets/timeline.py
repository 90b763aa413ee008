"""The calendar's chart: hours, slots in use, who waits, and a lane for each schedule; or a row for each day."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import groupby
from typing import TYPE_CHECKING, ClassVar, TypeVar

from msgspec.structs import replace
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from foretop.widgets.line_widgets import changed_cells, explanation_strip, line_width, strip_of
from foretop.widgets.paragraphs import Line, Span
from foretop.widgets.styles import BOLD, CURSOR, DIM, HEAD, PLAIN, RAISED, style_of
from foretop_core.models.kinds import PRESCALED
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.humanize import count
from foretop_core.rules.night.night import ForeseenRun
from foretop_core.rules.night.past_runs import PAST
from foretop_core.rules.night.window import Window
from foretop_core.rules.severity import Severity
from foretop_core.store.store import MOST_AT_ONCE
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import cut, cut_end, pad, unsigned, width
from foretop_core.tables.timeline.lanes import NO_OBSTACLES, LaneObstacles, TimelineItem
from foretop_core.tables.timeline.night_chart import (
    MANY,
    NOW_SHARE,
    CellLoad,
    Cells,
    ChartCell,
    SizeClass,
    Zoom,
    day_axes,
    day_line,
    hour_labels,
    hours_line,
    lane_cells,
    night_axis,
    size_class,
    slot_rows,
    slot_scale,
    waiting_cells,
    with_window,
)
from foretop_core.tables.timeline.night_lanes import (
    LaneGroup,
    LaneStanding,
    Server,
    ServerNight,
    is_shared,
    job_runs,
    paused_runs,
)
from foretop_core.tables.timeline.night_words import DayWords, clock, day_words
from foretop_core.tables.timeline.time_axis import MINUTE, TimeAxis
from foretop_core.tables.timeline.timeline_model import TimelineModel

if TYPE_CHECKING:
    from foretop_core.dashboard.slow_pieces import SlowPieces

T = TypeVar("T")
_NAMES = {SizeClass.NARROW: 17, SizeClass.WIDE: 20, SizeClass.HUGE: 22}
_STATE = 8
_FORESEEN, _WEEK = timedelta(days=1), timedelta(days=7)
_DAY_LABEL, _SHORT_DAY_LABEL = 12, 10
"""The cells of a day with its month and without."""
_DAY_END = len(" 100 wait")
_SHORT_TITLES = {Zoom.NIGHT: "night ahead", Zoom.DAY: "24 hours", Zoom.WEEK: "7 days", Zoom.HOURS: "next hours"}
_TITLES = {
    Zoom.NIGHT: "the night ahead",
    Zoom.DAY: "the day ahead",
    Zoom.WEEK: "the week ahead",
    Zoom.HOURS: "the next hours",
}


class Timeline(Widget, can_focus=True):
    """The chart; the cursor belongs to a schedule, not to a line, and only lanes in sight are drawn.

    A lane is drawn again when now enters another cell, another night is foreseen, the queue tells another end of its
    run, or what its state says changes.
    """

    DEFAULT_CSS = "Timeline { width: 1fr; height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("left", "step(-1)", show=False),
        Binding("right", "step(1)", show=False),
        Binding("pageup,ctrl+b", "page(-1)", show=False),
        Binding("pagedown,ctrl+f", "page(1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
        Binding("enter", "open_day", show=False),
    ]

    class Moved(Message):
        """Another schedule, day or stretch of time is looked at."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.timeline: TimelineModel | None = None
        self.zoom = Zoom.NIGHT
        self.quarters = 0
        """How far the chart is moved from where now stands at a quarter."""
        self._day: datetime | None = None
        """The midnight that the chart begins with, where one day was chosen from the week."""
        self._day_place = 0
        self.cursor: ObjectRef | None = None
        self.window: Window | None = None
        """A stretch of the day that is to be kept free."""
        self.names: dict[str, str] = {}
        """What goes before a name to tell clusters apart."""
        self.obstacles_of: Callable[[ObjectRef], LaneObstacles] = lambda _: NO_OBSTACLES
        """What keeps its runs from being made."""
        self.told_runs: Callable[[ServerNight, ObjectRef], tuple[ForeseenRun, ...]] = lambda night, key: ()
        """The open and coming runs of a lane, with the ends that the queue tells now."""
        self.load_now: Callable[[Server], CellLoad] = lambda _: CellLoad()
        """The slots of a server that are taken at this moment, and how many wait."""
        self.pieces: SlowPieces | None = None
        """What is drawn of a long night; without them, all is waited for."""
        self._moved = False
        self._place = 0
        self._top = 0
        self._now: datetime | None = None
        self._zone: tzinfo | None = None
        self._lines: list[Line] = []
        self._empty: tuple[Line, ...] = ()
        self._drawn: dict[ObjectRef, tuple[tuple[object, ...], Cells]] = {}
        self._drawn_for: tuple[object, ...] = ()

    # What it knows

    @property
    def size_class(self) -> SizeClass:
        return size_class(self.size.width)

    @property
    def is_framed(self) -> bool:
        return self.size_class is not SizeClass.NARROW

    @property
    def lines(self) -> Sequence[Line]:
        return self._lines

    @property
    def night(self) -> ServerNight | None:
        """The night of the server that the lane under the cursor belongs to."""
        return self.timeline.night_of(self.cursor, of_week=self.needs_week) if self.timeline is not None else None

    @property
    def is_outdated(self) -> bool:
        """True if schedules have changed since that night was played: its slots and words are not those to come."""
        return self.timeline is not None and self.timeline.is_outdated(self.night)

    def _piece(self, place: Hashable, basis: object, night: ServerNight, work: Callable[[], T], nothing: T) -> T:
        """A piece of what is drawn of a night: of a long one the last that was worked out."""
        if self.pieces is None:
            return work()
        return self.pieces.get(place, (night.stamp, basis), night.context, work, nothing, is_long=night.is_long)

    def _loads(self, axis: TimeAxis, place: int = 0) -> Sequence[CellLoad]:
        """The cell of now has what is true at this moment: its average would count minutes to come.

        `place` tells the axes apart that are on the screen together.
        """
        night, idle = self.night, (CellLoad(),) * axis.cells
        loads = list(idle)
        if night is not None and not self.is_outdated:
            shown = night
            drawn = self._piece(("loads", place), axis, night, lambda: shown.loads(axis), idle)
            # Those of an axis of another length stand until these are worked out.
            loads = list(drawn if len(drawn) == axis.cells else idle)
        at_now = axis.cell_of(self._now) if self._now is not None else -1
        if night is not None and 0 <= at_now < axis.cells:
            loads[at_now] = self.load_now(night.server)
        return loads

    @property
    def _slot_rows(self) -> int:
        night = self.night
        return len(slot_scale(night.night.slots, one_row=self._one_row)) if night is not None else 1

    @property
    def _is_ascii(self) -> bool:
        return getattr(self.app, "is_ascii", False)

    @property
    def _one_row(self) -> bool:
        """ASCII has no heights: a number stands in each cell."""
        return self._is_ascii or not self.is_framed

    @property
    def _heads(self) -> int:
        """The lines above the lanes: the frame, the hours, the slots, who waits."""
        return self.is_framed + 1 + self._slot_rows + 1

    @property
    def height(self) -> int:
        """Lines for lanes."""
        return max(0, self.size.height - self._heads - self.is_framed)

    @property
    def _left(self) -> int:
        return 1 + _NAMES[self.size_class] + 1 + _STATE

    @property
    def _cells(self) -> int:
        """A frame takes its two sides and a space before the right one."""
        return max(1, self.size.width - self._left - 3 * self.is_framed)

    @property
    def axis(self) -> TimeAxis | None:
        if self._now is None or self._zone is None:
            return None
        return night_axis(self._now, self.zoom, self.size_class, self._cells, self._zone, self.quarters, self._day)

    @property
    def needs_week(self) -> bool:
        """More is in sight than a night that is foreseen for a day has."""
        axis = self.axis
        if self.zoom is Zoom.WEEK:
            return True
        return axis is not None and self._now is not None and axis.end > self._now + _FORESEEN

    @property
    def position(self) -> str:
        """`lane 3 of 43`."""
        if self.zoom is Zoom.WEEK:
            return ""
        lanes = len(self.timeline.order) if self.timeline is not None else 0
        return f"lane {self._place + 1} of {lanes:,}" if lanes else ""

    def explain(self, lines: Sequence[Line]) -> None:
        """Set the text in place of lanes where there are none."""
        if tuple(lines) != self._empty:
            self._empty = tuple(lines)
            self.refresh()

    # What changes

    def draw(self, now: datetime, zone: tzinfo) -> None:
        """The chart as it is at this moment; only the lines that look different are painted."""
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

        Until a person moves it, it stays on what runs or starts next.
        """
        assert self.timeline is not None
        if not self._moved:
            self._set(0)
            return
        place = self.timeline.place(self.cursor, self._place) if self.cursor is not None else None
        self._set(self._place if place is None else place)

    def _set(self, place: int) -> None:
        assert self.timeline is not None
        order = self.timeline.order
        self._place = max(0, min(place, len(order) - 1))
        ref = order[self._place] if order else None
        if ref != self.cursor:
            self.cursor = ref
            self.post_message(self.Moved())
        self._top = max(self._place - self.height + 1, min(self._top, self._place))
        self._top = max(0, min(self._top, len(order) - self.height))

    # What a person does

    def go_to(self, key: ObjectRef) -> bool:
        place = self.timeline.place(key) if self.timeline is not None else None
        if place is None:
            return False
        self._move_to(place)
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A day is opened where there are days: elsewhere the key belongs to the lane's object."""
        return self.zoom is Zoom.WEEK if action == "open_day" else True

    def action_move(self, by: int) -> None:
        if self.zoom is Zoom.WEEK:
            self._choose_day(self._day_place + by)
        else:
            self._move_to(self._place + by)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.height - 1))

    def action_edge(self, by: int) -> None:
        if self.zoom is Zoom.WEEK:
            self._choose_day(0 if by < 0 else 6)
        else:
            self._move_to(0 if by < 0 or self.timeline is None else len(self.timeline.order) - 1)

    def action_step(self, by: int) -> None:
        """Moves in time, as far as something is known there."""
        axis, now = self.axis, self._now
        if axis is None or now is None or self.zoom is Zoom.WEEK:
            return
        moved = axis.start + by * max(1, axis.cells // NOW_SHARE) * axis.step * MINUTE
        if now - PAST <= moved and moved + axis.minutes * MINUTE <= now + _WEEK + axis.minutes * MINUTE / 2:
            self.quarters += by
            self._again()

    def action_open_day(self) -> None:
        """The chosen day of the week, as 24 hours."""
        if self._now is not None and self._zone is not None:
            day = day_axes(self._now, self.size_class, self._zone)[self._day_place].start
            self.zoom, self.quarters, self._day = Zoom.DAY, 0, day
            self._again()

    def next_zoom(self) -> None:
        """Night, 24 hours, 7 days; now stands at a quarter again."""
        self.hold_cursor()
        self.zoom, self.quarters, self._day = self.zoom.following, 0, None
        self._again()

    def _choose_day(self, place: int) -> None:
        self._day_place = max(0, min(place, 6))
        self._again()

    def _move_to(self, place: int) -> None:
        if self.timeline is not None and self._now is not None and self._zone is not None:
            self._moved = True
            self._set(place)
            self.draw(self._now, self._zone)

    def _again(self) -> None:
        if self._now is not None and self._zone is not None:
            self.draw(self._now, self._zone)
            self.post_message(self.Moved())

    def hold_cursor(self) -> None:
        """Keep the cursor on its schedule from now on, though another may start next."""
        self._moved = self.cursor is not None

    def on_resize(self, event: events.Resize) -> None:
        if self._now is not None and self._zone is not None:
            self.draw(self._now, self._zone)
            self.refresh()

    def on_mouse_scroll_down(self) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self) -> None:
        self.action_move(-3)

    def on_click(self, event: events.Click) -> None:
        if self.zoom is not Zoom.WEEK and event.y >= self._heads:
            self._move_to(self._top + event.y - self._heads)

    # What is painted

    def _made(self) -> list[Line]:
        assert self.timeline is not None
        if not self.timeline.order:
            return []
        inner = self._week() if self.zoom is Zoom.WEEK else self._night()
        return self._framed(inner) if self.is_framed else inner

    def _night(self) -> list[Line]:
        assert self.timeline is not None
        assert self._now is not None
        assert self._zone is not None
        axis = self.axis
        assert axis is not None
        hours = with_window(
            hours_line(axis, self._now, self._zone, short=not self.is_framed),
            axis,
            self.window,
            is_free=self.window is None or self.night is None or self.night.in_window(self.window).is_free,
        )
        shown = self.timeline.order[self._top : self._top + self.height]
        title = (_TITLES if self.is_framed else _SHORT_TITLES)[self.zoom]
        return [
            (Span(pad(f" {title}", self._left), HEAD), *self._spans(hours)),
            *self._slots(axis),
            *(self._lane(self.timeline[key], axis) for key in shown),
        ]

    def _slots(self, axis: TimeAxis) -> list[Line]:
        assert self._now is not None
        night = self.night
        loads = self._loads(axis)
        limit = night.night.slots if night is not None else 1
        of = f" {self.names[night.context]}" if night is not None and self.names.get(night.context) else ""
        word = f"slots in use{of}" if self.is_framed else f"slots of {limit}{of}"
        lines: list[Line] = []
        rows = slot_rows(loads, limit, axis, self._now, one_row=self._one_row, in_numbers=self._is_ascii)
        for row, number in zip(rows, slot_scale(limit, one_row=self._one_row), strict=True):
            scale = f"{number}┤ " if number else "   "
            head = pad(cut_end(f" {word if not lines else ''}", self._left - len(scale)), 0)
            lines.append((Span(pad(head, self._left - len(scale)) + scale, DIM), *self._spans(row)))
        waiting = waiting_cells(loads)
        many = f", {MANY} over 9" if any(cell.text == MANY for cell in waiting) else ""
        lines.append((Span(pad(f" waiting{many}", self._left), DIM), *self._spans(waiting)))
        return lines

    def _spans(self, cells: Iterable[ChartCell]) -> list[Span]:
        """Neighbours of one tone become one span."""
        return [
            Span("".join(cell.text for cell in group), style_of(tone))
            for tone, group in groupby(cells, key=lambda cell: cell.tone)
        ]

    def _lane(self, item: TimelineItem, axis: TimeAxis) -> Line:
        assert self.timeline is not None
        assert self._now is not None
        key, on_cursor = item.key, item.key == self.cursor
        obstacles = NO_OBSTACLES if is_shared(key) else self.obstacles_of(key)
        standing = self.timeline.standing(key)
        glyph, word = _state(item, standing, obstacles, self._now)
        room = _NAMES[self.size_class]
        name = pad(cut(self._called(key, room), room), room)
        tone = style_of(Tone.DIM) if item.paused or standing.group is LaneGroup.DONE else PLAIN
        state_word = pad(cut_end(word, _STATE - 2), _STATE - 2)
        bar = "▌" if on_cursor else " "
        raised = on_cursor and getattr(self.app, "raises_cursor", False)
        if on_cursor and not raised:
            sign = glyph.value if glyph else " "
            head = [Span(f"{bar}{name} {sign} {state_word}", CURSOR)]
        else:
            head = [
                Span(f"{bar}{name} ", tone),
                Span(f"{glyph.value if glyph else ' '} ", style_of(glyph.tone) if glyph else PLAIN),
                Span(state_word, style_of(glyph.tone) if glyph is StatusGlyph.PAUSED else tone),
            ]
        if item.problem:
            problem = pad(cut_end(unsigned(item.problem), axis.cells), axis.cells)
            line = (*head, Span(problem, style_of(Tone.BAD)))
        else:
            line = (*head, *self._spans(self._lane_cells(item, obstacles, axis)))
        return tuple(Span(piece.text, piece.style + RAISED) for piece in line) if raised else line

    def _lane_cells(self, item: TimelineItem, obstacles: LaneObstacles, axis: TimeAxis) -> Cells:
        """Drawn once for each cell that now enters, night that is foreseen, end that is told, and obstacle."""
        assert self.timeline is not None
        assert self._now is not None
        assert self._zone is not None
        basis = (axis, axis.cell_of(self._now), self.timeline.revision)
        if basis != self._drawn_for:
            self._drawn, self._drawn_for = {}, basis
        drawn = self._drawn.get(item.key)
        night = self.timeline.night_of(item.key, of_week=self.needs_week)
        coming = self.told_runs(night, item.key) if night is not None else ()
        drawn_by = replace(obstacles, late=None, severity=None, waits=False), coming
        if drawn is not None and drawn[0] == drawn_by:
            return drawn[1]
        hours, now = [place for place, _ in hour_labels(axis, self._zone)], self._now
        if night is not None and night.runs_in(item.key) > MOST_AT_ONCE:
            shown, empty = night, lane_cells((), axis, now, hours)
            cells = self._piece(
                ("lane", item.key),
                (basis, drawn_by),
                night,
                lambda: lane_cells(shown.lane_runs(item.key, coming), axis, now, hours),
                empty,
            )
            # Those of an axis of another length stand until these are worked out.
            return cells if len(cells) == axis.cells else empty
        runs = night.lane_runs(item.key, coming) if night is not None else ()
        if item.key.kind == PRESCALED.name:
            runs = job_runs(item, obstacles, axis, now)
        elif item.paused:
            runs = (*runs, *paused_runs(item, obstacles, axis, now))
        cells = lane_cells(runs, axis, now, hours)
        self._drawn[item.key] = (drawn_by, cells)
        return cells

    def _called(self, key: ObjectRef, room: int) -> str:
        """Its name after that of its cluster; how many share a lane is cut last."""
        assert self.timeline is not None
        prefix = self.names.get(key.context, "")
        name = self.timeline.called(key)
        if is_shared(key) and width(f"{prefix} {name}".strip()) > room:
            name = name.removeprefix("non-admin, ")
            prefix = cut(prefix, room - 1 - width(name))
        return unsigned(f"{prefix} {name}" if prefix else name)

    # The week

    def _week(self) -> list[Line]:
        assert self._now is not None
        assert self._zone is not None
        night, size = self.night, self.size_class
        axes = day_axes(self._now, size, self._zone)
        limit = night.night.slots if night is not None else 1
        lines: list[Line] = [
            (
                Span(pad(f" slots of {limit}", self._day_label + 3), HEAD),
                *self._spans(day_line(axes[0], self._zone)),
                Span(" WAITING", HEAD),
            )
        ]
        room = self.size.height - 2 * self.is_framed - 1
        rows = len(slot_scale(limit, one_row=self._one_row))
        one_row = self._one_row or room < 7 * rows
        height = 1 if one_row else rows + (room >= 7 * (rows + 1))
        for place, axis in enumerate(axes):
            lines += self._day_lines(night, axis, place, limit, height)
        return lines

    @property
    def _day_label(self) -> int:
        """Without the month where the words at the end of a day would have no room."""
        cells = 24 * 60 // Zoom.WEEK.minutes(self.size_class)
        rest = self.size.width - 2 * self.is_framed - 3 - cells - _DAY_END
        return _DAY_LABEL if rest >= _DAY_LABEL else _SHORT_DAY_LABEL

    def _day_lines(self, night: ServerNight | None, axis: TimeAxis, place: int, limit: int, height: int) -> list[Line]:
        assert self._now is not None
        assert self._zone is not None
        loads = self._loads(axis, place)
        one_row = height == 1
        rows = slot_rows(loads, limit, axis, self._now, one_row=one_row, in_numbers=self._is_ascii)
        words: DayWords | None = None
        if night is not None and not self.is_outdated:
            shown = night
            words = self._piece(("day", place), axis, night, lambda: day_words(shown, axis), None)
        local, chosen = axis.start.astimezone(self._zone), place == self._day_place
        label = f"{local:%a} {local.day}" + (f" {local:%b}" if self._day_label == _DAY_LABEL else "")
        bar = "▌" if chosen else " "
        waiting = f"{words.waiting or 'no'} wait" if words else ""
        done = f"done {clock(words.done, words.done, self._zone)}" if words and words.done else ""
        room = self.size.width - 2 * self.is_framed - self._day_label - 4 - axis.cells
        both = [f"{waiting}, {done}", f"{waiting.removesuffix(' wait')}, {done}"] if waiting and done else []
        ends = [waiting, done] if height > 1 else [next((text for text in both if len(text) <= room), waiting)]
        lines: list[Line] = []
        scale = slot_scale(limit, one_row=one_row)
        middle = (len(rows) - 1) // 2
        for index in range(height):
            name = pad(f"{bar}{label}" if index == middle else bar if index < len(rows) else "", self._day_label)
            number = f"{scale[index]:>2} " if index < len(rows) else "   "
            end = cut_end(ends[index], room) if index < len(ends) else ""
            lines.append(
                (
                    Span(name, CURSOR if chosen and index == middle else PLAIN),
                    Span(number, DIM),
                    *(self._spans(rows[index]) if index < len(rows) else (Span(" " * axis.cells),)),
                    Span(" "),
                    Span(end, style_of(Tone.WAITING) if index == 0 and words and words.waiting else PLAIN),
                )
            )
        return lines

    # The frame

    def _framed(self, inner: list[Line]) -> list[Line]:
        assert self.timeline is not None
        room, side = self.size.width - 2, Span("│")
        body = inner[: max(0, self.size.height - 2)]
        body += [()] * (self.size.height - 2 - len(body))
        lanes = len(self.timeline.order)
        last = min(lanes, self._top + self.height)
        place = f"{self._top + 1}–{last} of {lanes:,}" if self.zoom is not Zoom.WEEK else "enter opens the day"
        return [
            self._edge("┌┐", self._frame_title, self._frame_end),
            *((side, *line, Span(" " * max(0, room - line_width(line))), side) for line in body),
            self._edge("└┘", "", place),
        ]

    @property
    def _frame_title(self) -> str:
        assert self.timeline is not None
        return f"Calendar  {'the week' if self.zoom is Zoom.WEEK else count(len(self.timeline.order), 'lane')}"

    @property
    def _frame_end(self) -> str:
        axis = self.axis
        assert axis is not None
        assert self._zone is not None
        if self.zoom is Zoom.WEEK:
            return f"a cell is {self.zoom.minutes(self.size_class)} minutes, a row is a day"
        first, last = axis.start.astimezone(self._zone), axis.end.astimezone(self._zone)
        day = f"{first:%a} {first.day} {first:%b}, " if self._day is not None or self.quarters else ""
        return f"{day}{first:%H:%M}–{last:%H:%M}, a cell is {axis.step} minutes"

    def _edge(self, corners: str, title: str, end: str) -> Line:
        title, end = (f" {title} " if title else ""), (f" {end} " if end else "")
        rest = self.size.width - 4 - width(title) - width(end)
        if rest < 0:
            end, rest = "", self.size.width - 4 - width(title)
        return (
            Span(f"{corners[0]}─"),
            Span(title, BOLD),
            Span("─" * max(0, rest)),
            Span(end, DIM),
            Span(f"─{corners[1]}"),
        )

    def render_line(self, y: int) -> Strip:
        if not self._lines:
            return explanation_strip(self._empty, y, self.size)
        return strip_of(_at(self._lines, y), self.size.width)


def _state(
    item: TimelineItem, standing: LaneStanding, obstacles: LaneObstacles, now: datetime
) -> tuple[StatusGlyph | None, str]:
    """The sign of a lane, and when it is next; one that stays invalid after its pause has the sign of that."""
    if item.paused and obstacles.severity is not Severity.ERROR:
        until = obstacles.paused_until
        return StatusGlyph.PAUSED, "over" if until is not None and until <= now else ""
    broken = item.problem or obstacles.severity is Severity.ERROR
    glyph = StatusGlyph.BROKEN if broken else StatusGlyph.LOOK if obstacles != NO_OBSTACLES else None
    if standing.group is LaneGroup.RUNNING:
        return glyph or StatusGlyph.RUNNING, "now"
    if standing.waits:
        glyph = glyph or StatusGlyph.WAITING
    if standing.group is LaneGroup.DONE:
        return glyph, "done"
    if standing.at is None:
        return glyph, ""
    if obstacles.late is not None:
        return glyph, "due"
    return glyph, f"{times.countdown(standing.at - now)}{'?' if obstacles.waits and standing.at > now else ''}"


def _at(lines: Sequence[Line], place: int) -> Line:
    return lines[place] if place < len(lines) else ()
