"""Reads of what is not watched, from the API server: movements, events, what a namespace has, fields it serves."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec

from foretop_core.errors import ForetopError
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import read_object, read_page
from foretop_core.models import Backup, DataMovement, Resource, Restore
from foretop_core.models.kinds import EVENT, MOVEMENTS_OF, Kind
from foretop_core.models.movement import label_value
from foretop_core.rules import humanize


async def movements_of(client: ApiClient, run: Backup | Restore) -> tuple[DataMovement, ...]:
    """Lists the movements of a run, also of one that has ended; a kind that is not installed has none."""
    label, kinds = MOVEMENTS_OF[type(run).__name__]
    selector = {"labelSelector": f"{label}={label_value(run.name)}"}
    resources = [item for kind in kinds for item in await _listed(client, kind, run.namespace, selector)]
    return tuple(item for item in resources if isinstance(item, DataMovement))


async def events_of(client: ApiClient, resource: Resource) -> tuple[Resource, ...]:
    fields = {"fieldSelector": f"involvedObject.uid={resource.metadata.uid}"}
    return tuple(await _listed(client, EVENT, resource.namespace, fields))


async def _listed(client: ApiClient, kind: Kind, namespace: str, params: dict[str, str]) -> list[Resource]:
    try:
        answer = await client.request("GET", api_paths.collection(kind, namespace), params)
    except ApiError as problem:
        if problem.status == 404:
            return []
        raise
    return [read_object(kind, raw) for raw in read_page(answer.body, kind).items or []]


LOOKED_AT = {
    "deployments": "/apis/apps/v1",
    "statefulsets": "/apis/apps/v1",
    "cronjobs": "/apis/batch/v1",
    "pods": "/api/v1",
    "services": "/api/v1",
    "configmaps": "/api/v1",
    "persistentvolumeclaims": "/api/v1",
}
"""The kinds that tell whether a namespace is in use, each with its API; Secrets are not read."""


class _Meta(msgspec.Struct, rename="camel"):
    remaining_item_count: int = 0


class _Counted(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[msgspec.Raw] | None = None


class ExistingObjects(msgspec.Struct, frozen=True):
    """How many objects of each kind a namespace has; `unseen` are the kinds that could not be listed."""

    counts: tuple[tuple[str, int], ...] = ()
    unseen: tuple[str, ...] = ()

    def __str__(self) -> str:
        counted = ", ".join(f"{number:,} {kind if number != 1 else kind[:-1]}" for kind, number in self.counts)
        hidden = f"not visible: {humanize.join(self.unseen, len(self.unseen))}" if self.unseen else ""
        visible = counted or ("nothing visible" if self.unseen else "it looks empty")
        return f"{visible} ({hidden})" if hidden else visible


async def existing_objects(client: ApiClient, namespace: str) -> ExistingObjects:
    """One small list for each kind; a kind that the cluster does not serve has no objects."""
    numbers: dict[str, int | None] = {}

    async def count(kind: str, root: str) -> None:
        numbers[kind] = await _count(client, root, namespace, kind)

    await asyncio.gather(*(count(kind, root) for kind, root in LOOKED_AT.items()))
    return ExistingObjects(
        tuple((kind, number) for kind in LOOKED_AT if (number := numbers[kind])),
        tuple(kind for kind in LOOKED_AT if numbers[kind] is None),
    )


async def _count(client: ApiClient, root: str, namespace: str, kind: str) -> int | None:
    try:
        answer = await client.request("GET", f"{root}/namespaces/{namespace}/{kind}", {"limit": "1"})
        page = answer.read(_Counted)
    except ApiError as problem:
        return 0 if problem.status == 404 else None
    except ForetopError:
        return None
    return len(page.items or ()) + page.metadata.remaining_item_count


class _Components(msgspec.Struct):
    schemas: dict[str, Any] = {}


class _Document(msgspec.Struct):
    components: _Components = msgspec.field(default_factory=_Components)


async def serves_field(client: ApiClient, kind: Kind, path: Iterable[str]) -> bool:
    """True if the served schema of a kind has this field; the document is there for everybody who has signed in."""
    try:
        answer = await client.request("GET", f"/openapi/v3/apis/{kind.group}/{kind.version}")
    except ApiError as problem:
        if problem.status in (403, 404):
            return False
        raise
    try:
        schemas = answer.read(_Document).components.schemas
    except ApiError:
        return False
    part = next((schema for schema in schemas.values() if _is_of(schema, kind)), None)
    for name in path:
        fields = part.get("properties") if isinstance(part, dict) else None
        part = fields.get(name) if isinstance(fields, dict) else None
    return part is not None


def _is_of(schema: object, kind: Kind) -> bool:
    marks = schema.get("x-kubernetes-group-version-kind") if isinstance(schema, dict) else None
    named = [mark for mark in marks if isinstance(mark, dict)] if isinstance(marks, list) else []
    return any((mark.get("group"), mark.get("kind")) == (kind.group, kind.name) for mark in named)
