"""Every way an object can take through foretop without a terminal: rules, rows, panes, calendar, JSON, report."""

from __future__ import annotations

import contextlib
import io
import json
import random
import resource
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from foretop.commands.report import report_snapshots
from foretop.panes.calendar_pane import lane_box, lane_pane
from foretop.panes.detail_sections import SECTIONS, as_yaml, describe_object, read_part
from foretop.panes.page_records import TABLE_PAGES, ScreenPage
from foretop.widgets.paragraphs import wrap
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import SectionRow
from foretop_core.errors import Unreadable
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import KINDS, Kind
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.collisions import meetings
from foretop_core.rules.night.night import Foresight
from foretop_core.rules.night.past_runs import PAST, past_runs
from foretop_core.rules.own_failures import failing_object, problem_text
from foretop_core.store import UnreadableObject
from foretop_core.tables.engine.view import UnreadableRow
from foretop_core.tables.text.times import TimeZoneSetting
from foretop_core.tables.timeline.night_chart import SizeClass, Zoom, lane_cells, night_axis
from foretop_core.tables.timeline.night_lanes import ServerNight, is_shared
from foretop_core.tables.timeline.night_words import lane_words, night_words
from foretop_core.tables.timeline.timeline_model import TimelineModel
from foretop_demo.simulated_cluster import FIXED_START
from tests.tui.fake_source import CONTEXT, FilledSource
from trials.chaos.mutated_objects import mutated, read, templates

_MOST_ROWS = 10_000
_CELLS = 78
Each = Callable[[str, Callable[[], object]], object]
_KIND_OF = {kind.model: kind for kind in KINDS}
_YAML_OF_EACH = 5
"""Writing YAML takes half of the time."""


@dataclass(slots=True)
class Outcome:
    """What became of some mutated objects."""

    tried: int = 0
    unreadable: int = 0
    escaped: list[str] = field(default_factory=list)
    """Exceptions that no guard caught."""
    caught: Counter[str] = field(default_factory=Counter)
    """What the guards caught: named gaps, each of which is a fault to look into."""
    false_calm: int = 0
    """How often "No problems" was said although something was not judged."""
    slowest: tuple[float, str] = (0.0, "")
    """The longest that one object kept a processor busy in one place, in seconds, and which one and where."""
    grown: float = 0.0
    """Megabytes that the process took at most for the objects of one cluster."""

    def add(self, other: Outcome) -> None:
        self.tried += other.tried
        self.unreadable += other.unreadable
        self.escaped += other.escaped
        self.caught += other.caught
        self.false_calm += other.false_calm
        self.slowest = max(self.slowest, other.slowest)
        self.grown = max(self.grown, other.grown)


def try_objects(number: int, seed: int, outcome: Outcome) -> None:
    """So many mutated objects beside the good ones of one cluster, at every entry point."""
    dice = random.Random(seed)
    good = templates()
    peak = _peak_megabytes()
    source = filled_source([item for kind, plain in good if not isinstance(item := read(kind, plain), Unreadable)])
    keys = [_send(source, *dice.choice(good), f"odd-{seed}-{place}", dice, outcome) for place in range(number)]
    tries = _Tries(outcome, seed)
    state = DashboardState(source, lambda: 0.0)
    if dice.random() < 0.5:
        state.zoning = TimeZoneSetting().following(ZoneInfo("Pacific/Kiritimati"))
    tries.do("judge", lambda: state.judge(at_once=True))
    for spec in TABLE_PAGES.values():
        tries.do("rows", lambda spec=spec: _rows(state, spec, tries))  # type: ignore[misc]
    for place, key in enumerate(keys):
        for section in SECTIONS[:-1]:
            tries.do_for(key, section, partial(_section, state, key, section))
        if place % _YAML_OF_EACH == 0:
            tries.do_for(key, "yaml", partial(_yaml, state, key))
    tries.do("calendar", lambda: _calendar(state))
    tries.do("report", lambda: _report(state))
    state.judge(at_once=True)
    for failure in state.failures(CONTEXT):
        outcome.caught[f"{failure.what}: {failure.problem}"] += 1
    unjudged = bool(state.failures(CONTEXT) or source.store.unreadable)
    outcome.false_calm += unjudged and not state.findings
    outcome.grown = max(outcome.grown, _peak_megabytes() - peak)


def filled_source(items: list[Resource]) -> FilledSource:
    """A cluster of these alone, with every watch live."""
    source = FilledSource(items, at=FIXED_START)
    for kind in KINDS:
        sink = source.store.sink(WatchScope(CONTEXT, kind), source.manual)
        sink.health(WatchHealth(WatchState.LIVE, source.manual.now()))
    return source


