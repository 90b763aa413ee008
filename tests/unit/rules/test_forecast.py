"""The next run of a schedule, and the effect of unpausing it: the seed's examples and the measured facts."""

from __future__ import annotations

from datetime import timedelta

import pytest

from foretop_core.cron import Dialect
from foretop_core.rules.cron_dialects import readings
from foretop_core.rules.forecast import (
    Choice,
    DelayReason,
    base_time,
    expected_start,
    invalid,
    is_due,
    may_be_due,
    missed_runs,
    next_run,
    overdue,
    pause,
    unpause,
    unpause_as_read,
)
from foretop_core.rules.heartbeat import Heartbeat, LifeSign
from foretop_core.rules.sentences import render
from tests.objects import NOW, at, backup, schedule

DIALECT = Dialect.NETRESEARCH
HEARTBEAT = Heartbeat(second=3, pulse=at("02:41:03"))


def test_a_schedule_that_never_ran_counts_from_its_creation() -> None:
    new = schedule(cron="45 * * * *", created="02:43:10")
    assert base_time(new) == at("02:43:10")
    assert next_run(new, DIALECT) == at("02:45:00")


def test_a_skip_after_the_last_backup_moves_the_next_run() -> None:
    skipped = schedule(cron="0 * * * *", last="00:00:03", skipped="02:10:00")
    assert next_run(skipped, DIALECT) == at("03:00:00")


def test_a_skip_before_the_last_backup_is_ignored() -> None:
    old_skip = schedule(cron="0 * * * *", last="02:00:03", skipped="01:30:00")
    assert next_run(old_skip, DIALECT) == at("03:00:00")


def test_at_the_very_second_of_its_run_a_schedule_is_not_yet_due() -> None:
    hourly = schedule(cron="0 * * * *", last="01:00:03")
    assert not is_due(hourly, at("02:00:00"), DIALECT)
    assert is_due(hourly, at("02:00:01"), DIALECT)


def test_the_seed_example_of_minutes_43_and_50() -> None:
    """Created with `45 * * * *`, paused at minute 43, unpaused at minute 50: an unwanted backup, unless skipped."""
    held = schedule(cron="45 * * * *", created="02:40:00", paused=True)
    now = at("02:50:00")
    surprise = unpause(held, now, Choice.LEAVE, server_default=False, dialect=DIALECT)
    assert surprise.at_once
    assert surprise.missed == 1
    assert "one backup is created at once: due since 02:45:00Z, 1 run missed" in render(surprise.sentence, NOW)
    skipping = unpause(held, now, Choice.SKIP, server_default=False, dialect=DIALECT)
    assert not skipping.at_once
    assert skipping.skips
    assert skipping.next_run == at("03:45:00")
    assert "no backup now" in render(skipping.sentence, NOW)


@pytest.mark.parametrize("server_default", [True, False, None])
@pytest.mark.parametrize("field", [True, False, None])
@pytest.mark.parametrize("choice", list(Choice))
@pytest.mark.parametrize("due", [True, False])
def test_the_whole_skip_table(choice: Choice, field: bool | None, server_default: bool | None, due: bool) -> None:
    held = schedule(cron="0 * * * *", last="00:00:03" if due else "02:00:03", paused=True, skip=field)
    forecast = unpause(held, NOW, choice, server_default, dialect=DIALECT)
    wanted = {Choice.SKIP: True, Choice.DO_NOT_SKIP: False, Choice.LEAVE: field}[choice]
    skips = bool(server_default) if wanted is None else wanted
    assert forecast.skips is skips
    assert forecast.at_once is (due and not skips)
    assert forecast.next_run == at("03:00:00")
    assert forecast.predictable is (wanted is not None or server_default is False)


def test_unpausing_gives_the_exact_start_if_the_heartbeat_is_known() -> None:
    cassandra = schedule("cassandra", "*/30 * * * *", last="2026-11-12T02:00:03Z", paused=True)
    forecast = unpause(cassandra, NOW, Choice.SKIP, beat=HEARTBEAT, dialect=DIALECT)
    assert forecast.starts == at("03:00:03")
    assert forecast.missed == 145
    assert "due since 12 Nov 02:30Z, 145 runs missed" in render(forecast.sentence, NOW)
    assert "next run 03:00:00Z, created 03:00:03Z, in 18 minutes" in render(forecast.sentence, NOW)


