"""The evidence for the cron dialect of one Velero server. Fetched once, for commands that keep no watches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from msgspec.structs import replace

from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.access.accessible_namespaces import WATCHED_NAMES
from foretop_core.kube.access.find_velero import FoundVelero
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.watching.list_watch_codec import read_object, read_page
from foretop_core.models import CustomResourceDefinition, Resource
from foretop_core.models.kinds import BACKUP, DEFINITION, DEPLOYMENT, SCHEDULE, SERVER_STATUS, STORAGE, Kind
from foretop_core.models.wire import decode
from foretop_core.rules.build_snapshot import BACKUP_DEFINITION, assemble
from foretop_core.rules.snapshot import ClusterSnapshot

_TELLING = (SCHEDULE, BACKUP, STORAGE, SERVER_STATUS, DEPLOYMENT)


async def server_snapshot(client: ApiClient, server: FoundVelero, given_versions: Mapping[str, str]) -> ClusterSnapshot:
    """The objects around one server that tell its release or its dialect; what may not be seen is left out."""
    objects: list[Resource] = []
    for kind in _TELLING:
        objects += await _listed(client, kind, server.namespace)
    with suppress(ForetopError):
        response = await client.request("GET", api_paths.item(DEFINITION, "", BACKUP_DEFINITION))
        objects.append(decode(CustomResourceDefinition, response.body))
    snapshot = assemble(objects, given_versions=given_versions)
    return replace(snapshot, servers={server.namespace: server.known}) if server.known else snapshot


async def _listed(client: ApiClient, kind: Kind, namespace: str) -> list[Resource]:
    found: list[Resource] = []
    for name in WATCHED_NAMES.get(kind, ("",)):
        with suppress(ForetopError):
            named = {"fieldSelector": f"metadata.name={name}"} if name else None
            response = await client.request("GET", api_paths.collection(kind, namespace), named)
            for raw in read_page(response.body, kind).items or []:
                with suppress(Unreadable):
                    found.append(read_object(kind, raw))
    return found
