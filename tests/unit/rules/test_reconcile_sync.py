"""Which backups bring a NAB back, and how what the non-admin controller makes is named."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.minicluster.reconcile import sync_nabs
from foretop_core.minicluster.reconcile.naming import nacuuid
from foretop_core.models import Backup, NonAdminBackup, from_builtins

UUID = "0d0b7b2c-ee76-412d-a867-2c23b8aa51ab"
DONE = {"phase": "Completed", "completionTimestamp": "2026-11-15T02:24:30Z"}


def backup(status: dict[str, Any] = DONE, labels: dict[str, str] | None = None) -> Backup:
    meta = {
        "name": "b",
        "namespace": "velero",
        "labels": {"openshift.io/oadp-nab-origin-nacuuid": "n1"} if labels is None else labels,
        "annotations": {
            "openshift.io/oadp-nab-origin-name": "ledger",
            "openshift.io/oadp-nab-origin-namespace": "team-pay",
        },
    }
    return from_builtins(Backup, {"metadata": meta, "status": status})


def brought_back(found: Backup, nabs: list[NonAdminBackup], namespaces: tuple[str, ...] = ("team-pay",)) -> list[str]:
    return [f"{write.namespace}/{write.name}" for write in sync_nabs([found], nabs, namespaces).writes]


def test_a_finished_backup_without_its_nab_brings_it_back() -> None:
    assert brought_back(backup(), []) == ["team-pay/ledger"]


def test_a_nab_that_is_there_is_left_alone() -> None:
    there = from_builtins(NonAdminBackup, {"metadata": {"name": "ledger", "namespace": "team-pay"}})
    assert brought_back(backup(), [there]) == []


def test_a_backup_that_still_runs_or_is_being_deleted_brings_nothing_back() -> None:
    assert brought_back(backup({"phase": "InProgress"}), []) == []
    assert brought_back(backup({**DONE, "phase": "Deleting"}), []) == []


def test_a_backup_of_nobodys_or_of_a_namespace_that_is_gone_brings_nothing_back() -> None:
    assert brought_back(backup(labels={}), []) == []
    assert brought_back(backup(), [], namespaces=("team-web",)) == []


@pytest.mark.parametrize(
    ("namespace", "name", "expected"),
    [
        ("team-pay", "ledger", f"team-pay-ledger-{UUID}"),
        ("mongo-persistent", "anothertest", "mongo-persistent-anotherte-0d0b7b2c-ee76-412d-a867-2c23b8aa51ab"),
        ("n" * 25, "ledger", f"{'n' * 25}-{UUID}"),
        ("n" * 60, "ledger", f"{'n' * 25}-{UUID}"),
    ],
)
def test_a_nacuuid_fits_into_a_label(namespace: str, name: str, expected: str) -> None:
    made = nacuuid(namespace, name, UUID)
    assert made == expected
    assert len(made) <= 63
