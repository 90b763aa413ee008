"""The pods of servers that are down: they are read once and again, not watched, and only until the server is back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

import msgspec

from foretop_core.clock import Clock
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.list_watch_codec import ListPage, read_object
from foretop_core.models import Pod, Resource
from foretop_core.models.kinds import POD
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.velero_pods import failing_server

LOOK_AGAIN = 60.0
"""Seconds, while a server is down."""
_MOST = "200"


class PodStore(Protocol):
    """The part of the store that they are kept in."""

    def hold(self, key: ObjectRef) -> None: ...

    def release(self, key: ObjectRef, at: datetime) -> None: ...

    def put(self, key: ObjectRef, after: Resource | None, at: datetime) -> None: ...


class CrashedServers:
    """The failing pods of one cluster's servers; none, without a word, where pods may not be listed."""

    def __init__(self, client: ApiClient, store: PodStore, clock: Clock) -> None:
        self._client = client
        self._store = store
        self._clock = clock
        self._held: dict[ObjectRef, Pod] = {}

    async def look(self, namespaces: Iterable[str]) -> None:
        """One list for each server that is down; the pods of those that are back are let go."""
        found: dict[ObjectRef, Pod] = {}
        for namespace in namespaces:
            if (pod := failing_server(await self._pods(namespace), namespace)) is not None:
                found[ObjectRef(self._client.config.name, POD.name, namespace, pod.name)] = pod
        now = self._clock.now()
        for key in self._held.keys() - found.keys():
            self._store.release(key, now)
        for key in found.keys() - self._held.keys():
            self._store.hold(key)
        self._held = found
        for key, pod in found.items():
            self._store.put(key, pod, now)

    async def _pods(self, namespace: str) -> list[Pod]:
        try:
            answer = await self._client.request("GET", api_paths.collection(POD, namespace), {"limit": _MOST})
            return [pod for raw in answer.read(ListPage).items or () if isinstance(pod := _readable(raw), Pod)]
        except ForetopError:
            return []


def _readable(raw: msgspec.Raw) -> Resource | None:
    try:
        return read_object(POD, raw)
    except Unreadable:
        return None
