"""Findings about the coming day, by its likely course: what will go wrong unless somebody changes something.

They are notes: a schedule whose runs go well is not in trouble yet, on no page. A warning is only what the operator has
asked to be told, a window that is to be kept free, and what is wrong already, storage that refuses.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

from foretop_core.cron import CronSchedule
from foretop_core.models import Schedule
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.facts.schedule_facts import ScheduleFacts, schedule_facts
from foretop_core.rules.night.night import Fate, ForeseenRun, Night, likely_night
from foretop_core.rules.night.outlook import ScheduleOutlook, schedule_outlooks, window_outlook
from foretop_core.rules.queue.owners import OwnerKind
from foretop_core.rules.sentences import Moment, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import storage_refusal
from foretop_core.rules.triage.finding import CORRECT_WHAT_IT_NAMES, QUEUE, TRY, Finding, Severity, Thresholds

RUNS_LOST = "runs-will-be-lost"
NOT_DONE = "run-not-done-in-time"
WINDOW_TAKEN = "window-not-free"
COPY_OLD = "copy-will-be-old"
TRY_A_CHANGE = sentence("Try a change", *TRY, ".")
_JUST_AFTER = timedelta(seconds=1)


def coming_losses(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Runs that will not be made, or not be done when the next of the same schedule falls due."""
    for namespace, ahead in _nights(snapshot, now):
        for coming, schedule in _schedules(snapshot, namespace, ahead):
            # One that is due already is overdue, and told as that.
            lost = [run for run in coming.runs if run.fate is Fate.LOST and run.due is not None and run.due > now]
            overtaken = next(
                ((run, then) for run, then in pairwise(coming.runs) if _is_done_after(run, then)),
                None,
            )
            if lost:
                yield _lost(snapshot, schedule, coming, lost, ahead.until - ahead.now)
            elif overtaken is not None:
                yield _overtaken(snapshot, schedule, *overtaken)


