"""How far the server's clock is ahead, to the microsecond that its answers allow."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from foretop_core.clock import ClockSkew

SENT = datetime(2026, 11, 15, 3, 0, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
TICK = timedelta(microseconds=1)


def header(moment: datetime) -> str:
    return f"{moment:%a, %d %b %Y %H:%M:%S} GMT"


def learned(*answers: tuple[datetime, datetime, datetime]) -> timedelta | None:
    known = ClockSkew()
    for date, sent, received in answers:
        known.learn(header(date), sent, received)
    return known.at(SENT)


def test_one_answer_allows_what_lies_between_its_sending_and_its_arrival() -> None:
    arrived = SENT + timedelta(milliseconds=200)
    assert learned((SENT + HOUR, SENT, arrived)) == HOUR + timedelta(milliseconds=400)


def test_two_answers_allow_what_both_allow() -> None:
    first = (SENT + HOUR, SENT, SENT)
    later = SENT + timedelta(milliseconds=700)
    assert learned(first, (SENT + HOUR, later, later)) == HOUR + timedelta(milliseconds=150)
    assert learned(first, (SENT + HOUR + SECOND, later, later)) == HOUR + timedelta(milliseconds=650)


def test_answers_that_touch_agree_and_those_that_do_not_are_a_clock_that_was_set() -> None:
    early, late = (SENT + HOUR, SENT, SENT), (SENT + HOUR + SECOND, SENT, SENT)
    assert learned(early, late) == learned(late, early) == HOUR + SECOND
    later = (SENT + HOUR + SECOND, SENT - TICK, SENT - TICK)
    assert learned(early, later) == HOUR + timedelta(seconds=1.5) + TICK
    assert learned(later, early) == HOUR + timedelta(seconds=0.5)


def test_an_answer_that_came_before_it_was_asked_for_tells_nothing() -> None:
    assert learned((SENT + HOUR, SENT, SENT - TICK)) is None
    assert learned((SENT + HOUR, SENT, SENT)) == HOUR + SECOND / 2


@pytest.mark.parametrize(("year", "known"), [(1999, False), (2000, True), (2999, True), (3000, False)])
def test_a_date_counts_in_the_years_that_rules_can_look_ahead_from(year: int, known: bool) -> None:
    assert (learned((SENT.replace(year=year), SENT, SENT)) is not None) is known


@pytest.mark.parametrize("year", ["0001", "1", "01", "26", "101"])
def test_a_year_that_is_not_written_in_four_digits_is_not_read_as_another_one(year: str) -> None:
    known = ClockSkew()
    known.learn(f"Sun, 15 Nov {year} 03:00:00 GMT", SENT, SENT)
    assert known.at(SENT) is None


def test_a_clock_that_alternates_by_an_hour_is_not_followed() -> None:
    right, wrong = (SENT, SENT, SENT), (SENT + HOUR, SENT, SENT)
    assert learned(right, *(wrong, right) * 20, wrong) == SECOND / 2
    assert learned(right, *(wrong, wrong, right) * 20, wrong, wrong) == SECOND / 2
    assert learned(wrong, *(right, wrong) * 20, right) == HOUR + SECOND / 2


def test_a_clock_that_was_set_by_an_hour_is_believed_when_three_answers_say_so() -> None:
    before, after = (SENT, SENT, SENT), (SENT + HOUR, SENT, SENT)
    elsewhere = (SENT + 5 * HOUR, SENT, SENT)
    assert learned(before, after, after) == SECOND / 2
    assert learned(before, after, after, elsewhere) == SECOND / 2
    assert learned(before, after, after, after) == HOUR + SECOND / 2


def test_a_date_without_a_zone_tells_nothing() -> None:
    known = ClockSkew()
    known.learn("Sun, 15 Nov 2026 04:00:00 -0000", SENT, SENT)
    assert known.at(SENT) is None


class Ticking:
    """A steady count of seconds that a test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0
        self.skew = ClockSkew(lambda: self.seconds)

    def learn(self, date: datetime, ours: datetime) -> None:
        self.skew.learn(header(date), ours, ours)


@pytest.mark.parametrize("way", [1, -1])
def test_a_step_of_more_than_two_seconds_is_a_clock_that_was_set(way: int) -> None:
    ticking = Ticking()
    ticking.learn(SENT + HOUR, SENT)
    ticking.seconds += 60
    later, step = SENT + timedelta(minutes=1), 2 * SECOND * way
    assert ticking.skew.at(later) == HOUR + SECOND / 2
    assert ticking.skew.at(later + step) == HOUR + SECOND / 2
    further = step + TICK * way
    assert ticking.skew.at(later + further) == HOUR + SECOND / 2 - further


def test_without_a_step_ticks_change_nothing_of_what_answers_allow() -> None:
    ticking = Ticking()
    ticking.learn(SENT + HOUR, SENT)
    ticking.seconds += 0.7
    later = SENT + timedelta(milliseconds=700)
    ticking.learn(SENT + HOUR, later)
    assert ticking.skew.at(later) == HOUR + timedelta(milliseconds=150)


def test_after_a_step_only_new_answers_count() -> None:
    ticking = Ticking()
    ticking.learn(SENT + HOUR, SENT)
    ticking.seconds += 0.7
    stepped = SENT + timedelta(seconds=3.2)
    ticking.learn(SENT + HOUR + 3 * SECOND, stepped)
    assert ticking.skew.at(stepped) == HOUR + timedelta(milliseconds=300)
