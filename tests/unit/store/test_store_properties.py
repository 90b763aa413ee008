"""Whatever the order of events, faults and new lists, the store ends with the server's objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.kube.watching.watch_sink import EventType, WatchScope
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import ObjectRef
from foretop_core.store import Change, Store
from foretop_core.store.store import StoreSink
from tests.unit.store.making import Watched, backup

pytestmark = pytest.mark.long

NAMES = ("a", "b", "c", "d")
SCHEDULE_LABEL = "velero.io/schedule-name"
Fault = Literal["none", "twice", "late", "lost"]


@dataclass
class Server:
    """The server: objects with versions, and for each watch the events that it has not received yet."""

    version: int = 0
    objects: dict[str, Backup] = field(default_factory=dict)

    def write(self, name: str, schedule: str) -> tuple[EventType, Backup]:
        self.version += 1
        event: EventType = "MODIFIED" if name in self.objects else "ADDED"
        self.objects[name] = backup(name, self.version, labels={SCHEDULE_LABEL: schedule})
        return event, self.objects[name]

    def delete(self, name: str) -> tuple[EventType, Backup] | None:
        held = self.objects.pop(name, None)
        if held is None:
            return None
        self.version += 1
        return "DELETED", backup(name, self.version, labels=held.metadata.labels)


@dataclass
class Line:
    """A watch over a connection that repeats, delays and loses events; after a loss it lists again."""

    sink: StoreSink
    late: list[tuple[EventType, Backup]] = field(default_factory=list)
    must_list: bool = True

    def send(self, event: tuple[EventType, Backup], fault: Fault) -> None:
        if fault == "lost":
            self.must_list = True
        elif fault == "late":
            self.late.append(event)
        else:
            for _ in range(2 if fault == "twice" else 1):
                self.sink.apply(*event)

    def settle(self, server: Server, pages: int) -> None:
        for event in self.late:
            self.sink.apply(*event)
        self.late.clear()
        if self.must_list:
            self.relist(server, pages)

    def relist(self, server: Server, pages: int) -> None:
        self.sink.replace_begin()
        everything = list(server.objects.values())
        for start in range(0, len(everything), pages):
            self.sink.page(everything[start : start + pages])
        self.sink.replace_end()
        self.must_list = False


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("write", "write", "delete", "relist", "settle", "drain")),
        st.sampled_from(NAMES),
        st.sampled_from(("nightly", "hourly", "")),
        st.lists(st.sampled_from(("none", "none", "twice", "late", "lost")), min_size=2, max_size=2),
        st.integers(1, 3),
    ),
    max_size=40,
)


def held(store: Store) -> dict[str, Backup]:
    return {item.name: item for item in store.all("prod", Backup)}


def follow(mirror: dict[ObjectRef, object], drained: dict[ObjectRef, Change]) -> None:
    for key, change in drained.items():
        assert mirror.get(key) == change.before
        if change.after is None:
            del mirror[key]
        else:
            mirror[key] = change.after


@given(STEPS)
def test_two_overlapping_watches_with_faults_converge_to_the_server(
    steps: list[tuple[str, str, str, list[Fault], int]],
) -> None:
    seen = Watched()
    other = seen.store.sink(WatchScope("prod", BACKUP, "velero"), seen.clock)
    server, lines = Server(), (Line(seen.sink), Line(other))
    feed, mirror = seen.store.feed.subscribe(), dict[ObjectRef, object]()
    for action, name, schedule, faults, pages in steps:
        event = server.write(name, schedule) if action == "write" else None
        event = server.delete(name) if action == "delete" else event
        for line, fault in zip(lines, faults, strict=True):
            if event is not None:
                line.send(event, fault)
            elif action == "settle":
                line.settle(server, pages)
        if action == "relist":
            lines[0].relist(server, pages)
        if action == "drain":
            follow(mirror, feed.drain())
    for line in lines:
        line.settle(server, 2)
        line.relist(server, 2)
    assert held(seen.store) == server.objects
    follow(mirror, feed.drain())
    assert {key.name: item for key, item in mirror.items()} == server.objects
    assert_indexes_agree(seen.store)


@given(STEPS)
def test_one_watch_with_repeats_and_delays_needs_no_new_list(
    steps: list[tuple[str, str, str, list[Fault], int]],
) -> None:
    seen = Watched()
    server, line = Server(), Line(seen.sink, must_list=False)
    for action, name, schedule, faults, pages in steps:
        event = server.write(name, schedule) if action in ("write", "relist") else None
        event = server.delete(name) if action == "delete" else event
        if event is not None:
            line.send(event, "late" if faults[0] == "lost" else faults[0])
        elif action == "settle":
            line.settle(server, pages)
    line.settle(server, 2)
    assert held(seen.store) == server.objects


def assert_indexes_agree(store: Store) -> None:
    for wanted in ("nightly", "hourly"):
        indexed = {item.name for item in store.indexes.backups_by_schedule.get("prod", "velero", wanted)}
        assert indexed == {name for name, item in held(store).items() if item.schedule_name == wanted}
    assert store.indexes.backups_by_schedule.get("prod", "velero", "") == ()


def seen_by_selector(
    event: tuple[EventType, Backup], before: Backup | None, wanted: str
) -> tuple[EventType, Backup] | None:
    """The events of a watch with a label selector: an object that leaves the selection is DELETED."""
    kind, after = event
    was = before is not None and before.schedule_name == wanted
    fits = after.schedule_name == wanted and kind != "DELETED"
    if not fits:
        return ("DELETED", after) if was else None
    return ("MODIFIED" if was else "ADDED"), after


PACES = st.lists(
    st.tuples(
        st.sampled_from(("write", "write", "delete", "wide", "narrow")),
        st.sampled_from(NAMES[:2]),
        st.sampled_from(("nightly", "hourly")),
    ),
    max_size=30,
)


@given(PACES)
def test_a_selector_watch_beside_a_wider_one_leaves_no_stale_objects(steps: list[tuple[str, str, str]]) -> None:
    seen = Watched()
    narrow = seen.store.sink(WatchScope("prod", BACKUP, "", f"{SCHEDULE_LABEL}=nightly"), seen.clock)
    server = Server()
    queues: dict[str, list[tuple[EventType, Backup]]] = {"wide": [], "narrow": []}
    sinks = {"wide": seen.sink, "narrow": narrow}
    for action, name, schedule in steps:
        if action in queues:
            if queues[action]:
                sinks[action].apply(*queues[action].pop(0))
            continue
        before = server.objects.get(name)
        event = server.write(name, schedule) if action == "write" else server.delete(name)
        if event is None:
            continue
        queues["wide"].append(event)
        chosen = seen_by_selector(event, before, "nightly")
        if chosen is not None:
            queues["narrow"].append(chosen)
    for which, events in queues.items():
        for event in events:
            sinks[which].apply(*event)
    assert held(seen.store) == server.objects


@given(
    before=st.lists(st.sampled_from(NAMES), max_size=6),
    writes=st.lists(st.tuples(st.booleans(), st.sampled_from(NAMES)), max_size=14),
    listed_after=st.integers(0, 14),
    heard=st.lists(st.booleans(), max_size=30),
)
def test_a_watch_beside_a_list_never_leaves_the_store_other_than_the_server(
    before: list[str], writes: list[tuple[bool, str]], listed_after: int, heard: list[bool]
) -> None:
    """The watch beside it may be ahead of the list or behind it; the next one begins where the list was made."""
    seen, server = Watched(), Server()
    for name in before:
        server.write(name, "")
    events, page, version = [], list(server.objects.values()), server.version
    for number, (is_write, name) in enumerate(writes):
        event = server.write(name, "") if is_write else server.delete(name)
        if event is not None:
            events.append(event)
        if number < listed_after:
            page, version = list(server.objects.values()), server.version
    seen.sink.replace_begin()
    early = iter(events)
    rest = iter(page)
    for from_watch in heard:
        if from_watch and (event := next(early, None)) is not None:
            seen.sink.apply(*event)
        elif (item := next(rest, None)) is not None:
            seen.sink.page([item])
    seen.sink.page(rest)
    seen.sink.replace_end(str(version))
    for event in events:
        if int(event[1].metadata.resource_version) > version:
            seen.sink.apply(*event)
    assert held(seen.store) == server.objects
