"""The real cluster that all of these tests share, and the table of forecasts that is printed at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real.build import BuildError
from tests.velero.build import VeleroKit, prepare_velero
from tests.velero.forecasts import Verdict, table
from tests.velero.real_cluster import RealVeleroCluster

Verdicts = list[tuple[str, Verdict]]
_VERDICTS = pytest.StashKey[Verdicts]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "share: in the short share that runs with every change")
    config.stash[_VERDICTS] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    verdicts = config.stash[_VERDICTS]
    if verdicts:
        terminalreporter.section("forecasts")
        terminalreporter.write_line(table(verdicts))


@pytest.fixture
def verdicts(request: pytest.FixtureRequest) -> Verdicts:
    """The outcomes of foretop's forecasts so far, each with the name of its story."""
    return request.config.stash[_VERDICTS]


@pytest.fixture(scope="session")
def velero_kit() -> VeleroKit:
    """What `make test-velero` has built; where it has not, this builds it."""
    try:
        return prepare_velero(print)
    except BuildError as problem:
        pytest.exit(str(problem), returncode=1)


@pytest.fixture(scope="session")
def shared_cluster(velero_kit: VeleroKit) -> Iterator[RealVeleroCluster]:
    with RealVeleroCluster(velero_kit) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: RealVeleroCluster) -> RealVeleroCluster:
    """A cluster without Velero and without any of its objects but one storage location."""
    shared_cluster.clear()
    return shared_cluster
