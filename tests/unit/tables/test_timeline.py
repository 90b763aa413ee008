"""Lanes and load agree with the runs of the dialect, one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from foretop.panes.detail_sections import describe_object
from foretop_core.clock import ManualClock
from foretop_core.cron import CronSchedule, Dialect, parse
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule, from_builtins
from foretop_core.models.kinds import PRESCALED, SCHEDULE, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.cron_dialects import Reading, readings
from foretop_core.rules.run_minutes import run_bits
from foretop_core.rules.severity import Severity
from foretop_core.store import Store
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.view_scope import ViewScope
from foretop_core.tables.timeline.lanes import (
    NO_OBSTACLES,
    LaneObstacles,
    TimelineItem,
    lane_obstacles,
    next_runs,
    timeline_item,
)
from foretop_core.tables.timeline.night_chart import lane_cells
from foretop_core.tables.timeline.night_lanes import job_runs
from foretop_core.tables.timeline.time_axis import TimeAxis, axis_over
from foretop_core.tables.timeline.timeline_model import TimelineModel
from tests.examples import sampled
from tests.objects import NOW, at, location, schedule, upload
from tests.unit.cron.strategies import expressions, moments, schedules
from tests.unit.tables.test_views import Shown

pytestmark = pytest.mark.long

CHANGING_ZONES = ("Europe/Berlin", "America/New_York", "Africa/Cairo", "Australia/Lord_Howe")
QUICK = settings(max_examples=40, derandomize=True, deadline=None, database=None)
TICK = timedelta(microseconds=1)
MINUTE = timedelta(minutes=1)
SIX_HOURS = axis_over(NOW, timedelta(hours=6), 62)


def key(name: str = "nightly", context: str = "prod") -> ObjectRef:
    return ObjectRef(context, SCHEDULE.name, "velero", name)


def item(cron: str, name: str = "nightly", **more: Any) -> TimelineItem:
    return TimelineItem(key(name), cron, Dialect.ROBFIG, **more)


def lane(made: TimelineItem, axis: TimeAxis, now: datetime, obstacles: LaneObstacles = NO_OBSTACLES) -> str:
    """What an expression alone draws, without the line of now."""
    cells = lane_cells(job_runs(made, obstacles, axis, now), axis, now)
    return "".join(cell.text for cell in cells).replace("│", " ")


def of_robfig(_context: str, schedule: Schedule) -> tuple[Reading, ...]:
    return readings(schedule.spec.schedule, (Dialect.ROBFIG,))


def robfig(cron: str) -> CronSchedule:
    return parse(cron, Dialect.ROBFIG)


def one_by_one(schedule: CronSchedule, start: datetime, minutes: int) -> int:
    runs = schedule.between(start - TICK, start + minutes * MINUTE - TICK)
    return sum(1 << (run.astimezone(UTC) - start) // MINUTE for run in runs)


def prescaled(cron: str, minutes: int, name: str = "orders", **spec: Any) -> PreScaledCronJob:
    wanted = {"warmUpTimeMins": minutes, "cronJob": {"spec": {"schedule": cron, **spec}}}
    meta = {"name": name, "namespace": "batch", "creationTimestamp": "2026-11-01T00:00:00Z"}
    return from_builtins(PreScaledCronJob, {"metadata": meta, "spec": wanted})


@QUICK
@given(schedules(), moments(), st.sampled_from([360, 1440, 10080]))
def test_the_bits_match_the_runs(schedule: CronSchedule, moment: datetime, minutes: int) -> None:
    start = moment.replace(second=0, microsecond=0)
    assert run_bits(schedule, start, minutes) == one_by_one(schedule, start, minutes)


@pytest.mark.parametrize("zone", sampled(CHANGING_ZONES, "Europe/Berlin", "Australia/Lord_Howe"))
@pytest.mark.parametrize("cron", ["30 2 * * *", "0 * * * *", "0 12 * * 5", "*/15 0-3 * * *"])
@pytest.mark.parametrize("dialect", [Dialect.ROBFIG, Dialect.NETRESEARCH])
def test_the_bits_match_the_runs_around_clock_changes(dialect: Dialect, zone: str, cron: str) -> None:
    made = parse(f"CRON_TZ={zone} {cron}", dialect)
    for day in range(0, 365, 3):
        start = datetime(2026, 1, 1, 5, 7, tzinfo=UTC) + timedelta(days=day)
        assert run_bits(made, start, 1440) == one_by_one(made, start, 1440)


def test_each_dialect_draws_the_days_on_which_its_server_runs() -> None:
    start = datetime(2026, 6, 1, tzinfo=UTC)
    drawn = {dialect: run_bits(parse("0 2 1,2 * 1", dialect), start, 8 * 1440) for dialect in Dialect}
    first, second, monday_after = (1 << day * 1440 + 120 for day in (0, 1, 7))
    assert drawn == {
        Dialect.ROBFIG1: first | second | monday_after,
        Dialect.ROBFIG: first | second | monday_after,
        Dialect.NETRESEARCH: first,
    }
    stepped = {dialect: run_bits(parse("0 2 */2 * 2", dialect), start, 4 * 1440) for dialect in Dialect}
    third = 1 << 2 * 1440 + 120
    assert stepped == {Dialect.ROBFIG1: 0, Dialect.ROBFIG: first | second | third, Dialect.NETRESEARCH: 0}


def test_a_skipped_run_is_drawn_where_the_server_makes_it_later() -> None:
    start = datetime(2026, 3, 29, 0, 0, tzinfo=UTC)
    text = "CRON_TZ=Europe/Berlin 30 2 * * *"
    assert run_bits(parse(text, Dialect.ROBFIG), start, 180) == 0
    assert run_bits(parse(text, Dialect.NETRESEARCH), start, 180) == 1 << 90
    within_the_hour = start + timedelta(minutes=70)
    assert run_bits(parse(text, Dialect.NETRESEARCH), within_the_hour, 60) == 1 << 20


def test_a_manual_schedule_draws_nothing() -> None:
    assert run_bits(parse("@manual", Dialect.NETRESEARCH), NOW.replace(second=0), 1440) == 0


def test_a_clock_change_drops_and_repeats_runs_on_the_lane() -> None:
    text = "CRON_TZ=Europe/Berlin 30 2 * * *"
    spring = TimeAxis(datetime(2026, 3, 29, 0, 0, tzinfo=UTC), 30, 12)
    autumn = TimeAxis(datetime(2026, 10, 25, 0, 0, tzinfo=UTC), 30, 12)
    assert lane(item(text), spring, spring.start).count("▎") == 0
    assert lane(item(text), autumn, autumn.start).rstrip() == " ▎ ▎"


@QUICK
@given(expressions(), st.booleans())
def test_a_lane_marks_each_cell_with_an_upcoming_run(cron: str, paused: bool) -> None:
    cells = {SIX_HOURS.cell_of(run) for run in robfig(cron).between(NOW, SIX_HOURS.end - TICK)}
    drawn = lane(item(cron, paused=paused), SIX_HOURS, NOW)
    assert len(drawn) == SIX_HOURS.cells
    assert {cell for cell, sign in enumerate(drawn) if sign != " "} == cells
    assert set(drawn) <= ({"‖", " "} if paused else {"▎", " "})


def test_a_run_already_started_in_the_first_cell_is_not_upcoming() -> None:
    assert lane(item("40 2 * * *"), SIX_HOURS, NOW).strip() == ""
    assert lane(item("41 2 * * *"), SIX_HOURS, NOW).strip() == ""
    assert lane(item("42 2 * * *"), SIX_HOURS, at("02:41:59"))[1] == "▎"


def test_a_constant_delay_counts_from_the_last_run() -> None:
    made = timeline_item(key(), schedule(cron="@every 50m", last="02:10:30"), of_robfig)
    assert made is not None
    assert [f"{run:%H:%M:%S}" for run in next_runs(made, NOW, 3)] == ["03:00:30", "03:50:30", "04:40:30"]
    drawn = lane(made, SIX_HOURS, NOW)
    assert [cell for cell, sign in enumerate(drawn) if sign == "▎"] == [
        SIX_HOURS.cell_of(at("03:00:30") + late * timedelta(minutes=50)) for late in range(7)
    ]


def test_an_overdue_constant_delay_continues_in_its_own_steps() -> None:
    made = timeline_item(key(), schedule(cron="@every 1h", last="2026-11-14T20:15:00Z"), of_robfig)
    assert made is not None
    assert next_runs(made, NOW, 1) == (at("03:15"),)


@QUICK
@given(expressions(), st.integers(1, 200))
def test_warm_ups_are_drawn_in_every_minute_before_their_runs(cron: str, minutes: int) -> None:
    made = timeline_item(ObjectRef("prod", PRESCALED.name, "batch", "orders"), prescaled(cron, minutes), of_robfig)
    assert made is not None
    ruler = TimeAxis(NOW.replace(second=0), 1, 360)
    drawn = lane(made, ruler, NOW)
    wanted = [" "] * ruler.cells
    runs = list(parse(cron, Dialect.ROBFIG).between(NOW, ruler.end + minutes * MINUTE))
    for run in runs:
        for minute in range(max(0, ruler.minute_of(run) - minutes), min(360, ruler.minute_of(run))):
            wanted[minute] = "▒"
    for run in runs:
        if run < ruler.end:
            wanted[ruler.minute_of(run)] = "▎"
    assert drawn == "".join(wanted)


def test_a_started_warm_up_is_drawn_even_if_its_run_is_beyond_the_axis() -> None:
    made = timeline_item(ObjectRef("prod", PRESCALED.name, "batch", "orders"), prescaled("0 12 * * *", 600), of_robfig)
    assert made is not None
    assert lane(made, SIX_HOURS, NOW) == "▒" * SIX_HOURS.cells


def test_warm_ups_that_are_not_made_are_drawn_with_a_sign_of_their_own() -> None:
    cold = lane(item("0 * * * *", warm_up=10), SIX_HOURS, NOW, LaneObstacles(unwarmed=True))
    assert set(cold) == {" ", "▎", "·"}
    assert cold.replace("·", "▒") == lane(item("0 * * * *", warm_up=10), SIX_HOURS, NOW)


def _render(*objects: Resource) -> RenderContext:
    return Shown("schedules", objects).render_context()


def test_a_lane_knows_that_its_storage_is_gone_that_it_is_late_and_that_nothing_warms_it() -> None:
    lost, kept = location(phase="Unavailable"), location()
    late = schedule(cron="0 * * * *", last="01:00:03")
    made = timeline_item(key(), late, of_robfig)
    assert made is not None
    assert lane_obstacles(made, late, _render(lost, late), None) == LaneObstacles(
        late=NOW - at("02:00:00"), severity=Severity.ERROR
    )
    cold = prescaled("0 * * * *", 5)
    made = timeline_item(key(), cold, of_robfig)
    assert made is not None
    assert lane_obstacles(made, cold, _render(kept), None) == LaneObstacles(unwarmed=True)
    assert lane_obstacles(made, cold, _render(kept), from_builtins(CronJob, {})) == LaneObstacles()


def test_the_lane_of_a_paused_schedule_is_broken_only_where_it_stays_so_after_the_pause() -> None:
    for cron, severity in (("61 2 * * *", Severity.ERROR), ("0 2 * * *", None)):
        said = schedule(cron=cron, paused=True, phase="FailedValidation")
        paused = replace(said, status=replace(said.status, validation_errors=("no such location",)))
        made = timeline_item(key(), paused, of_robfig)
        assert made is not None
        assert bool(made.problem) is (severity is not None)
        assert lane_obstacles(made, paused, _render(location(), paused), None).severity is severity


def test_the_overview_of_a_prescaled_job_has_its_runs_and_its_warm_ups() -> None:
    shown = Shown("schedules", [location(), prescaled("0 * * * *", 5)])
    shown.state.begin_frame()
    shown.state.judge(at_once=True)

    def told(section: str) -> str:
        found = describe_object(shown.state, ObjectRef("prod", PRESCALED.name, "batch", "orders"), section)
        return "\n".join(f"{one.label} {''.join(piece.text for piece in one.spans)}" for one in found)

    overview = told("overview")
    assert "PreScaledCronJob orders in batch, 0 * * * *, every hour" in overview
    assert "Next in 18m: 03:00  04:00" in overview
    assert "none is made 5 minutes before: 02:55 → 03:00" in overview
    assert "Warm-up 5 minutes" in " ".join(told("describe").split())


def test_a_suspended_prescaled_job_is_drawn_as_paused_and_needs_no_warm_up() -> None:
    orders = ObjectRef("prod", PRESCALED.name, "batch", "orders")
    made = timeline_item(orders, prescaled("0 3 * * *", 10, suspend=True), of_robfig)
    assert made is not None
    assert set(lane(made, SIX_HOURS, NOW)) == {" ", "‖"}


def test_a_cron_job_s_zone_field_is_used_unless_its_expression_has_one() -> None:
    job = {"metadata": {"name": "j", "namespace": "b"}, "spec": {"schedule": "0 6 * * *", "timeZone": "Asia/Tokyo"}}
    made = timeline_item(key("j"), from_builtins(CronJob, job), of_robfig)
    assert made is not None
    assert next_runs(made, NOW, 1) == (at("21:00"),)
    job["spec"]["schedule"] = "CRON_TZ=Europe/Berlin 0 6 * * *"
    made = timeline_item(key("j"), from_builtins(CronJob, job), of_robfig)
    assert made is not None
    assert next_runs(made, NOW, 1) == (at("05:00"),)


@pytest.mark.parametrize(
    ("cron", "why"), [("0 0 * * 7", "above maximum"), ("0 0 31 2 *", "no date fits, runs every minute")]
)
def test_an_invalid_schedule_draws_nothing_and_has_a_reason(cron: str, why: str) -> None:
    made = timeline_item(key(), schedule(cron=cron), of_robfig)
    assert made is not None
    assert why in made.problem
    assert lane(made, SIX_HOURS, NOW).strip() == ""
    assert next_runs(made, NOW, 3) == ()


def filled(*resources: Resource) -> Store:
    store = Store()
    store.fill("prod", resources, ManualClock(NOW))
    return store


def test_the_timeline_updates_only_for_changes_that_affect_a_lane() -> None:
    store = filled(schedule("b", "0 * * * *"), schedule("a", "5 * * * *"), prescaled("0 6 * * *", 10, "c"))
    timeline = TimelineModel(store, ("prod",))
    assert [one.name for one in timeline.order] == ["a", "b", "c"]
    store.put(key("b"), schedule("b", "0 * * * *", last="02:00:03"), NOW)
    timeline.pump()
    assert timeline.revision == 0
    store.put(key("b"), schedule("b", "0 * * * *", paused=True), NOW)
    timeline.pump()
    assert timeline.revision == 1
    assert timeline[key("b")].paused
    store.put(key("aa"), schedule("aa", "7 * * * *"), NOW)
    store.put(key("a"), None, NOW)
    timeline.pump()
    assert [one.name for one in timeline.order] == ["aa", "b", "c"]


def test_what_people_write_of_a_schedule_is_another_plan_and_its_last_run_is_not() -> None:
    store = filled(schedule("a", "5 * * * *"))
    timeline = TimelineModel(store, ("prod",))
    for changed, plans in ((schedule("a", "5 * * * *", last="02:05:03"), 0), (schedule("a", "6 * * * *"), 1)):
        store.put(key("a"), changed, NOW)
        timeline.pump()
        assert timeline.plans["prod", "velero"] == plans


def test_the_lane_of_a_cron_job_is_beside_the_velero_of_its_own_cluster() -> None:
    store = filled(schedule("a", "5 * * * *"))
    store.fill("test", [schedule("b", "5 * * * *"), prescaled("0 6 * * *", 10)], ManualClock(NOW))
    timeline = TimelineModel(store, ("prod", "test"))
    assert timeline.server_of(ObjectRef("test", PRESCALED.name, "batch", "orders")) == ("test", "velero")
    assert timeline.server_of(ObjectRef("gone", PRESCALED.name, "batch", "orders")) is None
    assert timeline.server_of(None) == ("prod", "velero")


def test_a_volume_that_begins_to_move_is_foreseen_from_and_its_bytes_are_not() -> None:
    """Before its first byte nobody knows when its run ends; the bytes move that end a little."""
    store = filled(schedule("a", "5 * * * *"))
    timeline = TimelineModel(store, ("prod",))
    for phase, done, changes in (("Accepted", 0, 1), ("InProgress", 0, 2), ("InProgress", 5, 3), ("InProgress", 9, 3)):
        volume = upload("thumbs", phase, progress={"bytesDone": done, "totalBytes": 100})
        store.put(ObjectRef("prod", "DataUpload", "velero", "thumbs"), volume, NOW)
        timeline.pump(NOW)
        assert timeline.changes["prod", "velero"] == changes


def test_a_storage_location_that_goes_makes_another_night_and_a_check_of_it_does_not() -> None:
    store = filled(schedule("a", "5 * * * *"), location())
    timeline = TimelineModel(store, ("prod",))
    for changed, changes in ((location(checked="02:42:03"), 0), (location(phase="Unavailable"), 1)):
        store.put(ObjectRef("prod", STORAGE.name, "velero", "default"), changed, NOW)
        timeline.pump(NOW)
        assert timeline.changes["prod", "velero"] == changes


def test_the_timeline_is_filtered_like_every_table() -> None:
    store = filled(
        schedule("a", "0 * * * *", paused=True),
        schedule("b", "5 * * * *", labels={"tier": "gold"}),
        prescaled("@daily", 1),
    )
    timeline = TimelineModel(store, ("prod",))
    for text, names in (("paused:true", "a"), ("-l tier=gold", "b"), ("namespace:batch", "orders"), ("!batch", "a b")):
        timeline.narrow(text)
        assert " ".join(one.name for one in timeline.order) == names
        assert timeline.filter_text == text
    assert len(timeline) == 3
    timeline.narrow("-l tier=gold")
    assert timeline.place(key("a")) is None
    assert timeline.place(key("b")) == 0


def test_lanes_are_in_the_order_of_their_next_runs_as_time_goes_on() -> None:
    store = filled(
        schedule("a", "50 * * * *"),
        schedule("b", "45 * * * *"),
        schedule("c", "55 * * * *", paused=True),
        schedule("d", "0 0 31 2 *"),
    )
    timeline = TimelineModel(store, ("prod",))

    def order(now: datetime | None) -> str:
        timeline.pump(now)
        return "".join(one.name for one in timeline.order)

    assert order(None) == "abcd"
    assert order(at("02:41")) == "bacd"
    assert order(at("02:44:59")) == "bacd"
    assert order(at("02:45")) == "bacd"
    # The run of this minute is due: the next one counts.
    assert order(at("02:45:01")) == "acbd"
    assert order(at("02:50:01")) == "cbad"
    assert timeline.revision == 0


def test_lanes_are_found_near_a_place_and_within_a_scope() -> None:
    timeline = TimelineModel(filled(*(schedule(name, "5 * * * *") for name in "abc")), ("prod",))
    assert [timeline.place(key("c"), near) for near in (0, 2, 3, -1, 99)] == [2] * 5
    assert timeline.place(key("a"), 0) == 0
    assert timeline.place(key("nobody")) is None
    timeline.look_at(ViewScope(context="elsewhere"))
    assert timeline.order == []
    assert timeline.place(key("a")) is None
    timeline.look_at(ViewScope())
    assert len(timeline.order) == 3
    timeline.narrow("name:")
    assert len(timeline.order) == 3


def test_a_lane_with_two_possible_readings_draws_nothing_and_shows_both() -> None:
    made = timeline_item(key(), schedule(cron="0 3 1 * 1"), lambda _, item: readings(item.spec.schedule))
    assert made is not None
    assert lane(made, SIX_HOURS, NOW).strip() == ""
    assert made.problem == (
        "it depends on the Velero release, which is unknown (Velero up to 1.18.2: at 03:00 on the 1st of the "
        "month and on every Monday; Velero 1.18.3 and later: at 03:00 on the 1st if it is a Monday)"
    )


def test_lanes_are_drawn_once_the_dialect_is_known() -> None:
    store, clock = Store(), ManualClock(NOW)
    store.fill("prod", [schedule(cron="0 3 1 * 1")], clock)
    timeline = TimelineModel(store, ["prod"])
    assert timeline[key()].problem
    queued = schedule("told", "0 22-2 * * *")
    store.fill("prod", [schedule(cron="0 3 1 * 1"), queued], clock)
    timeline.pump(NOW)
    assert not timeline[key()].problem
    assert timeline[key()].dialect is Dialect.NETRESEARCH
