"""What people do to schedules, backups, restores and storage, told once for the box and for a real Velero.

A server is started at second 30, so that its beat is known; a schedule `* * * * *` is then due from second 0 on and
is looked at at second 30.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import product

from tests.velero.place import TEAMS, Hands, Place, ServerFlags

BEAT = 30
EVERY_MINUTE, NOT_DUE = "* * * * *", "0 0 1 1 *"
SKIPS = {"true": True, "false": False, "absent": None}
KINDS = ("new", "paused", "running")


@dataclass(frozen=True, slots=True)
class Story:
    """What happens, on which release, and how long it takes on a real one, in seconds."""

    tell: Callable[[Hands], None]
    seconds: int
    in_share: bool = False
    """Whether it is in the short share that runs with every change."""


def start_on_beat(at: Hands, flags: ServerFlags | None = None) -> None:
    """Start so that the first look comes at the second of the beat; a server needs some seconds for that."""
    at.until_second(BEAT)
    at.place.start(flags or ServerFlags())


def validate_storage(at: Hands) -> None:
    """Have the location validated once: a schedule that is due at a server's first start may come before that."""
    at.place.start(ServerFlags())
    until_available(at)
    at.place.kill()


def until_available(at: Hands) -> None:
    at.until_phase("BackupStorageLocation", "default", "Available")


# ── one backup ───────────────────────────────────────────────────────────────────────────────────────────────


def one_backup(at: Hands) -> None:
    at.place.start(ServerFlags())
    until_available(at)
    at.backup("first")
    at.until_phase("Backup", "first", "Completed")


# ── the skip-immediately table ───────────────────────────────────────────────────────────────────────────────


def skip_table(default: bool) -> Callable[[Hands], None]:
    """New, paused and running; true, false and absent; due or not: all on one server with this default.

    Absent is left to `skip_by_default` where the default is true, which releases forget after its first use.
    """
    given = [skip for skip in SKIPS if skip != "absent" or not default]
    cases = tuple(product(KINDS, given, ((True, EVERY_MINUTE), (False, NOT_DUE))))

    def tell(at: Hands) -> None:
        validate_storage(at)
        at.until_second(45)
        for kind, skip, (due, cron) in cases:
            name = case_name(kind, skip, due)
            if kind == "new":
                at.schedule(name, cron, **_given(SKIPS[skip]))
            elif kind == "paused":
                at.schedule(name, cron, paused=True)
        start_on_beat(at, ServerFlags(skip_immediately=default, concurrent_backups=5))
        until_available(at)
        at.until_second(45)
        for kind, skip, (due, cron) in cases:
            name = case_name(kind, skip, due)
            if kind == "paused":
                at.change(name, paused=False, skipImmediately=SKIPS[skip])
            elif kind == "running":
                at.schedule(name, cron, skipImmediately=False)
        at.until_second(5)
        for kind, skip, (due, _) in cases:
            if kind == "running":
                at.change(case_name(kind, skip, due), skipImmediately=SKIPS[skip])
        at.until_second(15)

    return tell


def skip_by_default(at: Hands) -> None:
    """The server's true and an absent field: its first use skips, so each case has a server of its own."""
    cases = tuple(product(KINDS, ((True, EVERY_MINUTE), (False, NOT_DUE))))
    at.until_second(45)
    for kind, (due, cron) in cases:
        if kind == "paused":
            at.schedule(case_name(kind, "absent", due), cron, paused=True)
    at.schedule(case_name("new", "absent", True), EVERY_MINUTE)
    at.until_second(3)
    for kind, (due, cron) in cases:
        name = case_name(kind, "absent", due)
        if kind == "running":
            at.schedule(name, cron, skipImmediately=False, **({"paused": True} if due else {}))
        at.place.start(ServerFlags(skip_immediately=True))
        if kind == "new" and not due:
            at.schedule(name, cron)
        elif kind == "paused":
            at.change(name, paused=False)
        elif kind == "running":
            if not due:
                at.until_phase("Schedule", name, "Enabled")
            at.change(name, paused=False, skipImmediately=None)
        at.place.until(lambda name=name: _skipped(at, name))
        at.place.delete("Schedule", name)
        at.place.wait(1)
        at.place.kill()


