"""A Velero server played forward: what holds in every course, whatever the schedules, lengths and hand-overs."""

from __future__ import annotations

import math
from datetime import UTC, timedelta
from itertools import pairwise
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st

from foretop_core.models import Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.arrivals import Arrival, DrawnArrivals, QueueLevel
from foretop_core.rules.night.course import (
    NEVER,
    PASS,
    Course,
    CourseStart,
    Draw,
    OpenRun,
    PlannedSchedule,
    PlayedRun,
    play,
)
from foretop_core.rules.night.lengths import LateShares
from foretop_core.rules.night.night import night
from foretop_core.rules.night.server_model import MOST_RUNS_OF_ALL
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import printed_words
from tests import objects
from tests.examples import few_or_many
from tests.objects import NOW, backup, location, upload

pytestmark = pytest.mark.long

HOUR = 3600.0


@st.composite
def servers(draw: st.DrawFn) -> tuple[CourseStart, Draw]:
    claims, shares = draw(st.integers(1, 5)), st.just(1.0) | st.floats(0, 1)
    conflicts = [1 << place for place in range(claims)]
    for one in range(claims):
        for other in range(one):
            if draw(st.booleans()):
                conflicts[one] |= 1 << other
                conflicts[other] |= 1 << one
    has_queue = draw(st.booleans())
    slots = draw(st.integers(1, 3)) if has_queue else 1
    schedules = []
    for _ in range(draw(st.integers(1, 6))):
        claim = draw(st.integers(0, claims - 1))
        refused, held = draw(st.integers(0, 5)) == 0, draw(shares)
        if draw(st.integers(0, 4)) == 0:
            every = float(draw(st.integers(1, 900)))
            schedules.append(PlannedSchedule(claim, every=every, first=0.0, is_refused=refused, most=80, held=held))
        else:
            step = draw(st.sampled_from([60, 120, 300, 900]))
            first = draw(st.integers(-600, 600))
            due = tuple(float(at) for at in range(first, 2 * 3600, step))
            schedules.append(PlannedSchedule(claim, due, is_refused=refused, most=200, held=held))
    numbers = st.integers(0, len(schedules) - 1)

    def opened(*, at_work: bool) -> OpenRun:
        place, owner = draw(st.integers(0, claims - 1)), draw(numbers | st.just(-1))
        return OpenRun(place, owner, False, at_work or not has_queue, draw(shares), draw(st.floats(0, 900)))

    running: list[OpenRun] = []
    for _ in range(draw(st.integers(0, slots))):
        run = opened(at_work=True)
        if not any(conflicts[run.claim] >> other.claim & 1 for other in running):
            running.append(run)
    waiting = [opened(at_work=False) for _ in range(draw(st.integers(0, 6)))]
    state = CourseStart(slots, has_queue, schedules, running, waiting, [], conflicts, HOUR)
    lengths = st.floats(1, 1500)
    late = LateShares(draw(st.floats(0, 1)), draw(st.floats(0, 1)))
    return state, Draw(
        lengths=[draw(st.lists(lengths, min_size=1, max_size=4)) for _ in schedules],
        running=[draw(lengths) for _ in running],
        waiting=[draw(lengths) for _ in waiting],
        finishing=[],
        look=float(draw(st.integers(0, 59))),
        late=late,
        random=Random(draw(st.integers(0, 1000))),
    )


def _runs(state: CourseStart, course: Course) -> list[tuple[PlayedRun, int, int]]:
    """Every run with its claim and its schedule."""
    found = [(run, one.claim, one.schedule) for run, one in zip(course.running, state.running, strict=True)]
    found += [(run, one.claim, one.schedule) for run, one in zip(course.waiting, state.waiting, strict=True)]
    for place, runs in enumerate(course.made):
        found += [(run, state.schedules[place].claim, place) for run in runs]
    return found


def _at_work(found: list[tuple[PlayedRun, int, int]], at: float) -> list[tuple[PlayedRun, int, int]]:
    return [one for one in found if one[0].start <= at < one[0].released and not one[0].is_refused]


def test_a_run_that_is_due_in_the_very_second_of_a_look_is_made_by_it() -> None:
    """However many microseconds have passed of the second in which the course begins."""
    for passed in range(0, 1_000_000, 997):
        first = 51 - (24 + passed / 1e6)
        state = CourseStart(1, False, [PlannedSchedule(0, (111 - (24 + passed / 1e6),), most=1)], [], [], [], [1], HOUR)
        course = play(state, Draw([[1.0]], [], [], [], look=first, late=LateShares(0.0, 0.0), random=None))
        assert math.isclose(course.made[0][0].submitted, first + PASS), passed


@few_or_many(25, 100, servers())
def test_never_more_at_work_than_slots_and_no_two_that_share_a_namespace(given: tuple[CourseStart, Draw]) -> None:
    state, draw = given
    found = _runs(state, play(state, draw))
    for run, _, _ in found:
        if run.start < NEVER:
            together = _at_work(found, run.start)
            assert len(together) <= state.slots
            if state.has_queue:
                claims = [claim for _, claim, _ in together]
                for place, one in enumerate(claims):
                    assert not any(state.conflicts[one] >> other & 1 for other in claims[:place])


