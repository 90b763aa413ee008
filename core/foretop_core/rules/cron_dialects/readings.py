"""The readings of one expression by the dialects, whether they agree, and the decision on a server's dialect."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from foretop_core.cron import CronError, CronSchedule, Dialect, Fields, parse
from foretop_core.cron.wall_clock_calendar import day_masks
from foretop_core.cron.zones import clock_changes
from foretop_core.rules.cron_dialects.releases import ALL_DIALECTS, Release, releases_of

_REMEMBERED = 60_000
_COMPARED_YEARS = range(2021, 2029)
_BEFORE_A_CHANGE = timedelta(hours=1)
"""From here before a change of the clocks the next run is asked for: a difference at a skipped time shows there."""

_SKIPPED = {
    Dialect.ROBFIG1: "; a time that the clocks skip does not run",
    Dialect.ROBFIG: "; a time that the clocks skip does not run",
    Dialect.NETRESEARCH: "; a time that the clocks skip runs after the gap",
}


def expression(text: str, dialect: Dialect) -> CronSchedule | CronError:
    """The parsed expression, or its parse error; cached."""
    return _expression(text, dialect)


@lru_cache(maxsize=_REMEMBERED)
def _expression(text: str, dialect: Dialect) -> CronSchedule | CronError:
    # A separate function, because the type checker lets a cached function take any arguments.
    try:
        return parse(text, dialect)
    except CronError as problem:
        return problem


class Reading(msgspec.Struct, frozen=True):
    """The meaning of an expression on the servers of some releases that read it alike."""

    dialects: tuple[Dialect, ...]
    parsed: CronSchedule | CronError
    skipped_times: str = ""
    """What happens to a skipped wall time, if that is the only difference between the readings."""

    @property
    def dialect(self) -> Dialect:
        """The newest of the dialects, which stands for all."""
        return self.dialects[-1]

    @property
    def releases(self) -> str:
        return releases_of(self.dialects)

    @property
    def meaning(self) -> str:
        """The expression as those servers read it, in plain English."""
        if isinstance(self.parsed, CronError):
            return f"refused: {self.parsed}"
        if self.parsed.never_fires:
            return "never fires, so Velero starts a backup almost every minute"
        return f"{self.parsed.describe()}{self.skipped_times}"


def readings(text: str, dialects: tuple[Dialect, ...] = ALL_DIALECTS) -> tuple[Reading, ...]:
    """The different readings of these dialects, oldest first; a single one if they all agree."""
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
    read = [Reading(tuple(group), expression(text, group[-1])) for group in groups]
    lines = [reading.meaning for reading in read]
    return tuple(
        replace(reading, skipped_times=_SKIPPED[reading.dialect]) if lines.count(reading.meaning) > 1 else reading
        for reading in read
    )


def differences(text: str, known: tuple[Dialect, ...] = ()) -> str:
    """One sentence about releases that read an expression differently from the known ones; "" for none."""
    read = readings(text)
    others = [reading for reading in read if not set(known) & set(reading.dialects)] if known else list(read)
    if len(read) == 1 or not others:
        return ""
    return (
        "Other releases read it differently: "
        + "; ".join(f"{reading.releases}: {reading.meaning}" for reading in others)
        + "."
    )


def alike(one: CronSchedule | CronError, other: CronSchedule | CronError) -> bool:
    """True if both are refused, with any message, or both run at the same times."""
    if isinstance(one, CronError) or isinstance(other, CronError):
        return isinstance(one, CronError) and isinstance(other, CronError)
    if one.never_fires or other.never_fires:
        return one.never_fires and other.never_fires
    if one.every is not None or other.every is not None:
        return one.every == other.every
    if one.zone != other.zone or wall_times(one.fields) != wall_times(other.fields):
        return False
    return one.zone is None or all(
        one.next(change - _BEFORE_A_CHANGE) == other.next(change - _BEFORE_A_CHANGE)
        for change in clock_changes(one.zone, _COMPARED_YEARS)
    )


def wall_times(fields: Fields) -> tuple[int, int, int, tuple[int, ...]]:
    return fields.minute, fields.hour, fields.month, day_masks(fields)


class Evidence(msgspec.Struct, frozen=True):
    """A fact that restricts the possible dialects of a server."""

    dialects: tuple[Dialect, ...]
    reason: str
    """A phrase that fits after "because of": `the image tag v1.18.2`."""
    release: Release | None = None


class DialectVerdict(msgspec.Struct, frozen=True):
    """The cron dialects that one server may have, and the evidence."""

    candidates: tuple[Dialect, ...] = ALL_DIALECTS
    """The remaining dialects, oldest first; never empty."""
    reasons: tuple[str, ...] = ()
    """The evidence that ruled out the others, in order."""
    release: Release | None = None
    contradictions: tuple[str, ...] = ()
    """Weaker evidence that disagrees: of an older server, or of a version that was given wrongly."""

    @property
    def is_certain(self) -> bool:
        return len(self.candidates) == 1

    def dialect_for(self, text: str) -> Dialect | None:
        """The dialect in which to read an expression; None if the remaining ones read it differently."""
        read = self.readings(text)
        return read[0].dialect if len(read) == 1 else None

    def readings(self, text: str) -> tuple[Reading, ...]:
        """The remaining readings, oldest first."""
        return readings(text, self.candidates)


def decide(evidence: Iterable[Evidence]) -> DialectVerdict:
    """Narrow the dialects down by the evidence; evidence that contradicts stronger evidence is set aside."""
    candidates: tuple[Dialect, ...] = ALL_DIALECTS
    reasons: list[str] = []
    contradictions: list[str] = []
    release: Release | None = None
    for piece in evidence:
        remaining = tuple(dialect for dialect in candidates if dialect in piece.dialects)
        if not remaining:
            contradictions.append(piece.reason)
            continue
        release = release or piece.release
        if remaining != candidates:
            candidates = remaining
            reasons.append(piece.reason)
    return DialectVerdict(candidates, tuple(reasons), release, tuple(contradictions))
