"""The quotas around a drill: those of the namespace that is drilled, and those that the cluster puts into its copy."""

from __future__ import annotations

from typing import Any

import msgspec

from foretop_core.errors import ForetopError
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.models.kinds import RESOURCE_QUOTA
from foretop_core.models.wire import Metadata
from foretop_core.rules import humanize

_STORAGE = "requests.storage"


class ResourceQuota(msgspec.Struct):
    """A quota with what it allows and what it counts."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    status: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)

    @property
    def used(self) -> dict[str, Any]:
        return self.status.get("used", {})

    def __str__(self) -> str:
        hard = self.status.get("hard", {})
        parts = [f"{name} {self.used.get(name, '0')} of {most}" for name, most in hard.items()]
        return f"{self.metadata.name} ({', '.join(parts) or 'not counted yet'})"


class _QuotaList(msgspec.Struct):
    items: list[ResourceQuota] | None = None


async def quotas_of(client: ApiClient, namespace: str) -> list[ResourceQuota]:
    """None of them where they may not be read."""
    try:
        answer = await client.request("GET", api_paths.collection(RESOURCE_QUOTA, namespace))
        return answer.read(_QuotaList).items or []
    except ForetopError:
        return []


def quota_sentence(namespace: str, quotas: list[ResourceQuota]) -> str:
    """What the quotas of the namespace that is drilled mean for the drill; "" where it has none.

    A drill restores neither quotas nor limit ranges, and starts no pod: only volumes take room.
    """
    if not quotas:
        return ""
    names = humanize.join([one.metadata.name for one in quotas])
    lead = f"The quota {names} of {namespace} is" if len(quotas) == 1 else f"The quotas {names} of {namespace} are"
    taken = next((used for one in quotas if (used := one.used.get(_STORAGE))), "")
    room = f"; its volumes take up to {taken} of storage once more" if taken else ""
    return f"{lead} not restored and cannot stop the drill{room}."


def prevention(namespace: str, quotas: list[ResourceQuota]) -> str:
    """What in the namespace of a drill may have kept something from being restored; "" for nothing."""
    if not quotas:
        return ""
    return f"{namespace} got a quota that may have prevented it: {humanize.join([str(one) for one in quotas])}"
