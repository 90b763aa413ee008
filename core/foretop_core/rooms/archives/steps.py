"""The moments beside a moment of a recording: of the change before or after it, of a finding, of a phase."""

from __future__ import annotations

import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import Enum
from itertools import groupby, pairwise

import msgspec

from foretop_core.clock import ManualClock
from foretop_core.errors import Unreadable
from foretop_core.kube.connection.list_watch_codec import read_object
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rooms.archives.recording import LEAD_IN, Key, RecordedEvent, Recording
from foretop_core.rules.changes import changes_between
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding, Thresholds, triage
from foretop_core.store import Store

_LOOKS_LAST = 5.0
"""Seconds in which is looked; after that the moment up to which there is nothing is gone to, and told."""
_BETWEEN = timedelta(minutes=1)
"""Findings come with time alone too: it is looked for them at each whole minute."""
_FIRST_WINDOW = 64
"""Events before the moment among which an earlier one is looked for first; then among four times as many."""


class StepTarget(Enum):
    """The matter of a step, in the words of the time line."""

    CHANGE = "change"
    FINDING = "finding"
    PHASE = "phase"


class Stop(msgspec.Struct, frozen=True):
    """A moment, and in words what happened then."""

    at: datetime
    text: str


Course = Callable[[int, datetime], Iterator[Stop]]
"""Goes from a position to a moment; a stop without words is a look at which there was nothing."""


def stop_beside(
    recording: Recording, moment: datetime, by: int, course: Course, ticks: Callable[[], float] = time.monotonic
) -> Stop | None:
    """The next stop of a course after a moment, or the last one before it; None where there is none."""
    until, here = ticks() + _LOOKS_LAST, recording.position(moment)
    if by > 0:
        for stop in course(here, recording.end):
            if stop.text and stop.at > moment:
                return stop
            if ticks() > until and stop.at > moment:
                return Stop(stop.at, "nothing else until then")
        return None
    window, begin = _FIRST_WINDOW, here
    while begin > 0:
        begin = max(0, here - window)
        stops = [stop for stop in course(begin, moment) if stop.text and stop.at < moment]
        if stops:
            return stops[-1]
        if ticks() > until and begin > 0:
            return Stop(recording.moment(begin), "nothing else since then")
        window *= 4
    return None


def changes(recording: Recording, only: Key | None = None, kind: Kind | None = None) -> Course:
    """The changes of all objects, or of one: as the list of changes tells them."""
    places = recording.events_of(kind, only) if kind is not None and only is not None else None

    def course(position: int, end: datetime) -> Iterator[Stop]:
        last = recording.position(end)
        state = recording.state(position)
        near = range(position, last) if places is None else (place for place in places if position <= place < last)
        for place in near:
            number = recording.number(place)
            before, after = state[number], place if recording.is_there(place) else -1
            state[number] = after
            for event in recording.events(place, place + 1):
                key = ObjectRef("", event.kind.name, *event.key)
                old, new = _decoded(recording, before), _decoded(recording, after)
                steps = list(changes_between(key, old, new, event.at))
                yield Stop(event.at, f"{event.key[1]}: {', '.join(step.text for step in steps)}" if steps else "")

    return course


def _decoded(recording: Recording, place: int) -> Resource | None:
    return next((_resource(event) for event in recording.events(place, place + 1)), None) if place >= 0 else None


def _resource(event: RecordedEvent) -> Resource | None:
    try:
        return read_object(event.kind, msgspec.Raw(event.raw))
    except Unreadable:
        return None


def findings(recording: Recording, limits: Thresholds) -> Course:
    """The moments at which a finding has come or gone."""

    def course(position: int, end: datetime) -> Iterator[Stop]:
        for (_, before), (at, after) in pairwise(_judged(recording, position, end, limits)):
            yield Stop(at, "" if before.keys() == after.keys() else _difference(before, after, at))

    return course


_Findings = Mapping[str, Finding]


def _difference(before: _Findings, after: _Findings, at: datetime) -> str:
    come = [f"new: {_words(after[id], at)}" for id in after.keys() - before.keys()]
    gone = [f"over: {_words(before[id], at)}" for id in before.keys() - after.keys()]
    told = sorted(come) or sorted(gone)
    return told[0] if len(told) == 1 else f"{told[0]} and {len(told) - 1} more"


def _words(finding: Finding, at: datetime) -> str:
    return f"{finding.subject.name or finding.subject.namespace} {render(finding.what, at)}"


def _judged(
    recording: Recording, position: int, end: datetime, limits: Thresholds
) -> Iterator[tuple[datetime, _Findings]]:
    """The findings from a position on, after whatever happened in one second and every minute between."""
    before = max(0, position - LEAD_IN)
    clock = ManualClock(recording.moment(max(0, before - 1)))
    store, context = Store(), "recording"
    first: defaultdict[Kind, list[Resource]] = defaultdict(list)
    for event in recording.difference(array("i"), recording.state(before)):
        if (resource := _resource(event)) is not None:
            first[event.kind].append(resource)
    for kind, resources in first.items():
        sink = store.sink(WatchScope(context, kind), clock)
        sink.replace_begin()
        sink.page(resources)
        sink.replace_end()
    for kind, namespace in recording.listed:
        store.sink(WatchScope(context, kind, namespace), clock).health(WatchHealth(WatchState.LIVE, clock.now()))

    def look() -> tuple[datetime, _Findings]:
        findings = triage(store.snapshot(context), clock.now(), limits).findings
        return clock.now(), {finding.id: finding for finding in findings}

    def take(event: RecordedEvent) -> None:
        clock.set(event.at)
        if (resource := _resource(event)) is not None:
            word: EventType = "DELETED" if event.type == "DELETED" else "MODIFIED"
            store.sink(WatchScope(context, event.kind), clock).apply(word, resource)

    for event in recording.events(before, position):
        take(event)
    yield look()
    coming = recording.events(position, recording.position(end))
    for _, events in groupby(coming, lambda event: event.at.replace(microsecond=0)):
        for number, event in enumerate(events):
            while number == 0 and (minute := clock.now().replace(second=0, microsecond=0) + _BETWEEN) < event.at:
                clock.set(minute)
                yield look()
            take(event)
        yield look()
