"""What the box does beside answering like any API server: its clock, its door, its housekeeping."""

from __future__ import annotations

import asyncio
import json
import logging
import stat
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import TestCase

import aiohttp
import pytest
import yaml
from aiohttp import web

from foretop_core.clock import ManualClock
from foretop_core.errors import BadInput
from foretop_demo import ApiError, Change, DeleteOptions, InProcessApi, Kind, LocalApiServer, Rule, User

START = datetime(2026, 11, 15, 2, 30, tzinfo=UTC)
SCHEDULES = "/apis/velero.io/v1/namespaces/velero/schedules"


def new_storage(history: int = 4096, seed: int | None = None) -> InProcessApi:
    storage = InProcessApi(ManualClock(START), history=history, seed=seed)
    storage.create(storage.kind("Namespace"), {"metadata": {"name": "velero"}})
    return storage


def schedule(name: str, **meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **meta}, "spec": {"schedule": "0 1 * * *", "template": {}}}


def backup(name: str, **meta: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **meta}, "spec": {}}


def owned_by(*owners: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "apiVersion": each["apiVersion"],
            "kind": each["kind"],
            **{key: each["metadata"][key] for key in ("name", "uid")},
        }
        for each in owners
    ]


async def test_the_box_lives_in_the_time_of_its_clock() -> None:
    clock = ManualClock(START)
    async with LocalApiServer(clock=clock) as box, aiohttp.ClientSession() as session:
        box.storage.create(box.storage.kind("Namespace"), {"metadata": {"name": "velero"}})
        clock.advance(timedelta(days=3))
        made = box.storage.create(box.storage.kind("Schedule"), schedule("daily"), "velero")
        assert made["metadata"]["creationTimestamp"] == "2026-11-18T02:30:00Z"
        assert made["metadata"]["managedFields"][0]["time"] == "2026-11-18T02:30:00Z"
        async with session.get(f"{box.url}/version") as answer:
            assert answer.headers["Date"] == "Wed, 18 Nov 2026 02:30:00 GMT"


async def test_a_kubeconfig_is_private_and_lets_its_user_in_without_a_header(tmp_path: Path) -> None:
    viewer = User("viewer", (Rule(("list",), ("velero.io",), ("schedules",)),))
    async with LocalApiServer(users=[viewer]) as box, aiohttp.ClientSession() as session:
        path = box.kubeconfig(tmp_path / "kubeconfig", "viewer", "velero")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        config = yaml.safe_load(path.read_text())
        server = config["clusters"][0]["cluster"]["server"]
        assert config["users"][0]["user"]["token"] == box.token("viewer")
        async with session.get(f"{server}/apis/velero.io/v1/schedules") as answer:
            assert answer.status == 200
        async with session.get(f"{server}/apis/velero.io/v1/backups") as answer:
            assert 'User "viewer" cannot list' in (await answer.json())["message"]
        async with session.get(f"{box.url}/token/wrong/version") as answer:
            assert answer.status == 401


async def test_a_taken_port_is_said_in_one_line() -> None:
    async with LocalApiServer() as box:
        port = int(box.url.rpartition(":")[2])
        with pytest.raises(BadInput, match=f"^cannot serve on port {port}: .*in use.* \\(choose another port"):
            async with LocalApiServer(port=port):
                pass


async def test_closing_the_box_ends_its_watches() -> None:
    async with aiohttp.ClientSession() as session:
        async with LocalApiServer() as box:
            headers = {"Authorization": f"Bearer {box.token()}"}
            answer = await session.get(f"{box.url}/apis/velero.io/v1/schedules?watch=1", headers=headers)
            assert answer.status == 200
        async with asyncio.timeout(120):
            assert await answer.read() == b""


async def test_a_client_that_goes_in_the_middle_of_a_watch_leaves_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def gone(_self: web.StreamResponse, _data: bytes) -> None:
        raise aiohttp.ClientConnectionResetError("Cannot write to closing transport")

    monkeypatch.setattr(web.StreamResponse, "write", gone)
    with TestCase().assertNoLogs(level=logging.WARNING):
        async with LocalApiServer(storage=new_storage()) as box, aiohttp.ClientSession() as session:
            box.storage.create(box.storage.kind("Schedule"), schedule("daily"), "velero")
            headers = {"Authorization": f"Bearer {box.token()}"}
            with suppress(aiohttp.ClientError):
                async with session.get(f"{box.url}{SCHEDULES}?watch=1", headers=headers) as answer:
                    await answer.read()


