"""The chart of the design document, arrow by arrow: driven over the API and seen in the objects' status."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import pytest

from foretop_demo.controllers import Flags
from foretop_demo.reconcile import Behaviour
from tests.wire.http_box import BACKUPS, NABS, NARS, REQUESTS, RESTORES, TEAM, Desk, Raw, state

RELEASED, SEED = (Flags(behaviour=each) for each in Behaviour)
BOTH = pytest.mark.parametrize("flags", [RELEASED, SEED], ids=["released", "seed"])
NAB, NAR = f"{NABS}/ledger", f"{NARS}/again"
HELD = ["nonadminbackup.oadp.openshift.io/finalizer"]
REFUSED = "NonAdminBackup spec.backupSpec.excludedNamespaces is restricted"


def phases(objects: list[Raw]) -> list[str | None]:
    """The phases that an object went through."""
    return [phase for phase, _ in groupby((item.get("status") or {}).get("phase") for item in objects)]


def copied(objects: list[Raw], field: str = "veleroBackup") -> list[str]:
    """The phases of the Velero object as they were copied."""
    found = [((item.get("status") or {}).get(field) or {}).get("status", {}).get("phase") for item in objects]
    return [phase for phase, _ in groupby(found) if phase]


def conditions(item: Raw) -> dict[str, tuple[str, str]]:
    return {entry["type"]: (entry["status"], entry["reason"]) for entry in item["status"].get("conditions", ())}


def message(item: Raw, kind: str) -> str:
    return next(str(entry["message"]) for entry in item["status"]["conditions"] if entry["type"] == kind)


async def accepted(at: Desk, **spec: Any) -> Raw:
    """A NAB `ledger` whose Velero Backup has completed."""
    await at.post(NABS, "ledger", {"backupSpec": {}, **spec})
    at.wait()
    return await at.get(NAB)


def backup_of(nab: Raw) -> str:
    return f"{BACKUPS}/{nab['status']['veleroBackup']['name']}"


# ── create and update ────────────────────────────────────────────────────────────────────────────────────────


@BOTH
async def test_a_good_one_goes_the_whole_way_of_the_chart_in_its_order(flags: Flags) -> None:
    async with state(flags) as at:
        made = await at.post(NABS, "ledger", {"backupSpec": {}})
        at.wait()
        told = await at.seen(NABS, "ledger", made)
        assert phases(told) == [None, "New", "Created"]
        marks = [
            (
                "Accepted" in conditions(item) if "status" in item else False,
                "veleroBackup" in (item.get("status") or {}),
                item["metadata"].get("finalizers") == HELD,
                "Queued" in conditions(item) if "status" in item else False,
            )
            for item in told
        ]
        assert [each for each, _ in groupby(marks)] == [
            (False, False, False, False),
            (True, False, False, False),
            (True, True, False, False),
            (True, True, True, False),
            (True, True, True, True),
        ]
        assert conditions(told[-1]) == {"Accepted": ("True", "BackupAccepted"), "Queued": ("True", "BackupScheduled")}
        backup = await at.get(backup_of(told[-1]))
        assert backup["metadata"]["labels"]["openshift.io/oadp-nab-origin-nacuuid"] == backup["metadata"]["name"]
        assert backup["spec"]["includedNamespaces"] == [TEAM]


async def test_released_the_copy_follows_velero_but_knows_no_queue() -> None:
    async with state(RELEASED) as at:
        made = await at.post(NABS, "ledger", {"backupSpec": {}})
        at.wait()
        told = await at.seen(NABS, "ledger", made)
        assert copied(told) == ["InProgress", "Finalizing", "Completed"]
        places = [item["status"]["queueInfo"]["estimatedQueuePosition"] for item in told if _placed(item)]
        assert [place for place, _ in groupby(places)] == [1, 0]


async def test_as_designed_the_copy_follows_velero_through_the_queue_too() -> None:
    async with state(SEED) as at:
        made = await at.post(NABS, "ledger", {"backupSpec": {}})
        at.wait()
        told = await at.seen(NABS, "ledger", made)
        assert copied(told) == ["Queued", "ReadyToStart", "InProgress", "Finalizing", "Completed"]


def _placed(item: Raw) -> bool:
    return "queueInfo" in (item.get("status") or {})


@BOTH
async def test_a_bad_one_backs_off_until_its_user_mends_it(flags: Flags) -> None:
    async with state(flags) as at:
        made = await at.post(NABS, "ledger", {"backupSpec": {"excludedNamespaces": ["velero"]}})
        at.wait(300)
        refused = await at.get(NAB)
        assert phases(await at.seen(NABS, "ledger", made)) == [None, "New", "BackingOff"]
        assert conditions(refused) == {"Accepted": ("False", "InvalidBackupSpec")}
        assert message(refused, "Accepted") == REFUSED
        assert await at.items(BACKUPS) == []
        await at.patch(NAB, {"spec": {"backupSpec": {"excludedNamespaces": None}}})
        at.wait()
        assert phases(await at.seen(NABS, "ledger", refused)) == ["BackingOff", "Created"]


async def test_released_a_lost_backup_sends_it_back_and_the_design_makes_it_again() -> None:
    for flags, after, made_again in ((RELEASED, "BackingOff", False), (SEED, "Created", True)):
        async with state(flags) as at:
            nab = await accepted(at)
            await at.delete(backup_of(nab))
            at.wait(1)
            found = await at.get(NAB)
            assert found["status"]["phase"] == after
            assert (not await at.gone(backup_of(nab))) is made_again
            assert conditions(found)["Accepted"] == (
                ("True", "BackupAccepted") if made_again else ("False", "VeleroBackupNotFound")
            )


# ── the ways out ─────────────────────────────────────────────────────────────────────────────────────────────


async def test_as_designed_a_plain_delete_waits_to_be_told_what_becomes_of_the_data() -> None:
    async with state(SEED) as at:
        nab = await accepted(at)
        await at.delete(NAB)
        at.wait(300)
        found = await at.get(NAB)
        assert (found["status"]["phase"], conditions(found)["Deleting"]) == ("Deleting", ("True", "DeletionPending"))
        assert "spec.deleteBackup or spec.forceDeleteBackup" in message(found, "Deleting")
        assert not await at.gone(backup_of(nab))
        await at.patch(NAB, {"metadata": {"finalizers": None}})
        assert await at.gone(NAB)


async def test_released_a_plain_delete_takes_the_backup_and_the_sync_brings_both_back() -> None:
    async with state(RELEASED) as at:
        nab = await accepted(at)
        await at.delete(NAB)
        at.wait(1)
        assert (await at.gone(NAB), await at.gone(backup_of(nab))) == (True, True)
        assert (await at.seen(NABS, "ledger", nab))[-1]["status"]["phase"] == "Deleting"
        at.wait(180)
        back = await at.get(NAB)
        assert (back["status"]["phase"], conditions(back)) == ("Created", {"Queued": ("True", "BackupScheduled")})
        assert back["status"]["veleroBackup"]["name"] == nab["status"]["veleroBackup"]["name"]


async def test_as_designed_force_takes_the_objects_and_leaves_the_data() -> None:
    async with state(SEED) as at:
        nab = await accepted(at)
        await at.patch(NAB, {"spec": {"forceDeleteBackup": True}})
        at.wait(1)
        told = await at.seen(NABS, "ledger", nab)
        assert phases(told) == ["Created", "Deleting"]
        assert message(told[-1], "Deleting") == "backup accepted for deletion"
        assert (await at.gone(NAB), await at.gone(backup_of(nab)), await at.items(REQUESTS)) == (True, True, [])
        bucket = at.table.buckets.bucket("backups") or {}
        assert nab["status"]["veleroBackup"]["name"] in bucket


async def test_released_force_is_no_field_and_changes_nothing() -> None:
    async with state(RELEASED) as at:
        nab = await accepted(at)
        await at.patch(NAB, {"spec": {"forceDeleteBackup": True}})
        at.wait(60)
        found = await at.get(NAB)
        assert found["spec"] == nab["spec"]
        assert found["status"]["phase"] == "Created"


@BOTH
async def test_delete_waits_for_the_data_to_go_and_then_lets_go(flags: Flags) -> None:
    async with state(flags) as at:
        nab = await accepted(at)
        at.table.buckets.stop()
        await at.patch(NAB, {"spec": {"deleteBackup": True}})
        at.wait(20)
        held = await at.get(NAB)
        assert (held["status"]["phase"], held["metadata"]["finalizers"]) == ("Deleting", HELD)
        assert held["metadata"]["deletionTimestamp"]
        assert held["status"]["veleroDeleteBackupRequest"]["status"]["phase"] == "InProgress"
        assert (await at.get(backup_of(nab)))["status"]["phase"] == "Deleting"
        at.table.buckets.answer()
        at.wait(5)
        assert (await at.gone(NAB), await at.gone(backup_of(nab)), await at.items(REQUESTS)) == (True, True, [])
        at.wait(200)
        assert await at.gone(NAB), "there is no data left from which the sync could bring it back"


@BOTH
async def test_delete_with_no_backup_left_only_lets_go(flags: Flags) -> None:
    async with state(flags) as at:
        await at.post(NABS, "ledger", {"backupSpec": {"excludedNamespaces": ["velero"]}, "deleteBackup": True})
        at.wait()
        assert await at.gone(NAB)
        assert await at.items(REQUESTS) == []


async def test_released_a_delete_takes_the_restores_along() -> None:
    async with state(RELEASED) as at:
        await accepted(at)
        await at.post(NARS, "again", {"restoreSpec": {"backupName": "ledger"}})
        at.wait()
        await at.patch(NAB, {"spec": {"deleteBackup": True}})
        at.wait(10)
        assert (await at.gone(NAB), await at.gone(NAR)) == (True, True)
        assert await at.items(RESTORES) == []


# ── restores ─────────────────────────────────────────────────────────────────────────────────────────────────


@BOTH
async def test_a_restore_goes_the_same_way(flags: Flags) -> None:
    async with state(flags) as at:
        nab = await accepted(at)
        made = await at.post(NARS, "again", {"restoreSpec": {"backupName": "ledger"}})
        at.wait()
        told = await at.seen(NARS, "again", made)
        assert phases(told) == [None, "New", "Created"]
        assert conditions(told[-1]) == {
            "Accepted": ("True", "RestoreAccepted"),
            "Queued": ("True", "RestoreScheduled"),
        }
        assert copied(told, "veleroRestore") == ["InProgress", "Finalizing", "Completed"]
        places = [item["status"]["queueInfo"]["estimatedQueuePosition"] for item in told if _placed(item)]
        assert [place for place, _ in groupby(places)] == [1, 0]
        (restore,) = await at.items(RESTORES)
        assert restore["spec"]["backupName"] == nab["status"]["veleroBackup"]["name"]


@BOTH
async def test_a_restore_of_nothing_backs_off_until_it_is_mended(flags: Flags) -> None:
    async with state(flags) as at:
        await accepted(at)
        made = await at.post(NARS, "again", {"restoreSpec": {"backupName": "nowhere"}})
        at.wait(200)
        refused = await at.get(NAR)
        assert phases(await at.seen(NARS, "again", made)) == [None, "New", "BackingOff"]
        assert conditions(refused) == {"Accepted": ("False", "InvalidRestoreSpec")}
        await at.patch(NAR, {"spec": {"restoreSpec": {"backupName": "ledger"}}})
        at.wait()
        assert phases(await at.seen(NARS, "again", refused)) == ["BackingOff", "Created"]


@BOTH
async def test_a_restore_that_is_deleted_waits_for_its_velero_restore(flags: Flags) -> None:
    async with state(flags) as at:
        await accepted(at)
        await at.post(NARS, "again", {"restoreSpec": {"backupName": "ledger"}})
        at.wait()
        at.table.buckets.stop()
        await at.delete(NAR)
        at.wait(20)
        held = await at.get(NAR)
        assert (held["status"]["phase"], conditions(held)["Deleting"]) == ("Deleting", ("True", "DeletionPending"))
        at.table.buckets.answer()
        at.wait(5)
        assert (await at.gone(NAR), await at.items(RESTORES)) == (True, [])
