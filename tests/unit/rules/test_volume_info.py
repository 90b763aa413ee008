"""The volume info of a backup: read from what a real Velero wrote and from what somebody else may put there."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.errors import Unreadable
from foretop_core.models import Backup, PersistentVolume, PersistentVolumeClaim, PodVolumeBackup, from_builtins
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.protection.coverage import VolumeMethod
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.volumes.evidence import KnownVolumes, ToldVolume, VolumeEvidence, VolumeFate, run_volumes
from foretop_core.rules.volumes.volume_info import MOST_VOLUMES, parse_volume_info, told_line
from foretop_core.store import Store
from tests.objects import NOW, backup
from tests.unit.rules.test_coverage_vectors import FILES, as_seen, held_of, read_vectors


def read(*entries: Any) -> tuple[ToldVolume, ...]:
    return parse_volume_info(json.dumps(entries).encode()).volumes


def entry(claim: str = "data-0", **more: Any) -> dict[str, Any]:
    return {"pvcName": claim, "pvcNamespace": "shop", "pvName": f"pv-{claim}", "skipped": False, **more}


def skipped(reason: str) -> dict[str, Any]:
    return entry(skipped=True, skippedReason=reason)


NATIVE = entry(backupMethod="NativeSnapshot", result="succeeded", nativeSnapshotInfo={"Phase": "Completed"})
CSI = entry(backupMethod="CSISnapshot", result="succeeded", csiSnapshotInfo={"size": 1 << 30, "ReadyToUse": True})
COPIED = entry(backupMethod="PodVolumeBackup", result="succeeded", pvbInfo={"size": 512, "phase": "Completed"})
MOVED = entry(
    backupMethod="CSISnapshot",
    snapshotDataMoved=True,
    result="succeeded",
    snapshotDataMovementInfo={"size": 4096, "phase": "Completed"},
)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (NATIVE, "data-0 by snapshot, size not known"),
        (CSI, "data-0 by snapshot, 1.1 GB"),
        (COPIED, "data-0 by file system, 512 B"),
        (COPIED | {"pvbInfo": {"phase": "Completed"}}, "data-0 by file system, 0 B"),
        (COPIED | {"result": ""}, "data-0 by file system, 512 B"),
        (COPIED | {"result": "failed"}, "data-0: its file copy failed"),
        (MOVED, "data-0 by data mover, 4.1 kB"),
        (MOVED | {"result": None}, "data-0 by data mover, 4.1 kB"),
        (
            MOVED | {"result": "", "snapshotDataMovementInfo": {"phase": "InProgress"}},
            "data-0: not known, its data movement had not ended when its volume info was written",
        ),
        (
            skipped("volumeSnapshot: no applicable volumesnapshotter found;"),
            "data-0: no snapshot location knows this volume",
        ),
        (
            skipped(
                "csiSnapshot: skipped b/c it's not a CSI volume;"
                "volumeSnapshot: no applicable volumesnapshotter found;"
            ),
            "data-0: no snapshot location knows this volume",
        ),
        (
            skipped(
                "any: skipped due to resource policy ;volumeSnapshot: not satisfy the criteria for VolumePolicy or the "
                "legacy snapshot way;"
            ),
            "data-0: its resource policy skips it",
        ),
        (
            skipped("podvolume: opted out due to annotation in pod web-0;volumeSnapshot: not satisfy the criteria for "
                    "VolumePolicy or the legacy snapshot way;"),
            "data-0: opted out due to annotation in pod web-0",
        ),
        (
            skipped("volumeSnapshot: not satisfy the criteria for VolumePolicy or the legacy snapshot way;"),
            "data-0: its backup takes no snapshot of it",
        ),
        (skipped(""), "data-0: its volume info gives no reason"),
        (entry(backupMethod="Tape"), "data-0: not known, it was taken in a way that foretop does not know: Tape"),
        (entry(), "data-0: not known, its volume info names no way"),
    ],
)  # fmt: skip
def test_each_volume_is_told_in_a_line(told: dict[str, Any], line: str) -> None:
    assert told_line(read(told)[0]) == line


def test_only_what_says_so_is_taken() -> None:
    odd: tuple[Any, ...] = (True, 1, [], {}, "Succeeded", "yes", None)
    fates = {read(NATIVE | {"result": value, "nativeSnapshotInfo": {}})[0].fate for value in odd}
    assert fates == {VolumeFate.NOT_KNOWN}
    assert read(NATIVE, NATIVE) == read(NATIVE)
    assert read(NATIVE, skipped("x"))[0].fate is VolumeFate.NOT_KNOWN


@pytest.mark.parametrize("size", [-1, 0, 1.5, True, "12", None, [1], 2**63, 10**300])
def test_a_size_that_cannot_be_one_is_not_known(size: Any) -> None:
    told = read(CSI | {"csiSnapshotInfo": {"size": size}})[0]
    assert (told.fate, told.size) == (VolumeFate.TAKEN, None)


def test_a_volume_of_a_pod_alone_belongs_to_no_claim() -> None:
    info = parse_volume_info(json.dumps([COPIED, {"backupMethod": "PodVolumeBackup", "pvName": ""}]).encode())
    assert (len(info.volumes), info.others) == (1, 1)


def test_the_list_of_velero_1_13_lies_in_an_object() -> None:
    assert parse_volume_info(json.dumps({"volumeInfos": [NATIVE]}).encode()).volumes == read(NATIVE)
    assert parse_volume_info(b"null").volumes == ()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"7",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"volumeInfos": 3}',
        b"[3]",
        json.dumps([entry("x" * 254)]).encode(),
        json.dumps([entry() | {"pvcName": ["data"]}]).encode(),
        b"[" + b"{}," * MOST_VOLUMES + b"{}]",
    ],
)  # fmt: skip
def test_what_is_no_volume_info_is_one_line(body: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        parse_volume_info(body)
    text = str(caught.value)
    assert text.startswith("The volume info cannot be read: ")
    assert "\n" not in text
    assert len(text) < 400


def test_a_reason_of_a_megabyte_is_cut() -> None:
    (told,) = read(skipped(f"podvolume: {'x' * 1_000_000}"))
    assert len(told.why) == 301


_TOLD = {
    "coverage-101": {"taken": 67, "missing": 403, "open": 0},
    "coverage-102": {"taken": 58, "missing": 319, "open": 0},
    "coverage-301": {"taken": 30, "missing": 176, "open": 13},
}
"""Those that stay open are of runs whose snapshots the file does not name, because no PersistentVolume is in them."""


@pytest.mark.parametrize("name", FILES)
def test_volume_info_proves_each_volume_of_a_real_server(name: str) -> None:
    """Nothing is called taken that was not, nothing missing that is there, and next to nothing stays open."""
    vectors, wrong, told = read_vectors(name), [], Counter[str]()
    for number, run in enumerate(vectors.runs):
        snapshot, one = as_seen(vectors, run)
        one = replace(one, metadata=replace(one.metadata, uid="u"))
        info = parse_volume_info(json.dumps(run["volumes"] or []).encode())
        snapshot = replace(snapshot, known_volumes={("velero", "one"): KnownVolumes("u", one.phase, info)})
        for namespace in filter(None, run["taken"]):
            evidence, held = snapshot.volumes_in(one, namespace), held_of(run, namespace)
            taken, missing = {each.name for each in evidence.taken}, {each.name for each in evidence.left_out}
            told.update(taken=len(taken), missing=len(missing), open=len(evidence.open))
            if taken != held or missing & held:
                wrong.append((number, namespace, evidence, held, run["counts"]))
    assert wrong == []
    assert told == _TOLD[name]


STARTED = "2026-11-15T02:40:00Z"


def seen(*told: dict[str, Any], phase: str = "Completed", uid: str = "u", **more: Any) -> ClusterSnapshot:
    """A cluster with two claims of a namespace, and a backup of it whose volume info says this."""
    info = parse_volume_info(json.dumps(told).encode())
    return replace(cluster(**more), known_volumes={("velero", "one"): KnownVolumes(uid, phase, info)})


def cluster(claims: tuple[str, ...] = ("data-0", "data-1"), created: str = STARTED, **more: Any) -> ClusterSnapshot:
    meta = {"namespace": "shop", "creationTimestamp": created}
    made = [
        from_builtins(
            PersistentVolumeClaim,
            {"metadata": {"name": name, **meta}, "spec": {"volumeName": f"pv-{name}"}, "status": {"phase": "Bound"}},
        )
        for name in claims
    ]
    volumes = [from_builtins(PersistentVolume, {"metadata": {"name": f"pv-{name}"}}) for name in claims]
    read_too = from_builtins(PodVolumeBackup, {"metadata": {"name": "x", "namespace": "velero"}})
    return assemble((subject(**more), *made, *volumes, read_too))


def subject(uid: str = "u", snapshots: int = 2, operations: int = 0) -> Backup:
    status = {
        "phase": "Completed",
        "startTimestamp": STARTED,
        "volumeSnapshotsAttempted": snapshots,
        "backupItemOperationsAttempted": operations,
    }
    return from_builtins(Backup, {"metadata": {"name": "one", "namespace": "velero", "uid": uid}, "status": status})


def proven(snapshot: ClusterSnapshot) -> VolumeEvidence:
    return snapshot.volumes_in(snapshot.backups[0], "shop")


SECOND = {"pvcName": "data-1", "pvName": "pv-data-1"}


def test_volume_info_takes_the_place_of_not_known() -> None:
    assert proven(cluster()).count_text == "?/2"
    evidence = proven(seen(CSI, skipped("podvolume: opted out") | SECOND))
    assert [(one.name, one.method, one.size, one.is_by_info) for one in evidence.taken] == [
        ("data-0", VolumeMethod.SNAPSHOT, 1 << 30, True)
    ]
    assert [(one.name, one.why) for one in evidence.left_out] == [("data-1", "opted out")]
    assert (evidence.open, evidence.unknown, evidence.count_text) == ((), "", "1/2")


def test_volume_info_of_another_backup_of_that_name_proves_nothing() -> None:
    both = (CSI, CSI | SECOND)
    assert proven(seen(*both)).count_text == "2/2"
    assert proven(seen(*both, uid="other")).count_text == "?/2"
    assert proven(seen(*both, phase="WaitingForPluginOperations")).count_text == "?/2"


def test_the_volume_info_of_another_volume_proves_nothing_of_a_claim_of_that_name() -> None:
    """The claim was made again, with a time that says nothing, or is bound to another volume by now."""
    evidence = proven(seen(CSI | {"pvName": "pv-before"}, CSI | SECOND))
    assert [(one.name, one.why) for one in evidence.left_out] == [
        ("data-0", "the data is that of another volume, pv-before")
    ]
    assert [one.name for one in evidence.taken] == ["data-1"]


def _read_from_storage(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    one = snapshot.backups[0]
    times = {"creationTimestamp": "2026-11-15T02:50:00Z"}, {"completionTimestamp": "2026-11-15T02:45:00Z"}
    made = from_builtins(Backup, {"metadata": times[0], "status": times[1]})
    ended = replace(one.status, completion_timestamp=made.status.completion_timestamp)
    created = replace(one.metadata, creation_timestamp=made.created)
    return replace(snapshot, backups=(replace(one, metadata=created, status=ended),))


def test_the_volume_info_of_a_copy_of_another_cluster_proves_only_what_is_this_claims_own() -> None:
    """Volumes of storage classes have the uid of their claim in their name; all other names may be there twice."""
    evidence = proven(_read_from_storage(seen(CSI, CSI | SECOND)))
    assert (evidence.count_text, evidence.taken) == ("?/2", ())
    assert evidence.unknown == "it was read from storage, and nothing in it says of which cluster its data is"
    own = _read_from_storage(seen(CSI | {"pvName": "pvc-a1"}, CSI | SECOND))
    claims = [
        replace(one, metadata=replace(one.metadata, uid="a1"), spec=replace(one.spec, volume_name="pvc-a1"))
        if one.name == "data-0"
        else one
        for one in own.claims
    ]
    evidence = proven(replace(own, claims=tuple(claims)))
    assert ([one.name for one in evidence.taken], evidence.open) == (["data-0"], ("data-1",))


def test_a_backup_is_not_whole_by_a_volume_info_that_does_not_name_all_its_volumes() -> None:
    """Without PersistentVolumes it names file copies alone; snapshots that it lacks are counted in the status."""
    copied = parse_volume_info(json.dumps([COPIED]).encode())

    def told(one: Backup) -> tuple[str, str]:
        found = run_volumes(one, KnownVolumes("u", "Completed", copied), ())
        return found.count_text, found.size_unknown

    plain = subject(snapshots=0)
    assert told(plain) == ("1/1", "")
    bare = replace(plain, spec=replace(plain.spec, include_cluster_resources=False))
    assert told(bare)[0] == "1/?"
    more = replace(
        plain, status=replace(plain.status, csi_volume_snapshots_attempted=2, csi_volume_snapshots_completed=2)
    )
    assert told(more) == ("3/?", "nothing tells the size of a snapshot")


def test_a_volume_that_is_not_named_was_not_taken_where_all_would_be_named() -> None:
    evidence = proven(seen(CSI, snapshots=1))
    assert [(one.name, one.why) for one in evidence.left_out] == [("data-1", "its volume info does not name it")]
    assert proven(seen(CSI, snapshots=2)).open == ("data-1",)
    assert proven(seen(CSI, snapshots=1, operations=2)).open == ("data-1",)


def test_a_claim_that_is_newer_than_the_copy_has_nothing_in_it() -> None:
    evidence = proven(seen(CSI, CSI | SECOND, created="2026-11-15T02:41:00Z"))
    assert (evidence.taken, evidence.newer) == ((), ("data-0", "data-1"))


def test_one_that_did_not_end_keeps_its_volume_open() -> None:
    evidence = proven(seen(CSI, CSI | SECOND | {"result": ""}))
    assert (evidence.count_text, evidence.unknown) == (
        "?/2",
        "its snapshot had not ended when its volume info was written",
    )


def test_a_store_remembers_volume_info_until_the_backup_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.store.store.MOST_VOLUME_INFOS", 2)
    store = Store()
    keys = [ObjectRef("c", "Backup", "velero", name) for name in ("a", "b", "c")]
    runs = [replace(run, metadata=replace(run.metadata, uid=run.name)) for run in map(backup, "abc")]
    for key, run in zip(keys, runs, strict=True):
        store.put(key, run, run.created or NOW)
    heard = store.feed.subscribe()

    def known() -> set[str]:
        return {name for _, name in store.snapshot("c").known_volumes}

    for key, run in zip(keys, runs, strict=True):
        store.note_volumes(key, KnownVolumes(run.name, run.phase, parse_volume_info(b"[]")))
    assert known() == {"b", "c"}
    assert set(heard.drain()) == set(keys)
    store.note_volumes(keys[0], KnownVolumes("another", "Completed", parse_volume_info(b"[]")))
    assert known() == {"b", "c"}
    store.put(keys[1], None, runs[1].created or NOW)
    assert known() == {"c"}
    store.put(
        keys[2],
        replace(runs[2], metadata=replace(runs[2].metadata, uid="made again")),
        runs[2].created or NOW,
    )
    assert known() == set()
