"""The health of every watch, and of each cluster as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import assert_never

import msgspec
from msgspec.structs import replace

from foretop_core.kube.watching.watch_sink import SETTLED, UNSEEN, WatchHealth, WatchScope, WatchState
from foretop_core.models.kinds import (
    BACKUP,
    CLAIM,
    CONFIG_MAP,
    DEPLOYMENT,
    DPA,
    EVENT,
    NAMESPACE,
    ON_DEMAND,
    RELEASE_HINTS,
    REPOSITORY,
    SCHEDULE,
    STORAGE,
    VOLUME,
    Kind,
)
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Text, join_sentences, sentence
from foretop_core.rules.snapshot import VisibilityGap

_GRAVEST_FIRST = (
    WatchState.SIGNED_OUT,
    WatchState.STALE,
    WatchState.SYNCING,
    WatchState.NO_NAMESPACE,
    WatchState.FORBIDDEN,
    WatchState.NOT_IN_ARCHIVE,
)
LOST = frozenset({WatchState.STALE, WatchState.SIGNED_OUT})
_TELLS_MORE = RELEASE_HINTS | {NAMESPACE, CLAIM, VOLUME}
"""Who may not read these sees less on one page, which says so."""


class ContextHealth(msgspec.Struct, frozen=True):
    """The health of one cluster: the worst state among its watches, and the text of the status line."""

    state: WatchState
    synced: int = 0
    watches: int = 0
    since: datetime | None = None
    retry_at: datetime | None = None
    error: str = ""
    forbidden: tuple[str, ...] = ()
    not_installed: tuple[str, ...] = ()
    not_in_archive: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    """The kinds without updates."""
    lost_at: datetime | None = None
    """Since when no watch at all has received updates."""
    missing: tuple[str, ...] = ()
    """Namespaces that the user named and that do not exist."""
    unreadable: int = 0
    """Events and items of the latest lists and watches that cannot be stored."""
    unreadable_kinds: tuple[str, ...] = ()
    unreadable_why: str = ""
    faults: tuple[str, ...] = ()
    """The faults of foretop's own that have ended watches."""
    faulty_kinds: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What to know of the archive in the place of the cluster."""
    hides_acknowledgements: bool = False
    """The ConfigMap beside a Velero may not be read: nobody can say which findings are known."""
    polled: int = 0
    """Watches that have no connection of their own and are listed in turn."""
    polled_every: float = 0.0


def _nobody() -> None:
    """Nobody waits for changes."""


class _Entry(msgspec.Struct):
    health: WatchHealth
    was_listed: bool = False
    lost_lines: int = 0
    lost_why: str = ""


class WatchHealthRegistry(msgspec.Struct):
    """The health of all watches, written by them; `revision` changes with every update, and `notify` is called."""

    revision: int = 0
    _revisions: dict[str, int] = msgspec.field(default_factory=dict)
    notify: Callable[[], None] = _nobody
    _entries: dict[str, dict[WatchScope, _Entry]] = msgspec.field(default_factory=dict)
    """By cluster, which most questions are about: there may be forty of them."""
    _notes: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)

    def note(self, context: str, lines: tuple[str, ...]) -> None:
        """Keeps what to know of the archive in the place of a cluster."""
        self._notes[context] = lines

    def report(self, scope: WatchScope, health: WatchHealth) -> None:
        entry = self._entry(scope)
        if entry is None:
            entry = self._entries.setdefault(scope.context, {})[scope] = _Entry(health)
        elif entry.health == health:
            return
        else:
            entry.health = health
        if health.state is WatchState.LIVE:
            entry.was_listed = True
        self._changed(scope.context)

    def report_lost(self, scope: WatchScope, lines: int, why: str) -> None:
        """So many events or items that cannot be stored, for want of a name or kind, and what is wrong with one."""
        entry = self._entry(scope)
        if entry is not None and (entry.lost_lines, entry.lost_why) != (lines, why):
            entry.lost_lines, entry.lost_why = lines, why
            self._changed(scope.context)

    def lost_lines(self, scope: WatchScope) -> int:
        entry = self._entry(scope)
        return entry.lost_lines if entry else 0

    def forget(self, scope: WatchScope) -> None:
        if self._of(scope.context).pop(scope, None) is not None:
            self._changed(scope.context)

    def _of(self, context: str) -> dict[WatchScope, _Entry]:
        return self._entries.get(context, {})

    def _entry(self, scope: WatchScope) -> _Entry | None:
        return self._of(scope.context).get(scope)

    def _changed(self, context: str) -> None:
        self.revision += 1
        self._revisions[context] = self.revision
        self.notify()

    def revision_of(self, context: str) -> int:
        """Changes with every update of one cluster: what depends on it alone is not worked out for another's."""
        return self._revisions.get(context, 0)

    def of(self, scope: WatchScope) -> WatchHealth | None:
        entry = self._entry(scope)
        return entry.health if entry else None

    def watches(self, context: str | None = None) -> Iterator[tuple[WatchScope, WatchHealth]]:
        for of_cluster in self._entries.values() if context is None else (self._of(context),):
            for scope, entry in of_cluster.items():
                yield scope, entry.health

    def is_listed(self, context: str, kind: Kind) -> bool:
        """True if all objects of a kind have come in; what is stale by now has come in before."""
        found = [entry.health.state for scope, entry in self._of(context).items() if scope.kind is kind]
        return bool(found) and all(state is WatchState.LIVE or state in LOST for state in found)

    def listed_in(self, context: str, kind: Kind) -> frozenset[str]:
        """The namespaces of which all objects of a kind have come in, "" for all at once."""
        return frozenset(
            scope.namespace
            for scope, entry in self._of(context).items()
            if scope.kind is kind and not scope.selector and _is_seen(entry) and not entry.lost_lines
        )

    def missing_right(self, context: str, kind: Kind) -> str:
        """`you may not list pods`, where that is why a kind is not seen, or not in all namespaces; "" otherwise."""
        states = {entry.health.state for scope, entry in self._of(context).items() if scope.kind is kind}
        if WatchState.NOT_IN_ARCHIVE in states:
            return f"{kind.plural} are not in the archive"
        return f"you may not list {kind.plural}" if WatchState.FORBIDDEN in states else ""

    def is_first_list(self, scope: WatchScope) -> bool:
        """True if the list that comes in is the first one: before a later one, everything is known already."""
        entry = self._entry(scope)
        return entry is None or (entry.health.state is WatchState.SYNCING and not entry.was_listed)

    def awaits_lists(self, context: str) -> bool:
        """True if the first list of any kind is still coming in."""
        return any(self.is_first_list(scope) for scope, _ in self.watches(context) if not scope.selector)

    def contexts(self) -> Mapping[str, ContextHealth]:
        """Every cluster in the order in which it was first reported."""
        return {name: self._with_notes(name, entries) for name, entries in self._entries.items() if entries}

    def context(self, name: str) -> ContextHealth:
        return self._with_notes(name, self._of(name))

    def _with_notes(self, name: str, entries: Mapping[WatchScope, _Entry]) -> ContextHealth:
        notes = self._notes.get(name)
        return replace(_together(entries), notes=notes) if notes else _together(entries)


