"""The search for Velero: by its Deployment, by its storage, by the usual names, and what a refusal leaves open."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.kube.access.find_velero import find_velero
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import DEPLOYMENT, STORAGE
from tests.wire.scripted_api import ScriptedApi, client_of, listed

DEPLOYMENTS, LOCATIONS = "/apis/apps/v1/deployments", "/apis/velero.io/v1/backupstoragelocations"
UNREADABLE: dict[str, Any] = {"metadata": {"name": "velero", "namespace": "odd"}, "spec": 7}


def deployment(namespace: str) -> dict[str, Any]:
    containers = [{"name": "velero", "image": "velero/velero:v1.18.3", "args": ["server"]}]
    meta = {"name": "velero", "namespace": namespace}
    return {"metadata": meta, "spec": {"template": {"spec": {"containers": containers}}}}


def locations(*namespaces: str) -> dict[str, object]:
    return listed(STORAGE, *({"metadata": {"name": "default", "namespace": name}} for name in namespaces))


def server_in(namespace: str) -> str:
    return f"/apis/apps/v1/namespaces/{namespace}/deployments/velero"


async def found(api: ScriptedApi, *given: str) -> list[tuple[str, bool, bool]]:
    """By namespace, whether the server is known, and whether there is a Deployment as far as one can tell."""
    async with client_of(api, namespace="own") as client:
        servers = await find_velero(client, given)
    return [(one.namespace, one.known is not None, one.has_deployment) for one in servers]


async def test_deployments_of_all_namespaces_come_first_and_in_order() -> None:
    api = ScriptedApi({DEPLOYMENTS: listed(DEPLOYMENT, deployment("second"), UNREADABLE, deployment("adp"))})
    assert await found(api) == [("adp", True, True), ("second", True, True)]
    assert api.asked == [f"GET {DEPLOYMENTS}?fieldSelector=metadata.name%3Dvelero"]


async def test_namespaces_that_are_given_are_the_only_ones_looked_at() -> None:
    api = ScriptedApi({DEPLOYMENTS: listed(DEPLOYMENT, deployment("adp")), server_in("b"): deployment("b")})
    assert await found(api, "b", "a", "b") == [("a", False, False), ("b", True, True)]
    assert api.asked == [f"GET {server_in('a')}", f"GET {server_in('b')}"]


@pytest.mark.parametrize("answer", [403, 404, {**listed(DEPLOYMENT), "items": None}])
async def test_without_deployments_storage_shows_where_velero_is(answer: object) -> None:
    nameless = {"metadata": {"namespace": "odd"}}
    stored = locations("b", "a", "b")
    stored["items"] = [nameless, *stored["items"]]  # type: ignore[misc]
    api = ScriptedApi({DEPLOYMENTS: answer, LOCATIONS: stored, server_in("a"): 403, server_in("b"): UNREADABLE})
    assert await found(api) == [("a", False, True), ("b", False, True)]


@pytest.mark.parametrize("answer", [403, 404, {**locations(), "items": None}])
async def test_with_nothing_to_go_by_the_usual_names_are_tried_and_only_a_server_is_found(answer: object) -> None:
    api = ScriptedApi({DEPLOYMENTS: 403, LOCATIONS: answer, server_in("velero"): 403})
    assert await found(api) == []
    assert sorted(api.asked[2:]) == [f"GET {server_in(name)}" for name in ("openshift-adp", "own", "velero")]
    api.answers[server_in("own")] = deployment("own")
    assert await found(api) == [("own", True, True)]


@pytest.mark.parametrize("code", [400, 405, 500])
@pytest.mark.parametrize("path", [DEPLOYMENTS, LOCATIONS, server_in("velero")])
async def test_a_search_that_fails_finds_nothing_instead_of_no_velero(path: str, code: int) -> None:
    with pytest.raises(ApiError, match="refused by the test"):
        await found(ScriptedApi({DEPLOYMENTS: 403, LOCATIONS: 403, path: code}))
