"""Equal parts of decoded objects are one, and the objects are what they were."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from foretop_core.models import Backup, NonAdminBackup, Resource, Schedule
from foretop_core.models.kinds import KINDS
from foretop_core.models.sharing import SharedParts
from foretop_core.models.wire import as_json, decode


def nab(number: int, **spec: Any) -> bytes:
    accepted = {"type": "Accepted", "status": "True", "reason": "BackupAccepted", "message": "backup accepted"}
    velero = {"name": f"v{number}", "namespace": "openshift-adp", "status": {"phase": "Completed"}}
    return json.dumps(
        {
            "metadata": {"name": f"nab-{number}", "namespace": "team-a", "labels": {"team": "a"}, "finalizers": ["f"]},
            "spec": {"backupSpec": {"includedNamespaces": ["team-a"], "ttl": "720h0m0s", **spec}},
            "status": {"phase": "Created", "conditions": [accepted], "veleroBackup": velero},
        }
    ).encode()


def test_equal_parts_are_one() -> None:
    parts = SharedParts()
    one, two = (parts.share(decode(NonAdminBackup, nab(number))) for number in range(2))
    assert one.spec is two.spec
    assert one.metadata.labels is two.metadata.labels
    assert one.metadata.finalizers is two.metadata.finalizers
    assert one.namespace is two.namespace
    assert one.status.conditions[0].message is two.status.conditions[0].message
    assert one.velero.namespace is two.velero.namespace
    assert one.velero.status is not None
    assert two.velero.status is not None
    assert one.velero.status.phase is two.velero.status.phase


@pytest.mark.parametrize("model", [kind.model for kind in KINDS])
def test_an_object_stays_what_it_was(model: type[Resource]) -> None:
    parts = SharedParts()
    for number in range(3):
        body = nab(number, ttl=f"{number}h0m0s", labelSelector={"matchLabels": {"app": str(number)}})
        try:
            plain, shared = decode(model, body), parts.share(decode(model, body))
        except msgspec.ValidationError:
            return
        assert shared == plain
        assert as_json(shared) == as_json(plain)


def test_what_differs_is_not_shared() -> None:
    parts = SharedParts()
    one, two = (parts.share(decode(NonAdminBackup, nab(number, ttl=f"{number}h0m0s"))) for number in range(2))
    assert (one.spec.backup_spec.ttl, two.spec.backup_spec.ttl) == ("0h0m0s", "1h0m0s")


def test_empty_objects_have_nothing_to_share() -> None:
    parts = SharedParts()
    for model in (Backup, Schedule, Resource):
        assert parts.share(decode(model, b"{}")) == model()


def test_what_is_kept_beyond_its_object_is_short() -> None:
    parts = SharedParts()
    one, two = (parts.share(decode(NonAdminBackup, nab(number, ttl="x" * 20_000))) for number in range(2))
    assert one.spec is not two.spec
    assert one.metadata.labels is two.metadata.labels
