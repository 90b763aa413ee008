"""The namespaces that a person can access: all at once, or a list."""

from __future__ import annotations

import asyncio
from itertools import compress

import msgspec

from foretop_core.kube.access.access_reviewer import AccessReviewer, AccessRules, permission
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import LIST_LIMIT, ListGuard, ended_within
from foretop_core.models.kinds import (
    ACKNOWLEDGEMENTS,
    CONFIG_MAP,
    DAEMON_SET,
    DEFINITION,
    DEPLOYMENT,
    NAMESPACE,
    NODE_AGENT,
    NODE_AGENT_CONFIG,
    POD,
    SNAPSHOT_CLASS,
    SNAPSHOT_LOCATION,
    STORAGE_CLASS,
    Kind,
    RequiredPermission,
)
from foretop_core.rules.build_snapshot import BACKUP_DEFINITION
from foretop_core.rules.velero_deployment import OADP_DEPLOYMENT, VELERO_DEPLOYMENT

_NAMESPACES = "/api/v1/namespaces"
_PROJECTS = "/apis/project.openshift.io/v1/projects"
_CHUNK = "500"
EVERYWHERE = ("",)
WATCHED_NAMES: dict[Kind, tuple[str, ...]] = {
    DEPLOYMENT: (VELERO_DEPLOYMENT, OADP_DEPLOYMENT),
    DEFINITION: (BACKUP_DEFINITION,),
    CONFIG_MAP: (ACKNOWLEDGEMENTS,),
}
"""Of these kinds only the objects of these names are read: a cluster has thousands."""
READ_VERBS = ("get", "list", "watch")
NAMESPACE_READS = tuple(RequiredPermission(verb, NAMESPACE) for verb in READ_VERBS)
"""For persons who may see all namespaces; the others name theirs with -n."""

NODE_AGENT_READS = (
    RequiredPermission("get", DAEMON_SET, names=(NODE_AGENT,)),
    RequiredPermission("get", CONFIG_MAP, names=(NODE_AGENT_CONFIG,)),
)
"""For how many volumes a node moves at once."""

DECIDING_READS = (
    RequiredPermission("get", CONFIG_MAP),
    RequiredPermission("list", SNAPSHOT_LOCATION),
)
"""Beside Velero, for what the next run takes of volumes: its resource policies are ConfigMaps of any name."""
DECIDING_READS_EVERYWHERE = (
    RequiredPermission("list", STORAGE_CLASS),
    RequiredPermission("list", SNAPSHOT_CLASS),
    RequiredPermission("list", POD),
)
"""For the same, in the whole cluster."""

CLUSTER_READ = RequiredPermission("get", NAMESPACE, names=("kube-system",))
"""For the uid that distinguishes a cluster from others."""


def watch_permissions(kind: Kind) -> tuple[RequiredPermission, ...]:
    """The permissions to watch a kind and to show its objects as the server has them."""
    return tuple(RequiredPermission(verb, kind, names=WATCHED_NAMES.get(kind, ())) for verb in READ_VERBS)


class AccessibleNamespaces(msgspec.Struct, frozen=True):
    """The namespaces to watch a kind in; `chosen` when a person said so, and it is never to be looked at again.

    `missing` are namespaces that a person named and that are not there; `guessed` says that nobody could tell which
    ones may be seen.
    """

    namespaces: tuple[str, ...]
    chosen: bool = False
    missing: tuple[str, ...] = ()
    guessed: bool = False


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    next_chunk: str | None = msgspec.field(default=None, name="continue")


class _Named(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _NamedList(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[_Named] | None = None


async def accessible_namespaces(
    client: ApiClient, access: AccessReviewer, kind: Kind, given: tuple[str, ...]
) -> AccessibleNamespaces:
    """The namespaces given; else all, where they may be listed at once; else those that the person may see."""
    if given:
        return AccessibleNamespaces(given, chosen=True)
    if await _may_list_everywhere(client, access, kind):
        return AccessibleNamespaces(EVERYWHERE)
    own = client.config.namespace
    visible = await visible_namespaces(client)
    verdicts = await asyncio.gather(*(_may_list(access, kind, name) for name in visible))
    allowed = tuple(sorted(compress(visible, verdicts)))
    return AccessibleNamespaces(allowed or (own,), guessed=not allowed)


async def visible_namespaces(client: ApiClient, limit: float = LIST_LIMIT) -> tuple[str, ...]:
    """Every namespace, or every OpenShift project of the person, or none that can be told."""
    for path in (_NAMESPACES, _PROJECTS):
        async with ended_within(limit):
            names = await _names(client, path)
        if names is not None:
            return names
    return ()


async def _names(client: ApiClient, path: str) -> tuple[str, ...] | None:
    names: list[str] = []
    params = {"limit": _CHUNK}
    guard = ListGuard()
    while True:
        try:
            response = await client.request("GET", path, params)
        except ApiError as problem:
            if problem.status in (403, 404):
                return None
            raise
        page = response.read(_NamedList)
        names += [item.metadata.name for item in page.items or []]
        guard.check(len(page.items or []), page.metadata.next_chunk or "")
        if not page.metadata.next_chunk:
            return tuple(names)
        params = {"limit": _CHUNK, "continue": page.metadata.next_chunk}


async def _may_list_everywhere(client: ApiClient, access: AccessReviewer, kind: Kind) -> bool:
    names = WATCHED_NAMES.get(kind, ("",))
    verdicts = [await access.verdict(permission("list", kind, name=name)) for name in names]
    if all(verdict.known for verdict in verdicts):
        return all(verdict.allowed for verdict in verdicts)
    named = {"fieldSelector": f"metadata.name={names[0]}"} if names[0] else {}
    try:
        await client.request("GET", api_paths.collection(kind), {"limit": "1", **named})
    except ApiError as problem:
        return problem.status != 403
    return True


async def _may_list(access: AccessReviewer, kind: Kind, namespace: str) -> bool:
    """One review for each namespace serves all kinds; rules that are incomplete are left to the attempt."""
    rules = await access.rules(namespace)
    return rules.incomplete or may_list(rules, kind)


def may_list(rules: AccessRules, kind: Kind) -> bool:
    """True if the objects of a kind that are watched may be listed."""
    return rules.allow("list", kind.group, kind.plural, WATCHED_NAMES.get(kind, ()))
