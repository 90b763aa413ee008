"""Primed schedules, compared by their runs over eight years of minutes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from hypothesis import strategies as st

from foretop_core.cron import Dialect, parse
from foretop_core.rooms.primer.priming import PrimerError, prime, warmups
from tests.examples import few_or_many
from tests.rooms.primer.oracle import judged
from tests.unit.cron.strategies import expressions

pytestmark = pytest.mark.long


def month_ends(time: str) -> tuple[str, ...]:
    return (f"{time} 31 1,3,5,7,8,10,12 *", f"{time} 30 4,6,9,11 *", f"{time} 28,29 2 *")


TABLE = [
    ("30 * * * *", 10, ("20 * * * *",), 0),
    ("0 0 * * *", 10, ("50 23 * * *",), 0),
    ("0-5 * * * *", 10, ("50-55 * * * *",), 0),
    ("0/15 * 1 * *", 10, ("5,20,35 * 1 * *", "50 0-22 1 * *", *month_ends("50 23")), 2),
    ("5,12,48,56 * * * 5", 10, ("2,38,46 * * * 5", "55 0-22 * * 5", "55 23 * * 4"), 0),
    ("15-17,0/30 * * * *", 5, ("10-12,25,55 * * * *",), 0),
    ("0 14-16 * * *", 10, ("50 13-15 * * *",), 0),
    ("0-15 0 * * *", 10, ("0-5 0 * * *", "50-59 23 * * *"), 0),
    ("0 0 * * 5", 10, ("50 23 * * 4",), 0),
    ("0 * * * 5", 10, ("50 0-22 * * 5", "50 23 * * 4"), 0),
    ("0 0 1 * *", 10, month_ends("50 23"), 2),
    ("0 0 30 * *", 10, ("50 23 29 1,3-12 *",), 0),
    ("0 0 13 * 5", 10, ("50 23 12 * 4",), 0),
    ("0 0 * 3 1", 10, ("50 23 * 3 0", "50 23 28,29 2 *"), 9),
    ("*/15 9-17 * * 1-5", 10, ("5,20,35 9-17 * * 1-5", "50 8-16 * * 1-5"), 0),
    ("30 2 * * 1-5", 180, ("30 23 * * 0-4",), 0),
]


@pytest.mark.parametrize(("text", "minutes", "expected", "extra"), TABLE, ids=[row[0] for row in TABLE])
def test_a_known_schedule_is_primed_as_written_and_warms_before_every_run(
    text: str, minutes: int, expected: tuple[str, ...], extra: int
) -> None:
    primed = prime(text, minutes, Dialect.ROBFIG)
    assert primed.expressions == expected
    assert primed.extra_in_8_years == extra
    assert primed.exact == (extra == 0)
    assert judged(text, minutes, Dialect.ROBFIG, primed.expressions) == (0, extra, 0)
    assert bool(primed.note) == (not primed.exact)


@pytest.mark.parametrize(
    ("text", "minutes", "dialect", "expected", "extra"),
    [
        # The 1sts of eight years that are not Mondays.
        ("0 2 1 * 1", 10, Dialect.NETRESEARCH, ("50 1 1 * *",), 96 - 15),
        # The Mondays that are not in the first half of a month: fewer than its days that are not Mondays.
        ("0 2 1-15 * 1", 10, Dialect.NETRESEARCH, ("50 1 * * 1",), 210),
        ("0 2 * * 7", 10, Dialect.NETRESEARCH, ("50 1 * * 0",), 0),
        ("0 2 1-31 * 1", 10, Dialect.NETRESEARCH, ("50 1 * * 1",), 0),
        ("0 22-2 * * *", 10, Dialect.NETRESEARCH, ("50 0,1,21-23 * * *",), 0),
        ("0 2 */10 * 1", 10, Dialect.ROBFIG, ("50 1 1,11,21,31 * 1",), 0),
    ],
)
def test_a_schedule_is_primed_for_a_cron_job_whatever_its_own_dialect(
    text: str, minutes: int, dialect: Dialect, expected: tuple[str, ...], extra: int
) -> None:
    primed = prime(text, minutes, dialect)
    assert primed.expressions == expected
    assert primed.extra_in_8_years == extra
    assert primed.exact == (extra == 0)
    assert judged(text, minutes, dialect, primed.expressions) == (0, extra, 0)


def test_inexact_warm_ups_are_counted_and_reported() -> None:
    primed = prime("0 2 1 * 1", 10, Dialect.NETRESEARCH)
    assert "no set of cron expressions is exact here: 81 warm-ups too many in eight years, none missed" in primed.note
    stepped = {dialect: prime("0 2 */10 * 1", 10, dialect).exact for dialect in Dialect}
    assert stepped == {Dialect.ROBFIG1: False, Dialect.ROBFIG: True, Dialect.NETRESEARCH: False}


def test_a_cron_job_gets_the_zone_without_quotes() -> None:
    primed = prime("TZ='Asia/Tokyo' 0 3 * * *", 30, Dialect.NETRESEARCH)
    assert primed.expressions == ("TZ=Asia/Tokyo 30 2 * * *",)
    parse(primed.expressions[0], Dialect.ROBFIG)


@few_or_many(20, 240, st.sampled_from(Dialect), st.data(), st.integers(0, 10080))
def test_no_warm_up_is_missed_and_an_exact_result_has_no_extra(
    dialect: Dialect, data: st.DataObject, minutes: int
) -> None:
    text = data.draw(expressions(dialect))
    if parse(text, dialect).never_fires:
        with pytest.raises(PrimerError, match="never fires"):
            prime(text, minutes, dialect)
        return
    primed = prime(text, minutes, dialect)
    missed, extra, shared = judged(text, minutes, dialect, primed.expressions)
    assert missed == 0
    assert extra == primed.extra_in_8_years
    assert shared == 0
    assert not (primed.exact and extra)


@pytest.mark.parametrize(
    ("text", "minutes", "why"),
    [
        ("@every 1h", 10, "counts from its last run"),
        ("0 0 31 2 *", 10, "never fires"),
        ("0 0 * * 7", 10, r"end of range \(7\) above maximum \(6\): 7"),
        ("0 0 * * *", -1, "0 to 10080"),
        ("0 0 * * *", 10081, "0 to 10080"),
    ],
)
def test_a_schedule_that_cannot_be_primed_is_refused_with_a_reason(text: str, minutes: int, why: str) -> None:
    with pytest.raises(PrimerError, match=why):
        prime(text, minutes, Dialect.ROBFIG)


@pytest.mark.parametrize("text", ["@manual", "TZ=UTC @none", "0 0 , * 1"])
def test_a_manual_schedule_needs_no_warm_up(text: str) -> None:
    with pytest.raises(PrimerError, match="never fires"):
        prime(text, 10, Dialect.NETRESEARCH)
    assert warmups(text, 10, Dialect.NETRESEARCH, datetime(2026, 1, 1, tzinfo=UTC), 3) == ()


def test_a_week_ahead_keeps_the_weekday() -> None:
    assert prime("0 9 * * 1", 10080, Dialect.ROBFIG).expressions == ("0 9 * * 1",)


def test_the_zone_is_kept_and_its_daylight_saving_is_reported() -> None:
    primed = prime("CRON_TZ=America/New_York 0 3 * * *", 30, Dialect.ROBFIG)
    assert primed.expressions == ("CRON_TZ=America/New_York 30 2 * * *",)
    assert not primed.exact
    assert "America/New_York has daylight saving" in primed.note


def test_a_zone_without_daylight_saving_needs_no_warning() -> None:
    primed = prime("TZ=Asia/Tokyo 0 3 * * *", 30, Dialect.ROBFIG)
    assert (primed.expressions, primed.exact, primed.note) == (("TZ=Asia/Tokyo 30 2 * * *",), True, "")


def test_the_warm_up_for_the_run_after_the_skipped_hour_is_correct() -> None:
    new_york = ZoneInfo("America/New_York")
    start = datetime(2026, 3, 8, 0, 0, tzinfo=new_york)
    (pair,) = warmups("CRON_TZ=America/New_York 0 3 * * *", 30, Dialect.ROBFIG, start, 1)
    assert pair.run == datetime(2026, 3, 8, 3, 0, tzinfo=new_york)
    assert pair.warmup.isoformat() == "2026-03-08T01:30:00-05:00"


def test_a_run_moved_out_of_the_skipped_hour_has_its_warm_up_before_it() -> None:
    start = datetime(2026, 3, 8, 0, 0, tzinfo=ZoneInfo("America/New_York"))
    text = "CRON_TZ=America/New_York 30 2 * * *"
    (pair,) = warmups(text, 60, Dialect.NETRESEARCH, start, 1)
    assert pair.run.isoformat() == "2026-03-08T03:30:00-04:00"
    assert pair.warmup.isoformat() == "2026-03-08T01:30:00-05:00"
    # So near that the search would begin after the gap, where the library does not find the run.
    assert warmups(text, 60, Dialect.NETRESEARCH, start.replace(hour=1, minute=29), 1) == (pair,)
    assert "America/New_York has daylight saving" in prime(text, 60, Dialect.NETRESEARCH).note


def test_a_past_warm_up_is_not_listed() -> None:
    start = datetime(2026, 1, 1, 2, 55, tzinfo=UTC)
    pairs = warmups("0 * * * *", 10, Dialect.ROBFIG, start, 2)
    assert [(pair.warmup.hour, pair.warmup.minute, pair.run.hour) for pair in pairs] == [(3, 50, 4), (4, 50, 5)]


def test_a_constant_delay_has_warm_ups_too() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    pairs = warmups("@every 45m", 60, Dialect.ROBFIG, start, 2)
    assert [pair.run - start for pair in pairs] == [timedelta(minutes=90), timedelta(minutes=135)]
    assert all(pair.run - pair.warmup == timedelta(hours=1) and pair.warmup > start for pair in pairs)


def test_a_schedule_that_never_fires_has_no_warm_ups() -> None:
    assert warmups("0 0 31 2 *", 10, Dialect.ROBFIG, datetime(2026, 1, 1, tzinfo=UTC), 3) == ()


def test_a_schedule_that_never_fires_is_run_by_velero_all_the_time() -> None:
    with pytest.raises(PrimerError, match="starts a backup almost every minute"):
        prime("0 0 31 2 *", 10, Dialect.NETRESEARCH)


@pytest.mark.parametrize(
    ("text", "minutes", "primed"),
    [
        ("*/5 * * * *", 10, "*/5 * * * *"),
        ("*/5 * * * *", 3, "2-59/5 * * * *"),
        ("0 */2 * * *", 60, "0 1-23/2 * * *"),
        ("*/15 * * * *", 10, "5,20,35,50 * * * *"),
    ],
)
def test_even_distances_stay_a_step(text: str, minutes: int, primed: str) -> None:
    assert prime(text, minutes, Dialect.ROBFIG).expressions == (primed,)


def test_a_warm_up_that_a_second_library_reads_otherwise_is_not_proposed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours must not move the pods of others: what both do not agree on is refused."""
    assert prime("30 2 * * *", 10, Dialect.ROBFIG)

    class AnHourLate(croniter):
        def get_next(self, *given: Any, **more: Any) -> Any:
            return super().get_next(*given, **more) + timedelta(hours=1)

    monkeypatch.setattr("croniter.croniter", AnHourLate)
    with pytest.raises(PrimerError, match=r"failed its check: .* is not "):
        prime("30 2 * * *", 10, Dialect.ROBFIG)
