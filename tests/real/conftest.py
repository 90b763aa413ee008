"""The cluster that all of these tests share, and a namespace for each that wants one of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.real.build import BuildError, Kit, prepare
from tests.real.cluster import RealCluster


@pytest.fixture(scope="session")
def kit() -> Kit:
    """What `make test-real` has built; where it has not, this builds it."""
    try:
        return prepare(print)
    except BuildError as problem:
        pytest.exit(str(problem), returncode=1)


@pytest.fixture(scope="session")
def cluster(kit: Kit) -> Iterator[RealCluster]:
    """A real cluster; what a test leaves dead is started again before the next one."""
    with RealCluster(kit) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def _mended(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "cluster" in request.fixturenames:
        request.getfixturevalue("cluster").mend()


@pytest.fixture
def namespace(cluster: RealCluster) -> Iterator[str]:
    """A namespace of the test's own, gone afterwards with all the custom objects in it."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.create_namespace(name)
    yield name
    cluster.mend()
    cluster.empty_namespace(name)
