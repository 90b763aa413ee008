"""Manual backups, restores, and actions on tenants' objects: exact bodies and sentences."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.actions.planners.backups import (
    last_copies_warning,
    plan_back_up_now,
    plan_cancel_movements,
    plan_delete_backup,
    plan_run_again,
    replan_cancel,
)
from foretop_core.actions.planners.lifetimes import NewLifetime, plan_extend
from foretop_core.actions.planners.nonadmin import DELETE_NAB, plan_decide, plan_delete_nab, plan_delete_nar
from foretop_core.actions.planners.restores import RestoreRequest, offered_mapping, plan_delete_restore, plan_restore
from foretop_core.actions.planners.server_default import plan_server_default
from foretop_core.cron import Dialect
from foretop_core.errors import BadInput
from foretop_core.models import (
    Backup,
    DataUpload,
    DeleteBackupRequest,
    Deployment,
    NonAdminBackupStorageLocationRequest,
    NonAdminRestore,
    Restore,
    RestoreSpec,
    Schedule,
    from_builtins,
)
from foretop_core.models.wire import as_json
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_demo.reconcile.schedule import reconcile_schedule
from foretop_demo.reconcile.writes import Create
from tests.objects import NOW, backup, location, nab, nar, restore, schedule, upload


def test_a_manual_backup_equals_the_one_velero_would_create() -> None:
    """Labels, annotations, owner and spec are compared with the controller's; Go zero values are the server's."""
    item = from_builtins(
        Schedule,
        {
            "metadata": {
                "name": "nightly",
                "namespace": "velero",
                "uid": "u1",
                "creationTimestamp": "2026-11-01T00:00:00Z",
                "labels": {"team": "a"},
                "annotations": {"cost": "7"},
            },
            "spec": {
                "schedule": "* * * * *",
                "skipImmediately": False,
                "useOwnerReferencesInBackup": True,
                "template": {"includedNamespaces": ["shop"], "ttl": "24h0m0s", "hooks": {}, "snapshotVolumes": False},
            },
            "status": {"phase": "Enabled"},
        },
    )
    made = next(
        write for write in reconcile_schedule(item, (), NOW, Dialect.NETRESEARCH).writes if isinstance(write, Create)
    )
    (step,) = plan_back_up_now(ClusterSnapshot("prod", schedules=(item,)), [item], NOW).steps
    meta = step.write.body["metadata"]
    assert meta["name"] == made.name == "nightly-20261115024107"
    assert meta["labels"] == made.labels
    assert meta["annotations"] == made.annotations
    assert [(owner["uid"], owner["controller"]) for owner in meta["ownerReferences"]] == [
        (owner.uid, owner.controller) for owner in made.owner_references
    ]
    zeros = {"csiSnapshotTimeout": "0s", "itemOperationTimeout": "0s", "metadata": {}, "hooks": {}, "ttl": "0s"}
    assert {**zeros, **step.write.body["spec"]} == made.spec
    assert (
        step.command
        == "velero --kubecontext prod -n velero backup create nightly-20261115024107 --from-schedule nightly"
    )


def test_template_labels_replace_the_schedule_s_labels() -> None:
    item = schedule(labels={"team": "a"}, template={"metadata": {"labels": {"tier": "gold"}}})
    (step,) = plan_back_up_now(ClusterSnapshot(schedules=(item,)), [item], NOW).steps
    assert step.write.body["metadata"]["labels"] == {"tier": "gold", "velero.io/schedule-name": "nightly"}


def test_pause_annotations_are_not_copied_to_a_backup() -> None:
    item = schedule(paused=True, annotations={"foretop.io/paused-by": "maria", "cost": "7"})
    (step,) = plan_back_up_now(ClusterSnapshot(schedules=(item,)), [item], NOW).steps
    assert step.write.body["metadata"]["annotations"] == {"cost": "7"}


@pytest.mark.parametrize(
    ("marks", "labels", "same"),
    [
        ({}, {}, True),
        ({"cost": "7"}, {}, True),
        ({}, {"why": "upgrade"}, False),
        ({"foretop.io/paused-by": "maria"}, {}, False),
        ({"foretop.io/paused-by": "maria"}, {"why": "upgrade"}, False),
    ],
)
def test_velero_s_own_command_is_shown_only_where_it_makes_the_same(
    marks: dict[str, str], labels: dict[str, str], same: bool
) -> None:
    item = schedule(annotations=marks)
    (step,) = plan_back_up_now(ClusterSnapshot("prod", schedules=(item,)), [item], NOW, labels=labels).steps
    assert step.command.startswith("velero " if same else "kubectl ")
    assert labels.items() <= step.write.body["metadata"]["labels"].items()


def cancelled_upload() -> DataUpload:
    moving = upload("stopping", "InProgress")
    return replace(moving, spec=replace(moving.spec, cancel=True))


RUNNING = backup("running", "InProgress", started="02:00:03")
SHOP = backup("shop", "InProgress", started="02:00:03", spec={"includedNamespaces": ["shop"]})
HOURLY = backup("hourly-02", "InProgress", started="02:30:00", of="hourly")
HOURS = [
    backup(f"hourly-0{hour}", created=f"0{hour}:00:00", started=f"0{hour}:00:00", ended=f"0{hour}:30:00", of="hourly")
    for hour in (0, 1)
]
_NOT_KNOWN = "; when is not known: the end of running is not known: created by hand, no earlier runs to compare"
QUEUED = backup("queued", "Queued")
FINISHING = backup("finishing", "Finalizing", started="01:00:03")
ENDED = backup("ended", ended="02:01:00")


@pytest.mark.parametrize(
    ("others", "slots", "said"),
    [
        ((), None, "one backup starts at once"),
        ((ENDED,), None, "one backup starts at once"),
        ((FINISHING,), None, "one backup starts at once"),
        ((RUNNING,), None, f"one backup, after 1 unfinished backup ahead of it{_NOT_KNOWN}"),
        ((SHOP,), 2, "one backup starts at once"),
        # Velero works on no two that share a namespace, however many slots are free.
        ((RUNNING, ENDED), 2, f"one backup, after 1 unfinished backup ahead of it{_NOT_KNOWN}"),
        (
            (HOURLY, *HOURS),
            1,
            "one backup, after 1 unfinished backup ahead of it; it starts about 03:00Z, in 19 minutes",
        ),
        (
            (RUNNING, backup("more", "ReadyToStart")),
            2,
            f"one backup, after 2 unfinished backups ahead of it{_NOT_KNOWN}",
        ),
        ((RUNNING, QUEUED, FINISHING), 3, f"one backup, after 2 unfinished backups ahead of it{_NOT_KNOWN}"),
        (
            (QUEUED,),
            None,
            f"one backup, after 1 unfinished backup ahead of it{_NOT_KNOWN.replace('running', 'queued')}",
        ),
    ],
)
def test_a_backup_by_hand_says_when_it_starts(others: tuple[Backup, ...], slots: int | None, said: str) -> None:
    item = schedule(template={"includedNamespaces": ["mail"]})
    servers = {"velero": VeleroInfo(version="1.18.3", concurrency=slots)}
    snapshot = ClusterSnapshot("prod", schedules=(item,), backups=others, servers=servers)
    (step,) = plan_back_up_now(snapshot, [item], NOW).steps
    assert step.forecast == f"{said}; the next run of nightly does not change"


def test_of_several_backups_by_hand_each_says_its_own_start() -> None:
    """All are made at once, and one slot is free: it was said of each that it starts at once."""
    items = [schedule(name, template={"includedNamespaces": [name]}) for name in ("mail", "shop")]
    servers = {"velero": VeleroInfo(version="1.18.3", concurrency=1)}
    first, second = plan_back_up_now(ClusterSnapshot(schedules=tuple(items), servers=servers), items, NOW).steps
    assert first.forecast.startswith("one backup starts at once;")
    assert second.forecast.startswith("one backup, after 1 unfinished backup ahead of it;")


def test_a_failed_backup_is_run_again_with_the_same_spec_under_a_new_name() -> None:
    failed = backup(
        "nightly-20261114020003",
        "Failed",
        of="nightly",
        ended="02:01:00",
        spec={"includedNamespaces": ["shop"], "ttl": "24h0m0s", "csiSnapshotTimeout": "10m0s", "hooks": {}},
        labels={"velero.io/storage-location": "default", "team": "a"},
    )
    (step,) = plan_run_again(ClusterSnapshot(backups=(failed,)), [failed], NOW).steps
    assert step.changes == (
        f"{step.target} is created with the whole spec of nightly-20261114020003 (Failed)",
        "spec.includedNamespaces: shop",
        "spec.ttl: 24h0m0s",
        "label team: a",
        "label velero.io/schedule-name: nightly",
    ), "what Velero has filled in tells nobody anything"
    assert step.write.body["metadata"]["name"] == "nightly-20261115024107"
    assert step.write.body["metadata"]["labels"] == {"team": "a", "velero.io/schedule-name": "nightly"}
    assert step.write.body["spec"] == as_json(failed.spec)
    assert step.write.body["spec"]["csiSnapshotTimeout"] == "10m0s"


def test_the_backup_of_a_nab_that_is_run_again_is_not_taken_for_the_nabs() -> None:
    failed = backup(
        "team-a-orders",
        "Failed",
        ended="02:01:00",
        labels={
            "openshift.io/oadp": "True",
            "openshift.io/oadp-nab-origin-nacuuid": "u-1",
            "app.kubernetes.io/managed-by": "oadp-nac-controller",
            "team": "a",
        },
        annotations={
            "openshift.io/oadp-nab-origin-name": "orders",
            "openshift.io/oadp-nab-origin-namespace": "team-a",
            "cost": "7",
        },
    )
    (step,) = plan_run_again(ClusterSnapshot(backups=(failed,)), [failed], NOW).steps
    meta = step.write.body["metadata"]
    assert (meta["labels"], meta["annotations"]) == ({"team": "a"}, {"cost": "7"})
    assert step.warnings[0].startswith("It does not belong to the NAB team-a/orders: its owner sees nothing of it.")


def test_a_running_backup_is_neither_rerun_nor_deleted() -> None:
    running = backup("one", "InProgress", started="02:00:03")
    snapshot = ClusterSnapshot(backups=(running,))
    assert plan_run_again(snapshot, [running], NOW).refused[0].why == "it has not ended (InProgress)"
    assert "InProgress" in plan_delete_backup(snapshot, [running], NOW).refused[0].why


def test_deleting_a_backup_asks_velero_to_delete_its_data() -> None:
    done = backup("one", ended="02:01:00", spec={"storageLocation": "default"})
    back = from_builtins(Restore, {"metadata": {"name": "back", "namespace": "velero"}, "spec": {"backupName": "one"}})
    snapshot = ClusterSnapshot(backups=(done,), restores=(back,), storage=(location(phase="Unavailable"),))
    (step,) = plan_delete_backup(snapshot, [done], NOW).steps
    assert step.write.body["metadata"]["generateName"] == "one-"
    assert step.write.body["metadata"]["labels"]["velero.io/backup-name"] == "one"
    assert step.write.body["spec"] == {"backupName": "one"}
    assert "Unavailable" in step.warnings[0]
    assert step.forecast.endswith("permanently deleted, and the restores made from it (back)")
    (alone,) = plan_delete_backup(ClusterSnapshot(backups=(done,)), [done], NOW).steps
    assert alone.forecast.endswith("permanently deleted")


def asked_to_delete(name: str, phase: str = "New", namespace: str = "velero") -> DeleteBackupRequest:
    meta = {"name": f"{name}-x", "namespace": namespace}
    return from_builtins(
        DeleteBackupRequest, {"metadata": meta, "spec": {"backupName": name}, "status": {"phase": phase}}
    )


@pytest.mark.parametrize(
    ("request_there", "refused"),
    [
        (asked_to_delete("one"), True),
        (asked_to_delete("one", "InProgress"), True),
        (asked_to_delete("one", "Processed"), False),
        (asked_to_delete("two"), False),
        (asked_to_delete("one", namespace="other"), False),
    ],
)
def test_a_backup_whose_deletion_is_under_way_is_neither_deleted_again_nor_extended(
    request_there: DeleteBackupRequest, refused: bool
) -> None:
    done = backup("one", ended="02:01:00")
    snapshot = ClusterSnapshot(backups=(done,), delete_requests=(request_there,))
    why = ["its deletion was already requested"] if refused else []
    for plan in (
        plan_delete_backup(snapshot, [done], NOW),
        plan_extend(snapshot, [done], NewLifetime(ttl="720h"), NOW),
    ):
        assert [one.why for one in plan.refused] == why
        assert len(plan.steps) == 1 - len(why)


def test_nothing_can_be_deleted_from_a_location_that_is_read_only() -> None:
    done = backup("one", ended="02:01:00")
    fixed, open_ = location(spec={"accessMode": "ReadOnly"}), location(spec={"accessMode": "ReadWrite"})
    (step,) = plan_delete_backup(ClusterSnapshot(backups=(done,), storage=(fixed,)), [done], NOW).steps
    assert step.warnings == ("Its storage location default is ReadOnly: Velero deletes nothing from it.",)
    (step,) = plan_delete_backup(ClusterSnapshot(backups=(done,), storage=(open_,)), [done], NOW).steps
    assert step.warnings == ()


def test_deleting_the_last_good_copy_of_a_namespace_says_so() -> None:
    old = backup("old", ended="01:01:00", spec={"includedNamespaces": ["shop"]})
    new = backup("new", ended="02:01:00", spec={"includedNamespaces": ["shop", "crm"]})
    bad = backup("bad", "Failed", ended="02:11:00", spec={"includedNamespaces": ["shop"]})
    snapshot = ClusterSnapshot(backups=(old, new, bad))

    def said(*deleted: Backup) -> str:
        return " ".join(plan_delete_backup(snapshot, deleted, NOW).steps[0].warnings)

    assert said(old) == ""
    assert said(bad) == ""
    assert said(new) == "It is the last good copy of 1 namespace: crm."
    assert said(old, new) == "Among them is the last good copy of 2 namespaces: crm and shop."
    assert last_copies_warning(snapshot, [old, new]) == "Together they are all good copies of 1 namespace: shop."
    assert last_copies_warning(snapshot, [old, bad]) == ""
    assert last_copies_warning(snapshot, [new]) == ""


def test_deleting_the_backup_of_a_nab_advises_to_delete_the_nab() -> None:
    marks = {"openshift.io/oadp-nab-origin-name": "orders", "openshift.io/oadp-nab-origin-namespace": "team-a"}
    made = from_builtins(Backup, {"metadata": {"name": "b", "namespace": "velero", "annotations": marks}})
    (step,) = plan_delete_backup(ClusterSnapshot(backups=(made,)), [made], NOW).steps
    assert "belongs to the NAB team-a/orders" in step.warnings[0]


def test_a_long_name_is_cut_in_the_label_as_velero_cuts_it() -> None:
    done = backup("x" * 80, ended="02:01:00")
    (step,) = plan_delete_backup(ClusterSnapshot(backups=(done,)), [done], NOW).steps
    assert len(step.write.body["metadata"]["labels"]["velero.io/backup-name"]) == 63


def test_cancelling_a_movement_is_agreed_to_whatever_it_has_moved_meanwhile() -> None:
    running = backup("one", "InProgress", started="02:00:03")
    moved = [upload("up-1", "InProgress", progress={"bytesDone": done, "totalBytes": 120}) for done in (30, 60)]
    first, later = (
        plan_cancel_movements(ClusterSnapshot(backups=(running,), movements=(one,)), [running], NOW).steps[0]
        for one in moved
    )
    assert first.same_as(later)
    assert (first.progress, later.progress) == ("25 % moved", "50 % moved")


def test_cancelling_touches_only_the_movements_that_still_run() -> None:
    running = backup("one", "InProgress", started="02:00:03")
    moving = upload("up-1", "InProgress", progress={"bytesDone": 30, "totalBytes": 120})
    snapshot = ClusterSnapshot(
        backups=(running,), movements=(moving, upload("up-2", "Completed"), upload("up-3", of="other"))
    )
    (step,) = plan_cancel_movements(snapshot, [running], NOW).steps
    assert (step.target.kind, step.target.name) == ("DataUpload", "up-1")
    assert step.write.body["spec"] == {"cancel": True}
    assert step.forecast_and_progress == (
        "volume data-0 is cancelled; one ends as PartiallyFailed or Failed (25 % moved now)"
    )
    (again,) = replan_cancel(snapshot, [moving], NOW).steps
    assert again == step
    assert replan_cancel(snapshot, [upload("up-1", "Completed")], NOW).steps == ()


@pytest.mark.parametrize(
    ("movements", "why"),
    [
        ((), "it has no active data movements"),
        ((upload(phase="Completed"), upload("up-2", "Failed")), "it has no active data movements"),
        ((upload(phase="Canceled"),), "it has no active data movements"),
        ((cancelled_upload(),), "its data movements are already being cancelled"),
        ((cancelled_upload(), upload("up-2", "Completed")), "its data movements are already being cancelled"),
    ],
)
def test_what_cannot_be_cancelled_says_why(movements: tuple[DataUpload, ...], why: str) -> None:
    running = backup("one", "InProgress", started="02:00:03")
    snapshot = ClusterSnapshot(backups=(running,), movements=movements)
    plan = plan_cancel_movements(snapshot, [running], NOW)
    assert (plan.steps, [one.why for one in plan.refused]) == ((), [why])
    assert replan_cancel(snapshot, movements, NOW).steps == ()


def test_how_much_was_moved_is_exact_and_left_out_where_it_is_not_known() -> None:
    running = backup("one", "InProgress", started="02:00:03")
    far = upload("far", "InProgress", progress={"bytesDone": 199, "totalBytes": 200})
    nameless = from_builtins(
        DataUpload, {"metadata": {"name": "new", "namespace": "velero", "labels": {"velero.io/backup-name": "one"}}}
    )
    snapshot = ClusterSnapshot(backups=(running,), movements=(far, nameless))
    first, second = plan_cancel_movements(snapshot, [running], NOW).steps
    assert (first.progress, second.progress) == ("99 % moved", "")
    assert second.forecast_and_progress == "volume ? is cancelled; one ends as PartiallyFailed or Failed"


def test_a_restore_offers_namespaces_beside_the_old_ones() -> None:
    done = backup("one", ended="02:01:00", spec={"includedNamespaces": ["shop", "y" * 63]})
    offered = offered_mapping(ClusterSnapshot(), done.spec.included_namespaces)
    assert offered == {"shop": "shop-restored", "y" * 63: "y" * 54 + "-restored"}
    assert offered_mapping(ClusterSnapshot(), ["*"]) == {}


def test_a_restore_shows_its_content_and_what_already_exists() -> None:
    done = backup(
        "one",
        started="01:10:44",
        ended="02:01:00",
        spec={"includedNamespaces": ["shop", "web"]},
        progress={"totalItems": 212, "itemsBackedUp": 212},
    )
    request = RestoreRequest(mapping={"shop": "shop-restored"}, existing="update", volumes=False)
    (step,) = plan_restore(ClusterSnapshot("prod", backups=(done,)), [done], request, NOW, ["web", "default"]).steps
    assert step.write.body["spec"] == {
        "includedNamespaces": ["*"],
        "backupName": "one",
        "namespaceMapping": {"shop": "shop-restored"},
        "existingResourcePolicy": "update",
        "restorePVs": False,
    }
    assert "212 items of namespaces shop and web as of 01:10:44Z (Completed)" in step.changes[1]
    assert step.warnings == ("web exists already: what is in it is overwritten.",)
    assert "--namespace-mappings shop:shop-restored --existing-resource-policy update" in step.command


def test_a_restore_into_an_existing_namespace_suggests_a_new_one() -> None:
    done = backup("one", ended="02:01:00", spec={"includedNamespaces": ["shop"]})
    (step,) = plan_restore(ClusterSnapshot(backups=(done,)), [done], RestoreRequest(), NOW, ["shop"]).steps
    (warning,) = step.warnings
    assert warning.startswith("shop exists already: what is in it stays, what is missing is added")
    assert "to restore next to it: into shop-restored" in warning


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (RestoreRequest(existing="replace"), "is not a valid policy"),
        (RestoreRequest(mapping={"a": "x", "b": "x"}), "Two namespaces are mapped to x"),
        (RestoreRequest(mapping={"a": "B!"}), "'B!' is not a valid namespace name"),
        (RestoreRequest(more=RestoreSpec(item_operation_timeout="4")), "is not a valid duration"),
    ],
)
def test_an_impossible_restore_is_a_one_line_error(wanted: RestoreRequest, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        plan_restore(ClusterSnapshot(), [], wanted, NOW)


def test_nothing_is_restored_from_a_storage_location_that_is_unavailable() -> None:
    done = backup("one", ended="02:01:00", spec={"storageLocation": "minio"})
    away = location("minio", "Unavailable", message="dial tcp: no route to host")
    plan = plan_restore(ClusterSnapshot(backups=(done,), storage=(away,)), [done], RestoreRequest(), NOW)
    assert plan.steps == ()
    assert plan.refused[0].why == (
        'the storage location minio is Unavailable: "dial tcp: no route to host"; '
        "fix the storage location, then restore"
    )
    there = location("minio", "Available")
    assert plan_restore(ClusterSnapshot(backups=(done,), storage=(there,)), [done], RestoreRequest(), NOW).steps


def test_a_restore_of_some_namespaces_and_resources_says_so_in_spec_and_command() -> None:
    done = backup("one", ended="02:01:00", spec={"includedNamespaces": ["shop", "web"]})
    more = RestoreSpec(included_namespaces=("shop", "ledger"), included_resources=("configmaps",))
    (step,) = plan_restore(ClusterSnapshot(backups=(done,)), [done], RestoreRequest("mine", more=more), NOW, []).steps
    assert step.target.name == "mine"
    assert step.write.body["spec"]["includedNamespaces"] == ["shop", "ledger"]
    assert step.write.body["spec"]["includedResources"] == ["configmaps"]
    assert "--include-namespaces shop,ledger --include-resources configmaps" in step.command
    assert step.warnings == ("The backup does not include ledger: nothing is restored from there.",)
    wrong = RestoreRequest(more=RestoreSpec(included_namespaces=("Shop!",)))
    with pytest.raises(BadInput, match="'Shop!' is not a valid namespace name"):
        plan_restore(ClusterSnapshot(), [], wrong, NOW)


def test_a_restore_is_deleted_when_it_has_ended_and_what_it_restored_stays() -> None:
    marks = {"openshift.io/oadp-nar-origin-name": "back", "openshift.io/oadp-nar-origin-namespace": "team-a"}
    ended, tenants = restore("ended", "Completed"), restore("tenants", "Failed", meta={"annotations": marks})
    running, moving = restore("running", "InProgress"), restore("moving", "WaitingForPluginOperations")
    plan = plan_delete_restore(ClusterSnapshot(), [ended, tenants, running, moving], NOW)
    assert [(step.write.method, step.target.name) for step in plan.steps] == [
        ("DELETE", "ended"),
        ("DELETE", "tenants"),
    ]
    assert plan.steps[0].forecast.endswith("restored objects stay")
    assert "It belongs to the NAR team-a/back" in plan.steps[1].warnings[0]
    assert [one.target.name for one in plan.refused] == ["running", "moving"]


def test_a_failed_backup_cannot_be_restored() -> None:
    failed = backup("one", "Failed", ended="02:01:00")
    assert (
        plan_restore(ClusterSnapshot(backups=(failed,)), [failed], RestoreRequest(), NOW)
        .refused[0]
        .why.endswith("it is Failed")
    )


def test_a_nab_is_deleted_with_its_data_or_by_force_and_nothing_is_explained_that_was_not_asked() -> None:
    item = nab(veleroBackup={"name": "vb", "namespace": "velero"})
    plan = plan_delete_nab(ClusterSnapshot(nabs=(item,)), [item], NOW)
    (step,) = plan.steps
    assert step.write.body["spec"] == {"deleteBackup": True}
    assert "the Velero backup vb" in step.forecast
    assert plan.warnings == ()
    forced = plan_delete_nab(ClusterSnapshot(nabs=(item,)), [item], NOW, force=True, serves_force=True)
    assert forced.steps[0].write.body["spec"] == {"forceDeleteBackup": True}
    assert "their data stays in storage" in forced.steps[0].forecast


def made_from(name: str, backup_name: str, namespace: str = "team-a") -> NonAdminRestore:
    meta, spec = {"name": name, "namespace": namespace}, {"restoreSpec": {"backupName": backup_name}}
    return from_builtins(NonAdminRestore, {"metadata": meta, "spec": spec})


@pytest.mark.parametrize(
    ("velero", "nars", "said"),
    [
        (
            "vb",
            (),
            "its data in storage, the Velero backup vb and then the NAB itself are permanently deleted",
        ),
        (
            "vb",
            (made_from("back", "orders"), made_from("other", "wiki"), made_from("away", "orders", "team-b")),
            "its data in storage, the Velero backup vb, the NARs made from it (back) and then the NAB itself are "
            "permanently deleted",
        ),
        ("", (), "it never created a backup: only the NAB itself is deleted"),
    ],
)
def test_deleting_a_nab_names_all_that_goes_with_it(velero: str, nars: tuple[NonAdminRestore, ...], said: str) -> None:
    item = nab(veleroBackup={"name": velero, "namespace": "velero"}) if velero else nab()
    (step,) = plan_delete_nab(ClusterSnapshot(nabs=(item,), nars=nars), [item], NOW).steps
    assert step.forecast == said
    (forced,) = plan_delete_nab(ClusterSnapshot(nabs=(item,)), [item], NOW, force=True, serves_force=True).steps
    assert forced.forecast.startswith(f"the Velero backup {velero} and the NAB" if velero else said)
    assert "permanently" not in f"{forced.forecast} {DELETE_NAB.dialog}", "of a copy that stays in storage"
    assert ("data stays" in forced.forecast) is bool(velero), "without a backup there is no data"
    assert forced.write.before == {"spec": {"forceDeleteBackup": None}}


def test_force_delete_is_refused_if_the_crd_lacks_the_field() -> None:
    with pytest.raises(BadInput, match="no field forceDeleteBackup"):
        plan_delete_nab(ClusterSnapshot(), [nab()], NOW, force=True)


def test_a_deleting_nab_is_not_deleted_again_but_may_be_forced() -> None:
    leaving = nab(spec={"deleteBackup": True})
    assert "already being deleted" in plan_delete_nab(ClusterSnapshot(), [leaving], NOW).refused[0].why
    assert len(plan_delete_nab(ClusterSnapshot(), [leaving], NOW, force=True, serves_force=True).steps) == 1


def test_a_nar_is_deleted_directly() -> None:
    (step,) = plan_delete_nar(ClusterSnapshot(), [nar()], NOW).steps
    assert step.write.method == "DELETE"
    assert step.forecast == "restored objects stay"
    (step,) = plan_delete_nar(ClusterSnapshot(), [nar(veleroRestore={"name": "vr"})], NOW).steps
    assert step.forecast == "its Velero restore vr is deleted with it; restored objects stay"


def test_an_administrator_approves_or_rejects_storage_requests() -> None:
    wanted = {
        "provider": "aws",
        "objectStorage": {"bucket": "iot-backups", "prefix": "velero"},
        "config": {"region": "eu-1", "s3Url": "https://minio.example"},
        "credential": {"name": "iot-keys", "key": "cloud"},
    }
    request = from_builtins(
        NonAdminBackupStorageLocationRequest,
        {
            "metadata": {"name": "r", "namespace": "openshift-adp"},
            "spec": {"approvalDecision": "pending"},
            "status": {
                "nonAdminBackupStorageLocation": {"name": "mine", "namespace": "team-a", "requestedSpec": wanted}
            },
        },
    )
    (step,) = plan_decide(ClusterSnapshot(), [request], "approve", NOW).steps
    assert step.write.body["spec"] == {"approvalDecision": "approve"}
    assert step.changes == ("spec.approvalDecision pending → approve",)
    place = (
        "aws bucket iot-backups, prefix velero, region eu-1, at https://minio.example, with secret iot-keys, key cloud"
    )
    assert step.forecast.startswith(f"the storage location team-a/mine ({place}) is created for Velero; ")
    (no,) = plan_decide(ClusterSnapshot(), [request], "reject", NOW).steps
    assert no.forecast.startswith(f"the storage location team-a/mine ({place}) is not created")


def deployment(*args: str, **meta: Any) -> Deployment:
    container = {"name": "velero", "image": "velero/velero:v1.18.3", "args": ["server", *args]}
    return from_builtins(
        Deployment,
        {
            "metadata": {"name": "velero", "namespace": "velero", "resourceVersion": "9", **meta},
            "spec": {"template": {"spec": {"containers": [container]}}},
        },
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((), ["server", "--schedule-skip-immediately=true"]),
        (("--schedule-skip-immediately=false", "-v"), ["server", "-v", "--schedule-skip-immediately=true"]),
        (("--schedule-skip-immediately", "false"), ["server", "--schedule-skip-immediately=true"]),
    ],
)
def test_the_server_s_default_is_one_flag_of_its_container(before: tuple[str, ...], after: list[str]) -> None:
    (step,) = plan_server_default(ClusterSnapshot(), [deployment(*before)], True, NOW).steps
    assert step.write.form == "strategic"
    (container,) = step.write.body["spec"]["template"]["spec"]["containers"]
    assert container == {"name": "velero", "args": after}


def test_the_restart_names_what_it_kills() -> None:
    snapshot = ClusterSnapshot(backups=(backup("one", "InProgress", started="02:00:03"), backup("two", "Queued")))
    (step,) = plan_server_default(snapshot, [deployment()], True, NOW).steps
    assert step.warnings[0].startswith("Velero restarts, which kills one ")


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (deployment(labels={"openshift.io/oadp": "True"}), "unsupported-velero-server-args"),
        (deployment(labels={"app.kubernetes.io/managed-by": "oadp-operator"}), "unsupported-velero-server-args"),
        (
            deployment(ownerReferences=[{"kind": "DataProtectionApplication", "name": "dpa", "controller": True}]),
            "unsupported-velero-server-args",
        ),
        (deployment(ownerReferences=[{"kind": "Velero9", "name": "op", "controller": True}]), "Velero9 op owns it"),
        (deployment("--schedule-skip-immediately"), "its default is already true"),
    ],
)
def test_a_deployment_owned_by_an_operator_is_refused_with_advice(item: Deployment, words: str) -> None:
    plan = plan_server_default(ClusterSnapshot(), [item], True, NOW)
    assert plan.steps == ()
    assert words in plan.refused[0].why


def test_a_deletion_waits_for_a_silent_velero() -> None:
    silent = location(checked="02:26:03", synced="02:26:03")
    snapshot = ClusterSnapshot("prod", backups=(backup("one"),), restores=(restore("back"),), storage=(silent,))
    wait = "nothing is deleted until Velero is back (no sign of activity from Velero since 02:26:03Z), then its "
    for plan in (
        plan_delete_backup(snapshot, snapshot.backups, NOW),
        plan_delete_restore(snapshot, snapshot.restores, NOW),
    ):
        assert plan.steps[0].forecast.startswith(wait)


def test_a_restore_is_named_after_its_backup_and_not_like_a_scheduled_one() -> None:
    source = backup("wiki-20261114030003", spec={"includedNamespaces": ["wiki"]})
    (step,) = plan_restore(ClusterSnapshot("prod", backups=(source,)), [source], RestoreRequest(), NOW, ()).steps
    assert step.target.name == "wiki-20261114030003-20261115024107"
    assert "namespace wiki (Completed)" in step.changes[1]
