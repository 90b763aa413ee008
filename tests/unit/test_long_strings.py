"""Texts of a megabyte: no object makes more work than twice that of one with ten kilobytes, wherever it is shown."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import pytest

import foretop
import foretop_core
from foretop_core.actions import validation
from foretop_core.cron import CronError, Dialect, parse, quoted
from foretop_core.errors import BadInput
from foretop_core.foreign_text import without_tokens
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE
from foretop_core.rules.cron_dialects.readings import expression
from foretop_core.rules.own_failures import problem_text
from foretop_core.rules.protection.coverage import NamespaceFilter
from foretop_core.tables.engine.filter import parse_filter
from tests.examples import sampled
from trials.chaos.long_strings import LONG, MOST_TIMES, TEXTS, LongText, everywhere, excess

pytestmark = pytest.mark.long

_CRON, _WORDS, _PATTERN, _ONE_WORD = TEXTS
_EXPRESSIONS = [
    LongText(SCHEDULE, ("spec", "schedule")),
    LongText(CRON_JOB, ("spec", "schedule")),
    LongText(PRESCALED, ("spec", "cronJob", "spec", "schedule")),
    LongText(PRESCALED, ("spec", "primerSchedule")),
]
_SAMPLE = 401


@pytest.mark.parametrize("place", sampled(_EXPRESSIONS, _EXPRESSIONS[0]), ids=str)
def test_an_expression_of_a_megabyte_is_not_parsed(place: LongText) -> None:
    assert excess(place, _CRON) <= MOST_TIMES


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(place, marks=[pytest.mark.sweep] if number % _SAMPLE else [])
        for number, place in enumerate(everywhere())
    ],
    ids=str,
)
def test_no_text_makes_more_work_than_twice_that_of_ten_kilobytes(place: LongText) -> None:
    for text in (_WORDS, _PATTERN):
        assert excess(place, text) <= MOST_TIMES


@pytest.mark.parametrize("dialect", list(Dialect))
def test_an_expression_that_is_too_long_says_so_wherever_it_is_read(dialect: Dialect) -> None:
    text = _CRON(LONG)
    problem = expression(text, dialect)
    assert isinstance(problem, CronError)
    assert problem.is_too_long
    assert "too long" in str(problem)
    assert len(str(problem)) < 100
    with pytest.raises(BadInput, match="too long") as refused:
        validation.cron(text, dialect)
    assert len(str(refused.value)) < 300
    assert len(quoted(text)) < 100
    assert not parse("0,0 * * * *", dialect).never_fires


class _Row:
    """A row whose text nobody has shortened."""

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        return self._text

    def contains(self, word: str) -> bool:
        return word in self._text

    def field(self, name: str) -> str:
        return self._text

    def labels(self) -> dict[str, str]:
        return {}


def test_text_that_is_searched_for_patterns_takes_no_time_that_grows_with_its_square() -> None:
    """Each of these took minutes, or did not end."""
    assert without_tokens("a" * LONG) == "[hidden]"
    assert len(problem_text(ValueError("://" * LONG))) <= 300
    stars = NamespaceFilter(("*a" * (LONG // 2),), ())
    assert not stars.takes("team-a")
    assert not parse_filter("-f ab")(_Row("a" * LONG))
    assert parse_filter("-f ab")(_Row("a" * LONG + "b"))


_JUDGED = {
    "foretop_core.foreign_text._NAMED": "looks ahead over the one word that it then takes",
    "foretop_core.rules.globs._READ": "takes patterns of at most 253 letters, and each letter in one way",
    "foretop_core.rules.protection.coverage._CLOSED_SETS": "a round takes one pair of brackets, in one way",
    "foretop_core.tables.engine.selectors._REQUIREMENT": "reads what a person types, in pieces that commas part",
}
"""Expressions that look risky, and why they are not."""


def _patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    for package in (foretop_core, foretop):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.endswith("__main__"):
                for name, value in vars(importlib.import_module(found.name)).items():
                    if isinstance(value, re.Pattern):
                        yield f"{found.name}.{name}", value


def _has_endless(parsed: Any) -> bool:
    return any(_is_endless(sign, held) or any(map(_has_endless, _inner(held))) for sign, held in parsed)


def _is_endless(sign: Any, held: Any) -> bool:
    return sign in (_constants.MAX_REPEAT, _constants.MIN_REPEAT) and held[1] is _constants.MAXREPEAT


def _inner(held: Any) -> Iterator[Any]:
    if isinstance(held, _parser.SubPattern):
        yield held
    elif isinstance(held, tuple | list):
        for each in held:
            yield from _inner(each)


def _is_risky(parsed: Any) -> bool:
    """An endless repetition within another one, or in a look to either side that each place starts anew."""
    for sign, held in parsed:
        looks = sign in (_constants.ASSERT, _constants.ASSERT_NOT)
        if (looks or _is_endless(sign, held)) and any(map(_has_endless, _inner(held))):
            return True
        if any(map(_is_risky, _inner(held))):
            return True
    return False


def test_every_regular_expression_is_plain_or_was_judged() -> None:
    found = dict(_patterns())
    assert len(found) > 40
    risky = {name for name, one in found.items() if _is_risky(_parser.parse(one.pattern, one.flags & ~re.DEBUG))}
    assert risky == set(_JUDGED)
