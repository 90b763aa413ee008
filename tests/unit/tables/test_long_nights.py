"""The night of very many runs: what a paint asks of it costs no look at each, and the rest is worked out beside."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from foretop_core.dashboard.slow_pieces import SlowPieces
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.kinds import NAB
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.night import night
from foretop_core.rules.night.past_runs import PAST, past_runs
from foretop_core.tables.timeline.night_lanes import ServerNight
from tests.counted_work import calls
from tests.crowds import nabs_of_one_team
from tests.objects import NOW
from tests.tui.fake_source import CONTEXT, FilledSource

_LANE = ObjectRef(CONTEXT, NAB.name, "velero", "")


def _long_night(count: int) -> tuple[ServerNight, DashboardState]:
    source = FilledSource(nabs_of_one_team(count))
    snapshot = assemble(nabs_of_one_team(count), CONTEXT)
    ahead = night(snapshot, "velero", NOW, draws=0)
    shown = ServerNight(CONTEXT, ahead, past_runs(snapshot, "velero", NOW - PAST)).laid_out()
    return shown, DashboardState(source, lambda: 0.0)


def test_a_paint_asks_no_more_of_a_night_of_more_runs() -> None:
    def asked(count: int) -> int:
        shown, state = _long_night(count)
        render = state.render_context(CONTEXT)
        _ = render.line("velero"), shown.told_runs(_LANE, render)

        def paint() -> None:
            assert shown.is_long
            assert len(shown.told_runs(_LANE, render)) == shown.runs_in(_LANE) - 30
            assert shown.runs_tonight(_LANE) >= count
            assert shown.next_run(_LANE) is not None
            assert shown.outlook.waiting is not None

        return calls(paint)

    assert asked(2_400) == asked(600)


class _Pieces(SlowPieces):
    """Those of a night that is always long; the work that they start waits in `begun`."""

    def __init__(self) -> None:
        self.begun: list[Coroutine[Any, Any, None]] = []
        self.drawn = 0
        self.state = DashboardState(FilledSource([]), lambda: 0.0)
        super().__init__(self.state, self.begun.append, self._count)

    def _count(self) -> None:
        self.drawn += 1

    def ask(self, wanted: object, work: Callable[[], str] | None = None) -> str:
        return self.get("place", wanted, CONTEXT, work or (lambda: f"piece of {wanted}"), "nothing yet", is_long=True)

    def finish(self) -> None:
        asyncio.run(_all_of(self.begun))
        self.begun.clear()


async def _all_of(works: list[Coroutine[Any, Any, None]]) -> None:
    for work in works:
        await work


def test_the_last_piece_stands_until_the_one_that_is_wanted_is_worked_out() -> None:
    pieces = _Pieces()
    assert [pieces.ask(1), pieces.ask(1)] == ["nothing yet"] * 2
    assert len(pieces.begun) == 1, "asked for with every paint, and begun once"
    pieces.finish()
    assert (pieces.ask(1), pieces.drawn, pieces.begun) == ("piece of 1", 1, [])
    assert pieces.ask(2) == "piece of 1"
    pieces.finish()
    assert pieces.ask(2) == "piece of 2"


def test_a_piece_of_a_short_night_is_worked_out_at_once() -> None:
    pieces = _Pieces()
    assert pieces.get("place", 1, CONTEXT, lambda: "piece", "nothing yet", is_long=False) == "piece"
    assert pieces.begun == []


def test_a_piece_that_fails_is_named_and_tried_again() -> None:
    pieces = _Pieces()
    pieces.ask(1, lambda: str(1 // 0))
    pieces.finish()
    assert [one.what for one in pieces.state.failures(CONTEXT)] == ["a piece of the calendar"]
    assert pieces.ask(1) == "nothing yet"
    pieces.finish()
    assert pieces.ask(1) == "piece of 1"