def taken_windows(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """The window that is to be kept free, where a run is likely to be at work in it."""
    if limits.window is None:
        return
    for namespace, ahead in _nights(snapshot, now):
        kept = window_outlook(ahead, limits.window)
        if not kept.sure:
            continue
        names = list(dict.fromkeys(run.name or run.owner.name for run in kept.sure))
        schedules = dict.fromkeys(run.owner.name for run in kept.sure if run.due)
        last = max(run.end.likely for run in kept.sure if run.end is not None)
        yield Finding(
            WINDOW_TAKEN,
            Severity.WARNING,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            None,
            f"{limits.window} will not be free",
            sentence(
                "From ",
                _at(kept.begins),
                " to ",
                _at(kept.ends),
                f" no backup should be at work. Likely to be: {humanize.join(names)}; the last ends about ",
                _at(last),
                ".",
            ),
            TRY_A_CHANGE,
            tuple(ObjectRef(snapshot.context, "Schedule", namespace, name) for name in schedules),
            "window",
        )


def ageing_copies(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Schedules whose newest good copy will be older than they promise, because runs are late, lost or refused."""
    for namespace, ahead in _nights(snapshot, now):
        for coming, schedule in _schedules(snapshot, namespace, ahead):
            if all(run.fate in (Fate.MADE, Fate.UNKNOWN) for run in coming.runs):
                continue
            facts = schedule_facts(snapshot, schedule, now, limits.overdue)
            # What goes wrong already is told by itself.
            if facts.parsed is None or facts.never_fires or facts.faults_in_a_row or _is_old_already(facts, limits):
                continue
            # Those that exist already too: one that is under way is a copy soon.
            runs = [run for run in ahead.runs if run.owner.kind is OwnerKind.SCHEDULE and run.owner.name == coming.name]
            broken = _broken_promise(facts, runs, limits)
            if broken is not None:
                yield _old_copy(snapshot, facts, runs, *broken)


def _nights(snapshot: ClusterSnapshot, now: datetime) -> Iterator[tuple[str, Night]]:
    for namespace in snapshot.schedules_by_namespace:
        ahead = likely_night(snapshot, namespace, now)
        if not ahead.unknown:
            yield namespace, ahead


def _schedules(snapshot: ClusterSnapshot, namespace: str, ahead: Night) -> Iterator[tuple[ScheduleOutlook, Schedule]]:
    """Find the schedules whose runs have a known length; one that is always due has its own finding."""
    by_name = {schedule.name: schedule for schedule in snapshot.schedules_by_namespace[namespace]}
    for coming in schedule_outlooks(ahead):
        schedule = by_name.get(coming.name)
        dialect = None if schedule is None else snapshot.dialect(schedule)
        if schedule is None or dialect is None or any(run.is_borrowed for run in coming.runs):
            continue
        parsed = expression(schedule.spec.schedule, dialect)
        if isinstance(parsed, CronSchedule) and not parsed.never_fires:
            yield coming, schedule


def _is_done_after(run: ForeseenRun, then: ForeseenRun) -> bool:
    return run.end is not None and then.due is not None and run.end.likely > then.due


def _lost(
    snapshot: ClusterSnapshot,
    schedule: Schedule,
    coming: ScheduleOutlook,
    lost: Sequence[ForeseenRun],
    length: timedelta,
) -> Finding:
    due, hours = lost[0].due, humanize.count(round(length / timedelta(hours=1)), "hour")
    assert due is not None
    return Finding(
        RUNS_LOST,
        Severity.NOTE,
        snapshot.ref(schedule),
        None,
        f"will lose {len(lost):,} of {humanize.count(len(coming.runs), 'run')}",
        sentence(
            f"In the next {hours} {len(lost):,} of its {humanize.count(len(coming.runs), 'run')} are not likely to "
            "be made, the first of them that of ",
            _at(due),
            ": its last backup is still going when the next one falls due.",
        ),
        TRY_A_CHANGE,
    )


def _overtaken(snapshot: ClusterSnapshot, schedule: Schedule, run: ForeseenRun, then: ForeseenRun) -> Finding:
    assert run.end is not None
    assert then.due is not None
    late = sentence(", which is made late") if then.fate is Fate.LATE else ""
    return Finding(
        NOT_DONE,
        Severity.NOTE,
        snapshot.ref(schedule),
        None,
        "not done before its next run",
        sentence(
            "The run ",
            sentence("due at ", _at(run.due)) if run.due else "that is under way",
            " is likely to end about ",
            _at(run.end.likely),
            ", after the next one has fallen due at ",
            _at(then.due),
            late,
            ".",
        ),
        TRY_A_CHANGE,
    )


def _is_old_already(facts: ScheduleFacts, limits: Thresholds) -> bool:
    should, good = facts.promised_since(limits.gap), facts.newest_good
    return should is not None and (good is None or good.started is None or good.started < should)


def _broken_promise(
    facts: ScheduleFacts, runs: Sequence[ForeseenRun], limits: Thresholds
) -> tuple[datetime, datetime, datetime | None] | None:
    """When its newest good copy is first older than promised, since when it should be, and since when it then is.

    A run that has begun in time and goes on does not break a promise.
    """
    good = facts.newest_good
    newest = good.started if good is not None else None
    begun = [run for run in runs if run.start is not None and run.fate is not Fate.REFUSED]
    starts = sorted(run.start.likely for run in begun if run.start is not None)
    for run in runs:
        if run.due is None or run.fate is Fate.UNKNOWN:
            continue
        moment = run.due + _JUST_AFTER
        before = bisect_right(starts, moment)
        in_time = starts[before - 1] if before else newest
        # No promise is younger than that, and to ask the calendar about each of a thousand runs takes long.
        if in_time is not None and in_time >= moment - limits.gap:
            continue
        should = facts.promised_since(limits.gap, moment)
        if should is not None and (in_time is None or in_time < should):
            done = (
                foreseen_run.start.likely
                for foreseen_run in begun
                if foreseen_run.start and foreseen_run.end and foreseen_run.end.likely <= moment
            )
            return run.due, should, max((start for start in (newest, *done) if start), default=None)
    return None


def _old_copy(
    snapshot: ClusterSnapshot,
    facts: ScheduleFacts,
    runs: Sequence[ForeseenRun],
    at: datetime,
    should: datetime,
    newest: datetime | None,
) -> Finding:
    schedule = facts.schedule
    refused = next((run for run in runs if run.fate is Fate.REFUSED), None)
    place = schedule.spec.template.storage_location
    location = snapshot.location(schedule.namespace, place)
    why = next((run.reason for run in runs if run.reason), "")
    is_of_storage = refused is not None and bool(storage_refusal(snapshot, schedule.namespace, place))
    if refused is None:
        fix: Text = TRY_A_CHANGE
    else:
        fix = "Make its storage location available again." if is_of_storage else CORRECT_WHAT_IT_NAMES
    return Finding(
        COPY_OLD,
        Severity.NOTE if refused is None else Severity.WARNING,
        snapshot.ref(schedule),
        None,
        "copy will be too old",
        sentence(
            "At ",
            _at(at),
            " its newest good copy is likely to be ",
            sentence("that of ", _at(newest)) if newest is not None else "none",
            "; there should be one since ",
            _at(should),
            sentence(": ", why) if why else "",
            ".",
        ),
        fix,
        blames=snapshot.ref(location) if is_of_storage and location is not None else None,
    )


def _at(moment: datetime) -> Moment:
    return Moment(moment, to_the_minute=True)
