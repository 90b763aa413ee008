from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from foretop_core.models import Backup, Schedule
from foretop_core.tables.engine.drawings import bar
from foretop_core.tables.text import times
from foretop_core.tables.text.times import IN_UTC, TimeZoneMode, TimeZoneSetting, zone_of_expression
from tests.objects import backup, schedule

NOW = datetime(2026, 11, 15, 2, 41, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "short", "until"),
    [
        (-5, "0s", "in 0s"),
        (20, "20s", "in 20s"),
        (60, "1m", "in 1m"),
        (41 * 60 + 59, "41m", "in 41m"),
        (3600, "1h", "in 1h"),
        (6060, "1h41m", "in 1h41m"),
        (85_680, "23h48m", "in 23h48m"),
        (86_399, "23h59m", "in 23h59m"),
        (86_400, "1d", "in 1d"),
        (97_200, "1d3h", "in 1d3h"),
        (172_799, "1d23h", "in 1d23h"),
        (172_800, "2d", "in 2d"),
        (180_000, "2d", "in 2d"),
        (86_400 * 29 + 5, "29d", "in 29d"),
    ],
)
def test_durations_are_short(seconds: int, short: str, until: str) -> None:
    assert times.short(timedelta(seconds=seconds)) == short
    assert times.until(timedelta(seconds=seconds)) == until


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        *((-1, "due"), (57, "57s"), (117, "1m57s"), (120, "2m"), (4860, "1h21m"), (36_480, "10h8m")),
        *((86_399, "23h59m"), (86_400, "1d"), (6 * 86_400 + 5, "6d")),
    ],
)
def test_a_countdown_has_minutes_below_a_day(seconds: int, shown: str) -> None:
    assert times.countdown(timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        *((-5, "0s"), (42, "42s"), (59, "59s"), (60, "1m"), (61, "1m1s"), (242, "4m2s"), (240, "4m")),
        *((599, "9m59s"), (600, "10m"), (601, "10m"), (720, "12m")),
    ],
)
def test_durations_of_minutes_include_seconds(seconds: int, shown: str) -> None:
    assert times.took(timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (None, ""),
        (datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC), "02:30:03"),
        (datetime(2026, 11, 14, 22, 0, 3, tzinfo=UTC), "Sat 22:00"),
        (datetime(2026, 11, 14, 2, 41, 8, tzinfo=UTC), "Sat 02:41"),
        (datetime(2026, 11, 14, 2, 41, 7, tzinfo=UTC), "14 Nov"),
        (datetime(2026, 11, 16, 2, 41, 6, tzinfo=UTC), "Mon 02:41"),
        (datetime(2026, 11, 13, 22, 30, tzinfo=UTC), "13 Nov"),
        (datetime(2026, 11, 12, 2, 30, tzinfo=UTC), "12 Nov"),
        (datetime(2025, 3, 1, 2, 30, tzinfo=UTC), "2025-03-01"),
    ],
)
def test_a_time_is_as_precise_as_its_age_allows(at: datetime | None, shown: str) -> None:
    assert times.time_of_day(at, NOW) == shown


_BERLIN = ZoneInfo("Europe/Berlin")


def test_a_short_time_has_the_name_of_its_zone_where_that_is_asked_for() -> None:
    at = datetime(2026, 11, 15, 1, 46, tzinfo=UTC)
    assert (times.minute(at), times.minute(at, _BERLIN)) == ("01:46", "02:46")
    assert times.minute(at, _BERLIN, named=True) == "02:46 CET"
    assert times.time_of_day(at, NOW, _BERLIN) == "02:46:00"
    assert times.time_of_day(at, NOW, _BERLIN, named=True) == "02:46:00 CET"


def _schedule_of(_run: Backup) -> Schedule | None:
    return schedule("berlin", "TZ=Europe/Berlin 0 2 * * *")


def test_the_zone_setting_goes_round_and_is_named_unless_it_is_utc() -> None:
    mine = IN_UTC.following(_BERLIN)
    theirs = mine.following(_BERLIN)
    assert (IN_UTC.is_named, mine.is_named, theirs.is_named) == (False, True, True)
    assert (mine.told, mine.zone, theirs.told) == (TimeZoneMode.MINE, _BERLIN, TimeZoneMode.EXPRESSION)
    assert theirs.following(_BERLIN) == IN_UTC


def test_an_object_has_the_zone_of_its_expression_or_of_the_schedule_that_made_it() -> None:
    tokyo = schedule("tokyo", "CRON_TZ=Asia/Tokyo 0 2 * * *")
    theirs = TimeZoneSetting(TimeZoneMode.EXPRESSION)
    found = [theirs.of(one, _schedule_of) for one in (tokyo, backup(of="berlin"), backup(), schedule(), None)]
    assert found == [ZoneInfo("Asia/Tokyo"), _BERLIN, UTC, UTC, UTC]
    assert theirs.of(backup(of="gone"), lambda _: None) is UTC
    mine = TimeZoneSetting(TimeZoneMode.MINE, _BERLIN)
    assert [mine.of(one, _schedule_of) for one in (tokyo, backup())] == [_BERLIN, _BERLIN]


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("0 2 * * *", None),
        ("TZ=Asia/Tokyo 0 2 * * *", ZoneInfo("Asia/Tokyo")),
        # Only the later releases read this one.
        ("CRON_TZ=Asia/Tokyo 0 22-2 * * *", ZoneInfo("Asia/Tokyo")),
        ("TZ=Nowhere/City 0 2 * * *", None),
    ],
)
def test_the_zone_of_an_expression_is_the_one_that_it_names(text: str, zone: ZoneInfo | None) -> None:
    assert zone_of_expression(text) == zone


@pytest.mark.parametrize(
    ("done", "total", "cells", "full"),
    [
        *((0, 0, 4, 0), (5, 0, 4, 0), (-1, 8, 4, 0), (5, -1, 4, 0), (0, 8, 4, 0)),
        *((1, 1, 4, 4), (8, 8, 4, 4), (9, 8, 4, 4)),
        # To the nearest cell, a half upwards.
        *((1, 9, 4, 0), (1, 8, 4, 1), (3, 8, 4, 2), (4, 8, 4, 2), (5, 8, 4, 3)),
        # Only what is done is full.
        *((7, 8, 4, 3), (99, 100, 4, 3), (99, 100, 1, 0), (1, 2, 1, 0)),
    ],
)
def test_a_bar_is_full_only_where_all_is_done(done: int, total: int, cells: int, full: int) -> None:
    assert bar(done, total, cells) == "▇" * full + "▁" * (cells - full)


def test_an_age_without_a_start_is_empty() -> None:
    assert times.age(None, NOW) == ""
    assert times.age(NOW - timedelta(minutes=3), NOW) == "3m"
