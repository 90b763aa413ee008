"""Forecasts where it is open how the server reads an expression: every answer, each with its releases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from msgspec.structs import replace

from foretop_core.models import Backup, Schedule
from foretop_core.rules.cron_dialects.readings import Reading
from foretop_core.rules.forecast.next_run_time import is_due
from foretop_core.rules.forecast.pause_effect import Choice, UnpauseForecast, pause, unpause
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.rules.sentences import Text, join_sentences, sentence, without_full_stop

Readings = tuple[Reading, ...]
"""The readings that remain possible, never none; one where the dialect is known or makes no difference."""


def may_be_due(schedule: Schedule, now: datetime, readings: Readings) -> bool:
    """Whether a backup is due in any of the readings."""
    return any(is_due(schedule, now, reading.dialect) for reading in readings)


def pause_as_read(
    schedule: Schedule,
    now: datetime,
    readings: Readings,
    backups: Iterable[Backup] = (),
    *,
    beat: Heartbeat | None = None,
) -> Text:
    """What pausing does, in each of the readings."""
    runs = tuple(backups)
    return _each(readings, lambda reading: pause(schedule, now, reading.dialect, runs, beat=beat))


def unpause_as_read(
    schedule: Schedule,
    now: datetime,
    choice: Choice,
    server_default: bool | None,
    readings: Readings,
    *,
    beat: Heartbeat | None = None,
    backups: Iterable[Backup] = (),
    refusal: str = "",
) -> UnpauseForecast:
    """What unpausing does; where the readings differ, nothing of it can be relied on and the sentence has them all."""
    runs = tuple(backups)
    answers = {
        reading: unpause(
            schedule, now, choice, server_default, dialect=reading.dialect, beat=beat, backups=runs, refusal=refusal
        )
        for reading in readings
    }
    newest = answers[readings[-1]]
    if len(answers) == 1:
        return newest
    return replace(
        newest,
        at_once=any(answer.at_once for answer in answers.values()),
        next_run=None,
        starts=None,
        missed=max(answer.missed for answer in answers.values()),
        predictable=False,
        sentence=_each(readings, lambda reading: answers[reading].sentence),
    )


def _each(readings: Readings, told: Callable[[Reading], Text]) -> Text:
    if len(readings) == 1:
        return told(readings[0])
    return join_sentences((sentence(f"on {one.releases}: ", without_full_stop(told(one))) for one in readings), "; ")
