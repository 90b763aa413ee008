"""The exact primed schedule, or the nearest one that misses no run."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect, parse
from foretop_core.cron.fields import HOUR
from foretop_core.cron.zones import has_daylight_saving
from foretop_core.models.builtin_kinds import MOST_WARM_UP_MINUTES
from foretop_core.rules import humanize
from foretop_core.rules.primer.cron_text import time_fields
from foretop_core.rules.primer.errors import PrimerError
from foretop_core.rules.primer.missed_warmups import (
    FIRST_DAY,
    LAST_DAY,
    MINUTES_A_DAY,
    minutes_of_day,
    missed_and_extra,
)
from foretop_core.rules.primer.moved_days import moved_days
from foretop_core.rules.primer.prescaler_emulation import is_always_warm

_MOST_KEPT = 256


@lru_cache(_MOST_KEPT)
def primer_advice(text: str, minutes: int) -> str:
    """In a sentence or two; kept, because working it out looks eight years ahead."""
    if is_always_warm(text):
        return "It runs every minute and needs no warm-up: use a plain CronJob instead."
    try:
        primed = prime(text, minutes, Dialect.ROBFIG).expressions
    except PrimerError as error:
        return f"It cannot be primed: {error}. Change spec.cronJob.spec.schedule."
    if len(primed) == 1:
        return f"Set spec.primerSchedule to {primed[0]!r}."
    written = humanize.join([repr(one) for one in primed], len(primed))
    return (
        f"Its warm-ups need {len(primed)} expressions: {written}. spec.primerSchedule takes one: split it into "
        f"{len(primed)} PreScaledCronJobs."
    )


# Deferred imports: croniter is needed only where an expression is primed.

MOST_MINUTES = MOST_WARM_UP_MINUTES
_CHECK_FROM = datetime(2024, 1, 1, tzinfo=UTC)
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


class Primed(msgspec.Struct, frozen=True):
    """Expressions that fire before every run; `exact` if they fire at no other time."""

    expressions: tuple[str, ...]
    exact: bool
    note: str
    extra_in_8_years: int


class Pair(msgspec.Struct, frozen=True):
    """A run and its warm-up."""

    warmup: datetime
    run: datetime


def prime(text: str, minutes: int, dialect: Dialect) -> Primed:
    """The smallest set of expressions that fires the given minutes before each run.

    The dialect is that of the schedule to prime; the expressions are for CronJobs, which have their own.
    """
    schedule = _primable(text, minutes, dialect)
    bare, exact = _moved(schedule, minutes)
    _validate(bare)
    extra = 0
    notes = []
    if not exact:
        _, extra = missed_and_extra(schedule.fields, [_for_cron_job(one).fields for one in bare], minutes)
        counted = "one warm-up" if extra == 1 else f"{extra} warm-ups"
        notes.append(f"no set of cron expressions is exact here: {counted} too many in eight years, none missed")
    if _off_at_changes(schedule):
        exact = False
        notes.append(
            f"{schedule.zone} has daylight saving: around a clock change, a warm-up may be missing or "
            "come too early or too late for its run"
        )
    # The plain zone name: a CronJob does not accept quotes around it.
    prefix = "" if schedule.zone is None else f"{text[: text.index('=') + 1]}{schedule.zone} "
    return Primed(tuple(prefix + one for one in bare), exact, "; ".join(notes), extra)


def warmups(text: str, minutes: int, dialect: Dialect, after: datetime, count: int) -> tuple[Pair, ...]:
    """The next warm-ups and their runs, computed from the runs themselves: correct in every zone."""
    schedule = _parsed(text, dialect)
    ahead = timedelta(minutes=minutes)
    start = after.astimezone(UTC)
    if schedule.every is None:
        start += ahead
    else:
        # A constant delay counts from the given time, so only whole delays may be skipped.
        start += ahead // schedule.every * schedule.every
    runs = islice(schedule.between(start.astimezone(after.tzinfo), _END_OF_TIME), count)
    return tuple(Pair((run.astimezone(UTC) - ahead).astimezone(after.tzinfo), run) for run in runs)


def _parsed(text: str, dialect: Dialect) -> CronSchedule:
    try:
        return parse(text, dialect)
    except CronError as error:
        raise PrimerError("the schedule does not parse", str(error)) from error


def _for_cron_job(text: str) -> CronSchedule:
    return parse(text, Dialect.ROBFIG)


def _primable(text: str, minutes: int, dialect: Dialect) -> CronSchedule:
    schedule = _parsed(text, dialect)
    if not 0 <= minutes <= MOST_MINUTES:
        raise PrimerError(f"cannot warm up {minutes} minutes ahead", f"use 0 to {MOST_MINUTES}")
    if schedule.every is not None:
        raise PrimerError(f"cannot prime {text}", "it counts from its last run, which a cron expression cannot express")
    if schedule.never_fires:
        raise PrimerError(
            f"cannot prime {text}",
            "it never fires, so there is no run to warm up for; Velero takes a schedule like that for always due and "
            "starts a backup almost every minute",
        )
    return schedule


def _moved(schedule: CronSchedule, minutes: int) -> tuple[list[str], bool]:
    """The primed expressions without a zone, and whether they are exact."""
    fields = schedule.fields
    days, rest = divmod(minutes, MINUTES_A_DAY)
    times = minutes_of_day(fields)
    same = moved_days(fields, days)
    before = moved_days(fields, days + 1)
    on_the_day = times >> rest
    the_day_before = (times & ((1 << rest) - 1)) << (MINUTES_A_DAY - rest)
    if same.texts == before.texts:
        on_the_day, the_day_before = on_the_day | the_day_before, 0
    bare: list[str] = []
    exact = True
    for part, groups in ((on_the_day, same), (the_day_before, before)):
        if part:
            exact &= groups.exact
            bare += [f"{time} {day}" for day in groups.texts for time in time_fields(part)]
    return bare, exact


def _validate(expressions: list[str]) -> None:
    """A check that a second, independent library finds the same first run."""
    # Imported here because it is slow to load and most sessions never prime.
    from croniter import croniter

    for expression in expressions:
        expected = _for_cron_job(expression).next(_CHECK_FROM)
        found = croniter(expression, _CHECK_FROM).get_next(datetime) if croniter.is_valid(expression) else None
        if found is None or found != expected:
            raise PrimerError(f"the primed schedule {expression} failed its check", f"{found} is not {expected}")


def _off_at_changes(schedule: CronSchedule) -> bool:
    """Whether a change of the zone's clocks can lie between warm-up and run; runs in every hour are not affected."""
    zone = schedule.zone
    if zone is None or zone is UTC:
        return False
    if schedule.fields.hour == HOUR.full and moved_days(schedule.fields, 1).texts == ("* * *",):
        return False
    return any(has_daylight_saving(zone, year) for year in range(FIRST_DAY.year, LAST_DAY.year + 1))
