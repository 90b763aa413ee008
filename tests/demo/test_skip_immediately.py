"""The table of the design document on skipping: who backs up at once, who waits, and what is left in the field."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from foretop_demo.controllers import Flags
from foretop_demo.reconcile import Behaviour
from tests.wire.http_box import BACKUPS, SCHEDULES, Raw, state

ALL = tuple(product(("new", "paused"), (None, False, True), (False, True), (False, True)))
TEN_MINUTES = {"schedule": "*/10 * * * *", "template": {"includedNamespaces": ["shop"]}}
SOON, LATE = 60, 15 * 60


def _given(skip: bool | None) -> Raw:
    return {} if skip is None else {"skipImmediately": skip}


async def _look(kind: str, skip: bool | None, default: bool, due: bool, behaviour: Behaviour) -> tuple[Raw, int]:
    """A schedule made while the server was away, or paused and then unpaused: how it and its backups stand then."""
    flags = Flags(skip_immediately=default, behaviour=behaviour)
    async with state(flags, start_velero=kind == "paused") as at:
        spec: dict[str, Any] = {**TEN_MINUTES, **({"paused": True} if kind == "paused" else _given(skip))}
        await at.post(SCHEDULES, "shop", spec)
        at.wait(LATE if due else SOON)
        if kind == "new":
            at.table.velero.start()
        else:
            await at.patch(f"{SCHEDULES}/shop", {"spec": {"paused": False, "skipImmediately": skip}})
        at.wait(1)
        return await at.get(f"{SCHEDULES}/shop"), len(await at.items(BACKUPS))


@pytest.mark.parametrize(("kind", "skip", "default", "due"), ALL)
async def test_released_the_field_decides_or_the_server_and_is_false_afterwards(
    kind: str, skip: bool | None, default: bool, due: bool
) -> None:
    schedule, backups = await _look(kind, skip, default, due, Behaviour.RELEASED)
    skips = default if skip is None else skip
    assert ("lastSkipped" in schedule["status"], backups) == (skips, int(due and not skips))
    assert schedule["spec"]["skipImmediately"] is False


@pytest.mark.parametrize(("kind", "skip", "default", "due"), ALL)
async def test_as_designed_a_used_field_is_empty_again(kind: str, skip: bool | None, default: bool, due: bool) -> None:
    """The server's default is written into new schedules that have no field, a true one to be used at once."""
    schedule, backups = await _look(kind, skip, default, due, Behaviour.SEED)
    skips = default if skip is None else skip
    assert ("lastSkipped" in schedule["status"], backups) == (skips, int(due and not skips))
    assert schedule["spec"].get("skipImmediately") is (None if skips else False)


async def test_released_the_servers_true_serves_the_first_schedule_alone() -> None:
    async with state(Flags(skip_immediately=True)) as at:
        for number in range(4):
            await at.post(SCHEDULES, f"shop-{number}", TEN_MINUTES)
            at.wait(1)
        found = [item for item in await at.items(SCHEDULES) if "lastSkipped" in item["status"]]
        assert [item["metadata"]["name"] for item in found] == ["shop-0"]


async def test_paused_at_43_and_unpaused_at_50_the_backup_of_45_is_made_at_once_unless_skipped() -> None:
    for skip, made in ((None, 1), (False, 1), (True, 0)):
        async with state() as at:
            at.wait((43 - 30) * 60)
            await at.post(SCHEDULES, "shop", {**TEN_MINUTES, "schedule": "45 * * * *", "paused": True})
            at.wait(7 * 60)
            await at.patch(f"{SCHEDULES}/shop", {"spec": {"paused": False, **_given(skip)}})
            at.wait(1)
            assert len(await at.items(BACKUPS)) == made
            at.wait(60 * 60)
            assert len(await at.items(BACKUPS)) == made + 1, "the next run is at 45 past the next hour"