@few_or_many(25, 100, servers())
def test_nothing_is_submitted_while_a_backup_of_the_schedule_holds_it(given: tuple[CourseStart, Draw]) -> None:
    state, draw = given
    course = play(state, draw)
    found = _runs(state, course)
    for place, runs in enumerate(course.made):
        for run in runs:
            if run.is_lost:
                continue
            for other, _, schedule in found:
                if schedule != place or other is run or other.is_refused:
                    continue
                holds_from = other.start if state.has_queue else max(0.0, other.submitted)
                assert not (holds_from < run.submitted < other.released), (run, other)


@few_or_many(25, 100, servers())
def test_a_run_is_submitted_at_a_look_and_several_due_moments_are_one_backup(
    given: tuple[CourseStart, Draw],
) -> None:
    state, draw = given
    for schedule, runs in zip(state.schedules, play(state, draw).made, strict=True):
        made = [run for run in runs if not run.is_lost]
        looks = [(run.submitted - draw.look) / PASS for run in made]
        assert all(math.isclose(look, round(look), abs_tol=1e-6) for look in looks)
        assert all(run.due <= run.submitted for run in made)
        assert [run.submitted for run in made] == sorted({run.submitted for run in made})
        if schedule.due:
            assert [run.due for run in runs] == list(schedule.due[: len(runs)])
            for run, after in pairwise(runs):
                if run.is_lost:
                    following = next(one for one in runs[runs.index(after) :] if not one.is_lost)
                    assert after.due <= following.submitted


@few_or_many(25, 100, servers())
def test_a_free_slot_goes_to_the_first_in_the_queue_without_a_conflict_ahead(
    given: tuple[CourseStart, Draw],
) -> None:
    state, draw = given
    found = _runs(state, play(state, draw))
    for run, _, _ in found:
        if run.start in (0.0, NEVER) or not state.has_queue:
            continue
        ahead = [
            (other, claim)
            for other, claim, _ in found
            if other is not run and other.submitted < run.submitted and run.start < other.start
        ]
        for other, claim in ahead:
            blockers = [
                mine
                for one, mine, _ in found
                if one is not other
                and (
                    one.start <= run.start <= one.released
                    or (one.submitted <= other.submitted and one.start > run.start)
                )
            ]
            assert any(state.conflicts[claim] >> mine & 1 for mine in blockers), "it was overtaken for nothing"


@few_or_many(25, 100, servers())
def test_a_course_with_the_same_draw_is_the_same_course(given: tuple[CourseStart, Draw]) -> None:
    state, draw = given
    again = Random()
    assert draw.random is not None
    again.setstate(draw.random.getstate())
    assert play(state, draw) == play(
        state, Draw(draw.lengths, draw.running, draw.waiting, [], draw.look, draw.late, again)
    )


def test_what_moves_its_volumes_holds_no_slot_and_goes_on_to_its_end() -> None:
    """At work for a tenth of its length: so is the one that runs, of which eight minutes have passed."""
    running = OpenRun(0, holds_schedule=True, held=0.1, elapsed=480.0)
    waiting = [OpenRun(1, held=0.1), OpenRun(2)]
    state = CourseStart(1, True, [], [running], waiting, [], [1, 2, 4], HOUR)
    course = play(state, Draw([], [5520.0], [600.0, 600.0], [], 30.0, LateShares(0.0, 0.0)))
    found = [(run.start, run.released, run.end) for run in (*course.running, *course.waiting)]
    assert found == [(0.0, 120.0, 5520.0), (120.0, 180.0, 720.0), (180.0, 780.0, 780.0)]


def test_a_schedule_that_moves_volumes_holds_its_slot_as_long_as_its_last_runs_did() -> None:
    moving = objects.schedule("media", "0 3 * * *", last="02:00:03", template={"includedNamespaces": ["media"]})
    after = objects.schedule("wiki", "0 3 * * *", last="02:00:03", template={"includedNamespaces": ["wiki"]})
    there: list[Resource] = [location(), moving, after]
    for name, minutes in (("media", 20), ("wiki", 2)):
        for hour in ("00", "01", "02"):
            begun, ended, spec = f"{hour}:00:03", f"{hour}:{minutes:02}:03", {"includedNamespaces": [name]}
            there.append(backup(f"{name}-{hour}", created=begun, started=begun, ended=ended, of=name, spec=spec))
    for hour in ("00", "01", "02"):
        there.append(upload(f"up-{hour}", "Completed", of=f"media-{hour}", created=f"{hour}:05:03"))
    told = night(assemble(there), "velero", NOW, timedelta(hours=1), 0)
    media, wiki = (next(run for run in told.runs if run.owner.name == name) for name in ("media", "wiki"))
    assert media.start is not None
    assert media.end is not None
    assert wiki.start is not None
    assert media.end.likely - media.start.likely == timedelta(minutes=20)
    assert wiki.start.likely - media.start.likely == timedelta(minutes=5)
    released = {span.owner.name: span.released for span in told.typical}
    assert released["media"] - media.start.likely == timedelta(minutes=5)


