"""Properties and matrices with a few examples in each run of the tests, and with all of them in the sweeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

_T = TypeVar("_T")
_REPEATABLE = settings(derandomize=True, deadline=None, database=None)


def sampled(cases: Iterable[_T], *kept: _T) -> list[Any]:
    """The cases of a matrix: those that are kept run each time, the others in the sweeps."""
    every = list(cases)
    assert set(kept) <= set(every), f"{kept} are not all among {every}"
    return [case if case in kept else pytest.param(case, marks=pytest.mark.sweep) for case in every]


def few_or_many(
    few: int, many: int, *strategies: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes two tests of a property, which takes the values of the strategies."""

    def tests_of(holds: Callable[..., None]) -> Callable[..., None]:
        def tried(examples: int) -> Callable[[], None]:
            return settings(_REPEATABLE, max_examples=examples)(given(*strategies)(holds))

        both = [pytest.param(few, id="few"), pytest.param(many, id="many", marks=pytest.mark.sweep)]

        @pytest.mark.parametrize("examples", both)
        def test(examples: int) -> None:
            tried(examples)()

        test.__name__, test.__doc__, test.__module__ = holds.__name__, holds.__doc__, holds.__module__
        return test

    return tests_of
