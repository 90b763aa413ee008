"""The effect of another Velero release on a schedule: refused, accepted, or run at other times."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from functools import lru_cache
from itertools import product

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.cron.fields import ALL_BOUNDS, HOUR, Fields, listed
from foretop_core.cron.wall_clock_calendar import day_masks
from foretop_core.cron.zones import clock_changes, to_local
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.readings import alike, expression, readings, wall_times
from foretop_core.rules.cron_dialects.releases import ALL_DIALECTS, NEWEST_KNOWN, releases_of
from foretop_core.rules.cron_dialects.run_counts import always_due, first_difference, looked_until, runs_within

A_YEAR = timedelta(days=365)
"""The period in which runs are counted: the next twelve months."""

_REMEMBERED = 4096
_FIRST_RELEASES = {Dialect.ROBFIG1: "1.0", Dialect.ROBFIG: "1.15", Dialect.NETRESEARCH: NEWEST_KNOWN}


class UpgradeKind(StrEnum):
    """The kind of change of a schedule; the values are part of `-o json`."""

    REFUSED = "refused"
    ACCEPTED = "accepted"
    OTHER_TIMES = "other-times"
    EVERY_MINUTE = "every-minute"
    """Accepted, but without a next run: Velero treats that as due."""


class UpgradeEffect(msgspec.Struct, frozen=True):
    """The change of one expression from one dialect to another; there is none if both read it alike."""

    expression: str
    before: Dialect
    after: Dialect
    kind: UpgradeKind
    meaning_before: str
    meaning_after: str
    runs_before: int
    """In the twelve months from `now`: zero if it is refused, one a minute while it is always due."""
    runs_after: int
    first_difference: datetime | None
    """The first backup that only one of them makes; None if there is none up to `looked_until`."""
    looked_until: datetime
    instead: tuple[str, ...]
    """One expression that serves both, or two; empty if there is none."""
    instead_note: str

    @property
    def loses_all(self) -> bool:
        return self.runs_before > 0 and self.runs_after == 0


def upgrade_kind(text: str, before: Dialect, after: Dialect, now: datetime) -> UpgradeKind | None:
    """The kind of change; None if both dialects read it alike. Cheap: both readings are cached."""
    read = readings(text, (before, after))
    if len(read) == 1:
        return None
    parsed, other = read[0].parsed, read[1].parsed
    if isinstance(other, CronError):
        return UpgradeKind.REFUSED
    if always_due(other, now) and (isinstance(parsed, CronError) or not always_due(parsed, now)):
        return UpgradeKind.EVERY_MINUTE
    return UpgradeKind.ACCEPTED if isinstance(parsed, CronError) else UpgradeKind.OTHER_TIMES


def upgrade_effect(text: str, before: Dialect, after: Dialect, now: datetime) -> UpgradeEffect | None:
    """The change of an expression; None if both dialects read it alike. Cached; a first call takes milliseconds."""
    return _upgrade_effect(text, before, after, now.astimezone(UTC).replace(microsecond=0))


@lru_cache(maxsize=_REMEMBERED)
def _upgrade_effect(text: str, before: Dialect, after: Dialect, start: datetime) -> UpgradeEffect | None:
    kind = upgrade_kind(text, before, after, start)
    if kind is None:
        return None
    reading, other = readings(text, (before, after))
    # The owner of a schedule that is refused today means it as the other release reads it.
    meant = after if kind is UpgradeKind.ACCEPTED else before
    instead = instead_of(text, meant, (before, after), start)
    return UpgradeEffect(
        text,
        before,
        after,
        kind,
        _meaning(reading.meaning, reading.parsed, start),
        _meaning(other.meaning, other.parsed, start),
        yearly_runs(reading.parsed, start),
        yearly_runs(other.parsed, start),
        _first_difference(reading.parsed, other.parsed, start),
        looked_until(start),
        instead.expressions,
        instead.note,
    )


def yearly_runs(parsed: CronSchedule | CronError, now: datetime) -> int:
    """The runs of the next twelve months."""
    return 0 if isinstance(parsed, CronError) else runs_within(parsed, now, now + A_YEAR)


def _meaning(meaning: str, parsed: CronSchedule | CronError, now: datetime) -> str:
    if isinstance(parsed, CronError) or parsed.never_fires or not always_due(parsed, now):
        return meaning
    return f"{meaning}: not within five years, which is as far as Velero looks, so it starts a backup every minute"


def _first_difference(one: CronSchedule | CronError, other: CronSchedule | CronError, now: datetime) -> datetime | None:
    """The first difference; if one of them refuses, the first run of the other."""
    if isinstance(one, CronSchedule) and isinstance(other, CronSchedule):
        return first_difference(one, other, now)
    for parsed in (one, other):
        if isinstance(parsed, CronSchedule):
            return parsed.next(now) or now.replace(second=0) + timedelta(minutes=1)
    return None


def next_dialect(known: tuple[Dialect, ...]) -> Dialect | None:
    """The dialect of the releases after a server's possible ones; None after the newest."""
    later = ALL_DIALECTS[max(ALL_DIALECTS.index(dialect) for dialect in known) + 1 :]
    return later[0] if later else None


