"""The real cluster that all of these tests share, and the table of forecasts that is printed at the end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real.build import BuildError
from tests.velero.build import VeleroKit, prepare_velero
from tests.velero.forecasts import Verdict, table
from tests.velero.real_place import RealPlace

_VERDICTS = pytest.StashKey[list[tuple[str, Verdict]]]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "share: in the short share that runs with every change")
    config.stash[_VERDICTS] = []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash[_VERDICTS]:
        terminalreporter.section("forecasts")
        terminalreporter.write_line(table(config.stash[_VERDICTS]))


@pytest.fixture
def verdicts(request: pytest.FixtureRequest) -> list[tuple[str, Verdict]]:
    """Where a test writes down what became of foretop's forecasts, with the story's name."""
    return request.config.stash[_VERDICTS]


@pytest.fixture(scope="session")
def velero_kit() -> VeleroKit:
    """What `make test-velero` has built; where it has not, this builds it."""
    try:
        return prepare_velero(print)
    except BuildError as problem:
        pytest.exit(str(problem), returncode=1)


@pytest.fixture(scope="session")
def shared_place(velero_kit: VeleroKit) -> Iterator[RealPlace]:
    with RealPlace(velero_kit) as place:
        yield place


@pytest.fixture
def place(shared_place: RealPlace) -> RealPlace:
    """A cluster without Velero and without any of its objects but one storage location."""
    shared_place.clear()
    return shared_place
