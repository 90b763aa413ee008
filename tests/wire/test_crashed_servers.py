"""The pods of servers that are down are held in the store until the server is back."""

from __future__ import annotations

from typing import Any

from foretop_core.clock import ManualClock
from foretop_core.models.wire import ObjectRef
from foretop_core.session import CrashedServers
from foretop_core.store import Store
from tests.objects import NOW
from tests.wire.scripted_api import ScriptedApi, client_of


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
    store = Store()
    async with client_of(api) as client:

        def held() -> list[str]:
            return sorted(f"{key.namespace}/{key.name}" for key, _ in store.items(client.config.name, "Pod"))

        crashed = CrashedServers(client, store, ManualClock(NOW))
        await crashed.look("abcde")
        assert held() == ["a/velero-a", "b/velero-b"]
        watched = ObjectRef(client.config.name, "Pod", "b", "velero-b")
        store.hold(watched)
        api.answers[path.format("b")] = pods()
        await crashed.look("abcde")
        assert held() == ["a/velero-a", "b/velero-b"], "a watch sees it too"
        store.release(watched, NOW)
        assert held() == ["a/velero-a"]
        await crashed.look("")
        assert held() == []
    assert api.asked[0] == "GET /api/v1/namespaces/a/pods?limit=200"