def first_release(dialect: Dialect) -> str:
    """The first release with a dialect, of those that a server can be upgraded to."""
    return _FIRST_RELEASES[dialect]


_ZONE_MARKS = ("TZ=", "CRON_TZ=")
_STAR = "*"
_DOM, _DOW = 2, 4
_NEAR = timedelta(hours=27)
_A_YEAR = timedelta(days=365)
_MOST_RUNS_COMPARED = 200


class Instead(msgspec.Struct, frozen=True):
    """Expressions that all requested releases read alike, with notes; empty if there are none."""

    expressions: tuple[str, ...]
    note: str


def instead_of(text: str, today: Dialect, dialects: tuple[Dialect, ...], now: datetime) -> Instead:
    """Expressions that make, in all of `dialects`, the runs that `text` makes in `today`."""
    parsed = expression(text, today)
    if isinstance(parsed, CronError) or parsed.next(now) is None:
        return Instead((), "No expression means this on every release: pause the schedule or delete it.")
    if parsed.every is not None:
        return _delay(parsed, dialects)
    return (
        _one(text, parsed, dialects)
        or _two(text, parsed, dialects, now)
        or _outside_the_gap(text, parsed, dialects)
        or Instead((), _why_none(parsed, dialects))
    )


def _delay(wanted: CronSchedule, dialects: tuple[Dialect, ...]) -> Instead:
    assert wanted.every is not None
    seconds = int(wanted.every.total_seconds())
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    parts = [f"{count}{unit}" for count, unit in ((hours, "h"), (minutes, "m"), (rest, "s")) if count]
    text = f"@every {''.join(parts)}"
    return Instead((text,), "") if _reads_as(text, wanted, dialects) else Instead((), _why_none(wanted, dialects))


def _one(text: str, wanted: CronSchedule, dialects: tuple[Dialect, ...]) -> Instead | None:
    """One expression for all, with as few changed fields as possible."""
    fields = wanted.fields
    choices = [{written, plain} for written, plain in zip(_written(text, fields), _plain(fields), strict=True)]
    for place in (_DOM, _DOW):
        choices[place].add(_STAR)
    for prefix in _prefixes(text, wanted.zone):
        for parts in _fewest_changes(_written(text, fields), choices):
            candidate = prefix + " ".join(parts)
            if _reads_as(candidate, wanted, dialects):
                return Instead((candidate,), _zone_note(candidate, wanted))
    return None


def _two(text: str, wanted: CronSchedule, dialects: tuple[Dialect, ...], now: datetime) -> Instead | None:
    """One schedule for the dates and one for the weekdays, if either is enough today."""
    fields = wanted.fields
    written, plain = _written(text, fields), _plain(fields)
    for prefix in _prefixes(text, wanted.zone):
        by_date = _half(prefix, written, plain, _DOW, dialects)
        by_weekday = _half(prefix, written, plain, _DOM, dialects)
        if by_date is None or by_weekday is None or not _union_is(wanted, by_date, by_weekday):
            continue
        twice = sum(runs_within(half, now, now + _A_YEAR) for half in (by_date, by_weekday))
        twice -= runs_within(wanted, now, now + _A_YEAR)
        days = "none" if not twice else f"{twice:,}"
        return Instead(
            (by_date.expression, by_weekday.expression),
            "One expression cannot mean this on both: create two schedules. A day that matches both gets two backups "
            f"({days} in the next twelve months), and the new schedule has a new name and its own history.",
        )
    return None


def _half(
    prefix: str, written: tuple[str, ...], plain: tuple[str, ...], starred: int, dialects: tuple[Dialect, ...]
) -> CronSchedule | None:
    """The expression with one day field starred, in the user's own words if all dialects read those alike."""
    meant = [*plain]
    meant[starred] = _STAR
    aim = expression(prefix + " ".join(meant), dialects[-1])
    choices = [{part, other} for part, other in zip(written, plain, strict=True)]
    choices[starred] = {_STAR}
    if isinstance(aim, CronError):
        return None
    for parts in _fewest_changes(written, choices):
        candidate = prefix + " ".join(parts)
        if _reads_as(candidate, aim, dialects):
            parsed = expression(candidate, dialects[-1])
            return parsed if isinstance(parsed, CronSchedule) else None
    return None


def _union_is(wanted: CronSchedule, one: CronSchedule, other: CronSchedule) -> bool:
    """True if two schedules together make exactly the runs of a third."""
    fields, mine, theirs = wanted.fields, one.fields, other.fields
    times = {(each.minute, each.hour, each.month) for each in (fields, mine, theirs)}
    days = tuple(a | b for a, b in zip(day_masks(mine), day_masks(theirs), strict=True))
    if len(times) > 1 or days != day_masks(fields):
        return False
    return all(
        set(one.between(start, end)) | set(other.between(start, end)) == set(wanted.between(start, end))
        for start, end in _around_changes(wanted.zone, fields)
    )


