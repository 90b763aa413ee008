"""The real cluster that all tests of one process share, and the table of forecasts that is printed at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.real.build import BuildError
from tests.velero.build import VeleroKit, prepare_velero
from tests.velero.forecasts import Verdict, table, table_row
from tests.velero.own_network import PortTakenError, velero_port
from tests.velero.real_cluster import RealVeleroCluster

Verdicts = list[tuple[str, Verdict]]
_BEGIN = pytest.StashKey[float]()
_ROW = "forecast"
SHARE_SECONDS = 220.0
"""The share begins no new story after this time, so that a slow machine does not turn its five minutes into ten."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "share: in the short share that runs with every change")
    config.addinivalue_line("markers", "seconds(n): how long it takes on a real server; the longest begin first")
    config.stash[_BEGIN] = time.monotonic()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_seconds, reverse=True)


def _seconds(item: pytest.Item) -> int:
    marker = item.get_closest_marker("seconds")
    return int(marker.args[0]) if marker else 0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for found in terminalreporter.stats.values() for report in found]
    rows: list[Any] = [
        value
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "teardown"
        for name, value in report.user_properties
        if name == _ROW
    ]
    if rows:
        terminalreporter.section("forecasts")
        terminalreporter.write_line(table(rows))


@pytest.fixture
def verdicts(request: pytest.FixtureRequest) -> Iterator[Verdicts]:
    """The outcomes of foretop's forecasts in this test, each with the name of its story.

    They leave the process with the test's report: each of several processes has its own tests.
    """
    found: Verdicts = []
    yield found
    request.node.user_properties.extend((_ROW, table_row(story, verdict)) for story, verdict in found)


@pytest.fixture(scope="session")
def velero_kit() -> VeleroKit:
    """What `make test-velero` has built; where it has not, this builds it."""
    try:
        return prepare_velero(print)
    except BuildError as problem:
        pytest.exit(str(problem), returncode=1)


@pytest.fixture(scope="session")
def shared_cluster(request: pytest.FixtureRequest, velero_kit: VeleroKit) -> Iterator[RealVeleroCluster]:
    """One for each process; where they cannot have networks of their own, the share is skipped and the rest waits."""
    is_share = request.config.option.markexpr == "share"
    try:
        with velero_port(waits=not is_share), RealVeleroCluster(velero_kit) as cluster:
            yield cluster
    except PortTakenError as taken:
        if not is_share:
            raise
        pytest.skip(str(taken))


@pytest.fixture
def cluster(request: pytest.FixtureRequest, shared_cluster: RealVeleroCluster) -> RealVeleroCluster:
    """A cluster without Velero and without any of its objects but one storage location."""
    elapsed = time.monotonic() - request.config.stash[_BEGIN]
    if request.config.option.markexpr == "share" and elapsed > SHARE_SECONDS:
        pytest.skip(f"not begun: the share has run for {elapsed:.0f} seconds already")
    shared_cluster.clear()
    return shared_cluster
