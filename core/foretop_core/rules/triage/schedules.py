"""Findings about schedules: they do not run, or not as somebody believes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec.structs import replace

from foretop_core.cron import quoted
from foretop_core.models import Backup, Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.collisions import collisions
from foretop_core.rules.facts.pause_facts import count_unpause
from foretop_core.rules.facts.schedule_facts import ALWAYS_DUE, Choice, ScheduleFacts, schedule_facts, submitted
from foretop_core.rules.pauses import (
    PAUSED_BATCH,
    PauseWindow,
    ended_windows,
    first_pause,
    other_pauses,
    pause_reason,
    pause_windows,
)
from foretop_core.rules.sentences import Key, Moment, Text, roughly, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.cron_dialects import refusal_by_upgrade, runaway_by_upgrade
from foretop_core.rules.triage.finding import (
    PAUSED_OVERDUE,
    QUEUE,
    TRY,
    WINDOW_OPEN,
    WINDOW_OVERRUN,
    Finding,
    Severity,
    Thresholds,
)


def invalid_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule, _ in snapshot.read_schedules:
        facts = schedule_facts(snapshot, schedule, now)
        problem, too_long = facts.invalid, facts.is_too_long
        if not facts.stays_invalid:
            continue
        paused = " It is paused, so Velero has not checked it yet." if schedule.spec.paused else ""
        upgrade, instead = refusal_by_upgrade(snapshot, schedule, now)
        wrong, correct = ("invalid cron", "its cron") if facts.is_invalid_cron else ("refused", "what Velero refuses")
        yield Finding(
            "schedule-invalid",
            Severity.ERROR,
            snapshot.ref(schedule),
            schedule.created,
            "cron too long to be read" if too_long else f"{wrong}, makes no backups",
            sentence(
                f"Velero {'does not read' if too_long else 'refuses'} {quoted(schedule.spec.schedule)}, and it makes "
                f"no backups: {problem}.{paused}",
                upgrade,
            ),
            sentence(
                instead.rstrip(".") if instead else f"Correct {correct}",
                Key("edit-schedule"),
                ". If a run was due since its creation, a backup is created at once, unless the same change sets "
                "spec.skipImmediately to true.",
            ),
        )


def never_firing(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules without a next run, which Velero looks for five years ahead: a date may just be rarer than that."""
    for schedule, _ in snapshot.read_schedules:
        facts = schedule_facts(snapshot, schedule, now)
        if schedule.spec.paused or facts.next_run is not None or not facts.due:
            continue
        made = len(facts.runs)
        when = "" if facts.never_fires else " within five years"
        yield Finding(
            "schedule-never-fires",
            Severity.ERROR,
            snapshot.ref(schedule),
            schedule.created,
            ALWAYS_DUE,
            f"No date{when} matches {quoted(schedule.spec.schedule)}; Velero treats it as always due and starts a "
            f"backup almost every minute. {humanize.count(made, 'backup')} of it exist now."
            f"{runaway_by_upgrade(snapshot, schedule, now)}",
            sentence("Pause the schedule", Key("pause"), ", then correct its cron", Key("edit-schedule"), "."),
        )


def overdue_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule, _ in snapshot.read_schedules:
        if schedule.spec.paused:
            continue
        facts = schedule_facts(snapshot, schedule, now, limits.overdue)
        late, beat = facts.overdue, facts.beat
        if late is None or not late.has_time:
            continue
        what = "overdue, held by its last backup" if late.blocker else "overdue"
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
        facts = schedule_facts(snapshot, schedule, now, limits.overdue)
        paused, since = facts.pause, _paused_since(facts)
        if paused is None or since is None or not _is_forgotten(facts, limits):
            continue
        (lead, unpausing), *others = facts.unpausing_choices
        due = ", overdue" if facts.is_overdue_pause else ""
        rest = [
            f" {words} {'one backup is created at once' if forecast.at_once else 'no backup is created'}."
            for words, forecast in others
        ]
        good = facts.newest_good
        kept = sentence("Its newest good backup is ", now - good.started, " old.") if good and good.started else ""
        yield Finding(
            "schedule-paused-long",
            Severity.WARNING,
            snapshot.ref(schedule),
            since,
            sentence("paused for ", roughly(now - since), due),
            sentence(
                "Paused since ",
                since,
                "" if paused.since else " or earlier",
                pause_reason(paused),
                f". {lead}: ",
                unpausing.sentence,
                ".",
            ),
            sentence("Unpause it if the work is done", Key("unpause"), ".", *rest),
            blames=windows.get(snapshot.ref(schedule)),
            hits=kept,
        )


