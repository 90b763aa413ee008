"""The time zone in which the times of an object are shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, tzinfo
from enum import Enum

import msgspec

from foretop_core.cron import CronError
from foretop_core.models import Backup, CronJob, PreScaledCronJob, Schedule
from foretop_core.rules.cron_dialects import readings


class TimeZoneMode(Enum):
    UTC = "UTC"
    MINE = "mine"
    EXPRESSION = "the expression's"


class TimeZoneSetting(msgspec.Struct, frozen=True):
    """What a person asked for; `zone` is that of whatever has no cron expression of its own."""

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
    return next((one.zone for one in parsed if not isinstance(one, CronError)), None)
