"""The exact primed schedule, or the nearest one that misses no run; what the prescaler makes of it instead.

Both are compared with the runs as bits, a minute each, of the years 2021 to 2028 in UTC.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect, Fields, parse
from foretop_core.cron.fields import DOM, DOW, HOUR, MONTH, listed, minutes_of_day, time_fields
from foretop_core.cron.wall_clock_calendar import day_masks, first_weekday, month_length
from foretop_core.cron.zones import has_daylight_saving
from foretop_core.errors import BadInput
from foretop_core.models.builtin_kinds import MOST_WARM_UP_MINUTES
from foretop_core.rules.prescaler import PrescalerError, prescaler

# Deferred imports: croniter is needed only where an expression is primed.

_FIRST_DAY = date(2021, 1, 1)
_LAST_DAY = date(2028, 12, 31)
_MINUTES_A_DAY = 1440
_DAY_BYTES = _MINUTES_A_DAY // 8
_CHECK_FROM = datetime(2024, 1, 1, tzinfo=UTC)
_END_OF_TIME = datetime.max.replace(tzinfo=UTC)


class PrimerError(BadInput):
    """A schedule without a primed schedule."""


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
        _, extra = _missed_and_extra(schedule.fields, [_for_cron_job(cron).fields for cron in bare], minutes)
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
    return Primed(tuple(prefix + cron for cron in bare), exact, "; ".join(notes), extra)


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
    if not 0 <= minutes <= MOST_WARM_UP_MINUTES:
        raise PrimerError(f"cannot warm up {minutes} minutes ahead", f"use 0 to {MOST_WARM_UP_MINUTES}")
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
    days, rest = divmod(minutes, _MINUTES_A_DAY)
    times = minutes_of_day(fields)
    same = moved_days(fields, days)
    before = moved_days(fields, days + 1)
    on_the_day = times >> rest
    the_day_before = (times & ((1 << rest) - 1)) << (_MINUTES_A_DAY - rest)
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
        moment = croniter(expression, _CHECK_FROM).get_next(datetime) if croniter.is_valid(expression) else None
        if moment is None or moment != expected:
            raise PrimerError(f"the primed schedule {expression} failed its check", f"{moment} is not {expected}")


def _off_at_changes(schedule: CronSchedule) -> bool:
    """True if a change of the zone's clocks can lie between warm-up and run; runs in every hour are not affected."""
    zone = schedule.zone
    if zone is None or zone is UTC:
        return False
    if schedule.fields.hour == HOUR.full and moved_days(schedule.fields, 1).texts == ("* * *",):
        return False
    return any(has_daylight_saving(zone, year) for year in range(_FIRST_DAY.year, _LAST_DAY.year + 1))


_LENGTHS = dict.fromkeys(range(1, 13), 31) | dict.fromkeys((4, 6, 9, 11), 30) | {2: 29}
# Months in the order of grouping: a long month determines every day, a short one does not.
_LONGEST_FIRST = sorted(_LENGTHS, key=lambda month: -_LENGTHS[month])
_COMMON_YEAR, _LEAP_YEAR = 2023, 2024
_WEEK = DOW.full


class DayGroups(msgspec.Struct, frozen=True):
    """Day fields (`dom month dow`) that together cover the moved days, and whether they do so exactly."""

    texts: tuple[str, ...]
    exact: bool


class _Rule(msgspec.Struct, frozen=True):
    """Every date of `dates` and every weekday of `weekdays`, or, with `both`, the dates that are such a weekday."""

    months: int
    dates: int
    weekdays: int
    both: bool = False


class _Group(msgspec.Struct):
    months: int
    known: int
    dates: int
    weekdays: int


def moved_days(fields: Fields, days_back: int) -> DayGroups:
    """The day fields of a schedule, moved back by some days."""
    rule = _rule(fields)
    stays = days_back == 0 or (rule.months == MONTH.full and rule.dates == DOM.full)
    if stays and not rule.both:
        return DayGroups((_text(rule.months, DOM.full, rule.dates, rule.weekdays),), exact=True)
    exact = True
    needs: dict[int, tuple[int, int]] = {}
    for month in _LONGEST_FIRST:
        dates, weekdays, month_exact = _need(rule, month, days_back)
        exact &= month_exact
        if dates or weekdays:
            needs[month] = (dates, weekdays)
    by_month = _group_by_month(needs)
    by_day = _group_by_day(needs)
    groups = by_day if by_day and len(by_day) < len(by_month) else by_month
    return DayGroups(tuple(_text(g.months, g.known, g.dates, g.weekdays) for g in groups), exact)


def _rule(fields: Fields) -> _Rule:
    """The rule of the two fields. If both must match, a complete one has no effect; else it means every day."""
    if not fields.either_day:
        if fields.dow == _WEEK:
            return _Rule(fields.month, fields.dom, 0)
        if fields.dom == DOM.full:
            return _Rule(fields.month, 0, fields.dow)
        return _Rule(fields.month, fields.dom, fields.dow, both=True)
    if fields.dow == _WEEK or fields.dom == DOM.full:
        return _Rule(fields.month, DOM.full, 0)
    return _Rule(fields.month, fields.dom, fields.dow)


