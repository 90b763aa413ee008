"""Triage of the recordings: it finds every problem in them, and every other finding is explained here."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

import pytest
from msgspec.structs import replace

from foretop_core.models import Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.snapshot import VeleroInfo
from foretop_core.rules.triage import Debounced, debounce, triage
from tests.examples import sampled
from tests.recordings import NAMES, events, version_at
from tests.rooms import samples

pytestmark = pytest.mark.long

CONCURRENCY = {"queue": 2}
STEP = timedelta(seconds=5)
LONG = ("night", "schedules")
"""The recordings of most events, which the sweeps look at."""

STORIES: dict[str, set[tuple[str, str]]] = {
    "night": {
        # Six schedules and one slot.
        ("schedules-collide", ""),
        # The controller's estimate counts backups that have failed without an end.
        ("position-off", "tenant-5"),
        ("position-off", "tenant-10"),
        ("position-off", "tenant-15"),
        ("position-off", "tenant-20"),
        # One of its backups failed, and its own backup held it back at two looks.
        ("schedule-failing", "etcd"),
        ("schedule-overdue", "etcd"),
        # Foreseen: one that runs every minute loses runs, and the next run overtakes two that take long.
        ("runs-will-be-lost", "etcd"),
        ("run-not-done-in-time", "etcd"),
        ("run-not-done-in-time", "audit"),
        ("run-not-done-in-time", "crm"),
    },
    "schedules": {
        ("schedule-never-fires", "never"),
        ("schedule-invalid", "invalid"),
        # A dozen schedules share `*/3`, and the server works on one backup at a time.
        ("schedules-collide", ""),
        # Paused ones of them are due after three minutes, one before the others.
        ("velero-paused-overdue", "never"),
        ("velero-paused-overdue", ""),
    },
    "nonadmin": {
        ("nonadmin-refused", "bad-namespace"),
        ("nonadmin-refused", "bad-excluded"),
        ("nonadmin-refused", "bad-cluster"),
        ("nonadmin-refused", "bad-clusterscoped"),
        ("nonadmin-refused", "bad-vsl"),
        ("nonadmin-refused", "bad-bsl"),
        ("nonadmin-refused", "bad-unknown"),
        ("nonadmin-refused", "bad-mapping"),
        ("nonadmin-refused", "bad-refused-backup"),
        ("nonadmin-refused", "bad-schedule"),
        # The Restore of the accepted NAR ends PartiallyFailed.
        ("nonadmin-velero-failed", "good"),
        # Five at once while storage hangs: all but the first report a wrong position.
        ("position-off", "wave-1"),
        ("position-off", "wave-2"),
        ("position-off", "wave-3"),
        ("position-off", "wave-4"),
        ("nonadmin-went-back", "wave-3"),
    },
    "queue": {
        ("backup-failed", "g"),
        ("velero-restarted", ""),
        ("backup-failed", "bad"),
        ("restore-failed", "r1"),
        ("storage-unavailable", "default"),
        # It is the only location, so nothing can be restored meanwhile.
        ("storage-holds-all-copies", "default"),
        ("schedule-failing", "guarded"),
        # Its storage refuses what it will make.
        ("copy-will-be-old", "guarded"),
    },
    "overlap": {
        # Object storage hangs for four minutes; that explains the blocked schedule.
        ("velero-no-pulse", ""),
        ("schedules-collide", ""),
        # Paused while their backups were to overlap, and due meanwhile.
        ("velero-paused-overdue", "one"),
        # Its backup goes on for minutes, and it is due every minute.
        ("runs-will-be-lost", "two"),
    },
    "overlap-1.17": {
        ("velero-no-pulse", ""),
        ("schedules-collide", ""),
        ("velero-paused-overdue", "one"),
        ("velero-paused-overdue", ""),
    },
    "upgrade": {
        # Refused by 1.18.2, and accepted by 1.18.3.
        ("schedule-invalid", "wrap"),
        ("schedule-invalid", "sunday-7"),
        ("schedule-invalid", "quoted"),
        ("schedule-invalid", "manual"),
        # The other way round.
        ("schedule-invalid", "step-24"),
        ("schedule-invalid", "step-60"),
        ("schedule-invalid", "fast"),
        ("schedule-never-fires", "manual"),
        # Effects of the upgrade that are not errors.
        ("schedule-stopped", "both-days"),
        ("schedules-collide", ""),
    },
}


@cache
def found_in(name: str) -> dict[tuple[str, str], set[str]]:
    """Every finding that was shown at some time, checked every few seconds and debounced as on the screen."""
    objects: dict[tuple[str, str, str], Resource] = {}
    shown: dict[tuple[str, str], set[str]] = {}
    state: Debounced | None = None
    waiting = list(events(name))
    now = waiting[0].t
    end = waiting[-1].t + 4 * STEP
    while now <= end:
        while waiting and waiting[0].t <= now:
            event = waiting.pop(0)
            objects[event.key] = event.object
            if event.type == "DELETED":
                del objects[event.key]
        server = VeleroInfo(False, CONCURRENCY.get(name, 1), version_at(name, now))
        snapshot = replace(assemble(objects.values()), servers={"velero": server})
        state = debounce(state, triage(snapshot, now).findings, now)
        for finding in state.shown.values():
            related = shown.setdefault((finding.code, finding.subject.name), set())
            related |= {subject.name for subject in finding.related}
        now += STEP
    return shown


@pytest.mark.parametrize("name", sampled(NAMES, *(name for name in NAMES if name not in LONG)))
def test_exactly_the_problems_of_the_recording_are_found(name: str) -> None:
    of_rooms = (recorded.get(name, set()) for recorded in samples("RECORDED"))
    assert set(found_in(name)) == STORIES[name].union(*of_rooms)


@pytest.mark.parametrize("name", ["overlap", "overlap-1.17"])
def test_hanging_storage_explains_the_blocked_schedule(name: str) -> None:
    assert "one" in found_in(name)["velero-no-pulse", ""]
