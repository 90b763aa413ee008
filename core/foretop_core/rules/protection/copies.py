"""The copies of a namespace: the backups that have it and can be restored from, put together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Annotated

import msgspec
from msgspec.structs import replace

from foretop_core.models import Backup, BackupSpec, NonAdminBackup
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR, Metadata, Time
from foretop_core.rules.pauses import ANNOTATIONS
from foretop_core.rules.phases import USABLE
from foretop_core.rules.protection.coverage import Coverage, Extent, NamespaceFilter, content_coverage, resource_policy
from foretop_core.rules.schedule_history import began, submitted

DRILLED = f"{ANNOTATIONS}drilled"
"""The annotation of a Backup with the outcome of the last drill of each of its namespaces."""
_LONGEST_DRILL = 366 * 24 * 3600
"""Seconds; the annotation of a copy that came with a bucket is written by whoever may write there."""
_NEVER = datetime.max.replace(tzinfo=UTC)
_WHOLE = Coverage(Extent.ALL)
_WORKED_ON = 4
"""From this generation on a backup has gone from phase to phase where it is: its status is counted in it."""
Place = tuple[str, str]
"""The namespace of a Velero server and the name of one of its storage locations, "" for its default."""


class _WrittenDrill(msgspec.Struct, rename="camel"):
    at: Time
    seconds: Annotated[int, msgspec.Meta(ge=0, le=_LONGEST_DRILL)] = 0
    failed: str = ""


class DrillOutcome(msgspec.Struct, frozen=True):
    """The last trial restore of a namespace: when it ended, how long it took, and what failed, "" for nothing."""

    at: datetime
    took: timedelta
    failed: str = ""


class CopySummary(msgspec.Struct, frozen=True, gc=False):
    """The copies of one namespace, or of a group of backups that take the same of the same namespaces.

    A good copy is complete and has all of the namespace; what is left out or failed makes it partial.
    """

    good: int = 0
    partial: int = 0
    newest: Backup | None = None
    newest_partial: Backup | None = None
    coverage: Coverage = _WHOLE
    """What the newest partial copy has."""
    next_expiry: datetime | None = None
    last_expiry: datetime | None = None
    """When the last good copy is gone; None where one is kept for ever, or there is none."""
    places: frozenset[Place] = frozenset()
    """The storage locations that they are in."""

    @property
    def usable(self) -> Backup | None:
        """The copy that a restore would take: the newest good copy, or else the newest partial one."""
        return self.newest or self.newest_partial

    @property
    def usable_at(self) -> datetime | None:
        """When that was started; None where there is no copy."""
        usable = self.usable
        return began(usable) if usable is not None else None

    @property
    def total(self) -> int:
        return self.good + self.partial


NO_COPIES = CopySummary()


def is_copy(backup: Backup) -> bool:
    """One that took not a single object is none: each namespace that it takes is an object itself."""
    progress = backup.status.progress
    is_empty = progress is not None and not (progress.total_items or progress.items_backed_up)
    return backup.phase in USABLE and backup.metadata.deletion_timestamp is None and not is_empty


def summarized(backups: Iterable[Backup], coverage: Coverage) -> CopySummary:
    """The summary of backups that all take the same."""
    if coverage.extent is Extent.NONE:
        return NO_COPIES
    good: list[Backup] = []
    partial: list[Backup] = []
    is_whole = coverage.extent is Extent.ALL
    for backup in backups:
        (good if is_whole and backup.status.phase == "Completed" else partial).append(backup)
    ends = [backup.status.expiration or _NEVER for backup in good]
    return CopySummary(
        len(good),
        len(partial),
        _newest(good),
        _newest(partial),
        coverage,
        _known_end(min(ends, default=_NEVER)),
        _known_end(max(ends, default=_NEVER)),
        frozenset([(backup.metadata.namespace, backup.spec.storage_location) for backup in (*good, *partial)]),
    )


def merged(summaries: Iterable[CopySummary]) -> CopySummary:
    """The summary of all groups of backups that take a namespace."""
    copy_summaries = [summary for summary in summaries if summary.total]
    if len(copy_summaries) < 2:
        return copy_summaries[0] if copy_summaries else NO_COPIES
    good = [summary for summary in copy_summaries if summary.good]
    newest_partial = _newest(
        [summary.newest_partial for summary in copy_summaries if summary.newest_partial is not None]
    )
    lacking = next((summary for summary in copy_summaries if summary.newest_partial is newest_partial), NO_COPIES)
    return CopySummary(
        sum([summary.good for summary in copy_summaries]),
        sum([summary.partial for summary in copy_summaries]),
        _newest([summary.newest for summary in good if summary.newest is not None]),
        newest_partial,
        lacking.coverage if newest_partial is not None else _WHOLE,
        _known_end(min([summary.next_expiry or _NEVER for summary in good], default=_NEVER)),
        _known_end(max([summary.last_expiry or _NEVER for summary in good], default=_NEVER)),
        frozenset().union(*[summary.places for summary in copy_summaries]),
    )


def nab_copies(nabs: Iterable[NonAdminBackup]) -> CopySummary:
    """The copies that the NABs of a namespace report, for those who may not read the Backups."""
    copies = filter(is_copy, map(_reported, nabs))
    return merged(summarized((backup,), content_coverage(backup.spec)) for backup in copies)


def drills_of(backup: Backup) -> dict[str, DrillOutcome]:
    """By namespace; an annotation that cannot be read tells nothing."""
    text = backup.annotation(DRILLED)
    if not text:
        return {}
    try:
        written = msgspec.json.decode(text, type=dict[str, _WrittenDrill])
    except (ValueError, RecursionError):
        return {}
    return {
        name: DrillOutcome(drill.at, timedelta(seconds=drill.seconds), drill.failed)
        for name, drill in written.items()
        if FIRST_YEAR <= drill.at.year <= LAST_YEAR
    }


def drills_written(backup: Backup, namespace: str, outcome: DrillOutcome) -> str:
    """The annotation with one more outcome."""
    outcomes = {**drills_of(backup), namespace: outcome}
    return msgspec.json.encode(
        {
            name: _WrittenDrill(
                drill_outcome.at.replace(microsecond=0), int(drill_outcome.took.total_seconds()), drill_outcome.failed
            )
            for name, drill_outcome in outcomes.items()
        }
    ).decode()


def _reported(nab: NonAdminBackup) -> Backup:
    meta = Metadata(name=nab.velero.name or nab.name, namespace=nab.velero.namespace)
    # A tenant's location has another name at Velero.
    spec = replace(nab.spec.backup_spec, included_namespaces=(nab.namespace,), storage_location="")
    status = nab.velero.status
    return Backup(metadata=meta, spec=spec, status=status) if status is not None else Backup(metadata=meta, spec=spec)


def _newest(backups: list[Backup]) -> Backup | None:
    """By a look at the times alone, as far as these tell."""
    starts = [began(backup) for backup in backups]
    last = max(starts, default=None)
    return max([one for one, start in zip(backups, starts, strict=True) if start == last], key=_order, default=None)


def _order(backup: Backup) -> tuple[datetime, str, str]:
    """By when it began; of two that began together, always the same one is the newer."""
    return began(backup), backup.namespace, backup.name


def _known_end(end: datetime) -> datetime | None:
    return None if end == _NEVER else end


class CopyGroup(msgspec.Struct):
    """Backups of one server, in one of its storage locations, that take the same of the same namespaces."""

    filter: NamespaceFilter
    coverage: Coverage
    backups: dict[str, Backup] = msgspec.field(default_factory=dict)
    _summary: CopySummary | None = None
    """None until it is asked for; a new or renewed backup costs no look at the others."""

    @property
    def summary(self) -> CopySummary:
        if self._summary is None:
            self._summary = summarized(self.backups.values(), self.coverage) if self.backups else NO_COPIES
        return self._summary

    def add(self, backup: Backup) -> None:
        self.backups[backup.name] = backup
        if self._summary is not None:
            more = merged((self._summary, summarized((backup,), self.coverage)))
            self._summary = replace(more, coverage=self.coverage)

    def renew(self, before: Backup, after: Backup) -> None:
        """Another version of one that it has."""
        self.backups[after.name] = after
        summary = self._summary
        if summary is None or _facts(before) != _facts(after):
            self._summary = None
        elif summary.newest is not None and summary.newest.name == after.name:
            self._summary = replace(summary, newest=after)
        elif summary.newest_partial is not None and summary.newest_partial.name == after.name:
            self._summary = replace(summary, newest_partial=after)

    def remove(self, backup: Backup) -> None:
        self.backups.pop(backup.name, None)
        self._summary = None


def is_of_storage(backup: Backup) -> bool:
    """True if it was there before its object was: it may be a backup of another cluster.

    One that Velero has worked on here was written many times, whatever the clocks say; one that it read, once.
    """
    ended, written = backup.status.completion_timestamp, backup.metadata.generation
    return backup.created is not None and ended is not None and backup.created > ended and written < _WORKED_ON


def is_later(at: datetime | None, backup: Backup) -> bool:
    """True if something is of a time after the start of a backup, or may be: Velero's clock may be ahead."""
    return at is not None and at > submitted(backup)


