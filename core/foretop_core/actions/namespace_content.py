"""A look at what is in a namespace already, before something is restored into it."""

from __future__ import annotations

import asyncio

import msgspec

from foretop_core.errors import ForetopError
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.rules import humanize

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
        found = ", ".join(f"{number:,} {kind if number != 1 else kind[:-1]}" for kind, number in self.counts)
        hidden = f"not visible: {humanize.join(self.unseen, len(self.unseen))}" if self.unseen else ""
        seen = found or ("nothing visible" if self.unseen else "empty")
        return f"{seen} ({hidden})" if hidden else seen


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
