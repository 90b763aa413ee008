"""Evidence of a server's release and cron dialect: what names it, its validations, the runs it made or missed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.models import Backup, Schedule, ServerStatusRequest
from foretop_core.rules.cron_dialects.readings import Evidence, expression, readings
from foretop_core.rules.cron_dialects.releases import ALL_DIALECTS, find_release, velero_of_oadp
from foretop_core.rules.forecast.next_run_time import base_time, blocker
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.rules.schedule_history import submitted

_REFUSAL = "invalid schedule: "
"""Velero's prefix of an error message of its cron library."""
_GRACE = timedelta(minutes=2)
QUEUE_FIELD = "queuePosition"
RunsOf = Callable[[Schedule], tuple[Backup, ...]]
"""The backups of a schedule, newest first."""


def named_evidence(
    given: str,
    tag: str,
    requests: Iterable[ServerStatusRequest],
    oadp_releases: Iterable[str],
    status_fields: Collection[str],
    *,
    has_queue: bool,
) -> Iterator[Evidence]:
    """Evidence of the Velero release of a server, by name or by its definitions, the surest first.

    `given` is what a person named, `status_fields` what the status of a Backup may hold, none where that was not seen.
    """
    yield from _of_release(given, f"--velero-version {given}")
    yield from _of_release(tag, f"the tag {tag} of its image")
    for request in requests:
        if version := request.status.server_version:
            yield from _of_release(version, f"its own report: {version} (ServerStatusRequest {request.name})")
    for oadp in oadp_releases:
        if release := velero_of_oadp(oadp):
            yield Evidence(release.dialects, f"OADP {oadp}, which has Velero {release}", release)
    if status_fields:
        queues = QUEUE_FIELD in status_fields
        dialects = (Dialect.ROBFIG, Dialect.NETRESEARCH) if queues else (Dialect.ROBFIG1, Dialect.ROBFIG)
        yield Evidence(dialects, f"the definition of Backup, which {'has' if queues else 'lacks'} {QUEUE_FIELD}")
    if has_queue:
        yield Evidence((Dialect.ROBFIG, Dialect.NETRESEARCH), "its queue of backups, which releases before 1.18 lack")


def _of_release(version: str, reason: str) -> Iterator[Evidence]:
    release = find_release(version)
    if release is not None:
        yield Evidence(release.dialects, reason, release)


def behaviour(schedules: Iterable[Schedule], runs_of: RunsOf, heartbeat: Heartbeat) -> Iterator[Evidence]:
    """The evidence of one server, strongest first.

    A server validates every unpaused schedule once a minute, so the validations are the current server's, the latest
    first. Missing runs are evidence up to its last sign of activity; runs that were made may be an earlier
    server's.
    """
    plain, distinguishing = _split(schedules)
    for schedule in sorted(distinguishing, key=_resource_version, reverse=True):
        yield from _validation(schedule)
    if not any(_is_late(item, Dialect.ROBFIG, runs_of(item), heartbeat) for item in plain):
        for schedule in distinguishing:
            yield from _not_made(schedule, runs_of(schedule), heartbeat)
    for schedule in sorted(distinguishing, key=_last_backup, reverse=True):
        yield from _made(schedule, runs_of(schedule))


def _split(schedules: Iterable[Schedule]) -> tuple[list[Schedule], list[Schedule]]:
    """The unpaused schedules that all dialects read alike, and those that distinguish the dialects."""
    plain: list[Schedule] = []
    distinguishing: list[Schedule] = []
    for schedule in schedules:
        if not schedule.spec.paused:
            (distinguishing if len(readings(schedule.spec.schedule)) > 1 else plain).append(schedule)
    return plain, distinguishing


def _resource_version(schedule: Schedule) -> int:
    version = schedule.metadata.resource_version
    return int(version) if version.isdecimal() else 0


def _last_backup(schedule: Schedule) -> datetime:
    return schedule.status.last_backup or datetime.min.replace(tzinfo=UTC)


def _validation(schedule: Schedule) -> Iterator[Evidence]:
    text = schedule.spec.schedule
    errors = [error.removeprefix(_REFUSAL) for error in schedule.status.validation_errors if error.startswith(_REFUSAL)]
    answers = {dialect: expression(text, dialect) for dialect in ALL_DIALECTS}
    if schedule.phase == "FailedValidation" and errors:
        refusing = [dialect for dialect, answer in answers.items() if isinstance(answer, CronError)]
        exactly = [dialect for dialect in refusing if str(answers[dialect]) == errors[0]]
        yield from _evidence_of(exactly or refusing, f"it refuses {text!r} ({schedule.name}): {errors[0]}")
    elif schedule.phase == "Enabled" or schedule.status.validation_errors:
        accepting = [dialect for dialect, answer in answers.items() if isinstance(answer, CronSchedule)]
        yield from _evidence_of(accepting, f"it accepts {text!r} ({schedule.name})")


def _not_made(schedule: Schedule, runs: tuple[Backup, ...], heartbeat: Heartbeat) -> Iterator[Evidence]:
    in_time = [dialect for dialect in ALL_DIALECTS if not _is_late(schedule, dialect, runs, heartbeat)]
    yield from _evidence_of(in_time, f"it does not run {schedule.spec.schedule!r} ({schedule.name}) when others would")


def _is_late(schedule: Schedule, dialect: Dialect, runs: tuple[Backup, ...], heartbeat: Heartbeat) -> bool:
    """True if a server of this dialect would have made a backup by its last sign of activity, and did not."""
    parsed, base = expression(schedule.spec.schedule, dialect), base_time(schedule)
    if isinstance(parsed, CronError) or base is None or heartbeat.pulse is None or schedule.phase != "Enabled":
        return False
    due = parsed.next(base) or base
    return heartbeat.pulse - due > _GRACE and blocker(schedule, runs) is None


def _made(schedule: Schedule, runs: tuple[Backup, ...]) -> Iterator[Evidence]:
    """The dialects in which its last run was due; an expression that was changed since is not evidence."""
    last, changed = schedule.status.last_backup, schedule.expression_set
    if last is None or (changed is not None and changed > last):
        return
    before = next((submitted(run) for run in runs if submitted(run) < last - _GRACE), schedule.created)
    if before is None or before >= last:
        return
    due = [dialect for dialect in ALL_DIALECTS if _was_due(schedule.spec.schedule, dialect, before, last)]
    yield from _evidence_of(due, f"it ran {schedule.spec.schedule!r} ({schedule.name}) at {last:%Y-%m-%d %H:%M}Z")


def _was_due(text: str, dialect: Dialect, after: datetime, at: datetime) -> bool:
    parsed = expression(text, dialect)
    if isinstance(parsed, CronError):
        return False
    run = parsed.next(after)
    return run is None or run <= at


def _evidence_of(dialects: list[Dialect], reason: str) -> Iterator[Evidence]:
    """Evidence, unless it rules out nothing or everything."""
    if 0 < len(dialects) < len(ALL_DIALECTS):
        yield Evidence(tuple(dialects), reason)
