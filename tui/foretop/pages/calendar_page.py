"""The calendar: a lane for each schedule, the load above, and the details of the selected one below."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from foretop.bindings import Handler
from foretop.dialogs.choice_list import ChoicePicker
from foretop.pages.filterable_page import FilterablePage, filter_line
from foretop.pages.page import safely
from foretop.pages.page_address import PageAddress
from foretop.pages.page_host import PageHost
from foretop.panes.calendar_pane import lane_pane, when
from foretop.panes.empty_state import nothing_fits, why_empty
from foretop.widgets.line_widgets import Divider, TextPane
from foretop.widgets.paragraphs import Line, Span, span
from foretop.widgets.styles import DIM, style_of
from foretop.widgets.timeline import Timeline
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.run_facts import usual_length
from foretop_core.rules.humanize import count, duration, join
from foretop_core.tables.engine.context_names import short_names
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import clean, width
from foretop_core.tables.timeline.lanes import (
    HORIZONS,
    NO_OBSTACLES,
    LaneObstacles,
    MinuteCollision,
    RepeatedCollision,
    warmer,
)
from foretop_core.tables.timeline.obstacles import lane_obstacles
from foretop_core.tables.timeline.time_axis import MISSING_WARM_UP, PAUSED_RUN, REFUSED_RUN, RUN, WARM_UP, WORK
from foretop_core.tables.timeline.timeline_model import TimelineModel

_LEGEND = f"{WARM_UP} warm-up  {RUN}{WORK} run  {PAUSED_RUN} paused"
_SOMETIMES = {REFUSED_RUN: "refused", MISSING_WARM_UP: "no warm-up"}
"""Signs that the legend has where a lane has them."""
_MOST_CROWDS = 3
_LEAST_WITH_PANE = 12
"""Lines of a page that has room for the pane."""
_LEAST_PANE, _MOST_PANE = 3, 9


class CalendarPage(FilterablePage):
    """The calendar's page: the lanes have the focus, and the pane shows the schedule under their cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+down", "scroll_pane(1)", show=False),
        Binding("shift+up", "scroll_pane(-1)", show=False),
    ]

    def __init__(self, page_id: str, display_options: DisplayOptions, host: PageHost) -> None:
        super().__init__(page_id, display_options, host)
        self.timeline: TimelineModel | None = None
        self._problem = ""
        self._lengths: dict[ObjectRef, tuple[int, Backup | None, timedelta | None]] = {}
        """Of each schedule how many backups it has, the newest, and how long they usually take."""

    def compose(self) -> ComposeResult:
        yield filter_line("text  !text  -l label=value  -f fuzzy  paused:true", ascii=self.display_options.ascii)
        yield Timeline(ascii=self.display_options.ascii)
        yield Divider(ascii=self.display_options.ascii, id="crowds")
        yield TextPane(ascii=self.display_options.ascii, id="pane")

    @property
    def lanes(self) -> Timeline:
        return self.query_one(Timeline)

    def attach(self, state: DashboardState) -> None:
        super().attach(state)
        if self.timeline is not None:
            self.timeline.close()
        self.timeline = self.lanes.timeline = TimelineModel(state.store, state.contexts)
        self.lanes.length_of = self._length_of
        self.lanes.obstacles_of = self._obstacles_of
        self.lanes.names = short_names(state.contexts) if len(state.contexts) > 1 else {}
        self.narrow_to(self.prompt.value)

    def explain(self, lines: Sequence[Line]) -> None:
        self.lanes.explain(lines)

    def pulse(self) -> None:
        if self.state is None or self.timeline is None:
            return
        self.timeline.pump(self.state.now())
        self.lanes.draw(self.state.now(), self.state.zone)
        if not self.timeline.order:
            self.lanes.explain(self._why_empty(self.state, self.timeline))
        self._show_crowds()
        self._show_pane()

    def _why_empty(self, state: DashboardState, timeline: TimelineModel) -> list[Line]:
        if len(timeline):
            return nothing_fits(state.focus)
        return why_empty(state, {SCHEDULE.name}) or [(span("No schedules.", Tone.DIM),)]

    def shown(self) -> None:
        self.refocus()
        self.take_keys()

    def refocus(self) -> None:
        if self.timeline is not None and self.state is not None:
            self.timeline.look_at(self.state.focus)
            self.pulse()

    def take_keys(self) -> None:
        self.screen.set_focus(self.lanes, scroll_visible=False)

    def to_first(self) -> None:
        self.lanes.action_edge(-1)

    def move(self, by: int) -> None:
        self.lanes.action_move(by)

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#pane").display = self.query_one("#crowds").display = event.size.height >= _LEAST_WITH_PANE
        self._pane_lines = 0
        self.call_after_refresh(self.pulse)

    @on(Timeline.Moved)
    def _moved(self) -> None:
        self._show_pane(keep_place=False)
        self.post_message(self.Altered())

    def _show_pane(self, *, keep_place: bool = True) -> None:
        key, pane = self.lanes.cursor, self.query_one("#pane", TextPane)
        if self.state is None or self.timeline is None or key is None or self.timeline.place(key) is None:
            pane.show(())
            return
        state, lane, load = self.state, self.timeline[key], self.lanes.load
        said = safely(lambda: lane_pane(lane, load, state), "the pane of the calendar", key, state)
        pane.show(said, keep_place=keep_place)
        self._size_pane(pane)

    def _size_pane(self, pane: TextPane) -> None:
        """It takes the lines that it needs and the lanes get the rest; it does not shrink by a line under the eye."""
        most = min(_MOST_PANE, max(_LEAST_PANE, round(self.size.height * 0.3)))
        needed = max(_LEAST_PANE, min(most, pane.lines_wanted(self.size.width)))
        if not needed <= self._pane_lines <= needed + 1:
            self._pane_lines = needed
            pane.styles.height = needed

    _pane_lines = 0

    def _obstacles_of(self, key: ObjectRef) -> LaneObstacles:
        if self.state is None or self.timeline is None:
            return NO_OBSTACLES
        store, render = self.state.store, self.state.render_context(key.context)
        return lane_obstacles(self.timeline[key], store.get(key), render, warmer(store, key))

    def _length_of(self, key: ObjectRef) -> timedelta | None:
        """Worked out again when the schedule has another backup."""
        schedule = self.state.store.get(key) if self.state is not None else None
        if self.state is None or not isinstance(schedule, Schedule) or schedule.spec.paused:
            return None
        runs = self.state.store.snapshot(key.context).runs(schedule)
        known = self._lengths.get(key)
        if known is None or known[0] != len(runs) or (runs and known[1] is not runs[0]):
            known = self._lengths[key] = (len(runs), runs[0] if runs else None, usual_length(runs))
        return known[2]

    def _show_crowds(self) -> None:
        assert self.state is not None
        load = self.lanes.load
        also = "".join(f"  {sign} {word}" for sign, word in _SOMETIMES.items() if sign in self.lanes.signs)
        words = [Span("─ "), Span(f"{_LEGEND}{also}", DIM), Span(" ")] if load is not None else []
        used = sum(width(word.text) for word in words)
        for crowd in load.crowds(self.state.now(), _MOST_CROWDS) if load is not None else ():
            room = self.size.width - used - 4
            said = next((told for told in self._told(crowd) if width(told) <= room), "")
            if not said:
                break
            words += [Span("─ "), Span(f"{said} ", style_of(Tone.WARN))]
            used += width(said) + 3
        self.query_one("#crowds", Divider).show(words)

    def _told(self, crowd: MinuteCollision) -> list[str]:
        """Who start together, by as many names as there is room for, and in the end by their number."""
        assert self.state is not None
        assert self.lanes.load is not None
        where = f" in {self.lanes.names.get(crowd.context, crowd.context)}" if self.lanes.names else ""
        at = when(crowd.at, self.state.now(), self.state.zone)
        names = [clean(key.name) for key in self.lanes.load.members(crowd)]
        named = [
            f"{at}: {join(names, most)} together{where}" for most in (4, 3, 2, 1) if most == 1 or names[most - 1 :]
        ]
        return [*named, f"{at}: {crowd.size:,} start together{where}", f"{at}: {crowd.size:,} together{where}"]

    # What keys do here

    def subject(self) -> ObjectRef | None:
        return self.lanes.cursor

    def offers(self, action_id: str) -> bool:
        return self.lanes.cursor is not None if action_id == "jump" else True

    def action_scroll_pane(self, by: int) -> None:
        self.query_one("#pane", TextPane).scroll_lines(by)

    def handlers(self) -> Mapping[str, Handler]:
        return {
            **super().handlers(),
            "horizon": self.do_horizon,
            "jump": self.do_jump,
            "collisions": self.do_collisions,
        }

    def do_horizon(self) -> None:
        self.lanes.hold_cursor()
        self.lanes.horizon = (self.lanes.horizon + 1) % len(HORIZONS)
        self.pulse()

    def do_collisions(self) -> None:
        """All sets that start together within the horizon; the chosen one's first schedule gets the cursor."""
        state, load = self.state, self.lanes.load
        found = load.collisions(state.now()) if state is not None and load is not None else ()
        length = duration(HORIZONS[self.lanes.horizon])
        if state is None or not found:
            self.app.notify(f"No two schedules start in the same minute within {length}")
            return

        def chosen(place: int | None) -> None:
            if place is not None:
                self.lanes.go_to(found[place].keys[0])

        labels = [self._collision_label(one, state) for one in found]
        title = f"Starting in the same minute within {length}: {count(len(found), 'set')}"
        self.app.push_screen(ChoicePicker(title, labels, self.display_options.ascii), chosen)

    def _collision_label(self, one: RepeatedCollision, state: DashboardState) -> str:
        where = f"{self.lanes.names.get(one.context, one.context)}  " if self.lanes.names else ""
        times = f", {one.times} times" if one.times > 1 else ""
        at = when(one.at, state.now(), state.zone)
        return f"{at:<12} {where}{len(one.keys):>3} together{times}: {join([key.name for key in one.keys], 6)}"

    async def do_jump(self) -> None:
        """To its row, where it has one."""
        key = self.lanes.cursor
        if key is None:
            return
        if key.kind == SCHEDULE.name:
            await self.host.go(PageAddress("schedules", filter="", key=key, jumped=True))
        else:
            await self.host.show_object(key)

    # Narrowing

    def can_go_back(self) -> bool:
        return self.has_class("-filtering")

    def go_back(self) -> bool:
        if not self.can_go_back():
            return False
        self.remove_class("-filtering")
        self.prompt.value = ""
        self.narrow_to("")
        self.take_keys()
        return True

    def hint(self) -> str:
        if self._problem or self.state is None:
            return self._problem
        return ", ".join(part for part in (self.lanes.position, self.state.focus.words) if part)

    @property
    def hint_tone(self) -> Tone:
        narrowed = self.state is not None and (self.state.focus.words or self.prompt.value)
        return Tone.WARN if narrowed and not self._problem else super().hint_tone

    @property
    def has_problem(self) -> bool:
        return bool(self._problem)

    def narrow_to(self, text: str) -> None:
        if self.timeline is None:
            return
        why = ""
        try:
            self.timeline.narrow(text)
            self._problem = ""
        except BadInput as problem:
            self._problem, why = str(problem), problem.why
        self.say_unfit(why)
        self.pulse()
        if text:
            self.to_first()
        self.post_message(self.Altered())
