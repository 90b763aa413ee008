"""The effect of pausing and unpausing in sentences to decide by, in each reading of the expression."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from foretop_core.cron import CronError, Dialect
from foretop_core.models import Backup, Schedule
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.readings import Reading, expression
from foretop_core.rules.forecast.next_run_time import (
    MOST_RUNS,
    base_time,
    blocker,
    invalid,
    is_due,
    missed_runs,
    next_run,
    run_after,
)
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.rules.queue.positions import has_ended
from foretop_core.rules.sentences import Text, join_sentences, sentence, without_full_stop

_MINUTE = timedelta(minutes=1)
SOON = timedelta(minutes=2)
"""A run that falls due within this time may do so while somebody still reads the plan."""


class Choice(StrEnum):
    """A choice about `spec.skipImmediately` when unpausing."""

    SKIP = "skip"
    DO_NOT_SKIP = "do not skip"
    LEAVE = "leave alone"


class UnpauseForecast(msgspec.Struct, frozen=True):
    """The effect of unpausing a schedule now."""

    choice: Choice
    at_once: bool
    """One backup is created at once; the queue says when it starts."""
    skips: bool
    """lastSkipped is set, and what was due is passed over."""
    next_run: datetime | None
    """When the schedule is due after that; None where it never is."""
    starts: datetime | None
    """When Velero will start that run, to the second, where its beat is known."""
    missed: int
    predictable: bool
    """False where the server's default decides and cannot be relied on."""
    sentence: Text
    silence: Text = ""
    """Why Velero does none of it before it is back; "" where it has a pulse."""
    creates_only: bool = False
    """The storage hangs and not the server: a backup is created, but does not complete."""
    refusal: str = ""
    """Why Velero refuses every backup that it makes; "" where it does not."""
    moves: bool = False
    """Nothing is due, and the skip moves the next run all the same: a constant delay starts again with it."""
    skips_later: bool = False
    """The next run falls due in a moment, and is skipped too if Velero gets the write only then."""


def pause(
    schedule: Schedule,
    now: datetime,
    dialect: Dialect,
    backups: Iterable[Backup] = (),
    beat: Heartbeat | None = None,
) -> Text:
    """The effect of pausing in a sentence, with what goes on all the same."""
    running = what_continues([backup for backup in backups if _goes_on(backup, schedule)], now, beat or Heartbeat())
    if schedule.spec.paused:
        return sentence(f"{schedule.name} is already paused; ", running, ".")
    if problem := invalid(schedule, dialect):
        return f"{schedule.name} makes no backups now ({problem}), and makes none while it is paused."
    run = next_run(schedule, dialect)
    if run is None:
        never = f"No further backup of {schedule.name}: its expression never fires, so it is always due; "
        return sentence(never, running, ".")
    when = "now due" if now > run else sentence("of ", run)
    after = "" if now > run else sentence(" after ", run)
    return sentence(
        f"No further backup of {schedule.name}: the run ",
        when,
        " will not start; ",
        running,
        ". If you unpause it",
        after,
        ", one backup is created at once unless you choose to skip.",
    )


def what_continues(unfinished: Sequence[Backup], now: datetime, beat: Heartbeat) -> Text:
    """A sentence about the unfinished backups of a schedule that makes no more."""
    if not unfinished:
        return "no backup of it is running"
    names = humanize.join([backup.name for backup in unfinished])
    if not (silence := beat.silence(now)):
        return f"{names} {'continues' if len(unfinished) == 1 else 'continue'}"
    verb = "does" if len(unfinished) == 1 else "do"
    return sentence(f"{names} {verb} not complete until {beat.awaited(now)} (", silence, ")")


