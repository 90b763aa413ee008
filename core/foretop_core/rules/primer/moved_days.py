"""A schedule's days moved back: the dates and weekdays that each month then needs.

The result is for a CronJob, where either day field is enough if none is starred.
"""

from __future__ import annotations

from datetime import date, timedelta

import msgspec

from foretop_core.cron import Fields
from foretop_core.cron.fields import DOM, DOW, MONTH
from foretop_core.rules.primer.cron_text import listed

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
    found = set()
    for year in years:
        run = date(year, month, day) + timedelta(days=days_back)
        if not rule.months >> run.month & 1:
            found.add("")
        elif rule.dates >> run.day & 1:
            found.add("weekday" if rule.both else "date")
        else:
            found.add("weekday" if rule.weekdays and not rule.both else "")
    return found


def _group_by_month(needs: dict[int, tuple[int, int]]) -> list[_Group]:
    groups: list[_Group] = []
    for month, (dates, weekdays) in needs.items():
        known = (2 << _LENGTHS[month]) - 2
        for group in groups:
            if group.weekdays == weekdays and not (group.dates ^ dates) & group.known & known:
                group.months |= 1 << month
                group.known |= known
                group.dates |= dates
                break
        else:
            groups.append(_Group(1 << month, known, dates, weekdays))
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
        for place, (known_months, group) in enumerate(groups):
            if not (group.months ^ months) & known_months & having:
                group.dates |= 1 << day
                group.months |= months
                groups[place] = (known_months | having, group)
                break
        else:
            groups.append((having, _Group(months, DOM.full, 1 << day, 0)))
    return [group for _, group in groups]


def _text(months: int, known: int, dates: int, weekdays: int) -> str:
    every_day = dates & known == known
    dom = "*" if every_day or not dates else listed(dates, DOM)
    dow = "*" if every_day or not weekdays else listed(weekdays, DOW)
    return f"{dom} {listed(months, MONTH)} {dow}"
