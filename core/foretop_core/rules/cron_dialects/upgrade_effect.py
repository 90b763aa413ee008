"""The effect of another Velero release on a schedule: refused, accepted, or run at other times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

import msgspec

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.rules.cron_dialects.readings import readings
from foretop_core.rules.cron_dialects.releases import ALL_DIALECTS, NEWEST_KNOWN
from foretop_core.rules.cron_dialects.rewriting import instead_of
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
    found = readings(text, (before, after))
    if len(found) == 1:
        return None
    one, other = found[0].parsed, found[1].parsed
    if isinstance(other, CronError):
        return UpgradeKind.REFUSED
    if always_due(other, now) and (isinstance(one, CronError) or not always_due(one, now)):
        return UpgradeKind.EVERY_MINUTE
    return UpgradeKind.ACCEPTED if isinstance(one, CronError) else UpgradeKind.OTHER_TIMES


def upgrade_effect(text: str, before: Dialect, after: Dialect, now: datetime) -> UpgradeEffect | None:
    """The change of an expression; None if both dialects read it alike. Cached; a first call takes milliseconds."""
    return _upgrade_effect(text, before, after, now.astimezone(UTC).replace(microsecond=0))


@lru_cache(maxsize=_REMEMBERED)
def _upgrade_effect(text: str, before: Dialect, after: Dialect, start: datetime) -> UpgradeEffect | None:
    kind = upgrade_kind(text, before, after, start)
    if kind is None:
        return None
    one, other = readings(text, (before, after))
    # The owner of a schedule that is refused today means it as the other release reads it.
    meant = after if kind is UpgradeKind.ACCEPTED else before
    instead = instead_of(text, meant, (before, after), start)
    return UpgradeEffect(
        text,
        before,
        after,
        kind,
        _meaning(one.meaning, one.parsed, start),
        _meaning(other.meaning, other.parsed, start),
        yearly_runs(one.parsed, start),
        yearly_runs(other.parsed, start),
        _first_difference(one.parsed, other.parsed, start),
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
