"""What belongs to one object and is not watched: its data movements and events, asked for once."""

from __future__ import annotations

from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.kube.connection.list_watch_codec import read_object, read_page
from foretop_core.models import Backup, DataMovement, Resource, Restore
from foretop_core.models.kinds import DATA_DOWNLOAD, DATA_UPLOAD, EVENT, POD_VOLUME_BACKUP, POD_VOLUME_RESTORE, Kind
from foretop_core.models.movement import label_value
from foretop_core.models.velero import BACKUP_LABEL, RESTORE_LABEL


async def movements_of(client: ApiClient, run: Backup | Restore) -> tuple[DataMovement, ...]:
    """Of a run that has ended too; a kind that is not installed has none."""
    is_backup = isinstance(run, Backup)
    selector = f"{BACKUP_LABEL if is_backup else RESTORE_LABEL}={label_value(run.name)}"
    kinds = (POD_VOLUME_BACKUP, DATA_UPLOAD) if is_backup else (POD_VOLUME_RESTORE, DATA_DOWNLOAD)
    found = [item for kind in kinds for item in await _listed(client, kind, run.namespace, {"labelSelector": selector})]
    return tuple(item for item in found if isinstance(item, DataMovement))


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
