"""Work over all objects of a large cluster, beside the event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from types import TracebackType
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.indexes import Indexes
from foretop_core.rules.lookups import Lookups
from foretop_core.rules.snapshot import ClusterSnapshot, KeptIndexes, KeptNights
from foretop_core.store.store import MOST_AT_ONCE, Change, Feed, ProtectionCache, Store, Subscription

T = TypeVar("T")
Beside = Callable[[Callable[[], None]], None]
"""Does some work beside the caller."""
_RESTS = 5
"""Work that is done again and again rests so many times as long as it took."""


_Piece = tuple[ClusterSnapshot, Mapping[ObjectRef, Change], Callable[[ClusterSnapshot], None]]


class BackgroundReader:
    """Works on one cluster in one thread, piece by piece; each sees the objects as they were when it was asked for.

    They are those of the store, their indexes the thread's own: the event loop changes the store's meanwhile.
    """

    def __init__(self, store: Store, context: str, beside: Beside) -> None:
        self._store, self._context, self.beside = store, context, beside
        self._changes: Subscription | None = None
        self._pieces: deque[_Piece] = deque()
        self._lock = threading.Lock()
        self._is_at_work = False
        self._feed, self._indexes = Feed(), Indexes()
        self._objects: dict[ObjectRef, Resource] = {}
        self._protection = ProtectionCache(self._feed)
        self._nights: KeptNights = {}
        self._gone: deque[object] = deque()

    @property
    def is_large(self) -> bool:
        """True where a look at all objects would hold the event loop up."""
        return self._store.size > MOST_AT_ONCE

    def do(self, work: Callable[[ClusterSnapshot], T], then: Callable[[Callable[[], T]], None]) -> None:
        """Does a piece of work after those before it; `then` gets its outcome in that thread, to be called."""

        def piece(snapshot: ClusterSnapshot) -> None:
            try:
                outcome = partial(_given, work(snapshot))
            except Exception as problem:
                outcome = partial(_raised, problem)
            then(outcome)

        self._begin((self._store.snapshot(self._context), self._drained(), piece))

    async def read(self, work: Callable[[ClusterSnapshot], T]) -> T:
        """The answer of a piece of work."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Callable[[], T]] = loop.create_future()

        def settle(outcome: Callable[[], T]) -> None:
            if not answer.done():
                answer.set_result(outcome)

        def told(outcome: Callable[[], T]) -> None:
            # The loop may have ended meanwhile: then nobody waits for it.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, outcome)

        self.do(work, told)
        return (await answer)()

    def let_go(self, things: Iterable[object]) -> None:
        """Holds what nobody needs any more until the next piece of work: freeing very many objects takes its time."""
        self._gone.extend(things)

    def _begin(self, piece: _Piece) -> None:
        with self._lock:
            self._pieces.append(piece)
            begins, self._is_at_work = not self._is_at_work, True
        if begins:
            self.beside(self._work)

    def _drained(self) -> Mapping[ObjectRef, Change]:
        if self._changes is not None:
            return self._changes.drain()
        # With the first piece: whoever never asks for one keeps no changes.
        self._changes = self._store.feed.subscribe()
        return {key: Change(None, item) for key, item in self._store.objects(self._context)}

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._pieces:
                    self._is_at_work = False
                    return
                snapshot, changes, work = self._pieces.popleft()
            self._free()
            for key, change in changes.items():
                if key.context == self._context:
                    self._follow(key, change)
            lookups = Lookups(self._context, self._indexes, self._objects.get)
            work(replace(snapshot, live=KeptIndexes(lookups, self._protection.of, lambda: True, self._nights)))

    def _free(self) -> None:
        """Frees them one by one: nobody else has a turn while all in a collection are freed."""
        gone = self._gone
        while gone:
            thing = gone.pop()
            if type(thing) in (tuple, list):
                gone.extend(thing)  # type: ignore[arg-type]
            elif type(thing) is dict:
                gone.extend(thing.values())

    def _follow(self, key: ObjectRef, change: Change) -> None:
        try:
            self._indexes.move(key, change.before, change.after)
        except Exception:
            # The store keeps no object that its indexes cannot take in, so that this is a fault of foretop's own.
            self._indexes.discard(key, change.before, change.after)
        if change.after is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = change.after
        self._feed.publish(key, change.before, change.after)


class LatestAnswer(Generic[T]):
    """The last answer of work that is done beside the event loop again and again; it holds until the next is there.

    The thread hands over each answer as a whole, and everything else is the event loop's alone.
    """

    def __init__(self, lasts: timedelta) -> None:
        """After so long it is worked out again, whatever its basis."""
        self._lasts = lasts
        self._arrived: Callable[[], tuple[T, float]] | None = None
        self._answer: Callable[[], T] | None = None
        self._before: Callable[[], T] | None = None
        self._asked: tuple[object, datetime] | None = None
        self._is_at_work = False
        self._rests_until = 0.0
        self.number = 0
        """How many answers have come."""

    def get(
        self, reader: BackgroundReader, basis: object, now: datetime, work: Callable[[ClusterSnapshot], T], nothing: T
    ) -> T:
        """The last one, or `nothing` before the first; where the work failed, what it failed with is raised."""
        self._take(reader)
        is_old = self._asked is None or self._asked[0] != basis or abs(now - self._asked[1]) >= self._lasts
        if is_old and not self._is_at_work and time.monotonic() >= self._rests_until:
            self._is_at_work, self._asked = True, (basis, now)
            reader.do(partial(_timed, work), self._arrive)
        return nothing if self._answer is None else self._answer()

    def _arrive(self, answer: Callable[[], tuple[T, float]]) -> None:
        self._arrived = answer

    def _take(self, reader: BackgroundReader) -> None:
        arrived, self._arrived = self._arrived, None
        if arrived is None:
            return
        self._is_at_work = False
        self.number += 1
        # What is drawn at this moment may still have the last one.
        reader.let_go((self._before,))
        self._before = self._answer
        try:
            answer, took = arrived()
        except Exception as problem:
            self._answer = partial(_raised_again, problem, problem.__traceback__)
            return
        self._answer = partial(_given, answer)
        self._rests_until = time.monotonic() + _RESTS * took


def _timed(work: Callable[[ClusterSnapshot], T], snapshot: ClusterSnapshot) -> tuple[T, float]:
    """The answer, and the seconds of a processor that it took."""
    began = time.thread_time()
    return work(snapshot), time.thread_time() - began


def _given(value: T) -> T:
    return value


def _raised(problem: Exception) -> Any:
    raise problem


def _raised_again(problem: Exception, trace: TracebackType | None) -> Any:
    """Raises it with its first trace: each time it was raised would be added to the last one."""
    raise problem.with_traceback(trace)
