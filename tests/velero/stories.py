"""What people do to schedules, backups, restores and storage, written once for the box and for a real Velero.

A server is started at second 30, so that its beat is known; a schedule `* * * * *` is then due from second 0 on and
is looked at at second 30.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import cycle, product

from tests.velero.build import NEWEST
from tests.velero.velero_cluster import TEAMS, Raw, ServerFlags, StorySteps, VeleroCluster

BEAT = 30
EVERY_MINUTE, NOT_DUE = "* * * * *", "0 0 1 1 *"
SKIPS = {"true": True, "false": False, "absent": None}
KINDS = ("new", "paused", "running")


@dataclass(frozen=True, slots=True)
class Story:
    """What people do, and how long it takes on a real server, in seconds."""

    play: Callable[[StorySteps], None]
    seconds: int
    in_share: bool = False
    """Whether it is in the short share that runs with every change."""
    without_queue: bool = False
    """Whether it is also about the last release without a queue of backups."""
    release: str = NEWEST
    upgraded_from: str = ""
    """A release that has to be built too."""


def start_on_beat(steps: StorySteps, flags: ServerFlags | None = None) -> None:
    """Start so that the first look comes at the second of the beat; a server needs some seconds for that."""
    steps.wait_for_second(BEAT)
    steps.cluster.start(flags or ServerFlags())


def validate_storage(steps: StorySteps) -> None:
    """Have the location validated once: a schedule that is due at a server's first start may come before that."""
    steps.cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.cluster.kill()


def wait_until_available(steps: StorySteps) -> None:
    steps.wait_for_phase("BackupStorageLocation", "default", "Available")


# ── one backup ───────────────────────────────────────────────────────────────────────────────────────────────


def one_backup(steps: StorySteps) -> None:
    steps.cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.backup("first")
    steps.wait_for_phase("Backup", "first", "Completed")


# ── the skip-immediately table ───────────────────────────────────────────────────────────────────────────────


def skip_table(default: bool) -> Callable[[StorySteps], None]:
    """New, paused and running; true, false and absent; due or not: all on one server with this default.

    Absent is left to `skip_by_default` where the default is true, which releases forget after its first use.
    """
    given = [skip for skip in SKIPS if skip != "absent" or not default]
    cases = tuple(product(KINDS, given, ((True, EVERY_MINUTE), (False, NOT_DUE))))

    def play(steps: StorySteps) -> None:
        validate_storage(steps)
        steps.wait_for_second(45)
        for kind, skip, (due, cron) in cases:
            name = case_name(kind, skip, due)
            if kind == "new":
                steps.schedule(name, cron, **_given(SKIPS[skip]))
            elif kind == "paused":
                steps.schedule(name, cron, paused=True)
        start_on_beat(steps, ServerFlags(skip_immediately=default, concurrent_backups=5))
        wait_until_available(steps)
        steps.wait_for_second(45)
        for kind, skip, (due, cron) in cases:
            name = case_name(kind, skip, due)
            if kind == "paused":
                steps.change(name, paused=False, skipImmediately=SKIPS[skip])
            elif kind == "running":
                steps.schedule(name, cron, skipImmediately=False)
        steps.wait_for_second(5)
        for kind, skip, (due, _) in cases:
            if kind == "running":
                steps.change(case_name(kind, skip, due), skipImmediately=SKIPS[skip])
        steps.wait_for_second(15)
        steps.wait_until_idle()

    return play


def skip_by_default(steps: StorySteps) -> None:
    """The server's true and an absent field: its first use skips, so each case has a server of its own."""
    cases = tuple(product(KINDS, ((True, EVERY_MINUTE), (False, NOT_DUE))))
    steps.wait_for_second(45)
    for kind, (due, cron) in cases:
        if kind == "paused":
            steps.schedule(case_name(kind, "absent", due), cron, paused=True)
    steps.schedule(case_name("new", "absent", True), EVERY_MINUTE)
    steps.wait_for_second(3)
    for kind, (due, cron) in cases:
        name = case_name(kind, "absent", due)
        if kind == "running":
            steps.schedule(name, cron, skipImmediately=False, paused=due)
        steps.cluster.start(ServerFlags(skip_immediately=True))
        if kind == "new" and not due:
            steps.schedule(name, cron)
        elif kind == "paused":
            steps.change(name, paused=False)
        elif kind == "running":
            if not due:
                steps.wait_for_phase("Schedule", name, "Enabled")
            steps.change(name, paused=False, skipImmediately=None)
        steps.cluster.wait_until(partial(_skipped, steps, name))
        steps.cluster.delete("Schedule", name)
        steps.cluster.wait(1)
        steps.cluster.kill()


