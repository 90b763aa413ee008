"""The bytes of volumes: sums say what they cover, and leave out what is not known."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from foretop_core.models import Backup, DataUpload, PodVolumeBackup, Resource, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.size_facts import grown_most, night_sizes, place_size
from foretop_core.rules.indexes import Indexes
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.volumes.evidence import VolumesSeen
from tests.objects import NOW, backup, location, schedule

GB = 1_000_000_000


def copy(day: int, of: str = "nightly", **status: Any) -> Backup:
    at = f"2026-11-{day}T02:0"
    return backup(f"{of}-{day}", created=f"{at}0:03Z", started=f"{at}0:04Z", ended=f"{at}9:00Z", of=of, **status)


def moved(of: str, claim: str, gigabytes: int, phase: str = "Completed", place: str = "default") -> PodVolumeBackup:
    meta = {
        "name": f"{of}-{claim}",
        "namespace": "velero",
        "labels": {"velero.io/backup-name": of},
        "annotations": {"velero.io/pvc-name": claim},
    }
    spec = {"pod": {"namespace": "shop"}, "backupStorageLocation": place}
    progress = {"bytesDone": gigabytes * GB, "totalBytes": gigabytes * GB}
    return from_builtins(
        PodVolumeBackup, {"metadata": meta, "spec": spec, "status": {"phase": phase, "progress": progress}}
    )


def cluster(*objects: Resource) -> ClusterSnapshot:
    return assemble((location(), schedule("nightly", "0 2 * * *", last="2026-11-15T02:00:03Z"), *objects))


def test_a_night_sums_what_is_known_and_says_of_how_many_copies_it_is_not() -> None:
    seen = cluster(
        copy(14),
        moved("nightly-14", "data-0", 500),
        copy(15),
        moved("nightly-15", "data-0", 40),
        moved("nightly-15", "data-1", 2),
        copy(15, of="by-snapshots", volumeSnapshotsAttempted=3, volumeSnapshotsCompleted=3),
        copy(15, of="without"),
    )
    found = night_sizes(seen, NOW)
    assert (found.copies, found.with_volumes, found.known, found.volumes, found.size) == (3, 2, 1, 2, 42 * GB)
    told = "42.0 GB of 2 volumes in 1 backup; of 1 more the size is not known: nothing tells the size of a snapshot"
    assert found.text == f"{told}; nothing tells of volumes in 1 other"
    bare = cluster(copy(15, of="without"), moved("elsewhere", "data-0", 1))
    assert night_sizes(bare, NOW).text == "nothing tells of volumes in 1 backup"


def test_without_the_movements_no_size_of_a_night_is_told() -> None:
    seen = cluster(copy(15))
    blind = ClusterSnapshot(
        backups=seen.backups, schedules=seen.schedules, storage=seen.storage, volumes_seen=VolumesSeen()
    )
    assert night_sizes(blind, NOW).text == "not known: its PodVolumeBackups and DataUploads were not read"
    assert place_size(blind, "velero", "default").text == "not known: PodVolumeBackups and DataUploads were not read"


def test_the_volumes_that_grew_most_are_those_of_the_newest_copy_against_the_one_before() -> None:
    seen = cluster(
        *(copy(13), moved("nightly-13", "data-0", 90)),
        *(copy(14), moved("nightly-14", "data-0", 40), moved("nightly-14", "data-1", 5), moved("nightly-14", "old", 1)),
        *(copy(15), moved("nightly-15", "data-0", 60), moved("nightly-15", "data-1", 6), moved("nightly-15", "new", 9)),
    )
    found = grown_most(seen)
    assert [(run.name, one.text) for run, one in found] == [
        ("nightly-15", "data-0 by 20.0 GB to 60.0 GB"),
        ("nightly-15", "data-1 by 1.0 GB to 6.0 GB"),
    ]
    assert [one.claim for _, one in grown_most(seen, 1)] == ["data-0"]


def test_a_location_has_the_volumes_that_were_moved_to_it_and_are_there() -> None:
    seen = cluster(
        moved("a", "data-0", 40),
        moved("a", "data-1", 5),
        moved("a", "failed", 7, "Failed"),
        moved("b", "else", 9, place="offsite"),
    )
    text = "45.0 GB of 2 volumes in all copies, as they were; what is alike is kept once"
    assert place_size(seen, "velero", "default").text == text
    assert place_size(seen, "velero", "offsite").size == 9 * GB
    assert place_size(seen, "velero", "none").text == "no volume was moved there"


@pytest.mark.parametrize("kind", [PodVolumeBackup, DataUpload])
def test_the_sum_of_a_location_follows_each_change(kind: type[PodVolumeBackup] | type[DataUpload]) -> None:
    indexes = Indexes()
    states = [
        None,
        *(moved("a", "data-0", size, phase) for size, phase in ((0, "New"), (3, "Completed"), (4, "Completed"))),
    ]
    bodies = [
        one and from_builtins(kind, {"metadata": {"name": "x", "namespace": "velero"}, **_parts(one)}) for one in states
    ]
    ref = cluster().ref(bodies[1])  # type: ignore[arg-type]
    sums = []
    for before, after in zip([*bodies, bodies[-1]], [*bodies[1:], bodies[-1], None], strict=False):
        indexes.move(ref, before, after)
        sums.append(indexes.moved_to.get("", "velero", "default"))
    assert sums == [(0, 0), (3 * GB, 1), (4 * GB, 1), (4 * GB, 1), (0, 0)]


def _parts(one: PodVolumeBackup) -> dict[str, Any]:
    progress = {"bytesDone": one.size, "totalBytes": one.size}
    return {"spec": {"backupStorageLocation": "default"}, "status": {"phase": one.phase, "progress": progress}}


def test_a_copy_is_compared_with_the_one_before_it_and_with_no_later_one() -> None:
    seen = cluster(copy(13), copy(14), copy(15), copy(15, of="other"))
    by_name = {run.name: run for run in seen.backups}
    before = {name: (found.name if (found := seen.copy_before(run)) else "") for name, run in by_name.items()}
    assert before == {"nightly-15": "nightly-14", "nightly-14": "nightly-13", "nightly-13": "", "other-15": ""}
    assert night_sizes(seen, NOW + timedelta(days=3)).copies == 0
