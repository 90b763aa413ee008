"""Answers that an object remembers."""

from __future__ import annotations

import msgspec

from foretop_core.models import Schedule
from foretop_core.rules.remembered import remembered
from tests.objects import schedule


class Asked(msgspec.Struct, frozen=True, dict=True):
    """An object that counts how often it works something out."""

    worked: list[object]

    @remembered
    def of(self, one: Schedule, word: str) -> int:
        self.worked.append(one)
        return len(self.worked)

    @remembered
    def nothing(self, number: int | None) -> None:
        self.worked.append(number)


def test_the_same_object_and_equal_words_are_answered_once() -> None:
    asked, daily = Asked([]), schedule("daily")
    assert [asked.of(daily, "a b"), asked.of(daily, " ".join(("a", "b")))] == [1, 1]
    assert asked.of(daily, "c") == 2


def test_an_equal_object_is_another() -> None:
    """It may have been read anew: what is told of the one need not hold of the other."""
    asked = Asked([])
    assert [asked.of(schedule("daily"), ""), asked.of(schedule("daily"), "")] == [1, 2]


def test_that_there_is_no_answer_is_remembered_too() -> None:
    asked = Asked([])
    for number in (3, 3, None, None):
        asked.nothing(number)
    assert asked.worked == [3, None]


def test_two_objects_remember_apart() -> None:
    daily = schedule("daily")
    one, other = Asked([]), Asked([])
    assert [one.of(daily, ""), other.of(daily, "")] == [1, 1]
    assert len(one.worked) == len(other.worked) == 1
