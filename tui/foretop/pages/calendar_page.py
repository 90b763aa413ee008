"""The calendar: the night ahead as a lane for each schedule, and in words below."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal

from foretop.bindings import Handler
from foretop.dialogs.base_modal import choose
from foretop.pages.filterable_page import FilterablePage, filter_line
from foretop.pages.page import PageAddress, PageHost, safely
from foretop.panes.calendar_pane import fitted, folded, lane_box, lane_line, phrases, when
from foretop.panes.empty_state import NO_SCHEDULES, nothing_fits, why_empty
from foretop.widgets.line_widgets import Divider, TextPane
from foretop.widgets.paragraphs import Line, Paragraph, Span, span, wrap
from foretop.widgets.styles import BOLD, DIM
from foretop.widgets.timeline import Timeline
from foretop_core.dashboard.night_player import NightPlayer
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.slow_pieces import SlowPieces
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.collisions import Meeting, drifting, meetings
from foretop_core.rules.facts.run_facts import run_length, usual_length, usual_sample
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET
from foretop_core.rules.humanize import count, join
from foretop_core.rules.night.ranges import SURE
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.engine.view_scope import short_names
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import unsigned, width
from foretop_core.tables.timeline.lanes import (
    NO_OBSTACLES,
    LaneObstacles,
    TimelineItem,
    lane_obstacles,
    warmer,
)
from foretop_core.tables.timeline.night_chart import CellLoad, LaneSign, SizeClass, Zoom, size_class
from foretop_core.tables.timeline.night_lanes import Server, ServerNight
from foretop_core.tables.timeline.night_words import (
    LaneWords,
    Phrase,
    WordLine,
    joined,
    lane_words,
    night_words,
    week_words,
)
from foretop_core.tables.timeline.timeline_model import TimelineModel

T = TypeVar("T")

_WORDS = {SizeClass.NARROW: 5, SizeClass.WIDE: 7, SizeClass.HUGE: 8}
"""Lines of words below the chart."""
_MORE_WORDS, _BACKLOG = 3, 4
"""Lines more of them on a narrow screen where nothing can be foreseen; the first of all, which tell of the server."""
_LEAST_WITH_WORDS = 14
"""Lines of a page that has room for them."""
_SIGNS = (
    (LaneSign.PARTLY, Tone.WARN, "partly"),
    (LaneSign.FAILED, Tone.BAD, "failed"),
    (LaneSign.WAIT, Tone.WAITING, "waits"),
    (LaneSign.RANGE, Tone.DIM, SURE),
    (LaneSign.LOST, Tone.BAD, "lost or refused"),
)
_SIGNS_LINE = WordLine(
    "Signs",
    tuple(
        piece for sign, tone, word in _SIGNS for piece in (Phrase(sign.value, tone, is_sign=True), Phrase(f" {word} "))
    ),
)


_LOADING = WordLine("Night", (Phrase(f"{NOT_KNOWN_YET.capitalize()}: lists are loading.", Tone.DIM),), 9)
_OUTDATED = WordLine("Night", (Phrase("is being computed: schedules have changed …", Tone.DIM),), 9)


class CalendarPage(FilterablePage):
    """The chart has the focus; the words below tell of the night and of the lane under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("shift+down", "scroll_pane(1)", show=False),
        Binding("shift+up", "scroll_pane(-1)", show=False),
    ]

    def __init__(self, page_id: str, display_options: DisplayOptions, host: PageHost) -> None:
        super().__init__(page_id, display_options, host)
        self.timeline: TimelineModel | None = None
        self.player: NightPlayer | None = None
        self._problem = ""
        self.pieces: SlowPieces | None = None

    def compose(self) -> ComposeResult:
        yield filter_line("text  !text  -l label=value  -f fuzzy  paused:true")
        yield Timeline()
        yield Divider(id="words-rule")
        with Horizontal(id="words"):
            yield TextPane(id="night")
            yield TextPane(id="pane")

    @property
    def lanes(self) -> Timeline:
        return self.query_one(Timeline)

    def attach(self, state: DashboardState) -> None:
        super().attach(state)
        if self.timeline is not None:
            self.timeline.close()
        self.timeline = self.lanes.timeline = TimelineModel(state.store, state.contexts)
        self.player = NightPlayer(
            state,
            self.timeline,
            lambda: self.lanes.zoom.minutes(size_class(self.size.width)),
            self.pulse,
        )
        self.pieces = self.lanes.pieces = SlowPieces(state, self._start, self.pulse)
        self.lanes.obstacles_of = self._obstacles_of
        self.lanes.told_runs = lambda night, key: night.told_runs(key, state.render_context(key.context))
        self.lanes.load_now = self._load_now
        self.lanes.names = short_names(state.contexts) if len(state.contexts) > 1 else {}
        self.narrow_to(self.prompt.value)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self.run_worker(work, group="pieces", exit_on_error=False)

    def explain(self, lines: Sequence[Line]) -> None:
        self.lanes.explain(lines)

    def pulse(self) -> None:
        if self.state is None or self.timeline is None:
            return
        self.timeline.pump(self.state.now())
        for work in self.player.work(needs_week=self.lanes.needs_week) if self.player is not None else ():
            self.run_worker(work, group="night", exit_on_error=False)
        self.lanes.window = self.state.thresholds.window
        self.lanes.draw(self.state.now(), self.state.zone)
        if not self.timeline.order:
            self.lanes.explain(self._why_empty(self.state, self.timeline))
        self._show_words()

    def _why_empty(self, state: DashboardState, timeline: TimelineModel) -> list[Line]:
        if len(timeline):
            return nothing_fits(state.focus, self.prompt.value, len(timeline))
        return why_empty(state, {SCHEDULE.name}) or [(span(NO_SCHEDULES, Tone.DIM),)]

    def shown(self) -> None:
        self.refocus()
        self.take_keys()

    def left(self) -> None:
        self.workers.cancel_group(self, "night")

    def refocus(self) -> None:
        if self.timeline is not None and self.state is not None:
            self.timeline.look_at(self.state.focus)
            self.pulse()

    def restore(self, place: PageAddress) -> None:
        if place.filter is not None and place.filter != self.prompt.value:
            self.set_class(bool(place.filter), "-filtering")
            self.prompt.value = place.filter
            self.narrow_to(place.filter)
        if place.key is not None:
            self.lanes.go_to(place.key)

    def take_keys(self) -> None:
        self.screen.set_focus(self.lanes, scroll_visible=False)

    def to_first(self) -> None:
        self.lanes.action_edge(-1)

    def move(self, by: int) -> None:
        self.lanes.action_move(by)

    def on_resize(self, event: events.Resize) -> None:
        size, has_room = size_class(event.size.width), event.size.height >= _LEAST_WITH_WORDS
        is_narrow = size is SizeClass.NARROW
        words = self.query_one("#words")
        words.display = has_room
        self.query_one("#words-rule").display = has_room and is_narrow
        self.query_one("#night").display = not is_narrow
        words.set_class(not is_narrow, "-framed")
        words.styles.height = _WORDS[size] + (0 if is_narrow else 2)
        self.call_after_refresh(self.pulse)

    @on(Timeline.Moved)
    def _moved(self) -> None:
        self._show_words(keep_place=False)
        self.post_message(self.Altered())

    # Words

    def _show_words(self, *, keep_place: bool = True) -> None:
        key, pane, night = self.lanes.cursor, self.query_one("#pane", TextPane), self.query_one("#night", TextPane)
        rule = self.query_one("#words-rule", Divider)
        if self.state is None or self.timeline is None or key is None or self.timeline.place(key) is None:
            pane.show(())
            night.show(())
            rule.show(())
            return
        state, item = self.state, self.timeline[key]
        lane = safely(lambda: self._lane_box(item, state), "the pane of the calendar", key, state)
        lines, size = self._told(state), size_class(self.size.width)
        is_week = self.lanes.zoom is Zoom.WEEK
        title = f"the {'week' if is_week else 'night'} in words{self._of_cluster(key)}"
        pane.display = size is SizeClass.NARROW or not is_week
        pane.border_title, night.border_title = unsigned(self.timeline.called(key)), title.capitalize()
        if size is SizeClass.NARROW:
            room = self.size.width - 2
            own = () if is_week else (phrases(self._lane_line(item, state), room), *lane)
            ahead = self.lanes.night
            is_silent = ahead is not None and bool(ahead.night.unknown)
            # Where nothing can be foreseen, what becomes of the backlog and what keeps the run of the lane are told
            # without a turn of the pane.
            self.query_one("#words").styles.height = _WORDS[size] + (_MORE_WORDS if is_silent else 0)
            rows = _BACKLOG if is_silent else _WORDS[size] - (not is_week)
            pane.show((*fitted(joined(lines), room, rows), *own), keep_place=keep_place)
            self._show_rule(rule, title)
            return
        room = night.size.width - 2
        words = fitted(lines, room, _WORDS[size])
        free = _WORDS[size] - len(wrap(words, room))
        signs = folded((_SIGNS_LINE,), room, free) if free > 0 else ()
        night.show([*words, *signs])
        pane.show(lane, keep_place=keep_place)

    def _show_rule(self, rule: Divider, title: str) -> None:
        end = self.lanes.position
        words = [Span("─ "), Span(f"{title} ", BOLD)]
        rest = self.size.width - width(title) - 3 - width(end) - 4
        if end and rest > 0:
            words += [Span("─" * rest), Span(f" {end} ", DIM)]
        rule.show(words)

    def _of_cluster(self, key: ObjectRef) -> str:
        return f", {self.lanes.names[key.context]}" if self.lanes.names.get(key.context) else ""

    def _told(self, state: DashboardState) -> tuple[WordLine, ...]:
        """The night's words, made again with another night or another minute."""
        night, key = self.lanes.night, self.lanes.cursor
        if night is None:
            is_loading = key is not None and state.store.health.awaits_lists(key.context)
            return (_LOADING,) if is_loading else ()
        if self.lanes.is_outdated:
            return (_OUTDATED,)
        now = state.now(night.context)
        window = state.thresholds.window
        minute, zone, is_week = now.replace(second=0, microsecond=0), state.zone, self.lanes.zoom is Zoom.WEEK

        def words() -> tuple[WordLine, ...]:
            return week_words(night, now, zone) if is_week else night_words(night, now, zone, window)

        basis = (night.stamp, minute, zone, window)
        place = "words of the week" if is_week else "words"
        return self._piece(place, basis, night, words, ())

    def _piece(self, place: Hashable, basis: object, night: ServerNight, work: Callable[[], T], nothing: T) -> T:
        assert self.pieces is not None
        return self.pieces.get(place, basis, night.context, work, nothing, is_long=night.is_long)

    def _lane_line(self, item: TimelineItem, state: DashboardState) -> WordLine:
        assert self.timeline is not None
        return lane_line(item, self.timeline.called(item.key), self._lane_words(item, state), state)

    def _lane_words(self, item: TimelineItem, state: DashboardState) -> LaneWords | None:
        night = self.lanes.night
        if night is None or self.lanes.is_outdated:
            return None
        render, zone = state.render_context(item.key.context), state.zone
        told, now = night.told_runs(item.key, render), render.now
        if not night.is_long:
            return lane_words(night, told, now, zone)
        basis = (night.stamp, now.replace(second=0, microsecond=0), zone, told)
        return self._piece(("words of", item.key), basis, night, lambda: lane_words(night, told, now, zone), None)

    def _lane_box(self, item: TimelineItem, state: DashboardState) -> tuple[Paragraph, ...]:
        words, usual = self._lane_words(item, state), self._usual(item.key, state)
        return lane_box(item, words, usual, state, below_line=size_class(self.size.width) is SizeClass.NARROW)

    def _usual(self, key: ObjectRef, state: DashboardState) -> str:
        """`1h52m over 10 runs; the last took 2h4m`."""
        schedule = state.store.get(key)
        runs = state.store.snapshot(key.context).runs(schedule) if isinstance(schedule, Schedule) else ()
        length = usual_length(runs)
        if length is None:
            return ""
        last = next((took for run in runs if (took := run_length(run)) is not None), None)
        sample = f"; the last took {times.took(last)}" if last is not None else ""
        return f"{times.took(length)} over {count(usual_sample(runs), 'run')}{sample}"

    def _obstacles_of(self, key: ObjectRef) -> LaneObstacles:
        if self.state is None or self.timeline is None:
            return NO_OBSTACLES
        store, render = self.state.store, self.state.render_context(key.context)
        return lane_obstacles(self.timeline[key], store.get(key), render, warmer(store, key))

    def _load_now(self, server: Server) -> CellLoad:
        if self.state is None:
            return CellLoad()
        render = self.state.render_context(server[0])
        busy = render.server(server[1]).busy
        return CellLoad(busy, busy, render.line(server[1]).sums[Backup].waiting)

    # What keys do here

    def subject(self) -> ObjectRef | None:
        key = self.lanes.cursor
        if key is None or self.timeline is None or self.lanes.zoom is Zoom.WEEK:
            return None
        return self.timeline.subject(key)

    def offers(self, action_id: str) -> bool:
        is_week = self.lanes.zoom is Zoom.WEEK
        if action_id in ("open_day", "move_in_time"):
            return is_week == (action_id == "open_day")
        return self.subject() is not None if action_id == "jump" else True

    def action_scroll_pane(self, by: int) -> None:
        self.query_one("#pane", TextPane).scroll_lines(by)

    def handlers(self) -> Mapping[str, Handler]:
        return {
            **super().handlers(),
            "horizon": self.do_horizon,
            "jump": self.do_jump,
            "collisions": self.do_collisions,
            "move_in_time": lambda: self.lanes.action_step(1),
            "open_day": self.do_open_day,
        }

    def do_open_day(self) -> None:
        self.lanes.action_open_day()

    def do_horizon(self) -> None:
        self.lanes.next_zoom()
        self.pulse()

    def do_collisions(self) -> None:
        """All sets that start together within a day; the chosen one's first schedule gets the cursor.

        All of its members are told: the list has room for some, and the cursor may be there already.
        """
        if (state := self.state) is None:
            return
        now = state.now()
        snapshots = map(state.store.snapshot, state.contexts)
        servers = [(snapshot, namespace) for snapshot in snapshots for namespace in snapshot.schedules_by_namespace]
        sets = [(server[0], meeting) for server in servers for meeting in meetings(*server, now)]
        sets.sort(key=lambda one: (one[1].minutes[0], one[0].context, -one[1].size))
        if not sets:
            left_out = sum(len(drifting(*server)) for server in servers)
            more = f"; {left_out} with @every not counted" if left_out else ""
            self.app.notify(f"No two schedules start together within 24 hours{more}")
            return

        def show(place: int) -> None:
            snapshot, meeting = sets[place]
            self.lanes.go_to(snapshot.ref(meeting.schedules[0]))
            names = ", ".join(schedule.name for schedule in meeting.schedules)
            start = when(meeting.minutes[0], state.now(), state.zone)
            self.app.notify(f"{meeting.size} start together {start}: {names}")

        labels = [self._collision_label(snapshot.context, meeting, state) for snapshot, meeting in sets]
        title = f"Starting in the same minute within 24 hours: {count(len(sets), 'set')}"
        choose(self.app, title, labels, show)

    def _collision_label(self, context: str, meeting: Meeting, state: DashboardState) -> str:
        where = f"{self.lanes.names.get(context, context)}  " if self.lanes.names else ""
        often = f", {len(meeting.minutes)} times" if len(meeting.minutes) > 1 else ""
        start = when(meeting.minutes[0], state.now(), state.zone)
        names = join([schedule.name for schedule in meeting.schedules], 6)
        return f"{start:<12} {where}{meeting.size:>3} together{often}: {names}"

    async def do_jump(self) -> None:
        """To its row, where it has one."""
        key = self.subject()
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
        return self.state.focus.words

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