def paused_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """A maintenance window, or one that was never ended: nothing is broken, and something is not backed up either.

    Told where all of several are paused, where one that is paused is overdue, and of each window that has time left;
    always without those that another finding tells of.
    """
    ended = _windows_of(snapshot, now)
    for namespace, schedules in snapshot.schedules_by_namespace.items():
        paused = [schedule_facts(snapshot, item, now, limits.overdue) for item in schedules if item.spec.paused]
        most = _paused_most(paused) if len(paused) >= max(limits.fewest_paused, len(schedules)) else []
        own = [facts for facts in paused if snapshot.ref(facts.schedule) not in ended]
        if any(facts in own for facts in most):
            # Older pauses keep their finding and their date beside a new one.
            is_old = any(_is_forgotten(facts, limits) for facts in most)
            joint = own if is_old else [facts for facts in own if not _is_forgotten(facts, limits)]
            yield _all_paused(snapshot, namespace, paused, joint, most)
            continue
        untold = [facts for facts in own if not _is_forgotten(facts, limits)]
        if late := [facts for facts in untold if facts.is_overdue_pause]:
            yield _overdue_pauses(snapshot, namespace, f"{len(paused)} of {len(schedules)}", paused, late)
        for window in pause_windows(facts.schedule for facts in untold if facts not in late):
            yield _open_window(snapshot, window, now)


def _all_paused(
    snapshot: ClusterSnapshot,
    namespace: str,
    every: list[ScheduleFacts],
    paused: list[ScheduleFacts],
    most: list[ScheduleFacts],
) -> Finding:
    total, others = len(every), len(every) - len(paused)
    late = sum(facts.is_overdue_pause for facts in every)
    overdue = f"; {late} {'is' if late == 1 else 'are'} overdue" if late else ""
    besides = f" {others} of them {'has its' if others == 1 else 'have their'} own finding." if others else ""
    lead = f"All {total} schedules in {namespace} are paused and make no backup{overdue}.{besides}"
    what = f"all {total} paused{f', {late} overdue' if late else ''}"
    since = first_pause(facts.pause for facts in most if facts.pause is not None)
    return _pause_finding("velero-all-paused", snapshot, namespace, paused, what, lead, since)


def _paused_most(paused: list[ScheduleFacts]) -> list[ScheduleFacts]:
    """The schedules of the window, or of one person's request, that holds the most of them."""
    together: dict[tuple[object, ...], list[ScheduleFacts]] = {}
    for facts in paused:
        if (pause := facts.pause) is not None:
            batch = facts.schedule.annotation(PAUSED_BATCH)
            together.setdefault((batch,) if batch else (pause.who, pause.why, pause.until), []).append(facts)
    return max(together.values(), key=len, default=[])


def _overdue_pauses(
    snapshot: ClusterSnapshot, namespace: str, counted: str, paused: list[ScheduleFacts], late: list[ScheduleFacts]
) -> Finding:
    """Its counts are those of all, as in the header; it is about those that have no finding of their own."""
    names, every = [facts.schedule.name for facts in late], sum(facts.is_overdue_pause for facts in paused)
    others = every - len(late)
    besides = f" {others} more {'has its' if others == 1 else 'have their'} own finding." if others else ""
    lead = f"{humanize.join(names)} {'is' if len(late) == 1 else 'are'} paused and overdue.{besides}"
    what = f"{counted} paused, {every} overdue" if len(late) > 1 else "paused and overdue"
    finding = _pause_finding(PAUSED_OVERDUE, snapshot, namespace, late, what, lead)
    return finding if len(late) > 1 else replace(finding, subject=snapshot.ref(late[0].schedule))


