"""The protection of one namespace: what covers it, which copies it has, and which its schedules promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.models import BackupRepository, NonAdminBackup, Schedule
from foretop_core.rules.forecast import base_time
from foretop_core.rules.protection.copies import NO_COPIES, CopySummary, DrillOutcome, Place, merged
from foretop_core.rules.protection.coverage import Coverage, Extent, VolumeMethod

RECENT_ENOUGH = timedelta(minutes=30)
"""A good copy younger than this is recent enough, however often a schedule runs."""
RanBefore: TypeAlias = Callable[[datetime], datetime | None]
"""The last moment before another at which a schedule is known to have run; None where nothing tells."""
NOTHING = Coverage(Extent.NONE)
_KEPT = 256


class NamespaceCover(msgspec.Struct, frozen=True):
    """A schedule that takes a namespace: how much of it, how its volumes, and when next."""

    schedule: Schedule
    coverage: Coverage
    volumes: VolumeMethod
    parsed: CronSchedule | None
    """None where Velero refuses the expression, or it is open how it reads it."""
    next_run: datetime | None
    is_active: bool
    """Whether it makes backups by itself."""
    is_refused: bool = False
    """Whether Velero refuses it: it takes nothing until it is corrected."""


class SharedProtection(msgspec.Struct, frozen=True, eq=False):
    """The protection that namespaces share when the same filters take them: one value for thousands of them."""

    covers: tuple[NamespaceCover, ...]
    copies: CopySummary
    groups: tuple[CopySummary, ...]
    """The same copies in parts, each in one storage location."""
    restored: datetime | None
    coverage: Coverage
    volumes: VolumeMethod | None


@dataclass(frozen=True, slots=True)
class NamespaceProtection:
    """All that is known of the protection of one namespace; it does not depend on the time."""

    namespace: str
    exists: bool | None
    """None where the namespaces of the cluster may not be listed."""
    covers: tuple[NamespaceCover, ...]
    copies: CopySummary
    """Those in storage locations that Velero can use; where there is none, those that it cannot reach."""
    nabs: int = 0
    newest_nab: NonAdminBackup | None = None
    unavailable: tuple[str, ...] = ()
    """The storage locations of its copies that Velero cannot use."""
    lost: CopySummary = NO_COPIES
    """The copies in those."""
    reachable: bool = True
    """False where it has copies and all of them are in such a location."""
    repositories: tuple[BackupRepository, ...] = ()
    unready: tuple[BackupRepository, ...] = ()
    """Those of the repositories that Velero cannot use, in a location that its copies are in or will be."""
    restored: datetime | None = None
    drill: DrillOutcome | None = None
    coverage: Coverage = NOTHING
    """How much its schedules and NABs take: the most that one of them does."""
    volumes: VolumeMethod | None = None
    """How its volumes are covered; None where nothing covers it."""
    next_cover: NamespaceCover | None = None
    """The schedule whose run is the next that can make a copy, or the next to be refused where all are; None: none."""
    is_next_refused: bool = False
    """Whether Velero refuses that run, because of where the copy would be kept or what its template names."""
    created: datetime | None = None
    """None where it is gone, or was not seen."""

    @property
    def out_of_reach(self) -> int:
        """How many of its good copies are out of reach, or of the partial ones where it has no good one."""
        return self.lost.good if self.copies.good or self.lost.good else self.lost.partial

    @property
    def next_run(self) -> datetime | None:
        """The next run that can make a copy; None where there is none."""
        return None if self.next_cover is None or self.is_next_refused else self.next_cover.next_run

    @property
    def is_covered(self) -> bool:
        """True if a schedule that Velero accepts takes it, paused or not."""
        return any(not cover.is_refused for cover in self.covers)

    @property
    def is_paused(self) -> bool:
        """True if all schedules that would back it up are paused; none would where it is gone."""
        return (
            self.exists is not False
            and self.is_covered
            and all(cover.is_refused or cover.schedule.spec.paused for cover in self.covers)
        )


@lru_cache(_KEPT)
def parted(shared: SharedProtection, unusable: frozenset[Place]) -> tuple[CopySummary, CopySummary]:
    """The copies in reach, and those in locations that Velero cannot use."""
    return (
        merged(summary for summary in shared.groups if not summary.places <= unusable),
        merged(summary for summary in shared.groups if summary.places <= unusable),
    )


def widest(found: Iterable[Coverage]) -> Coverage:
    """The coverage that takes most of a namespace."""
    by_extent = {coverage.extent: coverage for coverage in reversed(tuple(found))}
    return next((by_extent[extent] for extent in Extent if extent in by_extent), NOTHING)


def best_method(found: Iterable[VolumeMethod]) -> VolumeMethod | None:
    methods = set(found)
    return next((method for method in VolumeMethod if method in methods), None)


def promised_since(
    schedule: Schedule, parsed: CronSchedule, now: datetime, least: timedelta, ran_before: RanBefore
) -> datetime | None:
    """The run before the last one: a good backup should have been started by then, or since; always a run that was due.

    A backup younger than `least` is recent enough, however often the schedule runs. What it missed while it was paused
    or told to skip it does not owe; what it owed before that, as far as it is known to have run, it still does.
    """
    for begins, ends in reversed(_promising_spans(schedule, now, ran_before)):
        run = _run_before_last(schedule, parsed, ends, least)
        if run is not None and run > begins:
            return run
    return None


def late_from(
    schedule: Schedule,
    parsed: CronSchedule,
    newest: datetime,
    now: datetime,
    least: timedelta,
    ran_before: RanBefore,
) -> datetime | None:
    """When a copy that was started at `newest` is first older than promised, before or after `now`; None for never.

    One run may fail to make a copy: from the second run after the newest copy on, that is older than promised.
    """
    spans = _promising_spans(schedule, now, ran_before)
    for begins, ends in spans:
        late = _second_run_after(schedule, parsed, max(newest, begins), least)
        if late is None or late <= ends or (begins, ends) == spans[-1]:
            return late
    return None


def _second_run_after(schedule: Schedule, parsed: CronSchedule, after: datetime, least: timedelta) -> datetime | None:
    if (every := parsed.every) is not None:
        base = base_time(schedule)
        with suppress(OverflowError):
            return None if base is None else base + ((after - base) // every + 1) * every + max(2 * every, least)
        return None
    missed = parsed.next(after)
    following = parsed.next(missed) if missed is not None else None
    return None if missed is None or following is None else max(following, missed + least)


def _run_before_last(schedule: Schedule, parsed: CronSchedule, now: datetime, least: timedelta) -> datetime | None:
    if parsed.every is not None:
        # Its runs lie a delay apart, and up to a minute more, so that one more is allowed for.
        base = base_time(schedule)
        # A delay may be 292 years, and what a schedule says of itself may be of any.
        with suppress(OverflowError):
            until = min(now - 2 * parsed.every, now - least)
            return None if base is None else base + (until - base) // parsed.every * parsed.every
        return None
    last = parsed.previous(now)
    before = parsed.previous(last) if last is not None else None
    return parsed.previous(now - least) if before is not None and before > now - least else before


def _promising_spans(schedule: Schedule, now: datetime, ran_before: RanBefore) -> list[tuple[datetime, datetime]]:
    """The stretches in which it is known to have run, oldest first, the last of them up to now; none where it is open.

    They begin when it was created, unpaused as far as the API server knows, and skipped. A moment that is yet to come,
    by a clock that is wrong, takes back no promise.
    """
    if schedule.created is None:
        return []
    written, skipped = schedule.paused_field_set, schedule.status.last_skipped
    unpaused = None if schedule.spec.paused or written is None else written.time
    begins = [
        schedule.created,
        *sorted(moment for moment in {unpaused, skipped} if moment is not None and moment <= now),
    ]
    spans = []
    for begin, again in pairwise(begins):
        # How long the pause before it was unpaused lasted, nothing tells.
        end = again if begin == unpaused else ran_before(again)
        if end is not None:
            spans.append((begin, end))
    return [*spans, (max(begins), now)]
