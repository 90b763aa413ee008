"""Following a write: whether Velero picked it up, judged by the store alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from foretop_core.actions import velero_pickup
from foretop_core.clock import ManualClock
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup, Resource
from foretop_core.models.kinds import BACKUP, RESTORE, SCHEDULE
from foretop_core.store import Store
from tests.objects import NOW, backup, restore, schedule

KIND_OF = {"Schedule": SCHEDULE, "Backup": BACKUP, "Restore": RESTORE}
WITHIN = 30.0
"""Seconds, for a machine that has much else to do; nothing waits that long."""


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
        sentences(
            velero_pickup.follow_write(
                store, "prod", velero_pickup.unpause_probe(before, (), was_due=True, skips=False), WITHIN
            )
        )
    )
    await asyncio.sleep(0)
    put(store, schedule(last="00:00:03", skip=True, resourceVersion="2"))
    await asyncio.sleep(0)
    put(store, schedule(last="00:00:03", skip=False, skipped="02:41:09", resourceVersion="3"))
    reports = await watching
    assert reports[-1] == ("Velero picked it up 02:41:09Z and skips what was due", True)


async def test_a_backup_is_named_although_its_watch_is_behind_that_of_schedules() -> None:
    store = Store()
    before = schedule(paused=True, last="00:00:03", resourceVersion="1")
    put(store, schedule(last="02:41:09", resourceVersion="3"))
    watching = asyncio.create_task(
        sentences(
            velero_pickup.follow_write(
                store, "prod", velero_pickup.unpause_probe(before, (), was_due=True, skips=False), WITHIN
            )
        )
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
        velero_pickup.follow_write(
            store, "prod", velero_pickup.unpause_probe(before, (), was_due=True, skips=False), WITHIN
        )
    )
    assert reports == [("Velero picked it up 02:41:09Z, a backup was made", True)]


async def test_a_write_that_velero_did_not_pick_up_is_reported() -> None:
    store = Store()
    before = schedule(paused=True, last="00:00:03", resourceVersion="1")
    put(store, schedule(last="00:00:03", resourceVersion="2"))
    seen = velero_pickup.follow_write(
        store, "prod", velero_pickup.unpause_probe(before, (), was_due=True, skips=False), within=0.05
    )
    first, last = [one async for one in seen]
    assert first == velero_pickup.ProgressReport("it waits for Velero")
    assert last == velero_pickup.ProgressReport(velero_pickup.NOT_PICKED_UP, done=True, well=False)


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


async def test_a_restore_that_is_being_deleted_is_followed_until_it_is_gone() -> None:
    store, mine = Store(), restore("back")
    put(store, mine, restore("other"))
    probe = velero_pickup.restore_deletion_probe("velero", "back")
    watching = asyncio.create_task(sentences(velero_pickup.follow_write(store, "prod", probe, WITHIN)))
    await asyncio.sleep(0)
    store.sink(WatchScope("prod", RESTORE), ManualClock(NOW)).apply("DELETED", mine)
    assert await watching == [
        ("back waits for Velero to remove its log and results", True),
        ("back is deleted", True),
    ]