def _outside_the_gap(text: str, wanted: CronSchedule, dialects: tuple[Dialect, ...]) -> Instead | None:
    """A later hour that the zone's clocks never skip, if the given one is skipped once a year."""
    zone, fields = wanted.zone, wanted.fields
    if zone is None or not (skipped := _skipped_hours(zone)) & fields.hour:
        return None
    written = _written(text, fields)
    for later in range(1, HOUR.high):
        hours = fields.hour & ~skipped
        for hour in range(HOUR.high + 1):
            if fields.hour & skipped & 1 << hour and hour + later <= HOUR.high:
                hours |= 1 << hour + later
        if hours & skipped or hours.bit_count() != fields.hour.bit_count():
            continue
        candidate = " ".join((f"{_mark(text)}{zone}", written[0], listed(hours, HOUR), *written[2:]))
        if _is_read_alike(candidate, dialects):
            by = humanize.count(later, "hour")
            return Instead(
                (candidate,),
                f"No expression makes today's runs on both releases: the clocks of {zone} skip this time once a year. "
                f"The one above runs {by} later, at a time that is never skipped.",
            )
    return None


def _skipped_hours(zone: tzinfo) -> int:
    """The hours of the wall clock that are at least partly skipped when the clocks go forward."""
    hours = 0
    for change in clock_changes(zone, range(2021, 2029)):
        before = to_local(zone, change - timedelta(seconds=1))
        after = to_local(zone, change)
        while (before := before + timedelta(seconds=1 if before.second else 60)) < after:
            hours |= 1 << before.hour
    return hours


def _why_none(wanted: CronSchedule, dialects: tuple[Dialect, ...]) -> str:
    if wanted.zone is not None and Dialect.ROBFIG1 in dialects:
        return f"{releases_of((Dialect.ROBFIG1,))} refuses every time zone: write the time in that of the server."
    return "No expression makes today's runs on both releases: choose either dates or weekdays."


def _written(text: str, fields: Fields) -> tuple[str, ...]:
    """The five fields as the user wrote them; plain fields instead of a descriptor."""
    parts = text.split()
    own = parts[1:] if text.startswith(_ZONE_MARKS) else parts
    return tuple(own) if len(own) == len(ALL_BOUNDS) else _plain(fields)


def _plain(fields: Fields) -> tuple[str, ...]:
    """Lists and ranges that every dialect reads alike."""
    bits = (fields.minute, fields.hour, fields.dom, fields.month, fields.dow)
    return tuple(listed(each, bounds) for each, bounds in zip(bits, ALL_BOUNDS, strict=True))


def _prefixes(text: str, zone: tzinfo | None) -> tuple[str, ...]:
    """The possible zone prefixes; for UTC also none, which is what a server without a zone uses."""
    if zone is None:
        return ("",)
    named = f"{_mark(text)}{zone} "
    return (named, "") if zone is UTC else (named,)


def _mark(text: str) -> str:
    return "TZ=" if text.startswith("TZ=") else "CRON_TZ="


def _zone_note(candidate: str, wanted: CronSchedule) -> str:
    if wanted.zone is None or candidate.startswith(_ZONE_MARKS):
        return ""
    return "It runs in the zone of the server, which is UTC in Velero's own image."


def _fewest_changes(written: tuple[str, ...], choices: list[set[str]]) -> Iterator[tuple[str, ...]]:
    def changes(parts: tuple[str, ...]) -> int:
        return sum(part != other for part, other in zip(parts, written, strict=True))

    yield from sorted(product(*(sorted(each) for each in choices)), key=changes)


def _reads_as(candidate: str, wanted: CronSchedule, dialects: tuple[Dialect, ...]) -> bool:
    """True if all dialects make the wanted runs; an expression without a zone runs in UTC."""
    return all(_same_runs(expression(candidate, dialect), wanted) for dialect in dialects)


def _is_read_alike(candidate: str, dialects: tuple[Dialect, ...]) -> bool:
    first = expression(candidate, dialects[0])
    return isinstance(first, CronSchedule) and all(
        alike(first, expression(candidate, dialect)) for dialect in dialects[1:]
    )


def _same_runs(one: CronSchedule | CronError, wanted: CronSchedule) -> bool:
    if isinstance(one, CronError):
        return False
    if one.every is not None or wanted.every is not None or (one.zone or UTC) is not UTC:
        return alike(one, wanted)
    return (wanted.zone or UTC) is UTC and wall_times(one.fields) == wall_times(wanted.fields)


def _around_changes(zone: tzinfo | None, fields: Fields) -> Iterator[tuple[datetime, datetime]]:
    """The days around the changes of the clocks; only the hours if there are too many runs to compare."""
    many = fields.minute.bit_count() * fields.hour.bit_count() > _MOST_RUNS_COMPARED
    near = timedelta(hours=2) if many else _NEAR
    for change in clock_changes(zone or UTC, range(2025, 2029)):
        yield change - near, change + near
