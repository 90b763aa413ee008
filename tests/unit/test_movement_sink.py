"""One watch of data movements serves many runs: each sees those that it wants, whenever it begins to want them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from foretop_core.kube.watching.watch_sink import EventType, MovementSink, WatchHealth, WatchState
from foretop_core.models import DataUpload, from_builtins
from foretop_core.models.wire import Resource
from tests.objects import NOW

LABEL = "velero.io/backup-name"


class Shown:
    """What is passed on, and that it is passed on as a watch does: nothing is added twice, or taken away unseen."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}
        self.versions: list[str] = []
        self.healths: list[WatchHealth] = []
        self.unread: list[tuple[str, ...]] = []
        self.heard: list[str] = []
        self._listed: dict[str, str] | None = None

    def replace_begin(self) -> None:
        self._listed = {}

    def page(self, objects: Iterable[Resource]) -> None:
        assert self._listed is not None
        self._listed |= {item.name: item.label(LABEL) for item in objects}

    def replace_end(self, version: str = "") -> None:
        assert self._listed is not None
        self.rows, self._listed = self._listed, None
        self.versions.append(version)

    def apply(self, event: EventType, resource: Resource) -> None:
        assert self._listed is None, "the watch waits for the list"
        self.heard.append(f"{event} {resource.name}")
        if event == "DELETED":
            del self.rows[resource.name]
        else:
            self.rows[resource.name] = resource.label(LABEL)

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        self.unread.append((namespace, name, problem, version))

    def health(self, health: WatchHealth) -> None:
        self.healths.append(health)


def movement(name: str, of: str, version: int) -> DataUpload:
    meta = {"name": name, "namespace": "velero", "labels": {LABEL: of}, "resourceVersion": str(version)}
    return from_builtins(DataUpload, {"metadata": meta})


NAMES, RUNS = st.sampled_from(["a", "b", "c"]), st.sampled_from(["one", "two"])
STEPS = st.one_of(
    st.tuples(st.just("want"), st.frozensets(RUNS)),
    st.tuples(st.sampled_from(["put", "delete", "old put", "old delete"]), st.tuples(NAMES, RUNS)),
    st.tuples(st.just("list"), st.tuples(st.dictionaries(NAMES, RUNS), st.none() | st.frozensets(RUNS))),
)


@given(st.lists(STEPS, max_size=12))
def test_the_movements_of_the_runs_that_are_wanted_are_shown_and_no_others(steps: list[tuple[str, Any]]) -> None:
    shown, wanted, there, version = Shown(), frozenset({"one"}), dict[str, str](), 10
    sink = MovementSink(shown, LABEL, wanted)
    for what, given_ in [("list", ({}, None)), *steps]:
        version += 1
        match what, given_:
            case "want", frozenset() as runs:
                wanted = runs
                sink.want(wanted)
            case "put", (name, run):
                there[name] = run
                sink.apply("MODIFIED", movement(name, run, version))
            case "delete", (name, run):
                there.pop(name, None)
                sink.apply("DELETED", movement(name, run, version))
            case "old put", (name, run) if name in there:
                sink.apply("MODIFIED", movement(name, run, 1))
            case "old delete", (name, run) if name in there:
                sink.apply("DELETED", movement(name, run, 1))
            case "list", (dict() as listed, changed):
                there = dict(listed)
                items = [movement(name, run, version) for name, run in there.items()]
                sink.replace_begin()
                sink.page(items[:1])
                if changed is not None:
                    wanted = changed
                    sink.want(wanted)
                sink.apply("MODIFIED", movement("a", "one", version))
                sink.page(items[1:])
                sink.replace_end(str(version))
                assert shown.versions[-1] == str(version)
        assert shown.rows == {name: run for name, run in there.items() if run in wanted}


def test_what_is_shown_already_is_not_told_again() -> None:
    shown = Shown()
    sink = MovementSink(shown, LABEL, frozenset({"one"}))
    sink.replace_begin()
    sink.page([movement("a", "one", 1), movement("b", "two", 1)])
    sink.replace_end("1")
    sink.want(frozenset({"one"}))
    assert shown.heard == []
    sink.want(frozenset({"one", "two"}))
    assert shown.heard == ["ADDED b"]
    sink.apply("MODIFIED", movement("b", "three", 2))
    sink.apply("MODIFIED", movement("b", "four", 3))
    sink.apply("DELETED", movement("b", "four", 4))
    assert shown.heard == ["ADDED b", "DELETED b"]


def test_health_and_what_cannot_be_read_are_passed_on() -> None:
    shown = Shown()
    sink = MovementSink(shown, LABEL, frozenset())
    health = WatchHealth(WatchState.LIVE, NOW)
    sink.health(health)
    sink.unreadable("velero", "a", "no kind", "7")
    assert (shown.healths, shown.unread) == ([health], [("velero", "a", "no kind", "7")])
