"""What moves a box: events in order of time, and the controllers that hear of every change of an object."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from foretop_core.clock import ManualClock
from foretop_core.minicluster.change_log import Change, Key
from foretop_core.minicluster.controllers.clock import BoxClock
from foretop_core.minicluster.controllers.event_queue import Action, EventQueue
from foretop_core.minicluster.controllers.typed_cache import TypedCache
from foretop_core.minicluster.kinds import Kind as ServedKind
from foretop_core.minicluster.storage import Storage
from foretop_core.models import Resource, kinds
from foretop_core.models.kinds import Kind

_LOG = logging.getLogger(__name__)
_SLICE = 50
"""So many events are dealt with before requests get their turn."""


class WaitCondition(Protocol):
    """Something that may have to be waited for."""

    def pass_through(self, resume: Action) -> None: ...


Process: TypeAlias = Generator[timedelta | WaitCondition, None, None]
"""Something that takes time: it yields how long it waits, or the gate that it waits at."""

Hearing: TypeAlias = Callable[[Key, Resource | None, Resource | None], None]
"""Told of a change: whose, what was before (None: it is new) and what is now (None: it is gone)."""

RawHearing: TypeAlias = Callable[[Change], None]


class Engine:
    """Runs the coming events, by hand on a clock that is set, or beside the requests on one that runs."""

    def __init__(self, storage: Storage, clock: BoxClock) -> None:
        self.storage = storage
        self.clock = clock
        self.cabinet = TypedCache(storage)
        self._agenda = EventQueue()
        self._hearings: defaultdict[str, list[Hearing]] = defaultdict(list)
        self._raw_hearings: defaultdict[str, list[RawHearing]] = defaultdict(list)
        self._known = {storage.kind(kind.name).resource: kind for kind in kinds.KINDS}
        self._news = asyncio.Event()
        storage.subscribe(self._hear)

    def scope(self) -> ProcessGroup:
        return ProcessGroup(self)

    def enter(self, when: datetime, action: Action) -> None:
        self._agenda.enter(when, action)
        self._news.set()

    def listen(self, kind: Kind, hearing: Hearing) -> Action:
        self._hearings[kind.name].append(hearing)
        return lambda: self._hearings[kind.name].remove(hearing)

    def listen_raw(self, name: str, hearing: RawHearing) -> Action:
        self._raw_hearings[name].append(hearing)
        return lambda: self._raw_hearings[name].remove(hearing)

    @property
    def pending(self) -> int:
        """How many events lie ahead."""
        return len(self._agenda)

    def run_until(self, moment: datetime) -> None:
        """Let everything happen up to a moment and set the clock to it; for clocks that are set by hand."""
        assert isinstance(self.clock.base, ManualClock)
        while self._run_next(moment):
            pass
        self.clock.base.set(moment)

    def advance(self, by: timedelta) -> None:
        self.run_until(self.clock.base.now() + by)

    async def run(self, speed: float = 1.0) -> None:
        """Let things happen as their time comes, until cancelled."""
        while True:
            self._news.clear()
            now = self.clock.base.now()
            for _ in range(_SLICE):
                if not self._run_safely(now):
                    break
            coming = self._agenda.next_time
            ahead = None if coming is None else (coming - self.clock.base.now()).total_seconds() / speed
            if ahead is not None and ahead <= 0:
                await asyncio.sleep(0)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(ahead):
                    await self._news.wait()

    def _run_safely(self, until: datetime) -> bool:
        """A fault in one event is told and costs that event alone: a box that is looked at goes on."""
        try:
            return self._run_next(until)
        except Exception:
            _LOG.exception("an event of the box failed")
            return True

    def _run_next(self, until: datetime) -> bool:
        due = self._agenda.take(until)
        if due is None:
            return False
        when, action = due
        with self.clock.held(when):
            action()
        return True

    def _hear(self, served: ServedKind, change: Change) -> None:
        for raw_hearing in tuple(self._raw_hearings[served.kind]):
            raw_hearing(change)
        kind = self._known.get(served.resource)
        if kind is None:
            return
        old, new = self.cabinet.file(kind, change)
        for hearing in tuple(self._hearings[kind.name]):
            hearing(change.key, old, new)


class ProcessGroup:
    """What one controller process has under way; closing it stops all of it at once, as a kill does."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.cabinet = engine.cabinet
        self._open = True
        self._pending: set[tuple[Callable[[Key], None], Key]] = set()
        self._stops: list[Action] = []

    def now(self) -> datetime:
        return self.engine.clock.now()

    def after(self, delay: timedelta, action: Action) -> None:
        self.at(self.now() + delay, action)

    def at(self, when: datetime, action: Action) -> None:
        def act() -> None:
            if self._open:
                action()

        self.engine.enter(when, act)

    def look(self, look: Callable[[Key], None], key: Key, delay: timedelta) -> None:
        """Have a controller look at an object soon; it is not asked twice while it has not looked yet."""
        if (look, key) in self._pending:
            return
        self._pending.add((look, key))

        def act() -> None:
            self._pending.discard((look, key))
            look(key)

        self.after(delay, act)

    def hear(self, kind: Kind, hearing: Hearing) -> None:
        self._stops.append(self.engine.listen(kind, hearing))

    def hear_raw(self, name: str, hearing: RawHearing) -> None:
        self._stops.append(self.engine.listen_raw(name, hearing))

    def start(self, process: Process) -> None:
        """Follow a process to its end."""

        def go_on() -> None:
            wait = next(process, None) if self._open else None
            if isinstance(wait, timedelta):
                self.after(wait, go_on)
            elif wait is not None:
                wait.pass_through(go_on)

        go_on()

    def close(self) -> None:
        self._open = False
        while self._stops:
            self._stops.pop()()
