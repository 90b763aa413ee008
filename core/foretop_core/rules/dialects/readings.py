"""How the dialects read one expression, and whether they read it alike."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import islice

from foretop_core.cron import CronError, CronSchedule, Dialect, Fields, parse
from foretop_core.cron.calendar import day_masks
from foretop_core.cron.zones import clock_changes
from foretop_core.rules.dialects.releases import ALL_DIALECTS, releases_of

_REMEMBERED = 60_000
_COMPARED_YEARS = range(2025, 2029)
"""Rules of daylight saving repeat from year to year: four tell."""


def expression(text: str, dialect: Dialect) -> CronSchedule | CronError:
    """The parsed expression, or why it does not parse; remembered."""
    return _expression(text, dialect)


@lru_cache(maxsize=_REMEMBERED)
def _expression(text: str, dialect: Dialect) -> CronSchedule | CronError:
    # Under a name of its own: a function behind a cache takes any arguments in the eyes of the type checker.
    try:
        return parse(text, dialect)
    except CronError as problem:
        return problem


@dataclass(frozen=True, slots=True)
class Reading:
    """What an expression means to the servers of some releases, which all read it alike."""

    dialects: tuple[Dialect, ...]
    parsed: CronSchedule | CronError

    @property
    def dialect(self) -> Dialect:
        """The newest of them, which stands for all."""
        return self.dialects[-1]

    @property
    def releases(self) -> str:
        return releases_of(self.dialects)

    @property
    def meaning(self) -> str:
        """In plain English, what the expression does on those servers."""
        if isinstance(self.parsed, CronError):
            return f"refused: {self.parsed}"
        return (
            "never fires, so Velero starts a backup every minute" if self.parsed.never_fires else self.parsed.describe()
        )


def readings(text: str, dialects: tuple[Dialect, ...] = ALL_DIALECTS) -> tuple[Reading, ...]:
    """The different readings among these dialects, that of the oldest first; one where they all agree."""
    return _readings(text, dialects)


@lru_cache(maxsize=_REMEMBERED)
def _readings(text: str, dialects: tuple[Dialect, ...]) -> tuple[Reading, ...]:
    groups: list[list[Dialect]] = []
    for dialect in dialects:
        for group in groups:
            if alike(expression(text, group[0]), expression(text, dialect)):
                group.append(dialect)
                break
        else:
            groups.append([dialect])
    return tuple(Reading(tuple(group), expression(text, group[-1])) for group in groups)


def differences(text: str, known: tuple[Dialect, ...] = ()) -> str:
    """One sentence about releases that read an expression otherwise than those that are known; "" for none."""
    found = readings(text)
    others = [one for one in found if not set(known) & set(one.dialects)] if known else list(found)
    if len(found) == 1 or not others:
        return ""
    return "Other releases read it differently: " + "; ".join(f"{one.releases}: {one.meaning}" for one in others) + "."


def alike(one: CronSchedule | CronError, other: CronSchedule | CronError) -> bool:
    """Whether both are refused, in whatever words, or both run at the same times."""
    if isinstance(one, CronError) or isinstance(other, CronError):
        return isinstance(one, CronError) and isinstance(other, CronError)
    if one.never_fires or other.never_fires:
        return one.never_fires and other.never_fires
    if one.every is not None or other.every is not None:
        return one.every == other.every
    if one.zone != other.zone or _wall_times(one.fields) != _wall_times(other.fields):
        return False
    return one.zone is None or all(
        _runs_around(one, change) == _runs_around(other, change) for change in clock_changes(one.zone, _COMPARED_YEARS)
    )


def _wall_times(fields: Fields) -> tuple[int, int, int, tuple[int, ...]]:
    return fields.minute, fields.hour, fields.month, day_masks(fields)


def _runs_around(schedule: CronSchedule, change: datetime) -> tuple[list[datetime], list[datetime]]:
    """Every run within hours of a change of the clocks, and the first ones of a search that began the day before."""
    near = schedule.between(change - timedelta(hours=2), change + timedelta(hours=3))
    return list(near), list(islice(schedule.between(change - timedelta(hours=26), change + timedelta(hours=26)), 60))
