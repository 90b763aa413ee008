"""The real cluster that all of these tests share, and the table of forecasts that is printed at the end."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator

import pytest

from tests.real.build import BuildError
from tests.real.cache import cache_home
from tests.velero.build import VeleroKit, prepare_velero
from tests.velero.forecasts import Verdict, table
from tests.velero.real_cluster import RealVeleroCluster

Verdicts = list[tuple[str, Verdict]]
_VERDICTS = pytest.StashKey[Verdicts]()
_BEGIN = pytest.StashKey[float]()
SHARE_SECONDS = 220.0
"""The share begins no new story after this time, so that a slow machine does not turn its five minutes into ten."""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "share: in the short share that runs with every change")
    config.stash[_VERDICTS] = []
    config.stash[_BEGIN] = time.monotonic()


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
def shared_cluster(request: pytest.FixtureRequest, velero_kit: VeleroKit) -> Iterator[RealVeleroCluster]:
    """One at a time on a machine, for Velero's fixed port: the share is skipped where another runs, the rest waits."""
    is_share = request.config.option.markexpr == "share"
    with (cache_home() / "velero-port.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (fcntl.LOCK_NB if is_share else 0))
        except BlockingIOError:
            pytest.skip("another run of these tests has Velero's fixed port")
        with RealVeleroCluster(velero_kit) as cluster:
            yield cluster


@pytest.fixture
def cluster(request: pytest.FixtureRequest, shared_cluster: RealVeleroCluster) -> RealVeleroCluster:
    """A cluster without Velero and without any of its objects but one storage location."""
    elapsed = time.monotonic() - request.config.stash[_BEGIN]
    if request.config.option.markexpr == "share" and elapsed > SHARE_SECONDS:
        pytest.skip(f"not begun: the share has run for {elapsed:.0f} seconds already")
    shared_cluster.clear()
    return shared_cluster
