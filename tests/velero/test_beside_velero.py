"""The velero command line beside foretop's: the same actions, the same facts, field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.velero.describe_output import as_go_duration, as_rfc_3339, foretop_description, velero_description
from tests.velero.foretop_command import ForetopCommand
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import NOT_DUE, wait_until_available
from tests.velero.velero_cluster import TEAMS, VELERO_NAMESPACE, ServerFlags, StorySteps


@pytest.fixture
def foretop(cluster: RealVeleroCluster, tmp_path: Path) -> ForetopCommand:
    return ForetopCommand(cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE), tmp_path)


def _state(cluster: RealVeleroCluster, name: str) -> tuple[Any, ...]:
    found = cluster.find("Schedule", name) or {}
    spec, status = found["spec"], found.get("status") or {}
    return (spec.get("paused", False), spec.get("skipImmediately"), status.get("phase"), "lastSkipped" in status)


@pytest.mark.share
@pytest.mark.seconds(10)
@pytest.mark.parametrize("skip", ["true", "false"])
def test_pausing_and_unpausing_leave_the_same_schedule(
    cluster: RealVeleroCluster, foretop: ForetopCommand, skip: str
) -> None:
    steps = StorySteps(cluster)
    cluster.start(ServerFlags())
    for name in ("by-velero", "by-foretop"):
        steps.schedule(name, NOT_DUE)
        steps.wait_for_phase("Schedule", name, "Enabled")
    cluster.velero_command("schedule", "pause", "by-velero")
    foretop.text("schedule", "pause", "by-foretop", "--yes")
    assert _state(cluster, "by-velero")[0] == _state(cluster, "by-foretop")[0] is True
    flag = f"--skip-immediately={skip}"
    cluster.velero_command("schedule", "unpause", "by-velero", flag)
    foretop.text("schedule", "unpause", "by-foretop", flag, "--yes", "--no-wait")
    cluster.wait_until(lambda: all(_state(cluster, name)[:2] == (False, False) for name in ("by-velero", "by-foretop")))
    for name in ("by-velero", "by-foretop"):
        assert _state(cluster, name) == (False, False, "Enabled", skip == "true")


BACKUP_NOT_SHOWN = {
    "Annotations",
    "Backup Format Version",
    "Backup Volumes/CSI Snapshots",
    "Backup Volumes/Pod Volume Backups",
    "Backup Volumes/Velero-Native Snapshots",
    "Data Mover",
    "Label selector",
    "Or label selector",
    "Velero-Native Snapshot PVs",
    "Hooks",
    "HooksAttempted",
    "HooksFailed",
}
RESTORE_NOT_SHOWN = {
    "Annotations",
    "Labels",
    "Label selector",
    "Or label selector",
    "Restore PVs",
    "CSI Snapshot Restores",
    "Existing Resource Policy",
    "Preserve Service NodePorts",
    "Resources/Cluster-scoped",
    "HooksAttempted",
    "HooksFailed",
}
"""What foretop leaves out: a default, an empty list, or nothing that was asked for."""


@pytest.mark.share
@pytest.mark.seconds(60)
def test_a_backup_and_its_restore_are_described_alike_and_their_logs_are_the_same(
    cluster: RealVeleroCluster, foretop: ForetopCommand
) -> None:
    steps = StorySteps(cluster)
    cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.backup("shop", TEAMS[0])
    steps.wait_for_phase("Backup", "shop", "Completed")
    cluster.create("Restore", "shop-again", {"backupName": "shop", "namespaceMapping": {TEAMS[0]: "team-again"}})
    steps.wait_for_phase("Restore", "shop-again", "Completed", "PartiallyFailed")

    theirs = velero_description(cluster.velero_command("backup", "describe", "shop", "--details"))
    item, text = foretop.item("backups", "shop"), foretop_description(foretop.text("describe", "backup", "shop"))
    cluster_scoped = f"only those that namespaced ones need, without {theirs['Resources/Excluded cluster-scoped']}"
    namespaced = f"all, without {theirs['Resources/Excluded namespace-scoped']}"
    ours = {
        "Name": item["name"],
        "Namespace": item["namespace"],
        "Labels": text["Labels"],
        "Phase": item["phase"],
        "Namespaces/Included": text["Namespaces"],
        "Namespaces/Excluded": "<none>",
        "Resources/Included cluster-scoped": "<none>" if text["Cluster resources"] == cluster_scoped else "",
        "Resources/Excluded cluster-scoped": text["Cluster resources"].rpartition("without ")[2],
        "Resources/Included namespace-scoped": "*" if text["Namespaced resources"] == namespaced else "",
        "Resources/Excluded namespace-scoped": text["Namespaced resources"].rpartition("without ")[2],
        "Storage Location": item["storageLocation"],
        "File System Backup (Default)": text["defaultVolumesToFsBackup"],
        "Snapshot Move Data": text["snapshotMoveData"],
        "TTL": as_go_duration(text["TTL"]),
        "CSISnapshotTimeout": as_go_duration(text["csiSnapshotTimeout"]),
        "ItemOperationTimeout": as_go_duration(text["itemOperationTimeout"]),
        "Started": item["started"],
        "Completed": item["completed"],
        "Expiration": item["expires"],
        "Total items to be backed up": str(item["itemsTotal"]),
        "Items backed up": str(item["itemsDone"]),
    }
    assert ours == {key: as_rfc_3339(value) for key, value in theirs.items() if key not in BACKUP_NOT_SHOWN}

    log = cluster.velero_command("backup", "logs", "shop")
    assert foretop.text("backup", "logs", "shop").splitlines() == log.splitlines()
    assert "level=info" in log
    assert foretop.text("backup", "results", "shop") == "velero/shop: Completed, 0 errors and 0 warnings\n"

    theirs = velero_description(cluster.velero_command("restore", "describe", "shop-again", "--details"))
    item = foretop.item("restores", "shop-again")
    text = foretop_description(foretop.text("describe", "restore", "shop-again"))
    ours = {
        "Name": item["name"],
        "Namespace": item["namespace"],
        "Phase": item["phase"],
        "Total items to be restored": str(item["itemsTotal"]),
        "Items restored": str(item["itemsDone"]),
        "Started": item["started"],
        "Completed": item["completed"],
        "Backup": item["backup"],
        "Namespaces/Included": "all namespaces found in the backup" if text["Namespaces"] == "all" else "",
        "Namespaces/Excluded": "<none>",
        "Resources/Included": "*" if text["Resources"].startswith("all, without ") else "",
        "Resources/Excluded": text["Resources"].removeprefix("all, without "),
        "Namespace mappings": text["Namespaces renamed"].replace(" to ", "="),
        "ItemOperationTimeout": as_go_duration(text["itemOperationTimeout"]),
    }
    assert ours == {key: as_rfc_3339(value) for key, value in theirs.items() if key not in RESTORE_NOT_SHOWN}
    assert foretop.text("restore", "logs", "shop-again").splitlines() == (
        cluster.velero_command("restore", "logs", "shop-again").splitlines()
    )
    assert foretop.text("restore", "results", "shop-again") == (
        "velero/shop-again: Completed, 0 errors and 0 warnings\n"
    )