def _pause_finding(
    code: str,
    snapshot: ClusterSnapshot,
    namespace: str,
    paused: list[ScheduleFacts],
    what: str,
    lead: str,
    since: datetime | None = None,
) -> Finding:
    """`since` is when it began: else when the first of them was paused."""
    items, now = [facts.schedule for facts in paused], paused[0].now
    counts = count_unpause(paused, Choice.DO_NOT_SKIP)
    notes = [
        sentence(f" Window of {humanize.count(len(window.schedules), 'schedule')} ", window.note(now), ".")
        for window in pause_windows(items)
    ]
    them = "it" if len(items) == 1 else "them"
    return Finding(
        code,
        Severity.WARNING,
        ObjectRef(snapshot.context, QUEUE, namespace, ""),
        since or first_pause(facts.pause for facts in paused if facts.pause is not None),
        what,
        sentence(lead, *notes, other_pauses(items)),
        sentence(
            f"Unpause {them} when the work is done", Key("unpause"), "; skip if an immediate backup would be a problem."
        ),
        tuple(snapshot.ref(schedule) for schedule in items),
        hits=counts.unskipped if counts.due else "",
    )


def _is_forgotten(facts: ScheduleFacts, limits: Thresholds) -> bool:
    """True if it is paused for so long that it has a finding of its own."""
    since = _paused_since(facts)
    return since is not None and facts.now - since >= limits.forgotten_pause


def _paused_since(facts: ScheduleFacts) -> datetime | None:
    """Since when a schedule that would run is paused; None where it is not, or nothing tells."""
    if facts.pause is None or facts.stays_invalid:
        return None
    return facts.pause.since or facts.by_reading[-1].next_run


