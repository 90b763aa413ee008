"""One watch: list everything, then follow what changes, and find the way back after any fault."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from logging import INFO, WARNING
from typing import get_args

import msgspec

from foretop_core.clock import Clock
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import (
    ApiError,
    NotInArchive,
    Unauthenticated,
    Unreachable,
    WatchIdleTimeout,
)
from foretop_core.kube.connection.discovery import served_version
from foretop_core.kube.connection.list_watch_codec import (
    EndlessList,
    ListGuard,
    ListMeta,
    ListStream,
    OtherType,
    TypeMeta,
    WatchEvent,
    check_type,
    ended_within,
    error_of,
    identify,
    read_event,
    read_object,
    read_page,
)
from foretop_core.kube.watching.retry import Backoff, InterruptibleWait, WatchTimings
from foretop_core.kube.watching.watch_sink import EventType, FirstRows, WatchHealth, WatchScope, WatchSink, WatchState
from foretop_core.kube.watching.watch_slots import WatchSlots
from foretop_core.logs import logger
from foretop_core.models.sharing import SharedParts
from foretop_core.models.wire import Resource, from_builtins, is_earlier

_log = logger(__name__)
_WELL = frozenset({WatchState.LIVE, WatchState.SYNCING})
_CHANGES: dict[str, EventType] = {name: name for name in get_args(EventType)}
_WORTH_RESUMING = frozenset({429, 500, 502, 503, 504})
_SERVER_AWAY = frozenset({500, 502, 503, 504})
_RESUMES_BEFORE_A_NEW_LIST = 5
_AT_A_TIME = 100
"""Objects of a list."""


class _Listed(msgspec.Struct, frozen=True):
    """How far a list has come: its latest page, the number of objects so far, and of all where the server says it."""

    meta: ListMeta
    seen: int
    expected: int | None

    @property
    def version(self) -> str:
        return self.meta.resource_version or ""

    @property
    def chunk(self) -> str:
        return self.meta.next_chunk or ""


class Reflector:
    """Keeps a sink equal to what the API server has in one scope, for as long as it runs."""

    def __init__(
        self,
        client: ApiClient,
        scope: WatchScope,
        sink: WatchSink,
        clock: Clock,
        pace: InterruptibleWait,
        timing: WatchTimings | None = None,
        slots: WatchSlots | None = None,
        first: FirstRows | None = None,
    ) -> None:
        self._client = client
        self._scope = scope
        self._sink = sink
        self._clock = clock
        self._pace = pace
        self._timing = timing or WatchTimings()
        self._slots = slots or WatchSlots(client.budget.watches)
        self._shared = SharedParts()
        self._first = first or FirstRows()
        self._backoff = Backoff(self._timing, pace.random)
        self._serve(scope.kind.version)
        self._version = ""
        self._watched_from = ""
        self._fell_silent = False
        self._verb = "list"
        self._synced = False
        self._in_doubt = False
        self._was_cut = False
        self._listed_at = clock.now()
        self._settled = True
        self._whole = False
        self._silent_since: datetime | None = None
        self._health: WatchHealth | None = None
        self._believed: WatchState | None = None
        """The state that it had when the server fell silent."""

    def doubt(self, problem: ForetopError, since: datetime) -> None:
        """The server does not answer any more: what stands open is no sign that anything would come."""
        if self.state in (WatchState.LIVE, WatchState.SYNCING):
            self._believed, self._silent_since = self.state, since
            self._report(WatchState.STALE, error=str(problem))

    def believe(self) -> None:
        """The server answers again; what has failed meanwhile goes on as it would have."""
        believed = self._believed
        if believed is not None:
            self._report(believed)

    @property
    def state(self) -> WatchState:
        return self._health.state if self._health else WatchState.SYNCING

    async def run(self) -> None:
        """Never ends by itself; whatever goes wrong becomes the health of this watch."""
        self._report(WatchState.SYNCING)
        while True:
            try:
                if self._fell_silent:
                    await self._ask_version()
                if not self._version or self._in_doubt or self._is_old_and_cut():
                    async with ended_within(self._timing.list_limit):
                        await self._list()
                if self._slots.take(self._scope):
                    await self._watch_while_it_may()
                else:
                    await self._poll()
            except ForetopError as problem:
                await self._pace.wait(await self._recover(problem))

    async def _list(self) -> None:
        """The first page by itself, because its rows come soonest; then all at once, or page by page where it must be.

        A server answers a whole list from its memory, but the second and later pages from etcd, ten times slower.
        """
        self._verb, self._version = "list", ""
        self._sink.replace_begin()
        if self._whole:
            listed = await self._list_rest({}, None)
        else:
            is_awaited = self._first.awaits(self._scope.kind.name)
            page = self._timing.first_rows if is_awaited else self._timing.chunk
            listed = await self._list_page("", 0, ListGuard(), page)
            if listed.chunk:
                if is_awaited:
                    await self._first.until_shown()
                # The page may hold what is gone meanwhile: all must be at least as new as the page.
                newer = {"resourceVersion": listed.version, "resourceVersionMatch": "NotOlderThan"}
                listed = await self._list_rest(newer, listed.expected, since=listed.version)
        self._sink.replace_end(listed.version)
        self._slots.note(self._scope, filled=listed.seen > 0)
        self._version, self._in_doubt, self._whole, self._synced = listed.version, False, False, True
        self._was_cut, self._listed_at = False, self._clock.now()
        if self._settled:
            self._backoff.reset()

    async def _list_rest(self, params: dict[str, str], expected: int | None, since: str = "") -> _Listed:
        """Everything at once; page by page where the server does not answer with a whole list that can be read.

        One that is behind the others of its cluster, for example, refuses a version that it does not know yet.
        """
        try:
            self._sink.replace_begin()
            async with self._watched_meanwhile(since):
                return await self._list_whole({**self._selection(), **params}, expected)
        except EndlessList:
            raise
        except ApiError:
            return await self._list_pages()

    @asynccontextmanager
    async def _watched_meanwhile(self, version: str) -> AsyncIterator[None]:
        """Shows what changes after a version, because a list of tens of thousands takes seconds to come in.

        Versions that are not numbers cannot be compared, so nobody could say which of list and watch is newer.
        """
        if not version.isdecimal():
            yield
            return
        watching = asyncio.create_task(self._watch_beside_list(version))
        try:
            yield
        finally:
            watching.cancel()
            # Not suppressed: this reflector may be cancelled at the same moment, and must end then.
            (ended,) = await asyncio.gather(watching, return_exceptions=True)
            if isinstance(ended, Exception):
                _log.error("the watch of %s beside its list failed", self._title, exc_info=ended)

    async def _watch_beside_list(self, version: str) -> None:
        """Watch while the list comes in; its end costs nothing, since list and next watch have all of it."""
        if not self._slots.take(self._scope):
            return
        with suppress(ForetopError, TimeoutError):
            async with (
                self._slots.hold(self._scope),
                self._client.stream(self._path, self._watching_from(version), self._timing.idle) as lines,
            ):
                async for line in lines:
                    event = read_event(line)
                    if event.type == "ERROR":
                        return
                    change = _CHANGES.get(event.type)
                    if change is not None:
                        self._sink.apply(change, self._read(event.object))

    async def _list_pages(self) -> _Listed:
        self._sink.replace_begin()
        guard = ListGuard()
        page = await self._list_page("", 0, guard, self._timing.chunk)
        while page.chunk:
            page = await self._list_page(page.chunk, page.seen, guard, self._timing.chunk)
        return page

    async def _list_page(self, chunk: str, seen: int, guard: ListGuard, limit: int) -> _Listed:
        params = {**self._selection(), "limit": str(limit)}
        if chunk:
            params["continue"] = chunk
        response = await self._client.request("GET", self._path, params)
        page = read_page(response.body, self._scope.kind)
        items = page.items or []
        await self._take_listed(items)
        seen += len(items)
        guard.check(len(items), page.metadata.next_chunk or "")
        remaining = page.metadata.remaining_item_count
        listed = _Listed(page.metadata, seen, None if remaining is None else seen + remaining)
        if listed.chunk:
            self._report(WatchState.SYNCING, seen=seen, expected=listed.expected)
        return listed

    async def _list_whole(self, params: dict[str, str], expected: int | None) -> _Listed:
        stream, guard, seen = ListStream(self._scope.kind), ListGuard(), 0
        async with self._client.chunks(self._path, params) as chunks:
            async for data in chunks:
                items = stream.feed(data)
                if items:
                    await self._take_listed(items)
                    seen += len(items)
                    guard.check_count(len(items))
                    self._report(WatchState.SYNCING, seen=seen, expected=expected)
        last = stream.end()
        if last.metadata.next_chunk:
            raise ApiError(200, "", "the list was asked for as a whole and is not whole")
        await self._take_listed(last.items or [])
        return _Listed(last.metadata, seen + len(last.items or []), expected)

    async def _take_listed(self, items: list[msgspec.Raw]) -> None:
        """In parts: keys and clock go on meanwhile."""
        for begin in range(0, len(items), _AT_A_TIME):
            self._sink.page(self._readable(items[begin : begin + _AT_A_TIME]))
            self._first.note_listed(self._scope.kind.name)
            await asyncio.sleep(0)
        self._first.note_listed(self._scope.kind.name)

    def _readable(self, items: list[msgspec.Raw]) -> list[Resource]:
        objects = []
        for raw in items:
            try:
                objects.append(self._read(raw))
            except OtherType as problem:
                self._lose_track(problem)
            except Unreadable as problem:
                self._show_unreadable(raw, problem)
        return objects

    def _read(self, raw: msgspec.Raw) -> Resource:
        self._check_type(raw)
        return self._shared.share(read_object(self._scope.kind, raw))

    def _check_type(self, raw: msgspec.Raw) -> None:
        check_type(self._type, raw, may_be_absent=self._verb == "list")

    def _serve(self, version: str) -> None:
        """From now on the kind is asked for in this version; what its objects then say of their type is kept."""
        self._api_version = version
        self._type = TypeMeta(api_paths.api_version(self._scope.kind, version), self._scope.kind.name)

    async def _watch_while_it_may(self) -> None:
        """A scope that matters more may need the connection: then this one is listed in turn, from where it was."""
        with suppress(TimeoutError):
            async with self._slots.hold(self._scope):
                await self._watch()

    async def _poll(self) -> None:
        """Waits for the next list, or for a connection to go on with."""
        pause = self._slots.pause(self._timing)
        self._report(WatchState.LIVE, polled_every=pause)
        self._backoff.reset()
        await self._slots.turn(self._scope, self._pace.wait(pause * self._pace.random.uniform(0.75, 1.25)))
        self._in_doubt = self._in_doubt or not self._slots.may_take(self._scope)

    async def _watch(self) -> None:
        self._verb = "watch"
        params = self._watching_from(self._version)
        self._settled, self._watched_from = False, self._version
        opened = heard = self._clock.now()
        try:
            async with self._client.stream(self._path, params, self._timing.idle) as lines:
                self._report(WatchState.LIVE)
                async for line in lines:
                    self._take(line)
                    self._settle()
                    heard = self._clock.now()
        except WatchIdleTimeout:
            # Some servers send no bookmark while nothing happens; only if it cannot be resumed is it stale.
            self._silent_since, self._fell_silent = heard, True
            self._settle()
        finally:
            if self._clock.now() - opened >= timedelta(seconds=self._timing.short_watch):
                self._settle()
        if not self._settled:
            raise Unreachable(f"The watch of {self._title} ended as soon as it started")

    def _settle(self) -> None:
        """A watch that works is what ends a row of failures; a list alone may be followed by the next one."""
        self._settled = True
        self._backoff.reset()

    def _take(self, line: bytes) -> None:
        """One line of the watch; what cannot be read is shown, and is settled by the next list."""
        try:
            event = read_event(line)
        except Unreadable as problem:
            self._lose_track(problem)
            return
        if event.type == "ERROR":
            raise error_of(event)
        change = _CHANGES.get(event.type)
        try:
            if change is not None:
                self._change(change, event)
            elif event.type == "BOOKMARK":
                self._check_type(event.object)
                self._advance(identify(event.object).version)
            else:
                self._lose_track(Unreadable("A line of the watch cannot be read", f"its type is {event.type!r}"))
        except OtherType as problem:
            self._lose_track(problem)

    def _change(self, change: EventType, event: WatchEvent) -> None:
        try:
            changed = self._read(event.object)
        except OtherType:
            raise
        except Unreadable as problem:
            self._change_unreadable(change, event.object, problem)
            return
        self._advance(changed.metadata.resource_version)
        self._sink.apply(change, changed)

    def _change_unreadable(self, change: EventType, raw: msgspec.Raw, problem: Unreadable) -> None:
        identity = identify(raw)
        self._advance(identity.version)
        if change == "DELETED" and identity.name:
            meta = {"namespace": identity.namespace, "name": identity.name, "resourceVersion": identity.version}
            self._sink.apply(change, from_builtins(self._scope.kind.model, {"metadata": meta}))
        else:
            self._show_unreadable(raw, problem)

    def _advance(self, version: str) -> None:
        """Move on to the version of an event; one older than the start of the watch means that the server went back."""
        if is_earlier(version, self._watched_from):
            raise ApiError(410, "Expired", "The API server went back to older versions")
        self._version = version or self._version

    async def _ask_version(self) -> None:
        """A server that was put back to an older state says nothing of it to a watch: it only falls silent."""
        self._fell_silent = False
        response = await self._client.request("GET", self._path, {**self._selection(), "limit": "1"})
        if is_earlier(read_page(response.body, self._scope.kind).metadata.resource_version or "", self._version):
            self._version = ""

    def _show_unreadable(self, raw: msgspec.Raw, problem: Unreadable) -> None:
        identity = identify(raw)
        if identity.name:
            # A new list holds whatever its versions say: a restored server starts again from lower ones.
            version = identity.version if self._verb == "watch" else ""
            self._sink.unreadable(identity.namespace, identity.name, str(problem), version)
        else:
            self._lose_track(problem)

    def _lose_track(self, problem: Unreadable) -> None:
        """Something was said that we do not know; the watch goes on, and a new list follows it."""
        self._sink.unreadable("", "", str(problem))
        self._in_doubt = True

    def _note_cut(self) -> None:
        """A server that was away may have been restored from an older snapshot: its versions may be as high as before.

        So a watch goes on from where it was after one cut; if that fails too, it is listed again.
        """
        self._was_cut = True
        self._in_doubt = self._in_doubt or self._backoff.failures > 0

    def _is_old_and_cut(self) -> bool:
        passed = self._clock.now() - self._listed_at
        return self._was_cut and not timedelta() <= passed < timedelta(seconds=self._timing.list_after_cut)

    async def _recover(self, problem: ForetopError) -> float:
        """Makes a failure this watch's health; answers how many seconds to wait before the next try."""
        if isinstance(problem, Unreachable) or (isinstance(problem, ApiError) and problem.status in _SERVER_AWAY):
            self._note_cut()
        if isinstance(problem, Unauthenticated):
            return self._report_pause(WatchState.SIGNED_OUT, problem, self._backoff.next())
        if isinstance(problem, EndlessList):
            return self._report_pause(WatchState.STALE, problem, self._timing.ask_again)
        if not isinstance(problem, ApiError):
            return self._report_pause(WatchState.STALE, problem, self._backoff.next())
        if isinstance(problem, NotInArchive):
            return self._report_pause(WatchState.NOT_IN_ARCHIVE, problem, self._timing.ask_again)
        match problem.status:
            case 403:
                return self._forbidden()
            case 404:
                return await self._missing()
            case 410:
                return self._expire(problem)
            case _:
                return self._refused(problem)

    def _forbidden(self) -> float:
        """Rows stay: right after its own start an API server refuses what it will allow in a second."""
        self._version = ""
        where = f"in {self._scope.namespace}" if self._scope.namespace else "in all namespaces"
        problem = ForetopError(
            f"{self._verb} on {self._title} {where} is not allowed", hint="ask for a role with this permission"
        )
        delay = self._backoff.next() if self._synced else self._timing.ask_again
        return self._report_pause(WatchState.FORBIDDEN, problem, delay)

    async def _missing(self) -> float:
        """No such resource: served in another version, or not installed, and then there is nothing of it."""
        self._version = ""
        if self._verb == "watch":
            return self._backoff.next()
        try:
            served = await served_version(self._client, self._scope.kind)
        except ForetopError as problem:
            return self._report_pause(WatchState.STALE, problem, self._backoff.next())
        if served is None:
            return self._not_installed()
        if served == self._api_version:
            early = ForetopError(f"{self._title} is announced but not served yet")
            return self._report_pause(WatchState.STALE, early, self._backoff.next())
        self._serve(served)
        return 0.0

    def _not_installed(self) -> float:
        self._serve(self._scope.kind.version)
        self._synced = False
        self._sink.replace_begin()
        self._sink.replace_end()
        problem = ForetopError(f"{self._title} is not installed in {self._scope.context}")
        return self._report_pause(WatchState.NOT_INSTALLED, problem, self._timing.ask_again)

    def _expire(self, problem: ApiError) -> float:
        """The server has forgotten our place: list again at once, but not in a circle."""
        first = self._backoff.failures == 0
        self._whole = self._verb == "list"
        self._version = ""
        delay = self._backoff.next()
        return 0.0 if first else self._report_pause(WatchState.STALE, problem, delay)

    def _refused(self, problem: ApiError) -> float:
        hopeless = self._backoff.failures >= _RESUMES_BEFORE_A_NEW_LIST
        ahead_of_server = "resource version" in problem.message.lower()
        if problem.status not in _WORTH_RESUMING or hopeless or ahead_of_server:
            self._version = ""
            self._whole = False
        delay = max(self._backoff.next(), problem.retry_after or 0.0)
        return self._report_pause(WatchState.STALE, problem, delay)

    def _report_pause(self, state: WatchState, problem: ForetopError, delay: float) -> float:
        retry_at = self._clock.now() + timedelta(seconds=delay)
        self._report(state, error=str(problem), retry_at=retry_at)
        return delay

    def _report(
        self,
        state: WatchState,
        error: str = "",
        retry_at: datetime | None = None,
        seen: int = 0,
        expected: int | None = None,
        polled_every: float = 0.0,
    ) -> None:
        since = self._clock.now()
        if self._believed is not None and (state is not WatchState.STALE or retry_at is not None):
            self._believed = None
        if state is WatchState.STALE:
            since = self._silent_since or since
        self._silent_since = None
        if self._health is not None and self._health.state is state:
            since = self._health.since
        if self._health is None or (self._health.state, self._health.error) != (state, error):
            where = f"{self._scope.context}/{self._scope.namespace}"
            _log.log(INFO if state in _WELL else WARNING, "%s in %s: %s %s", self._title, where, state.value, error)
        self._health = WatchHealth(state, since, error, retry_at, seen, expected, polled_every)
        self._sink.health(self._health)
        if state is not WatchState.SYNCING:
            self._first.note_listed(self._scope.kind.name)

    def _watching_from(self, version: str) -> dict[str, str]:
        return {
            **self._selection(),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(self._pace.random.randint(*self._timing.watch)),
        }

    def _selection(self) -> dict[str, str]:
        selectors = {"labelSelector": self._scope.selector, "fieldSelector": self._scope.fields}
        return {name: value for name, value in selectors.items() if value}

    @property
    def _path(self) -> str:
        return api_paths.collection(self._scope.kind, self._scope.namespace, self._api_version)

    @property
    def _title(self) -> str:
        return api_paths.title(self._scope.kind)