async def test_a_large_list_is_compressed_for_those_who_ask() -> None:
    async with LocalApiServer(storage=new_storage()) as box:
        for number in range(500):
            box.storage.create(box.storage.kind("Schedule"), schedule(f"s{number}"), "velero")
        headers = {"Authorization": f"Bearer {box.token()}"}
        async with aiohttp.ClientSession(headers=headers, auto_decompress=False) as session:
            async with session.get(box.url + SCHEDULES, headers={"Accept-Encoding": "gzip"}) as answer:
                small = await answer.read()
                assert answer.headers["Content-Encoding"] == "gzip"
            async with session.get(box.url + SCHEDULES, headers={"Accept-Encoding": "identity"}) as answer:
                large = await answer.read()
                assert "Content-Encoding" not in answer.headers
        assert len(json.loads(large)["items"]) == 500
        assert len(small) < len(large) / 5


async def test_a_watcher_that_falls_behind_is_told_to_list_again() -> None:
    async with LocalApiServer(storage=new_storage(history=10)) as box:
        headers = {"Authorization": f"Bearer {box.token()}"}
        start = box.storage.version
        for number in range(30):
            box.storage.create(box.storage.kind("Schedule"), schedule(f"s{number}"), "velero")
        async with aiohttp.ClientSession(headers=headers) as session:
            query = {"watch": "1", "resourceVersion": str(start), "timeoutSeconds": "60"}
            async with session.get(box.url + SCHEDULES, params=query) as answer:
                events = [json.loads(line) async for line in answer.content]
        assert [(event["type"], event["object"]["reason"]) for event in events] == [("ERROR", "Expired")]


async def test_a_controller_follows_a_kind_until_it_falls_behind_compaction() -> None:
    storage = new_storage()
    kind = storage.kind("Schedule")
    feed = storage.feed(kind, storage.version)
    storage.create(kind, schedule("one"), "velero")
    storage.patch(kind, "velero", "one", {"spec": {"paused": True}})
    assert [str((await anext(feed)).type) for _ in range(2)] == ["ADDED", "MODIFIED"]
    storage.create(kind, schedule("two"), "velero")
    storage.compact()
    with pytest.raises(ApiError, match="too old resource version") as refusal:
        await anext(feed)
    assert refusal.value.code == 410


def test_what_is_owned_goes_with_its_owner_and_after_it() -> None:
    storage = new_storage()
    schedules, backups = storage.kind("Schedule"), storage.kind("Backup")
    owner = storage.create(schedules, schedule("daily"), "velero")
    storage.create(backups, backup("owned", ownerReferences=owned_by(owner)), "velero")
    storage.create(backups, backup("free"), "velero")
    told: list[tuple[str, str]] = []

    def listener(kind: Kind, change: Change) -> None:
        told.append((str(change.type), change.body["metadata"]["name"]))

    stop = storage.subscribe(listener)
    storage.delete(schedules, "velero", "daily")
    assert told == [("DELETED", "daily"), ("DELETED", "owned")]
    assert [each["metadata"]["name"] for each in storage.list(backups)] == ["free"]
    stop()
    storage.delete(backups, "velero", "free")
    assert len(told) == 2


def test_an_object_with_two_owners_stays_until_the_last_is_gone() -> None:
    storage = new_storage()
    schedules, backups = storage.kind("Schedule"), storage.kind("Backup")
    first = storage.create(schedules, schedule("first"), "velero")
    second = storage.create(schedules, schedule("second"), "velero")
    storage.create(backups, backup("b", ownerReferences=owned_by(first, second)), "velero")
    storage.delete(schedules, "velero", "first")
    left = storage.get(backups, "velero", "b")
    assert left["metadata"]["ownerReferences"] == owned_by(second)
    storage.delete(schedules, "velero", "second")
    assert storage.find(backups, "velero", "b") is None


def test_orphaned_objects_stay_and_forget_their_owner() -> None:
    storage = new_storage()
    schedules, backups = storage.kind("Schedule"), storage.kind("Backup")
    owner = storage.create(schedules, schedule("daily"), "velero")
    storage.create(backups, backup("b", ownerReferences=owned_by(owner)), "velero")
    storage.delete(schedules, "velero", "daily", DeleteOptions(propagation="Orphan"))
    assert "ownerReferences" not in storage.get(backups, "velero", "b")["metadata"]


