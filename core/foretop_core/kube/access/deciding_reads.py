"""Reads of all that decides what the next runs take of volumes, beside one Velero server and in its cluster.

They are lists that are read once and again while somebody looks, and no watches: they change seldom.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection
from typing import TypeVar

from msgspec.structs import replace

from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import ListGuard, read_object, read_page
from foretop_core.models import Pod, Resource
from foretop_core.models.builtin_kinds import (
    ConfigMap,
    Container,
    PodSpec,
    PodStatus,
    StorageClass,
    VolumeSnapshotClass,
)
from foretop_core.models.kinds import (
    CONFIG_MAP,
    NODE_AGENT,
    POD,
    SNAPSHOT_CLASS,
    SNAPSHOT_LOCATION,
    STORAGE_CLASS,
    Kind,
)
from foretop_core.models.sharing import SharedParts
from foretop_core.models.velero import VolumeSnapshotLocation
from foretop_core.models.wire import Metadata, decode
from foretop_core.rules.protection.coverage import resource_policy
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.volumes.run_plan import NAMES_VOLUMES, Deciders

R = TypeVar("R", bound=Resource)
_CHUNK = "500"
_MOST_POLICIES = 100
"""ConfigMaps that are read for one server; what no template of a cluster has reached."""
_NAMES = {
    SNAPSHOT_LOCATION: "VolumeSnapshotLocations",
    STORAGE_CLASS: "StorageClasses",
    SNAPSHOT_CLASS: "VolumeSnapshotClasses",
    POD: "pods",
}
_AGENTS = "node agents"
_CONFIG_MAPS = "ConfigMaps"


def policy_names(snapshot: ClusterSnapshot, namespace: str) -> set[str]:
    """The ConfigMaps that templates, backups and the flags of one server name."""
    schedules, backups = snapshot.schedules_by_namespace, snapshot.backups_by_namespace
    flags = snapshot.server(namespace).volume_flags
    names = {resource_policy(one.spec.template) for one in schedules.get(namespace, ())}
    names |= {resource_policy(one.spec) for one in backups.get(namespace, ()) if one.spec.resource_policy}
    names |= {flags.volume_policies} if flags is not None else set()
    return names - {""}


async def read_deciders(
    client: ApiClient, namespace: str, policies: Collection[str], known: Deciders | None = None
) -> Deciders:
    """All of it, with the reasons for what may not be read; `policies` are the ConfigMaps that templates name.

    Beside what is `known` only those are read anew that may have a run refused: policies and snapshot locations.
    """
    unread: dict[str, str] = {}

    async def listed(kind: Kind, model: type[R], where: str = "", labels: str = "", what: str = "") -> list[R] | None:
        try:
            return await _listed(client, kind, model, where, labels)
        except (ForetopError, Unreadable) as problem:
            name = what or _NAMES[kind]
            unread[name] = _reason(problem, f"list {kind.plural}", where, name)
            return None

    async def config_maps() -> dict[str, ConfigMap | None]:
        found: dict[str, ConfigMap | None] = {}
        for name in sorted(policies)[:_MOST_POLICIES]:
            try:
                answer = await client.request("GET", api_paths.item(CONFIG_MAP, namespace, name))
                found[name] = decode(ConfigMap, answer.body)
            except (ForetopError, Unreadable) as problem:
                if isinstance(problem, ApiError) and problem.status == 404:
                    found[name] = None
                else:
                    unread[_CONFIG_MAPS] = _reason(problem, f"get configmaps {name}", namespace, f"ConfigMap {name}")
        return found

    if known is not None:
        some, maps = await asyncio.gather(listed(SNAPSHOT_LOCATION, VolumeSnapshotLocation, namespace), config_maps())
        read = (_CONFIG_MAPS, _NAMES[SNAPSHOT_LOCATION])
        kept = {what: why for what, why in known.unread.items() if what not in read}
        places = None if some is None else tuple(some)
        return replace(known, config_maps=maps, locations=places, unread={**kept, **unread})
    locations, classes, snapshot_classes, agents, pods, maps = await asyncio.gather(
        listed(SNAPSHOT_LOCATION, VolumeSnapshotLocation, namespace),
        listed(STORAGE_CLASS, StorageClass),
        listed(SNAPSHOT_CLASS, VolumeSnapshotClass),
        listed(POD, Pod, namespace, f"role={NODE_AGENT}", _AGENTS),
        listed(POD, Pod),
        config_maps(),
    )
    return Deciders(
        namespace,
        config_maps=maps,
        locations=None if locations is None else tuple(locations),
        storage_classes=None if classes is None else {item.name: item for item in classes},
        snapshot_classes=None if snapshot_classes is None else tuple(snapshot_classes),
        agent_nodes=None
        if agents is None
        else frozenset(pod.spec.node_name for pod in agents if pod.phase == "Running"),
        has_ready_agent=agents is None or any(map(_is_ready, agents)),
        pods=None if pods is None else _by_namespace(pods),
        unread=unread,
    )


async def _listed(client: ApiClient, kind: Kind, model: type[R], namespace: str, labels: str) -> list[R]:
    """The objects of a kind, in pages; a kind that is not installed has none. Raises Unreadable."""
    found: list[R] = []
    chunk, guard = "", ListGuard()
    while True:
        params = {"limit": _CHUNK} | ({"labelSelector": labels} if labels else {})
        try:
            answer = await client.request(
                "GET", api_paths.collection(kind, namespace), params | ({"continue": chunk} if chunk else {})
            )
        except ApiError as problem:
            if problem.status == 404:
                return []
            raise
        page = read_page(answer.body, kind)
        for raw in page.items or ():
            item = read_object(kind, raw)
            if isinstance(item, model) and (not isinstance(item, Pod) or labels or _mounts_claims(item)):
                found.append(item)
        chunk = page.metadata.next_chunk or ""
        guard.check(len(page.items or ()), chunk)
        if not chunk:
            return found


def _is_ready(agent: Pod) -> bool:
    statuses = agent.status.container_statuses
    return agent.phase == "Running" and bool(statuses) and all(one.ready for one in statuses)


def _mounts_claims(pod: Pod) -> bool:
    return any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)


def _by_namespace(pods: list[Pod]) -> dict[str, tuple[Pod, ...]]:
    grouped: defaultdict[str, list[Pod]] = defaultdict(list)
    shared = SharedParts()
    for pod in pods:
        grouped[pod.namespace].append(shared.share(_what_decides(pod)))
    return {namespace: tuple(held) for namespace, held in grouped.items()}


def _what_decides(pod: Pod) -> Pod:
    """A pod without its version and all else that a run does not look at: one that was restarted is equal still."""
    meta = pod.metadata
    volumes = tuple(one for one in pod.spec.volumes if one.persistent_volume_claim is not None)
    names = {one.name for one in volumes}
    return Pod(
        metadata=Metadata(
            name=meta.name,
            namespace=meta.namespace,
            creation_timestamp=meta.creation_timestamp,
            deletion_timestamp=meta.deletion_timestamp,
            labels=meta.labels,
            annotations={key: text for key in NAMES_VOLUMES if (text := pod.annotation(key))},
        ),
        spec=PodSpec(
            node_name=pod.spec.node_name,
            containers=tuple(
                Container(
                    volume_mounts=tuple(mount for mount in one.volume_mounts if mount.name in names),
                    volume_devices=tuple(device for device in one.volume_devices if device.name in names),
                )
                for one in pod.spec.containers
            ),
            volumes=volumes,
        ),
        status=PodStatus(phase=pod.phase),
    )


def _reason(problem: Exception, right: str, namespace: str, what: str) -> str:
    if isinstance(problem, ApiError) and problem.status == 403:
        return problem.lacks(f"{right}{f' in {namespace}' if namespace else ''}", what)
    return f"{what} could not be read: {problem}"
