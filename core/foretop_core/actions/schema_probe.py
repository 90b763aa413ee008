"""The fields that the cluster's own definition of a kind has. They differ between releases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import Kind


class _Components(msgspec.Struct):
    schemas: dict[str, Any] = {}


class _Document(msgspec.Struct):
    components: _Components = msgspec.field(default_factory=_Components)


async def serves_field(client: ApiClient, kind: Kind, path: Iterable[str]) -> bool:
    """Whether the served schema of a kind has this field; the document is there for everybody who has signed in."""
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
