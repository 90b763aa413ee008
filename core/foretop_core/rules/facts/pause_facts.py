"""What is said of several schedules that are paused, or about to be: counted once, for Triage, header and dialogs."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from foretop_core.models import Schedule
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import Choice, ScheduleFacts, schedule_facts
from foretop_core.rules.forecast import GRACE
from foretop_core.rules.pause_windows import PauseWindow, pause_note, pause_windows, window_line
from foretop_core.rules.snapshot import ClusterSnapshot

__all__ = [
    "PauseSummary",
    "PauseWindow",
    "UnpauseCounts",
    "count_unpause",
    "next_to_be_missed",
    "pause_note",
    "pause_summary",
    "pause_windows",
    "skipped_ages",
    "window_line",
]

_NEVER = datetime.max.replace(tzinfo=UTC)


class UnpauseCounts(msgspec.Struct, frozen=True):
    """Of some schedules, how many start a backup at once, how many skip the run that is due, and how many do neither.

    A run that is due is started, skipped, refused because its storage cannot be used, or waits for a backup of the
    same schedule that has not ended.
    """

    at_once: int = 0
    skipped: int = 0
    held: int = 0
    not_due: int = 0
    refused: int = 0

    @property
    def due(self) -> int:
        return self.at_once + self.skipped + self.held + self.refused

    @property
    def started(self) -> str:
        """The fate of the due runs that are not skipped: `1 backup would start at once, 1 be created and refused`."""
        starts = humanize.count(self.at_once, "backup") if self.at_once else "no backup"
        refused = f", {self.refused} be created and refused" if self.refused else ""
        held = f", {self.held} start after a running backup" if self.held else ""
        return f"{starts} would start at once{refused}{held}"


class PauseSummary(msgspec.Struct, frozen=True):
    """How many schedules of a cluster are paused, how many of those are overdue, and which window should have ended."""

    total: int = 0
    paused: int = 0
    overdue: int = 0
    overrun: timedelta | None = None
    """How long ago the first of its windows should have ended; None where none should have."""
    in_overrun: int = 0
    """How many schedules are in such windows."""
    windows: tuple[PauseWindow, ...] = ()
    """Those that have time left, the one that ends first in front; one without an end comes last."""
    unheld: int = 0
    """How many of the overdue ones are in no such window: nobody has said that they may miss their runs."""

    @property
    def needs_attention(self) -> bool:
        return self.overdue > 0 or self.overrun is not None


def pause_summary(snapshot: ClusterSnapshot, now: datetime, grace: timedelta = GRACE) -> PauseSummary:
    """Costs a look at each paused schedule."""
    paused = [item for item in snapshot.schedules if item.spec.paused]
    windows = pause_windows(paused)
    late = [(window, by) for window in windows if (by := window.overrun(now)) is not None]
    still_open = sorted((one for one in windows if one.overrun(now) is None), key=lambda one: one.pause.until or _NEVER)
    held = {(item.namespace, item.name) for window in still_open if window.pause.until for item in window.schedules}
    overdue = [item for item in paused if schedule_facts(snapshot, item, now, grace).is_overdue_pause]
    return PauseSummary(
        len(snapshot.schedules),
        len(paused),
        len(overdue),
        max((by for _, by in late), default=None),
        sum(len(window.schedules) for window, _ in late),
        tuple(still_open),
        sum((item.namespace, item.name) not in held for item in overdue),
    )


def count_unpause(schedules: Iterable[ScheduleFacts], choice: Choice) -> UnpauseCounts:
    at_once = skipped = held = not_due = refused = 0
    for facts in schedules:
        forecast = facts.unpausing(choice)
        if not facts.may_be_due:
            not_due += 1
        elif forecast.at_once and forecast.refusal:
            refused += 1
        elif forecast.at_once:
            at_once += 1
        elif forecast.skips:
            skipped += 1
        else:
            held += 1
    return UnpauseCounts(at_once, skipped, held, not_due, refused)


def skipped_ages(schedules: Iterable[ScheduleFacts], choice: Choice) -> list[tuple[Schedule, timedelta]]:
    """Of schedules whose due run the choice skips, how old the newest good backup is at the next run."""
    found = []
    for facts in schedules:
        forecast, good = facts.unpausing(choice), facts.newest_good
        if not forecast.skips or forecast.next_run is None or good is None or good.started is None:
            continue
        if facts.may_be_due:
            found.append((facts.schedule, forecast.next_run - good.started))
    return found


def next_to_be_missed(schedules: Iterable[ScheduleFacts]) -> tuple[Schedule, datetime] | None:
    """Of schedules that are about to be paused, the one whose run comes first; None where none of them has one."""
    coming = [
        (max(run, facts.now), facts.schedule)
        for facts in schedules
        if (run := facts.by_reading[-1].next_run) is not None
    ]
    first = min(coming, key=lambda one: (one[0], one[1].name), default=None)
    return (first[1], first[0]) if first else None
