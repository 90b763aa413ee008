"""Durations and times in the few characters of a column, and the time zone in which those of an object are shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from enum import Enum

import msgspec

from foretop_core.cron import CronError
from foretop_core.models import Backup, CronJob, PreScaledCronJob, Schedule
from foretop_core.rules.cron_dialects import readings
from foretop_core.rules.humanize import zone_name

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
IN_SECONDS = timedelta(minutes=2)
"""What is nearer than this is counted down by the second."""


def short(length: timedelta) -> str:
    """`20s`, `41m`, `1h41m`, `1d3h`, `3d`: never more than a column wants to know; nothing is negative."""
    seconds = max(0, int(length.total_seconds()))
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m"
    if seconds < _DAY:
        return _pair(seconds // _HOUR, "h", seconds % _HOUR // _MINUTE, "m")
    if seconds < 2 * _DAY:
        return _pair(1, "d", seconds % _DAY // _HOUR, "h")
    return f"{seconds // _DAY}d"


def took(length: timedelta) -> str:
    """`4m2s`: as `short`, with the seconds of what took less than ten minutes."""
    seconds = int(length.total_seconds())
    if _MINUTE <= seconds < 10 * _MINUTE and seconds % _MINUTE:
        return f"{seconds // _MINUTE}m{seconds % _MINUTE}s"
    return short(length)


def until(length: timedelta) -> str:
    """`in 23h48m`."""
    return f"in {short(length)}"


def countdown(left: timedelta) -> str:
    """`57s`, `1m57s`, `4m`, `1h21m`, `6d`: seconds only below two minutes; what is past is `due`."""
    seconds = int(left.total_seconds())
    if seconds < 0:
        return "due"
    if left < IN_SECONDS:
        return took(left)
    return short(left) if seconds < _DAY else f"{seconds // _DAY}d"


def age(since: datetime | None, now: datetime) -> str:
    return "" if since is None else short(now - since)


def minute(at: datetime, zone: tzinfo = UTC, *, named: bool = False) -> str:
    """`02:46`, or `03:46 CET`."""
    local = at.astimezone(zone)
    return f"{local:%H:%M}{zone_name(local) if named else ''}"


def time_of_day(at: datetime | None, now: datetime, zone: tzinfo = UTC, *, named: bool = False) -> str:
    """`02:00:03` today, `Sat 22:00` within a day, then `12 Nov`, then `2025-11-12`.

    A time of another day is never without its day. The name of the zone is with it where asked for.
    """
    if at is None:
        return ""
    shown, today = at.astimezone(zone), now.astimezone(zone)
    zone_word = zone_name(shown) if named else ""
    if shown.date() == today.date():
        return f"{shown:%H:%M:%S}{zone_word}"
    if abs(now - at) < timedelta(days=1):
        return f"{shown:%a %H:%M}{zone_word}"
    return f"{shown.day} {shown:%b}" if shown.year == today.year else shown.date().isoformat()


def _pair(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


class TimeZoneMode(Enum):
    UTC = "UTC"
    MINE = "mine"
    EXPRESSION = "the expression's"


class TimeZoneSetting(msgspec.Struct, frozen=True):
    """The zone that a person asked for; `zone` is that of whatever has no cron expression of its own."""

    told: TimeZoneMode = TimeZoneMode.UTC
    zone: tzinfo = UTC

    @property
    def is_named(self) -> bool:
        """Beside a short time stands its zone, because it is not what the clusters write."""
        return self.told is not TimeZoneMode.UTC

    def following(self, mine: tzinfo) -> TimeZoneSetting:
        """UTC, mine, the expression's, and round again."""
        match self.told:
            case TimeZoneMode.UTC:
                return TimeZoneSetting(TimeZoneMode.MINE, mine)
            case TimeZoneMode.MINE:
                return TimeZoneSetting(TimeZoneMode.EXPRESSION)
            case TimeZoneMode.EXPRESSION:
                return TimeZoneSetting()

    def of(self, resource: object, schedule_of: Callable[[Backup], Schedule | None]) -> tzinfo:
        """A backup has the zone of the schedule that made it, as long as that is there."""
        if self.told is not TimeZoneMode.EXPRESSION:
            return self.zone
        owner = schedule_of(resource) if isinstance(resource, Backup) and resource.schedule_name else resource
        return zone_of_expression(expression_of(owner)) or self.zone


IN_UTC = TimeZoneSetting()


def expression_of(resource: object) -> str:
    """With the zone that stands beside it; "" for what has none."""
    match resource:
        case Schedule():
            return resource.spec.schedule
        case CronJob():
            return resource.spec.expression
        case PreScaledCronJob():
            return resource.spec.cron_job.spec.expression
        case _:
            return ""


def zone_of_expression(text: str) -> tzinfo | None:
    """None where it names none, which to Velero and Kubernetes is UTC."""
    if not text.startswith(("TZ=", "CRON_TZ=")):
        return None
    parsed = (reading.parsed for reading in readings(text))
    return next((cron.zone for cron in parsed if not isinstance(cron, CronError)), None)