def test_a_start_in_the_minute_of_a_run_days_ahead_is_not_written_twice() -> None:
    weekly = schedule("weekly", "0 3 * * 3", last="2026-11-11T03:00:03Z", paused=True)
    said = render(unpause(weekly, NOW, Choice.SKIP, beat=HEARTBEAT, dialect=DIALECT).sentence, NOW)
    assert "next run 18 Nov 03:00Z, in 3 days" in said
    assert said.count("18 Nov") == 1


def test_unpausing_waits_for_its_own_running_backup() -> None:
    held = schedule(cron="0 * * * *", last="00:00:03", paused=True)
    running = backup("nightly-1", "InProgress", created="02:30:00", of="nightly")
    forecast = unpause(held, NOW, Choice.DO_NOT_SKIP, backups=[running], dialect=DIALECT)
    assert not forecast.at_once
    assert "when nightly-1 has ended" in render(forecast.sentence, NOW)


def test_unpausing_an_expression_that_never_fires_gives_a_warning() -> None:
    forecast = unpause(schedule(cron="0 0 31 2 *", paused=True), NOW, Choice.SKIP, dialect=DIALECT)
    assert forecast.at_once
    assert forecast.next_run is None
    assert "never fires" in render(forecast.sentence, NOW)


def test_an_expression_that_never_fires_waits_for_the_backup_that_runs() -> None:
    never = schedule(cron="0 0 31 2 *", paused=True)
    running = backup("nightly-1", "InProgress", of="nightly", started="02:40:03")
    forecast = unpause(never, NOW, dialect=DIALECT, backups=[running])
    assert not forecast.at_once
    assert render(forecast.sentence, NOW).startswith("a backup when nightly-1 has ended, then one almost every minute")


def test_unpausing_an_invalid_schedule_creates_no_backup() -> None:
    forecast = unpause(schedule(cron="61 * * * *", paused=True), NOW, Choice.DO_NOT_SKIP, dialect=DIALECT)
    assert not forecast.at_once
    assert "end of range (61) above maximum (59)" in render(forecast.sentence, NOW)


def test_the_server_default_cannot_be_relied_on_and_the_sentence_says_so() -> None:
    held = schedule(cron="0 * * * *", last="00:00:03", paused=True)
    forecast = unpause(held, NOW, Choice.LEAVE, server_default=True, dialect=DIALECT)
    assert not forecast.predictable
    assert "to be sure" in render(forecast.sentence, NOW)


def test_the_expected_start_is_the_first_heartbeat_after_the_due_time() -> None:
    hourly = schedule(cron="0 * * * *", last="02:00:03")
    assert expected_start(hourly, NOW, DIALECT, HEARTBEAT) == at("03:00:03")
    assert expected_start(hourly, NOW, DIALECT, Heartbeat()) is None


def test_a_due_run_starts_at_the_next_heartbeat() -> None:
    hourly = schedule(cron="40 * * * *", last="01:40:03")
    assert expected_start(hourly, at("02:40:30"), DIALECT, HEARTBEAT) == at("02:41:03")


@pytest.mark.parametrize(
    ("now", "start"), [("02:41:03.400", "02:41:03"), ("02:41:07.900", "02:41:03"), ("02:41:09", "02:42:03")]
)
def test_a_heartbeat_that_has_just_come_is_still_the_expected_start(now: str, start: str) -> None:
    """Velero's look takes a moment, and so does its news: the run is not a minute late because it is not seen yet."""
    hourly = schedule(cron="40 * * * *", last="01:40:03")
    assert expected_start(hourly, at(now), DIALECT, HEARTBEAT) == at(start)


def test_a_schedule_that_never_fires_starts_again_at_the_heartbeat_after_its_last_backup() -> None:
    never = schedule(cron="0 0 31 2 *", last="02:41:03")
    assert expected_start(never, at("02:41:03.400"), DIALECT, HEARTBEAT) == at("02:42:03")
    assert expected_start(never, at("02:42:03.400"), DIALECT, HEARTBEAT) == at("02:42:03")
    far = schedule(cron="0 0 31 2 *", last="9998-12-31T23:59:59Z")
    assert expected_start(far, at("02:41:00"), DIALECT, HEARTBEAT) == at("02:41:03")


def test_a_blocked_or_paused_schedule_has_no_expected_start() -> None:
    running = backup("nightly-1", "InProgress", of="nightly")
    assert expected_start(schedule(cron="0 * * * *", last="01:00:03"), NOW, DIALECT, HEARTBEAT, [running]) is None
    assert expected_start(schedule(cron="0 * * * *", last="01:00:03", paused=True), NOW, DIALECT, HEARTBEAT) is None