def test_velero_that_is_stopped_fails_what_runs_and_makes_what_is_due_when_it_is_back() -> None:
    state = CourseStart(
        1,
        True,
        [PlannedSchedule(0, (600.0, 1200.0, 1800.0), most=9)],
        [OpenRun(0, -1, False, True)],
        [],
        [],
        [1],
        HOUR,
        stopped=(300.0, 1500.0),
    )
    course = play(state, Draw([[60.0]], [900.0], [], [], 0.0, LateShares(0.0, 0.0)))
    assert course.running[0].is_cut
    assert course.running[0].end == 1500.0
    lost, late, normal = course.made[0]
    assert (lost.is_lost, late.due, late.submitted, late.start) == (True, 1200.0, 1500.0, 1500.0)
    assert normal.submitted == 1800.0


@pytest.mark.parametrize(("waiting", "start"), [(5, 100.0), (6, 150.0)])
def test_behind_six_that_wait_a_slot_is_handed_over_as_behind_a_long_queue(waiting: int, start: float) -> None:
    """Here always late: the next one is taken at the next pass of the server, at second 30 of its minute."""
    state = CourseStart(1, True, [], [OpenRun(0)], [OpenRun(0)] * waiting, [], [1], HOUR)
    lengths = [60.0] * waiting
    draw = Draw([], [100.0], lengths, [], 30.0, LateShares(short_queue=0.0, long_queue=1.0), Random(1))
    assert play(state, draw, only_open=True).waiting[0].start == start


def test_one_that_waits_starts_when_a_stopped_velero_is_back() -> None:
    state = CourseStart(1, True, [], [], [OpenRun(0)], [], [1], HOUR, has_arrival=True, stopped=(0.0, 900.0))
    course = play(state, Draw([], [], [60.0], [], 0.0, LateShares(0.0, 0.0)))
    assert (course.waiting[0].start, course.waiting[0].end) == (900.0, 960.0)


@few_or_many(
    25, 100, servers(), st.lists(st.tuples(st.floats(0, HOUR), st.floats(1, 900)), max_size=40), st.integers(0, 6)
)
def test_backups_of_tenants_take_slots_and_never_more_than_there_are(
    given: tuple[CourseStart, Draw], asked: list[tuple[float, float]], kept: int
) -> None:
    state, draw = given
    arrivals = tuple(Arrival(at, 0, length) for at, length in sorted(asked))
    tenants = DrawnArrivals(arrivals, (QueueLevel(HOUR / 2, kept),) if arrivals else ())
    course = play(state, msgspec.structs.replace(draw, tenants=tenants))
    runs = [run for run, _, _ in _runs(state, course)] + course.arrived
    for run in course.arrived:
        assert run.submitted <= run.start
        at_work = sum(one.start <= run.start < one.released and not one.is_refused for one in runs)
        assert run.start == NEVER or at_work <= state.slots


def test_a_week_of_schedules_that_run_every_minute_is_bounded_and_says_so() -> None:
    """The one that runs once a day is there on all seven days, and the last by name is not left out."""
    often = [objects.schedule(f"minute-{number}", "* * * * *", last="02:40:03") for number in range(6)]
    daily = objects.schedule("z-daily", "0 4 * * *", last="2026-11-14T04:00:03Z")
    snapshot = assemble([location(), *often, daily], given_versions={"": "1.18.3"})
    ahead = night(snapshot, "velero", NOW, timedelta(days=7), draws=0)
    assert len(ahead.runs) <= MOST_RUNS_OF_ALL
    assert ahead.bounded == tuple(f"minute-{number}" for number in range(6))
    assert len([run for run in ahead.runs if run.owner.name == "z-daily"]) == 7
    assert any("not all of them played: minute-0" in line for line in printed_words(ServerNight("", ahead), NOW, UTC))


def test_where_the_flag_cannot_be_read_a_server_works_on_as_many_as_it_ever_did() -> None:
    """Three at once last night; one at work now, and one that handed its slot over within a second."""

    def ran(name: str, started: str, ended: str, **status: Any) -> Resource:
        return backup(name, created=started, started=started, ended=ended, **status)

    runs = [
        ran("one", "01:00:00", "01:10:00"),
        ran("two", "01:01:00", "01:05:00"),
        ran("three", "01:02:00", "01:20:00"),
        ran("after-two", "01:04:59", "01:07:00"),
        ran("moves-data", "01:03:00", "01:04:00", backupItemOperationsAttempted=1),
        backup("synced", created="02:00:00", started="01:03:00", ended="01:04:00"),
        backup("now", "InProgress", created="02:40:00", started="02:40:00"),
    ]
    snapshot = assemble([location(), *runs], given_versions={"": "1.18.3"})
    assert night(snapshot, "velero", NOW, draws=0).slots == 3
    known = msgspec.structs.replace(snapshot, servers={"velero": VeleroInfo(concurrency=2, version="1.18.3")})
    assert night(known, "velero", NOW, draws=0).slots == 2
    alone = assemble([location(), runs[-1]], given_versions={"": "1.18.3"})
    assert night(alone, "velero", NOW, draws=0).slots == 1
