"""Which of many namespaces are watched where there are fewer connections than namespaces."""

from __future__ import annotations

import asyncio

import pytest

from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.kube.watching.watch_slots import WatchSlots
from foretop_core.models.kinds import DATA_UPLOAD, EVENT, NAB

EVERYWHERE = WatchScope("prod", NAB)
MOVEMENTS = WatchScope("prod", DATA_UPLOAD, "velero", "velero.io/backup-name")
OPEN_OBJECT = WatchScope("prod", EVENT, "team-z", fields="involvedObject.uid=1")
LOOKED_AT = WatchScope("prod", NAB, "team-open")
FILLED, FILLED_TOO = WatchScope("prod", NAB, "team-b"), WatchScope("prod", NAB, "team-c")
EMPTY, EMPTY_TOO = WatchScope("prod", NAB, "team-a"), WatchScope("prod", NAB, "team-d")
RANKS = ((EVERYWHERE, MOVEMENTS, OPEN_OBJECT, LOOKED_AT), (FILLED, FILLED_TOO), (EMPTY, EMPTY_TOO))
RANK = {scope: number for number, scopes in enumerate(RANKS) for scope in scopes}


def slots_for(most: int) -> WatchSlots:
    slots = WatchSlots(most)
    slots.prefer("team-open")
    for scope in (FILLED, FILLED_TOO):
        slots.note(scope, filled=True)
    return slots


def test_a_scope_with_objects_takes_the_place_of_an_empty_one_until_it_has_none() -> None:
    slots = WatchSlots(1)
    slots.take(EMPTY)
    assert not slots.may_take(FILLED)
    slots.note(FILLED, filled=True)
    assert slots.may_take(FILLED)
    slots.note(FILLED, filled=False)
    assert not slots.may_take(FILLED)


@pytest.mark.parametrize("watched", RANK)
def test_only_a_scope_that_matters_more_takes_the_place_of_another(watched: WatchScope) -> None:
    for wanted in RANK:
        slots = slots_for(1)
        assert slots.take(watched)
        assert slots.may_take(wanted) is slots.take(wanted) is (RANK[wanted] < RANK[watched])
        assert slots.watched == 1


def test_as_many_are_watched_as_there_are_connections_and_the_one_that_matters_least_gives_way() -> None:
    slots = slots_for(3)
    assert [slots.take(scope) for scope in (EMPTY, FILLED, LOOKED_AT)] == [True, True, True]
    assert not slots.may_take(EMPTY_TOO)
    assert slots.take(FILLED_TOO), "in the place of the empty one"
    assert not slots.may_take(EMPTY)
    assert slots.take(EVERYWHERE)
    assert slots.take(OPEN_OBJECT)
    assert not slots.take(MOVEMENTS)
    assert slots.watched == 3


async def watch(slots: WatchSlots, scope: WatchScope, begun: asyncio.Event, end: asyncio.Event) -> str:
    try:
        async with slots.hold(scope):
            begun.set()
            await end.wait()
    except TimeoutError:
        return "gave way"
    return "ended"


async def test_a_watch_that_gives_way_ends_and_the_other_one_stays_counted() -> None:
    slots, begun, end = slots_for(1), asyncio.Event(), asyncio.Event()
    slots.take(EMPTY)
    watching = asyncio.create_task(watch(slots, EMPTY, begun, end))
    await begun.wait()
    assert slots.take(FILLED)
    assert await watching == "gave way"
    assert slots.watched == 1, "the one that took its place"
    assert not slots.may_take(FILLED_TOO)


async def test_a_watch_that_ends_makes_room_and_wakes_the_one_that_matters_most() -> None:
    slots, begun, end, never = slots_for(1), asyncio.Event(), asyncio.Event(), asyncio.Event()
    slots.take(EVERYWHERE)
    watching = asyncio.create_task(watch(slots, EVERYWHERE, begun, end))
    await begun.wait()
    turns = {scope: asyncio.create_task(slots.turn(scope, wait_for(never))) for scope in (EMPTY, FILLED, EMPTY_TOO)}
    await asyncio.sleep(0)
    end.set()
    assert await watching == "ended"
    assert slots.watched == 0
    await turns.pop(FILLED)
    await asyncio.sleep(0)
    assert not any(task.done() for task in turns.values())
    for task in turns.values():
        task.cancel()
    await asyncio.gather(*turns.values(), return_exceptions=True)


async def wait_for(event: asyncio.Event) -> None:
    await event.wait()


async def test_a_namespace_that_a_person_looks_at_has_its_turn_at_once() -> None:
    slots, never = WatchSlots(1), asyncio.Event()
    turns = {scope: asyncio.create_task(slots.turn(scope, wait_for(never))) for scope in (EVERYWHERE, EMPTY, LOOKED_AT)}
    await asyncio.sleep(0)
    slots.prefer("")
    slots.prefer("team-open")
    await turns.pop(LOOKED_AT)
    await asyncio.sleep(0)
    assert not any(task.done() for task in turns.values())
    for task in turns.values():
        task.cancel()
    await asyncio.gather(*turns.values(), return_exceptions=True)


async def test_a_turn_comes_when_the_pause_is_over() -> None:
    slots, over = WatchSlots(1), asyncio.Event()
    turn = asyncio.create_task(slots.turn(EMPTY, wait_for(over)))
    await asyncio.sleep(0)
    assert not turn.done()
    over.set()
    await turn


async def test_the_pause_grows_with_the_number_of_those_that_wait() -> None:
    slots, over = WatchSlots(1), asyncio.Event()
    timing = WatchTimings(poll=2.0, polls_per_second=2.0)
    assert slots.pause(timing) == 2.0
    turns = [
        asyncio.create_task(slots.turn(WatchScope("prod", NAB, f"team-{number}"), wait_for(over)))
        for number in range(4)
    ]
    await asyncio.sleep(0)
    assert slots.pause(timing) == 2.5
    over.set()
    await asyncio.gather(*turns)
    assert slots.pause(timing) == 2.0
