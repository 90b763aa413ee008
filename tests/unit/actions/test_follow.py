"""Following a write: whether Velero picked it up, judged by the store alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from foretop_core.actions import velero_pickup
from foretop_core.clock import ManualClock
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup, DeleteBackupRequest, Resource, from_builtins
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, RESTORE, SCHEDULE
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.store import Store
from tests.objects import NOW, backup, restore, schedule

KIND_OF = {"Schedule": SCHEDULE, "Backup": BACKUP, "DeleteBackupRequest": DELETE_REQUEST, "Restore": RESTORE}


def put(store: Store, *items: Resource) -> None:
    for item in items:
        sink = store.sink(WatchScope("prod", KIND_OF[type(item).__name__]), ManualClock(NOW))
        sink.apply("MODIFIED", item)


async def sentences(seen: AsyncIterator[velero_pickup.ProgressReport]) -> list[tuple[str, bool]]:
    return [(one.sentence, one.well) async for one in seen]


async def test_a_skip_is_picked_up_when_last_skipped_is_set() -> None:
    store = Store()
    before = schedule(paused=True, last="00:00:03", resourceVersion="1")
    put(store, before)
    watching = asyncio.create_task(
        sentences(velero_pickup.follow_write(store, "prod", velero_pickup.unpause_probe(before, (), nothing_due=False)))
    )
    await asyncio.sleep(0)
    put(store, schedule(last="00:00:03", skip=True, resourceVersion="2"))
    await asyncio.sleep(0)
    put(store, schedule(last="00:00:03", skip=False, skipped="02:41:09", resourceVersion="3"))
    reports = await watching
    assert reports[-1] == ("Velero picked it up 02:41:09Z and skips what was due", True)


async def test_the_backup_that_was_made_is_named() -> None:
    store = Store()
    before = schedule(paused=True, last="00:00:03", resourceVersion="1")
    old, new = backup("nightly-1", of="nightly"), backup("nightly-2", "New", of="nightly")
    put(store, schedule(last="02:41:09", resourceVersion="3"), old, new)
    reports = await sentences(
        velero_pickup.follow_write(
            store, "prod", velero_pickup.unpause_probe(before, ("nightly-1",), nothing_due=False)
        )
    )
    assert reports == [("Velero picked it up, backup nightly-2 (New)", True)]


async def test_a_backup_is_named_although_its_watch_is_behind_that_of_schedules() -> None:
    store = Store()
    before = schedule(paused=True, last="00:00:03", resourceVersion="1")
    put(store, schedule(last="02:41:09", resourceVersion="3"))
    watching = asyncio.create_task(
        sentences(velero_pickup.follow_write(store, "prod", velero_pickup.unpause_probe(before, (), nothing_due=False)))
    )
    await asyncio.sleep(0.05)
    put(store, backup("nightly-2", "New", of="nightly"))
    assert await watching == [("Velero picked it up, backup nightly-2 (New)", True)]


async def test_where_backups_are_not_seen_the_run_alone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(velero_pickup, "NAMED_WITHIN", 0.05)
    store = Store()
    before = schedule(paused=True, last="00:00:03", resourceVersion="1")
    put(store, schedule(last="02:41:09", resourceVersion="3"))
    reports = await sentences(
        velero_pickup.follow_write(store, "prod", velero_pickup.unpause_probe(before, (), nothing_due=False))
    )
    assert reports == [("Velero picked it up 02:41:09Z, a backup was made", True)]


def test_a_schedule_that_was_deleted_meanwhile_is_not_waited_for() -> None:
    probe = velero_pickup.unpause_probe(schedule(paused=True), (), nothing_due=False)
    found = probe(ClusterSnapshot("prod", schedules=(schedule("other"),)))
    assert (found.sentence, found.done, found.well) == ("nightly was deleted in the meantime", True, False)


async def test_nothing_is_awaited_if_no_run_is_due() -> None:
    store = Store()
    before = schedule(paused=True, last="02:00:03", skip=False, resourceVersion="1")
    put(store, schedule(last="02:00:03", skip=False, resourceVersion="2"))
    reports = await sentences(
        velero_pickup.follow_write(store, "prod", velero_pickup.unpause_probe(before, (), nothing_due=True))
    )
    assert reports == [("Velero picked it up: nothing was due", True)]


async def test_a_write_that_velero_did_not_pick_up_is_reported() -> None:
    store = Store()
    before = schedule(paused=True, last="00:00:03", resourceVersion="1")
    put(store, schedule(last="00:00:03", resourceVersion="2"))
    seen = velero_pickup.follow_write(
        store, "prod", velero_pickup.unpause_probe(before, (), nothing_due=False), within=0.05
    )
    reports = await sentences(seen)
    assert reports == [("it waits for Velero", True), (velero_pickup.NOT_PICKED_UP, False)]


async def test_an_invalid_schedule_is_refused_by_velero() -> None:
    store = Store()
    put(store, schedule("bad", "0 0 * * 8", phase="FailedValidation"))
    ((sentence, well),) = await sentences(
        velero_pickup.follow_write(store, "prod", velero_pickup.schedule_probe("velero", "bad"))
    )
    assert "Velero refuses bad" in sentence
    assert not well


async def test_a_backup_is_followed_to_its_end_with_its_progress() -> None:
    store = Store()
    seen = velero_pickup.follow_write(
        store, "prod", velero_pickup.run_probe(Backup, "velero", "one", to_the_end=True), within=None
    )
    assert (await anext(seen)).sentence == "one is not visible yet"
    put(store, backup("one", "InProgress", progress={"totalItems": 40, "itemsBackedUp": 12}))
    assert (await anext(seen)).sentence == "one: InProgress, 12 of 40 items"
    put(store, backup("one", "PartiallyFailed", ended="02:41:30"))
    assert await anext(seen) == velero_pickup.ProgressReport("one: PartiallyFailed", done=True, well=False)
    assert [one async for one in seen] == []


async def test_a_blocked_run_names_the_run_it_waits_for() -> None:
    store = Store()
    before = schedule(paused=True, last="00:00:03", skip=False, resourceVersion="1")
    put(
        store,
        schedule(last="00:00:03", skip=False, resourceVersion="2"),
        backup("nightly-1", "InProgress", of="nightly"),
    )
    reports = await sentences(
        velero_pickup.follow_write(
            store, "prod", velero_pickup.unpause_probe(before, ("nightly-1",), nothing_due=False)
        )
    )
    assert reports == [("one backup starts when nightly-1 has ended", True)]


async def test_the_errors_of_a_processed_deletion_are_shown() -> None:
    store = Store()
    request = from_builtins(
        DeleteBackupRequest,
        {
            "metadata": {"name": "one-x", "namespace": "velero"},
            "spec": {"backupName": "one"},
            "status": {"phase": "Processed", "errors": ["bucket is gone"]},
        },
    )
    put(store, backup("one"), request)
    reports = await sentences(velero_pickup.follow_write(store, "prod", velero_pickup.deletion_probe("velero", "one")))
    assert reports == [("one could not be deleted: bucket is gone", False)]


async def test_a_restore_that_is_being_deleted_is_followed_until_it_is_gone() -> None:
    store, mine = Store(), restore("back")
    put(store, mine, restore("other"))
    probe = velero_pickup.restore_deletion_probe("velero", "back")
    watching = asyncio.create_task(sentences(velero_pickup.follow_write(store, "prod", probe)))
    await asyncio.sleep(0)
    store.sink(WatchScope("prod", RESTORE), ManualClock(NOW)).apply("DELETED", mine)
    assert await watching == [
        ("back waits for Velero to remove its log and results", True),
        ("back is deleted", True),
    ]
