"""A night that is played for a page which is left before it is done."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from foretop_core.dashboard import night_player
from foretop_core.dashboard.night_player import NightPlayer
from foretop_core.dashboard.state import DashboardState
from foretop_core.rules.night.night import Foresight, foresight
from foretop_core.store.store import MOST_AT_ONCE
from foretop_core.tables.timeline.timeline_model import TimelineModel
from tests.crowds import nabs_of_one_team
from tests.tui.fake_source import CONTEXT, FilledSource


async def test_who_keeps_the_end_of_a_night_that_was_left_keeps_nothing_of_the_night(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, left, nights = FilledSource(nabs_of_one_team(MOST_AT_ONCE)), list[Callable[[], None]](), list[Any]()

    def foreseen(*of: Any) -> Foresight:
        night = foresight(*of)
        nights.append(weakref.ref(night))
        return night

    monkeypatch.setattr(night_player, "foresight", foreseen)
    state = DashboardState(source, lambda: 0.0, beside=left.append)
    timeline = TimelineModel(source.store, (CONTEXT,))
    timeline.pump(state.now())
    player = NightPlayer(state, timeline, lambda: 15, lambda: None)
    (work,) = player.work(needs_week=False)
    task = asyncio.create_task(work)
    gc.disable()
    try:
        while not nights:
            await asyncio.sleep(0)
            while left:
                left.pop()()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as ended:
            await task
        while left:
            left.pop()()
        assert ended.value is not None
        assert [one() for one in nights] == [None]
        assert not player.at_work
    finally:
        gc.enable()
        timeline.close()
