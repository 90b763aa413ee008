"""Recordings as clusters that are taken from moment to moment: what happens on the way comes by their watches.

So no page knows of it: a step back is told as an API server tells of changes too, under versions that only rise.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from itertools import islice

import msgspec

from foretop_core.background import in_thread
from foretop_core.clock import ManualClock
from foretop_core.dashboard.session_protocol import WritableCluster
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import Kind, by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.archives.client import ArchiveClient, fits, listed_kind
from foretop_core.rooms.archives.contents import Archive
from foretop_core.rooms.archives.recording import LEAD_IN, Key, RecordedEvent, Recording
from foretop_core.rooms.archives.steps import Course, StepTarget, Stop, changes, findings, stop_beside
from foretop_core.rules.triage import Thresholds

SPEEDS = (1, 10, 60, 600, 3600)
TICK = 1 / 4
"""Seconds between two steps while it plays."""
_FIRST_VERSION = 10**15
"""Above all versions of an API server."""
_REMEMBERED = 200
"""Changes that a watch may begin before: it follows a list."""
_AT_A_TIME = 200


class _Change(msgspec.Struct, frozen=True):
    """An object before and after an event; None for no object."""

    version: int
    kind: Kind
    key: Key
    before: bytes | None
    after: bytes | None


class _Watch:
    """An open watch: what it has been sent, and whether that is read."""

    def __init__(self, kind: Kind, namespace: str, params: Mapping[str, str]) -> None:
        self._kind, self._namespace, self._params = kind, namespace, params
        self._lines: deque[bytes] = deque()
        self._woken = asyncio.Event()
        self.is_read = asyncio.Event()

    def send(self, change: _Change) -> None:
        """A line of it; an object that does not fit the selectors any more is deleted for this watch."""
        if change.kind is not self._kind or self._namespace not in ("", change.key[0]):
            return
        before, after = (
            raw if raw is not None and fits(change.kind, change.key, raw, self._params) else None
            for raw in (change.before, change.after)
        )
        raw = after or before
        if raw is not None:
            word = "DELETED" if after is None else "ADDED" if before is None else "MODIFIED"
            self._lines.append(msgspec.json.encode({"type": word, "object": _versioned(raw, change)}))
            self.is_read.clear()
            self._woken.set()

    async def lines(self) -> AsyncIterator[bytes]:
        number = 0
        while True:
            while self._lines:
                yield self._lines.popleft()
                number += 1
                if number % _AT_A_TIME == 0:
                    await asyncio.sleep(0)
            self.is_read.set()
            self._woken.clear()
            await self._woken.wait()


class RecordedClient(ArchiveClient):
    """The client of a recording: its objects are those of a moment, and change when it goes to another one."""

    moves_in_time = True

    def __init__(self, archive: Archive, recording: Recording, name: str, clock: ManualClock) -> None:
        super().__init__(archive, name, clock)
        self.recording = recording
        self._position = recording.position(archive.now)
        self.version = _FIRST_VERSION
        self._changes: deque[_Change] = deque(maxlen=_REMEMBERED)
        self._watches: set[_Watch] = set()
        self._ahead: dict[int, tuple[RecordedEvent, ...]] = {}
        """By position, events that are read already."""
        self.playback: Playback | None = None

    @property
    def origin(self) -> str:
        return f"recording {self._clock.now() + self.skew:%Y-%m-%d}"

    @property
    def skew(self) -> timedelta:
        """Nothing; before its begin and after its end its own time stands still."""
        now = self._clock.now()
        return min(max(now, self.recording.begin), self.recording.end) - now

    def _list(self, kind: Kind, namespace: str, params: Mapping[str, str]) -> bytes:
        """All at once: between two pages the moment may be another."""
        return super()._list(kind, namespace, {name: value for name, value in params.items() if name != "limit"})

    @asynccontextmanager
    async def stream(self, path: str, params: Mapping[str, str], idle: float) -> AsyncIterator[AsyncIterator[bytes]]:
        kind, namespace = listed_kind(path)
        if kind is None:
            async with super().stream(path, params, idle) as lines:
                yield lines
            return
        watch, since = _Watch(kind, namespace, params), int(params.get("resourceVersion") or self.version)
        if self._changes and since + 1 < self._changes[0].version:
            raise ApiError(410, "Expired", "The list before the watch is too old")
        for change in self._changes:
            if change.version > since:
                watch.send(change)
        self._watches.add(watch)
        try:
            yield watch.lines()
        finally:
            self._watches.discard(watch)
            watch.is_read.set()

    def distance(self, moment: datetime) -> int:
        """How many events are between here and there; less than none for a step back."""
        return self.recording.position(moment) - self._position

    async def leap(self, moment: datetime) -> None:
        """Goes by the differences of the two states to some events before the moment, and tells nothing of the way."""
        end = max(0, self.recording.position(moment) - LEAD_IN)
        states = await in_thread(lambda: (self.recording.state(self._position), self.recording.state(end)))
        differences = self.recording.difference(*states)
        while events := await in_thread(lambda: list(islice(differences, _AT_A_TIME))):
            for event in events:
                self.send(event)
            await self.is_read()
        self._position = end
        if self.leapt is not None:
            await self.leapt()

    @property
    def next_at(self) -> datetime:
        """The time of the next event, where there is one."""
        return self.recording.moment(self._position)

    async def advance(self) -> None:
        """Tells the next event."""
        begin = self._position
        if begin not in self._ahead:
            places = range(begin, min(begin + _AT_A_TIME, len(self.recording)))
            self._ahead = await in_thread(
                lambda: {place: tuple(self.recording.events(place, place + 1)) for place in places}
            )
        for event in self._ahead[begin]:
            self.send(event)
        self._position += 1
        await self.is_read()

    def send(self, event: RecordedEvent) -> None:
        """To the state that lists answer from, and to each watch."""
        held = self.archive.objects.setdefault(event.kind, {})
        before, after = held.get(event.key), None if event.type == "DELETED" else event.raw
        if before == after:
            return
        if after is None:
            del held[event.key]
        else:
            held[event.key] = after
        self.version += 1
        change = _Change(self.version, event.kind, event.key, before, after)
        self._changes.append(change)
        for watch in self._watches:
            watch.send(change)

    async def is_read(self) -> None:
        """Returns once every watch has taken what it was sent."""
        for watch in tuple(self._watches):
            await watch.is_read.wait()


def _versioned(raw: bytes, change: _Change) -> dict[str, object]:
    """The object under the version of the change."""
    whole = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    meta = msgspec.json.decode(whole["metadata"], type=dict[str, object])
    kind = {"apiVersion": change.kind.api_version, "kind": change.kind.name}
    return {**whole, **kind, "metadata": {**meta, "resourceVersion": str(change.version)}}


class Playback:
    """The moment that all recordings of a session are at, and the pace at which it goes on by itself."""

    def __init__(self, clock: ManualClock, clients: Sequence[RecordedClient]) -> None:
        self._clock = clock
        self._clients = clients
        self.begin = min(client.recording.begin for client in clients)
        self.end = max(client.recording.end for client in clients)
        self.speed = SPEEDS[2]
        self.target = StepTarget.FINDING
        self._going = asyncio.Lock()
        self._stepping = asyncio.Lock()
        self._stop: Stop | None = None
        self.is_playing = False
        for client in clients:
            client.playback = self

    @property
    def now(self) -> datetime:
        return self._clock.now()

    @property
    def here(self) -> str:
        """The words of the stop that this moment was stepped to; "" elsewhere."""
        return self._stop.text if self._stop is not None and self._stop.at == self.now else ""

    async def go(self, moment: datetime) -> None:
        """To a moment of it: a few events on one by one, anywhere else by the differences first."""
        async with self._going:
            for client in self._clients:
                client.is_moving = True
            try:
                await self._go(min(max(moment, self.begin), self.end))
            finally:
                for client in self._clients:
                    client.is_moving = False

    async def _go(self, moment: datetime) -> None:
        far = [client for client in self._clients if not 0 <= client.distance(moment) <= LEAD_IN]
        if far:
            # The states before the events that follow are no later than the first of them.
            self._clock.set(min(self._before(client, moment) for client in far))
            for client in far:
                await client.leap(moment)
        while coming := [client for client in self._clients if client.distance(moment) > 0]:
            client = min(coming, key=lambda client: client.next_at)
            self._clock.set(client.next_at)
            await client.advance()
        self._clock.set(moment)

    def _before(self, client: RecordedClient, moment: datetime) -> datetime:
        return client.recording.moment(max(0, client.recording.position(moment) - LEAD_IN - 1))

    async def step(self, target: StepTarget, by: int, key: ObjectRef | None, limits: Thresholds) -> Stop | None:
        """Goes to the nearest stop after now or before it, if there is one; of phases, those of this object count."""
        async with self._stepping:
            stop = await self._stop_beside(target, by, key, limits)
            if stop is not None:
                await self.go(stop.at)
                self._stop = stop
            return stop

    async def _stop_beside(self, target: StepTarget, by: int, key: ObjectRef | None, limits: Thresholds) -> Stop | None:
        now = self.now

        def course(client: RecordedClient) -> Course | None:
            match target:
                case StepTarget.CHANGE:
                    return changes(client.recording)
                case StepTarget.FINDING:
                    return findings(client.recording, limits)
                case StepTarget.PHASE:
                    kind = by_name(key.kind) if key is not None and key.context == client.config.name else None
                    if key is None or kind is None:
                        return None
                    return changes(client.recording, (key.namespace, key.name), kind)

        def look() -> Iterator[Stop | None]:
            for client in self._clients:
                if (way := course(client)) is not None:
                    yield stop_beside(client.recording, now, by, way)

        stops = await in_thread(lambda: [stop for stop in look() if stop is not None])
        return min(stops, key=lambda stop: abs(stop.at - now), default=None)

    def change_speed(self, by: int) -> None:
        self.speed = SPEEDS[min(max(SPEEDS.index(self.speed) + by, 0), len(SPEEDS) - 1)]

    async def play(self) -> None:
        """Goes on until its end, or until `is_playing` is false; from its end on, once more from its begin."""
        self.is_playing = True
        if self.now >= self.end:
            await self.go(self.begin)
        last = time.monotonic()
        while self.is_playing and self.now < self.end:
            await asyncio.sleep(TICK)
            passed, last = time.monotonic() - last, time.monotonic()
            if self.is_playing:
                await self.go(self.now + timedelta(seconds=passed * self.speed))
        self.is_playing = False


def playback_of(clusters: Iterable[WritableCluster]) -> Playback | None:
    """The one of all recordings of a session; None where there is no recording."""
    return next((client.playback for cluster in clusters if isinstance(client := cluster.client, RecordedClient)), None)
