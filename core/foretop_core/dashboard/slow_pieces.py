"""Pieces of a page that take a look at each run of a long night, worked out beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeVar, cast

from foretop_core.dashboard.state import DashboardState

T = TypeVar("T")
Start = Callable[[Coroutine[Any, Any, None]], object]
"""Starts some work for as long as the page is on the screen."""
_MOST_KEPT = 100
"""More than a page has lanes in sight."""


class SlowPieces:
    """The last known piece of each place on a page: it is shown until the one that is basis now is there."""

    def __init__(self, state: DashboardState, start: Start, draw: Callable[[], None]) -> None:
        """`draw` shows a new piece."""
        self._state = state
        self._start = start
        self._draw = draw
        self._known: dict[Hashable, tuple[object, object]] = {}
        """By place, what it was worked out from, and the piece."""
        self._at_work: set[Hashable] = set()

    def get(
        self, place: Hashable, basis: object, context: str, work: Callable[[], T], nothing: T, *, is_long: bool
    ) -> T:
        """The piece of a place as of a `basis`: at once, unless that `is_long`; `nothing` where none is known yet."""
        known = self._known.get(place)
        if known is not None and known[0] == basis:
            return cast(T, known[1])
        if not is_long:
            piece = work()
            self._keep(place, basis, piece)
            return piece
        if place not in self._at_work:
            self._at_work.add(place)
            self._start(self._work_out(place, basis, context, work))
        return nothing if known is None else cast(T, known[1])

    async def _work_out(self, place: Hashable, basis: object, context: str, work: Callable[[], object]) -> None:
        try:
            self._keep(place, basis, await self._state.read_beside(context, lambda _: work()))
        except asyncio.CancelledError as ended:
            # Whoever started it keeps this error, and with its traceback would keep the night.
            raise ended.with_traceback(None) from None
        except Exception as problem:
            self._state.note_failure("a piece of the calendar", None, problem)
            return
        finally:
            self._at_work.discard(place)
        self._draw()

    def _keep(self, place: Hashable, basis: object, piece: object) -> None:
        self._known.pop(place, None)
        self._known[place] = basis, piece
        while len(self._known) > _MOST_KEPT:
            del self._known[next(iter(self._known))]
