from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.rules import humanize

NOW = datetime(2026, 11, 15, 2, 41, 7, tzinfo=UTC)
BERLIN, NEW_YORK, KATHMANDU = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Kathmandu")


@pytest.mark.parametrize(
    ("said", "zone", "retold"),
    [
        ("due at 02:00:00Z, 41 minutes ago", BERLIN, "due at 03:00:00 CET, 41 minutes ago"),
        ("due at 02:00:00Z, 41 minutes ago", NEW_YORK, "due at 21:00:00 EST, 41 minutes ago"),
        ("starts 06:00:03Z", KATHMANDU, "starts 11:45:03 +0545"),
        ("starts 23:00:03Z", BERLIN, "starts 16 Nov 00:00 CET"),
        ("paused since 12 Nov 02:14Z by maria", KATHMANDU, "paused since 12 Nov 07:59 +0545 by maria"),
        ("made 1 Jul 2025 22:30Z, kept", BERLIN, "made 2 Jul 2025 00:30 CEST, kept"),
        ("3 start together at 06:00Z.", NEW_YORK, "3 start together at 01:00 EST."),
        ("ended 14 Nov 23:30Z", BERLIN, "ended 00:30 CET"),
        ("from 01:00:00Z to 02:00:00Z", BERLIN, "from 02:00:00 CET to 03:00:00 CET"),
        ("in UTC 02:00:00Z", UTC, "in UTC 02:00:00Z"),
        ("at 2026-11-15T02:00:00Z, version 1:02:03Z, 99:00:00Z, 31 Feb 02:00Z", BERLIN, None),
    ],
)
def test_a_sentence_is_converted_to_another_zone(said: str, zone: ZoneInfo, retold: str | None) -> None:
    assert humanize.retold(said, NOW, zone) == (said if retold is None else retold)


@given(
    st.timedeltas(timedelta(days=-900), timedelta(days=900)).map(NOW.__add__),
    st.timedeltas(timedelta(days=-500), timedelta(days=500)),
    st.sampled_from([BERLIN, NEW_YORK, KATHMANDU]),
)
def test_a_converted_time_is_the_same_instant_in_that_zone(now: datetime, ago: timedelta, zone: ZoneInfo) -> None:
    at = now - ago
    there = humanize.time(at, now, zone)
    told = humanize.retold(f"since {humanize.time(at, now)}", now, zone)
    local, today = at.astimezone(zone), now.astimezone(zone)
    if local.date() == today.date() and at.date() != now.date():
        # The seconds are not shown for another day, so they cannot be converted.
        there = f"{local:%H:%M} {local:%Z}"
    assert told == f"since {there}"