def test_a_namespace_goes_when_nothing_holds_what_is_in_it() -> None:
    storage = new_storage()
    namespaces, schedules = storage.kind("Namespace"), storage.kind("Schedule")
    storage.create(schedules, schedule("free"), "velero")
    storage.create(schedules, schedule("held", finalizers=["example.com/hold"]), "velero")
    storage.delete(namespaces, "", "velero")
    assert storage.get(namespaces, "", "velero")["status"] == {"phase": "Terminating"}
    assert [each["metadata"]["name"] for each in storage.list(schedules)] == ["held"]
    with pytest.raises(ApiError, match="because it is being terminated") as refusal:
        storage.create(schedules, schedule("late"), "velero")
    assert refusal.value.code == 403
    storage.patch(schedules, "velero", "held", {"metadata": {"finalizers": None}})
    assert storage.find(namespaces, "", "velero") is None


def test_controllers_meet_the_same_rules_as_clients() -> None:
    storage = new_storage()
    kind = storage.kind("Schedule")
    made = storage.create(kind, schedule("daily"), "velero")
    storage.patch_status(kind, "velero", "daily", {"phase": "Enabled"}, manager="velero-server")
    with pytest.raises(ApiError, match="the object has been modified") as stale:
        storage.update(kind, {**made, "spec": {**made["spec"], "paused": True}})
    assert (stale.value.code, stale.value.reason) == (409, "Conflict")
    with pytest.raises(ApiError, match="Unsupported value"):
        storage.patch_status(kind, "velero", "daily", {"phase": "Bogus"})
    current = storage.get(kind, "velero", "daily")
    updated = storage.update(kind, {**current, "spec": {**current["spec"], "paused": True}})
    assert (updated["status"], updated["metadata"]["generation"]) == ({"phase": "Enabled"}, 3)
    nabs = storage.kind("NonAdminBackup")
    storage.create(nabs, {"metadata": {"name": "n"}, "spec": {"backupSpec": {}}}, "velero")
    assert storage.patch_status(nabs, "velero", "n", {"phase": "New"})["metadata"]["generation"] == 1


def test_the_same_seed_makes_the_same_cluster() -> None:
    def cluster(seed: int) -> list[str]:
        storage = new_storage(seed=seed)
        made = [storage.create(storage.kind("Schedule"), schedule("", generateName="s-"), "velero") for _ in range(3)]
        return [text for each in made for text in (each["metadata"]["name"], each["metadata"]["uid"])]

    assert cluster(7) == cluster(7)
    assert cluster(7) != cluster(8)


def test_the_definitions_of_the_kinds_can_be_read() -> None:
    box = LocalApiServer()
    definition = box.storage.get(box.storage.kind("CustomResourceDefinition"), "", "backups.velero.io")
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert "queuePosition" in schema["properties"]["status"]["properties"]


# What kubectl 1.32 sent for `auth can-i patch schedules/daily -n velero` and for `create ns velero`.
CAN_I = (
    b'k8s\x00\n2\n\x17authorization.k8s.io/v1\x12\x17SelfSubjectAccessReview\x12Q\n\x10\n\x00\x12\x00\x1a\x00"\x00*\x002'
    b'\x008\x00B\x00\x123\n1\n\x06velero\x12\x05patch\x1a\x00"\x00*\x13schedules.velero.io2\x00:\x05daily\x1a\x08\x08\x00'
    b'\x12\x00\x1a\x00 \x00\x1a\x00"\x00'
)
CREATE_NS = (
    b'k8s\x00\n\x0f\n\x02v1\x12\tNamespace\x12\x1e\n\x16\n\x06velero\x12\x00\x1a\x00"\x00*\x002\x008\x00B\x00\x12\x00\x1a\x02'
    b'\n\x00\x1a\x00"\x00'
)


async def test_kubectl_is_understood_where_it_insists_on_protobuf() -> None:
    async with LocalApiServer() as box:
        headers = {"Authorization": f"Bearer {box.token()}", "Content-Type": "application/vnd.kubernetes.protobuf"}
        async with aiohttp.ClientSession(headers=headers) as session:
            review = f"{box.url}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
            async with session.post(review, data=CAN_I) as answer:
                body = await answer.json()
                assert (answer.status, body["status"]) == (201, {"allowed": True})
                assert body["spec"]["resourceAttributes"] == {
                    "namespace": "velero",
                    "verb": "patch",
                    "resource": "schedules.velero.io",
                    "name": "daily",
                }
            async with session.post(f"{box.url}/api/v1/namespaces", data=CREATE_NS) as answer:
                assert (await answer.json())["metadata"]["name"] == "velero"
            async with session.post(f"{box.url}/api/v1/namespaces", data=CREATE_NS[:20]) as answer:
                assert (answer.status, (await answer.json())["reason"]) == (400, "BadRequest")
            async with session.post(f"{box.url}/api/v1/namespaces/velero/configmaps", data=CREATE_NS) as answer:
                assert (answer.status, (await answer.json())["reason"]) == (415, "UnsupportedMediaType")