def case_name(kind: str, skip: str, due: bool) -> str:
    return f"{kind}-{skip}-{'due' if due else 'waits'}"


def _given(skip: bool | None) -> dict[str, bool]:
    return {} if skip is None else {"skipImmediately": skip}


def _skipped(at: Hands, name: str) -> bool:
    found = at.place.find("Schedule", name)
    return found is not None and "lastSkipped" in (found.get("status") or {})


# ── schedules over minutes ───────────────────────────────────────────────────────────────────────────────────


def overlap(at: Hands) -> None:
    """Storage hangs: a schedule whose backup is InProgress misses its runs, one whose backup is Queued stacks more."""
    validate_storage(at)
    at.until_second(50)
    at.schedule("first", EVERY_MINUTE, TEAMS[0], skipImmediately=False)
    start_on_beat(at)
    at.until_phase("Schedule", "first", "Enabled")
    until_available(at)
    at.until_idle()
    at.until_second(50)
    at.place.hold_storage()
    at.until_second(BEAT + 10)
    at.schedule("second", EVERY_MINUTE, TEAMS[1], skipImmediately=False)
    at.until_second(BEAT + 10)
    at.until_second(BEAT + 10)
    at.place.release_storage()
    at.until_second(BEAT + 20)
    at.until_second(BEAT + 20)
    at.until_idle()


def invalid_and_fixed(at: Hands) -> None:
    """Fixed after a minute boundary, it runs at once; fixed with a yearly one it does not."""
    start_on_beat(at)
    until_available(at)
    at.until_second(50)
    at.schedule("due", "61 * * * *")
    at.schedule("waits", "not a cron")
    at.schedule("empty-zone", "TZ= 0 0 1 1 *")
    at.until_second(5)
    at.change("due", schedule=EVERY_MINUTE)
    at.change("waits", schedule=NOT_DUE)
    at.until_second(20)
    at.change("due", schedule="99 * * * *")
    at.place.wait(3)


def never_fires(at: Hands) -> None:
    """Always due: a backup at once and at the beats after."""
    validate_storage(at)
    at.place.create("Schedule", "never", {"schedule": "0 0 31 2 *", "template": {}, "skipImmediately": False})
    start_on_beat(at)
    at.until_second(BEAT + 10)
    at.until_second(BEAT + 10)


def upgrade(at: Hands) -> None:
    """1.18.2 is replaced by 1.18.3, which reads the same expressions otherwise."""
    validate_storage(at)
    at.until_second(50)
    for name, cron in DIALECTS.items():
        at.schedule(name, cron, skipImmediately=False)
    start_on_beat(at, ServerFlags("1.18.2", concurrent_backups=5))
    until_available(at)
    at.until_second(BEAT + 15)
    at.place.kill()
    at.until_second(BEAT)
    at.place.start(ServerFlags("1.18.3", concurrent_backups=5))
    at.until_second(BEAT + 15)


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
}


# ── the queue ────────────────────────────────────────────────────────────────────────────────────────────────


def queue(concurrency: int) -> Callable[[Hands], None]:
    """Storage hangs; two backups of one namespace wait for each other, a queued one is deleted, the rest run off."""

    def tell(at: Hands) -> None:
        at.place.start(ServerFlags(concurrent_backups=concurrency))
        until_available(at)
        at.place.hold_storage()
        for name, team in zip("abcdef", (*TEAMS, *TEAMS), strict=True):
            at.backup(name, team)
            at.until_phase("Backup", name, "Queued", "ReadyToStart", "InProgress")
            at.place.wait(0.5)
        at.until_phase("Backup", TEAM_BACKUPS[concurrency - 1], "InProgress")
        at.place.delete("Backup", "e")
        at.place.wait(1)
        at.place.release_storage()
        at.until_idle()

    return tell


