"""All that is said of a namespace: from what it could be brought back, the worst of it, and how grave that is.

The page of protection, its pane, JSON and Triage read it here and derive nothing of it themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from foretop_core.models import (
    Backup,
    BackupSpec,
    DataMovement,
    PersistentVolume,
    PersistentVolumeClaim,
    Resource,
    Schedule,
)
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import ScheduleFacts, schedule_facts
from foretop_core.rules.pauses import pause_info
from foretop_core.rules.phases import ENDED, WAITING
from foretop_core.rules.protection.copies import NO_COPIES, is_of_storage
from foretop_core.rules.protection.coverage import (
    Coverage,
    Extent,
    VolumeMethod,
    cluster_scoped_text,
    copies_files,
    namespace_filter,
    volume_choices,
)
from foretop_core.rules.protection.namespace_protection import (
    RECENT_ENOUGH,
    NamespaceCover,
    NamespaceProtection,
    late_from,
    promised_since,
)
from foretop_core.rules.protection.protection_index import ProtectionIndex, protection_index
from foretop_core.rules.remembered import remembered
from foretop_core.rules.schedule_history import began, submitted
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import unready_names
from foretop_core.rules.volumes.evidence import GrownVolume, LeftOutVolume, TakenVolume, VolumeEvidence, grown_volumes

if TYPE_CHECKING:
    from foretop_core.rules.volumes.foretold import ForetoldVolumes

__all__ = [
    "IGNORED_NAMESPACES",
    "Extent",
    "ForetoldVolumes",
    "GrownVolume",
    "LastingNamespaceFacts",
    "LeftOutVolume",
    "NamespaceCover",
    "NamespaceFacts",
    "NamespaceProtection",
    "Promise",
    "ProtectionIndex",
    "ProtectionJudge",
    "ProtectionLimits",
    "ProtectionState",
    "TakenVolume",
    "VolumeEvidence",
    "copied_volumes",
    "hangs_on_deciders",
    "is_counted",
    "method_of_volumes",
    "namespaces_of_volume",
    "protection_index",
]

IGNORED_NAMESPACES = ("kube-*", "openshift-*", "openshift", "default")
"""Namespaces of the platform, which is installed again and not restored, and the one that is empty in most clusters."""


class ProtectionState(StrEnum):
    """The state of a namespace's protection, the worst first."""

    UNREACHABLE = "unreachable"
    UNCOVERED = "not covered"
    LATE = "late"
    EXPIRING = "expiring"
    REPOSITORY_NOT_READY = "repo not ready"
    PARTIAL = "partial"
    NO_COPY = "no copy yet"
    PAUSED = "paused"
    MANIFESTS_ONLY = "manifests only"
    """It has volumes, and its newest copy has the data of none."""
    VOLUMES_MISSING = "volumes missing"
    NOT_KNOWN = "not known"
    """It has a copy, and something that was not read decides what is in it."""
    BY_HAND = "by hand only"
    """It has a good copy, and no schedule makes another: its owner may."""
    DELETED = "deleted"
    IGNORED = "ignored"
    PROTECTED = "protected"


_SEVERITIES = {
    ProtectionState.UNREACHABLE: Severity.ERROR,
    ProtectionState.UNCOVERED: Severity.WARNING,
    ProtectionState.LATE: Severity.ERROR,
    ProtectionState.EXPIRING: Severity.ERROR,
    ProtectionState.REPOSITORY_NOT_READY: Severity.ERROR,
    ProtectionState.PARTIAL: Severity.WARNING,
    ProtectionState.MANIFESTS_ONLY: Severity.WARNING,
    ProtectionState.VOLUMES_MISSING: Severity.WARNING,
}
"""The states that are wrong."""
_WORDS = {
    ProtectionState.UNREACHABLE: "all its copies are in a storage location that Velero cannot use",
    ProtectionState.UNCOVERED: "no schedule that Velero accepts and no NAB takes anything of it",
    ProtectionState.EXPIRING: "its last good copy expires before another is made",
    ProtectionState.PARTIAL: "no copy has all of it",
    ProtectionState.NO_COPY: "covered, and not backed up yet",
    ProtectionState.MANIFESTS_ONLY: "its newest copy has its objects, and the data of none of its volumes",
    ProtectionState.PAUSED: "its schedules are paused",
    ProtectionState.BY_HAND: "it has a good copy, and no schedule makes another one",
    ProtectionState.DELETED: "it no longer exists, and can be brought back",
    ProtectionState.IGNORED: "not covered; it is on the list of those that need no backup",
    ProtectionState.PROTECTED: "protected",
}


