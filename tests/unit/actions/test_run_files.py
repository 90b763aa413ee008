"""Files of runs, judged from what is seen: whose they are, and why there is none."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.planners.downloads import (
    LOGS,
    NONADMIN_LOGS,
    NONADMIN_RESULTS,
    RESOURCES,
    RESULTS,
    Run,
    RunFile,
)
from foretop_core.actions.run_files import has_own_storage, likely_file_owner, why_no_file
from foretop_core.models import Backup, NonAdminBackup, NonAdminRestore, Restore, from_builtins
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import backup, location, nab, restore

READABLE = ["Completed", "PartiallyFailed", "Failed", "WaitingForPluginOperations"]
AWAY = location("minio", "Unavailable", message="denied")
MARKED = backup("vb", labels={"openshift.io/oadp-nab-origin-nacuuid": "u-1"})
BACK = restore("vr", meta={"labels": {"openshift.io/oadp-nar-origin-nacuuid": "u-2"}})


def tenant_backup(name: str = "orders", storage: str = "", namespace: str = "team-a") -> NonAdminBackup:
    return from_builtins(
        NonAdminBackup,
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"backupSpec": {"storageLocation": storage}},
            "status": {"veleroBackup": {"name": "vb", "namespace": "velero", "nacuuid": "u-1"}},
        },
    )


def tenant_restore(of: str = "orders") -> NonAdminRestore:
    return from_builtins(
        NonAdminRestore,
        {
            "metadata": {"name": "orders-back", "namespace": "team-a"},
            "spec": {"restoreSpec": {"backupName": of}},
            "status": {"veleroRestore": {"name": "vr", "namespace": "velero", "nacuuid": "u-2"}},
        },
    )


def run_of(kind: type[Run], phase: str, **spec: Any) -> Run:
    body = {"metadata": {"name": "one", "namespace": "velero"}, "spec": spec, "status": {"phase": phase or None}}
    return from_builtins(kind, body)


def test_each_file_has_its_noun_its_number_and_its_actions() -> None:
    assert [(file.noun, file.is_one) for file in RunFile] == [
        ("log", True),
        ("results", False),
        ("resource list", True),
        ("volume info", True),
    ]
    assert [file.record(of_tenant=False) for file in RunFile] == [LOGS, RESULTS, RESOURCES, RESULTS]
    assert [file.record(of_tenant=True) for file in RunFile] == [
        NONADMIN_LOGS,
        NONADMIN_RESULTS,
        RESOURCES,
        NONADMIN_RESULTS,
    ]


def test_what_is_taken_apart_whole_may_be_less_long_than_a_log() -> None:
    assert RunFile.LOG.most_bytes > RunFile.RESOURCES.most_bytes > RunFile.RESULTS.most_bytes


@pytest.mark.parametrize("kind", [Backup, Restore])
@pytest.mark.parametrize("file", RunFile)
def test_a_run_that_has_written_its_files_has_them(kind: type[Run], file: RunFile) -> None:
    for phase in READABLE:
        assert why_no_file(ClusterSnapshot(storage=(location(),)), run_of(kind, phase), file) is None


@pytest.mark.parametrize(
    ("phase", "file", "why"),
    [
        ("", RunFile.LOG, ("one has no log yet", "it is New", "wait until it has ended")),
        ("InProgress", RunFile.RESULTS, ("one has no results yet", "it is InProgress", "wait until it has ended")),
        (
            "FailedValidation",
            RunFile.RESOURCES,
            ("one has no resource list and will never have one", "it is FailedValidation", "it was never run"),
        ),
        (
            "FailedValidation",
            RunFile.RESULTS,
            ("one has no results and will never have any", "it is FailedValidation", "it was never run"),
        ),
    ],
)
def test_a_run_that_has_not_written_its_files_has_none(phase: str, file: RunFile, why: tuple[str, str, str]) -> None:
    for kind in (Backup, Restore):
        assert why_no_file(ClusterSnapshot(), run_of(kind, phase), file) == why


def test_nothing_is_fetched_from_storage_that_is_unavailable() -> None:
    """The files of a restore are where its backup is; of a backup that is gone nobody knows."""
    reason = 'the storage location minio is Unavailable: "denied"'
    why = ("The log of one cannot be fetched", reason, "fix the storage location")
    kept = backup("kept", spec={"storageLocation": "minio"})
    snapshot = ClusterSnapshot(backups=(backup("other"), kept), storage=(location(), AWAY))
    assert why_no_file(snapshot, run_of(Backup, "Completed", storageLocation="minio"), RunFile.LOG) == why
    assert why_no_file(snapshot, run_of(Restore, "Completed", backupName="kept"), RunFile.LOG) == why
    assert why_no_file(snapshot, run_of(Restore, "Completed", backupName="other"), RunFile.LOG) is None
    assert why_no_file(snapshot, run_of(Restore, "Completed", backupName="gone"), RunFile.LOG) is None


def test_a_location_without_a_reason_says_so() -> None:
    snapshot = ClusterSnapshot(storage=(location(phase="Unavailable"),))
    _, reason, _ = why_no_file(snapshot, run_of(Backup, "Completed"), RunFile.LOG) or ("", "", "")
    assert reason == "the storage location default is Unavailable: no reason given"


def test_storage_of_a_tenant_s_own_is_named_by_the_tenant_s_backup() -> None:
    own, shared = tenant_backup(storage="mine"), tenant_backup("shared")
    elsewhere = tenant_backup("away", storage="mine", namespace="team-b")
    snapshot = ClusterSnapshot(nabs=(shared, own, elsewhere))
    assert has_own_storage(snapshot, own)
    assert not has_own_storage(snapshot, shared)
    assert has_own_storage(snapshot, tenant_restore("orders"))
    assert not has_own_storage(snapshot, tenant_restore("shared"))
    assert not has_own_storage(snapshot, tenant_restore("away"))
    assert not has_own_storage(snapshot, tenant_restore("gone"))


def test_the_owner_of_a_file_is_velero_s_object_unless_the_storage_is_the_tenant_s() -> None:
    snapshot = ClusterSnapshot(backups=(backup("other"), MARKED), restores=(restore("other"), BACK))
    assert snapshot.velero_run(tenant_backup()) == MARKED
    assert snapshot.velero_run(tenant_restore()) == BACK
    assert snapshot.velero_run(nab("unknown")) is None
    assert likely_file_owner(snapshot, tenant_backup()) == MARKED
    own = tenant_backup(storage="mine")
    assert likely_file_owner(snapshot, own) == own
    assert likely_file_owner(snapshot, MARKED) == MARKED
    assert likely_file_owner(ClusterSnapshot(), tenant_restore()) is None