def latest_start(backup: Backup) -> datetime | None:
    """The last moment at which it may have been started: Velero's clock may be behind, and it was not before it was."""
    started, created = backup.started, backup.created
    return started if started is None or created is None else max(started, created)


def group_key(backup: Backup, *, has_known_policy: bool) -> Hashable:
    return backup.namespace, backup.spec.storage_location, _content_key(backup.spec), has_known_policy


def _facts(backup: Backup) -> Hashable:
    """All of a copy that a summary of many is made from."""
    status, spec = backup.status, backup.spec
    return status.phase, backup.started, backup.created, status.expiration, spec.storage_location


def _content_key(spec: BackupSpec) -> Hashable:
    """The fields that decide which resources are taken; most templates have none of them."""
    selectors = (
        msgspec.json.encode((spec.label_selector, spec.or_label_selectors))
        if spec.label_selector is not None or spec.or_label_selectors
        else b""
    )
    return (
        spec.included_namespaces,
        spec.excluded_namespaces,
        spec.included_resources,
        spec.excluded_resources,
        spec.included_namespace_scoped_resources,
        spec.excluded_namespace_scoped_resources,
        spec.included_cluster_scoped_resources,
        spec.excluded_cluster_scoped_resources,
        spec.include_cluster_resources,
        resource_policy(spec),
        selectors,
    )