def case_name(kind: str, skip: str, due: bool) -> str:
    return f"{kind}-{skip}-{'due' if due else 'waits'}"


def _given(skip: bool | None) -> Raw:
    return {} if skip is None else {"skipImmediately": skip}


def _skipped(steps: StorySteps, name: str) -> bool:
    found = steps.cluster.find("Schedule", name)
    return found is not None and "lastSkipped" in (found.get("status") or {})


# ── schedules over minutes ───────────────────────────────────────────────────────────────────────────────────


def overlap(steps: StorySteps) -> None:
    """Storage hangs: a schedule whose backup is InProgress misses its runs, one whose backup is Queued stacks more.

    Both are paused while the queue empties: a real one may start a backup in the very second of the next look.
    """
    validate_storage(steps)
    steps.wait_for_second(50)
    steps.schedule("first", EVERY_MINUTE, TEAMS[0], skipImmediately=False)
    start_on_beat(steps)
    steps.wait_for_phase("Schedule", "first", "Enabled")
    wait_until_available(steps)
    steps.wait_until_idle()
    steps.wait_for_second(50)
    steps.cluster.freeze_storage()
    steps.wait_for_second(BEAT + 10)
    steps.schedule("second", EVERY_MINUTE, TEAMS[1], skipImmediately=False)
    steps.wait_for_second(BEAT + 10)
    steps.wait_for_second(BEAT + 10)
    for name in ("first", "second"):
        steps.change(name, paused=True)
    steps.cluster.unfreeze_storage()
    steps.wait_until_idle()
    steps.wait_for_second(BEAT + 10)
    for name in ("first", "second"):
        before = _last_run(steps, name)
        steps.change(name, paused=False)
        steps.cluster.wait_until(partial(_has_run_since, steps, name, before))
        steps.change(name, paused=True)
        steps.wait_until_idle()


def _has_run_since(steps: StorySteps, name: str, before: str) -> bool:
    """By the schedule itself, which Velero writes after the backup: a pause in between would be seen as the first."""
    return _last_run(steps, name) != before


def _last_run(steps: StorySteps, name: str) -> str:
    found = steps.cluster.find("Schedule", name) or {}
    return str((found.get("status") or {}).get("lastBackup"))


def invalid_and_fixed(steps: StorySteps) -> None:
    """Fixed after a minute boundary, it runs at once; fixed with a yearly one it does not."""
    start_on_beat(steps)
    wait_until_available(steps)
    steps.wait_for_second(50)
    steps.schedule("due", "61 * * * *")
    steps.schedule("waits", "not a cron")
    steps.schedule("empty-zone", "TZ= 0 0 1 1 *")
    steps.wait_for_second(5)
    steps.change("due", schedule=EVERY_MINUTE)
    steps.change("waits", schedule=NOT_DUE)
    steps.wait_for_second(20)
    steps.change("due", schedule="99 * * * *")
    steps.cluster.wait(3)


def never_fires(steps: StorySteps) -> None:
    """Always due: a backup at once and at the beats after."""
    validate_storage(steps)
    steps.cluster.create("Schedule", "never", {"schedule": "0 0 31 2 *", "template": {}, "skipImmediately": False})
    start_on_beat(steps)
    steps.wait_for_second(BEAT + 10)
    steps.wait_for_second(BEAT + 10)
    steps.wait_until_idle()