def unpause(
    schedule: Schedule,
    now: datetime,
    choice: Choice = Choice.LEAVE,
    server_default: bool | None = False,
    *,
    dialect: Dialect,
    beat: Heartbeat | None = None,
    backups: Iterable[Backup] = (),
    refusal: str = "",
    is_new: bool = False,
) -> UnpauseForecast:
    """The effect of unpausing the schedule now with this choice.

    `server_default` is the server's --schedule-skip-immediately, None where it cannot be read. It counts only
    where the field is absent and left alone, and even then releases up to mid-2026 forget it after one use.
    `refusal` is why Velero refuses the backups that it makes, where their storage cannot be used. With `is_new` its
    expression is, so that nobody has missed what is due by it.
    """
    skips, predictable = _skips(schedule, choice, server_default)
    parsed = expression(schedule.spec.schedule, dialect)
    if isinstance(parsed, CronError):
        invalid_cron = f"no backup: Velero refuses the schedule ({parsed})"
        return UnpauseForecast(choice, False, skips, None, None, 0, True, invalid_cron)
    due = is_due(schedule, now, dialect)
    missed = missed_runs(schedule, now, dialect) if due else 0
    backup = blocker(schedule, backups)
    since = next_run(schedule, dialect)
    if parsed.never_fires or since is None:
        first = f"a backup when {backup.name} has ended" if backup else "a backup at once"
        always = f"{first}, then one almost every minute: the expression never fires, so it is always due"
        return UnpauseForecast(choice, backup is None, skips, None, None, 0, predictable, always)
    at_once = due and not skips and backup is None
    base = now if skips or at_once else base_time(schedule) or now
    following = run_after(schedule, base, dialect, UTC)
    waiting_due = due and not skips and backup is not None
    silence = beat.silence(now) if beat else ""
    starts = None
    if beat and following and not waiting_due and not silence and not refusal:
        starts = beat.first_look(max(following, now))
    then = _then(following, starts, now, silent=bool(silence or refusal))
    creates = beat is not None and beat.still_works(now)
    lately = " by the new expression" if is_new else f", {_missed_words(missed)}"
    owed = sentence("due since ", since, lately) if due else ""
    moves = skips and not due and parsed.every is not None
    text = _unpause_sentence(skips, owed, backup, then, moves=moves)
    is_soon = following is not None and now < following <= now + SOON and not waiting_due and not silence
    # A constant delay starts again with a skip and with a backup: the run after that is never a moment away.
    if is_soon and following is not None and (parsed.every is None or not (skips or at_once)):
        fate = "is skipped too" if skips else "gets no backup of its own" if at_once else "starts at once"
        text = sentence(text, "; if this is sent after ", following, f", that run {fate}")
    skips_later = is_soon and skips and parsed.every is None
    if not predictable:
        text = sentence(text, ", if the server still has its default (choose skip or do not skip to be sure)")
    if creates and beat is not None:
        text = sentence(text, f"; a backup is created but {beat.holds_back(now)} (", silence, ")")
    elif silence:
        text = sentence("nothing until Velero is back (", silence, "), then ", text)
    if refusal:
        text = sentence(text, f"; Velero refuses its backups while {refusal}")
    return UnpauseForecast(
        choice,
        at_once,
        skips,
        following,
        starts,
        missed,
        predictable,
        text,
        silence,
        creates,
        refusal,
        moves,
        skips_later,
    )


def _skips(schedule: Schedule, choice: Choice, server_default: bool | None) -> tuple[bool, bool]:
    """Two answers: will the field say skip when Velero looks, and can that be relied on?"""
    match choice:
        case Choice.SKIP:
            return True, True
        case Choice.DO_NOT_SKIP:
            return False, True
        case Choice.LEAVE:
            if schedule.spec.skip_immediately is not None:
                return schedule.spec.skip_immediately, True
            return bool(server_default), server_default is False


def _goes_on(backup: Backup, schedule: Schedule) -> bool:
    mine = backup.schedule_name == schedule.name and backup.namespace == schedule.namespace
    return mine and not has_ended(backup)


def _unpause_sentence(skips: bool, owed: Text, held: Backup | None, then: Text, *, moves: bool) -> Text:
    if not owed:
        skipped = ", and the skip starts its delay again" if moves else ", so nothing to skip now" if skips else ""
        return sentence(f"no backup now, none is due{skipped}; ", then)
    if skips:
        return sentence("no backup now, skips the run ", owed, "; ", then)
    if held is not None:
        return sentence(f"one backup when {held.name} has ended, within a minute: ", owed)
    return sentence("one backup is created at once: ", owed, "; ", then)


def _missed_words(missed: int) -> str:
    """`2 runs missed`."""
    return f"{f'over {MOST_RUNS:,} runs' if missed >= MOST_RUNS else humanize.count(missed, 'run')} missed"


def _then(following: datetime | None, starts: datetime | None, now: datetime, *, silent: bool) -> Text:
    if following is None:
        return "no run after that"
    is_another_day = following.astimezone(now.tzinfo).date() != now.date()
    if silent or (starts and starts - following < _MINUTE and is_another_day):
        start: Text = ""  # on another day a time has no seconds: both would read the same
    else:
        start = sentence(", created ", starts) if starts else ", created within a minute"
    return sentence("next run ", following, start, ", in ", (starts or following) - now)


Readings = tuple[Reading, ...]
"""The readings that remain possible, never none; one where the dialect is known or makes no difference."""


def may_be_due(schedule: Schedule, now: datetime, readings: Readings) -> bool:
    """True if a backup is due in any of the readings."""
    return any(is_due(schedule, now, reading.dialect) for reading in readings)


def pause_as_read(
    schedule: Schedule,
    now: datetime,
    readings: Readings,
    backups: Iterable[Backup],
    *,
    beat: Heartbeat | None,
) -> Text:
    """The effect of pausing in each of the readings."""
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
    is_new: bool = False,
) -> UnpauseForecast:
    """The effect of unpausing; where the readings differ, none can be relied on and the sentence has them all."""
    runs = tuple(backups)
    answers = {
        reading: unpause(
            schedule,
            now,
            choice,
            server_default,
            dialect=reading.dialect,
            beat=beat,
            backups=runs,
            refusal=refusal,
            is_new=is_new,
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
    return join_sentences(
        (sentence(f"on {reading.releases}: ", without_full_stop(told(reading))) for reading in readings), "; "
    )