@pytest.mark.parametrize("phase", ["Queued", "ReadyToStart"])
def test_a_schedule_whose_own_backup_waits_has_no_expected_start(phase: str) -> None:
    """The backup may be InProgress at the next look, and then no other is created."""
    waiting = backup("nightly-1", phase, of="nightly")
    assert expected_start(schedule(cron="0 * * * *", last="02:00:03"), NOW, DIALECT, HEARTBEAT, [waiting]) is None


@pytest.mark.parametrize("phase", ["", "New", "InProgress"])
def test_an_unfinished_backup_blocks_its_schedule_and_is_named(phase: str) -> None:
    late = overdue(
        schedule(cron="0 * * * *", last="01:00:03"),
        NOW,
        DIALECT,
        HEARTBEAT,
        [backup("nightly-20261115010003", phase, created="01:00:03", started="01:00:04", of="nightly")],
    )
    assert late is not None
    assert late.reason is DelayReason.BLOCKED
    assert late.since == at("02:00:00")
    assert late.blocker is not None
    assert late.blocker.name == "nightly-20261115010003"
    assert "1 hour and 41 minutes" in render(late.sentence, NOW)


def test_of_several_unfinished_backups_the_oldest_blocks_and_for_as_long_as_it_has_run() -> None:
    younger = backup("younger", "InProgress", created="01:30:03", started="01:30:04", of="nightly")
    older = backup("older", "InProgress", created="01:00:03", started="01:21:07", of="nightly")
    unknown = backup("unknown", "New", created="", of="nightly")
    hourly = schedule(cron="0 * * * *", last="01:00:03")
    late = overdue(hourly, NOW, DIALECT, HEARTBEAT, [younger, older])
    assert late is not None
    assert render(late.sentence, NOW).startswith("older has been InProgress for 1 hour and 20 minutes, ")
    late = overdue(hourly, NOW, DIALECT, HEARTBEAT, [younger, older, unknown])
    assert late is not None
    assert render(late.sentence, NOW).startswith("unknown has been New, ")


@pytest.mark.parametrize("phase", ["Queued", "ReadyToStart", "WaitingForPluginOperations", "Finalizing", "Completed"])
def test_a_backup_in_another_phase_does_not_block_its_schedule(phase: str) -> None:
    late = overdue(
        schedule(cron="0 * * * *", last="01:00:03"), NOW, DIALECT, HEARTBEAT, [backup("nightly-1", phase, of="nightly")]
    )
    assert late is not None
    assert late.reason is DelayReason.UNKNOWN


def test_the_backup_of_another_schedule_does_not_block() -> None:
    late = overdue(
        schedule(cron="0 * * * *", last="01:00:03"),
        NOW,
        DIALECT,
        HEARTBEAT,
        [backup("other-1", "InProgress", of="other")],
    )
    assert late is not None
    assert late.reason is DelayReason.UNKNOWN


def test_a_run_is_not_overdue_before_velero_could_start_it() -> None:
    hourly = schedule(cron="0 * * * *", last="01:00:03")
    assert overdue(hourly, at("02:01:59"), DIALECT, HEARTBEAT) is None
    assert overdue(hourly, at("02:02:01"), DIALECT, HEARTBEAT) is not None


def test_a_run_that_just_started_is_not_overdue_if_last_backup_lags() -> None:
    hourly = schedule(cron="0 * * * *", last="01:00:03")
    made = backup("nightly-20261115024106", "", created="02:41:06", of="nightly")
    assert overdue(hourly, NOW, DIALECT, HEARTBEAT, [made]) is None


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (schedule(cron="61 * * * *", phase="FailedValidation"), DelayReason.INVALID),
        (schedule(cron="0 0 31 2 *"), DelayReason.NEVER_FIRES),
        (schedule(cron="0 * * * *", last="00:00:03", paused=True), DelayReason.PAUSED),
    ],
)
def test_every_reason_for_not_running_is_named(given: object, reason: DelayReason) -> None:
    late = overdue(given, NOW, DIALECT, HEARTBEAT)  # type: ignore[arg-type]
    assert late is not None
    assert late.reason is reason


