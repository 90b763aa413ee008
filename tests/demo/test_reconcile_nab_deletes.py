"""The three deletions of the seed's chart: plain, forced, and with the data."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, NAB, NAR
from foretop_demo.reconcile import Behaviour, Create, Delete, Patch, Reconciled
from tests.demo.nonadmin_fixture import NACUUID, NOW, OADP, TEAM, Chart, made, names, phases

BOTH = pytest.mark.parametrize("behaviour", list(Behaviour))


# ── a plain delete ───────────────────────────────────────────────────────────────────────────────────────────


def test_seed_a_plain_delete_waits_for_a_decision_on_the_data() -> None:
    chart = made(Behaviour.SEED)
    chart.objects.delete(NAB, TEAM, "ledger", NOW)
    chart.settle()
    way_out = (
        "backup deletion requires setting spec.deleteBackup or spec.forceDeleteBackup to true or finalizer removal"
    )
    assert (chart.nab.phase, chart.condition("Deleting")) == ("Deleting", ("True", "DeletionPending", way_out))
    assert chart.reconcile() == Reconciled()
    assert chart.objects.has(BACKUP, OADP, NACUUID)


@pytest.mark.parametrize("word", ["deleteBackup", "forceDeleteBackup"])
def test_seed_a_later_decision_is_followed(word: str) -> None:
    chart = made(Behaviour.SEED)
    chart.objects.delete(NAB, TEAM, "ledger", NOW)
    chart.settle()
    chart.edit(**{word: True})
    chart.settle()
    if word == "deleteBackup":
        assert len(chart.objects.all(DELETE_REQUEST)) == 1
        chart.objects.drop(BACKUP, OADP, NACUUID)
        chart.settle()
    assert chart.objects.all(NAB) == []


def test_released_a_plain_delete_deletes_the_velero_backup_and_the_finalizer() -> None:
    chart = made(Behaviour.RELEASED)
    chart.objects.delete(NAB, TEAM, "ledger", NOW)
    marked = chart.step()
    assert phases([marked]) == ["Deleting"]
    assert chart.condition("Deleting") == (
        "True",
        "DeletionPending",
        "permanent backup deletion requires setting spec.deleteBackup to true",
    )
    assert names(chart.step()) == [("Delete", "Backup", NACUUID), ("Patch", "NonAdminBackup", "ledger")]
    assert chart.objects.all(NAB) == chart.objects.all(BACKUP) == []


# ── force delete ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("with_request", [True, False])
@pytest.mark.parametrize("with_backup", [True, False])
def test_a_forced_delete_deletes_velero_objects_with_the_nab(with_backup: bool, with_request: bool) -> None:
    chart = made(Behaviour.SEED)
    if with_request:
        chart.objects.put(DELETE_REQUEST, _request())
    if not with_backup:
        chart.objects.drop(BACKUP, OADP, NACUUID)
    chart.edit(forceDeleteBackup=True)
    begun = chart.step()
    assert names(begun) == [("PatchStatus", "NonAdminBackup", "ledger"), ("Delete", "NonAdminBackup", "ledger")]
    assert begun.requeue
    assert (chart.nab.phase, chart.condition("Deleting")) == (
        "Deleting",
        ("True", "DeletionPending", "backup accepted for deletion"),
    )
    expected = [("Patch", "NonAdminBackup", "ledger")]
    if with_request:
        expected.insert(0, ("Delete", "DeleteBackupRequest", "request-1"))
    if with_backup:
        expected.insert(0, ("Delete", "Backup", NACUUID))
    assert names(chart.step()) == expected
    assert chart.objects.raw == {}


@pytest.mark.parametrize("word", ["forceDeleteBackup", "deleteBackup"])
def test_a_deleting_object_is_not_deleted_again(word: str) -> None:
    chart = made(Behaviour.SEED)
    chart.objects.delete(NAB, TEAM, "ledger", NOW)
    chart.edit(**{word: True})
    begun = chart.step()
    assert names(begun) == [("PatchStatus", "NonAdminBackup", "ledger")]
    assert begun.requeue


def test_released_controllers_ignore_force() -> None:
    chart = made(Behaviour.RELEASED)
    chart.edit(forceDeleteBackup=True)
    assert chart.reconcile() == Reconciled()


# ── delete with the data ─────────────────────────────────────────────────────────────────────────────────────


@BOTH
def test_delete_creates_a_request_and_ends_with_the_backup(behaviour: Behaviour) -> None:
    chart = made(behaviour)
    chart.edit(deleteBackup=True)
    begun = chart.step()
    assert names(begun) == [("PatchStatus", "NonAdminBackup", "ledger"), ("Delete", "NonAdminBackup", "ledger")]
    assert begun.requeue
    asked = chart.step()
    (write,) = asked.writes
    assert isinstance(write, Create)
    assert (write.kind, write.generate_name, write.spec) == (DELETE_REQUEST, True, {"backupName": NACUUID})
    assert chart.reconcile() == Reconciled(requeue=True), "nothing to say before Velero has taken it up"
    (request,) = chart.objects.all(DELETE_REQUEST)
    chart.set_status(DELETE_REQUEST, request.name, phase="InProgress")
    said = chart.step()
    assert said.requeue
    copied = chart.nab.status.velero_delete_backup_request
    assert copied is not None
    assert copied.status is not None
    assert copied.status.phase == "InProgress"
    assert chart.reconcile() == Reconciled(requeue=True)
    chart.objects.drop(BACKUP, OADP, NACUUID)
    assert names(chart.step()) == [("Patch", "NonAdminBackup", "ledger")]
    assert chart.objects.all(NAB) == []


@BOTH
def test_delete_without_a_backup_only_removes_the_finalizer(behaviour: Behaviour) -> None:
    chart = made(behaviour)
    chart.objects.drop(BACKUP, OADP, NACUUID)
    chart.edit(deleteBackup=True)
    chart.settle()
    assert chart.objects.raw == {}


@BOTH
def test_delete_without_a_finalizer_ends_at_once(behaviour: Behaviour) -> None:
    chart = Chart(behaviour).add_nab(backupSpec={"excludedNamespaces": ["velero"]})
    chart.settle()
    chart.edit(deleteBackup=True)
    chart.settle()
    assert chart.objects.raw == {}


@BOTH
def test_delete_waits_for_the_finalizers_of_others(behaviour: Behaviour) -> None:
    chart = made(behaviour)
    chart.edit(deleteBackup=True)
    chart.step()
    chart.objects.apply([Patch(NAB, TEAM, "ledger", {"metadata": {"finalizers": ["example.com/audit"]}})], NOW)
    assert chart.reconcile() == Reconciled()


@pytest.mark.parametrize(("behaviour", "taken"), [(Behaviour.RELEASED, True), (Behaviour.SEED, False)])
def test_released_a_delete_also_deletes_the_restores_of_the_backup(behaviour: Behaviour, taken: bool) -> None:
    chart = made(behaviour).add_nar()
    chart.settle_restore()
    chart.edit(deleteBackup=True)
    chart.step()
    first = chart.step()
    assert (Delete(NAR, TEAM, "again") in first.writes) == taken


def test_a_deleting_restore_does_not_delay_the_request() -> None:
    chart = made(Behaviour.RELEASED).add_nar()
    chart.settle_restore()
    chart.edit(deleteBackup=True)
    chart.step()
    chart.objects.delete(NAR, TEAM, "again", NOW)
    assert names(chart.step()) == [("Create", "DeleteBackupRequest", f"{NACUUID}-")]


def _request() -> dict[str, Any]:
    meta = {"name": "request-1", "namespace": OADP, "labels": {"velero.io/backup-name": NACUUID}}
    return {"metadata": meta, "spec": {"backupName": NACUUID}}