def _is_seen(entry: _Entry) -> bool:
    """True where a list came in; a kind that is not installed has no objects, a right that was lost takes them away."""
    state = entry.health.state
    return state is WatchState.NOT_INSTALLED or (entry.was_listed and state not in UNSEEN)


def _is_in_passing(scope: WatchScope, health: WatchHealth) -> bool:
    """True if a failure is not the cluster's: events of the open object, starting movements, what tells a page more."""
    if scope.kind is CONFIG_MAP:
        return health.state in UNSEEN
    if scope.kind is EVENT or (bool(scope.selector) and health.state is WatchState.SYNCING):
        return True
    if health.state is WatchState.NOT_IN_ARCHIVE and scope.kind in ON_DEMAND:
        # One number on every page: what is read while a page shows it is told missing there.
        return True
    return scope.kind in _TELLS_MORE and health.state in (
        WatchState.SYNCING,
        *UNSEEN,
        WatchState.NOT_INSTALLED,
    )


def _together(every: Mapping[WatchScope, _Entry]) -> ContextHealth:
    entries = {scope: entry for scope, entry in every.items() if not _is_in_passing(scope, entry.health)}
    if not entries:
        return ContextHealth(WatchState.SYNCING)
    states = [entry.health.state for entry in entries.values()]
    gravest = next((state for state in _GRAVEST_FIRST if state in states), WatchState.LIVE)
    worst_watches = [entry.health for entry in entries.values() if entry.health.state is gravest]
    errors = [health.error for health in worst_watches if health.error]
    retries = [health.retry_at for health in worst_watches if health.retry_at]
    return ContextHealth(
        state=gravest,
        synced=sum(state in SETTLED for state in states),
        watches=len(states),
        since=min((health.since for health in worst_watches), default=None),
        retry_at=min(retries, default=None),
        error=errors[-1] if errors else "",
        forbidden=_kinds(entries, WatchState.FORBIDDEN),
        not_installed=_kinds(entries, WatchState.NOT_INSTALLED),
        not_in_archive=_kinds(entries, WatchState.NOT_IN_ARCHIVE),
        stale=tuple(sorted({*_kinds(entries, WatchState.STALE), *_kinds(entries, WatchState.SIGNED_OUT)})),
        lost_at=_lost_at([entry.health for entry in entries.values()]),
        missing=_missing(entries),
        unreadable=sum(entry.lost_lines for entry in entries.values()),
        unreadable_kinds=tuple(sorted({scope.kind.name for scope, entry in entries.items() if entry.lost_lines})),
        unreadable_why=next((entry.lost_why for entry in entries.values() if entry.lost_lines), ""),
        faults=tuple(dict.fromkeys(entry.health.error for entry in every.values() if entry.health.is_fault)),
        faulty_kinds=tuple(sorted({scope.kind.name for scope, entry in every.items() if entry.health.is_fault})),
        hides_acknowledgements=any(
            scope.kind is CONFIG_MAP and entry.health.state is WatchState.FORBIDDEN for scope, entry in every.items()
        ),
        polled=sum(entry.health.polled_every > 0 for entry in entries.values()),
        polled_every=max(entry.health.polled_every for entry in entries.values()),
    )


