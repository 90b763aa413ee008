from __future__ import annotations

from datetime import datetime, timedelta
from itertools import permutations
from typing import Any, Literal, cast

import pytest

from foretop_core.clock import ManualClock
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, DataUpload, Deployment
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, DEPLOYMENT, NAB, SCHEDULE, STORAGE
from foretop_core.models.nonadmin import NAR_UUID_LABEL
from foretop_core.models.wire import ObjectRef, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.sentences import sentence
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.store import Store
from foretop_core.store.change_history import BeatTracker
from tests import recordings
from tests.objects import at, location, nar, restore
from tests.unit.store.making import START, Watched, backup, meta, nab


class Replay:
    """A recording of the real controllers replayed into the store, checked at every event."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.store = Store()
        self.clock = ManualClock(START)
        self.snapshots: list[tuple[datetime, ClusterSnapshot]] = []

    def run(self) -> Replay:
        for event in recordings.events(self.name):
            self.clock.set(event.t)
            sink = self.store.sink(WatchScope("box", event.kind), self.clock)
            sink.apply(cast(EventType, event.type), event.object)
            self.snapshots.append((event.t, self.store.snapshot("box")))
        return self

    @property
    def last(self) -> ClusterSnapshot:
        return self.snapshots[-1][1]


@pytest.mark.parametrize("name", recordings.NAMES)
def test_after_a_recording_the_store_has_its_final_objects(name: str) -> None:
    expected: dict[tuple[str, str, str], Any] = {}
    for event in recordings.events(name):
        if event.type == "DELETED":
            del expected[event.key]
        else:
            expected[event.key] = event.object
    store = Replay(name).run().store
    held = {key[1:]: item for kind in {kind for kind, _, _ in expected} for key, item in store.items("box", kind)}
    assert held == expected


RESTARTS = {"queue": "Velero restarts", "upgrade": "Velero is upgraded"}


@pytest.mark.parametrize("name", RESTARTS)
def test_a_restart_of_velero_is_detected_by_its_new_second(name: str) -> None:
    killed = next(
        entry.t
        for entry in recordings.read(name)
        if isinstance(entry, recordings.Note) and RESTARTS[name] in entry.text
    )
    restarted = Replay(name).run().last.seen.restarted["velero"]
    assert killed < restarted < killed + timedelta(seconds=30)


def test_a_sync_that_hanging_storage_held_up_is_off_the_beat_until_the_next_ones_agree() -> None:
    detector, before = BeatTracker(), location(synced="02:38:13")
    key = ObjectRef("prod", "BackupStorageLocation", "velero", before.name)
    seen = []
    for synced in ("02:39:13", "02:40:41", "02:42:13", "02:43:13"):
        after = location(synced=synced)
        detector.note(key, before, after)
        seen.append(detector.off_beat("prod"))
        before = after
    assert seen == [frozenset(), {at("02:40:41")}, {at("02:42:13")}, frozenset()]
    assert detector.off_beat("other") == frozenset()


def test_a_check_and_a_sync_of_one_second_are_no_restart() -> None:
    """One delay of the storage holds up both; a new server shows when the next one agrees."""
    detector, before = BeatTracker(), None
    key = ObjectRef("prod", "BackupStorageLocation", "velero", "default")
    seen = []
    for moment in ("02:38:03", "02:39:03", "02:40:20", "02:41:20"):
        after = location(checked=moment, synced=moment)
        detector.note(key, before, after)
        seen.append(detector.restarted("prod").get("velero"))
        before = after
    assert seen == [None, None, None, at("02:40:20")]


@pytest.mark.parametrize("name", [name for name in recordings.NAMES if name not in RESTARTS])
def test_hanging_storage_is_not_detected_as_a_restart(name: str) -> None:
    assert all(not snapshot.seen.restarted for _, snapshot in Replay(name).run().snapshots)


def test_a_nab_that_lost_its_velero_backup_is_recorded_as_gone_back() -> None:
    backwards = {
        (key.namespace, key.name, step.before, step.after)
        for _, snapshot in Replay("nonadmin").run().snapshots
        for key, step in snapshot.seen.went_back.items()
    }
    assert backwards == {("team-3", "wave-3", "Created", "BackingOff")}


_IN_ORDER = ("New", "BackingOff", "Created", "Deleting")


@pytest.mark.parametrize(("before", "after"), list(permutations(_IN_ORDER, 2)))
def test_a_nab_goes_back_where_it_returns_to_an_earlier_phase(before: str, after: str) -> None:
    seen = Watched(NAB)
    seen.sink.apply("ADDED", nab("orders", "team-a", 1, phase=before))
    seen.sink.apply("MODIFIED", nab("orders", "team-a", 2, phase=after))
    gone_back = {(step.before, step.after) for step in seen.store.snapshot("prod").seen.went_back.values()}
    assert gone_back == ({(before, after)} if _IN_ORDER.index(after) < _IN_ORDER.index(before) else set())


def test_a_snapshot_is_rebuilt_only_after_a_change() -> None:
    seen = Watched()
    seen.sink.health(WatchHealth(WatchState.LIVE, START))
    seen.list(backup("a"))
    first = seen.store.snapshot("prod")
    seen.list(backup("a"))
    elsewhere = seen.store.sink(WatchScope("other", BACKUP), seen.clock)
    elsewhere.health(WatchHealth(WatchState.SYNCING, START))
    seen.list(backup("b"), sink=elsewhere)
    assert seen.store.snapshot("prod") is first
    seen.sink.apply("MODIFIED", backup("a", 2))
    assert seen.store.snapshot("prod") is not first


def test_a_freed_slot_is_timed_until_it_is_taken_again() -> None:
    seen = Watched()
    deployment = from_builtins(
        Deployment,
        {
            "metadata": meta("velero"),
            "spec": {
                "template": {"spec": {"containers": [{"name": "velero", "args": ["server", "--concurrent-backups=2"]}]}}
            },
        },
    )
    seen.list(deployment, sink=seen.store.sink(WatchScope("prod", DEPLOYMENT), seen.clock))
    seen.list(backup("a", 1, phase="InProgress"), backup("b", 1, phase="InProgress"), backup("c", 1, phase="Queued"))

    def free() -> datetime | None:
        return seen.store.snapshot("prod").seen.free_slot_since.get("velero")

    assert free() is None
    seen.clock.advance(timedelta(seconds=10))
    seen.sink.apply("MODIFIED", backup("a", 2, phase="Finalizing"))
    assert free() == START + timedelta(seconds=10)
    seen.clock.advance(timedelta(seconds=10))
    seen.sink.apply("MODIFIED", backup("b", 3, phase="Finalizing"))
    assert free() == START + timedelta(seconds=10)
    seen.sink.apply("MODIFIED", backup("c", 4, phase="ReadyToStart"))
    seen.sink.apply("MODIFIED", backup("c", 5, phase="InProgress"))
    assert free() == START + timedelta(seconds=10)
    seen.sink.apply("ADDED", backup("d", 6, phase="ReadyToStart"))
    assert free() is None


def test_moving_bytes_are_distinguished_from_unchanged_items() -> None:
    seen = Watched()
    started: dict[str, Any] = {"phase": "InProgress", "startTimestamp": "2026-11-15T02:00:00Z"}
    seen.list(backup("a", 1, **started))
    uploads = seen.store.sink(WatchScope("prod", DATA_UPLOAD), seen.clock)

    def volume(version: int, done: int, phase: str = "InProgress") -> DataUpload:
        labels = {"velero.io/backup-name": "a"}
        status = {"phase": phase, "progress": {"bytesDone": done, "totalBytes": 100}}
        return from_builtins(DataUpload, {"metadata": meta("v", version=version, labels=labels), "status": status})

    uploads.apply("ADDED", volume(1, 10))
    seen.clock.advance(timedelta(minutes=20))
    uploads.apply("MODIFIED", volume(2, 100))
    seen.clock.advance(timedelta(minutes=1))
    uploads.apply("MODIFIED", volume(3, 100, "Completed"))
    moved = seen.store.snapshot("prod").seen.moved
    assert moved[ObjectRef("prod", "Backup", "velero", "a")] == START
    assert moved[ObjectRef("prod", "DataUpload", "velero", "v")] == START + timedelta(minutes=21)
    assert [item.name for item in seen.store.indexes.movements_by_backup.get("prod", "velero", "a")] == ["v"]


Trouble = Literal["live", "syncing", "stale", "signed out", "not allowed", "not installed"]


@pytest.mark.parametrize(
    ("schedules", "nabs", "expected"),
    [
        ("live", "live", ()),
        ("live", "not installed", ()),
        ("not installed", "live", (VisibilityGap("prod", "Schedule", "not installed"),)),
        ("live", "not allowed", (VisibilityGap("prod", "NonAdminBackup", "not allowed"),)),
        ("signed out", "signed out", (VisibilityGap("prod", "", "signed out"),)),
        ("syncing", "live", (VisibilityGap("prod", "Schedule", "syncing", is_loading=True),)),
        ("stale", "live", (VisibilityGap("prod", "Schedule", sentence("stale since ", START)),)),
    ],
)
def test_visibility_gaps_are_reported(schedules: Trouble, nabs: Trouble, expected: tuple[VisibilityGap, ...]) -> None:
    seen = Watched()
    for kind, state in ((SCHEDULE, schedules), (NAB, nabs)):
        seen.store.sink(WatchScope("prod", kind), seen.clock).health(WatchHealth(WatchState(state), START))
    assert seen.store.snapshot("prod").unseen == expected


def test_a_permission_missing_in_one_namespace_is_reported_with_it() -> None:
    seen = Watched()
    for namespace, state in (("a", WatchState.LIVE), ("b", WatchState.FORBIDDEN)):
        seen.store.sink(WatchScope("prod", NAB, namespace), seen.clock).health(WatchHealth(state, START))
    assert seen.store.snapshot("prod").unseen == (VisibilityGap("prod", "NonAdminBackup", "not allowed in b"),)


def test_deployments_and_events_are_not_reported_as_gaps() -> None:
    seen = Watched()
    for kind, state in ((STORAGE, WatchState.LIVE), (DEPLOYMENT, WatchState.FORBIDDEN)):
        seen.store.sink(WatchScope("prod", kind), seen.clock).health(WatchHealth(state, START))
    assert seen.store.snapshot("prod").unseen == ()


def test_a_snapshot_has_only_its_own_cluster_s_objects() -> None:
    seen = Watched()
    seen.list(backup("a"))
    seen.list(backup("b"), sink=seen.store.sink(WatchScope("other", BACKUP), seen.clock))
    backups: tuple[Backup, ...] = seen.store.snapshot("other").backups
    assert [item.name for item in backups] == ["b"]


def test_a_cluster_s_expired_backups_are_its_own() -> None:
    seen = Watched()
    seen.list(backup("a", expiration="2026-11-14T02:00:00Z"))
    seen.list(backup("b"), sink=seen.store.sink(WatchScope("other", BACKUP), seen.clock))
    found = {name: seen.store.snapshot(name).lookups.backups_expiring_until(START) for name in ("prod", "other")}
    assert {name: [one.name for one in backups] for name, backups in found.items()} == {"prod": ["a"], "other": []}


def test_the_velero_restore_of_a_nar_is_found_by_its_label() -> None:
    mine = restore("mine", meta={"labels": {NAR_UUID_LABEL: "n-1"}})
    snapshot = assemble([restore("other"), mine], "prod")
    assert snapshot.velero_restore(nar(veleroRestore={"nacuuid": "n-1"})) is mine
    assert snapshot.velero_restore(nar(veleroRestore={"nacuuid": "n-2"})) is None
    assert snapshot.velero_restore(nar()) is None