def _need(rule: _Rule, month: int, days_back: int) -> tuple[int, int, bool]:
    """The fields of one month: its dates, its weekdays, and whether they match exactly what is needed."""
    weekdays = sum(1 << (day - days_back) % 7 for day in range(7) if rule.weekdays >> day & 1)
    always = some = never = 0
    exact = True
    for day in range(1, _LENGTHS[month] + 1):
        answers = _answers(rule, month, day, days_back)
        exact &= len(answers) == 1
        if "date" in answers:
            always |= 1 << day
        elif "weekday" in answers:
            some |= 1 << day
        else:
            never |= 1 << day
    if not some:
        return always, 0, exact
    if not never:
        return always, weekdays, exact
    # Only an "and" would be exact; the dates alone or the weekdays alone match too much.
    by_weekday = never.bit_count() * weekdays.bit_count()
    by_date = some.bit_count() * (7 - weekdays.bit_count())
    return (always, weekdays, False) if by_weekday <= by_date else (always | some, 0, False)


def _answers(rule: _Rule, month: int, day: int, days_back: int) -> set[str]:
    """The reasons to fire on a date, in a common year and in a leap year."""
    years = (_LEAP_YEAR,) if (month, day) == (2, 29) else (_COMMON_YEAR, _LEAP_YEAR) if month == 2 else (_LEAP_YEAR,)
    answers = set()
    for year in years:
        run = date(year, month, day) + timedelta(days=days_back)
        if not rule.months >> run.month & 1:
            answers.add("")
        elif rule.dates >> run.day & 1:
            answers.add("weekday" if rule.both else "date")
        else:
            answers.add("weekday" if rule.weekdays and not rule.both else "")
    return answers


def _group_by_month(needs: dict[int, tuple[int, int]]) -> list[_Group]:
    groups: list[_Group] = []
    for month, (dates, weekdays) in needs.items():
        days = (2 << _LENGTHS[month]) - 2
        for group in groups:
            if group.weekdays == weekdays and not (group.dates ^ dates) & group.known & days:
                group.months |= 1 << month
                group.known |= days
                group.dates |= dates
                break
        else:
            groups.append(_Group(1 << month, days, dates, weekdays))
    return groups


def _group_by_day(needs: dict[int, tuple[int, int]]) -> list[_Group]:
    """The same, grouped by day instead of by month; only if no weekday is needed."""
    if any(weekdays for _, weekdays in needs.values()):
        return []
    groups: list[tuple[int, _Group]] = []
    for day in range(1, 32):
        having = sum(1 << month for month, length in _LENGTHS.items() if length >= day)
        months = sum(1 << month for month, (dates, _) in needs.items() if dates >> day & 1)
        if not months:
            continue
        for index, (known_months, group) in enumerate(groups):
            if not (group.months ^ months) & known_months & having:
                group.dates |= 1 << day
                group.months |= months
                groups[index] = (known_months | having, group)
                break
        else:
            groups.append((having, _Group(months, DOM.full, 1 << day, 0)))
    return [group for _, group in groups]


def _text(months: int, known: int, dates: int, weekdays: int) -> str:
    every_day = dates & known == known
    dom = "*" if every_day or not dates else listed(dates, DOM)
    dow = "*" if every_day or not weekdays else listed(weekdays, DOW)
    return f"{dom} {listed(months, MONTH)} {dow}"


def _missed_and_extra(runs: Fields, primed: Iterable[Fields], minutes: int) -> tuple[int, int]:
    """The number of missing warm-ups within the years, and of warm-ups without a run that many minutes later."""
    later_days = -(-minutes // _MINUTES_A_DAY)
    wanted = _bits(runs, later_days) >> minutes
    # A run outside the years does not count as missed, and a warm-up for it does not count as extra.
    wanted_within = (_bits(runs, 0)) >> minutes
    made = 0
    for fields in primed:
        made |= _bits(fields, 0)
    return (wanted_within & ~made).bit_count(), (made & ~wanted).bit_count()


def _bits(fields: Fields, days_after: int) -> int:
    """The runs up to the end of the year in which those days after the last one end."""
    busy = minutes_of_day(fields).to_bytes(_DAY_BYTES, "little")
    idle = bytes(_DAY_BYTES)
    masks = day_masks(fields)
    days: list[bytes] = []
    for year in range(_FIRST_DAY.year, (_LAST_DAY + timedelta(days=days_after)).year + 1):
        for month in range(1, 13):
            dates = masks[first_weekday(year, month)] if fields.month >> month & 1 else 0
            length = month_length(year, month)
            days += [busy if dates >> day & 1 else idle for day in range(1, length + 1)]
    return int.from_bytes(b"".join(days), "little")


class PrescalerVerdict(msgspec.Struct, frozen=True):
    """The operator's answer to a schedule, that of its own document, and the cost."""

    supported: bool
    documented: bool
    expression: str | None
    reason: str
    missed_in_8_years: int = 0
    extra_in_8_years: int = 0


def prescaler_verdict(text: str, minutes: int, dialect: Dialect) -> PrescalerVerdict:
    """The operator's answer, compared with its own document and with the runs of a server of this dialect."""
    try:
        answer = prescaler(text, minutes)
    except PrescalerError as error:
        return PrescalerVerdict(supported=False, documented=False, expression=None, reason=str(error))
    against = _against_the_server(text, dialect) or answer.undocumented
    if not against:
        return PrescalerVerdict(supported=True, documented=True, expression=answer.expression, reason="")
    missed, extra = _missed_and_extra(parse(text, dialect).fields, [_for_cron_job(answer.expression).fields], minutes)
    reason = f"{against}; in eight years it misses {missed} warm-ups and makes {extra} unneeded ones"
    return PrescalerVerdict(True, False, answer.expression, reason, missed, extra)


def _against_the_server(text: str, dialect: Dialect) -> str:
    """The operator reads a schedule as Kubernetes reads a CronJob, whatever server the schedule is for."""
    if day_masks(parse(text, dialect).fields) == day_masks(_for_cron_job(text).fields):
        return ""
    return "the operator reads the two day fields as Kubernetes does, but this Velero does not"
