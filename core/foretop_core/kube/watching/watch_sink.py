"""The interface between watches and store: sinks, the health of a watch, the rows that are waited for first."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from foretop_core.models.kinds import Kind
from foretop_core.models.wire import Resource, is_older

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


class WatchScope(msgspec.Struct, frozen=True):
    """The objects that one watch covers, and a new list of it replaces; no namespace means all of them."""

    context: str
    kind: Kind
    namespace: str = ""
    selector: str = ""
    fields: str = ""


def task_scope(context: str, kind: Kind) -> WatchScope:
    """Stands for the task that decides where a kind is watched: it has a health, and no objects."""
    return WatchScope(context, kind, fields="foretop task")


class WatchState(enum.Enum):
    """How a watch is; the value is the word that a person reads."""

    SYNCING = "syncing"
    LIVE = "live"
    STALE = "stale"
    SIGNED_OUT = "signed out"
    FORBIDDEN = "not allowed"
    NOT_INSTALLED = "not installed"
    NO_NAMESPACE = "no such namespace"
    NOT_IN_ARCHIVE = "not in the archive"


UNSEEN = frozenset({WatchState.FORBIDDEN, WatchState.NOT_IN_ARCHIVE})
"""The states of a watch that may see nothing, though there may be something."""
SETTLED = UNSEEN | {WatchState.LIVE, WatchState.NOT_INSTALLED, WatchState.NO_NAMESPACE}
"""The states of a watch that has seen what it may see."""


class WatchHealth(msgspec.Struct, frozen=True):
    """One watch's state, since when, the last error in one line, and when it is tried again.

    While it is syncing, `seen` of `expected` objects have come, as far as the server tells how many there are.
    """

    state: WatchState
    since: datetime
    error: str = ""
    retry_at: datetime | None = None
    seen: int = 0
    expected: int | None = None
    polled_every: float = 0.0
    """Seconds between two lists, where no connection is left for a watch of its own."""
    is_fault: bool = False
    """A fault of foretop's own has ended it, which is told at once."""


class WatchSink(Protocol):
    """One watch's way into the store; calls come in the order in which the server spoke."""

    def replace_begin(self) -> None:
        """A new list starts; one that was begun before and not ended is forgotten."""

    def page(self, objects: Iterable[Resource]) -> None:
        """A chunk of that list."""

    def replace_end(self, version: str = "") -> None:
        """The list is whole: what this watch had and the list of that resourceVersion has not is gone."""

    def apply(self, event: EventType, resource: Resource) -> None:
        """One event of the watch; for DELETED the metadata is enough.

        Between the start and the end of a list it is one of a watch beside it, which the watch after the list repeats.
        """

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        """An object of the list or an event that could not be decoded; no name where even that is lost.

        An event comes with its resourceVersion, where it has one, so that an older event does not undo it.
        """

    def health(self, health: WatchHealth) -> None: ...


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
        items = {_key(item): item for item in objects}
        passed = {key: item for key, item in items.items() if self._is_wanted(item)}
        if self._listed is not None:
            self._listed |= items
            self._passed |= passed
        self._sink.page(passed.values())

    def replace_end(self, version: str = "") -> None:
        """End the list, then settle which movements were wanted or let go while it came."""
        self._known, self._listed = self._listed or {}, None
        self._shown = self._passed
        self._sink.replace_end(version)
        self._settle()

    def apply(self, event: EventType, resource: Resource) -> None:
        if self._listed is not None:
            return
        key = _key(resource)
        before = self._known.get(key)
        if before is not None and is_older(resource, before):
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
        resources = {key: item for key, item in self._known.items() if self._is_wanted(item)}
        for key in self._shown.keys() - resources.keys():
            self._sink.apply("DELETED", self._shown[key])
        for key in resources.keys() - self._shown.keys():
            self._sink.apply("ADDED", resources[key])
        self._shown = resources

    def _is_wanted(self, item: Resource) -> bool:
        return item.label(self._label) in self._wanted


def _key(item: Resource) -> _Key:
    return item.namespace, item.name


class FirstRows:
    """The kinds of the page that is open, until their first rows are shown.

    The rest waits for them, but never longer than `longest` seconds, whatever cluster and screen do.
    """

    def __init__(self, kinds: frozenset[str] = frozenset(), longest: float = 0.0) -> None:
        self._kinds = kinds
        self._longest = longest
        self._not_listed = set(kinds)
        self._over = asyncio.Event()
        if not kinds:
            self._over.set()

    def awaits(self, kind: str) -> bool:
        """True while rows of this kind are waited for."""
        return kind in self._kinds and not self._over.is_set()

    def note_listed(self, kind: str) -> None:
        """The first rows of a kind are there, or it is clear why not."""
        self._not_listed.discard(kind)

    @property
    def is_to_be_shown(self) -> bool:
        """True if all of them are there and nobody has shown them yet."""
        return not self._not_listed and not self._over.is_set()

    def note_shown(self) -> None:
        self._over.set()

    async def until_shown(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._longest):
                await self._over.wait()
        self._over.set()
