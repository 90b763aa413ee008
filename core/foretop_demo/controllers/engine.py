"""The event loop of a box: events in order of time, and the controllers that listen to every change of an object."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Generator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from foretop_core.clock import ManualClock
from foretop_core.models import Resource, kinds
from foretop_core.models.kinds import Kind
from foretop_demo.change_log import Change, Key
from foretop_demo.controllers.clock import BoxClock
from foretop_demo.controllers.event_queue import Action, EventQueue
from foretop_demo.controllers.typed_cache import TypedCache
from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Kind as ServedKind

_LOG = logging.getLogger(__name__)
_SLICE = 50
"""The number of events that are run before requests get their turn."""


class WaitCondition(Protocol):
    """A condition that a process may have to wait for."""

    def when_ready(self, resume: Action) -> None: ...


Process: TypeAlias = Generator[timedelta | WaitCondition, None, None]
"""A simulated activity: it yields how long it waits, or the condition that it waits for."""

ChangeListener: TypeAlias = Callable[[Key, Resource | None, Resource | None], None]
"""Called with a change: the key, the old object (None: it is new) and the new one (None: it is gone)."""

RawChangeListener: TypeAlias = Callable[[Change], None]


class Engine:
    """Runs events when they are due: step by step on a manual clock, or beside the requests on a running one."""

    def __init__(self, storage: InProcessApi, clock: BoxClock) -> None:
        self.storage = storage
        self.clock = clock
        self.cache = TypedCache(storage)
        self._events = EventQueue()
        self._listeners: defaultdict[str, list[ChangeListener]] = defaultdict(list)
        self._raw_listeners: defaultdict[str, list[RawChangeListener]] = defaultdict(list)
        self._known = {storage.kind(kind.name).resource: kind for kind in kinds.KINDS}
        self._wakeup = asyncio.Event()
        storage.subscribe(self._on_change)

    def process_group(self) -> ProcessGroup:
        return ProcessGroup(self)

    def add_event(self, when: datetime, action: Action) -> None:
        self._events.add(when, action)
        self._wakeup.set()

    def listen(self, kind: Kind, listener: ChangeListener) -> Action:
        self._listeners[kind.name].append(listener)
        return lambda: self._listeners[kind.name].remove(listener)

    def listen_raw(self, name: str, listener: RawChangeListener) -> Action:
        self._raw_listeners[name].append(listener)
        return lambda: self._raw_listeners[name].remove(listener)

    @property
    def pending(self) -> int:
        """The number of events that are still to run."""
        return len(self._events)

    def run_until(self, moment: datetime) -> None:
        """Run all events up to a time and set the clock to it; for manual clocks."""
        assert isinstance(self.clock.base, ManualClock)
        while self._run_next(moment):
            pass
        self.clock.base.set(moment)

    def advance(self, by: timedelta) -> None:
        self.run_until(self.clock.base.now() + by)

    async def run(self, speed: float = 1.0) -> None:
        """Run events as they become due, until cancelled."""
        while True:
            self._wakeup.clear()
            now = self.clock.base.now()
            for _ in range(_SLICE):
                if not self._run_safely(now):
                    break
            next_time = self._events.next_time
            ahead = None if next_time is None else (next_time - self.clock.base.now()).total_seconds() / speed
            if ahead is not None and ahead <= 0:
                await asyncio.sleep(0)
                continue
            with suppress(TimeoutError):
                async with asyncio.timeout(ahead):
                    await self._wakeup.wait()

    def _run_safely(self, until: datetime) -> bool:
        """Run one event; an exception is logged and costs only that event, so that the box keeps running."""
        try:
            return self._run_next(until)
        except Exception:
            _LOG.exception("an event of the box failed")
            return True

    def _run_next(self, until: datetime) -> bool:
        due = self._events.pop_due(until)
        if due is None:
            return False
        when, action = due
        with self.clock.held(when):
            action()
        return True

    def _on_change(self, served: ServedKind, change: Change) -> None:
        for raw_listener in tuple(self._raw_listeners[served.kind]):
            raw_listener(change)
        kind = self._known.get(served.resource)
        if kind is None:
            return
        old, new = self.cache.update(kind, change)
        for listener in tuple(self._listeners[kind.name]):
            listener(change.key, old, new)


class ProcessGroup:
    """The activities of one controller process; closing the group stops all of them at once, as a kill does."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.cache = engine.cache
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

        self.engine.add_event(when, act)

    def enqueue(self, reconcile: Callable[[Key], None], key: Key, delay: timedelta) -> None:
        """Call a controller's reconcile for an object soon; a call that is already pending is not added again."""
        if (reconcile, key) in self._pending:
            return
        self._pending.add((reconcile, key))

        def act() -> None:
            self._pending.discard((reconcile, key))
            reconcile(key)

        self.after(delay, act)

    def listen(self, kind: Kind, listener: ChangeListener) -> None:
        self._stops.append(self.engine.listen(kind, listener))

    def listen_raw(self, name: str, listener: RawChangeListener) -> None:
        self._stops.append(self.engine.listen_raw(name, listener))

    def start(self, process: Process) -> None:
        """Run a process to its end."""

        def advance_process() -> None:
            wait = next(process, None) if self._open else None
            if isinstance(wait, timedelta):
                self.after(wait, advance_process)
            elif wait is not None:
                wait.when_ready(advance_process)

        advance_process()

    def close(self) -> None:
        self._open = False
        while self._stops:
            self._stops.pop()()