def upgrade(before: str, after: str) -> Callable[[StorySteps], None]:
    """A release is replaced by one that reads the same expressions otherwise."""

    def play(steps: StorySteps) -> None:
        validate_storage(steps)
        steps.wait_for_second(50)
        for team, (name, cron) in zip(cycle(TEAMS), DIALECTS.items(), strict=False):
            steps.schedule(name, cron, team, skipImmediately=False)
        start_on_beat(steps, ServerFlags(before, concurrent_backups=5))
        wait_until_available(steps)
        steps.wait_for_second(BEAT + 15)
        steps.wait_until_idle()
        steps.cluster.kill()
        steps.wait_for_second(BEAT)
        steps.cluster.start(ServerFlags(after, concurrent_backups=5))
        steps.wait_for_second(BEAT + 15)
        steps.wait_until_idle()

    return play


DIALECTS = {
    "plain": EVERY_MINUTE,
    "large-step": "0 */24 * * *",
    "step-60": "*/60 * * * *",
    "sunday-7": "* * * * 0-7",
    "wrap": "* 23-22 * * *",
    "quoted": 'TZ="UTC" * * * * *',
    "manual": "@manual",
    "hashed": "H * * * *",
    "no-fields": "TZ=UTC",
    "half-second": "@every 500ms",
    "yearly": NOT_DUE,
    "zone": "TZ=UTC * * * * *",
    "stepped-day": "* * */2 * 1",
    "stepped-weekday": "* * 1-31 * */2",
}


# ── the queue ────────────────────────────────────────────────────────────────────────────────────────────────


def queue(concurrency: int) -> Callable[[StorySteps], None]:
    """Storage hangs; two backups of one namespace wait for each other, a queued one is deleted, the rest run off."""

    def play(steps: StorySteps) -> None:
        steps.cluster.start(ServerFlags(concurrent_backups=concurrency))
        wait_until_available(steps)
        steps.cluster.freeze_storage()
        for name, team in zip("abcdef", (*TEAMS, *TEAMS), strict=True):
            steps.backup(name, team)
            steps.wait_until_taken(name)
            steps.cluster.wait(0.5)
        steps.wait_for_phase("Backup", TEAM_BACKUPS[concurrency - 1], "InProgress")
        steps.cluster.delete("Backup", "e")
        steps.cluster.wait(1)
        steps.cluster.unfreeze_storage()
        steps.wait_until_idle()

    return play


TEAM_BACKUPS = "abc"


def refused_in_queue(steps: StorySteps) -> None:
    """Two that are refused and a good one wait behind one that runs: each refused one can cost the next a minute."""
    steps.cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.cluster.freeze_storage()
    nowhere = {"storageLocation": "nowhere"}
    for name, team, spec in (("a", 0, {}), ("b", 1, nowhere), ("c", 2, nowhere), ("d", 0, {})):
        steps.backup(name, TEAMS[team], **spec)
        steps.wait_until_taken(name)
        steps.cluster.wait(0.5)
    steps.wait_for_phase("Backup", "a", "InProgress")
    steps.cluster.unfreeze_storage()
    steps.wait_until_idle()


def killed(steps: StorySteps) -> None:
    """Velero ends with one running and two waiting, and comes back."""
    steps.cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.cluster.freeze_storage()
    for name, team in zip("abc", TEAMS, strict=True):
        steps.backup(name, team)
        steps.wait_until_taken(name)
        steps.cluster.wait(0.5)
    steps.wait_for_phase("Backup", "a", "InProgress")
    steps.cluster.kill()
    steps.cluster.wait(1)
    steps.cluster.unfreeze_storage()
    steps.cluster.start(ServerFlags())
    steps.wait_until_idle()


# ── backups, restores, storage ───────────────────────────────────────────────────────────────────────────────


def restore_and_delete(steps: StorySteps) -> None:
    steps.cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.backup("kept")
    steps.wait_for_phase("Backup", "kept", "Completed")
    steps.cluster.create("Restore", "again", {"backupName": "kept", "namespaceMapping": {TEAMS[0]: "team-new"}})
    steps.wait_for_phase("Restore", "again", "Completed", "PartiallyFailed", "Failed")
    steps.cluster.create("Restore", "nothing", {"backupName": "no-such"})
    steps.wait_for_phase("Restore", "nothing", "FailedValidation")
    steps.cluster.create("DeleteBackupRequest", "missing", {"backupName": "no-such"})
    steps.wait_for_phase("DeleteBackupRequest", "missing", "Processed")
    steps.cluster.create("DeleteBackupRequest", "away", {"backupName": "kept"})
    steps.wait_until_gone("Backup", "kept")
    steps.wait_until_gone("Restore", "again")
    steps.wait_until_gone("DeleteBackupRequest", "away")


