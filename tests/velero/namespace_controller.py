"""A stand-in for the controller that finishes deleting namespaces; an API server alone leaves them Terminating."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from tests.real.cluster import RealCluster

_PAUSE = 0.2
_NOT_FINALIZED = {"metadata": {"finalizers": None}}
_AT_ONCE = {"gracePeriodSeconds": 0, "propagationPolicy": "Background"}
Raw = dict[str, Any]


class NamespaceController:
    """Empties each namespace that is being deleted, whatever its finalizers say, and finalizes it."""

    def __init__(self, api_server: RealCluster) -> None:
        self._api = api_server.api("admin")
        self._collections = tuple(self._namespaced())
        self.deleted: dict[str, list[Raw]] = {}
        """By namespace what was in it when it was deleted."""
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join(60)
        self._api.close()

    def _work(self) -> None:
        while not self._ends.wait(_PAUSE):
            for namespace in self._api.get("/api/v1/namespaces").expect(200)["items"]:
                if "deletionTimestamp" in namespace["metadata"]:
                    self._finish(namespace)

    def _finish(self, namespace: Raw) -> None:
        name = namespace["metadata"]["name"]
        self.deleted[name] = []
        for root, resource, kind in self._collections:
            path = f"{root}/namespaces/{name}/{resource}"
            for item in self._api.get(path).expect(200)["items"]:
                self.deleted[name].append({"kind": kind, **item})
                place = f"{path}/{item['metadata']['name']}"
                if item["metadata"].get("finalizers"):
                    self._api.patch(place, _NOT_FINALIZED).expect(200, 404)
                self._api.request("DELETE", place, _AT_ONCE).expect(200, 202, 404)
        namespace["spec"]["finalizers"] = []
        self._api.put(f"/api/v1/namespaces/{name}/finalize", namespace).expect(200, 404, 409)

    def _namespaced(self) -> Iterator[tuple[str, str, str]]:
        """Where each kind with namespaces is listed, in the version that its group prefers."""
        groups = self._api.get("/apis").expect(200)["groups"]
        for root in ("/api/v1", *(f"/apis/{group['preferredVersion']['groupVersion']}" for group in groups)):
            for found in self._api.get(root).expect(200)["resources"]:
                if found["namespaced"] and {"list", "delete"} <= set(found["verbs"]):
                    yield root, found["name"], found["kind"]
