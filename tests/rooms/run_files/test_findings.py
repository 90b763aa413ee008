"""Copies that hold less than the ones before, and those that warn: told where it is certain, with what to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import Backup, DataUpload, PersistentVolumeClaim, PodVolumeBackup, Resource, from_builtins
from foretop_core.models.velero import EXCLUDE_LABEL
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Severity, triage
from foretop_core.rules.volumes.evidence import KnownVolumes
from foretop_core.rules.volumes.volume_info import parse_volume_info
from tests.objects import NOW, backup, location, schedule
from tests.unit.rules.test_volume_info import COPIED, skipped

SPEC = {"includedNamespaces": ["shop"]}
GB = 1_000_000_000


def copy(day: int, snapshots: int = 0, spec: dict[str, Any] | None = None, **status: Any) -> Backup:
    run = backup(
        f"nightly-202611{day}020003",
        created=f"2026-11-{day}T02:00:03Z",
        started=f"2026-11-{day}T02:00:04Z",
        ended=f"2026-11-{day}T02:10:00Z",
        of="nightly",
        spec=SPEC if spec is None else spec,
        volumeSnapshotsAttempted=snapshots,
        volumeSnapshotsCompleted=snapshots,
        **status,
    )
    return replace(run, metadata=replace(run.metadata, uid=run.name))


def moved(day: int, claim: str, size: int = GB) -> PodVolumeBackup:
    of = f"nightly-202611{day}020003"
    meta = {
        "name": f"{of}-{claim}",
        "namespace": "velero",
        "labels": {"velero.io/backup-name": of},
        "annotations": {"velero.io/pvc-name": claim},
    }
    status = {"phase": "Completed", "progress": {"bytesDone": size, "totalBytes": size}}
    return from_builtins(PodVolumeBackup, {"metadata": meta, "spec": {"pod": {"namespace": "shop"}}, "status": status})


def cluster(*objects: Resource) -> ClusterSnapshot:
    return assemble((location(), schedule(last="2026-11-15T02:00:03Z"), *objects))


def told(snapshot: ClusterSnapshot) -> list[Finding]:
    codes = ("copy-lacks-volumes", "copy-shrunk", "backup-warns")
    return [one for one in triage(snapshot, NOW).findings if one.code in codes]


def known(snapshot: ClusterSnapshot, run: Backup, *entries: dict[str, Any]) -> ClusterSnapshot:
    info = parse_volume_info(json.dumps(entries).encode())
    return replace(
        snapshot,
        known_volumes={
            **snapshot.known_volumes,
            (run.namespace, run.name): KnownVolumes(run.metadata.uid, run.phase, info),
        },
    )


@pytest.mark.parametrize("of_logs", [GB, 9 * GB])
def test_a_volume_that_somebody_chose_to_leave_out_since_is_no_loss(of_logs: int) -> None:
    objects = (copy(14), copy(15), moved(14, "data"), moved(14, "logs", of_logs), moved(15, "data"))

    def claim(name: str, **labels: str) -> Resource:
        meta = {"name": name, "namespace": "shop", "labels": labels}
        body = {"metadata": meta, "spec": {"volumeName": f"pv-{name}"}, "status": {"phase": "Bound"}}
        return from_builtins(PersistentVolumeClaim, body)

    excluded = claim("logs", **{EXCLUDE_LABEL: "true"})
    assert [one.code for one in told(cluster(*objects, claim("data"), claim("logs")))] == ["copy-lacks-volumes"]
    assert told(cluster(*objects, claim("data"), excluded)) == []
    shrunk = (copy(14), copy(15), moved(14, "data", 3 * GB), moved(14, "logs", of_logs), moved(15, "data"))
    assert [one.code for one in told(cluster(*shrunk, claim("data"), excluded))] == ["copy-shrunk"]


def test_fewer_snapshots_than_the_copy_before_is_a_finding() -> None:
    (found,) = told(cluster(copy(14, 4), copy(15, 2)))
    assert (found.code, found.severity, found.subject.name) == (
        "copy-lacks-volumes",
        Severity.WARNING,
        "nightly-20261115020003",
    )
    assert render(found.what, NOW) == "2 volumes fewer than before"
    assert render(found.evidence, NOW) == "nightly-20261115020003 has 2 volumes, nightly-20261114020003 had 4."
    assert "foretop taken nightly-20261114020003" in str(render(found.remedy, NOW))


def test_the_volume_that_is_missing_is_named_where_it_has_a_name() -> None:
    (found,) = told(cluster(copy(14), copy(15), moved(14, "cart"), moved(14, "orders"), moved(15, "cart")))
    assert str(render(found.evidence, NOW)).endswith(" had 2. It lacks shop/orders.")


def test_why_it_is_missing_is_told_by_its_volume_info() -> None:
    newest, upload = copy(15), from_builtins(DataUpload, {"metadata": {"name": "x", "namespace": "velero"}})
    base = cluster(copy(14), newest, upload, moved(14, "data-0"), moved(14, "data-1"))
    snapshot = known(base, newest, COPIED, {**skipped("podvolume: opted out"), "pvcName": "data-1"})
    (found,) = told(snapshot)
    assert str(render(found.evidence, NOW)).endswith(
        " has 1 volume, nightly-20261114020003 had 2. It lacks shop/data-1 (opted out)."
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (copy(14, 2), copy(15, 2)),
        (copy(14, 2), copy(15, 3)),
        (copy(14, 4), copy(15, 2, {"includedNamespaces": ["shop"], "snapshotVolumes": False})),
        (copy(14, 4), copy(15, 0, phase="Failed")),
    ],
)
def test_as_many_a_choice_or_a_failed_run_is_none(before: Backup, after: Backup) -> None:
    assert told(cluster(before, after)) == []


def test_the_least_that_a_copy_can_have_is_not_less_than_what_another_is_known_to_have() -> None:
    """The newest may have snapshots without an object: only its volume info would tell."""
    before, newest = copy(14), copy(15)
    snapshot = known(cluster(before, newest), before, COPIED)
    assert told(snapshot) == []


def test_half_the_bytes_is_a_finding_where_all_of_both_are_known() -> None:
    (found,) = told(cluster(copy(14), copy(15), moved(14, "cart", 10 * GB), moved(15, "cart", 4 * GB)))
    assert (found.code, render(found.what, NOW)) == ("copy-shrunk", "less than half the bytes")
    assert "has 4.0 GB" in str(render(found.evidence, NOW))
    half = (moved(14, "cart", 10 * GB), moved(15, "cart", 5 * GB))
    assert told(cluster(copy(14), copy(15), *half)) == []
    assert told(cluster(copy(14, 1), copy(15, 1), moved(14, "cart", 10 * GB), moved(15, "cart", 4 * GB))) == []
    small = (moved(14, "cart", 1_000), moved(15, "cart", 4))
    assert told(cluster(copy(14), copy(15), *small)) == []


def test_a_copy_that_is_completed_with_warnings_is_a_note() -> None:
    (found,) = told(cluster(copy(14), copy(15, warnings=2)))
    assert (found.code, found.severity) == ("backup-warns", Severity.NOTE)
    assert render(found.what, NOW) == "Completed with 2 warnings"
    assert told(cluster(copy(14, warnings=2), copy(15))) == []
