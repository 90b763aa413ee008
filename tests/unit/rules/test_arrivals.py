"""Backups that tenants will ask for: they are not foretold, and they hold up the runs of schedules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest
from msgspec.structs import replace

from foretop_core.models import Backup, Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.arrivals import (
    MIDDLE,
    NO_BOUND,
    Arrivals,
    TenantRun,
    TenantRuns,
    arrivals_before,
    rush,
    tenant_runs,
)
from foretop_core.rules.night.lengths import late_handovers
from foretop_core.rules.night.night import Night, night
from foretop_core.rules.night.open_queue import open_forecasts
from foretop_core.rules.night.server_model import server_model
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import night_words, week_words
from tests.objects import NOW, at, backup, location, schedule

HOUR, DAY = 3600.0, 86400.0
FROM_TENANT = {"openshift.io/oadp-nab-origin-name": "one", "openshift.io/oadp-nab-origin-namespace": "team-a"}


def _backup(name: str, created: datetime, started: datetime | None, ended: datetime | None, of: str = "") -> Backup:
    return backup(
        name,
        "Completed" if ended else "InProgress" if started else "Queued",
        created=created.isoformat(),
        started=started.isoformat() if started else "",
        ended=ended.isoformat() if ended else "",
        of=of,
        spec={"includedNamespaces": [of or name]},
        annotations={} if of else FROM_TENANT,
    )


def _server(*objects: Resource, slots: int = 1) -> ClusterSnapshot:
    snapshot = assemble([location(), *objects], given_versions={"": "1.18.3"})
    return replace(snapshot, servers={"velero": VeleroInfo(concurrency=slots, version="1.18.3")})


def _nightly() -> list[Resource]:
    """Ten runs of a minute, one a day; the next falls due at 03:30."""
    days = [at("03:30:07") - timedelta(days=day) for day in range(1, 11)]
    runs = [_backup(f"nightly-{day:%d}", day, day, day + timedelta(minutes=1), "nightly") for day in days]
    return [schedule("nightly", "30 3 * * *", last=days[0].isoformat()), *runs]


def _tenants(every: float, lasts: float) -> list[Resource]:
    made = [NOW - timedelta(seconds=lasts + every * number) for number in range(1, 41)]
    return [_backup(f"nab-{n}", t, t, t + timedelta(seconds=lasts)) for n, t in enumerate(made)]


def _start_of_nightly(ahead: Night) -> tuple[datetime, datetime]:
    (told,) = [run for run in ahead.runs if run.owner.name == "nightly"]
    assert told.start is not None
    return told.start.most


def test_a_start_is_told_to_the_second_on_a_server_that_has_nothing_else_to_do() -> None:
    first, last = _start_of_nightly(night(_server(*_nightly()), "velero", NOW, timedelta(hours=2)))
    assert last - first <= timedelta(seconds=1)


def test_tenants_who_keep_the_only_slot_busy_make_the_start_of_a_schedule_uncertain() -> None:
    snapshot = _server(*_nightly(), *_tenants(every=130, lasts=100))
    ahead = night(snapshot, "velero", NOW, timedelta(hours=2))
    first, last = _start_of_nightly(ahead)
    assert last - first > timedelta(seconds=45)
    assert {run.owner.name for run in ahead.runs} == {"nightly"}, "what nobody has asked for is not told"
    assert len(ahead.typical) > 20, "but it takes slots"


def test_a_few_backups_of_tenants_do_not_tell_that_more_will_come() -> None:
    few = _tenants(every=130, lasts=100)[:4]
    first, last = _start_of_nightly(night(_server(*_nightly(), *few), "velero", NOW, timedelta(hours=2)))
    assert last - first <= timedelta(seconds=1)


def test_later_hours_are_like_the_same_hours_of_earlier_days() -> None:
    ago = sorted(day * DAY - 3 * HOUR - number * 300 for day in range(1, 6) for number in range(12))
    known = Arrivals(tuple(ago), (0,) * len(ago), (60.0,) * len(ago), 7 * DAY, 0, 3)
    for seed in range(20):
        drawn = known.draw(Random(seed), DAY, seed / 20).arrivals
        assert len(drawn) == 12
        assert all(3 * HOUR <= one.at <= 4 * HOUR for one in drawn)
        assert list(drawn) == sorted(drawn, key=lambda one: one.at)


def test_those_that_come_by_chance_do_not_come_as_often_again() -> None:
    def counts(ago: list[float]) -> set[int]:
        known = Arrivals(tuple(ago), (0,) * len(ago), (60.0,) * len(ago), HOUR, 0, 3)
        return {len(known.draw(Random(seed), HOUR, seed / 40).arrivals) for seed in range(40)}

    chance = Random(1)
    by_chance = sorted(chance.uniform(0.0, HOUR) for _ in range(30))
    assert max(counts(by_chance)) - min(counts(by_chance)) >= 12
    by_the_clock = counts([120.0 * number for number in range(1, 31)])
    assert max(by_the_clock) - min(by_the_clock) <= 1
    by_another_clock = counts([120.0 * number + 10 * (number % 2) for number in range(1, 31)])
    assert max(by_another_clock) - min(by_another_clock) <= 4


def _in_turn(count: int) -> list[Backup]:
    """One slot, always taken: each run starts with the end of the one before, and waited for minutes."""
    begins = at("01:00:13")
    return [
        _backup(f"run-{n}", t - timedelta(minutes=5), t, t + timedelta(seconds=47))
        for n in range(count)
        for t in (begins + timedelta(seconds=47 * n),)
    ]


def test_a_start_after_a_backup_that_was_deleted_is_no_late_hand_over() -> None:
    runs = _in_turn(40)
    assert late_handovers(runs, 1, second=3).late == (0, 0)
    left = [run for place, run in enumerate(runs) if place >= 30 or place % 3 == 0]
    found = late_handovers(left, 1, second=3)
    assert found.late == (0, 0)
    assert sum(found.seen) >= 8


def test_a_start_with_the_end_of_a_backup_that_took_its_namespace_is_no_late_hand_over() -> None:
    first = _backup("first", at("01:00:00"), at("01:00:00"), at("01:10:00"))
    short = _backup("short", at("01:00:05"), at("01:00:05"), at("01:02:00"))
    waits = _backup("waits", at("01:01:20"), at("01:10:00"), at("01:11:00"))
    assert late_handovers([first, short, waits], 2).late == (0, 0)


@pytest.mark.parametrize(
    ("waits", "second", "seen", "late"),
    [
        (("02:09:58", "02:10:00"), None, 0, 0),
        (("02:05:00", "02:10:02"), None, 1, 0),
        (("02:05:00", "02:10:03"), None, 1, 1),
        (("02:05:00", "02:12:07"), 10, 0, 0),
        (("02:05:00", "02:12:08"), 10, 1, 1),
        (("02:05:00", "02:12:12"), 10, 1, 1),
        (("02:05:00", "02:12:13"), 10, 0, 0),
        (("02:05:00", "02:30:02"), 10, 2, 1),
        (("02:05:00", "02:30:03"), 10, 1, 0),
    ],
)
def test_a_late_hand_over_waits_for_a_pass_or_a_submission_and_what_waits_for_neither_tells_nothing(
    waits: tuple[str, str], second: int | None, seen: int, late: int
) -> None:
    """One slot, taken from two to ten past; a third one is submitted at half past, and never starts late."""
    created, started = map(at, waits)
    ended = started + timedelta(minutes=5)
    runs = [
        _backup("first", at("02:00:00"), at("02:00:00"), at("02:10:00")),
        _backup("waits", created, started, ended),
        _backup("submitted", at("02:30:00"), max(ended, at("02:30:00")), None),
    ]
    found = late_handovers(runs, 1, second)
    assert (found.seen, found.late) == ((seen, 0), (late, 0))


@pytest.mark.parametrize(("seconds", "late"), [(1, (0, 0)), (60, (5, 2))])
def test_behind_six_the_queue_is_long(seconds: int, late: tuple[int, int]) -> None:
    """Seven wait behind the first, and each starts so many seconds after the end of the one before."""
    runs = [_backup("first", at("02:00:00"), at("02:00:00"), at("02:10:00"))]
    for number in range(7):
        ended = runs[-1].status.completion_timestamp
        assert ended is not None
        begun = ended + timedelta(seconds=seconds)
        runs.append(_backup(f"q{number}", at(f"02:0{number}:30"), begun, begun + timedelta(minutes=5)))
    found = late_handovers(runs, 1)
    assert (found.seen, found.late) == ((5, 2), late)


def test_a_hand_over_that_is_under_way_is_not_taken_for_a_late_one() -> None:
    """The one before ended a second ago; most hand-overs take some milliseconds, and the next pass is far."""
    ended = NOW - timedelta(seconds=1)
    before = [
        _backup(f"nightly-{n}", t, t, t + timedelta(minutes=1), "nightly")
        for n in range(5)
        for t in (ended - timedelta(minutes=1 + 30 * n),)
    ]
    waiting = _backup("waits", NOW - timedelta(seconds=50), None, None)
    snapshot = _server(*before, waiting)
    model = replace(server_model(snapshot, "velero", NOW, NOW + timedelta(hours=1)), look=40.0)
    start = open_forecasts(model)["waits"].start
    assert start is not None
    assert start.likely - NOW < timedelta(seconds=2)
    assert start.most[1] - NOW > timedelta(seconds=30), "it may be late all the same"


def test_tenants_keep_a_queue_filled_only_where_it_was_never_empty() -> None:
    def waited(minutes: int) -> list[Backup]:
        """One every two minutes up to now; those of the last minutes still wait."""
        made = [NOW - timedelta(minutes=2 * number) for number in range(40)]
        starts = [at + timedelta(minutes=minutes) for at in made]
        return [
            _backup(f"nab-{number}", made[number], start if start <= NOW else None, None)
            for number, start in enumerate(starts)
        ]

    ended = _backup("ended", at("00:00:00"), at("00:00:00"), at("00:01:00"))
    assert tenant_runs([ended, *waited(9)]).fewest_waiting == 4
    assert tenant_runs([ended, *waited(1)]).fewest_waiting == 0
    assert tenant_runs([ended, *waited(9)]).most_waiting == 5


def _one_waits(count: int, asks: dict[int, float]) -> list[Backup]:
    """The slot is taken for two minutes at a time; with each start the next tenant asks, some so much later."""
    starts = [at("00:10:00") + timedelta(minutes=2 * number) for number in range(count)]
    made = [
        start - timedelta(minutes=2) + timedelta(seconds=asks.get(number, 0.0)) for number, start in enumerate(starts)
    ]
    return [
        _backup(f"nab-{number}", made[number], start, start + timedelta(minutes=2))
        for number, start in enumerate(starts)
    ]


@pytest.mark.parametrize(
    ("count", "asks", "waiting"),
    [
        (29, {}, (0, NO_BOUND)),
        (30, {}, (1, 1)),
        (40, {20: 10.0}, (0, NO_BOUND)),
        (40, {20: -10.0}, (0, NO_BOUND)),
        (31, {1: -10.0}, (0, NO_BOUND)),
        (32, {1: -10.0}, (1, 1)),
    ],
)
def test_what_thirty_tenants_did_of_late_tells_whether_they_wait_for_each_other(
    count: int, asks: dict[int, float], waiting: tuple[int, int]
) -> None:
    """In all of the time one waits, or once nobody for a moment, or once two."""
    *ended, newest = _one_waits(count, asks)
    assert newest.created is not None
    known = tenant_runs([*ended, _backup("newest", newest.created, None, None)])
    assert (known.fewest_waiting, known.most_waiting) == waiting


def test_of_a_server_the_backups_of_tenants_are_learned_with_how_long_they_took() -> None:
    def ran(name: str, hour: int, seconds: float, of: str = "") -> Backup:
        begun = at(f"{hour:02}:00:00")
        return _backup(name, begun, begun, begun + timedelta(seconds=seconds), of)

    refused = replace(ran("refused", 4, 9), status=replace(ran("refused", 4, 9).status, phase="FailedValidation"))
    waits = _backup("waits", at("02:30:00"), None, None)
    known = tenant_runs([ran("nightly", 0, 60, "nightly"), ran("short", 1, 0), waits, ran("long", 2, 9), refused])
    assert [(run.created, run.seconds) for run in known.runs] == [
        (at("02:30:00"), 5.0),
        (at("02:00:00"), 9.0),
        (at("01:00:00"), 1.0),
    ]
    assert known.server_since == at("00:00:00"), "whosever run it is"
    assert tenant_runs([waits]) == TenantRuns(), "nobody knows how long one takes"


def test_arrivals_are_those_of_seven_days_up_to_now() -> None:
    (claimed,) = {run.claim for run in tenant_runs([_backup("nab", NOW, NOW, NOW + timedelta(minutes=1))]).runs}
    second = timedelta(seconds=1)
    moments = [NOW + second, NOW, NOW - second, NOW - timedelta(days=7), NOW - timedelta(days=7) - second]
    runs = tuple(TenantRun(moment, claimed, 30.0 + number) for number, moment in enumerate(moments))
    known = arrivals_before(TenantRuns(runs, NOW - timedelta(days=9), 2, 4), NOW, lambda claim: 7)
    week = 7 * DAY
    assert known == Arrivals((0.0, 1.0, week), (7, 7, 7), (31.0, 32.0, 33.0), 9 * DAY, 2, 4)
    assert arrivals_before(TenantRuns(), NOW, lambda claim: 7) == Arrivals()


def _one_by_one(made: list[datetime], lasts: timedelta) -> list[Backup]:
    """One slot: each starts when it is made, or with the end of the one before."""
    found, free = list[Backup](), made[0]
    for number, created in enumerate(made):
        started = max(created, free)
        free = started + lasts
        found.append(_backup(f"nab-{number}", created, started, free))
    return found


def test_a_queue_that_grew_by_chance_is_neither_kept_filled_nor_kept_short() -> None:
    random, moment, made = Random(3), at("00:00:00"), list[datetime]()
    for _ in range(60):
        moment += timedelta(seconds=random.expovariate(1 / 100))
        made.append(moment)
    known = tenant_runs(_one_by_one(made, timedelta(seconds=130)))
    assert known.fewest_waiting == 0
    assert known.most_waiting == NO_BOUND, "nothing says that the next tenant stays away"


def test_how_often_tenants_come_is_known_only_about() -> None:
    """Thirty that came by chance in an hour tell of 20 to 40 in the next: more than chance alone gives."""
    random = Random(1)
    ago = sorted(random.uniform(0.0, HOUR) for _ in range(30))
    known = Arrivals(tuple(ago), (0,) * len(ago), (60.0,) * len(ago), HOUR, 0, 3)
    counts = [len(known.draw(Random(seed), HOUR, seed / 400).arrivals) for seed in range(400)]
    middle = sum(counts) / len(counts)
    spread = sum((count - middle) ** 2 for count in counts) / len(counts)
    assert 27 <= middle <= 33
    assert 1.4 * middle <= spread <= 2.4 * middle, "as wide as the hour that was seen and the one to come together"


def _quiet(minutes: float = 97.0) -> list[float]:
    """Seconds since the tenants of the last two and a half days came, one every hour and a half."""
    return [(45 + minutes * number) * 60.0 for number in range(36)]


def _arrivals(ago: list[float], fewest: int = 0, most: int = NO_BOUND) -> Arrivals:
    return Arrivals(tuple(ago), (0,) * len(ago), (60.0,) * len(ago), 3 * DAY, fewest, most)


def test_a_rush_of_a_few_minutes_is_not_spread_over_the_days_before_it() -> None:
    """A dozen in four minutes after one every hour and a half: many more come in the next quarter of an hour."""
    known = _arrivals([20.0 * number for number in range(1, 13)] + _quiet())
    counts = sorted(len(known.draw(Random(seed), HOUR / 4, seed / 200).arrivals) for seed in range(200))
    assert counts[100] >= 10
    assert counts[190] >= 30, "it may go on"
    assert counts[10] <= 5, "or be over"


def test_a_rush_that_has_gone_on_goes_on_in_most_courses() -> None:
    known = _arrivals([60.0 * number for number in range(1, 31)] + _quiet())
    late = [
        sum(one.at > HOUR / 2 for one in known.draw(Random(seed), HOUR, seed / 200).arrivals) for seed in range(200)
    ]
    assert sum(count >= 15 for count in late) >= 100, "not as in the same hour of the day before"


def test_a_batch_at_one_moment_is_no_rush() -> None:
    assert rush([60.0 + 0.5 * number for number in range(12)] + _quiet()) == 0.0


def test_a_busy_time_like_that_of_earlier_days_is_no_rush() -> None:
    busy = [60.0 * number for number in range(1, 31)]
    assert rush(busy + _quiet()) == 1800.0
    assert rush(sorted(day * DAY + ago for day in range(4) for ago in busy)) == 0.0


@pytest.mark.parametrize(
    ("ago", "lasts"),
    [
        ([30.0 * number for number in range(1, 7)], 180.0),
        ([29.9 * number for number in range(1, 7)], 0.0),
        ([40.0 * number for number in range(1, 6)], 0.0),
        ([10.1 * number for number in range(1, 30)], 292.9),
    ],
)
def test_a_rush_has_at_least_six_and_three_minutes(ago: list[float], lasts: float) -> None:
    assert rush([*ago, *(5820.0 * number for number in range(1, 37))]) == pytest.approx(lasts)


def test_six_within_an_hour_after_two_in_eight_hours_are_a_rush() -> None:
    """The rate before it is that of the time before it, and not of all."""
    assert rush([*(600.0 * number for number in range(1, 7)), 5 * HOUR, 9 * HOUR]) == HOUR


@pytest.mark.parametrize(("count", "lasts"), [(9, 1800.0), (10, 0.0)])
def test_a_rush_is_more_than_three_times_as_many_as_at_that_time_of_the_day_before(count: int, lasts: float) -> None:
    busy = [60.0 * number for number in range(1, 31)]
    yesterday = [DAY + 180.0 * number for number in range(1, count + 1)]
    assert rush([*busy, *yesterday, 2 * DAY + 1000.0]) == lasts


@pytest.mark.parametrize(("count", "least", "most"), [(6, 20, 40), (15, 0, 0), (16, 0, 0)])
def test_a_rush_of_a_few_does_not_surely_tell_whether_tenants_wait_for_each_other(
    count: int, least: int, most: int
) -> None:
    ago = [40.0 * number for number in range(1, count + 1)] + [5820.0 * number for number in range(1, 37)]
    known = _arrivals(ago, 3, 5)
    drawn = [known.draw(Random(seed), 60.0, 0.9) for seed in range(50)]
    assert least <= sum(one.most_waiting == NO_BOUND for one in drawn) <= most


def test_a_stretch_is_replayed_in_its_order_from_a_moment_of_its_own() -> None:
    ago = tuple(120.0 * number for number in range(1, 31))
    known = Arrivals(ago, tuple(range(30)), tuple(60.0 + number for number in range(30)), HOUR, 2, 3)
    for seed in range(5):
        drawn = known.draw(Random(seed), HOUR, MIDDLE)
        first = drawn.arrivals[0].claim
        assert [one.claim for one in drawn.arrivals] == [(first - number) % 30 for number in range(30)]
        assert all(one.length == 60.0 + one.claim for one in drawn.arrivals)
        assert {round(later.at - one.at, 6) for one, later in pairwise(drawn.arrivals)} == {120.0}
        assert (drawn.fewest_waiting, drawn.keep_until, drawn.most_waiting) == (2, HOUR, 3)
    assert known.draw(Random(1), HOUR / 2, MIDDLE).keep_until == HOUR / 2
    assert known.draw(Random(1), 0.0, MIDDLE).fewest_waiting == 0, "where none comes nobody keeps a queue filled"
    assert known.draw(Random(1), DAY, 0.0).keep_until == HOUR, "in the course that ends first"


@pytest.mark.parametrize(
    ("count", "every", "server_seen", "stretch"),
    [
        (40, 120.0, DAY, 30 * 120.0),
        (30, 30.0, DAY, 1200.0),
        (29, 30.0, DAY, 3600.0),
        (29, 30.0, 1500.0, 1500.0),
        (29, 30.0, 900.0, 1200.0),
        (6, 900.0, DAY, 5400.0),
        (5, 900.0, DAY, 4500.0),
        (4, 900.0, DAY, 0.0),
    ],
)
def test_the_coming_hour_is_like_the_time_of_the_last_thirty_or_of_all_that_is_known(
    count: int, every: float, server_seen: float, stretch: float
) -> None:
    ago = tuple(every * number for number in range(1, count + 1))
    known = Arrivals(ago, (0,) * count, (60.0,) * count, server_seen, 1, 1)
    assert known.draw(Random(1), DAY / 2, 0.0).keep_until == stretch


def test_the_first_of_a_rush_may_come_at_once() -> None:
    known = _arrivals([12.0 * number for number in range(1, 31)] + [5820.0 * number for number in range(1, 37)])
    assert min(known.draw(Random(seed), 60.0, 0.9).arrivals[0].at for seed in range(60)) < 1.0


def test_tenants_who_have_come_by_chance_all_day_are_no_rush() -> None:
    random, moment, ago = Random(5), 0.0, list[float]()
    for _ in range(300):
        moment += random.expovariate(1 / 240)
        ago.append(moment)
    assert [rush([at - ago[first] for at in ago[first:]]) for first in range(0, 200, 20)] == [0.0] * 10


def test_a_queue_that_tenants_have_just_begun_to_keep_filled_is_kept_so() -> None:
    """Five at once, and then one with each that starts."""
    quiet = [NOW - timedelta(seconds=ago) for ago in _quiet()]
    before = [_backup(f"old-{n}", t, t, t + timedelta(minutes=1)) for n, t in enumerate(quiet)]
    first = NOW - timedelta(minutes=6)
    starts = [first + timedelta(seconds=20 * number) for number in range(1, 19)]
    made = [first] * 5 + starts
    rushed = [_backup(f"nab-{n}", t, starts[n] if n < len(starts) else None, None) for n, t in enumerate(made)]
    known = tenant_runs([*before, *rushed])
    assert (known.fewest_waiting, known.most_waiting) == (5, 5)


def test_without_a_rush_they_come_as_on_other_days() -> None:
    before = tuple(DAY + 5820.0 * one for one in range(12))
    rushing = Arrivals((*(20.0 * one for one in range(1, 21)), *before), (0,) * 32, (60.0,) * 32, 9 * DAY, 3, 5)
    assert rush(rushing.ago) > 0
    calm = rushing.without_rush
    assert (calm.ago, calm.fewest_waiting, calm.most_waiting) == (before, 0, NO_BOUND)
    assert calm.without_rush is calm


def _last(known: Arrivals, share: float = MIDDLE) -> float:
    """When the last tenant comes before the hour of now on the next day, which is like now."""
    return max(one.at for one in known.draw(Random(1), DAY, share).arrivals if one.at < 22 * HOUR)


def test_an_hour_of_tenants_does_not_tell_of_a_whole_day() -> None:
    """All that is known of them is an hour, as where their backups are deleted soon."""
    known = _arrivals([90.0 * number for number in range(1, 41)])
    assert 2 * HOUR < _last(known) < 6 * HOUR
    assert 10 <= sum(_last(known, share / 100) > 20 * HOUR for share in range(100)) <= 40, "in some they come all day"


def test_what_came_in_a_rush_does_not_come_again_after_it() -> None:
    """Nothing is known of earlier days: after the rush they come as before it, one in ten minutes."""
    known = _arrivals([30.0 * number for number in range(1, 41)] + [1200.0 + 600 * number for number in range(1, 7)])
    assert rush(known.ago) == 1200.0
    drawn = known.draw(Random(1), DAY, MIDDLE).arrivals
    assert sum(one.at < HOUR for one in drawn) > 80
    assert sum(2 * HOUR < one.at < 3 * HOUR for one in drawn) <= 12


def test_the_night_does_not_tip_over_while_a_rush_lasts() -> None:
    """Looks that are ten minutes apart tell of full hours that differ by no more than the rush has grown."""
    full = [_last(_arrivals([30.0 * n for n in range(1, 2 * minutes + 1)])) for minutes in range(20, 61, 10)]
    assert full == sorted(full)
    assert max(later - one for one, later in pairwise(full)) <= HOUR


def test_the_likely_course_has_the_tenants_that_the_draws_have() -> None:
    snapshot = _server(*_nightly(), *_tenants(every=130, lasts=100))
    looks = [night(snapshot, "velero", NOW, timedelta(hours=6), draws=draws) for draws in (0, 50)]
    first, then = (sum(span.is_to_come for span in look.typical) for look in looks)
    assert first > 40
    assert 0.7 < first / then < 1.4


def test_the_first_picture_and_the_week_say_that_tenants_are_counted() -> None:
    """They ask faster than the only slot is free."""
    snapshot = _server(*_nightly(), *_tenants(every=60, lasts=100))
    for draws, words, ahead in ((0, night_words, DAY), (50, night_words, DAY), (0, week_words, 7 * DAY)):
        look = night(snapshot, "velero", NOW, timedelta(seconds=ahead), draws=draws)
        told = ["".join(part.text for part in line.phrases) for line in words(ServerNight("prod", look), NOW, UTC)]
        assert any("not yet requested" in line for line in told), (draws, told)
