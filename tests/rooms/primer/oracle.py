"""Eight years of minutes as one large number, computed day by day and independently of the primer."""

from __future__ import annotations

from datetime import date, timedelta

from foretop_core.cron import Dialect, parse

FIRST = date(2021, 1, 1)
DAYS = (date(2029, 1, 1) - FIRST).days
WITHIN = (1 << (DAYS * 1440)) - 1
_CALENDAR = [FIRST + timedelta(days=step) for step in range(DAYS + 8)]
_DATES = [(day.month, day.day, day.isoweekday() % 7) for day in _CALENDAR]
_IDLE = bytes(180)


def runs(text: str, days: int = DAYS, dialect: Dialect = Dialect.ROBFIG) -> int:
    """One bit for each minute since the start of 2021 at which an expression fires."""
    fields = parse(text, dialect).fields
    both = _both_must_match(text, dialect)
    day_bits = sum(
        1 << (60 * hour + minute)
        for hour in range(24)
        for minute in range(60)
        if fields.hour >> hour & 1 and fields.minute >> minute & 1
    ).to_bytes(180, "little")
    firing = {
        (month, day, weekday)
        for month, day, weekday in set(_DATES)
        if fields.month >> month & 1 and _day_fires(fields.dom >> day & 1, fields.dow >> weekday & 1, both=both)
    }
    return int.from_bytes(b"".join([day_bits if day in firing else _IDLE for day in _DATES[:days]]), "little")


def _both_must_match(text: str, dialect: Dialect) -> bool:
    *_, dom, _, dow = text.split()
    terms = [*dom.split(","), *dow.split(",")]
    if dialect is Dialect.ROBFIG1:
        return any(term.startswith("*") for term in terms)
    return dialect is Dialect.NETRESEARCH or any(term in ("*", "*/1") for term in terms)


def _day_fires(by_date: int, by_weekday: int, *, both: bool) -> bool:
    return bool(by_date and by_weekday) if both else bool(by_date or by_weekday)


def judged(text: str, minutes: int, dialect: Dialect, primed: tuple[str, ...]) -> tuple[int, int, int]:
    """Missed warm-ups, extra warm-ups, and minutes that two expressions share.

    The schedule has its own dialect; the primed expressions are always for a CronJob.
    """
    wanted = runs(text, DAYS + 8, dialect) >> minutes & WITHIN
    made = shared = 0
    for expression in primed:
        bits = runs(expression)
        shared |= made & bits
        made |= bits
    return (wanted & ~made).bit_count(), (made & ~wanted).bit_count(), shared.bit_count()
