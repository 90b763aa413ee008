"""The seed's chart for a NonAdminRestore."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.models import RestoreSpec
from foretop_core.models.kinds import NAB, NAR, RESTORE
from foretop_core.models.nonadmin import NAR_FINALIZER
from foretop_demo.reconcile import Behaviour, Create, Delete, PatchStatus, Reconciled
from tests.demo.nonadmin_fixture import NACUUID, NOW, OADP, RESTORE_UUID, TEAM, Chart, phases, said

BOTH = pytest.mark.parametrize("behaviour", list(Behaviour))


def with_backup(behaviour: Behaviour = Behaviour.RELEASED) -> Chart:
    chart = Chart(behaviour).add_nab()
    chart.settle()
    return chart


@BOTH
def test_the_whole_path_in_the_order_of_the_chart(behaviour: Behaviour) -> None:
    chart = with_backup(behaviour).add_nar()
    assert chart.step_restore().writes == (PatchStatus(NAR, TEAM, "again", {"phase": "New"}),)
    chart.step_restore()
    assert said(chart.nar, "Accepted") == ("True", "RestoreAccepted", "restore accepted")
    chart.step_restore()
    assert (chart.nar.velero.nacuuid, chart.nar.velero.name) == (RESTORE_UUID, RESTORE_UUID)
    chart.step_restore()
    assert chart.nar.metadata.finalizers == (NAR_FINALIZER,)
    create, patch = chart.step_restore().writes
    assert isinstance(create, Create)
    assert isinstance(patch, PatchStatus)
    assert (create.kind, create.name, create.spec["backupName"]) == (RESTORE, RESTORE_UUID, NACUUID)
    assert chart.nar.phase == "Created"
    assert said(chart.nar, "Queued") == ("True", "RestoreScheduled", "Created Velero Restore object")
    assert chart.look_at_restore() == Reconciled()


@BOTH
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"scheduleName": "x"}, "NonAdminRestore nonAdminRestore.spec.restoreSpec.scheduleName is restricted"),
        ({"backupName": ""}, "NonAdminRestore spec.restoreSpec.backupName is not set"),
        (
            {"backupName": "nope"},
            'NonAdminRestore spec.restoreSpec.backupName is invalid: NonAdminBackup.oadp.openshift.io "nope" not found',
        ),
        (
            {"includedNamespaces": ["velero"]},
            "NonAdminRestore nonAdminRestore.spec.restoreSpec.includedNamespaces is restricted",
        ),
        (
            {"excludedNamespaces": ["velero"]},
            "NonAdminRestore nonAdminRestore.spec.restoreSpec.excludedNamespaces is restricted",
        ),
        (
            {"namespaceMapping": {TEAM: "velero"}},
            "NonAdminRestore nonAdminRestore.spec.restoreSpec.namespaceMapping is restricted",
        ),
        (
            {"preserveNodePorts": True},
            "the administrator has restricted spec.restoreSpec.preserveNodePorts field value to false",
        ),
    ],
)
def test_a_refused_spec_backs_off_and_waits(behaviour: Behaviour, spec: dict[str, Any], message: str) -> None:
    chart = with_backup(behaviour).add_nar(**spec)
    chart.enforced_restore = RestoreSpec(preserve_node_ports=False)
    answers = chart.settle_restore()
    assert phases(answers) == ["New", "BackingOff"]
    assert said(chart.nar, "Accepted") == ("False", "InvalidRestoreSpec", message)
    assert answers[-1] == Reconciled(problem=message)


@BOTH
def test_an_unfinished_backup_cannot_be_restored_yet(behaviour: Behaviour) -> None:
    chart = Chart(behaviour).add_nab().add_nar()
    chart.settle_restore()
    assert said(chart.nar, "Accepted") == (
        "False",
        "InvalidRestoreSpec",
        "NonAdminRestore spec.restoreSpec.backupName is invalid: NonAdminBackup is not ready to be restored",
    )
    chart.settle()
    assert phases(chart.settle_restore()) == ["Created"]


@BOTH
def test_velero_s_status_is_copied_and_the_position_removed_at_the_end(behaviour: Behaviour) -> None:
    chart = with_backup(behaviour).add_nar()
    chart.settle_restore()
    chart.set_status(RESTORE, RESTORE_UUID, phase="InProgress", startTimestamp="2026-11-15T02:42:00Z")
    chart.step_restore()
    assert chart.nar.velero.status == chart.objects.get(RESTORE, OADP, RESTORE_UUID).status
    chart.set_status(RESTORE, RESTORE_UUID, phase="Completed", completionTimestamp="2026-11-15T02:43:00Z")
    (write,) = chart.step_restore().writes
    assert isinstance(write, PatchStatus)
    assert write.patch["queueInfo"] == {"estimatedQueuePosition": 0}
    assert chart.look_at_restore() == Reconciled()


@BOTH
def test_a_lost_restore_is_created_again(behaviour: Behaviour) -> None:
    chart = with_backup(behaviour).add_nar()
    chart.settle_restore()
    chart.objects.drop(RESTORE, OADP, RESTORE_UUID)
    chart.settle_restore()
    assert chart.objects.has(RESTORE, OADP, RESTORE_UUID)
    assert chart.nar.phase == "Created"


@pytest.mark.parametrize(("behaviour", "phase"), [(Behaviour.RELEASED, "BackingOff"), (Behaviour.SEED, "Created")])
def test_without_its_backup_a_restore_goes_back_released_and_stays_in_the_seed(
    behaviour: Behaviour, phase: str
) -> None:
    chart = with_backup(behaviour).add_nar()
    chart.settle_restore()
    chart.objects.drop(NAB, TEAM, "ledger")
    chart.settle_restore()
    accepted = said(chart.nar, "Accepted")
    assert accepted is not None
    assert (chart.nar.phase, accepted[1]) == (phase, "InvalidRestoreSpec")


@BOTH
@pytest.mark.parametrize("lingers", [True, False])
def test_deleting_deletes_the_velero_restore_first(behaviour: Behaviour, lingers: bool) -> None:
    chart = with_backup(behaviour).add_nar()
    chart.settle_restore()
    if lingers:
        held = chart.objects.raw[RESTORE.plural, OADP, RESTORE_UUID][1]
        held["metadata"]["finalizers"] = ["restores.velero.io/external-resources-finalizer"]
    chart.objects.delete(NAR, TEAM, "again", NOW)
    marked = chart.step_restore()
    assert marked.requeue
    assert chart.nar.phase == "Deleting"
    assert said(chart.nar, "Deleting") == ("True", "DeletionPending", "restore accepted for deletion")
    assert chart.step_restore().writes == (Delete(RESTORE, OADP, RESTORE_UUID),)
    if lingers:
        assert chart.look_at_restore() == Reconciled(requeue=True)
        chart.objects.drop(RESTORE, OADP, RESTORE_UUID)
    chart.settle_restore()
    assert chart.objects.all(NAR) == []


@BOTH
def test_a_refused_restore_has_no_finalizer(behaviour: Behaviour) -> None:
    chart = with_backup(behaviour).add_nar(backupName="nope")
    chart.settle_restore()
    chart.objects.delete(NAR, TEAM, "again", NOW)
    assert chart.objects.all(NAR) == []
