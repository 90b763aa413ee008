"""The effect of an upgrade on an expression: counts, dates, and a replacement that suits both releases."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

import pytest

from foretop_core.cron import CronSchedule, Dialect
from foretop_core.rules.cron_dialects import alike, expression
from foretop_core.rules.cron_dialects.run_counts import first_difference, runs_within
from foretop_core.rules.cron_dialects.upgrade_effect import (
    UpgradeEffect,
    UpgradeKind,
    instead_of,
    next_dialect,
    upgrade_effect,
)

ROBFIG1, ROBFIG, NETRESEARCH = Dialect
NEW_YEAR = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
"""From here the next twelve months are the year 2027."""
ZONES = ("", "TZ=America/New_York ", "TZ=Africa/Cairo ", "TZ=Australia/Lord_Howe ", "TZ=Asia/Tokyo ", "TZ=Asia/Beirut ")


def effect(text: str, before: Dialect = ROBFIG, after: Dialect = NETRESEARCH) -> UpgradeEffect:
    found = upgrade_effect(text, before, after, NEW_YEAR)
    assert found is not None
    return found


def parsed(text: str, dialect: Dialect) -> CronSchedule:
    found = expression(text, dialect)
    assert isinstance(found, CronSchedule), found
    return found


def test_both_day_fields_run_61_times_in_2027_before_and_3_times_after() -> None:
    found = effect("0 2 1 * 1")
    assert found.kind is UpgradeKind.OTHER_TIMES
    assert (found.runs_before, found.runs_after) == (61, 3)
    assert found.first_difference == datetime(2027, 1, 1, 2, tzinfo=UTC)
    assert found.meaning_after == "at 02:00 on the 1st if it is a Monday"
    assert not found.loses_all


def test_both_day_fields_become_two_schedules_with_a_note_on_the_cost() -> None:
    found = effect("0 2 1 * MON")
    assert found.instead == ("0 2 1 * *", "0 2 * * MON")
    assert "two backups (3 in the next twelve months)" in found.instead_note
    assert "a new name and its own history" in found.instead_note


@pytest.mark.parametrize(
    ("text", "kind", "instead"),
    [
        ("0 */24 * * *", UpgradeKind.REFUSED, "0 0 * * *"),
        ("*/60 * * * *", UpgradeKind.REFUSED, "0 * * * *"),
        ("*/15 */24 * * mon-fri", UpgradeKind.REFUSED, "*/15 0 * * mon-fri"),
        ("0 2 */31 * *", UpgradeKind.REFUSED, "0 2 1 * *"),
        ("@every 500ms", UpgradeKind.REFUSED, "@every 1s"),
        ("0 2 1," + ",".join(["2"] * 600) + " * *", UpgradeKind.REFUSED, "0 2 1,2 * *"),
        ("0 22-2 * * *", UpgradeKind.ACCEPTED, "0 0-2,22,23 * * *"),
        ("0 2 * NOV-FEB *", UpgradeKind.ACCEPTED, "0 2 * 1,2,11,12 *"),
        ("0 2 * * 7", UpgradeKind.ACCEPTED, "0 2 * * 0"),
        ('CRON_TZ="Asia/Tokyo" 0 2 * * *', UpgradeKind.ACCEPTED, "CRON_TZ=Asia/Tokyo 0 2 * * *"),
        ("0 2 * * 1/6", UpgradeKind.OTHER_TIMES, "0 2 * * 1"),
        ("0 2 1-31 * 1", UpgradeKind.OTHER_TIMES, "0 2 1-31 * *"),
    ],
)
def test_one_expression_serves_both_releases(text: str, kind: UpgradeKind, instead: str) -> None:
    found = effect(text)
    assert (found.kind, found.instead, found.instead_note) == (kind, (instead,), "")
    meant = parsed(text, NETRESEARCH if kind is UpgradeKind.ACCEPTED else ROBFIG)
    assert all(alike(expression(instead, dialect), meant) for dialect in (ROBFIG, NETRESEARCH))


def test_a_refused_schedule_loses_all_its_runs_from_the_next_one_on() -> None:
    found = effect("0 */24 * * *")
    assert (found.runs_before, found.runs_after, found.loses_all) == (365, 0, True)
    assert found.first_difference == datetime(2027, 1, 1, tzinfo=UTC)


def test_a_schedule_that_never_fires_runs_every_minute_and_has_no_replacement() -> None:
    found = effect("@manual")
    assert found.kind is UpgradeKind.EVERY_MINUTE
    assert (found.runs_before, found.runs_after) == (0, 525_600)
    assert found.instead == ()
    assert "pause the schedule or delete it" in found.instead_note


def test_a_day_that_comes_once_in_decades_is_always_due_because_velero_looks_five_years_ahead() -> None:
    found = effect("0 2 29 2 1")
    assert found.kind is UpgradeKind.EVERY_MINUTE
    assert (found.runs_before, found.runs_after) == (4, 525_600)
    assert "not within five years" in found.meaning_after
    assert found.instead == ("0 2 29 2 *", "0 2 * 2 1")


def test_a_skipped_time_is_replaced_by_a_later_one() -> None:
    found = effect("TZ=America/New_York 30 2 * * *")
    assert (found.runs_before, found.runs_after) == (364, 365)
    assert found.first_difference == datetime(2027, 3, 14, 7, 30, tzinfo=UTC)
    assert found.instead == ("TZ=America/New_York 30 3 * * *",)
    assert "1 hour later" in found.instead_note
    assert runs_within(parsed(found.instead[0], ROBFIG), NEW_YEAR, NEW_YEAR + timedelta(days=365)) == 365


def test_a_skipped_time_is_not_replaced_by_one_that_is_skipped_in_other_years() -> None:
    assert instead_of("TZ=America/Nuuk 30 12,22 * * *", ROBFIG, (ROBFIG, NETRESEARCH), NEW_YEAR).expressions == ()


def test_the_oldest_releases_have_no_zones_and_utc_needs_none() -> None:
    found = effect("TZ=UTC 0 2 * * *", ROBFIG1, ROBFIG)
    assert (found.kind, found.instead) == (UpgradeKind.ACCEPTED, ("0 2 * * *",))
    assert "zone of the server" in found.instead_note
    berlin = effect("TZ=Europe/Berlin 0 2 * * *", ROBFIG1, ROBFIG)
    assert berlin.instead == ()
    assert "refuses every time zone" in berlin.instead_note


def test_both_days_cannot_be_expressed_where_either_is_enough() -> None:
    found = effect("0 2 */2 * 1", ROBFIG1, ROBFIG)
    assert (found.kind, found.instead) == (UpgradeKind.OTHER_TIMES, ())
    assert found.instead_note


@pytest.mark.parametrize("text", ["0 2 * * *", "*/5 9-17 * * 1-5", "@daily", "@every 1h", "bad", "0 0 31 2 *"])
def test_what_both_read_alike_has_no_effect(text: str) -> None:
    assert upgrade_effect(text, ROBFIG, NETRESEARCH, NEW_YEAR) is None


def test_every_suggestion_makes_the_runs_of_today_in_both_dialects() -> None:
    """Compared by the runs of a year, one by one, and not by the text."""
    chosen = random.Random(7)
    compared = 0
    for _ in range(120):
        text = " ".join(
            (
                chosen.choice(("0", "30", "*/60", "5-10/5")),
                chosen.choice(("2", "*/24", "22-2", "1,3")),
                chosen.choice(("*", "1", "*/2", "*/31", "28-3", "1-31")),
                chosen.choice(("*", "NOV-FEB", "*/6", "3")),
                chosen.choice(("*", "1", "1-7", "FRI-MON", "1/6")),
            )
        )
        found = upgrade_effect(text, ROBFIG, NETRESEARCH, NEW_YEAR)
        if found is None or not found.instead:
            continue
        meant = parsed(text, NETRESEARCH if found.kind is UpgradeKind.ACCEPTED else ROBFIG)
        wanted = set(meant.between(NEW_YEAR, NEW_YEAR + timedelta(days=400)))
        for dialect in (ROBFIG, NETRESEARCH):
            made = [parsed(each, dialect).between(NEW_YEAR, NEW_YEAR + timedelta(days=400)) for each in found.instead]
            assert set().union(*made) == wanted, (text, found.instead)
        compared += 1
    assert compared > 40


def test_run_counts_and_first_difference_equal_those_of_listed_runs() -> None:
    chosen = random.Random(11)
    for _ in range(60):
        text = chosen.choice(ZONES) + " ".join(
            (
                chosen.choice(("0", "30", "*/20", "59")),
                chosen.choice(("*", "0", "2", "1-4", "3,23")),
                chosen.choice(("*", "1", "*/2", "28-31")),
                chosen.choice(("*", "3", "*/3")),
                chosen.choice(("*", "1", "5-6")),
            )
        )
        start = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=chosen.randrange(525_600))
        end = start + timedelta(days=chosen.choice((1, 30, 366)))
        schedules = [parsed(text, dialect) for dialect in (ROBFIG, NETRESEARCH)]
        if any(each.next(datetime(2027, 12, 31, tzinfo=UTC)) is None for each in schedules):
            continue
        listed = [list(each.between(start, end)) for each in schedules]
        assert [runs_within(each, start, end) for each in schedules] == [len(runs) for runs in listed], text
        before, after = schedules
        found = first_difference(before, after, start)
        assert (found if found and found <= end else None) == min({*listed[0]} ^ {*listed[1]}, default=None), text


@pytest.mark.parametrize(("minutes", "counted", "made"), [("0-49", 100, 101), ("0-50", 102, 103)])
def test_a_hundred_runs_around_a_change_of_the_clocks_are_counted_one_by_one_and_more_are_reckoned(
    minutes: str, counted: int, made: int
) -> None:
    """The library makes one run more where the clocks skip the hour: of many runs that is ignored."""
    often = parsed(f"CRON_TZ=Europe/Berlin {minutes} 2 * * *", NETRESEARCH)
    weekend = datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 30, 4, tzinfo=UTC)
    assert len(list(often.between(*weekend))) == made
    assert runs_within(often, *weekend) == (made if counted <= 100 else counted)


def test_velero_runs_at_most_once_a_minute_for_any_delay() -> None:
    year = NEW_YEAR, NEW_YEAR + timedelta(days=365)
    assert runs_within(parsed("@every 1s", ROBFIG), *year) == 525_600
    for zone in ("", "CRON_TZ=Europe/Berlin ", "CRON_TZ=Australia/Lord_Howe "):
        assert runs_within(parsed(f"{zone}* * * * *", ROBFIG), *year) == 525_600
    assert runs_within(parsed("@every 36h", ROBFIG), *year) == 243


def test_the_next_dialect_is_that_of_the_following_releases() -> None:
    assert next_dialect((ROBFIG1,)) is ROBFIG
    assert next_dialect((ROBFIG1, ROBFIG)) is NETRESEARCH
    assert next_dialect((ROBFIG, NETRESEARCH)) is None
