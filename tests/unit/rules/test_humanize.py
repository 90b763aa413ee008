from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.rules import humanize
from foretop_core.rules.sentences import Moment, Text, join_sentences, listed, render, sentence, sort_key
from foretop_core.tables.text import times

NOW = datetime(2026, 11, 15, 2, 41, 7, tzinfo=UTC)
BERLIN, NEW_YORK, KATHMANDU = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Asia/Kathmandu")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("said", "in_utc", "zone", "there"),
    [
        (
            sentence("due at ", moment("2026-11-15T02:00:00Z"), ", ", timedelta(minutes=41, seconds=7), " ago"),
            "due at 02:00:00Z, 41 minutes ago",
            NEW_YORK,
            "due at 21:00:00 EST, 41 minutes ago",
        ),
        (
            sentence("starts ", moment("2026-11-15T06:00:03Z")),
            "starts 06:00:03Z",
            KATHMANDU,
            "starts 11:45:03 +0545",
        ),
        (
            sentence("starts ", moment("2026-11-15T23:00:03Z")),
            "starts 23:00:03Z",
            BERLIN,
            "starts 16 Nov 00:00 CET",
        ),
        (
            sentence("ended ", moment("2026-11-14T23:30:09Z")),
            "ended 14 Nov 23:30Z",
            BERLIN,
            "ended 00:30:09 CET",
        ),
        (
            sentence("made ", moment("2025-07-01T22:30:00Z"), ", kept"),
            "made 1 Jul 2025 22:30Z, kept",
            BERLIN,
            "made 2 Jul 2025 00:30 CEST, kept",
        ),
        (
            sentence("together at ", Moment(moment("2026-11-15T06:00:00Z"), to_the_minute=True)),
            "together at 06:00Z",
            NEW_YORK,
            "together at 15 Nov 01:00 EST",
        ),
        (
            sentence("together at ", Moment(moment("2026-11-15T23:30:00Z"), to_the_minute=True)),
            "together at 23:30Z",
            BERLIN,
            "together at 16 Nov 00:30 CET",
        ),
        ("failed at 02:30:00Z", "failed at 02:30:00Z", BERLIN, "failed at 02:30:00Z"),
        (
            sentence("failed at ", moment("2026-11-15T02:30:00Z"), ": no answer since 12 Nov 02:14Z"),
            "failed at 02:30:00Z: no answer since 12 Nov 02:14Z",
            BERLIN,
            "failed at 03:30:00 CET: no answer since 12 Nov 02:14Z",
        ),
    ],
)
def test_moments_are_written_in_the_readers_zone_and_text_stays(
    said: Text, in_utc: str, zone: ZoneInfo, there: str
) -> None:
    assert render(said, NOW) == in_utc
    assert render(said, NOW, zone) == there


def test_the_year_is_written_where_it_is_another_one_for_the_reader() -> None:
    new_year, said = moment("2027-01-01T04:30:00Z"), sentence("at ", moment("2026-12-31T22:00:00Z"))
    assert render(said, new_year) == "at 31 Dec 2026 22:00Z"
    assert render(said, new_year, NEW_YORK) == "at 17:00:00 EST"
    assert render(said, moment("2026-12-31T22:30:00Z"), KATHMANDU) == "at 03:45:00 +0545"


def test_a_moment_in_the_hour_that_comes_twice_says_which_one() -> None:
    first, second = moment("2026-10-25T00:30:00Z"), moment("2026-10-25T01:30:00Z")
    assert render(sentence(first, " and ", second), second, BERLIN) == "02:30:00 CEST and 02:30:00 CET"


@given(
    st.timedeltas(timedelta(days=-900), timedelta(days=900)).map(NOW.__add__),
    st.timedeltas(timedelta(days=-500), timedelta(days=500)),
    st.sampled_from([UTC, BERLIN, NEW_YORK, KATHMANDU]),
)
def test_a_sentence_is_written_as_its_parts_are(now: datetime, ago: timedelta, zone: tzinfo) -> None:
    said = sentence("since ", now - ago, ", ", ago, " ago")
    assert render(said, now, zone) == f"since {humanize.time(now - ago, now, zone)}, {humanize.duration(ago)} ago"


def test_sentences_are_put_together_from_others() -> None:
    since = sentence("since ", NOW)
    assert sentence("a", "", "b") == "ab"
    assert sentence() == ""
    assert sentence("paused ", since, "", ".") == sentence("paused since ", NOW, ".")
    assert render(join_sentences((since, "b"), "; "), NOW) == "since 02:41:07Z; b"
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == humanize.join(["a", "b", "c"])
    assert listed(["a", "b", "c", "d", "e"]) == humanize.join(["a", "b", "c", "d", "e"])
    assert render(listed(["a", since]), NOW) == "a and since 02:41:07Z"


def test_a_sentence_says_the_same_until_its_duration_is_written_otherwise() -> None:
    def stuck(seconds: int) -> Text:
        return sentence("stuck for ", timedelta(seconds=seconds, microseconds=seconds))

    assert stuck(180) == stuck(239)
    assert hash(stuck(180)) == hash(stuck(239))
    assert stuck(180) != stuck(240)
    assert stuck(3 * 86400) == stuck(4 * 86400 - 1)


def test_a_sentence_does_not_become_text_by_accident() -> None:
    with pytest.raises(TypeError, match="render"):
        f"{sentence('since ', NOW)}"


def test_sentences_sort_by_their_moments() -> None:
    hours = [sentence("next ", NOW + timedelta(hours=hour)) for hour in (0, 20, 23)]
    assert (min(hours[1:] + hours[:1], key=sort_key), max(hours, key=sort_key)) == (hours[0], hours[-1])


@pytest.mark.parametrize(
    ("length", "words", "short"),
    [
        (timedelta(hours=23, minutes=59), "23 hours and 59 minutes", "23h59m"),
        (timedelta(hours=24, minutes=29), "1 day", "1d"),
        (timedelta(hours=43, minutes=5), "1 day and 19 hours", "1d19h"),
        (timedelta(hours=49), "2 days", "2d"),
    ],
)
def test_sentences_and_columns_have_the_same_units(length: timedelta, words: str, short: str) -> None:
    assert (humanize.duration(length), times.short(length)) == (words, short)


@pytest.mark.parametrize(
    ("every", "told"),
    [
        (timedelta(minutes=1), "minute"),
        (timedelta(seconds=90), "1 minute and 30 seconds"),
        (timedelta(hours=1), "hour"),
        (timedelta(hours=2), "2 hours"),
        (timedelta(days=1), "day"),
    ],
)
def test_an_interval_of_one_unit_is_named_by_it_alone(every: timedelta, told: str) -> None:
    assert humanize.interval(every) == told


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (61, "1 minute and 1 second"),
        (3599, "59 minutes"),
        (3600, "1 hour"),
        (86_399, "23 hours and 59 minutes"),
        (86_400, "1 day"),
        (90_000, "1 day and 1 hour"),
    ],
)
def test_a_length_is_told_in_the_largest_unit_that_it_fills(seconds: int, told: str) -> None:
    assert humanize.duration(timedelta(seconds=seconds)) == told
