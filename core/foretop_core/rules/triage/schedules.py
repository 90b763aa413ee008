"""Findings about schedules: they do not run, or not as somebody believes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from foretop_core.cron import CronError, Dialect, quoted
from foretop_core.models import Backup, Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.cluster_unpause_forecast import count_unpause, forecast_choices
from foretop_core.rules.collisions import collisions
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.forecast import (
    Choice,
    DelayReason,
    invalid,
    is_due,
    never_fires,
    next_run,
    overdue,
)
from foretop_core.rules.pause_windows import PauseWindow, other_pauses, pause_note, pause_reason, pause_windows
from foretop_core.rules.pauses import pause_info
from foretop_core.rules.phases import ENDED
from foretop_core.rules.protection.promise import should_have_by
from foretop_core.rules.schedule_history import faults_in_a_row, newest_good
from foretop_core.rules.sentences import Moment, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.cron_dialects import refusal_by_upgrade, runaway_by_upgrade
from foretop_core.rules.triage.finding import QUEUE, Finding, Severity, Thresholds

WINDOW_OVERRUN = "window-overrun"


def invalid_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule, dialect in snapshot.read_schedules:
        problem = invalid(schedule, dialect)
        if not problem:
            continue
        parsed = expression(schedule.spec.schedule, dialect)
        too_long = isinstance(parsed, CronError) and parsed.is_too_long
        paused = " It is paused, so Velero has not checked it yet." if schedule.spec.paused else ""
        upgrade, instead = refusal_by_upgrade(snapshot, schedule, now)
        yield Finding(
            "schedule-invalid",
            Severity.ERROR,
            snapshot.ref(schedule),
            schedule.created,
            "cron too long to be read" if too_long else "invalid cron, makes no backups",
            sentence(
                f"{quoted(schedule.spec.schedule)} is {'not read' if too_long else 'refused'}: {problem}.{paused}",
                upgrade,
            ),
            f"{instead or 'Fix spec.schedule.'} Fixing it starts a backup at once if a run was due between its "
            "creation and now, unless the same change sets spec.skipImmediately to true.",
        )


def never_firing(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules without a next run, which Velero looks for five years ahead: a date may just be rarer than that."""
    for schedule, dialect in snapshot.read_schedules:
        if schedule.spec.paused or next_run(schedule, dialect) is not None or not is_due(schedule, now, dialect):
            continue
        made = len(snapshot.runs(schedule))
        when = "" if never_fires(schedule, dialect) else " within five years"
        yield Finding(
            "schedule-never-fires",
            Severity.ERROR,
            snapshot.ref(schedule),
            schedule.created,
            f"matches no date{when}, so it runs every minute",
            f"No date{when} matches {quoted(schedule.spec.schedule)}; Velero treats it as always due and starts a "
            f"backup almost every minute. {humanize.count(made, 'backup')} of it exist now."
            f"{runaway_by_upgrade(snapshot, schedule, now)}",
            "Pause the schedule, then fix its expression.",
        )


def overdue_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule, dialect in snapshot.read_schedules:
        if schedule.spec.paused:
            continue
        beat = snapshot.heartbeat(schedule.namespace)
        held_by = snapshot.backups_by_schedule.get((schedule.namespace, schedule.name), ())
        late = overdue(schedule, now, dialect, beat, held_by, grace=limits.overdue)
        if late is None or late.reason in {DelayReason.INVALID, DelayReason.NEVER_FIRES}:
            continue
        what = "overdue, blocked by its last backup" if late.blocker else "overdue"
        look = f" at Velero's next check (second :{beat.second:02d})" if beat.second is not None else " within a minute"
        remedy = (
            f"Check {late.blocker.name}: once it has ended, one backup starts{look}; missed runs are not repeated."
            if late.blocker
            else "Check the Velero pod and its log; pause the schedule if you do not want the backup."
        )
        yield Finding(
            "schedule-overdue",
            Severity.ERROR,
            snapshot.ref(schedule),
            late.since,
            what,
            sentence(
                "Due at ", late.since, ", ", now - late.since, " ago, but no backup was started: ", late.sentence, "."
            ),
            remedy,
            (snapshot.ref(late.blocker),) if late.blocker else (),
            late.reason.value,
            snapshot.ref(late.blocker) if late.blocker else None,
        )


