"""Backups that tenants will ask for: they are not foretold, and they hold up the runs of schedules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from msgspec.structs import replace

from foretop_core.models import Backup, Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.arrivals import (
    MIDDLE,
    Arrivals,
    TenantRun,
    TenantRuns,
    arrivals_before,
    changed,
    tenant_runs,
)
from foretop_core.rules.night.lengths import late_handovers
from foretop_core.rules.night.night import Night, night
from foretop_core.rules.night.open_queue import open_forecasts
from foretop_core.rules.night.server_model import Drawing, server_model
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


def _known(ago: Iterable[float], *, waits_since: float = 0.0) -> Arrivals:
    """Tenants who came so many seconds ago, each at work at once."""
    came = tuple(sorted(ago))
    return Arrivals(came, (0,) * len(came), (60.0,) * len(came), came, waits_since)


def _counts(known: Arrivals, since: float, until: float, share: float | None = None) -> list[int]:
    """How many come between two seconds of two hundred courses, the fewest first."""
    draws = [known.draw(Random(seed), until, seed / 200 if share is None else share) for seed in range(200)]
    return sorted(sum(one.at >= since for one in drawn.arrivals) for drawn in draws)


def _quiet(minutes: float = 97.0) -> list[float]:
    """Seconds since the tenants of the last two and a half days came, one every hour and a half."""
    return [(45 + minutes * number) * 60.0 for number in range(36)]


def _by_chance(an_hour: float, hours: float, seed: int = 5) -> list[float]:
    random, moment, ago = Random(seed), 0.0, list[float]()
    while (moment := moment + random.expovariate(an_hour / HOUR)) < hours * HOUR:
        ago.append(moment)
    return ago


def test_later_hours_are_like_the_same_hours_of_earlier_days() -> None:
    known = _known(day * DAY - 3 * HOUR - number * 300 for day in range(1, 6) for number in range(12))
    counts = _counts(known, 0.0, DAY)
    assert 11 <= counts[100] <= 13
    assert counts[10] <= 7, "by chance"
    assert counts[190] >= 17
    drawn = known.draw(Random(1), DAY, MIDDLE).arrivals
    assert all(3 * HOUR <= one.at <= 4 * HOUR for one in drawn)
    assert list(drawn) == sorted(drawn, key=lambda one: one.at)


def test_a_working_day_begins_and_ends_as_on_the_days_before() -> None:
    """It is ten in the morning; tenants come from eight to six, one in three minutes."""
    known = _known(ago for ago in (180.0 * number - 7 for number in range(1, 1160)) if 8 <= (10 - ago / HOUR) % 24 < 18)
    spans = (0.0, 8 * HOUR), (8 * HOUR, 22 * HOUR), (22 * HOUR, DAY)
    until_six, evening, morning = (_counts(known, *span)[100] for span in spans)
    assert 145 <= until_six <= 175
    assert evening == 0
    assert 32 <= morning <= 48


def test_hours_that_do_not_differ_tell_of_each_other() -> None:
    """Thirty hours of twenty: what came in one of them by chance is not what comes in it on the next day."""
    counts = _counts(_known(_by_chance(20, 30)), 5 * HOUR, 6 * HOUR)
    middle = sum(counts) / len(counts)
    spread = sum((count - middle) ** 2 for count in counts) / len(counts)
    assert 17 <= middle <= 23
    assert spread <= 1.6 * middle


def test_how_often_tenants_come_is_known_only_about() -> None:
    """Thirty that came by chance in an hour tell of 20 to 40 in the next: more than chance alone gives."""
    random = Random(1)
    counts = _counts(_known(random.uniform(0.0, HOUR) for _ in range(30)), 0.0, HOUR, 0.9)
    middle = sum(counts) / len(counts)
    spread = sum((count - middle) ** 2 for count in counts) / len(counts)
    assert 27 <= middle <= 33
    assert 1.4 * middle <= spread <= 2.6 * middle, "as wide as the hour that was seen and the one to come together"


@pytest.mark.parametrize(
    ("ago", "lasts"),
    [
        ([20.0 * number for number in range(1, 13)] + _quiet(), 240.0),
        ([60.0 * number for number in range(1, 31)] + _quiet(), 1800.0),
        ([30.0 * number for number in range(1, 7)] + _quiet(), 180.0),
        ([29.9 * number for number in range(1, 7)] + _quiet(), 2700.0),
        ([40.0 * number for number in range(1, 5)] + _quiet(), 0.0),
        ([60.0 + 0.5 * number for number in range(12)] + _quiet(), 0.0),
        ([600.0 * number for number in range(1, 7)] + [5 * HOUR, 9 * HOUR], HOUR),
        ([day * DAY + 60.0 * number for day in range(4) for number in range(1, 31)], 0.0),
        (
            [60.0 * number for number in range(1, 31)] + [DAY + 600.0 * number for number in range(1, 4)] + [3 * DAY],
            1800.0,
        ),
        (_by_chance(15, 30), 0.0),
    ],
    ids=["minutes", "half an hour", "fewest", "too short", "too few", "batch", "an hour", "every day", "day", "steady"],
)
def test_a_change_is_plain_and_no_habit_of_earlier_days(ago: list[float], lasts: float) -> None:
    assert changed(ago) == pytest.approx(lasts)


def test_a_day_without_tenants_is_a_change_where_they_come_on_other_days() -> None:
    """Six hours in which nobody came, in each of which twenty came on the two days before."""
    busy = [8 * HOUR + ago for ago in _by_chance(20, 54)]
    assert changed([1.0, *busy]) >= 6 * HOUR
    assert _counts(_known(busy), 0.0, HOUR)[100] <= 1


def test_a_rush_goes_on_in_most_courses_and_has_an_open_end() -> None:
    known = _known([60.0 * number for number in range(1, 31)] + _quiet())
    soon, late = _counts(known, HOUR / 2, HOUR), _counts(known, 5 * HOUR, 6 * HOUR)
    assert sum(count >= 15 for count in soon) >= 100, "not as in the same hour of the day before"
    assert 20 <= sum(count >= 15 for count in late) <= 100, "long after three hours too"
    assert sum(count <= 3 for count in soon) >= 10, "or it is over"


def test_what_was_deleted_is_known_by_the_runs_of_schedules_that_waited() -> None:
    """Of tenants nothing is left but a quarter of an hour, and each run of the last five hours has waited."""
    ago = [30.0 * number for number in range(1, 31)]
    lasts = [
        sum(count > 0 for count in _counts(_known(ago, waits_since=since), 2 * HOUR, 3 * HOUR))
        for since in (0.0, 5 * HOUR)
    ]
    assert lasts[0] < 90
    assert lasts[1] > 140


def test_waits_are_unbroken_back_to_the_oldest_run_that_waited() -> None:
    def run(number: int, waited: float) -> Backup:
        made = at("02:00:00") - timedelta(minutes=10 * number)
        begun = made + timedelta(seconds=waited)
        return _backup(f"etcd-{number}", made, begun, begun + timedelta(minutes=1), "etcd")

    tenants = [_backup("nab", at("01:00:00"), at("01:00:00"), at("01:01:00"))]
    queued = _backup("queued", at("02:30:00"), None, None, "etcd")
    runs = [queued, run(0, 90.0), run(1, 3.0), run(2, 2.0), run(3, 90.0)]
    assert tenant_runs(tenants + runs).waits_since == at("01:50:00")
    assert tenant_runs([*tenants, run(0, 0.0), run(1, 90.0)]).waits_since is None


def test_what_came_in_a_rush_does_not_come_again_after_it() -> None:
    """Nothing is known of earlier days: after the rush they come as before it, one in ten minutes."""
    known = _known([30.0 * number for number in range(1, 41)] + [1200.0 + 600 * number for number in range(1, 7)])
    assert changed(known.ago) == 1200.0
    assert _counts(known, 0.0, HOUR, MIDDLE)[100] > 80
    assert 3 <= _counts(known, 2 * HOUR, 3 * HOUR, MIDDLE)[100] <= 12


def test_where_no_earlier_day_is_known_nobody_knows_how_long_they_come() -> None:
    known = _known(90.0 * number for number in range(1, 41))
    assert 20 <= sum(count > 0 for count in _counts(known, 20 * HOUR, 21 * HOUR)) <= 80
    assert _counts(known, 10 * HOUR, 11 * HOUR, 0.1)[199] == 0


def _kept(*begins: float) -> Arrivals:
    """In these hours ago tenants kept three waiting: one a minute starts, and another asks."""
    started = tuple(sorted(hour * HOUR + 60.0 * number for hour in begins for number in range(60)))
    ago = tuple(seconds + 180.0 for seconds in started)
    return Arrivals(ago, (0,) * len(ago), (60.0,) * len(ago), started)


def test_a_queue_that_tenants_keep_filled_is_kept_so() -> None:
    levels = _kept(*range(40)).draw(Random(1), 6 * HOUR, MIDDLE).levels
    assert [(level.until, level.waiting) for level in levels] == [(HOUR * number, 3) for number in range(1, 7)]


def test_earlier_days_fill_the_queue_again_at_their_hour() -> None:
    """It is kept filled for three hours of each day, the next time in four hours."""
    known = _kept(*(day * 24 - 5 - hour for day in (1, 2, 3) for hour in range(3)))
    levels = [level.waiting for level in known.draw(Random(1), 9 * HOUR, MIDDLE).levels]
    assert levels == [0, 0, 0, 0, 3, 3, 3, 0, 0]


def test_a_queue_that_tenants_have_just_begun_to_keep_filled_is_kept_so() -> None:
    """Five at once, and then one with each that starts."""
    starts = [360.0 - 20.0 * number for number in range(1, 19)]
    asked = [360.0] * 5 + starts
    ago, started = zip(*sorted(zip(asked, [*starts, *[-1.0] * 5], strict=True)), strict=True)
    quiet = tuple(_quiet())
    known = Arrivals((*ago, *quiet), (0,) * 59, (60.0,) * 59, (*started, *quiet))
    assert known.draw(Random(1), 60.0, MIDDLE).levels[0].waiting == 5


def test_a_queue_that_grew_by_chance_is_neither_kept_filled_nor_kept_short() -> None:
    for seed in range(10):
        free, started = 0.0, list[float]()
        asked = sorted(-ago for ago in _by_chance(36, 2, seed))
        for moment in asked:
            begun = max(moment, free) if started else moment
            free = begun + 130.0
            started.append(begun)
        known = Arrivals(
            tuple(-moment for moment in reversed(asked)),
            (0,) * len(asked),
            (130.0,) * len(asked),
            tuple(-moment if moment <= 0 else -1.0 for moment in reversed(started)),
        )
        assert {level.waiting for level in known.draw(Random(1), HOUR, MIDDLE).levels} == {0}, seed


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
    assert tenant_runs([waits]) == TenantRuns(), "nobody knows how long one takes"


def test_arrivals_are_those_of_seven_days_up_to_now() -> None:
    (claimed,) = {run.claim for run in tenant_runs([_backup("nab", NOW, NOW, NOW + timedelta(minutes=1))]).runs}
    second = timedelta(seconds=1)
    moments = [NOW + second, NOW, NOW - second, NOW - timedelta(days=7), NOW - timedelta(days=7) - second]
    runs = tuple(
        TenantRun(moment, claimed, 30.0 + number, moment + second if number > 2 else None)
        for number, moment in enumerate(moments)
    )
    known = arrivals_before(TenantRuns(runs, NOW - timedelta(hours=1)), NOW, lambda claim: 7)
    week = 7 * DAY
    assert known == Arrivals((0.0, 1.0, week), (7, 7, 7), (31.0, 32.0, 33.0), (-1.0, -1.0, week - 1), HOUR)
    assert arrivals_before(TenantRuns(), NOW, lambda claim: 7) == Arrivals()


def test_the_likely_course_has_as_many_tenants_as_the_middle_of_the_draws() -> None:
    snapshot = _server(*_nightly(), *_tenants(every=130, lasts=100))
    drawing = Drawing(server_model(snapshot, "velero", NOW, NOW + timedelta(hours=6)))
    middle = sorted(len(drawing.next().tenants.arrivals) for _ in range(51))[25]
    assert middle > 40
    assert 0.7 < len(drawing.likely().tenants.arrivals) / middle < 1.4


def test_all_who_look_at_a_server_in_the_same_minute_have_the_same_draws() -> None:
    snapshot = _server(*_nightly(), *_tenants(every=130, lasts=100))

    def lengths(now: datetime) -> Sequence[Sequence[float]]:
        return Drawing(server_model(snapshot, "velero", now, now + timedelta(hours=6))).next().lengths

    looked = NOW.replace(second=1)
    assert lengths(looked) == lengths(looked + timedelta(seconds=58))
    assert lengths(looked) != lengths(looked + timedelta(seconds=60))


def test_the_first_picture_and_the_week_say_that_tenants_are_counted() -> None:
    """They ask faster than the only slot is free."""
    snapshot = _server(*_nightly(), *_tenants(every=60, lasts=100))
    for draws, words, ahead in ((0, night_words, DAY), (50, night_words, DAY), (0, week_words, 7 * DAY)):
        look = night(snapshot, "velero", NOW, timedelta(seconds=ahead), draws=draws)
        told = ["".join(part.text for part in line.phrases) for line in words(ServerNight("prod", look), NOW, UTC)]
        assert any("not yet requested" in line for line in told), (draws, told)
