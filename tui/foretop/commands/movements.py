"""The data movements of one backup, asked for once."""

from __future__ import annotations

from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.failures import ApiError
from foretop_core.kube.watching.list_watch_codec import read_object, read_page
from foretop_core.models import Backup, DataMovement
from foretop_core.models.kinds import DATA_UPLOAD, POD_VOLUME_BACKUP
from foretop_core.models.movement import label_value
from foretop_core.models.velero import BACKUP_LABEL


async def movements_of(client: ApiClient, backup: Backup) -> tuple[DataMovement, ...]:
    """A kind that is not installed has none."""
    found: list[DataMovement] = []
    params = {"labelSelector": f"{BACKUP_LABEL}={label_value(backup.name)}"}
    for kind in (POD_VOLUME_BACKUP, DATA_UPLOAD):
        try:
            answer = await client.request("GET", api_paths.collection(kind, backup.namespace), params)
        except ApiError as problem:
            if problem.status == 404:
                continue
            raise
        items = [read_object(kind, raw) for raw in read_page(answer.body).items or []]
        found += [item for item in items if isinstance(item, DataMovement)]
    return tuple(found)