def _kinds(entries: Mapping[WatchScope, _Entry], state: WatchState) -> tuple[str, ...]:
    """The kinds that are not visible at all for this reason; a single namespace of many does not count."""
    kinds = {scope.kind.name for scope, entry in entries.items() if entry.health.state is state}
    seen = {scope.kind.name for scope, entry in entries.items() if entry.health.state is not state}
    return tuple(sorted(kinds - seen))


def _missing(entries: Mapping[WatchScope, _Entry]) -> tuple[str, ...]:
    absent = {scope.namespace for scope, entry in entries.items() if entry.health.state is WatchState.NO_NAMESPACE}
    return tuple(sorted(absent))


def _lost_at(watches: list[WatchHealth]) -> datetime | None:
    """The time up to which the data is current; None while any watch receives updates."""
    if any(health.state in (WatchState.LIVE, WatchState.SYNCING) for health in watches):
        return None
    return max((health.since for health in watches if health.state in LOST), default=None)


_NOT_NEEDED = frozenset({CLAIM, CONFIG_MAP, DEPLOYMENT, DPA, EVENT, NAMESPACE, REPOSITORY, VOLUME, *RELEASE_HINTS})
_WITHOUT_THEM_NO_VELERO = frozenset({SCHEDULE, BACKUP, STORAGE})


def visibility_gaps(context: str, board: WatchHealthRegistry) -> tuple[VisibilityGap, ...]:
    """One entry for each kind, or one for the whole cluster if every watch fails for the same reason."""
    reasons: dict[str, list[Text]] = {}
    watches = [(scope, health) for scope, health in board.watches(context) if scope.kind is not EVENT]
    # Where somebody asks for nothing but such kinds, they are what is needed.
    needed = [(scope, health) for scope, health in watches if scope.kind not in _NOT_NEEDED] or watches
    if not needed:
        return (VisibilityGap(context, "", WatchState.SYNCING.value, is_loading=True),)
    loading = {scope.kind.name for scope, _ in needed if not scope.selector and board.is_first_list(scope)}
    for scope, health in needed:
        if reason := _reason(scope, health) or _unreadable(board.lost_lines(scope)):
            reasons.setdefault(scope.kind.name, []).append(reason)
    together = {reason for given in reasons.values() for reason in given}
    if len(together) == 1 and sum(map(len, reasons.values())) == len(needed) > 1:
        return (VisibilityGap(context, "", together.pop(), is_loading=bool(loading)),)
    return tuple(
        VisibilityGap(context, kind, join_sentences(dict.fromkeys(given), ", "), is_loading=kind in loading)
        for kind, given in sorted(reasons.items())
    )


def _reason(scope: WatchScope, health: WatchHealth) -> Text:
    where = f" in {scope.namespace}" if scope.namespace else ""
    match health.state:
        case WatchState.LIVE:
            return ""
        case WatchState.NOT_INSTALLED:
            return str(health.state.value) if scope.kind in _WITHOUT_THEM_NO_VELERO else ""
        case WatchState.FORBIDDEN | WatchState.NOT_IN_ARCHIVE:
            return f"{health.state.value}{where}"
        case WatchState.NO_NAMESPACE:
            return f"namespace {scope.namespace} does not exist"
        case WatchState.STALE:
            return sentence("stale since ", health.since)
        case WatchState.SYNCING if scope.selector:
            return ""
        case WatchState.SYNCING | WatchState.SIGNED_OUT:
            return str(health.state.value)
    assert_never(health.state)


def _unreadable(lines: int) -> str:
    return f"{humanize.count(lines, 'message')} of the API server cannot be read" if lines else ""
