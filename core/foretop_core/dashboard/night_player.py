"""Plays the nights and weeks of the calendar in the background: which are due, and when to look again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from datetime import timedelta
from typing import Any

from foretop_core.dashboard.state import DashboardState
from foretop_core.rules.night.coming_back import with_backlog
from foretop_core.rules.night.night import FEWEST_DRAWS, Foresight, Night, foresight
from foretop_core.rules.night.past_runs import PAST, PastRun, past_runs
from foretop_core.rules.phases import FINISHING, HOLDS_SLOT, WAITING
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.timeline.night_lanes import Server, ServerNight
from foretop_core.tables.timeline.timeline_model import TimelineModel

_UNFINISHED = WAITING | HOLDS_SLOT | FINISHING
_DAY, _WEEK = timedelta(days=1), timedelta(days=7)
_SHARE = 10
"""A night that is foreseen again and again gets one part in so many of the time."""
_SOONEST = 2.0
_MOST_CPU = 2.0
"""Seconds of drawing for the ranges of one night."""
_LASTS = timedelta(minutes=10)
"""An older night is not shown until the ranges of the new one are drawn: its likely course takes its place at once."""
_REST = 0.01
"""Seconds between two draws, in which keys are answered."""


class NightPlayer:
    """Plays the nights of one timeline. A change of schedules is played sooner than any other change."""

    def __init__(
        self, state: DashboardState, timeline: TimelineModel, cell: Callable[[], int], draw: Callable[[], None]
    ) -> None:
        """`cell` is how many minutes a cell has now, and `draw` shows a new night."""
        self._state = state
        self._timeline = timeline
        self._cell = cell
        self._draw = draw
        self.at_work: set[timedelta] = set()
        """The lengths of the nights that are being foreseen."""
        self.foreseen: dict[tuple[Server, timedelta], tuple[int, int]] = {}
        """The stamp that each night was foreseen at."""
        self._next_look: dict[timedelta, tuple[float, float]] = {}
        """When those of a length may be foreseen again: after a change of schedules, and after any other."""

    def work(self, *, needs_week: bool) -> Iterator[Coroutine[Any, Any, None]]:
        """The work of playing the nights that have changed, or whose clock has entered another cell.

        What was never foreseen is at once, when all lists are in; what was, at most as often as its cost allows.
        """
        for length in (_WEEK, _DAY) if needs_week else (_DAY,):
            due = self._due(length)
            if due and length not in self.at_work:
                self.at_work.add(length)
                yield self._foresee(due, length)

    def _due(self, length: timedelta) -> list[Server]:
        timeline, awaits_lists = self._timeline, self._state.store.health.awaits_lists
        due = [
            server
            for server in timeline.servers()
            if not awaits_lists(server[0]) and self.foreseen.get((server, length)) != self._stamp(server)
        ]
        started, (soon, later) = time.monotonic(), self._next_look.get(length, (0.0, 0.0))
        if started >= later:
            return due
        nights = timeline.weeks if length == _WEEK else timeline.nights
        return [
            server
            for server in due
            if (server, length) not in self.foreseen or (started >= soon and timeline.is_outdated(nights.get(server)))
        ]

    def _stamp(self, server: Server) -> tuple[int, int]:
        """Another one as soon as now has entered another cell, or what the night is foreseen from has changed.

        Where backups are open it is another minute: their ends move with the clock, as those of the queue do.
        """
        is_open = self._state.store.snapshot(server[0]).lookups.unfinished_backups(server[1], _UNFINISHED) > 0
        step = 60 if is_open else self._cell() * 60
        return int(self._state.now(server[0]).timestamp() // step), self._timeline.changes[server]

    async def _foresee(self, due: Sequence[Server], length: timedelta) -> None:
        used = 0.0
        try:
            for server in due:
                self.foreseen[server, length] = self._stamp(server)
                used += await self._foresee_one(server, length)
        except asyncio.CancelledError as left:
            # Somebody has left the page: who comes back gets another night at once.
            for server in due:
                self.foreseen.pop((server, length), None)
            # Whoever started it keeps this error, and with its traceback would keep all that the night was played from.
            raise left.with_traceback(None) from None
        except Exception as problem:
            self._state.note_failure("the night ahead", None, problem)
        finally:
            self.at_work.discard(length)
            ended = time.monotonic()
            self._next_look[length] = ended + _SOONEST, ended + max(_SOONEST, _SHARE * used)

    async def _foresee_one(self, server: Server, length: timedelta) -> float:
        """The likely course of a new night at once; its ranges draw by draw, with room for keys between them.

        Seconds of work.
        """
        state, timeline, (context, namespace) = self._state, self._timeline, server
        now, plan = state.now(context), timeline.plans[server]
        is_shown_at_once = length == _WEEK or self._is_awaited(server)

        def shown(night: Night, past: tuple[PastRun, ...]) -> ServerNight:
            return ServerNight(context, night, past, plan).laid_out()

        def begin(snapshot: ClusterSnapshot) -> tuple[Foresight, tuple[PastRun, ...], ServerNight | None, float]:
            began = time.thread_time()
            coming = foresight(snapshot, namespace, now, length)
            likely, past = coming.likely(), past_runs(snapshot, namespace, now - PAST)
            first = shown(likely, past) if is_shown_at_once else None
            return coming, past, first, time.thread_time() - began

        def go_on(_: ClusterSnapshot) -> float:
            began = time.thread_time()
            coming.play(1)
            return time.thread_time() - began

        coming, past, first, used = await state.read(context, begin)
        if first is not None and length == _WEEK:
            timeline.take_week(first)
            self._draw()
            return used
        if first is not None or self._is_awaited(server):
            self._take(first or ServerNight(context, coming.likely(), past, plan))
        while not coming.likely().unknown and coming.draws < FEWEST_DRAWS and used < _MOST_CPU:
            used += await state.read(context, go_on)
            await asyncio.sleep(_REST)
        self._take(
            await state.read_beside(context, lambda seen: shown(with_backlog(coming.night(), seen, state.zone), past))
        )
        return used

    def _is_awaited(self, server: Server) -> bool:
        """True if there is no night of a server that still holds."""
        seen = self._timeline.nights.get(server)
        if seen is None or self._timeline.is_outdated(seen):
            return True
        return self._state.now(server[0]) - seen.night.now > _LASTS

    def _take(self, night: ServerNight) -> None:
        self._timeline.take(night)
        self._draw()
