"""The pods of servers that are down are held in the store until the server is back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from foretop_core.clock import ManualClock
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.session import CrashedServers
from tests.objects import NOW
from tests.wire.scripted_api import ScriptedApi, client_of


class Kept:
    """A store of pods that notes in which order it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.pods: dict[ObjectRef, Resource | None] = {}

    def hold(self, key: ObjectRef) -> None:
        self.told.append(f"hold {key.namespace}/{key.name}")

    def release(self, key: ObjectRef, at: datetime) -> None:
        self.told.append(f"release {key.namespace}/{key.name}")
        del self.pods[key]

    def put(self, key: ObjectRef, after: Resource | None, at: datetime) -> None:
        assert at == NOW
        self.pods[key] = after


def pods(*items: dict[str, Any]) -> dict[str, object]:
    return {"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": list(items)}


def server(namespace: str, reason: str) -> dict[str, Any]:
    waiting = {"name": "velero", "ready": False, "restartCount": 5, "state": {"waiting": {"reason": reason}}}
    return {
        "metadata": {"name": f"velero-{namespace}", "namespace": namespace, "labels": {"deploy": "velero"}},
        "spec": {"containers": [{"name": "velero"}]},
        "status": {"phase": "Running", "containerStatuses": [waiting]},
    }


async def test_the_pod_of_a_server_that_is_down_is_held_until_it_is_back() -> None:
    unreadable: dict[str, Any] = {"metadata": {"name": "odd"}, "spec": 7}
    path = "/api/v1/namespaces/{}/pods"
    api = ScriptedApi(
        {
            path.format("a"): pods({"metadata": {}}, unreadable, server("a", "CrashLoopBackOff")),
            path.format("b"): pods(server("b", "CrashLoopBackOff")),
            path.format("c"): 403,
            path.format("d"): {"kind": "PodList", "items": None},
            path.format("e"): pods(server("e", "ContainerCreating")),
        }
    )
    kept = Kept()
    async with client_of(api) as client:
        crashed = CrashedServers(client, kept, ManualClock(NOW))
        await crashed.look("abcde")
        assert sorted(kept.told) == ["hold a/velero-a", "hold b/velero-b"]
        assert sorted(key.namespace for key in kept.pods) == ["a", "b"]
        kept.told.clear()
        api.answers[path.format("b")] = pods()
        await crashed.look("abcde")
        assert kept.told == ["release b/velero-b"]
        assert [key.namespace for key in kept.pods] == ["a"]
        await crashed.look("")
        assert kept.told == ["release b/velero-b", "release a/velero-a"]
    assert api.asked[0] == "GET /api/v1/namespaces/a/pods?limit=200"