def overrun_windows(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Windows that should have ended: nothing resumes by itself."""
    for window in ended_windows(snapshot.schedules, now):
        names = humanize.join([schedule.name for schedule in window.schedules])
        are = "is" if len(window.schedules) == 1 else "are"
        evidence = sentence(f"{names} {are} still paused, ", window.told, ".")
        what = f"over, {len(window.schedules):,} still paused"
        since, do = window.pause.until, "Resume it if the work is done"
        yield _window_finding(WINDOW_OVERRUN, Severity.WARNING, snapshot, window, since, what, evidence, do, now)


def _open_window(snapshot: ClusterSnapshot, window: PauseWindow, now: datetime) -> Finding:
    names = humanize.join([schedule.name for schedule in window.schedules])
    end = sentence(", to resume ", window.pause.until) if window.pause.until is not None else ", no end"
    what = sentence(f"{len(window.schedules):,} paused", end)
    make = "makes" if len(window.schedules) == 1 else "make"
    evidence = sentence(f"{names} {make} no backup until resumed. Paused ", window.told, ".")
    since, do = window.pause.since, "Resume it when the work is done"
    return _window_finding(WINDOW_OPEN, Severity.NOTE, snapshot, window, since, what, evidence, do, now)


def _window_finding(
    code: str,
    severity: Severity,
    snapshot: ClusterSnapshot,
    window: PauseWindow,
    since: datetime | None,
    what: Text,
    evidence: Text,
    do: str,
    now: datetime,
) -> Finding:
    counts = count_unpause((schedule_facts(snapshot, item, now) for item in window.schedules), Choice.DO_NOT_SKIP)
    return Finding(
        code,
        severity,
        _window_ref(snapshot, window),
        since,
        what,
        evidence,
        sentence(do, Key("resume"), ", or set a later end", Key("change-pause"), "."),
        tuple(snapshot.ref(schedule) for schedule in window.schedules),
        hits=counts.unskipped,
        called=window.name,
    )


def _windows_of(snapshot: ClusterSnapshot, now: datetime) -> dict[ObjectRef, ObjectRef]:
    """By schedule, the overrun window that paused it."""
    ended = ended_windows(snapshot.schedules, now)
    return {snapshot.ref(item): _window_ref(snapshot, window) for window in ended for item in window.schedules}


def _window_ref(snapshot: ClusterSnapshot, window: PauseWindow) -> ObjectRef:
    return ObjectRef(snapshot.context, QUEUE, window.schedules[0].namespace, window.id)


def colliding_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """One for each server, and only where it is known how many backups that works on at a time."""
    for namespace in snapshot.schedules_by_namespace:
        slots = snapshot.server(namespace).concurrency
        if slots is None:
            continue
        crowds = collisions(snapshot, namespace, now, slots, limits.most_collisions)
        if not crowds:
            continue
        following = [Moment(crowd.following or crowd.meeting.minutes[0], to_the_minute=True) for crowd in crowds]
        sets = f"{len(crowds)} sets" if len(crowds) > 1 else f"{crowds[0].meeting.size:,}"
        evidence: list[Text] = []
        for crowd, when in zip(crowds, following, strict=True):
            schedules, rhythm = crowd.meeting.schedules, f" ({crowd.rhythm})" if crowd.rhythm else ""
            names = humanize.join([schedule.name for schedule in schedules])
            evidence.append(sentence("At ", when, f" {len(schedules):,} schedules start together{rhythm}: {names}. "))
        yield Finding(
            "schedules-collide",
            Severity.NOTE,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            None,
            sentence(f"{sets} start together, ", following[0]),
            sentence(*evidence, f"Velero works on {humanize.count(slots, 'backup')} at a time, the others wait."),
            sentence("Give them different minutes, or raise --concurrent-backups: try it", *TRY, "."),
            tuple(dict.fromkeys(snapshot.ref(schedule) for crowd in crowds for schedule in crowd.meeting.schedules)),
            f"{min(crowd.meeting.minutes[0] for crowd in crowds):%H:%M}",
        )


def protection_gaps(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Two expected runs without a good backup, or a good one that is about to expire with none after it."""
    for schedule, _ in snapshot.read_schedules:
        facts = schedule_facts(snapshot, schedule, now, limits.overdue)
        if facts.parsed is None or facts.never_fires:
            continue
        good = facts.newest_good
        if good and (expires := _expires_first(facts, good, limits)):
            what = "last good backup expires soon"
            evidence = sentence(f"{good.name} is its last good backup and expires at ", expires, ", before the next.")
            yield _gap(snapshot, schedule, good.started, what, evidence, good)
            continue
        if _last_run_was_good(schedule, good) or (good is not None and _is_made_in_time(facts, good, limits)):
            continue
        should, made = facts.promised_since(limits.gap), schedule.created
        if should is None or made is None:
            continue
        if good is None:
            evidence = sentence("None of its backups has completed since it was created at ", made, ".")
            yield _gap(snapshot, schedule, made, "no good backup at all", evidence, None)
        elif good.started is not None and good.started < should:
            evidence = sentence(
                "Its newest good backup is from ",
                good.started,
                f" ({good.name}); it promises one from ",
                should,
                " or later.",
                coming_note(facts.unfinished, facts),
            )
            what = "good backup older than promised"
            yield _gap(snapshot, schedule, facts.late_from(good.started, limits.gap), what, evidence, good)


def coming_note(run: Backup | None, facts: ScheduleFacts) -> Text:
    """A sentence on the backup that waits or runs, or else on the schedule's next run; "" for neither."""
    if run is not None:
        since = sentence(" since ", moment) if (moment := run.started or run.created) else ""
        return sentence(f" {run.name} is {run.phase or 'New'}", since, ".")
    run_at = facts.next_run
    return sentence(" Its next run is at ", run_at, ".") if run_at is not None and not facts.due else ""


def _last_run_was_good(schedule: Schedule, good: Backup | None) -> bool:
    """Then there is no gap, unless the next run is overdue, which is told by itself."""
    submitted = schedule.status.last_backup
    return good is not None and submitted is not None and good.started is not None and good.started >= submitted


def _is_made_in_time(facts: ScheduleFacts, good: Backup, limits: Thresholds) -> bool:
    """True if a backup waits or runs that was submitted before the last good one was too old.

    Nothing went wrong since that; a backup that does not come on is told by itself.
    """
    run = facts.unfinished
    if run is None or facts.faults_in_a_row or good.started is None:
        return False
    late = facts.late_from(good.started, limits.gap)
    return late is None or submitted(run) <= late


def _expires_first(facts: ScheduleFacts, good: Backup, limits: Thresholds) -> datetime | None:
    """When the backup is gone, where that is soon for its lifetime and before the schedule can make another."""
    expires, started = good.status.expiration, good.started
    if expires is None or started is None or expires <= facts.now:
        return None
    soon = min(limits.expiring_soon, (expires - started) / 4)
    run = None if facts.schedule.spec.paused else facts.next_run
    return expires if expires - facts.now <= soon and (run is None or run > expires) else None


def _gap(
    snapshot: ClusterSnapshot,
    schedule: Schedule,
    since: datetime | None,
    what: str,
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
        sentence("Find out why its runs fail or do not start, and back up now", Key("back-up-now"), "."),
        (snapshot.ref(good),) if good else (),
        hits="Until then a restore has only that older data." if good else "",
    )
