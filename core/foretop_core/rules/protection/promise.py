"""What a schedule promises: how old its newest good backup may be."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretop_core.cron import CronSchedule


def should_have_by(parsed: CronSchedule, now: datetime, least: timedelta) -> datetime | None:
    """The run before the last one: a good backup should have been started by then, or since.

    One that is younger than `least` is recent enough, however often the schedule runs.
    """
    if parsed.every is not None:
        before = now - 2 * parsed.every
    elif (last := parsed.previous(now)) is None or (found := parsed.previous(last)) is None:
        return None
    else:
        before = found
    return min(before, now - least)
