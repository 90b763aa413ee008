"""Connections stay within the limit of open files, however many runs and namespaces there are."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from foretop_core.clock import ManualClock, SystemClock
from foretop_core.kube.access.access_reviewer import REVIEWS_AT_ONCE, AccessReviewer
from foretop_core.kube.access.accessible_namespaces import accessible_namespaces
from foretop_core.kube.connection.aiohttp_pool import RESERVED, connection_budget
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import BACKUP, NAB, NAR, SCHEDULE
from foretop_core.store.health import WatchHealthRegistry
from foretop_core.tables.resources.visibility_findings import visibility_findings
from foretop_demo import LocalApiServer, Rule, User
from tests.objects import NOW
from tests.wire.action_fixtures import Wire, wire
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_cluster import client_of
from tests.wire.test_commands import obj
from tests.wire.test_limits import server_that
from tests.wire.watching import connect

__all__ = ["wire"]
READ = ("get", "list", "watch")


@pytest.mark.sweep
def test_a_mass_restore_and_a_thousand_namespaces_stay_live_under_256_descriptors(tmp_path: Path) -> None:
    names = [f"team-{number:04}" for number in range(1000)]
    tenant = User(
        "tenant",
        (
            Rule(READ, ("",), ("namespaces",)),
            Rule(READ, (NAB.group,), (NAB.plural,), tuple(names)),
            Rule(READ, (SCHEDULE.group,), ("*",), ("velero",)),
        ),
    )
    objects = [
        *({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in (*names, "velero")),
        *(obj("Restore", f"r-{number}", {"backupName": "b"}) for number in range(2000)),
    ]
    with box_in_thread(objects, [tenant]) as box:
        child = [sys.executable, "-m", "tests.wire.few_descriptors", kubeconfig(box, tmp_path, "tenant")]
        said = subprocess.run([*child, kubeconfig(box, tmp_path), "1000", "256"], stdout=subprocess.PIPE, check=True)
    seen = json.loads(said.stdout)
    assert seen["watches"] >= 1002
    assert seen["polled"] > 0
    assert seen["most"] < 256


def test_the_budget_leaves_room_for_other_files_and_is_shared_by_the_contexts() -> None:
    for descriptors in (256, 1024, 20_000):
        for contexts in (1, 3, 20):
            share = connection_budget(contexts, descriptors)
            held = contexts * (share.requests + share.watches + share.other_streams)
            assert held <= max(descriptors - RESERVED, 8 * contexts)
            assert min(share.requests, share.watches, share.other_streams) >= 1


def test_what_is_polled_is_a_finding() -> None:
    board = WatchHealthRegistry()
    for number in range(10):
        scope = WatchScope("prod", NAB, f"team-{number}")
        board.report(scope, WatchHealth(WatchState.LIVE, NOW, polled_every=41.0 if number > 3 else 0.0))
    (finding,) = visibility_findings("prod", board.context("prod"), NOW)
    assert finding.what == "6 of 10 lists not live"
    assert "are refreshed only every 41 seconds" in str(finding.evidence)
    assert "ulimit -n" in str(finding.remedy)


@pytest.mark.sweep
async def test_known_rights_are_reviewed_once_a_second_at_most_and_ever_more_rarely(tmp_path: Path, wire: Wire) -> None:
    async with LocalApiServer(users=(User("nobody"),)) as running:
        client, clock = client_of(running, tmp_path, "nobody"), ManualClock(SystemClock().now())
        access = AccessReviewer(client, clock)
        names = [f"team-{number}" for number in range(100)]
        for name in names:
            await access.rules(name)
        asked = len(wire.asked)
        for _ in range(600):
            clock.advance(timedelta(seconds=1))
            for name in names:
                await access.rules(name)
        in_ten_minutes = len(wire.asked) - asked
        assert in_ten_minutes <= 600
        for _ in range(600):
            clock.advance(timedelta(minutes=1))
            for name in names:
                await access.rules(name)
        assert len(wire.asked) - asked - in_ten_minutes <= 10 * 100 + 100, "about once an hour each"
        await client.close()


async def test_the_first_look_at_many_namespaces_asks_for_few_reviews_at_once() -> None:
    names = [f"team-{number}" for number in range(200)]
    asked: list[str] = []
    under_way = most = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal under_way, most
        if request.method == "GET":
            return web.json_response({"items": [{"metadata": {"name": name}} for name in names]})
        under_way += 1
        most = max(most, under_way)
        asked.append(request.path)
        await asyncio.sleep(0.02)
        under_way -= 1
        return web.json_response({"status": {"allowed": False, "resourceRules": []}})

    async with server_that(handle) as server:
        client = connect(server.url)
        access = AccessReviewer(client, SystemClock())
        await asyncio.gather(
            *(accessible_namespaces(client, access, kind, ()) for kind in (SCHEDULE, BACKUP, NAB, NAR))
        )
        await client.close()
    assert most <= REVIEWS_AT_ONCE
    assert len(asked) == len(names) + 4, "one for each namespace, and one for each kind everywhere"