def enter_everywhere(source: FilledSource, item: Resource, each: Each = lambda _, call: call()) -> None:
    """One object at every entry point; `each` is handed what is done and the call that does it."""
    state = DashboardState(source, lambda: 0.0)
    key = ObjectRef(CONTEXT, _KIND_OF[type(item)].name, item.namespace, item.name)
    tries = _Tries(Outcome(), 0)
    each("judge", lambda: state.judge(at_once=True))
    for spec in TABLE_PAGES.values():
        each(f"rows of {spec.id}", partial(_rows, state, spec, tries))
    for section in SECTIONS[:-1]:
        each(section, partial(_section, state, key, section))
    each("yaml", partial(_yaml, state, key))
    each("calendar", lambda: _calendar(state))
    each("report", lambda: _report(state))


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class _Tries:
    """Counts what escapes, with the seed and the object that it takes to see it again."""

    def __init__(self, outcome: Outcome, seed: int) -> None:
        self._outcome = outcome
        self._seed = seed

    def do_for(self, key: ObjectRef, what: str, call: Callable[[], object]) -> None:
        """What concerns one object is timed too."""
        began = time.thread_time()
        self.do(what, call)
        self._outcome.slowest = max(self._outcome.slowest, (time.thread_time() - began, f"{what} of {key.name}"))

    def do(self, what: str, call: Callable[[], object]) -> None:
        try:
            call()
        except Exception as problem:
            item = failing_object(problem.__traceback__)
            name = item.name if item is not None else "?"
            self._outcome.escaped.append(f"seed {self._seed}, {what}, {name}: {problem_text(problem)}")


def _send(
    source: FilledSource, kind: Kind, good: dict[str, object], name: str, dice: random.Random, outcome: Outcome
) -> ObjectRef:
    made = read(kind, plain := mutated(good, name, dice))
    sink = source.store.sink(WatchScope(CONTEXT, kind), source.manual)
    outcome.tried += 1
    namespace = plain["metadata"].get("namespace")
    namespace = namespace if isinstance(namespace, str) else ""
    if isinstance(made, Unreadable):
        outcome.unreadable += 1
        sink.unreadable(namespace, name, str(made))
    else:
        sink.apply("ADDED", made)
        namespace = made.namespace
    return ObjectRef(CONTEXT, kind.name, namespace, name)


def _section(state: DashboardState, key: ObjectRef, section: str) -> None:
    wrap(describe_object(state, key, section), _CELLS)


def _rows(state: DashboardState, spec: ScreenPage, tries: _Tries) -> None:
    rows = spec.rows(state)
    rows.pump()
    for row in rows.paint(0, _MOST_ROWS):
        if isinstance(row, SectionRow):
            continue
        tries.do_for(row.key, "pane", lambda key=row.key: wrap(spec.pane(rows, key, state), _CELLS, 9))  # type: ignore[misc]
        tries.do_for(row.key, "json", lambda key=row.key: json.dumps(rows.item(key)))  # type: ignore[misc]
    for column in rows.columns:
        rows.sort(column.name, reverse=True)
        rows.narrow(f"{column.name}:in")
    rows.narrow("")
    rows.faults_only = True
    rows.renew()
    if rows.can_group:
        rows.toggle_groups()
        rows.paint(0, _MOST_ROWS)


def _yaml(state: DashboardState, key: ObjectRef) -> None:
    resource = state.store.get(key)
    if resource is not None and not isinstance(resource, UnreadableObject | UnreadableRow):
        wrap(as_yaml(read_part(key, resource), whole=False, folded=False), _CELLS)


def _calendar(state: DashboardState) -> None:
    model = TimelineModel(state.store, state.contexts)
    now: datetime = state.now()
    model.pump(now)
    for server in model.servers():
        snapshot = state.store.snapshot(server[0])
        meetings(snapshot, server[1], now)
        coming = Foresight(snapshot, server[1], now, timedelta(days=1))
        coming.play(2)
        model.take(ServerNight(server[0], coming.night(), past_runs(snapshot, server[1], now - PAST)))
    for zoom in Zoom:
        axis = night_axis(now, zoom, SizeClass.NARROW, 60, state.zone)
        for key in model.order:
            night = model.night_of(key)
            words = None
            if night is not None:
                told = night.told_runs(key, state.render_context(key.context))
                lane_cells(night.lane_runs(key, told), axis, now)
                words = lane_words(night, told, now, state.zone)
            wrap(lane_box(model[key], words, "", state), _CELLS)
            if not is_shared(key):
                wrap(lane_pane(model[key], state), _CELLS)
    for night in model.nights.values():
        night_words(night, now, state.zone)


def _report(state: DashboardState) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for form in ("text", "json"):
            report_snapshots([(state.store.snapshot(CONTEXT), state.now())], (), form)
