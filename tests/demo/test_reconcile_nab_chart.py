"""Every state and arrow of the seed's chart, in both behaviours where they agree and in each where not."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.models import BackupSpec
from foretop_core.models.kinds import BACKUP, NAB, NABSL, STORAGE
from foretop_core.models.nonadmin import NAB_FINALIZER
from foretop_demo.reconcile import Behaviour, Patch, PatchStatus, Reconciled
from tests.demo.nonadmin_fixture import NACUUID, NOW, OADP, TEAM, Chart, made, names, phases

BOTH = pytest.mark.parametrize("behaviour", list(Behaviour))
ACCEPTED = ("True", "BackupAccepted", "backup accepted")
QUEUED = ("True", "BackupScheduled", "Created Velero Backup object")


# ── create and update ────────────────────────────────────────────────────────────────────────────────────────


@BOTH
def test_an_empty_phase_becomes_new_before_anything_else(behaviour: Behaviour) -> None:
    chart = Chart(behaviour).add_nab(backupSpec={"excludedNamespaces": ["velero"]})
    assert chart.reconcile().writes == (PatchStatus(NAB, TEAM, "ledger", {"phase": "New"}),)


@BOTH
def test_the_whole_path_in_the_order_of_the_chart(behaviour: Behaviour) -> None:
    chart = Chart(behaviour).add_nab()
    chart.step()
    chart.step()
    assert (chart.nab.phase, chart.condition("Accepted")) == ("New", ACCEPTED)
    assert chart.nab.velero.nacuuid == ""
    chart.step()
    assert (chart.nab.velero.nacuuid, chart.nab.velero.name, chart.nab.velero.namespace) == (NACUUID, NACUUID, OADP)
    assert chart.nab.metadata.finalizers == ()
    chart.step()
    assert chart.nab.metadata.finalizers == (NAB_FINALIZER,)
    assert chart.objects.all(BACKUP) == []
    made_and_said = chart.step()
    assert names(made_and_said) == [("Create", "Backup", NACUUID), ("PatchStatus", "NonAdminBackup", "ledger")]
    assert (chart.nab.phase, chart.condition("Queued")) == ("Created", QUEUED)
    assert chart.nab.status.queue_info is not None
    assert chart.nab.status.queue_info.estimated_queue_position == 1
    assert chart.reconcile() == Reconciled()


@BOTH
def test_a_refused_spec_backs_off_once_and_waits_for_the_user(behaviour: Behaviour) -> None:
    chart = Chart(behaviour).add_nab(backupSpec={"includedNamespaces": ["velero"]})
    chart.step()
    refused = chart.step()
    message = (
        "NonAdminBackup spec.backupSpec.includedNamespaces is restricted, "
        "can not contain namespaces other than: team-pay"
    )
    assert (chart.nab.phase, chart.condition("Accepted")) == ("BackingOff", ("False", "InvalidBackupSpec", message))
    assert (refused.problem, refused.requeue) == (message, False)
    assert chart.reconcile() == Reconciled(problem=message)
    chart.edit(backupSpec={"includedNamespaces": [TEAM]})
    answers = chart.settle()
    assert phases(answers) == ["Created"], "a fixed one keeps BackingOff until its backup is made"
    assert chart.condition("Accepted") == ACCEPTED


@BOTH
def test_an_assigned_name_is_kept(behaviour: Behaviour) -> None:
    chart = Chart(behaviour).add_nab()
    chart.step()
    chart.step()
    chart.set_status(NAB, "ledger", veleroBackup={"nacuuid": "older", "name": "older", "namespace": OADP})
    chart.settle()
    assert [backup.name for backup in chart.objects.all(BACKUP)] == ["older"]


@BOTH
def test_finalizers_of_others_are_kept(behaviour: Behaviour) -> None:
    chart = Chart(behaviour).add_nab()
    chart.objects.apply([Patch(NAB, TEAM, "ledger", {"metadata": {"finalizers": ["example.com/audit"]}})], NOW)
    chart.settle()
    assert chart.nab.metadata.finalizers == ("example.com/audit", NAB_FINALIZER)


@BOTH
@pytest.mark.parametrize(
    "status",
    [
        {"phase": "InProgress"},
        {"phase": "InProgress", "startTimestamp": "2026-11-15T02:42:00Z"},
        {"phase": "Completed", "completionTimestamp": "2026-11-15T02:43:00Z"},
        {"phase": "InProgress", "expiration": "2026-12-15T02:42:00Z"},
        {"phase": "PartiallyFailed", "errors": 2, "warnings": 1},
        {"phase": "InProgress", "progress": {"totalItems": 56, "itemsBackedUp": 12}},
        {"phase": "FailedValidation", "validationErrors": ["no such location"]},
    ],
)
def test_velero_s_status_is_copied_once(behaviour: Behaviour, status: dict[str, Any]) -> None:
    chart = made(behaviour)
    chart.set_status(BACKUP, NACUUID, **status)
    chart.step()
    assert chart.nab.velero.status == chart.objects.get(BACKUP, OADP, NACUUID).status
    assert chart.reconcile() == Reconciled()


@BOTH
def test_the_queue_position_counts_those_created_earlier(behaviour: Behaviour) -> None:
    chart = made(behaviour)
    chart.objects.put(BACKUP, _backup("older", "2026-11-15T02:00:00Z"))
    chart.set_status(BACKUP, NACUUID, phase="InProgress")
    chart.step()
    assert chart.nab.status.queue_info is not None
    assert chart.nab.status.queue_info.estimated_queue_position == 2
    chart.set_status(BACKUP, "older", completionTimestamp="2026-11-15T02:41:00Z")
    assert chart.step().writes == (PatchStatus(NAB, TEAM, "ledger", {"queueInfo": {"estimatedQueuePosition": 1}}),)
    chart.set_status(BACKUP, NACUUID, phase="Completed", completionTimestamp="2026-11-15T02:43:00Z")
    (write,) = chart.step().writes
    assert isinstance(write, PatchStatus)
    assert write.patch["queueInfo"] == {"estimatedQueuePosition": 0}


@pytest.mark.parametrize("phase", ["Queued", "ReadyToStart"])
def test_released_queue_phases_are_refused_and_retried(phase: str) -> None:
    chart = made(Behaviour.RELEASED)
    chart.set_status(BACKUP, NACUUID, phase=phase)
    answer = chart.reconcile()
    assert (answer.writes, answer.requeue) == ((), True)
    assert phase in answer.problem


def test_seed_queue_phases_are_copied_and_the_position_is_removed_again() -> None:
    chart = made(Behaviour.SEED)
    chart.set_status(BACKUP, NACUUID, phase="Queued", queuePosition=3)
    chart.step()
    copy = chart.nab.velero.status
    assert copy is not None
    assert (copy.phase, copy.queue_position) == ("Queued", 3)
    chart.set_status(BACKUP, NACUUID, phase="ReadyToStart", queuePosition=None)
    chart.step()
    copy = chart.nab.velero.status
    assert copy is not None
    assert (copy.phase, copy.queue_position) == ("ReadyToStart", None)


def test_released_a_lost_backup_sends_the_nab_back_permanently() -> None:
    chart = made(Behaviour.RELEASED)
    backup = chart.objects.raw[BACKUP.plural, OADP, NACUUID][1]
    chart.objects.drop(BACKUP, OADP, NACUUID)
    chart.settle()
    assert chart.nab.phase == "BackingOff"
    accepted = chart.nab.condition("Accepted")
    assert accepted is not None
    assert (accepted.status, accepted.reason) == ("False", "VeleroBackupNotFound")
    chart.objects.put(BACKUP, backup)
    assert chart.reconcile().writes == ()


def test_seed_a_lost_backup_is_created_again() -> None:
    chart = made(Behaviour.SEED)
    chart.objects.drop(BACKUP, OADP, NACUUID)
    assert names(chart.step())[0] == ("Create", "Backup", NACUUID)
    assert chart.nab.phase == "Created"
    assert chart.reconcile() == Reconciled()


def test_a_spec_made_invalid_later_goes_back_released_and_stays_in_the_seed() -> None:
    for behaviour, phase in ((Behaviour.RELEASED, "BackingOff"), (Behaviour.SEED, "Created")):
        chart = made(behaviour)
        chart.edit(backupSpec={"includeClusterResources": True})
        chart.settle()
        accepted = chart.nab.condition("Accepted")
        assert accepted is not None
        assert (chart.nab.phase, accepted.reason) == (phase, "InvalidBackupSpec")


# ── what is refused ──────────────────────────────────────────────────────────────────────────────────────────


@BOTH
@pytest.mark.parametrize(
    ("nabsl_status", "velero_phase", "message"),
    [
        ({}, None, "unable to get VeleroBackupStorageLocation UUID from NonAdminBackupStorageLocation Status"),
        ({"nacuuid": "n1"}, None, "VeleroBackupStorageLocation with NACUUID n1 not found in the OADP namespace"),
        (
            {"nacuuid": "n1"},
            "Unavailable",
            "VeleroBackupStorageLocation with NACUUID n1 is not in available state "
            "and can not be used for the NonAdminBackup",
        ),
        ({"nacuuid": "n1"}, "Available", None),
    ],
)
def test_a_location_that_waits_for_approval_is_refused(
    behaviour: Behaviour, nabsl_status: dict[str, str], velero_phase: str | None, message: str | None
) -> None:
    chart = Chart(behaviour).add_nab(backupSpec={"storageLocation": "ours"})
    status = {"veleroBackupStorageLocation": nabsl_status}
    chart.objects.put(NABSL, {"metadata": {"name": "ours", "namespace": TEAM}, "spec": {}, "status": status})
    if velero_phase is not None:
        labels = {"openshift.io/oadp-nabsl-origin-nacuuid": "n1"}
        meta = {"name": "team-pay-ours", "namespace": OADP, "labels": labels}
        chart.objects.put(STORAGE, {"metadata": meta, "spec": {}, "status": {"phase": velero_phase}})
    chart.settle()
    if message is None:
        (backup,) = chart.objects.all(BACKUP)
        assert backup.spec.storage_location == "team-pay-ours"
    else:
        assert chart.condition("Accepted") == ("False", "InvalidBackupSpec", message)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"ttl": "1000h0m0s"}, "the administrator has restricted spec.backupSpec.ttl field value to 240h0m0s"),
        (
            {"snapshotVolumes": True},
            "the administrator has restricted spec.backupSpec.snapshotVolumes field value to false",
        ),
        ({"ttl": "240h0m0s"}, None),
        ({}, None),
    ],
)
def test_an_enforced_field_may_be_unset_but_not_changed(asked: dict[str, Any], message: str | None) -> None:
    chart = Chart().add_nab(backupSpec=asked)
    chart.enforced = BackupSpec(ttl="240h0m0s", snapshot_volumes=False)
    chart.settle()
    if message is None:
        (backup,) = chart.objects.all(BACKUP)
        assert (backup.spec.ttl, backup.spec.snapshot_volumes) == ("240h0m0s", False)
    else:
        assert chart.condition("Accepted") == ("False", "InvalidBackupSpec", message)


def test_the_newer_filters_get_their_exclusions_in_their_own_fields() -> None:
    chart = Chart().add_nab(backupSpec={"includedNamespaceScopedResources": ["pods"]})
    chart.settle()
    (backup,) = chart.objects.all(BACKUP)
    assert backup.spec.excluded_resources == ()
    assert "nonadminbackups" in backup.spec.excluded_namespace_scoped_resources
    assert "clusterroles" in backup.spec.excluded_cluster_scoped_resources


def _backup(name: str, created: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": OADP, "creationTimestamp": created}, "spec": {}}
