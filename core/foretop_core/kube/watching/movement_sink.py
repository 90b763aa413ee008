"""One watch of data movements for many runs: it passes on those of the runs that are wanted."""

from __future__ import annotations

from collections.abc import Iterable

from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchSink
from foretop_core.models.wire import Resource, is_older

_Key = tuple[str, str]


class MovementSink:
    """Keeps all movements of a kind and namespace; a run that is wanted later finds those that came before it."""

    def __init__(self, sink: WatchSink, label: str, wanted: frozenset[str]) -> None:
        self._sink = sink
        self._label = label
        self._wanted = wanted
        self._known: dict[_Key, Resource] = {}
        self._listed: dict[_Key, Resource] | None = None
        self._passed: dict[_Key, Resource] = {}
        self._shown: dict[_Key, Resource] = {}

    def want(self, wanted: frozenset[str]) -> None:
        """The values of the label that are of interest from now on."""
        if wanted != self._wanted:
            self._wanted = wanted
            if self._listed is None:
                self._settle()

    def replace_begin(self) -> None:
        self._listed, self._passed = {}, {}
        self._sink.replace_begin()

    def page(self, objects: Iterable[Resource]) -> None:
        found = {_key(item): item for item in objects}
        wanted = {key: item for key, item in found.items() if self._is_wanted(item)}
        if self._listed is not None:
            self._listed |= found
            self._passed |= wanted
        self._sink.page(wanted.values())

    def replace_end(self, version: str = "") -> None:
        """What was wanted or let go while the list came is settled after it."""
        self._known, self._listed = self._listed or {}, None
        self._shown = self._passed
        self._sink.replace_end(version)
        self._settle()

    def apply(self, event: EventType, resource: Resource) -> None:
        if self._listed is not None:
            return
        key = _key(resource)
        known = self._known.get(key)
        if known is not None and is_older(resource, known):
            return
        if event == "DELETED":
            self._known.pop(key, None)
            if self._shown.pop(key, None) is not None:
                self._sink.apply(event, resource)
            return
        self._known[key] = resource
        if self._is_wanted(resource):
            self._shown[key] = resource
            self._sink.apply(event, resource)
        elif self._shown.pop(key, None) is not None:
            self._sink.apply("DELETED", resource)

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        self._sink.unreadable(namespace, name, problem, version)

    def health(self, health: WatchHealth) -> None:
        self._sink.health(health)

    def _settle(self) -> None:
        wanted = {key: item for key, item in self._known.items() if self._is_wanted(item)}
        for key in self._shown.keys() - wanted.keys():
            self._sink.apply("DELETED", self._shown[key])
        for key in wanted.keys() - self._shown.keys():
            self._sink.apply("ADDED", wanted[key])
        self._shown = wanted

    def _is_wanted(self, item: Resource) -> bool:
        return item.label(self._label) in self._wanted


def _key(item: Resource) -> _Key:
    return item.namespace, item.name
