"""A pytest plugin that runs the tests of a list, in its order; tests that the list's maker did not know come first."""

from __future__ import annotations

import faulthandler
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

LIST = "FORETOP_CHOSEN_TESTS"
"""The file with the list: `chosen` in order, and all that are `known`."""
LONGEST = 180.0
"""Seconds for one test: a mutant may never end, and then counts as noticed."""


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    faulthandler.dump_traceback_later(LONGEST, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    held = json.loads(Path(os.environ[LIST]).read_text())
    order = {name: place for place, name in enumerate(held["chosen"])}
    known = frozenset(held["known"])
    kept = [item for item in items if item.nodeid in order or item.nodeid not in known]
    dropped = [item for item in items if item.nodeid not in order and item.nodeid in known]
    items[:] = sorted(kept, key=lambda item: order.get(item.nodeid, -1))
    config.hook.pytest_deselected(items=dropped)
    one_counterexample_is_enough()


def one_counterexample_is_enough() -> None:
    """The smallest one, for which hypothesis would search long, is nobody's business here."""
    # Imported before pytest starts, it could not be prepared for pytest's assertions.
    from hypothesis import Phase, settings

    settings.register_profile("mutants", settings.default, phases=(Phase.explicit, Phase.generate), database=None)
    settings.load_profile("mutants")
