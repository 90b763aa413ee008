"""Which version of a kind a cluster serves, if any."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import Kind

T = TypeVar("T")


class _Version(msgspec.Struct, rename="camel"):
    version: str = ""


class _Group(msgspec.Struct, rename="camel"):
    versions: list[_Version] | None = None
    preferred_version: _Version | None = None


class _Resource(msgspec.Struct):
    name: str = ""


class _Resources(msgspec.Struct):
    resources: list[_Resource] | None = None


async def served_version(client: ApiClient, kind: Kind) -> str | None:
    """The version to ask for: the kind's own where it is served, else the server's choice, else none."""
    if not kind.group:
        return kind.version
    try:
        group = await _ask(client, f"/apis/{kind.group}", _Group)
    except ApiError as problem:
        return _without_discovery(problem, kind)
    if group is None:
        return None
    offered = [group.preferred_version] if group.preferred_version else []
    names = dict.fromkeys(entry.version for entry in [*offered, *(group.versions or [])])
    for version in sorted(names, key=lambda name: name != kind.version):
        if await _serves(client, kind, version):
            return version
    return None


async def _serves(client: ApiClient, kind: Kind, version: str) -> bool:
    resources = await _ask(client, f"/apis/{kind.group}/{version}", _Resources)
    return resources is not None and any(entry.name == kind.plural for entry in resources.resources or [])


async def _ask(client: ApiClient, path: str, shape: type[T]) -> T | None:
    try:
        response = await client.request("GET", path)
    except ApiError as problem:
        if problem.status == 404:
            return None
        raise
    return response.read(shape)


def _without_discovery(problem: ApiError, kind: Kind) -> str:
    """The version that foretop knows, for those who may not ask."""
    if problem.status == 403:
        return kind.version
    raise problem
