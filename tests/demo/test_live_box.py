"""An open box: its time runs, its controllers work beside the requests, and its logs can be fetched."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.demo.conformance.client import OADP, VELERO, Api, Target

DOWNLOADS = f"{VELERO}/namespaces/{HOME}/downloadrequests"


@asynccontextmanager
async def opened(scene: str, speed: float) -> AsyncIterator[Api]:
    box = SimulatedCluster(find_scene(scene), ScenarioOptions(), FIXED_START, speed)
    cluster = await box.open()
    try:
        async with aiohttp.ClientSession() as session:
            yield Api(Target(cluster.url, None, {}, _nothing), session, HOME, cluster.token())
    finally:
        await box.close()


async def _nothing() -> None:
    return None


async def test_backups_end_and_others_take_their_place_while_one_watches() -> None:
    async with opened("default", 600) as api:
        path = f"{OADP}/nonadminbackups"
        since = await api.version_of(path)
        begun, ended = set[Any](), set[Any]()
        async with api.watching(path, resourceVersion=since) as watch:
            while not (begun and ended):
                event = (await watch.next())["object"]
                phase = event.get("status", {}).get("veleroBackup", {}).get("status", {}).get("phase")
                {"InProgress": begun, "Completed": ended}.get(phase, set()).add(event["metadata"]["name"])
        assert begun
        assert ended


async def test_a_person_asks_for_a_backup_and_gets_it() -> None:
    async with opened("quiet", 600) as api:
        path = f"{OADP}/namespaces/team-pay/nonadminbackups"
        body = {"apiVersion": "oadp.openshift.io/v1alpha1", "kind": "NonAdminBackup", "metadata": {"name": "mine"}}
        made = (await api.create(path, {**body, "spec": {"backupSpec": {}}})).expect(201)
        async with api.watching(path, resourceVersion=made["metadata"]["resourceVersion"]) as watch:
            while True:
                seen = (await watch.next())["object"]
                if seen.get("status", {}).get("veleroBackup", {}).get("status", {}).get("phase") == "Completed":
                    break
        assert seen["status"]["queueInfo"]["estimatedQueuePosition"] == 0


async def test_the_log_of_a_backup_can_be_fetched_for_a_while() -> None:
    async with opened("quiet", 1) as api:
        backup = (await api.get(f"{VELERO}/namespaces/{HOME}/backups")).expect(200)["items"][0]
        name = backup["metadata"]["name"]
        spec = {"target": {"kind": "BackupLog", "name": name}}
        body = {"apiVersion": "velero.io/v1", "kind": "DownloadRequest", "metadata": {"name": "log"}, "spec": spec}
        made = (await api.create(DOWNLOADS, body)).expect(201)
        async with api.watching(DOWNLOADS, resourceVersion=made["metadata"]["resourceVersion"]) as watch:
            answered = (await watch.next())["object"]["status"]
        assert answered["phase"] == "Processed"
        async with api.session.get(answered["downloadURL"]) as answer:
            text = gzip.decompress(await answer.read()).decode()
        assert f"backup={HOME}/{name}" in text
        assert "level=info" in text
        async with api.session.get(answered["downloadURL"] + "x") as answer:
            assert answer.status == 404


async def test_the_box_says_what_it_is() -> None:
    async with opened("quiet", 2) as api:
        said = (await api.get("/api/v1/namespaces/kube-public/configmaps/minicluster")).expect(200)["data"]
        assert said == {"scene": "quiet", "behaviour": "released", "velero": "1.18.3", "seed": "1", "speed": "2"}
