"""The minicluster answers as a real API server does, in everything that foretop relies on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from foretop_demo import LocalApiServer, Rule, User
from tests.demo.conformance.client import Api, Target, opened
from tests.demo.conformance.suite import Suite

READ = ("get", "list", "watch")
USERS = (
    User("viewer", (Rule(READ, ("velero.io",), ("*",)),)),
    User("tenant", (Rule(("*",), ("oadp.openshift.io",), ("nonadminbackups",), ("team-a",)),)),
    User("nobody"),
)


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with LocalApiServer(users=USERS) as box:

        async def compact() -> None:
            box.storage.compact()

        tokens = {name: box.token(name) for name in ("admin", "viewer", "tenant", "nobody")}
        async with opened(Target(box.url, None, tokens, compact)) as api:
            yield api


class TestMinicluster(Suite):
    """Every test of the suite, against the box."""
