"""Which scopes of a cluster have a watch of their own, where there are more scopes than connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models.kinds import EVENT


class WatchSlots:
    """Gives the watches to the scopes that matter most; the others are listed again and again, in turn.

    First come kinds of all namespaces, the open object and the namespaces that a person looks at; then the scopes in
    which there is anything.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: dict[WatchScope, asyncio.Timeout | None] = {}
        self._waiting: dict[WatchScope, asyncio.Event] = {}
        self._filled: set[WatchScope] = set()
        self._preferred = ""

    @property
    def watched(self) -> int:
        return len(self._held)

    def prefer(self, namespace: str) -> None:
        """A person looks at this namespace now."""
        self._preferred = namespace
        for scope, woken in self._waiting.items():
            if namespace and scope.namespace == namespace:
                woken.set()

    def note(self, scope: WatchScope, *, filled: bool) -> None:
        """Note whether a scope's list has objects in it; ignored where the scope is no longer wanted."""
        if filled:
            self._filled.add(scope)
        else:
            self._filled.discard(scope)

    def may_take(self, scope: WatchScope) -> bool:
        return len(self._held) < self.most or self._rank(self._least()) > self._rank(scope)

    def take(self, scope: WatchScope) -> bool:
        """True if the scope may watch now; one that matters less gives way. To be followed by `hold` at once."""
        if not self.may_take(scope):
            return False
        if len(self._held) >= self.most:
            watching = self._held.pop(self._least())
            if watching is not None:
                watching.reschedule(asyncio.get_running_loop().time())
        self._held[scope] = None
        return True

    @asynccontextmanager
    async def hold(self, scope: WatchScope) -> AsyncIterator[None]:
        """The time of one watch; ends in a TimeoutError where another scope needs the connection."""
        watching = asyncio.timeout(None)
        try:
            async with watching:
                self._held[scope] = watching
                yield
        finally:
            if self._held.get(scope) is watching:
                del self._held[scope]
                if self._waiting:
                    self._waiting[min(self._waiting, key=self._rank)].set()

    async def turn(self, scope: WatchScope, pause: Coroutine[Any, Any, None]) -> None:
        """Until the pause is over, or the scope may watch."""
        woken = self._waiting[scope] = asyncio.Event()
        waits = {asyncio.ensure_future(woken.wait()), asyncio.ensure_future(pause)}
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
            del self._waiting[scope]

    def pause(self, timing: WatchTimings) -> float:
        """Seconds between two lists of a scope, so that all of them together are not too many."""
        return max(timing.poll, (len(self._waiting) + 1) / timing.polls_per_second)

    def _rank(self, scope: WatchScope) -> int:
        if not scope.namespace or scope.selector or scope.kind is EVENT or scope.namespace == self._preferred:
            return 0
        return 1 if scope in self._filled else 2

    def _least(self) -> WatchScope:
        return max(self._held, key=self._rank)