def downloads(steps: StorySteps) -> None:
    """Log and results of a backup and a restore are answered; those of a backup that does not exist never are."""
    steps.cluster.start(ServerFlags())
    wait_until_available(steps)
    steps.backup("kept")
    steps.wait_for_phase("Backup", "kept", "Completed")
    steps.cluster.create("Restore", "again", {"backupName": "kept", "namespaceMapping": {TEAMS[0]: "team-new"}})
    steps.wait_for_phase("Restore", "again", "Completed", "PartiallyFailed", "Failed")
    for kind in ("BackupLog", "BackupResults", "RestoreLog", "RestoreResults"):
        target = {"kind": kind, "name": "kept" if kind.startswith("Backup") else "again"}
        steps.cluster.create("DownloadRequest", kind.lower(), {"target": target})
        steps.wait_for_phase("DownloadRequest", kind.lower(), "Processed")
    steps.cluster.create("DownloadRequest", "missing", {"target": {"kind": "BackupLog", "name": "no-such"}})
    steps.cluster.wait(3)


def expiry(steps: StorySteps) -> None:
    steps.cluster.start(ServerFlags(collects_every=timedelta(seconds=10)))
    wait_until_available(steps)
    steps.backup("short", ttl="5s")
    steps.backup("long", TEAMS[1], ttl="1h0m0s")
    steps.wait_for_phase("Backup", "short", "Completed")
    steps.wait_for_phase("Backup", "long", "Completed")
    steps.wait_until_gone("Backup", "short")
    steps.cluster.wait_until(lambda: not steps.cluster.list_all("DeleteBackupRequest"))


def storage_goes_and_comes_back(steps: StorySteps) -> None:
    """Without its bucket the location is Unavailable and backups are refused; with it all is well again.

    The schedule is due when it is changed, so it runs at once, and then once at a look.
    """
    steps.cluster.patch("BackupStorageLocation", "default", {"spec": {"validationFrequency": "10s"}})
    start_on_beat(steps)
    wait_until_available(steps)
    steps.schedule("hourly", NOT_DUE, skipImmediately=False)
    steps.cluster.delete_bucket()
    steps.wait_for_phase("BackupStorageLocation", "default", "Unavailable")
    steps.backup("refused")
    steps.wait_for_phase("Backup", "refused", "FailedValidation")
    steps.wait_for_second(5)
    steps.change("hourly", schedule=EVERY_MINUTE)
    steps.wait_for_second(BEAT + 5)
    steps.cluster.create_bucket()
    wait_until_available(steps)
    steps.wait_for_second(BEAT + 5)
    steps.wait_until_idle()


STORIES = {
    "one backup": Story(one_backup, 10, in_share=True, without_queue=True),
    "skip table, default false": Story(skip_table(False), 145, without_queue=True),
    "skip table, default true": Story(skip_table(True), 120),
    "skip by default": Story(skip_by_default, 65, in_share=True),
    "overlap": Story(overlap, 320),
    "invalid and fixed": Story(invalid_and_fixed, 100, in_share=True, without_queue=True),
    "never fires": Story(never_fires, 100, without_queue=True),
    "upgrade": Story(upgrade("1.18.2", "1.18.3"), 125),
    "upgrade from 1.14": Story(upgrade("1.14.1", "1.15.2"), 125, release="1.15.2", upgraded_from="1.14.1"),
    "queue of 1": Story(queue(1), 150),
    "queue of 2": Story(queue(2), 20),
    "queue of 3": Story(queue(3), 20, in_share=True),
    "refused in the queue": Story(refused_in_queue, 180),
    "killed": Story(killed, 10, without_queue=True),
    "restore and delete": Story(restore_and_delete, 10, in_share=True, without_queue=True),
    "downloads": Story(downloads, 10, in_share=True),
    "expiry": Story(expiry, 15),
    "storage goes and comes back": Story(storage_goes_and_comes_back, 150),
}


def play_story(cluster: VeleroCluster, name: str) -> None:
    STORIES[name].play(StorySteps(cluster))
