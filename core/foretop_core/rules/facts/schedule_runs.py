"""The last runs of a schedule, each by a sign: what was made and how it went, what was not made, and pauses."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import islice

import msgspec

from foretop_core.cron import CronSchedule
from foretop_core.models import Backup, Schedule
from foretop_core.rules.cron_dialects import Reading
from foretop_core.rules.facts.schedule_facts import ScheduleFacts
from foretop_core.rules.phases import WAITING
from foretop_core.rules.schedule_history import submitted

SHOWN_RUNS = 10
NOT_MADE, PAUSED = "_", "‖"
RUN_WORDS = {
    ".": "good",
    "w": "warnings",
    "P": "partly failed",
    "F": "failed",
    "V": "refused",
    NOT_MADE: "not made",
    PAUSED: "paused",
    "o": "waiting",
    "~": "running",
}
"""The signs of a strip of runs, in words."""
_LETTERS = {"PartiallyFailed": "P", "Failed": "F", "FailedValidation": "V", "Deleting": "."}


class ExpectedRun(msgspec.Struct, frozen=True):
    """A run that was expected, by its sign in a strip; None where it was not made, or prevented by a pause."""

    letter: str
    backup: Backup | None = None


def run_letter(run: Backup) -> str:
    if run.phase == "Completed":
        return "w" if run.status.warnings else "."
    return "o" if run.phase in WAITING else _LETTERS.get(run.phase, "~")


def past_runs(
    schedule: Schedule, readings: tuple[Reading, ...], runs: tuple[Backup, ...], most: int
) -> tuple[ExpectedRun, ...]:
    """The last runs up to the newest backup, oldest first; one that was not made stands between those that were.

    What was not made because somebody had paused the schedule is one sign, however long that took. Only the last
    pause is known, and the last one that ended with a skip: of an earlier gap nothing tells why it is there, so that
    it is one sign too.
    """
    last, field = runs[:most][::-1], schedule.paused_field_set
    pauses = [
        unpaused_at
        for unpaused_at in (field.time if field is not None else None, schedule.status.last_skipped)
        if unpaused_at is not None
    ]
    expected: list[ExpectedRun] = []
    for earlier, run in zip([None, *last], last, strict=False):
        if earlier is not None:
            begin, end = submitted(earlier), submitted(run)
            missed = sum(1 for _ in islice(_expected(readings, begin, end), most + 1)) - 1
            was_paused = any(begin < unpaused_at <= end for unpaused_at in _pause_ends(schedule))
            is_known = not pauses or begin >= max(pauses)
            signs = [PAUSED] * (missed > 0) if was_paused else [NOT_MADE] * (missed if is_known else missed > 0)
            expected += map(ExpectedRun, signs)
        expected.append(ExpectedRun(run_letter(run), run))
    return tuple(expected)


def runs_since(facts: ScheduleFacts) -> tuple[ExpectedRun, ...]:
    """The runs expected after the newest backup and not made: a pause, then a run that is overdue."""
    schedule = facts.schedule
    newest = submitted(facts.runs[0]) if facts.runs else None
    ends = (facts.now,) if schedule.spec.paused else _pause_ends(schedule)
    paused = newest is not None and any(True for end in ends for _ in _expected(facts.readings, newest, end))
    late = None if schedule.spec.paused else facts.overdue
    not_made = late is not None and late.has_time
    return tuple(map(ExpectedRun, [PAUSED] * paused + [NOT_MADE] * not_made))


def _expected(readings: tuple[Reading, ...], after: datetime, until: datetime) -> Iterable[datetime]:
    """The runs that an expression has in a span; none where that cannot be told."""
    parsed = readings[0].parsed if len(readings) == 1 else None
    return parsed.between(after, until) if isinstance(parsed, CronSchedule) and parsed.every is None else ()


def _pause_ends(schedule: Schedule) -> tuple[datetime, ...]:
    """When pauses of it ended, as far as is known: the API server has the last change, and Velero the last skip."""
    written = schedule.paused_field_set
    unpaused = None if schedule.spec.paused or written is None else written.time
    return tuple(end for end in (unpaused, schedule.status.last_skipped) if end is not None)
