"""Many NABs of a real API server, written to its etcd in bulk: by the API they would take minutes."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from tests.real.api import Api
from tests.real.cluster import RealCluster

TEAMS = 40
API = "/apis/oadp.openshift.io/v1alpha1"
PHASES = ("Completed", "Failed")
_NEWEST = datetime(2026, 11, 15, tzinfo=UTC)


class NabName(NamedTuple):
    """Where a NAB is."""

    namespace: str
    name: str

    @property
    def path(self) -> str:
        return f"{API}/namespaces/{self.namespace}/nonadminbackups/{self.name}"


def nab_name(number: int) -> NabName:
    return NabName(f"team-{number % TEAMS:02}", f"nab-{number:06}")


def fill(cluster: RealCluster, have: int, wanted: int) -> None:
    """Adds the NABs from number `have` on, and comes back when the API server has all of them."""
    if have == 0:
        for number in range(TEAMS):
            cluster.admin.post("/api/v1/namespaces", {"metadata": {"name": f"team-{number:02}"}}).expect(201)
    cluster.write_to_etcd(_stored(number) for number in range(have, wanted))
    last = nab_name(wanted - 1)
    # Listed from the API server's own memory, which follows etcd.
    cluster.wait_until_listed(f"{API}/namespaces/{last.namespace}/nonadminbackups?resourceVersion=0", last.name)


def set_outcome(api: Api, nab: NabName, phase: str) -> None:
    """Velero's phase as the non-admin controller copies it: both programs show it in a column."""
    api.patch(f"{nab.path}/status", {"status": {"veleroBackup": {"status": {"phase": phase}}}}).expect(200)


def _stored(number: int) -> tuple[str, bytes]:
    nab = nab_name(number)
    key = f"/registry/oadp.openshift.io/nonadminbackups/{nab.namespace}/{nab.name}"
    return key, json.dumps(_object(number, nab)).encode()


def _object(number: int, nab: NabName) -> dict[str, Any]:
    """As the controller of OADP leaves it after a good backup."""
    made = _NEWEST - timedelta(minutes=number)
    ended = made + timedelta(minutes=3)
    velero = f"{nab.namespace}-{nab.name}-{uuid.UUID(int=number)}"
    return {
        "apiVersion": "oadp.openshift.io/v1alpha1",
        "kind": "NonAdminBackup",
        "metadata": {
            "name": nab.name,
            "namespace": nab.namespace,
            "uid": str(uuid.UUID(int=2**64 + number)),
            "generation": 2,
            "creationTimestamp": _text(made),
            "labels": {"team": nab.namespace, "tier": "gold"},
            "finalizers": ["nonadminbackup.oadp.openshift.io/finalizer"],
            "managedFields": list(_managed_fields(made)),
        },
        "spec": {
            "backupSpec": {
                "includedNamespaces": [nab.namespace],
                "ttl": "720h0m0s",
                "storageLocation": "default",
                "snapshotMoveData": True,
            }
        },
        "status": {
            "phase": "Created",
            "conditions": [
                {
                    "type": kind,
                    "status": "True",
                    "reason": reason,
                    "message": message,
                    "lastTransitionTime": _text(made),
                }
                for kind, reason, message in (
                    ("Accepted", "BackupAccepted", "backup accepted"),
                    ("Queued", "BackupScheduled", "Created Velero Backup object"),
                )
            ],
            "queueInfo": {"estimatedQueuePosition": 0},
            "veleroBackup": {
                "nacuuid": velero,
                "name": velero,
                "namespace": "openshift-adp",
                "status": {
                    "phase": PHASES[0],
                    "formatVersion": "1.1.0",
                    "startTimestamp": _text(made),
                    "completionTimestamp": _text(ended),
                    "expiration": _text(made + timedelta(days=30)),
                    "progress": {"totalItems": 40 + number % 60, "itemsBackedUp": 40 + number % 60},
                },
            },
        },
    }


def _managed_fields(made: datetime) -> Iterator[dict[str, Any]]:
    """Every object of a real cluster has them, and they are half of its bytes."""
    fields: dict[str, Any] = {"f:spec": {".": {}, "f:backupSpec": {".": {}, "f:includedNamespaces": {}, "f:ttl": {}}}}
    for manager in ("kubectl-create", "manager"):
        yield {
            "manager": manager,
            "operation": "Update",
            "apiVersion": "oadp.openshift.io/v1alpha1",
            "time": _text(made),
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
