"""What a schedule promises: how old its newest good backup may be."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretop_core.cron import CronSchedule
from foretop_core.models import Schedule
from foretop_core.rules.forecast import base_time


def promised_since(schedule: Schedule, parsed: CronSchedule, now: datetime, least: timedelta) -> datetime | None:
    """The run before the last one: a good backup should have been started by then, or since; always a run that was due.

    A backup younger than `least` is recent enough, however often the schedule runs. None where no such run has come
    since the schedule was created, unpaused or told to skip: what it missed before that, it does not owe.
    """
    begins = _promises_from(schedule, now)
    found = _run_before_last(schedule, parsed, now, least)
    return None if begins is None or found is None or found <= begins else found


def _run_before_last(schedule: Schedule, parsed: CronSchedule, now: datetime, least: timedelta) -> datetime | None:
    if parsed.every is not None:
        # Its runs lie a delay apart, and up to a minute more, so that one more is allowed for.
        base = base_time(schedule)
        until = min(now - 2 * parsed.every, now - least)
        return None if base is None else base + (until - base) // parsed.every * parsed.every
    last = parsed.previous(now)
    found = parsed.previous(last) if last is not None else None
    return parsed.previous(now - least) if found is not None and found > now - least else found


def _promises_from(schedule: Schedule, now: datetime) -> datetime | None:
    """When it was created, last unpaused as far as the API server knows, or last skipped; None where nothing tells.

    A moment that is yet to come, by a clock that is wrong, takes back no promise.
    """
    written = schedule.paused_field_set
    unpaused = None if schedule.spec.paused or written is None else written.time
    again = [at for at in (unpaused, schedule.status.last_skipped) if at is not None and at <= now]
    return None if schedule.created is None else max([schedule.created, *again])