def test_without_a_heartbeat_the_silence_is_the_reason() -> None:
    silent = Heartbeat(second=3, pulse=at("02:30:03"), period=timedelta(minutes=1))
    late = overdue(schedule(cron="0 * * * *", last="01:00:03"), NOW, DIALECT, silent)
    assert late is not None
    assert late.reason is DelayReason.NO_PULSE
    assert render(late.sentence, NOW) == "no sign of activity from Velero since 02:30:03Z"


def test_every_counts_from_the_actual_last_run() -> None:
    drifting = schedule(cron="@every 90s", last="02:40:33")
    assert next_run(drifting, DIALECT) == at("02:42:03")
    assert missed_runs(schedule(cron="@every 90s", last="02:31:07"), NOW, DIALECT) == 6
    assert missed_runs(schedule(cron="@every 1s", last="2026-11-14T02:41:07Z"), NOW, DIALECT) == 10_000, "and no more"


def test_a_fixed_expression_is_not_reported_invalid_before_velero_validates_it() -> None:
    """Paused schedules are not validated: our own parse counts, whatever phase is left over."""
    assert invalid(schedule(cron="0 0 * * 8", paused=True, phase=""), DIALECT) != ""
    assert invalid(schedule(cron="0 0 * * 0", paused=True, phase=""), DIALECT) == ""


def test_pausing_says_what_continues_and_what_is_missed() -> None:
    running = backup("nightly-1", "InProgress", of="nightly")
    sentence = render(pause(schedule(cron="0 * * * *", last="02:00:03"), NOW, DIALECT, [running]), NOW)
    assert "the run of 03:00:00Z will not start" in sentence
    assert "nightly-1 continues" in sentence
    failed = backup("nightly-1", "Failed", of="nightly")
    sentence_of_failed = render(pause(schedule(cron="0 * * * *", last="02:00:03"), NOW, DIALECT, [failed]), NOW)
    assert failed.status.completion_timestamp is None
    assert "no backup of it is running" in sentence_of_failed, "one that fails early is never given an end"
    assert "If you unpause it after 03:00:00Z, one backup is created at once unless you choose to skip." in sentence
    due = render(pause(schedule(cron="0 * * * *", last="01:00:03"), NOW, DIALECT), NOW)
    assert "the run now due will not start" in due
    assert "If you unpause it, one backup is created at once unless you choose to skip." in due
    in_time = render(pause(schedule(cron="0 * * * *", last="01:00:03"), at("02:00"), DIALECT), at("02:00"))
    assert "the run of 02:00:00Z will not start" in in_time, "due after its time, not at it"
    assert "If you unpause it after 02:00:00Z, " in in_time
    assert "is already paused" in render(pause(schedule(paused=True), NOW, DIALECT), NOW)


def test_pausing_does_not_say_that_a_backup_continues_while_velero_does_nothing() -> None:
    running = backup("nightly-1", "InProgress", of="nightly")
    hourly = schedule(cron="0 * * * *", last="02:00:03")
    dead = Heartbeat(3, at("02:30:03"), timedelta(minutes=1))
    told = render(pause(hourly, NOW, DIALECT, [running], beat=dead), NOW)
    assert "nightly-1 does not complete until Velero is back (no sign of activity from Velero since 02:30:03Z)." in told
    hangs = Heartbeat(3, at("02:30:03"), timedelta(minutes=1), worked=(LifeSign(at("02:40:03")),))
    told = render(pause(hourly, NOW, DIALECT, [running], beat=hangs), NOW)
    assert "until the storage responds (Velero has not checked its storage since 02:30:03Z)." in told


def test_with_an_unknown_reading_unpausing_says_what_each_release_does() -> None:
    paused = schedule(cron="0 2 1 * 1", last="2026-11-02T02:00:03Z", paused=True)
    told = unpause_as_read(paused, NOW, Choice.DO_NOT_SKIP, False, readings(paused.spec.schedule))
    assert render(told.sentence, NOW).startswith(
        "on Velero up to 1.18.2: one backup is created at once: due since 9 Nov 02:00Z"
    )
    assert "; on Velero 1.18.3 and later: no backup now, none is due" in render(told.sentence, NOW)
    assert (told.at_once, told.next_run, told.predictable) == (True, None, False)
    known = unpause_as_read(paused, NOW, Choice.DO_NOT_SKIP, False, readings(paused.spec.schedule, (DIALECT,)))
    assert (known.at_once, known.next_run, known.predictable) == (False, at("2027-02-01T02:00:00Z"), True)
    assert may_be_due(paused, NOW, readings(paused.spec.schedule))
