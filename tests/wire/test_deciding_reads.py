"""What decides about volumes over HTTP: of pods, what a run looks at, so that a restart is no news."""

from __future__ import annotations

import copy
from typing import Any

from foretop_core.kube.access.deciding_reads import read_deciders
from foretop_core.rules.volumes.run_plan import Deciders
from tests.wire.scripted_api import ScriptedApi, client_of

POD: dict[str, Any] = {
    "metadata": {
        "name": "db-0",
        "namespace": "shop",
        "uid": "u",
        "resourceVersion": "7",
        "labels": {"app": "db"},
        "annotations": {"backup.velero.io/backup-volumes": "data", "cni.example/ip": "10.0.0.1"},
    },
    "spec": {
        "nodeName": "worker-1",
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}, {"name": "token"}],
        "containers": [
            {"name": "db", "image": "db:1", "volumeMounts": [{"name": "data"}, {"name": "token"}]},
            {"name": "log", "volumeDevices": [{"name": "data"}]},
        ],
    },
    "status": {"phase": "Running", "containerStatuses": [{"name": "db", "ready": True}]},
}


async def read(pod: dict[str, Any]) -> Deciders:
    api = ScriptedApi(
        {"/api/v1/pods": {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": [pod]}}
    )
    async with client_of(api) as client:
        return await read_deciders(client, "velero", ())


async def test_a_pod_that_was_restarted_decides_as_before() -> None:
    later = copy.deepcopy(POD)
    later["metadata"]["resourceVersion"] = "8"
    later["metadata"]["annotations"]["cni.example/ip"] = "10.0.0.2"
    later["status"]["containerStatuses"][0] |= {"ready": False, "restartCount": 3}
    assert await read(POD) == await read(later)


async def test_a_pod_that_runs_no_more_or_names_other_volumes_decides_otherwise() -> None:
    first = await read(POD)
    for place, value in (
        (("status", "phase"), "Pending"),
        (("spec", "nodeName"), "worker-2"),
        (("metadata", "labels"), {"app": "other"}),
        (("metadata", "annotations"), {"backup.velero.io/backup-volumes-excludes": "data"}),
        (("metadata", "deletionTimestamp"), "2026-03-01T00:00:00Z"),
        (("metadata", "creationTimestamp"), "2026-03-01T00:00:00Z"),
        (("spec", "containers"), POD["spec"]["containers"][:1]),
    ):
        other = copy.deepcopy(POD)
        other[place[0]][place[1]] = value
        assert await read(other) != first, place


async def test_of_a_pod_that_is_kept_which_a_run_looks_at() -> None:
    pods = (await read(POD)).pods
    assert pods is not None
    (pod,) = pods["shop"]
    assert pod.metadata.annotations == {"backup.velero.io/backup-volumes": "data"}
    assert [volume.name for volume in pod.spec.volumes] == ["data"]
    assert [[mount.name for mount in one.volume_mounts] for one in pod.spec.containers] == [["data"], []]
    assert [[device.name for device in one.volume_devices] for one in pod.spec.containers] == [[], ["data"]]
    assert (pod.metadata.uid, pod.status.container_statuses) == ("", ())
