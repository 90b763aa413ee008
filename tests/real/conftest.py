"""The cluster that all of these tests share, and a namespace for each test that needs its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.real.build import BuildError, Kit, prepare
from tests.real.cluster import RealCluster


@pytest.fixture(scope="session")
def kit() -> Kit:
    """The result of `make test-real`'s build; built here if it is missing."""
    try:
        return prepare(print)
    except BuildError as problem:
        pytest.exit(str(problem), returncode=1)


@pytest.fixture(scope="session")
def cluster(kit: Kit) -> Iterator[RealCluster]:
    """A real cluster; what a test leaves stopped is started again before the next one."""
    with RealCluster(kit) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _repaired(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "cluster" in request.fixturenames:
        request.getfixturevalue("cluster").repair()


@pytest.fixture
def namespace(cluster: RealCluster) -> Iterator[str]:
    """A namespace for one test, removed afterwards with all its custom objects."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.create_namespace(name)
    yield name
    cluster.repair()
    cluster.empty_namespace(name)
