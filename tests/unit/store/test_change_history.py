"""What the history keeps of the changes that were seen, and from when progress is counted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.models import DataUpload, NonAdminBackupStorageLocation, Restore
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, NAB
from foretop_core.models.wire import ObjectRef, Resource, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.run_facts import last_progress
from foretop_core.rules.snapshot import ObservedChanges
from foretop_core.store import ProgressRecord, change_history
from foretop_core.store.change_history import PER_OBJECT, ActivityTracker, ChangeHistory
from tests.unit.store.making import START, backup, meta, nab, schedule

KEY = ObjectRef("prod", BACKUP.name, "velero", "a")
STARTED = "2026-11-15T02:00:00Z"
MINUTE = timedelta(minutes=1)


def volume(done: int, total: int = 100, **status: object) -> DataUpload:
    progress = {"bytesDone": done, "totalBytes": total}
    return from_builtins(DataUpload, {"metadata": meta("v"), "status": {"progress": progress, **status}})


class Seen:
    """A history, and the last version of each object in it."""

    def __init__(self) -> None:
        self.history = ChangeHistory()
        self._last: dict[ObjectRef, Resource] = {}
        self._at = START - MINUTE

    def show(self, *versions: Resource | None, key: ObjectRef = KEY) -> Seen:
        """Each version a minute after the one before; the first at the start."""
        for after in versions:
            self._at += MINUTE
            self.history.note(key, self._last.get(key), after, self._at)
            if after is None:
                del self._last[key]
            else:
                self._last[key] = after
        return self

    @property
    def progress(self) -> ProgressRecord | None:
        return dict(self.history.all_progress("prod")).get(KEY)

    @property
    def steps(self) -> list[tuple[str, str, str]]:
        return [(step.what, step.before, step.after) for step in self.history.of(KEY)]


def test_a_total_that_grows_is_no_progress() -> None:
    seen = Seen().show(volume(10, phase="InProgress"), volume(10, 250, phase="InProgress"))
    assert seen.progress == ProgressRecord("InProgress", 10, 250, START, seen_moving=False)
    seen.show(volume(20, 250, phase="InProgress"), volume(20, 300, phase="InProgress"))
    assert seen.progress == ProgressRecord("InProgress", 20, 300, START + 2 * MINUTE, seen_moving=True)


def test_a_new_phase_is_progress() -> None:
    seen = Seen().show(volume(10, phase="Prepared"), volume(10, phase="InProgress"))
    assert seen.progress == ProgressRecord("InProgress", 10, 100, START + MINUTE, seen_moving=True)


def test_a_volume_that_had_ended_before_it_was_seen_has_moved_until_its_end() -> None:
    """It tells that itself, and nothing is kept of it."""
    ended = START - timedelta(hours=3)
    over = volume(100, phase="Completed", completionTimestamp=ended.isoformat())
    assert Seen().show(over).progress is None
    over = replace(over, metadata=replace(over.metadata, labels={"velero.io/backup-name": "a"}))
    run = backup("a", 1, phase="InProgress", startTimestamp=STARTED)
    seen = ObservedChanges(moved={ObjectRef("", "Backup", "velero", "other"): START})
    snapshot = replace(assemble((run, over)), seen=seen)
    assert last_progress(snapshot, run) == ended
    watched = Seen().show(volume(10, phase="InProgress"), over)
    assert watched.progress == ProgressRecord("Completed", 100, 100, START + MINUTE, seen_moving=True)
    assert Seen().show(volume(10, phase="InProgress")).progress == ProgressRecord("InProgress", 10, 100, START)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, None),
        ({"startTimestamp": STARTED}, ("InProgress", 0, 0)),
        ({"startTimestamp": STARTED, "completionTimestamp": STARTED}, None),
        ({"startTimestamp": STARTED, "progress": {"itemsRestored": 7, "totalItems": 9}}, ("InProgress", 7, 9)),
    ],
)
def test_a_restore_makes_progress_from_its_start_to_its_end(
    status: dict[str, object], expected: tuple[str, int, int] | None
) -> None:
    body = {"metadata": meta("a"), "status": {"phase": "InProgress", **status}}
    found = Seen().show(from_builtins(Restore, body)).progress
    assert (found and (found.phase, found.done, found.total)) == expected


def test_a_schedule_makes_no_progress() -> None:
    assert Seen().show(schedule("a")).progress is None


def test_an_object_made_again_under_its_old_name_starts_over() -> None:
    running: dict[str, Any] = {"phase": "InProgress", "startTimestamp": STARTED}
    first = backup("a", 1, phase="New")
    seen = Seen().show(first, backup("a", 2, **running))
    assert seen.steps == [("phase", "New", "InProgress")]
    again = backup("a", 3, **running)
    seen.show(replace(again, metadata=replace(again.metadata, uid="another")))
    assert seen.steps == []
    assert seen.progress == ProgressRecord("InProgress", 0, 0, START + 2 * MINUTE)
    seen.show(None)
    assert seen.progress is None
    assert len(seen.history.recent()) == 1


def test_of_one_object_the_last_changes_are_kept_and_the_oldest_goes() -> None:
    seen = Seen().show(*(backup("a", number, phase=f"p{number}") for number in range(PER_OBJECT + 2)))
    assert seen.steps == [("phase", f"p{number}", f"p{number + 1}") for number in range(1, PER_OBJECT + 1)]


def test_phases_and_progress_are_those_of_one_cluster() -> None:
    there = KEY._replace(context="other")
    running: dict[str, Any] = {"startTimestamp": STARTED}
    seen = Seen()
    for key in (KEY, there):
        seen.show(backup("a", 1, phase="New", **running), backup("a", 2, phase="Queued", **running), key=key)
    for context, key in (("prod", KEY), ("other", there)):
        assert [step.key for step in seen.history.phases(context)] == [key]
        assert [found for found, _ in seen.history.all_progress(context)] == [key]
    assert len(seen.history.recent()) == 2


def test_only_steps_from_phase_to_phase_are_phases() -> None:
    key = ObjectRef("prod", NAB.name, "team-pay", "ledger")
    accepted = [{"type": "Accepted", "status": "True"}]
    velero = {"status": {"phase": "InProgress"}}
    seen = Seen().show(
        nab("ledger", "team-pay", 1, phase="New"),
        nab("ledger", "team-pay", 2, phase="Created", conditions=accepted),
        nab("ledger", "team-pay", 3, phase="Created", conditions=accepted, veleroBackup=velero),
        nab("ledger", "team-pay", 4, phase="Created", veleroBackup={"status": {"phase": ""}}),
        key=key,
    )
    assert [(step.before, step.after) for step in seen.history.phases("prod")] == [("New", "Created")]
    assert [(step.what, step.before, step.after, step.at - START) for step in seen.history.of(key)] == [
        ("phase", "New", "Created", MINUTE),
        ("Accepted", "", "True", MINUTE),
        ("Velero phase", "", "InProgress", 2 * MINUTE),
        ("Accepted", "True", "", 3 * MINUTE),
        ("Velero phase", "InProgress", "", 3 * MINUTE),
    ]


def test_the_conditions_of_a_tenant_s_storage_location_are_recorded() -> None:
    def told(status: str) -> Resource:
        body = {"metadata": meta("a"), "status": {"conditions": [{"type": "Approved", "status": status}]}}
        return from_builtins(NonAdminBackupStorageLocation, body)

    assert Seen().show(told("False"), told("True")).steps == [("Approved", "False", "True")]


def test_a_volume_that_is_deleted_makes_no_more_progress() -> None:
    key = ObjectRef("prod", DATA_UPLOAD.name, "velero", "v")
    seen = Seen().show(volume(1, phase="InProgress"), None, key=key)
    assert list(seen.history.all_progress("prod")) == []


def flap(history: ChangeHistory, name: str, times: int) -> ObjectRef:
    """An object whose phase changes so often."""
    key = KEY._replace(name=name)
    for version in range(times):
        before, after = (backup(name, version + more, phase=f"p-{version + more}") for more in (0, 1))
        history.note(key, before, after, START + version * MINUTE)
    return key


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> int:
    """A bound that is soon reached."""
    monkeypatch.setattr(change_history, "IN_TOTAL", 50 * PER_OBJECT)
    return 50 * PER_OBJECT


def test_the_changes_of_all_objects_together_are_bounded_and_the_busiest_lose_their_oldest(bound: int) -> None:
    history = ChangeHistory()
    quiet = flap(history, "quiet", 2)
    busy = [flap(history, f"busy-{number}", PER_OBJECT) for number in range(bound // PER_OBJECT + 5)]
    kept = [len(history.of(key)) for key in busy]
    assert len(history.of(quiet)) == 2, "a busy object costs no quiet one its history"
    assert sum(kept) + 2 == len(list(history.phases("prod"))) == bound
    assert max(kept) - min(kept) <= 1, "all busy ones lose alike"
    assert history.of(busy[0])[-1].after == f"p-{PER_OBJECT}", "the newest is kept"


def test_many_objects_that_change_once_are_bounded_too_and_the_longest_ago_goes_first(bound: int) -> None:
    history = ChangeHistory()
    keys = [flap(history, f"b-{number}", 1) for number in range(bound + 3)]
    assert [len(history.of(key)) for key in keys[:4]] == [0, 0, 0, 1]
    assert len(list(history.phases("prod"))) == bound
    for key in keys:
        history.note(key, backup(key.name, 2), None, START)
    assert list(history.phases("prod")) == []
    assert len(history.of(flap(history, "again", 3))) == 3


def test_a_phase_of_a_megabyte_is_kept_in_part() -> None:
    seen = Seen().show(backup("a", 1, phase="x" * 10**6), backup("a", 2, phase="y" * 10**6))
    ((_, before, after),) = seen.steps
    assert (before, after) == ("x" * 64, "y" * 64)


def test_of_the_times_that_have_come_the_newest_counts_and_those_ahead_are_kept_until_they_come() -> None:
    tracker = ActivityTracker()
    for name, seconds in (("a", -90), ("b", -30), ("c", 60), ("d", 61), ("e", 3600)):
        told = backup(name, startTimestamp=(START + timedelta(seconds=seconds)).isoformat())
        tracker.note(ObjectRef("prod", BACKUP.name, "velero", name), None, told, START, listed=True)
    assert [sign.name for sign in tracker.worked("prod")["velero"]] == ["e", "d", "c"]
    assert tracker.worked("other") == {}


def test_the_changes_of_the_last_hour_are_kept_and_none_where_that_is_not_wanted() -> None:
    seen = Seen().show(backup("a", 1, phase="New"), backup("a", 2, phase="InProgress"))
    seen.show(*(backup("a", 2, phase="InProgress") for _ in range(61)), backup("a", 3, phase="Completed"))
    assert [step.after for step in seen.history.recent()] == ["Completed"]
    assert seen.history.kept_since("prod") == START + MINUTE
    off = ChangeHistory(keeps_last_hour=False)
    flap(off, "a", 3)
    assert off.recent() == ()
    assert off.kept_since("prod") is None


def test_that_an_object_came_or_went_is_a_change_only_where_it_was_seen() -> None:
    history, run = ChangeHistory(), backup("a", 1, phase="New")
    history.note(KEY, None, run, START)
    history.note(KEY, run, None, START)
    assert history.recent() == ()
    history.note(KEY, None, run, START, seen=True)
    history.note(KEY, run, None, START, seen=True)
    assert [step.what for step in history.recent()] == ["created", "deleted"]
    assert history.of(KEY) == ()
