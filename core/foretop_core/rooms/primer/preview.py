"""A preview of an expression and its minutes while they are being typed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache

import msgspec

from foretop_core.cron import CronError, Dialect
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.models.builtin_kinds import MOST_WARM_UP_MINUTES
from foretop_core.rooms.primer.priming import (
    Pair,
    PrescalerVerdict,
    Primed,
    PrimerError,
    prescaler_verdict,
    prime,
    warmups,
)
from foretop_core.rules.cron_dialects import expression
from foretop_core.tables.timeline.time_axis import MINUTE, RUN, WARM_UP, TimeAxis, time_axis

MOST_PAIRS = 240
_ON_A_RULER = 4


class Preview(msgspec.Struct, frozen=True):
    """The answer to one expression and one number of minutes; with a problem there is no answer."""

    text: str
    minutes: int
    dialect: Dialect
    """That of what is primed."""
    meaning: str = ""
    zone: tzinfo | None = None
    """The one that the expression names; None: that of the server."""
    primed: Primed | None = None
    verdict: PrescalerVerdict | None = None
    problem: str = ""
    problem_at: int | None = None
    """Where in the expression the culprit begins."""
    problem_in_minutes: bool = False


@lru_cache(maxsize=64)
def preview(text: str, minutes: str, dialect: Dialect) -> Preview:
    """The preview for two fields as they stand, half typed or not."""
    parsed = expression(text, dialect)
    number = int(minutes) if minutes.isascii() and minutes.isdecimal() and len(minutes) < 9 else -1
    if isinstance(parsed, CronError):
        return Preview(text, max(0, number), dialect, problem=str(parsed), problem_at=_place(text, parsed))
    meaning, zone = parsed.describe(), parsed.zone
    if not 0 <= number <= MOST_WARM_UP_MINUTES:
        limits = f"minutes must be a whole number from 0 to {MOST_WARM_UP_MINUTES:,}"
        return Preview(text, 0, dialect, meaning, zone, problem=limits, problem_in_minutes=True)
    try:
        primed = prime(text, number, dialect)
    except PrimerError as problem:
        return Preview(text, number, dialect, meaning, zone, problem=str(problem))
    return Preview(text, number, dialect, meaning, zone, primed, prescaler_verdict(text, number, dialect))


def _place(text: str, error: CronError) -> int | None:
    return error.offset if error.offset is not None and error.offset <= len(text) else None


def coming(shown: Preview, now: datetime) -> tuple[Pair, ...]:
    """The next warm-ups and their runs, as many as a ruler could hold."""
    if shown.primed is None:
        return ()
    # Warm-ups begin with a minute, so that within one minute the answer is the same.
    return _coming(shown.text, shown.minutes, shown.dialect, now.astimezone(UTC).replace(second=0, microsecond=0))


@lru_cache(maxsize=16)
def _coming(text: str, minutes: int, dialect: Dialect, after: datetime) -> tuple[Pair, ...]:
    return warmups(text, minutes, dialect, after, MOST_PAIRS)


def pair_axis(pairs: Sequence[Pair], minutes: int, room: int, zone: tzinfo) -> TimeAxis:
    """From the first warm-up on, so fine that a warm-up is to be seen; one pair alone where the next is too far."""
    first, most_step = pairs[0].warmup, max(1, minutes)
    several = pairs[:_ON_A_RULER]
    if len(several) > 1 and several[1].run - first < room * most_step * MINUTE:
        return time_axis(first, most_step, several[-1].run - first, room, zone)
    return time_axis(first, most_step, max(minutes, 30) * 4 // 3 * MINUTE, room, zone)


def pair_cells(pairs: Sequence[Pair], ruler: TimeAxis) -> str:
    """The pairs on their ruler."""
    signs = [" "] * ruler.cells
    for pair in pairs:
        for cell in range(max(0, ruler.cell_of(pair.warmup)), min(ruler.cells, ruler.cell_of(pair.run))):
            signs[cell] = WARM_UP if signs[cell] == " " else signs[cell]
        if 0 <= (cell := ruler.cell_of(pair.run)) < ruler.cells:
            signs[cell] = RUN
    return "".join(signs)


def taken_from(resource: Resource | None) -> tuple[str, int | None] | None:
    """The expression of an object, and its minutes where it has some of its own."""
    match resource:
        case Schedule():
            return resource.spec.schedule, None
        case CronJob():
            return resource.spec.expression, None
        case PreScaledCronJob():
            return resource.spec.cron_job.spec.expression, resource.spec.warm_up_time_mins
        case _:
            return None