TEAM_BACKUPS = "abc"


def killed(at: Hands) -> None:
    """Velero ends with one running and two waiting, and comes back."""
    at.place.start(ServerFlags())
    until_available(at)
    at.place.hold_storage()
    for name, team in zip("abc", TEAMS, strict=True):
        at.backup(name, team)
        at.until_phase("Backup", name, "Queued", "ReadyToStart", "InProgress")
        at.place.wait(0.5)
    at.until_phase("Backup", "a", "InProgress")
    at.place.kill()
    at.place.wait(1)
    at.place.release_storage()
    at.place.start(ServerFlags())
    at.until_idle()


# ── backups, restores, storage ───────────────────────────────────────────────────────────────────────────────


def restore_and_delete(at: Hands) -> None:
    at.place.start(ServerFlags())
    until_available(at)
    at.backup("kept")
    at.until_phase("Backup", "kept", "Completed")
    at.place.create("Restore", "again", {"backupName": "kept", "namespaceMapping": {TEAMS[0]: "team-new"}})
    at.until_phase("Restore", "again", "Completed", "PartiallyFailed", "Failed")
    at.place.create("Restore", "nothing", {"backupName": "no-such"})
    at.until_phase("Restore", "nothing", "FailedValidation")
    at.place.create("DeleteBackupRequest", "missing", {"backupName": "no-such"})
    at.until_phase("DeleteBackupRequest", "missing", "Processed")
    at.place.create("DeleteBackupRequest", "away", {"backupName": "kept"})
    at.until_gone("Backup", "kept")
    at.until_gone("Restore", "again")
    at.until_gone("DeleteBackupRequest", "away")


def expiry(at: Hands) -> None:
    at.place.start(ServerFlags(collects_every=timedelta(seconds=10)))
    until_available(at)
    at.backup("short", ttl="5s")
    at.backup("long", TEAMS[1], ttl="1h0m0s")
    at.until_phase("Backup", "short", "Completed")
    at.until_phase("Backup", "long", "Completed")
    at.until_gone("Backup", "short")
    at.place.until(lambda: not at.place.all("DeleteBackupRequest"))


def storage_goes_and_comes_back(at: Hands) -> None:
    """Without its bucket the location is Unavailable and backups are refused; with it all is well again."""
    at.place.patch("BackupStorageLocation", "default", {"spec": {"validationFrequency": "10s"}})
    start_on_beat(at)
    until_available(at)
    at.schedule("hourly", NOT_DUE, skipImmediately=False)
    at.place.drop_bucket()
    at.until_phase("BackupStorageLocation", "default", "Unavailable")
    at.backup("refused")
    at.until_phase("Backup", "refused", "FailedValidation")
    at.change("hourly", schedule="* * * * *")
    at.until_second(BEAT + 5)
    at.place.make_bucket()
    until_available(at)
    at.until_second(BEAT + 5)
    at.until_idle()


STORIES = {
    "one backup": Story(one_backup, 10, in_share=True),
    "skip table, default false": Story(skip_table(False), 170),
    "skip table, default true": Story(skip_table(True), 170),
    "skip by default": Story(skip_by_default, 90, in_share=True),
    "overlap": Story(overlap, 360),
    "invalid and fixed": Story(invalid_and_fixed, 110, in_share=True),
    "never fires": Story(never_fires, 130),
    "upgrade": Story(upgrade, 160),
    "queue of 1": Story(queue(1), 150),
    "queue of 2": Story(queue(2), 30),
    "queue of 3": Story(queue(3), 30, in_share=True),
    "killed": Story(killed, 30, in_share=True),
    "restore and delete": Story(restore_and_delete, 30, in_share=True),
    "expiry": Story(expiry, 40),
    "storage goes and comes back": Story(storage_goes_and_comes_back, 150),
}


def tell(place: Place, name: str) -> None:
    STORIES[name].tell(Hands(place))