_BEYOND = 1.05
"""From this share of its promise on a copy is called older."""
_MOST_FORETOLD = 2000
"""Claims of the cluster; Triage is silent on what the next runs leave out beside more."""
_LONG_INCOMPLETE = 3
"""For so many times its promise partial copies may take the place of a complete one."""


class ProtectionLimits(msgspec.Struct, frozen=True):
    """How old and how short-lived a copy may be, and which namespaces need none."""

    gap: timedelta = RECENT_ENOUGH
    """A good copy younger than this is recent enough, however often a schedule runs."""
    expiring_soon: timedelta = timedelta(hours=24)
    ignored: tuple[str, ...] = ()
    """Patterns, besides those of the platform."""
    every_volume: bool = False
    """A volume that somebody chose to leave out is missed too."""


class Promise(msgspec.Struct, frozen=True):
    """The promise of the schedules of a namespace at a moment."""

    since: datetime | None
    """A good copy should have been started by then, or since; None where no schedule promises one."""
    by: NamespaceCover | None = None


class ProtectionJudge:
    """Judges the namespaces of one cluster at one moment; what many have in common is worked out once.

    `schedule` tells the facts of a schedule where they are at hand.
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        now: datetime,
        limits: ProtectionLimits,
        schedule: Callable[[Schedule], ScheduleFacts] | None = None,
    ) -> None:
        self.snapshot = snapshot
        self.now = now
        self.limits = limits
        self._facts_of = schedule or (lambda one: schedule_facts(snapshot, one, now))

    @remembered
    def schedule(self, one: Schedule) -> ScheduleFacts:
        """The facts of a schedule, which many namespaces ask for."""
        return self._facts_of(one)

    def facts(self, row: NamespaceProtection) -> NamespaceFacts:
        """All that is said of one of them."""
        return NamespaceFacts(row, self)

    def is_ignored(self, namespace: str) -> bool:
        if namespace in self.snapshot.velero_namespaces:
            # What is in it comes back with the installation.
            return True
        return any(fnmatchcase(namespace, one) for one in (*IGNORED_NAMESPACES, *self.limits.ignored))

    @remembered
    def apart(self, cover: NamespaceCover) -> timedelta | None:
        """How far its last two runs lie apart; None where it has not had two."""
        parsed = cover.parsed
        if parsed is None or parsed.every is not None:
            return parsed.every if parsed is not None else None
        last = parsed.previous(self.now)
        before = parsed.previous(last) if last is not None else None
        return last - before if last is not None and before is not None else None

    def late_from(self, cover: NamespaceCover, started: datetime) -> datetime | None:
        until = self._promises_until(cover)
        if cover.parsed is None or until is None:
            return None
        ran_before = self.schedule(cover.schedule).ran_before
        at = late_from(cover.schedule, cover.parsed, started, until, self.limits.gap, ran_before)
        return at if at is None or cover.is_active or at <= until else None

    @remembered
    def promise(self, covers: tuple[NamespaceCover, ...]) -> Promise:
        """By the schedules that take all of it, or a part where none takes all; the one that promises most.

        Many namespaces have the same schedules.
        """
        best = Promise(None)
        for cover in _promising(covers):
            since = self._since(cover)
            if since is not None and (best.since is None or since > best.since):
                best = Promise(since, cover)
        return best

    @remembered
    def _since(self, cover: NamespaceCover) -> datetime | None:
        """None where it has not run for long enough to have made one."""
        parsed, until = cover.parsed, self._promises_until(cover)
        if parsed is None or until is None:
            return None
        return promised_since(cover.schedule, parsed, until, self.limits.gap, self.schedule(cover.schedule).ran_before)

    def _promises_until(self, cover: NamespaceCover) -> datetime | None:
        """Now, or the beginning of its pause: it owes what it owed then, and no more; None where nothing tells."""
        if cover.is_active:
            return self.now
        paused = pause_info(cover.schedule).since
        return None if paused is None else min(paused, self.now)


def _promising(covers: Iterable[NamespaceCover]) -> list[NamespaceCover]:
    """The schedules by which a namespace is judged: those that take all of it, or a part where none takes all.

    One that is paused takes the place of none that runs.
    """
    able = [cover for cover in covers if cover.parsed is not None]
    whole = [cover for cover in able if cover.coverage.extent is Extent.ALL]
    if any(cover.is_active for cover in whole):
        return whole
    return [*whole, *(cover for cover in able if cover.is_active)] or able


def _unproven(coverage: Coverage) -> ProtectionState:
    return ProtectionState.NOT_KNOWN if coverage.extent is Extent.UNKNOWN else ProtectionState.PARTIAL


def copied_volumes(snapshot: ClusterSnapshot, row: NamespaceProtection) -> VolumeEvidence:
    """The volumes of a namespace in its newest copy, and those that it lacks."""
    newest = row.copies.usable
    if newest is None or row.exists is False:
        return VolumeEvidence()
    return snapshot.volumes_in(newest, row.namespace)


def method_of_volumes(row: NamespaceProtection, volumes: VolumeEvidence) -> str:
    """How its newest copy has its volumes, as far as that is proven; else how its schedules and NABs take them."""
    proven = {one.method for one in volumes.taken}
    if proven:
        return ", ".join(method.value for method in VolumeMethod if method in proven)
    return row.volumes.value if row.volumes is not None else ""


def is_counted(volumes: VolumeEvidence) -> bool:
    """True if the snapshots of its newest copy were counted, or could have been, with those of other namespaces."""
    is_proven = any(one.is_by_count for one in volumes.taken) or any(one.is_by_count for one in volumes.left_out)
    return is_proven or bool(volumes.open)


def hangs_on_deciders(volumes: VolumeEvidence) -> bool:
    """True if what decides about volumes tells whose snapshots were made, or whether what was left out was chosen."""
    return bool(volumes.left_out) or is_counted(volumes)


def namespaces_of_volume(*states: Resource | None) -> set[str]:
    """The namespaces of a claim, its volume or its data movement, as it was and as it is."""
    found = {item.claim[0] for item in states if isinstance(item, DataMovement)}
    found |= {item.spec.claim_ref.namespace for item in states if isinstance(item, PersistentVolume)}
    return found | {item.namespace for item in states if isinstance(item, PersistentVolumeClaim)}


def _gone(row: NamespaceProtection) -> ProtectionState:
    if not row.reachable:
        return ProtectionState.UNREACHABLE
    return ProtectionState.REPOSITORY_NOT_READY if row.unready else ProtectionState.DELETED


class LastingNamespaceFacts(msgspec.Struct, frozen=True):
    """The facts that do not depend on the time: a table keeps them from change to change."""

    protection: NamespaceProtection

    # Its copies

    @property
    def newest_copy(self) -> Backup | None:
        """The newest one that it can be brought back from, complete or not; where all are out of reach, of those."""
        return self.protection.copies.usable

    @property
    def newer_out_of_reach(self) -> Backup | None:
        """The newest of the copies out of reach, where it is newer than all in reach."""
        found, lost = self.protection, self.protection.lost.usable
        at = found.copies.usable_at
        return lost if lost is not None and found.reachable and (at is None or began(lost) > at) else None

    @property
    def lack(self) -> str:
        """Why its newest copy is not complete; "" where it is, or there is none."""
        copies = self.protection.copies
        if copies.usable is None or copies.newest is not None:
            return ""
        return copies.coverage.limits or "failed partially"

    @property
    def good_in_reach(self) -> int:
        """How many good copies are in locations that Velero can use."""
        return self.protection.copies.good if self.protection.reachable else 0

    @property
    def all_copies(self) -> tuple[int, int]:
        """How many are good and how many partial, in reach or not."""
        lost = self.protection.lost
        in_reach = self.protection.copies if self.protection.reachable else NO_COPIES
        return in_reach.good + lost.good, in_reach.partial + lost.partial

    @property
    def copies_text(self) -> str:
        """`11 good, 8 out of reach, 1 partial`."""
        found, copies = self.protection, self.protection.copies
        if not found.reachable:
            return f"{copies.total}, all out of reach"
        lost = f", {found.out_of_reach} out of reach" if found.out_of_reach else ""
        if not copies.good:
            return f"0 good, {copies.partial} partial{lost}"
        return f"{self.good_in_reach} good{lost}{f', {copies.partial} partial' if copies.partial else ''}"

    @property
    def left_after_next_expiry(self) -> int:
        """How many good copies remain when the next one expires."""
        return max(0, self.protection.copies.good - 1)

    @property
    def storage(self) -> tuple[str, ...]:
        """The locations of its copies by name."""
        found = self.protection
        return tuple(sorted({name or "default" for _, name in found.copies.places | found.lost.places}))

    @property
    def repository(self) -> str:
        """The phase of its repositories: of one that is not ready where there is one; "" where it has none."""
        phases = [one.phase or "New" for one in self.protection.repositories]
        return next((phase for phase in phases if phase != "Ready"), phases[0]) if phases else ""

    # Its schedules

    def cluster_scoped(self, cover: NamespaceCover) -> str:
        """Which resources outside of namespaces a schedule of it takes along."""
        return cluster_scoped_text(cover.schedule.spec.template)


class NamespaceFacts(LastingNamespaceFacts, frozen=True, dict=True, eq=False):
    """One namespace at one moment; each fact is worked out when it is first asked for."""

    judge: ProtectionJudge

    @cached_property
    def state(self) -> ProtectionState:
        row = self.protection
        if row.exists is False:
            return _gone(row)
        if not row.nabs and (not row.is_covered or self.takes_nothing):
            if self.judge.is_ignored(row.namespace):
                return ProtectionState.IGNORED
            return ProtectionState.UNCOVERED if row.reachable else ProtectionState.UNREACHABLE
        copies = row.copies
        if not copies.total:
            return ProtectionState.LATE if self.is_late else ProtectionState.NO_COPY
        if not row.reachable:
            return ProtectionState.UNREACHABLE
        if self.is_late:
            return ProtectionState.LATE
        if self._is_younger_than_copies:
            return ProtectionState.NO_COPY
        if self._is_expiring:
            return ProtectionState.EXPIRING
        if row.unready:
            return ProtectionState.REPOSITORY_NOT_READY
        if not copies.good:
            newest = copies.newest_partial
            is_whole = newest is not None and newest.phase == "Completed"
            return _unproven(copies.coverage) if is_whole else ProtectionState.PARTIAL
        if row.coverage.extent is not Extent.ALL:
            return _unproven(row.coverage)
        volumes = self.volumes
        some = volumes.taken or volumes.open
        if volumes.missing or (volumes.newer and not some):
            return ProtectionState.VOLUMES_MISSING if some else ProtectionState.MANIFESTS_ONLY
        if row.is_covered and row.is_paused:
            return ProtectionState.PAUSED
        if volumes.unknown or self._doubt:
            return ProtectionState.NOT_KNOWN
        if volumes.taken and self.lost_next:
            return ProtectionState.VOLUMES_MISSING
        return ProtectionState.PROTECTED if row.is_covered else ProtectionState.BY_HAND

    @cached_property
    def lost_next(self) -> tuple[str, ...]:
        """The volumes that no schedule takes any more, though nobody chose them.

        To foretell those of every namespace at each change takes too long: looked at are only templates that choose
        otherwise than that of the copy, and not beside very many claims. Where files are copied, a pod that is gone
        for now may be back at the next run.
        """
        snapshot, newest = self.judge.snapshot, self.newest_copy
        covers = [cover for cover in self.protection.covers if not cover.is_refused]
        if newest is None or len(snapshot.claims) > _MOST_FORETOLD:
            return ()
        before, templates = volume_choices(newest.spec), [cover.schedule.spec.template for cover in covers]
        if any(copies_files(one) or volume_choices(one) == before for one in templates):
            return ()
        left_out = [{lost.name for lost in self.next_volumes(one).left_out if not lost.is_chosen} for one in covers]
        held = {one.name for one in self.volumes.taken}
        return tuple(sorted(held.intersection(*left_out))) if left_out else ()

    @property
    def lacks(self) -> tuple[tuple[str, str], ...]:
        """The volumes for which it is `manifests only` or `volumes missing`, each with the reason."""
        volumes = self.volumes
        if volumes.missing:
            return tuple((one.name, one.why) for one in volumes.missing)
        if volumes.taken or volumes.open:
            return tuple((name, "no schedule takes it any more") for name in self.lost_next)
        return tuple((name, "newer than it") for name in volumes.newer)

    @cached_property
    def takes_nothing(self) -> str:
        """Why no schedule takes anything of it, by how its server reads their patterns; "" where one does."""
        covers = [cover.schedule for cover in self.protection.covers if not cover.is_refused]
        why = [self._misread(one.namespace, one.spec.template) for one in covers]
        return why[0] if why and all(why) else ""

    @cached_property
    def _doubt(self) -> str:
        """Why its newest copy may have nothing of it, or be gone; "" where the data of one of its volumes is in it."""
        newest = self.newest_copy
        if newest is None:
            return ""
        expiry = newest.status.expiration
        if expiry is not None and expiry <= self.judge.now:
            older = "what the older ones have was not looked at"
            return f"that one has expired, and Velero may delete it at any moment; {older}"
        if self.volumes.taken:
            return ""
        if is_of_storage(newest) and self.protection.restored is None:
            return "that was read from storage, and may be of a namespace of this name in another cluster"
        return self._misread(newest.namespace, newest.spec)

    def _misread(self, server: str, template: BackupSpec) -> str:
        return self.judge.snapshot.misread(server, template, self.protection.namespace)

    @property
    def is_late(self) -> bool:
        """True if its newest copy is older than its schedules promise."""
        since, at = self.promise.since, self.copied_at
        return since is not None and (at is None or at < since)

    @property
    def copied_at(self) -> datetime | None:
        """When its newest copy was started; when it was made, where Velero's clock says that this is yet to come."""
        newest = self.newest_copy
        if newest is None:
            return None
        at = began(newest)
        return at if at <= self.judge.now else submitted(newest)

    @property
    def _is_younger_than_copies(self) -> bool:
        """True if it was made, or made again, after its newest copy, and not by a restore."""
        at, created, restored = self.protection.copies.usable_at, self.protection.created, self.protection.restored
        if at is None or created is None or created <= at:
            return False
        return restored is None or restored < created

    @property
    def _is_expiring(self) -> bool:
        """True if its last good copy is gone soon, with none to come before, or has expired already."""
        since, end, run = self.expiring_since, self.protection.copies.last_expiry, self.protection.next_run
        if since is None or end is None or since > self.judge.now:
            return False
        return self.has_expired or run is None or run > end

    @property
    def severity(self) -> Severity | None:
        """How grave its state is; None where there is nothing to do about it.

        A late copy is as grave as the runs that should have made it: with a partial one in its place, a warning, but
        not for long.
        """
        if self.is_long_incomplete:
            return Severity.ERROR
        if self.state is ProtectionState.LATE and self._has_promised_part:
            return Severity.WARNING
        return _SEVERITIES.get(self.state)

    @cached_property
    def incomplete_for(self) -> timedelta | None:
        """The age of its newest complete copy, or how long at least it has had none; None where nothing tells."""
        copies = self.protection.copies
        if copies.newest is not None:
            return self.judge.now - began(copies.newest)
        whole = (one.schedule for one in self.protection.covers if one.coverage.extent is Extent.ALL)
        faults = [self.judge.schedule(schedule).faults_in_a_row for schedule in whole]
        oldest = min((began(runs[-1]) for runs in faults if runs), default=None)
        return self.judge.now - oldest if oldest is not None else None

    @property
    def times_incomplete(self) -> float:
        """How many times its promise it has been without a complete copy; 0 where it is not known to be."""
        length, every = self.incomplete_for, self.promised_every
        is_owed = self.state in (ProtectionState.LATE, ProtectionState.PARTIAL)
        return length / every if is_owed and length is not None and every else 0.0

    @property
    def is_long_incomplete(self) -> bool:
        """True if partial copies have taken the place of complete ones for longer than that is only a warning."""
        return self.protection.copies.newest_partial is not None and self.times_incomplete >= _LONG_INCOMPLETE

    @property
    def _has_promised_part(self) -> bool:
        since, newest = self.promise.since, self.protection.copies.newest_partial
        made = began(newest) if newest is not None else None
        return since is not None and made is not None and made >= since

    @property
    def word(self) -> str:
        """Its state in a word or two; a copy that never came is not late, it is missing."""
        if self.state is ProtectionState.LATE and self.newest_copy is None:
            return "no copy"
        if self.is_copy_due:
            return "copy due"
        return self.why if self.state is ProtectionState.PROTECTED else self.state.value

    @property
    def is_beyond(self) -> bool:
        """True if its newest copy is older than its schedules run apart, by more than a run takes to make one."""
        return (self.age_share or 0) >= _BEYOND

    @property
    def is_copy_due(self) -> bool:
        """True if it is not late yet, and its newest copy is older than its schedules run apart.

        One run may be missed, and schedules that were created, unpaused or skipped lately owe none yet.
        """
        return self.state in (ProtectionState.PROTECTED, ProtectionState.NOT_KNOWN) and self.is_beyond

    @property
    def why(self) -> str:
        """Its state in a sentence."""
        match self.state:
            case ProtectionState.UNCOVERED if self.takes_nothing:
                return f"no schedule takes anything of it: {self.takes_nothing}"
            case ProtectionState.LATE if self.newest_copy is None:
                return "it has no copy, though its schedules promise one"
            case ProtectionState.LATE:
                which = "complete " if self._has_promised_part else ""
                where = " in reach" if self.newer_out_of_reach is not None else ""
                return f"its newest {which}copy{where} is older than its schedules promise"
            case ProtectionState.EXPIRING if self.has_expired:
                return "its last good copy has expired, and Velero may delete it at any moment"
            case _ if self.is_copy_due and self.promise.since is None:
                return "a copy is due: its schedules were created, unpaused or skipped lately and have made none since"
            case _ if self.is_copy_due:
                return "a copy is due, and late if the next run makes none"
            case ProtectionState.NO_COPY if self.newest_copy is not None:
                return "it was made after its newest copy, which has nothing of it, and is not backed up yet"
            case ProtectionState.NO_COPY if self.protection.is_paused:
                return "it has no copy, and its schedules are paused"
            case ProtectionState.NO_COPY if not self.protection.is_covered:
                return (
                    f"{'only a refused' if self.protection.covers else 'no'} schedule takes it, and {self._nabs_note}"
                )
            case ProtectionState.PARTIAL if self.protection.lost.good:
                return "no copy in reach has all of it"
            case ProtectionState.VOLUMES_MISSING if not self.volumes.missing:
                names = humanize.join(self.lost_next)
                return f"its newest copy has its volumes, and no schedule takes the data of {names} any more"
            case ProtectionState.VOLUMES_MISSING:
                volumes = self.volumes
                lacks = f"its newest copy lacks {len(volumes.missing)} of {humanize.count(volumes.expected, 'volume')}"
                return f"{lacks}{f'; {self._choices}' if self._choices else ''}"
            case ProtectionState.PROTECTED if self._choices:
                return f"{_WORDS[self.state]}, {self._choices}"
            case ProtectionState.NOT_KNOWN:
                return f"it is not known whether its newest copy has all of it: {self.unknown}"
            case ProtectionState.REPOSITORY_NOT_READY:
                gone = "it no longer exists; " if self.protection.exists is False else ""
                part = "" if self.good_in_reach else " in part"
                back = f"{gone}it can be brought back{part}, but without its volumes"
                return f"{back}: {unready_names(self.protection.unready)}"
            case _:
                return _WORDS[self.state]

    def next_coverage(self, cover: NamespaceCover) -> Coverage:
        """How much of it the next run of a schedule takes; by its resource policy too, where that was read."""
        if self.protection.exists is False:
            return cover.coverage
        return self.judge.snapshot.next_coverage(cover.schedule, self.protection.namespace)

    def next_volumes(self, cover: NamespaceCover) -> ForetoldVolumes:
        """The fate of its volumes in the next run of a schedule."""
        return self.judge.snapshot.next_volumes(cover.schedule, self.protection.namespace)

    @cached_property
    def volumes(self) -> VolumeEvidence:
        """The volumes in its newest copy, and those that it lacks; where each is wanted, none is left out by choice."""
        found = copied_volumes(self.judge.snapshot, self.protection)
        if not self.judge.limits.every_volume or not found.chosen:
            return found
        return replace(found, left_out=tuple(replace(one, is_chosen=False) for one in found.left_out))

    @property
    def method(self) -> str:
        """How its volumes were taken, else how the next run takes them; "" where nothing covers it."""
        return method_of_volumes(self.protection, self.volumes)

    @property
    def is_newest_complete(self) -> bool | None:
        """True if its newest copy has all of it; None where that is not known."""
        if self.protection.copies.newest is None or self.volumes.missing:
            return False
        return None if self.unknown else True

    @cached_property
    def grown(self) -> tuple[GrownVolume, ...]:
        """Its volumes with more bytes in the newest copy than in the one before, the one that grew most first."""
        snapshot, newest = self.judge.snapshot, self.newest_copy
        before = snapshot.copy_before(newest) if newest is not None else None
        if newest is None or before is None:
            return ()
        found = grown_volumes(snapshot.told_volumes(newest), snapshot.told_volumes(before))
        return tuple(one for one in found if one.namespace == self.protection.namespace)

    @property
    def unknown(self) -> str:
        """The reason why it is not known whether its newest copy has all of it; "" where it is known."""
        copies, coverage = self.protection.copies, self.protection.coverage
        decides = coverage if copies.good else copies.coverage
        return decides.limits if decides.extent is Extent.UNKNOWN else self.volumes.unknown or self._doubt

    @property
    def _choices(self) -> str:
        """`1 left out by policy`; "" where nobody chose to leave out one of its volumes."""
        chosen = self.volumes.chosen
        return f"{len(chosen)} left out by policy" if chosen else ""

    @property
    def _nabs_note(self) -> str:
        """The reason why its NABs have made no copy."""
        newest = self.protection.newest_nab
        status = newest.velero.status if newest is not None else None
        if status is not None and status.phase in ENDED:
            return "no NAB has made a copy"
        return f"its {'only' if self.protection.nabs == 1 else 'newest'} NAB has not ended yet"

    @property
    def promise(self) -> Promise:
        """None where it is gone: no schedule can make a copy of it."""
        return Promise(None) if self.protection.exists is False else self.judge.promise(self.protection.covers)

    @cached_property
    def late_from(self) -> datetime | None:
        """When its newest copy is first older than promised, before or after now; None without copy or promise."""
        newest = self.newest_copy
        if newest is None or self.protection.exists is False:
            return None
        found = (self.judge.late_from(cover, began(newest)) for cover in _promising(self.protection.covers))
        return min((at for at in found if at is not None), default=None)

    @cached_property
    def promised_every(self) -> timedelta | None:
        """How far its promised copies lie apart; of schedules that promise none now, how far they would."""
        if self.protection.exists is False:
            return None
        by = self.promise.by
        covers = (by,) if by is not None else tuple(one for one in self.protection.covers if not one.is_refused)
        return min((apart for cover in covers if (apart := self.judge.apart(cover)) is not None), default=None)

    @property
    def age(self) -> timedelta | None:
        """How old its newest copy is; None where it has none."""
        at = self.copied_at
        return None if at is None else self.judge.now - at

    @property
    def age_share(self) -> float | None:
        """The age of its newest copy as a share of what is promised; None where there is no copy or no promise."""
        age, every = self.age, self.promised_every
        return age / every if age is not None and every else None

    @property
    def expiring_since(self) -> datetime | None:
        """From when on the end of its last good copy is near; None where it has none, or one that is kept for ever."""
        newest, end = self.protection.copies.newest, self.protection.copies.last_expiry
        return end - min(self.judge.limits.expiring_soon, (end - began(newest)) / 4) if newest and end else None

    @property
    def has_expired(self) -> bool:
        """True if the life of its last good copy is over."""
        end = self.protection.copies.last_expiry
        return end is not None and end <= self.judge.now

    # The next copy

    @cached_property
    def copy_on_its_way(self) -> Backup | None:
        """The backup of a schedule or NAB that waits or runs and takes it, one at work first; None for none."""
        found, snapshot = self.protection, self.judge.snapshot
        if found.exists is False:
            return None
        made = snapshot.velero_backup(found.newest_nab) if found.newest_nab is not None else None
        runs = [*(self.judge.schedule(cover.schedule).unfinished for cover in found.covers), made]
        coming = [
            run
            for run in runs
            if run is not None and run.phase not in ENDED and namespace_filter(run.spec).takes(found.namespace)
        ]
        return min(coming, key=lambda run: run.phase in WAITING, default=None)

    @cached_property
    def coming_word(self) -> str:
        """`runs` or `waits` where a copy is on its way; "" for none, and while a silent Velero makes none."""
        run = self.copy_on_its_way
        if run is None:
            return ""
        # Silence does not depend on the second of the beat, which is dear to find.
        if self.judge.snapshot.heartbeat_at(run.namespace, None).silent_for(self.judge.now) is not None:
            return ""
        return "waits" if run.phase in WAITING else "runs"

    @cached_property
    def held_up(self) -> tuple[ScheduleFacts, ...]:
        """The schedules that would make a copy, where an outage holds up each of them; () otherwise."""
        active = [self.judge.schedule(cover.schedule) for cover in self.protection.covers if cover.is_active]
        waiting = [one for one in active if one.waits_for]
        return tuple(waiting) if len(waiting) == len(active) else ()

    @property
    def outage(self) -> str:
        """`Velero is down` where that holds up every schedule that would make a copy; "" otherwise."""
        return self.held_up[0].beat.silence_phrase(self.judge.now) if self.held_up else ""
