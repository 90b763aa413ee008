"""The search for the namespace of Velero and the version and flags in its Deployment."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from foretop_core.errors import Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import read_object, read_page
from foretop_core.models.builtin_kinds import Deployment
from foretop_core.models.kinds import DEPLOYMENT, STORAGE
from foretop_core.models.wire import decode
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.rules.velero_deployment import VELERO_DEPLOYMENT, server

USUAL_NAMESPACES = ("velero", "openshift-adp")


class FoundVelero(msgspec.Struct, frozen=True):
    """One Velero, and what its Deployment tells where that may be read."""

    namespace: str
    known: VeleroInfo | None = None
    has_deployment: bool = True
    """False where the API server says that there is none of the usual name; without the right to ask, it may be."""


async def find_velero(client: ApiClient, given: Iterable[str] = ()) -> tuple[FoundVelero, ...]:
    """Every Velero of the cluster, or those in the namespaces given.

    Storage locations lie beside their Velero, so their namespaces are looked at where Deployments may not be
    listed; with none known, the usual names are tried.
    """
    named = tuple(given)
    everywhere = () if named else await _deployments(client)
    if everywhere:
        return everywhere
    likely = named or await _storage_namespaces(client)
    places = likely or (*USUAL_NAMESPACES, client.config.namespace)
    veleros = []
    for namespace in sorted(dict.fromkeys(places)):
        velero = await _deployment(client, namespace)
        if velero.known or namespace in likely:
            veleros.append(velero)
    return tuple(veleros)


def _read(deployment: Deployment) -> FoundVelero:
    return FoundVelero(deployment.namespace, server(deployment))


async def _deployments(client: ApiClient) -> tuple[FoundVelero, ...]:
    try:
        response = await client.request(
            "GET", api_paths.collection(DEPLOYMENT), {"fieldSelector": f"metadata.name={VELERO_DEPLOYMENT}"}
        )
    except ApiError as problem:
        if problem.status in (403, 404):
            return ()
        raise
    veleros = []
    for raw in read_page(response.body, DEPLOYMENT).items or []:
        with suppress(Unreadable):
            veleros.append(_read(decode(Deployment, raw)))
    return tuple(sorted(veleros, key=lambda velero: velero.namespace))


async def _deployment(client: ApiClient, namespace: str) -> FoundVelero:
    try:
        response = await client.request("GET", api_paths.item(DEPLOYMENT, namespace, VELERO_DEPLOYMENT))
        return _read(decode(Deployment, response.body))
    except Unreadable:
        return FoundVelero(namespace)
    except ApiError as problem:
        if problem.status in (403, 404):
            return FoundVelero(namespace, has_deployment=problem.status != 404)
        raise


async def _storage_namespaces(client: ApiClient) -> tuple[str, ...]:
    try:
        response = await client.request("GET", api_paths.collection(STORAGE))
    except ApiError as problem:
        if problem.status in (403, 404):
            return ()
        raise
    namespaces = []
    for raw in read_page(response.body, STORAGE).items or []:
        with suppress(Unreadable):
            namespaces.append(read_object(STORAGE, raw).namespace)
    return tuple(dict.fromkeys(namespaces))
