"""The progress of a write: whether Velero has picked it up. Read from the store only, no requests."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import datetime
from functools import partial
from typing import TypeVar

import msgspec

from foretop_core.actions.action_record import Follow
from foretop_core.foreign_text import quoted
from foretop_core.models import Backup, Resource, Restore, Schedule
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, NAB, NAR, RESTORE, SCHEDULE
from foretop_core.rules import humanize
from foretop_core.rules.facts.schedule_facts import LastingFacts
from foretop_core.rules.forecast import blocker
from foretop_core.rules.queue import has_ended
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.store import Store

R = TypeVar("R", bound=Resource)
PICKED_UP_WITHIN = 120.0
"""Seconds; Velero looks at a change within milliseconds, and once a minute in any case."""
NAMED_WITHIN = 5.0
"""Seconds; the watch of backups may be behind that of schedules, and tells nothing where it is not allowed."""
LOOK_EACH = 0.05
"""Seconds between two looks: a busy cluster changes more often than anybody reads."""


class ProgressReport(msgspec.Struct, frozen=True):
    """How far it has come, in a sentence; `done` where nothing more is to be waited for."""

    sentence: str
    done: bool = False
    well: bool = True
    may_say_more: bool = False
    """Done, but a name is missing that comes in a moment."""


Probe = Callable[[ClusterSnapshot], ProgressReport]
NOT_PICKED_UP = "Not picked up yet: is Velero running? (foretop doctor, foretop get findings)"


async def follow_write(store: Store, context: str, probe: Probe, within: float | None) -> AsyncIterator[ProgressReport]:
    """Yields what is seen whenever it changes, until it is done; after `within` seconds without that, that nobody did.

    With no limit it is followed to its end. Nothing is asked of the server: the watches tell.
    """
    news = asyncio.Event()
    kinds = (SCHEDULE, BACKUP, RESTORE, DELETE_REQUEST, NAB, NAR)
    feed = store.feed.subscribe([kind.name for kind in kinds], news.set)
    loop = asyncio.get_running_loop()
    end = None if within is None else loop.time() + within
    named_by: float | None = None
    last_report: ProgressReport | None = None
    try:
        while last_report is None or not last_report.done:
            news.clear()
            feed.drain()
            report = probe(store.snapshot(context))
            if report.may_say_more:
                named_by = named_by or loop.time() + NAMED_WITHIN
                if loop.time() < named_by:
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(news.wait(), named_by - loop.time())
                    continue
            if report != last_report:
                yield report
                last_report = report
            if not report.done:
                await asyncio.wait_for(news.wait(), None if end is None else end - loop.time())
                await asyncio.sleep(LOOK_EACH)
    except TimeoutError:
        yield ProgressReport(NOT_PICKED_UP, done=True, well=False)
    finally:
        store.feed.unsubscribe(feed)


def unpause_probe(before: Schedule, before_runs: tuple[str, ...], *, was_due: bool, skips: bool) -> Probe:
    """Velero has looked at an unpaused schedule: lastSkipped is set, a backup is named, or there was nothing to do."""
    nothing_due = not was_due and not skips

    def probe(snapshot: ClusterSnapshot) -> ProgressReport:
        now = _named(snapshot.schedules, before.namespace, before.name)
        if now is None:
            return ProgressReport(f"{before.name} was deleted in the meantime", done=True, well=False)
        if now.spec.paused:
            return ProgressReport(f"{before.name} is still paused")
        if now.status.last_skipped and now.status.last_skipped != before.status.last_skipped:
            return _skipped(snapshot, now, now.status.last_skipped, was_due=was_due)
        if (new := _new_run(snapshot, before, before_runs)) is not None:
            return ProgressReport(f"Velero picked it up, backup {new.name} ({new.phase or 'New'})", done=True)
        if now.status.last_backup and now.status.last_backup != before.status.last_backup:
            made = f"Velero picked it up {_clock(now.status.last_backup)}, a backup was made"
            return ProgressReport(made, done=True, may_say_more=True)
        if not nothing_due and (run := blocker(now, snapshot.labelled_runs(now))) is not None:
            return ProgressReport(f"one backup starts when {run.name} has ended", done=True)
        return _without_a_run(snapshot, now, nothing_due)

    return probe


def schedule_probe(namespace: str, name: str) -> Probe:
    """Velero has judged a new schedule."""

    def probe(snapshot: ClusterSnapshot) -> ProgressReport:
        made = _named(snapshot.schedules, namespace, name)
        if made is None:
            return ProgressReport(f"{name} is not visible yet")
        if made.spec.paused:
            return ProgressReport(f"{name} is created and paused; Velero checks it once it is unpaused", done=True)
        if made.phase in ("", "New"):
            return ProgressReport(f"{name} waits for Velero")
        if problem := _refusal(snapshot, made):
            return ProgressReport(f"Velero refuses {name}: {problem}", done=True, well=False)
        return ProgressReport(f"Velero picked up {name}: {made.phase}", done=True)

    return probe


def edit_probe(before: Schedule, before_runs: tuple[str, ...], *, was_due: bool, starts_or_skips: bool) -> Probe:
    """Velero has looked at an edited schedule; where nothing is due, it leaves no trace of that."""

    def probe(snapshot: ClusterSnapshot) -> ProgressReport:
        now = _named(snapshot.schedules, before.namespace, before.name)
        if now is None:
            return ProgressReport(f"{before.name} was deleted in the meantime", done=True, well=False)
        if now.spec == before.spec:
            return ProgressReport("the change is not visible yet")
        if now.spec.paused:
            return ProgressReport("Velero reads it once it is unpaused", done=True)
        if now.phase == "FailedValidation" and now.status != before.status:
            return ProgressReport(f"Velero refuses it: {quoted('; '.join(now.status.validation_errors))}", True, False)
        if now.status.last_skipped and now.status.last_skipped != before.status.last_skipped:
            return _skipped(snapshot, now, now.status.last_skipped, was_due=was_due)
        if (new := _new_run(snapshot, before, before_runs)) is not None:
            return ProgressReport(f"Velero picked it up, backup {new.name} ({new.phase or 'New'})", done=True)
        if now.phase != before.phase:
            return ProgressReport(f"Velero picked it up: {now.phase}", done=True)
        if starts_or_skips or now.phase == "FailedValidation":
            return ProgressReport("it waits for Velero")
        return ProgressReport("Velero uses it from the next run on", done=True)

    return probe


def run_probe(kind: type[Backup] | type[Restore], namespace: str, name: str, to_the_end: bool) -> Probe:
    """A backup or restore until Velero has begun with it, or to its end."""

    def probe(snapshot: ClusterSnapshot) -> ProgressReport:
        runs: tuple[Backup | Restore, ...] = snapshot.backups if kind is Backup else snapshot.restores
        mine = _named(runs, namespace, name)
        if mine is None:
            return ProgressReport(f"{name} is not visible yet")
        if not mine.phase:
            return ProgressReport(f"{name} waits for Velero")
        sentence = f"{name}: {mine.phase}{_progress(mine)}"
        ended = has_ended(mine)
        return ProgressReport(sentence, done=ended or not to_the_end, well=not ended or mine.phase == "Completed")

    return probe


def deletion_probe(namespace: str, name: str) -> Probe:
    """A DeleteBackupRequest: Processed is not success, its errors tell."""

    def probe(snapshot: ClusterSnapshot) -> ProgressReport:
        asked = [
            request
            for request in snapshot.delete_requests
            if (request.namespace, request.spec.backup_name) == (namespace, name)
        ]
        errors = [text for request in asked for text in request.status.errors]
        if errors:
            return ProgressReport(f"{name} could not be deleted: {quoted('; '.join(errors))}", done=True, well=False)
        if _named(snapshot.backups, namespace, name) is None:
            return ProgressReport(f"{name} is deleted, with its data", done=True)
        phase = asked[-1].phase if asked else ""
        return ProgressReport(f"{name} waits for Velero" if not phase else f"deletion of {name}: {phase}")

    return probe


def restore_deletion_probe(namespace: str, name: str) -> Probe:
    """A Restore on its way out: Velero first removes its log and results from storage."""

    def probe(snapshot: ClusterSnapshot) -> ProgressReport:
        if _named(snapshot.restores, namespace, name) is not None:
            return ProgressReport(f"{name} waits for Velero to remove its log and results")
        return ProgressReport(f"{name} is deleted", done=True)

    return probe


def nonadmin_deletion_probe(kind: str, namespace: str, name: str) -> Probe:
    """A NAB or NAR on its way out."""

    def probe(snapshot: ClusterSnapshot) -> ProgressReport:
        mine = _named(snapshot.nabs if kind == NAB.name else snapshot.nars, namespace, name)
        if mine is None:
            return ProgressReport(f"{name} is deleted", done=True)
        deleting = mine.condition("Deleting")
        why = f", {quoted(deleting.message)}" if deleting else ""
        return ProgressReport(f"{name}: {mine.phase or 'New'}{why}")

    return probe


def _named(items: Iterable[R], namespace: str, name: str) -> R | None:
    return next((item for item in items if (item.namespace, item.name) == (namespace, name)), None)


def _new_run(snapshot: ClusterSnapshot, before: Schedule, before_runs: tuple[str, ...]) -> Backup | None:
    """The last backup of a schedule that was not there before."""
    new = [run for run in snapshot.labelled_runs(before) if run.name not in before_runs]
    return new[-1] if new else None


def _refusal(snapshot: ClusterSnapshot, schedule: Schedule) -> str:
    return LastingFacts(schedule, None, snapshot.readings(schedule)).invalid


def _skipped(snapshot: ClusterSnapshot, now: Schedule, at: datetime, *, was_due: bool) -> ProgressReport:
    """Velero notes a skip whether or not there was something to skip."""
    pickup = f"Velero picked it up {_clock(at)}"
    if problem := _refusal(snapshot, now):
        return ProgressReport(f"{pickup} and refuses it: {problem}", done=True, well=False)
    return ProgressReport(f"{pickup} and skips what was due" if was_due else f"{pickup}: nothing was due", done=True)


def _without_a_run(snapshot: ClusterSnapshot, now: Schedule, nothing_due: bool) -> ProgressReport:
    if problem := _refusal(snapshot, now):
        return ProgressReport(f"Velero refuses it: {problem}", done=now.phase == "FailedValidation", well=False)
    if nothing_due:
        touched = now.spec.skip_immediately is not None and now.phase not in ("", "New")
        return ProgressReport(
            "Velero picked it up: nothing was due" if touched else "it waits for Velero", done=touched
        )
    return ProgressReport("it waits for Velero")


def _progress(item: Backup | Restore) -> str:
    progress = item.status.progress
    if progress is None or not progress.total_items:
        return ""
    return f", {progress.done:,} of {humanize.count(progress.total_items, 'item')}"


def _clock(at: datetime) -> str:
    return f"{at:%H:%M:%SZ}"


# The same, as the records of actions name them


def follow_by_name(make: Callable[[str, str], Probe]) -> Follow:
    """Follows a write by the namespace and name of its object alone, whatever was there before it."""
    return lambda _snapshot, _before, step, _at: make(step.target.namespace, step.target.name)


follow_new_schedule = follow_by_name(schedule_probe)
follow_backup = follow_by_name(partial(run_probe, Backup, to_the_end=False))
follow_backup_to_the_end = follow_by_name(partial(run_probe, Backup, to_the_end=True))
follow_restore = follow_by_name(partial(run_probe, Restore, to_the_end=True))
follow_backup_deletion = follow_by_name(deletion_probe)
follow_restore_deletion = follow_by_name(restore_deletion_probe)
follow_nab_deletion = follow_by_name(partial(nonadmin_deletion_probe, NAB.name))
follow_nar_deletion = follow_by_name(partial(nonadmin_deletion_probe, NAR.name))
