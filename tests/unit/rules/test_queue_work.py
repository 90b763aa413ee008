"""The queue as Velero processes it, compared with the order of starts in the recordings."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from foretop_core.models import Backup, Restore
from foretop_core.rules import phases
from foretop_core.rules.queue import Blocker, BlockerKind, Queue, QueueItem, queue, queue_stalled
from foretop_core.rules.queue.namespace_claims import claim, shared_namespaces
from tests import recordings
from tests.objects import backup as plain_backup
from tests.unit.rules.runs_and_recordings import (
    CONCURRENCY,
    NOON,
    Recorded,
    at,
    backup,
    backups_in,
    objects_at,
    restore,
    restores_in,
    walk,
)

STARTS = {"night": 56, "nonadmin": 7, "overlap": 7, "overlap-1.17": 5, "queue": 16, "schedules": 52, "upgrade": 7}
"""The number of backups that each recording started."""


def line(objects: Recorded, name: str, now: datetime = NOON) -> Queue:
    return queue(backups_in(objects), now=now, concurrency=CONCURRENCY.get(name, 1))


def item(found: Queue, name: str) -> QueueItem:
    return next(entry for entry in found.items if entry.run.name == name)


def names(runs: tuple[Backup | Restore, ...]) -> list[str]:
    return [run.name for run in runs]


@pytest.mark.parametrize("name", recordings.NAMES)
def test_velero_always_started_the_first_unblocked_run(name: str) -> None:
    started = 0
    for event, before in walk(name):
        previous = before.get(event.key)
        if not isinstance(event.object, Backup) or not isinstance(previous, Backup):
            continue
        if previous.phase in phases.WAITING and event.object.phase in phases.HOLDS_SLOT:
            startable = [entry for entry in line(before, name).waiting if entry.hold is None]
            assert startable[0].run.name == event.object.name
            started += 1
    assert started == STARTS[name]


@pytest.mark.parametrize("name", recordings.NAMES)
def test_no_recording_has_a_stalled_queue(name: str) -> None:
    free_since: datetime | None = None
    longest = timedelta(0)
    for event, before in walk(name):
        found = line(before, name, event.t)
        if not any(entry.hold is None for entry in found.waiting):
            free_since = None
            continue
        free_since = free_since or event.t
        longest = max(longest, event.t - free_since)
        assert queue_stalled(found, event.t, slot_free_since=free_since) is None
        assert queue_stalled(found, event.t) is None
    assert longest < timedelta(minutes=1)


def test_blockers_are_namespaces_slots_and_turns() -> None:
    found = line(objects_at("queue", "02:33:00"), "queue")
    holds = {entry.run.name: entry.hold for entry in found.items if entry.hold}
    kinds = {name[:1] + name[-6:] if len(name) > 1 else name: hold.kind for name, hold in holds.items()}
    assert kinds == {
        "c": BlockerKind.NAMESPACE,
        "d": BlockerKind.SLOT,
        "e": BlockerKind.TURN,
        "f": BlockerKind.TURN,
        "g023135": BlockerKind.NAMESPACE,
        "g023235": BlockerKind.NAMESPACE,
    }
    assert names(item(found, "c").blocked_by) == ["a"]
    assert str(holds["c"]) == "waits for a: same namespace team-0"
    assert str(holds["d"]) == "waits for a slot, taken by a, b"
    assert str(holds["e"]) == "waits for a slot, behind d"
    assert names(item(found, "guarded-20261115023135").blocked_by) == ["f"]
    assert names(item(found, "guarded-20261115023235").blocked_by) == ["guarded-20261115023135"]
    assert [entry.run.name for entry in found.items if entry.may_be_overtaken] == ["c"]
    assert (found.concurrency, found.free_slots) == (2, 0)


@pytest.mark.parametrize(
    ("included", "excluded", "shared"),
    [
        ([], [], True),
        (["team-a", "shop"], [], True),
        (["shop"], [], False),
        (["team-?"], [], True),
        (["*"], ["shop"], True),
        (["*"], ["team-a"], False),
        (["*"], ["team-*"], False),
        (["*"], ["team-{a,b}"], True),
        (["team-a"], ["team-*"], False),
    ],
)
def test_two_backups_meet_in_a_namespace_that_both_include_and_none_excludes(
    included: list[str], excluded: list[str], shared: bool
) -> None:
    """Braces exclude nothing, so that no start is promised too early."""
    one = claim(plain_backup("one", spec={"includedNamespaces": included, "excludedNamespaces": excluded}))
    other = claim(plain_backup("other", spec={"includedNamespaces": ["team-a"]}))
    assert shared_namespaces(one, other) == shared_namespaces(other, one) == (("team-a",) if shared else ())


@pytest.mark.parametrize(
    ("namespaces", "told"),
    [
        (("a",), "same namespace a"),
        (("a", "b"), "same namespaces a, b"),
        (("*",), "both take every namespace"),
    ],
)
def test_the_namespaces_that_two_backups_share_are_named(namespaces: tuple[str, ...], told: str) -> None:
    assert Blocker(BlockerKind.NAMESPACE, (), namespaces).shared == told


def test_a_blocked_run_is_overtaken_as_in_velero_after_a_restart() -> None:
    found = line(objects_at("queue", "02:35:20.098"), "queue")
    assert [entry.run.name for entry in found.items] == ["h", "i", "guarded-20261115023519"]
    assert item(found, "i").may_be_overtaken
    assert names(item(found, "i").blocked_by) == ["h"]
    assert item(found, "guarded-20261115023519").hold is None


def test_a_release_without_a_queue_phase_is_detected_by_its_objects() -> None:
    found = line(objects_at("overlap-1.17", "02:50:00"), "overlap-1.17")
    assert [(entry.run.name[:3], entry.phase, entry.place, entry.position) for entry in found.items] == [
        ("one", "InProgress", 1, None),
        ("two", "", 2, None),
    ]
    assert str(found.items[1].hold) == "waits for a slot, taken by one-20261115024836"


def test_without_a_queue_phase_namespaces_do_not_block_and_one_runs_at_a_time() -> None:
    runs = [backup("a", "InProgress", started=0, namespaces=("x",)), backup("b", created=1, namespaces=("x",))]
    found = queue(runs, now=NOON, has_queue_phase=False, concurrency=3)
    assert found.concurrency == 1
    assert str(item(found, "b").hold) == "waits for a slot, taken by a"


def test_an_unknown_concurrency_is_at_least_the_running_count() -> None:
    runs = [
        backup("a", "InProgress", started=0, namespaces=("x",)),
        backup("b", "InProgress", started=1, namespaces=("y",)),
        backup("c", "Queued", place=1, namespaces=("z",)),
    ]
    assert queue(runs, now=NOON).concurrency == 2


def test_restores_run_one_at_a_time_oldest_first() -> None:
    runs = [
        restore("young", created=2),
        restore("old", created=1),
        restore("runs", "InProgress", created=0, started=0),
    ]
    found = queue(runs, now=at(5))
    assert [(entry.run.name, entry.place) for entry in found.items] == [("runs", 1), ("old", 2), ("young", 3)]
    assert names(item(found, "old").blocked_by) == ["runs"]
    assert str(item(found, "young").hold) == "waits for its turn, after old"
    assert item(found, "runs").running_for == timedelta(minutes=5)
    assert found.concurrency == 1


def test_restores_run_one_at_a_time_however_many_backups_may() -> None:
    found = queue([restore("one", created=1), restore("two", created=2)], now=at(5), concurrency=3)
    assert (found.concurrency, [str(entry.hold) for entry in found.items if entry.hold]) == (
        1,
        ["waits for its turn, after one"],
    )


def test_a_restore_of_the_recordings_runs_alone() -> None:
    found = queue(restores_in(objects_at("queue", "02:36:35")), now=NOON)
    assert [(entry.run.name, entry.phase, str(entry.owner)) for entry in found.items] == [
        ("r1", "InProgress", "by hand")
    ]


@pytest.mark.parametrize(
    ("ahead", "behind", "shared"),
    [
        (((), ()), (("x",), ()), ("x",)),
        ((("*",), ()), ((), ()), ("*",)),
        ((("*",), ("x",)), (("x",), ()), None),
        ((("*",), ("x",)), (("x", "y"), ()), ("y",)),
        ((("x", "y"), ("y",)), (("y",), ()), None),
        ((("team-*",), ()), (("team-1",), ()), ("team-1",)),
        ((("team-*",), ()), (("shop",), ()), None),
        ((("team-*",), ("team-1",)), (("team-1",), ()), None),
        ((("team-*",), ()), (("shop-*",), ()), None),
        ((("team-*",), ()), (("te*",), ()), ("te*",)),
        ((("*",), ("team-*",)), (("team-*",), ()), None),
        ((("{a,b}-x",), ()), (("b-x",), ()), ("b-x",)),
        ((("x",), ()), (("*",), ()), ("x",)),
        ((("x",), ()), (("x", "y"), ()), ("x",)),
    ],
)
def test_namespace_claims_overlap_or_not(
    ahead: tuple[tuple[str, ...], tuple[str, ...]],
    behind: tuple[tuple[str, ...], tuple[str, ...]],
    shared: tuple[str, ...] | None,
) -> None:
    runs = [
        backup("ahead", "InProgress", started=0, namespaces=ahead[0], excluded=ahead[1]),
        backup("behind", "Queued", place=1, created=1, namespaces=behind[0], excluded=behind[1]),
    ]
    hold = item(queue(runs, now=NOON, concurrency=5), "behind").hold
    assert (hold.namespaces if hold else None) == shared


def test_a_backup_of_all_namespaces_blocks_all_behind_it_even_while_waiting() -> None:
    runs = [
        backup("a", "InProgress", started=0, namespaces=("x",)),
        backup("all", "Queued", place=1, created=1),
        backup("z", "Queued", place=2, created=2, namespaces=("z",)),
        backup("x", "Queued", place=3, created=3, namespaces=("x*",)),
        backup("all-again", "Queued", place=4, created=4, namespaces=("*",)),
        backup("y", "Queued", place=5, created=5, namespaces=("xy",)),
    ]
    found = queue(runs, now=NOON, concurrency=5)
    assert names(item(found, "all").blocked_by) == ["a"]
    assert names(item(found, "z").blocked_by) == ["all"]
    assert names(item(found, "x").blocked_by) == ["all"]
    assert names(item(found, "all-again").blocked_by) == ["all", "z", "x"]
    assert names(item(found, "y").blocked_by) == ["all-again"]
    assert str(item(found, "all-again").hold) == "waits for all, z, x: both take every namespace"


def test_a_finishing_backup_holds_neither_slot_nor_namespace() -> None:
    runs = [
        backup("a", "Finalizing", started=0, namespaces=("x",)),
        backup("b", "Queued", place=1, created=1, namespaces=("x",)),
    ]
    found = queue(runs, now=NOON, concurrency=1)
    assert item(found, "b").hold is None
    assert found.free_slots == 1


def test_owners_are_distinguished() -> None:
    runs = [
        backup("daily-1", "InProgress", started=0, schedule="daily"),
        backup("nab-1", "Queued", place=1, nab="team-pay/ledger"),
        backup("mine", "Queued", place=2),
    ]
    found = queue(runs, now=NOON)
    assert [str(entry.owner) for entry in found.items] == ["schedule daily", "nab team-pay/ledger", "by hand"]


def test_a_queue_with_an_unused_slot_is_stalled_after_two_minutes() -> None:
    objects = objects_at("overlap", "02:44:54")
    handed_over = datetime.fromisoformat("2026-11-15T02:44:35+00:00")
    normal = handed_over + timedelta(minutes=2)
    assert queue_stalled(line(objects, "overlap", normal), normal) is None
    late = normal + timedelta(seconds=1)
    stall = queue_stalled(line(objects, "overlap", late), late)
    assert stall is not None
    assert stall.since == handed_over
    assert stall.free_slots == 1
    assert [entry.run.name for entry in stall.startable] == ["two-20261115024216"]


def test_in_an_idle_queue_a_backup_counts_from_its_creation() -> None:
    runs = [
        backup("old", "Completed", created=-60, started=-60, ended=-50),
        backup("waits", "Queued", place=1, created=0),
    ]
    stall = queue_stalled(queue(runs, now=at(3)), at(3))
    assert stall is not None
    assert stall.since == at(0)


def test_a_slot_released_at_an_unknown_time_is_not_judged_unless_observed() -> None:
    runs = [
        backup("moves-data", "WaitingForPluginOperations", created=-90, started=-90, namespaces=("x",)),
        backup("waits", "Queued", place=1, created=-60, namespaces=("y",)),
    ]
    found = queue(runs, now=NOON)
    assert queue_stalled(found, NOON) is None
    assert queue_stalled(found, NOON, slot_free_since=at(-1)) is None
    stall = queue_stalled(found, NOON, slot_free_since=at(-3))
    assert stall is not None
    assert stall.since == at(-3)


def test_a_finishing_backup_does_not_hide_a_stall() -> None:
    runs = [
        backup("moves-data", "WaitingForPluginOperations", created=-90, started=-90, namespaces=("x",)),
        backup("followed", "Completed", created=-80, started=-80, ended=-70, namespaces=("y",)),
        backup("waits", "Queued", place=1, created=-60, namespaces=("y",)),
    ]
    stall = queue_stalled(queue(runs, now=NOON), NOON)
    assert stall is not None
    assert stall.since == at(-60)


def test_full_slots_and_blocked_runs_are_not_a_stall() -> None:
    runs = [
        backup("runs", "InProgress", created=-90, started=-90, namespaces=("x",)),
        backup("meets", "Queued", place=1, created=-60, namespaces=("x",)),
    ]
    assert queue_stalled(queue(runs, now=NOON, concurrency=2), NOON) is None
    assert queue_stalled(queue(runs, now=NOON, concurrency=1), NOON) is None
