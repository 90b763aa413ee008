"""A recording taken from moment to moment: each is what a dashboard shows that has seen all of it happen."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import asdict, replace

from foretop_core.clock import ManualClock
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope, WatchState
from foretop_core.models.wire import Resource, UnreadableObject, as_json
from foretop_core.rooms.archives import playback
from foretop_core.rooms.archives.playback import Playback, RecordedClient
from foretop_core.rules.triage import Thresholds, triage
from foretop_core.session import Session, open_session
from foretop_core.store import Store
from tests import recordings

_NAMES = ("night", "nonadmin", "queue", "schedules")


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[tuple[Session, Playback]]:
    session = open_session(SessionOptions(files=(str(path),), with_velero=True), {})
    (context,) = session.contexts
    client = session.connections.clients[context]
    assert isinstance(client, RecordedClient)
    assert client.playback is not None
    session.start()
    try:
        await session.settled(context)
        yield session, client.playback
    finally:
        await session.stop()


class Watched:
    """A store that has seen a recording happen, event by event."""

    def __init__(self, name: str, context: str) -> None:
        self.events = list(recordings.events(name))
        self.clock = ManualClock(self.events[0].t)
        self.store = Store()
        self.context = context
        self._seen = 0
        for kind in {event.kind for event in self.events}:
            sink = self.store.sink(WatchScope(context, kind), self.clock)
            sink.replace_begin()
            sink.replace_end()
            sink.health(WatchHealth(WatchState.LIVE, self.clock.now()))

    def go(self, moment: datetime) -> None:
        while self._seen < len(self.events) and self.events[self._seen].t <= moment:
            event = self.events[self._seen]
            self.clock.set(event.t)
            sink = self.store.sink(WatchScope(self.context, event.kind), self.clock)
            sink.apply(cast("EventType", event.type), event.object)
            self._seen += 1
        self.clock.set(moment)


def objects(store: Store, context: str) -> dict[object, object]:
    return {key: _without_version(item) for key, item in store.objects(context)}


def _without_version(item: Resource) -> object:
    assert not isinstance(item, UnreadableObject)
    return as_json(replace(item, metadata=replace(item.metadata, resource_version="")))


def judged(store: Store, context: str, moment: datetime) -> dict[str, object]:
    findings = triage(store.snapshot(context), moment, Thresholds()).findings
    return {finding.id: asdict(finding) for finding in findings}


@pytest.mark.parametrize("name", [_NAMES[0], *(pytest.param(name, marks=pytest.mark.sweep) for name in _NAMES[1:])])
async def test_each_moment_is_the_one_that_was_seen_live(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(recordings.FOLDER / f"{name}.jsonl") as (session, recording):
        (context,) = session.contexts
        span = recording.end - recording.begin
        for share in (0.9, 0.2, 0.21, 0.22, 0.6, 0.05, 1.0):
            moment = recording.begin + span * share
            live = Watched(name, context)
            live.go(moment)
            await recording.go(moment)
            assert session.clock(context).now() == moment
            assert objects(session.store, context) == objects(live.store, context)
            seen, watched = session.snapshot(context).seen, live.store.snapshot(context).seen
            assert asdict(seen) == asdict(watched)
            assert judged(session.store, context, moment) == judged(live.store, context, moment)


async def test_a_leap_tells_the_differences_alone_and_then_what_happened_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playback, "LEAD_IN", 20)
    async with opened(recordings.FOLDER / "night.jsonl") as (session, recording):
        (context,) = session.contexts
        for share in (0.3, 0.8, 0.1):
            moment = recording.begin + (recording.end - recording.begin) * share
            live = Watched("night", context)
            live.go(moment)
            feed = session.store.feed.subscribe()
            await recording.go(moment)
            assert objects(session.store, context) == objects(live.store, context)
            assert all(change.before != change.after for change in feed.drain().values())
            assert len(session.store.history.recent()) <= 40


async def test_it_plays_to_its_end_and_stands_still_when_it_is_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playback, "TICK", 0.01)
    async with opened(recordings.FOLDER / "night.jsonl") as (_, recording):
        recording.speed = 3600
        await recording.go(recording.end - timedelta(minutes=1))
        await recording.play()
        assert recording.now == recording.end
        assert not recording.is_playing
