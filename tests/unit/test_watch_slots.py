"""Which of many namespaces are watched where there are fewer connections than namespaces."""

from __future__ import annotations

from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.kube.watching.watch_slots import WatchSlots
from foretop_core.models.kinds import NAB


def test_a_scope_with_objects_takes_the_place_of_an_empty_one_until_it_is_forgotten() -> None:
    slots = WatchSlots(1)
    empty, filled = WatchScope("prod", NAB, "team-a"), WatchScope("prod", NAB, "team-b")
    slots.take(empty)
    assert not slots.may_take(filled)
    slots.note(filled, filled=True)
    assert slots.may_take(filled)
    slots.forget(filled)
    assert not slots.may_take(filled)
