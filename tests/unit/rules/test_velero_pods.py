"""The pods of a Velero server: which they are, how each is, and the finding where none is ready."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from foretop_core.models import DataUpload, Deployment, Pod, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.queue.volumes import rate, time_left
from foretop_core.rules.triage import triage
from foretop_core.rules.velero_pods import (
    PodHealth,
    PodRole,
    last_exit,
    main_container,
    pod_health,
    pod_role,
    pod_state,
    restarts,
)
from tests.objects import NOW

READY = {
    "name": "velero",
    "ready": True,
    "restartCount": 2,
    "state": {"running": {"startedAt": "2026-11-15T01:00:00Z"}},
}
CRASHED = {
    "name": "velero",
    "ready": False,
    "restartCount": 7,
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "finishedAt": "2026-11-15T02:30:00Z"}},
}


def pod(labels: dict[str, str], container: str = "velero", **status: Any) -> Pod:
    spec = {"containers": [{"name": "sidecar"}, {"name": container}]}
    meta = {"name": "one", "namespace": "velero", "labels": labels}
    return from_builtins(Pod, {"metadata": meta, "spec": spec, "status": status})


@pytest.mark.parametrize(
    ("labels", "container", "role"),
    [
        ({"deploy": "velero"}, "velero", PodRole.SERVER),
        ({"component": "velero"}, "velero", PodRole.SERVER),
        ({"name": "velero"}, "velero", PodRole.SERVER),
        ({"component": "velero", "name": "node-agent"}, "node-agent", PodRole.NODE_AGENT),
        ({"role": "node-agent"}, "agent", PodRole.NODE_AGENT),
        ({"velero.io/data-upload": "up"}, "mover", PodRole.DATA_MOVER),
        ({"velero.io/repo-name": "shop"}, "velero-repo-maintenance-container", PodRole.MAINTENANCE),
        ({"control-plane": "controller-manager"}, "manager", PodRole.OPERATOR),
        ({"app": "shop"}, "shop", None),
        ({"component": "velero"}, "minio", None),
    ],
)
def test_a_pod_of_velero_is_told_by_its_labels(labels: dict[str, str], container: str, role: PodRole | None) -> None:
    assert pod_role(pod(labels, container)) is role


@pytest.mark.parametrize(
    ("status", "state", "health"),
    [
        ({"phase": "Running", "containerStatuses": [READY]}, "Running", PodHealth.READY),
        ({"phase": "Running", "containerStatuses": [CRASHED]}, "CrashLoopBackOff", PodHealth.FAILING),
        ({"phase": "Running", "containerStatuses": [READY | {"ready": False}]}, "Running", PodHealth.NOT_READY),
        ({"phase": "Pending"}, "Pending", PodHealth.STARTING),
        ({"phase": "Failed", "reason": "Evicted", "message": "low on memory"}, "Evicted", PodHealth.FAILING),
        ({"phase": "Succeeded"}, "Succeeded", PodHealth.ENDED),
        ({}, "Pending", PodHealth.STARTING),
    ],
)
def test_the_state_of_a_pod_is_what_kubectl_says(status: dict[str, Any], state: str, health: PodHealth) -> None:
    found = pod({"deploy": "velero"}, **status)
    assert (pod_state(found), pod_health(found)) == (state, health)


def test_restarts_the_last_exit_and_the_container_whose_log_matters() -> None:
    found = pod({"deploy": "velero"}, phase="Running", containerStatuses=[CRASHED])
    ended = last_exit(found)
    assert restarts(found) == 7
    assert ended is not None
    assert (ended.container, ended.reason, ended.code) == ("velero", "OOMKilled", 137)
    assert main_container(found) == "velero"


def deployment(replicas: int, status: dict[str, Any]) -> Deployment:
    container = {"name": "velero", "image": "velero/velero:v1.18.3", "args": ["server"]}
    spec = {"replicas": replicas, "template": {"spec": {"containers": [container]}}}
    meta = {"name": "velero", "namespace": "velero"}
    return from_builtins(Deployment, {"metadata": meta, "spec": spec, "status": status})


@pytest.mark.parametrize(
    ("replicas", "status", "what"),
    [
        (1, {"replicas": 1}, "no pod of it is ready"),
        (0, {}, "scaled down to no pods"),
        (1, {"replicas": 1, "readyReplicas": 1}, ""),
        (1, {}, ""),
    ],
)
def test_a_server_without_a_ready_pod_is_a_finding(replicas: int, status: dict[str, Any], what: str) -> None:
    found = triage(assemble([deployment(replicas, status)]), NOW).findings
    assert [str(one.what) for one in found if one.code == "velero-not-ready"] == ([what] if what else [])


def upload(phase: str = "InProgress", done: int = 300, total: int = 1200, **status: Any) -> DataUpload:
    begun = (NOW - timedelta(seconds=60)).isoformat()
    told = {"phase": phase, "startTimestamp": begun, "progress": {"bytesDone": done, "totalBytes": total}, **status}
    return from_builtins(DataUpload, {"metadata": {"name": "up", "namespace": "velero"}, "status": told})


def test_the_time_left_follows_from_the_rate_so_far() -> None:
    assert rate(upload(), NOW) == 5.0
    assert time_left(upload(), NOW) == timedelta(seconds=180)


@pytest.mark.parametrize(
    "movement",
    [
        upload("Prepared"),
        upload(done=0),
        upload(total=0),
        upload(done=1200),
        upload(done=1, total=2**53),
        upload(done=1, total=2**53, startTimestamp="0002-01-02T00:00:00Z"),
        upload("Completed", completionTimestamp=NOW.isoformat()),
    ],
)
def test_what_does_not_move_has_no_time_left(movement: DataUpload) -> None:
    assert time_left(movement, NOW) is None
