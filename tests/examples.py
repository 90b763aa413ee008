"""Properties with a few examples in each run of the tests, and with many in the sweeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

_REPEATABLE = settings(derandomize=True, deadline=None, database=None)


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
