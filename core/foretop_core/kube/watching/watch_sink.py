"""The interface between watches and store: what a reflector reports."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import datetime
from typing import Literal, Protocol

import msgspec

from foretop_core.models.kinds import Kind
from foretop_core.models.wire import Resource

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


class WatchScope(msgspec.Struct, frozen=True):
    """What one watch covers, and so what a new list of it replaces; no namespace means all of them."""

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