def forgotten_pauses(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    windows = _windows_of(snapshot, now)
    for schedule in snapshot.schedules:
        readings = snapshot.readings(schedule)
        if not schedule.spec.paused or all(invalid(schedule, reading.dialect) for reading in readings):
            continue
        paused = pause_info(schedule)
        since = paused.since or next_run(schedule, readings[-1].dialect)
        if since is None or now - since < limits.forgotten_pause:
            continue
        (lead, unpausing), *others = forecast_choices(snapshot, schedule, now)
        due = ", due at once" if unpausing.at_once else ""
        rest = [sentence(f" {words}: ", told.sentence, ".") for words, told in others]
        good = newest_good(snapshot.runs(schedule))
        kept = sentence(" Its newest good backup is ", now - good.started, " old.") if good and good.started else ""
        yield Finding(
            "schedule-paused-long",
            Severity.WARNING,
            snapshot.ref(schedule),
            since,
            sentence("paused for ", now - since, due),
            sentence(
                "Paused since ",
                since,
                " at the latest",
                pause_reason(paused),
                f". {lead}: ",
                unpausing.sentence,
                ".",
                kept,
            ),
            sentence("Unpause it if the work is done.", *rest),
            blames=windows.get(snapshot.ref(schedule)),
        )


def all_paused(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """A maintenance window, or one that was never ended: nothing is broken, and nothing is backed up either."""
    overrun = _windows_of(snapshot, now)
    for namespace, schedules in snapshot.schedules_by_namespace.items():
        paused = [schedule for schedule in schedules if schedule.spec.paused]
        if len(paused) < max(limits.fewest_paused, len(schedules)):
            continue
        counts = count_unpause(((snapshot, schedule, now) for schedule in paused), Choice.DO_NOT_SKIP)
        since = max((one for one in (pause_info(schedule).since for schedule in paused) if one), default=None)
        notes = [
            sentence(f" Window {one.id}: {humanize.count(len(one.schedules), 'schedule')} ", one.note(now), ".")
            for one in pause_windows(paused)
        ]
        blamed = {overrun.get(snapshot.ref(schedule)) for schedule in paused}
        started = humanize.count(counts.at_once, "backup")
        at_once = f" Unpaused without skip, {started} would start at once." if counts.at_once else ""
        yield Finding(
            "velero-all-paused",
            Severity.WARNING,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            since,
            f"all {len(paused)} schedules are paused, {counts.due} due",
            sentence(f"No schedule in {namespace} makes a backup.", *notes, other_pauses(paused), at_once),
            "Unpause them when the work is done; choose skip if an immediate backup would be a problem.",
            tuple(snapshot.ref(schedule) for schedule in paused),
            blames=blamed.pop() if len(blamed) == 1 else None,
        )


def overrun_windows(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Windows that should have ended: nothing resumes by itself."""
    for window in pause_windows(snapshot.schedules):
        late = window.overrun(now)
        if late is None:
            continue
        count = humanize.count(len(window.schedules), "schedule")
        counts = count_unpause(((snapshot, schedule, now) for schedule in window.schedules), Choice.LEAVE)
        yield Finding(
            WINDOW_OVERRUN,
            Severity.WARNING,
            _window_ref(snapshot, window),
            window.pause.until,
            sentence("overrun by ", late, f", {count} still paused"),
            sentence(
                f"{humanize.join([schedule.name for schedule in window.schedules])} paused ",
                pause_note(window.pause),
                f". {counts.due} of {len(window.schedules)} {'is' if counts.due == 1 else 'are'} due; resumed now, "
                f"{humanize.count(counts.at_once, 'backup')} would start at once.",
            ),
            f"Resume the window if the work is done: foretop schedule unpause --batch {window.id}.",
            tuple(snapshot.ref(schedule) for schedule in window.schedules),
        )


def _windows_of(snapshot: ClusterSnapshot, now: datetime) -> dict[ObjectRef, ObjectRef]:
    """By schedule, the overrun window that paused it."""
    late = (window for window in pause_windows(snapshot.schedules) if window.overrun(now) is not None)
    return {snapshot.ref(item): _window_ref(snapshot, window) for window in late for item in window.schedules}


def _window_ref(snapshot: ClusterSnapshot, window: PauseWindow) -> ObjectRef:
    return ObjectRef(snapshot.context, QUEUE, window.schedules[0].namespace, window.id)


def colliding_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Only where it is known how many backups the server works on at a time."""
    for namespace in snapshot.schedules_by_namespace:
        slots = snapshot.server(namespace).concurrency
        if slots is None:
            continue
        for crowd in collisions(_read_in(snapshot, namespace), now, slots, limits.most_collisions):
            names = [schedule.name for schedule in crowd.schedules]
            when = Moment(crowd.following or crowd.at, to_the_minute=True)
            rhythm = f", {crowd.rhythm}" if crowd.rhythm else ""
            yield Finding(
                "schedules-collide",
                Severity.NOTE,
                ObjectRef(snapshot.context, QUEUE, namespace, ""),
                None,
                sentence("next ", when, f": {len(names)} schedules start together"),
                sentence(
                    f"{humanize.join(names)} are due in the same minute{rhythm}, next at ",
                    when,
                    f", and Velero works on {humanize.count(slots, 'backup')} at a time: the others wait.",
                ),
                "Give them different minutes, or raise --concurrent-backups.",
                tuple(snapshot.ref(schedule) for schedule in crowd.schedules),
                f"{crowd.at:%H:%M}",
            )


def _read_in(snapshot: ClusterSnapshot, namespace: str) -> Iterator[tuple[Schedule, Dialect]]:
    return ((schedule, dialect) for schedule, dialect in snapshot.read_schedules if schedule.namespace == namespace)


def protection_gaps(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Two expected runs without a good backup, or a good one that is about to expire with none after it."""
    for schedule, dialect in snapshot.read_schedules:
        parsed = expression(schedule.spec.schedule, dialect)
        if isinstance(parsed, CronError) or parsed.never_fires:
            continue
        good = newest_good(snapshot.runs(schedule))
        if good and (expires := _expires_first(schedule, dialect, good, now, limits)):
            what: Text = "last good backup expires with none after it"
            evidence = sentence(good.name, " is the newest good backup and expires at ", expires, ".")
            yield _gap(snapshot, schedule, good.started, what, evidence, good)
            continue
        made = schedule.created
        if schedule.spec.paused or made is None or _last_run_was_good(schedule, good):
            continue
        if good is not None and _is_being_made(snapshot.runs(schedule)):
            continue
        should = should_have_by(parsed, now, limits.gap)
        if should is None or made >= should:
            continue
        if good is None:
            evidence = sentence("None of its backups has completed since it was created at ", made, ".")
            yield _gap(snapshot, schedule, made, "no good backup at all", evidence, None)
        elif good.started is not None and good.started < should:
            evidence = sentence(
                f"{good.name}, started ",
                good.started,
                ", is the newest good backup; later runs should have made a newer one.",
            )
            what = sentence("newest good backup ", now - good.started, " old")
            yield _gap(snapshot, schedule, good.started, what, evidence, good)


def _last_run_was_good(schedule: Schedule, good: Backup | None) -> bool:
    """Then there is no gap, unless the next run is overdue, which is told by itself."""
    submitted = schedule.status.last_backup
    return good is not None and submitted is not None and good.started is not None and good.started >= submitted


def _is_being_made(runs: tuple[Backup, ...]) -> bool:
    """Whether a backup waits or runs, and nothing has gone wrong since the last good one.

    So it is after a pause: that there is no newer one says nothing before this one has ended. A backup that does not
    come on is told by itself.
    """
    return bool(runs) and runs[0].phase not in ENDED and not faults_in_a_row(runs)


def _expires_first(
    schedule: Schedule, dialect: Dialect, good: Backup, now: datetime, limits: Thresholds
) -> datetime | None:
    """When the backup is gone, where that is soon for its lifetime and before the schedule can make another."""
    expires, started = good.status.expiration, good.started
    if expires is None or started is None or expires <= now:
        return None
    soon = min(limits.expiring_soon, (expires - started) / 4)
    run = None if schedule.spec.paused else next_run(schedule, dialect)
    return expires if expires - now <= soon and (run is None or run > expires) else None


def _gap(
    snapshot: ClusterSnapshot,
    schedule: Schedule,
    since: datetime | None,
    what: Text,
    evidence: Text,
    good: Backup | None,
) -> Finding:
    return Finding(
        "protection-gap",
        Severity.ERROR,
        snapshot.ref(schedule),
        since,
        what,
        evidence,
        "Find out why its runs fail or do not start, and back up now; until then, a restore uses that older data.",
        (snapshot.ref(good),) if good else (),
    )
