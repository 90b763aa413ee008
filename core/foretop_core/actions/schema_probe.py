"""The fields that the cluster's own definition of a kind has. They differ between releases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import Kind


async def serves_field(client: ApiClient, kind: Kind, path: Iterable[str]) -> bool:
    """Whether the served schema of a kind has this field; the document is there for everybody who has signed in."""
    try:
        answer = await client.request("GET", f"/openapi/v3/apis/{kind.group}/{kind.version}")
    except ApiError as problem:
        if problem.status in (403, 404):
            return False
        raise
    try:
        schemas: dict[str, Any] = msgspec.json.decode(answer.body)["components"]["schemas"]
    except (msgspec.DecodeError, KeyError, TypeError):
        return False
    part = next((schema for schema in schemas.values() if _is_of(schema, kind)), None)
    for name in path:
        part = (part or {}).get("properties", {}).get(name)
    return part is not None


def _is_of(schema: dict[str, Any], kind: Kind) -> bool:
    marks = schema.get("x-kubernetes-group-version-kind") or ()
    return any((mark.get("group"), mark.get("kind")) == (kind.group, kind.name) for mark in marks)
