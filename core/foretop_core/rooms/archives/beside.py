"""Reads of what foretop does not watch: what decides about volumes, and how many of them a node moves at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.access.deciding_reads import policy_names
from foretop_core.kube.access.node_agents import config_name
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import ListGuard, read_page
from foretop_core.kube.watching.watch_sink import WatchScope, WatchState
from foretop_core.models.builtin_kinds import DaemonSet
from foretop_core.models.kinds import (
    CONFIG_MAP,
    DAEMON_SET,
    NODE_AGENT,
    POD,
    SNAPSHOT_CLASS,
    SNAPSHOT_LOCATION,
    STORAGE_CLASS,
    Kind,
)
from foretop_core.models.wire import decode
from foretop_core.rules.snapshot import ClusterSnapshot

_CHUNK = "500"
_LISTS = (SNAPSHOT_LOCATION, STORAGE_CLASS, SNAPSHOT_CLASS, POD)
SEEN = frozenset({WatchState.LIVE, WatchState.NOT_INSTALLED})
"""The states of a watch whose objects are all known."""

RawObjects: TypeAlias = dict[tuple[Kind, str, str], dict[str, Any]]
"""Objects as the API server sent them, by kind, namespace and name."""


class Beside(msgspec.Struct):
    """Objects, the lists that they are from, and what could not be had."""

    objects: RawObjects = {}
    listed: set[tuple[Kind, str]] = set()
    problems: list[ForetopError] = []


async def read_beside(client: ApiClient, snapshot: ClusterSnapshot) -> Beside:
    """One read of all of it."""
    found = Beside()
    for kind in _LISTS:
        for namespace in snapshot.velero_namespaces if kind is SNAPSHOT_LOCATION else ("",):
            await add_list(client, WatchScope(snapshot.context, kind, namespace), found)
    for namespace in snapshot.velero_namespaces:
        agents = await _add_item(client, DAEMON_SET, namespace, NODE_AGENT, found)
        for name in sorted({*_configs(agents), *policy_names(snapshot, namespace)}):
            await _add_item(client, CONFIG_MAP, namespace, name, found)
    return found


async def add_list(client: ApiClient, scope: WatchScope, found: Beside) -> None:
    try:
        items = await _listed(client, scope)
    except ForetopError as problem:
        found.problems.append(problem)
        return
    found.listed.add((scope.kind, scope.namespace))
    found.objects |= {key_of(scope.kind, item): item for item in items}


def key_of(kind: Kind, item: Mapping[str, Any]) -> tuple[Kind, str, str]:
    meta = item.get("metadata") or {}
    return kind, str(meta.get("namespace", "")), str(meta.get("name", ""))


def without_repeats(scopes: Iterable[WatchScope]) -> Iterator[WatchScope]:
    """Each list once, without the tasks that have a health and no objects."""
    seen: set[tuple[Kind, str, str]] = set()
    for scope in scopes:
        place = scope.kind, scope.namespace, scope.fields
        if place not in seen and not scope.selector and (not scope.fields or "=" in scope.fields):
            seen.add(place)
            yield scope


async def _listed(client: ApiClient, scope: WatchScope) -> list[dict[str, Any]]:
    """All objects of a scope, in pages; a kind that is not installed has none."""
    kind, guard, chunk = scope.kind, ListGuard(), ""
    selectors = {"labelSelector": scope.selector, "fieldSelector": scope.fields}
    items: list[dict[str, Any]] = []
    while True:
        params = {"limit": _CHUNK, "continue": chunk, **selectors}
        try:
            answer = await client.request(
                "GET",
                api_paths.collection(kind, scope.namespace),
                {name: text for name, text in params.items() if text},
            )
        except ApiError as problem:
            if problem.status == 404:
                return []
            raise
        page = read_page(answer.body, kind)
        raws = page.items or []
        items += [{"apiVersion": kind.api_version, "kind": kind.name, **msgspec.json.decode(raw)} for raw in raws]
        chunk = page.metadata.next_chunk or ""
        guard.check(len(raws), chunk)
        if not chunk:
            return items


async def _add_item(client: ApiClient, kind: Kind, namespace: str, name: str, found: Beside) -> dict[str, Any] | None:
    """The object, where there is one."""
    try:
        item = (await client.request("GET", api_paths.item(kind, namespace, name))).read(dict[str, Any])
    except ApiError as problem:
        if problem.status != 404:
            found.problems.append(problem)
        return None
    found.objects[kind, namespace, name] = whole = {"apiVersion": kind.api_version, "kind": kind.name, **item}
    return whole


def _configs(agents: dict[str, Any] | None) -> Iterator[str]:
    """The ConfigMap that the node agents read."""
    try:
        yield config_name(decode(DaemonSet, msgspec.json.encode(agents)) if agents else None)
    except Unreadable:
        return
