"""Where Velero lives in a cluster, and what its Deployment tells about it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from core.errors import Unreadable
from core.kube import paths
from core.kube.client import ApiClient
from core.kube.envelope import read_object, read_page
from core.kube.failures import ApiError
from core.models.kinds import DEPLOYMENT, STORAGE
from core.models.wire import decode
from core.models.workload import Container, Deployment

NAME = "velero"
USUAL_NAMESPACES = ("velero", "openshift-adp")
_VERSION = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)")


@dataclass(frozen=True, slots=True)
class VeleroServer:
    """One Velero; `readable` says whether the rest is known or only the default."""

    namespace: str
    readable: bool = False
    version: str = ""
    image: str = ""
    skip_immediately: bool = False
    concurrent_backups: int = 1


async def find_velero(
    client: ApiClient, given: Iterable[str] = (), seen_storage: Iterable[str] = ()
) -> tuple[VeleroServer, ...]:
    """Every Velero of the cluster, or those in the namespaces given.

    Storage locations lie beside their Velero, so their namespaces are looked at where Deployments may not be
    listed; with none known, the usual names are tried.
    """
    wanted = tuple(given)
    everywhere = () if wanted else await _deployments(client)
    if everywhere:
        return everywhere
    likely = wanted or tuple(seen_storage) or await _storage_namespaces(client)
    places = likely or (*USUAL_NAMESPACES, client.config.namespace)
    found = []
    for namespace in sorted(dict.fromkeys(places)):
        server = await _deployment(client, namespace)
        if server.readable or namespace in likely:
            found.append(server)
    return tuple(found)


def read_server(deployment: Deployment) -> VeleroServer:
    """The server's flags, as its container is told them; absent ones have Velero's defaults."""
    containers = deployment.spec.template.spec.containers
    container = next((one for one in containers if one.name == NAME), containers[0] if containers else Container())
    flags = _flags((*container.command, *container.args))
    concurrent = flags.get("concurrent-backups", "")
    return VeleroServer(
        namespace=deployment.namespace,
        readable=True,
        version=image_version(container.image),
        image=container.image,
        skip_immediately=flags.get("schedule-skip-immediately", "false").lower() in ("true", "1", "t"),
        concurrent_backups=int(concurrent) if concurrent.isdecimal() and int(concurrent) > 0 else 1,
    )


def image_version(image: str) -> str:
    """The release in an image's tag; none where it is pinned by digest alone."""
    name, _, _ = image.partition("@")
    _, colon, tag = name.rpartition("/")[2].partition(":")
    found = _VERSION.match(tag) if colon else None
    return found.group(1) if found else ""


def _flags(arguments: tuple[str, ...]) -> dict[str, str]:
    """Go's flags: `--name=value`, `--name value`, or `--name` alone, which is true."""
    flags: dict[str, str] = {}
    for position, argument in enumerate(arguments):
        if not argument.startswith("--"):
            continue
        name, given, value = argument[2:].partition("=")
        following = arguments[position + 1] if position + 1 < len(arguments) else "--"
        flags[name] = value if given else ("true" if following.startswith("-") else following)
    return flags


async def _deployments(client: ApiClient) -> tuple[VeleroServer, ...]:
    try:
        response = await client.request("GET", paths.collection(DEPLOYMENT), {"fieldSelector": f"metadata.name={NAME}"})
    except ApiError as problem:
        if problem.status in (403, 404):
            return ()
        raise
    found = []
    for raw in read_page(response.body).items or []:
        with suppress(Unreadable):
            found.append(read_server(decode(Deployment, raw)))
    return tuple(sorted(found, key=lambda server: server.namespace))


async def _deployment(client: ApiClient, namespace: str) -> VeleroServer:
    try:
        response = await client.request("GET", paths.item(DEPLOYMENT, namespace, NAME))
        return read_server(decode(Deployment, response.body))
    except Unreadable:
        return VeleroServer(namespace)
    except ApiError as problem:
        if problem.status in (403, 404):
            return VeleroServer(namespace)
        raise


async def _storage_namespaces(client: ApiClient) -> tuple[str, ...]:
    try:
        response = await client.request("GET", paths.collection(STORAGE))
    except ApiError as problem:
        if problem.status in (403, 404):
            return ()
        raise
    found = []
    for raw in read_page(response.body).items or []:
        with suppress(Unreadable):
            found.append(read_object(STORAGE, raw).namespace)
    return tuple(dict.fromkeys(found))
