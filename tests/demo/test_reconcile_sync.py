"""Which backups get their NAB again, and the names of the objects of the non-admin controller."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.models import Backup, NonAdminBackup, from_builtins
from foretop_demo.reconcile import sync_nabs
from foretop_demo.reconcile.naming import nacuuid

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


def test_the_nab_of_a_finished_backup_is_created_again() -> None:
    assert brought_back(backup(), []) == ["team-pay/ledger"]


def test_an_existing_nab_is_unchanged() -> None:
    there = from_builtins(NonAdminBackup, {"metadata": {"name": "ledger", "namespace": "team-pay"}})
    assert brought_back(backup(), [there]) == []


def test_unfinished_and_deleting_backups_are_ignored() -> None:
    assert brought_back(backup({"phase": "InProgress"}), []) == []
    assert brought_back(backup({**DONE, "phase": "Deleting"}), []) == []


def test_backups_without_an_owner_or_namespace_are_ignored() -> None:
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
