"""An overdue run, and why it has not started."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum

import msgspec

from foretop_core.cron import Dialect
from foretop_core.models import Backup, Schedule
from foretop_core.rules.forecast.next_run_time import blocker, invalid, is_due, next_run
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.rules.sentences import Text, sentence

GRACE = timedelta(minutes=2)
"""A run is due for up to a minute before Velero looks; only after two is it overdue."""


class DelayReason(StrEnum):
    """Why a due run has not been started."""

    INVALID = "invalid"
    PAUSED = "paused"
    NEVER_FIRES = "never fires"
    BLOCKED = "blocked"
    NO_PULSE = "no pulse"
    UNKNOWN = "unknown"


class Overdue(msgspec.Struct, frozen=True):
    """A run that should have been made."""

    since: datetime
    reason: DelayReason
    sentence: Text
    blocker: Backup | None = None


def overdue(
    schedule: Schedule,
    now: datetime,
    dialect: Dialect,
    beat: Heartbeat,
    backups: Iterable[Backup] = (),
    zone: tzinfo = UTC,
    grace: timedelta = GRACE,
) -> Overdue | None:
    """The run that was due longer ago than Velero needs, and what keeps it; None where all is well."""
    if (problem := invalid(schedule, dialect)) and not schedule.spec.paused:
        since = schedule.created or now
        return Overdue(since, DelayReason.INVALID, f"Velero refuses the schedule: {problem}")
    if not is_due(schedule, now, dialect, zone):
        return None
    run = next_run(schedule, dialect, zone)
    if run is None:
        since = schedule.status.last_backup or schedule.created or now
        why = "the expression never fires, and Velero treats it as always due"
        return Overdue(since, DelayReason.NEVER_FIRES, why)
    if now - run <= grace:
        return None
    if schedule.spec.paused:
        return Overdue(run, DelayReason.PAUSED, "the schedule is paused")
    held = blocker(schedule, backups)
    if held and held.created and run <= held.created and now - held.created <= grace:
        return None
    if held:
        return Overdue(run, DelayReason.BLOCKED, _blocked(held, now), held)
    if silence := beat.silence(now):
        return Overdue(run, DelayReason.NO_PULSE, silence)
    return Overdue(run, DelayReason.UNKNOWN, "no visible cause: check the log of the Velero server")


def _blocked(held: Backup, now: datetime) -> Text:
    since = held.started or held.created
    length = sentence(" for ", now - since) if since else ""
    phase = held.phase or "New"
    return sentence(
        f"{held.name} has been {phase}", length, ", and Velero does not start a second backup of the same schedule"
    )
