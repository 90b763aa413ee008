"""How well a namespace is protected at a moment: the worst that can be said of it, and how grave that is.

The page of protection, its pane, JSON and Triage read it here and derive nothing of it themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

import msgspec

from foretop_core.rules.protection.copies import taken_volumes
from foretop_core.rules.protection.coverage import Extent, cluster_scoped_text
from foretop_core.rules.protection.namespace_protection import (
    NamespaceCover,
    NamespaceProtection,
    SharedProtection,
    promised_since,
)
from foretop_core.rules.protection.protection_index import ProtectionIndex, protection_index
from foretop_core.rules.schedule_history import began
from foretop_core.rules.severity import Severity

__all__ = [
    "EXPIRING_TEXT",
    "IGNORED_NAMESPACES",
    "SEVERITIES",
    "Extent",
    "NamespaceCover",
    "NamespaceProtection",
    "Promise",
    "ProtectionIndex",
    "ProtectionJudge",
    "ProtectionLimits",
    "ProtectionState",
    "cluster_scoped_text",
    "late_text",
    "protection_index",
    "taken_volumes",
]

IGNORED_NAMESPACES = ("kube-*", "openshift-*", "openshift", "default")
"""Namespaces of the platform, which is set up anew and not restored, and the one that is empty in most clusters."""


EXPIRING_TEXT = "its last good copy expires with none after it"


class ProtectionState(StrEnum):
    """What is said of a namespace, the worst first."""

    UNREACHABLE = "unreachable"
    UNCOVERED = "not covered"
    LATE = "late"
    EXPIRING = "expiring"
    REPOSITORY_NOT_READY = "repo not ready"
    PARTIAL = "partial"
    NO_COPY = "no copy yet"
    PAUSED = "paused"
    BY_HAND = "by hand only"
    """It has a good copy, and nothing makes another."""
    DELETED = "deleted"
    IGNORED = "ignored"
    PROTECTED = "protected"


SEVERITIES = {
    ProtectionState.UNREACHABLE: Severity.ERROR,
    ProtectionState.UNCOVERED: Severity.WARNING,
    ProtectionState.LATE: Severity.ERROR,
    ProtectionState.EXPIRING: Severity.ERROR,
    ProtectionState.REPOSITORY_NOT_READY: Severity.ERROR,
    ProtectionState.PARTIAL: Severity.WARNING,
}
"""The states that are wrong."""


class ProtectionLimits(msgspec.Struct, frozen=True):
    """How old and how short-lived a copy may be, and which namespaces need none."""

    gap: timedelta = timedelta(minutes=30)
    """A good copy younger than this is recent enough, however often a schedule runs."""
    expiring_soon: timedelta = timedelta(hours=24)
    ignored: tuple[str, ...] = ()
    """Patterns, besides those of the platform."""


class Promise(msgspec.Struct, frozen=True):
    """What the schedules of a namespace promise at a moment."""

    since: datetime | None
    """A good copy should have been started by then, or since; None where no schedule promises one."""
    by: NamespaceCover | None = None


class ProtectionJudge:
    """Judges the namespaces of one cluster at one moment; what many have in common is worked out once.

    `own` are the namespaces of Velero servers: what is in them comes back with the installation.
    """

    def __init__(self, now: datetime, limits: ProtectionLimits, own: Iterable[str] = ()) -> None:
        self.now = now
        self.limits = limits
        self.own = frozenset(own)
        self._promised: dict[int, tuple[NamespaceCover, datetime | None]] = {}
        self._promises: dict[int, tuple[SharedProtection, Promise]] = {}

    def state(self, row: NamespaceProtection) -> ProtectionState:
        if row.exists is False:
            return _gone(row)
        if not row.is_covered and not row.nabs:
            return ProtectionState.IGNORED if self.is_ignored(row.namespace) else self._uncovered(row)
        copies = row.copies
        if not copies.total:
            return ProtectionState.LATE if self.is_late(row) else _without_copy(row)
        if not row.reachable:
            return ProtectionState.UNREACHABLE
        if self.is_late(row):
            return ProtectionState.LATE
        if self.is_expiring(row):
            return ProtectionState.EXPIRING
        if row.unready:
            return ProtectionState.REPOSITORY_NOT_READY
        if not copies.good or row.coverage.extent is not Extent.ALL:
            return ProtectionState.PARTIAL
        if not row.is_covered:
            return ProtectionState.BY_HAND
        return ProtectionState.PAUSED if row.is_paused else ProtectionState.PROTECTED

    def is_ignored(self, namespace: str) -> bool:
        if namespace in self.own:
            return True
        return any(fnmatchcase(namespace, one) for one in (*IGNORED_NAMESPACES, *self.limits.ignored))

    def promise(self, row: NamespaceProtection) -> Promise:
        """By the schedules that take all of it, or a part where none takes all; the one that promises most."""
        shared = row.shared
        if shared is None:
            return self._promise(row.covers)
        held = self._promises.get(id(shared))
        if held is None:
            held = self._promises[id(shared)] = (shared, self._promise(row.covers))
        return held[1]

    def is_late(self, row: NamespaceProtection) -> bool:
        """Whether its newest copy is older than its schedules promise."""
        promise = self.promise(row)
        if promise.since is None:
            return False
        usable = row.copies.usable
        return usable is None or began(usable) < promise.since

    def is_expiring(self, row: NamespaceProtection) -> bool:
        """Whether its last good copy is gone soon, with none to come before."""
        since, end, run = self.expiring_since(row), row.copies.last_expiry, row.next_run
        if since is None or end is None or end <= self.now:
            return False
        return since <= self.now and (run is None or run > end)

    def expiring_since(self, row: NamespaceProtection) -> datetime | None:
        """From when on the end of its last good copy is near; None where it has none, or one that is kept for ever."""
        newest, end = row.copies.newest, row.copies.last_expiry
        return end - min(self.limits.expiring_soon, (end - began(newest)) / 4) if newest and end else None

    def _uncovered(self, row: NamespaceProtection) -> ProtectionState:
        return ProtectionState.UNREACHABLE if not row.reachable else ProtectionState.UNCOVERED

    def _promise(self, covers: tuple[NamespaceCover, ...]) -> Promise:
        active = [cover for cover in covers if cover.is_active]
        whole = [cover for cover in active if cover.coverage.extent is Extent.ALL] or active
        best = Promise(None)
        for cover in whole:
            since = self._since(cover)
            if since is not None and (best.since is None or since > best.since):
                best = Promise(since, cover)
        return best

    def _since(self, cover: NamespaceCover) -> datetime | None:
        """None where it has not run for long enough, since it was created or unpaused, to have made one."""
        held = self._promised.get(id(cover))
        if held is None:
            parsed = cover.parsed
            since = None if parsed is None else promised_since(cover.schedule, parsed, self.now, self.limits.gap)
            held = self._promised[id(cover)] = (cover, since)
        return held[1]


def _gone(row: NamespaceProtection) -> ProtectionState:
    if not row.reachable:
        return ProtectionState.UNREACHABLE
    return ProtectionState.REPOSITORY_NOT_READY if row.unready else ProtectionState.DELETED


def _without_copy(row: NamespaceProtection) -> ProtectionState:
    return ProtectionState.PAUSED if row.is_paused else ProtectionState.NO_COPY


def late_text(found: NamespaceProtection) -> str:
    """What a namespace lacks whose schedules have not kept their promise."""
    if found.copies.usable is None:
        return "no copy, though its schedules promise one"
    return "newest copy older than its schedules promise"
