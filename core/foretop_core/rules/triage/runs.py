"""Findings about backups, restores and deletions that ended badly, do not move, or wait without a reason."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from foretop_core.foreign_text import named
from foretop_core.models import Backup, DataMovement, Restore
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import last_progress, was_seen_moving
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.humanize import read_duration
from foretop_core.rules.phases import FINISHING, OUTCOMES
from foretop_core.rules.queue import NOT_MOVING_YET, queue, queue_stalled, waiting_since
from foretop_core.rules.schedule_history import ended
from foretop_core.rules.sentences import Key, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import unready_sources
from foretop_core.rules.triage.finding import QUEUE, READ_LOGS, READ_RESULTS, Finding, Severity, Thresholds

# Deferred imports: the known bugs are loaded with the first queue that one of them explains.


def failing_schedules(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for schedule in snapshot.schedules:
        facts = schedule_facts(snapshot, schedule, now)
        faults = facts.faults_in_a_row
        if not faults:
            continue
        which = "newest visible" if facts.last_backup is None else "last"
        last, first, number = faults[0], faults[-1], len(faults)
        outcome = OUTCOMES[last.phase]
        text = f"Its last {number} backups {outcome.replace('was', 'were')}; the latest is {last.name}"
        repository = next(iter(unready_sources(snapshot, last)), None)
        yield Finding(
            "schedule-failing",
            _severity(last),
            snapshot.ref(schedule),
            ended(first),
            f"{outcome}, {number:,} in a row" if number > 1 else f"last backup {outcome}",
            sentence(
                text if number > 1 else f"Its {which} backup {outcome}: {last.name}",
                _at(ended(last)),
                "." if _raw(last) else f", {reason(last)}.",
            ),
            _remedy(last, "back-up-now"),
            (snapshot.ref(last),),
            blames=blamed_location(snapshot, last) or (snapshot.ref(repository) if repository is not None else None),
            raw=_raw(last),
        )


def failed_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Failed backups that no schedule and no NAB answers for."""
    existing = {(schedule.namespace, schedule.name) for schedule in snapshot.schedules}
    for backup in snapshot.lookups.faulty_backups():
        uuid = backup.label(NAB_UUID_LABEL)
        owned = (backup.namespace, backup.schedule_name) in existing
        if not owned and not (uuid and snapshot.lookups.nabs_of_uuid(uuid)):
            yield from _failed("backup-failed", snapshot, backup, now, limits, blamed_location(snapshot, backup))


def failed_restores(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for restore in snapshot.lookups.faulty_restores():
        uuid = restore.label(NAR_UUID_LABEL)
        if not (uuid and snapshot.lookups.nars_of_uuid(uuid)):
            yield from _failed("restore-failed", snapshot, restore, now, limits)


def delete_errors(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for request in snapshot.delete_requests:
        if request.phase != "Processed" or not request.status.errors:
            continue
        yield Finding(
            "delete-failed",
            Severity.ERROR,
            snapshot.ref(request),
            request.created,
            "backup deleted with errors",
            f"Deleting {named(request.spec.backup_name)} had errors: a part of its data is still in the bucket, though "
            "the request is Processed.",
            "Fix the cause and delete the backup again.",
            (ObjectRef(snapshot.context, "Backup", request.namespace, request.spec.backup_name),),
            raw="; ".join(request.status.errors),
        )


def _failed(
    code: str,
    snapshot: ClusterSnapshot,
    run: Backup | Restore,
    now: datetime,
    limits: Thresholds,
    blames: ObjectRef | None = None,
) -> Iterator[Finding]:
    moment = ended(run)
    if moment is None or now - moment > limits.recent_failure:
        return
    yield Finding(
        code,
        _severity(run),
        snapshot.ref(run),
        moment,
        OUTCOMES[run.phase],
        sentence(f"{run.name} {OUTCOMES[run.phase]}", _at(moment), "." if _raw(run) else f", {reason(run)}."),
        _remedy(run, "run-again"),
        blames=blames,
        raw=_raw(run),
        told_until=moment + limits.recent_failure,
    )


def _at(moment: datetime | None) -> Text:
    return sentence(" at ", moment) if moment is not None else ""


def blamed_location(snapshot: ClusterSnapshot, run: Backup) -> ObjectRef | None:
    """The storage location that Velero's own words name; an older fault of another kind is not its doing."""
    location = snapshot.location(run.namespace, run.spec.storage_location)
    named = location is not None and re.search(rf"(?<![\w.-]){re.escape(location.name)}(?![\w-])", reason(run))
    return snapshot.ref(location) if location is not None and named else None


def _severity(run: Backup | Restore) -> Severity:
    return Severity.WARNING if run.phase == "PartiallyFailed" else Severity.ERROR


def reason(run: Backup | Restore) -> str:
    """Why a run ended as it did, in Velero's words or by its counts."""
    status, text = run.status, _raw(run)
    counts = humanize.count(status.errors, "error") if status.errors else ""
    if status.warnings:
        counts = f"{counts} and {humanize.count(status.warnings, 'warning')}" if counts else ""
    return (text or counts or "Velero gives no reason").rstrip(".")


def _raw(run: Backup | Restore) -> str:
    """Velero's own words on a run that it refused or gave up."""
    return "; ".join(run.status.validation_errors) or run.status.failure_reason


def _remedy(run: Backup | Restore, again: str) -> Text:
    """`again` is the action that runs a backup once more: of its schedule, or of itself."""
    if run.phase == "FailedValidation":
        return "Fix the cause named in the message; Velero does not retry this one."
    once_more = sentence("run it again", Key(again)) if isinstance(run, Backup) else "restore again"
    return sentence(
        "Read its results", *READ_RESULTS, " or logs", *READ_LOGS, " for the errors, fix them and ", once_more, "."
    )


_MOVING = frozenset({"InProgress", "WaitingForPluginOperations", "WaitingForPluginOperationsPartiallyFailed"})


def stuck_backups(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Neither items nor bytes have moved: the item count stands still while volumes are moved, so both must."""
    for backup in snapshot.lookups.open_backups():
        if backup.phase not in _MOVING:
            continue
        movements = snapshot.movements_of(backup)
        moved = last_progress(snapshot, backup)
        if moved is None or now - moved < limits.nothing_moved:
            continue
        least = "" if was_seen_moving(snapshot, backup) else "at least "
        waiting = [movement for movement in movements if movement.phase in NOT_MOVING_YET]
        if waiting and all(snapshot.moved_before(movement) for movement in waiting):
            continue  # Each of them has its turn after another one: waiting_movements says so.
        yield Finding(
            "backup-stuck",
            Severity.WARNING,
            snapshot.ref(backup),
            moved,
            _no_progress(backup),
            sentence(f"It stands still: {_progress(backup, movements)}, unchanged for {least}", now - moved, "."),
            "Read its logs and check the node agent of the stalled volume; cancel its data movements if it "
            "cannot continue.",
            tuple(snapshot.ref(movement) for movement in waiting or movements),
            blames=snapshot.ref(waiting[0]) if waiting else None,
        )


def waiting_movements(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    unfinished = {
        (backup.namespace, backup.name)
        for backup in snapshot.lookups.open_backups()
        if not backup.status.completion_timestamp
    }
    for movement in snapshot.movements:
        since = waiting_since(movement)
        if movement.phase not in NOT_MOVING_YET or since is None or now - since < limits.movement_waiting:
            continue
        if movement.backup_name and (movement.namespace, movement.backup_name) not in unfinished:
            continue
        node = f" on node {movement.node}" if movement.node else ", no node has picked it up"
        busy = snapshot.moved_before(movement)
        yield Finding(
            "movement-waiting",
            Severity.NOTE if busy else Severity.WARNING,
            snapshot.ref(movement),
            since,
            "waits its turn on its node" if busy else "waits" if movement.node else "waits, no node has taken it",
            sentence(
                f"Volume {movement.volume or movement.name} waits{' its turn' if busy else ''}: "
                f"{movement.phase or 'New'} since ",
                since,
                f"{node}.",
                f" Meanwhile {busy}." if busy else "",
            ),
            f"Nothing while data moves there; {snapshot.node_limits_of(movement.namespace).told(movement.node)}."
            if busy
            else "Check the node agent pod there and whether its data mover pod can be scheduled.",
            (ObjectRef(snapshot.context, "Backup", movement.namespace, movement.backup_name),)
            if movement.backup_name
            else (),
            hits=f"{movement.backup_name or movement.restore_name} waits for it.",
        )


def old_ready_to_start(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for backup in snapshot.lookups.open_backups():
        since = _ready_since(snapshot, backup) if backup.phase == "ReadyToStart" else None
        if since is None or now - since < limits.ready_to_start:
            continue
        yield Finding(
            "backup-not-starting",
            Severity.ERROR,
            snapshot.ref(backup),
            since,
            "ready, but never started",
            sentence(
                "It is ReadyToStart for ",
                now - since,
                ", which takes milliseconds: Velero restarted in between and lost track of it.",
            ),
            "Delete it with a DeleteBackupRequest and back up again.",
            hits="It takes a slot of the queue.",
        )


def stalled_queues(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for namespace, waiting in snapshot.open_backups.items():
        # Of those that have ended it only counts when the last of them did.
        runs = {run.name: run for run in (*waiting, *snapshot.lookups.last_moved_backups(namespace))}
        line = queue(runs.values(), now=now, concurrency=snapshot.server(namespace).concurrency)
        freed = snapshot.seen.free_slot_since.get(namespace)
        stall = queue_stalled(line, now, slot_free_since=freed, after=limits.queue_idle)
        refused = _last_refused(snapshot, namespace) if stall is not None else None
        if stall is None or (refused is not None and now - refused[0] <= limits.queue_idle):
            continue
        first = stall.startable[0].run
        yield Finding(
            "queue-stalled",
            Severity.ERROR,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            stall.since,
            "stalled with a free slot",
            sentence(
                f"The queue is stalled: {humanize.count(len(stall.startable), 'backup')} could have started since ",
                stall.since,
                f" ({humanize.count(stall.free_slots, 'slot')} free); {first.name} is next.",
            ),
            _still_counted(snapshot, namespace, refused[1])
            if refused is not None
            else "Velero normally starts the next one within a minute: check its pod and log.",
            tuple(snapshot.ref(item.run) for item in stall.startable),
        )


def _still_counted(snapshot: ClusterSnapshot, namespace: str, refused: str) -> str:
    from foretop_core.rules.known_bugs import LEAKED_SLOT

    release = snapshot.verdict(namespace).release
    is_known = release is not None and LEAKED_SLOT.is_in(release)
    bug = f" Known bug: {LEAKED_SLOT.reference}." if is_known else ""
    return f"Velero may still count {refused}, which it refused: restart its pod.{bug}"


def _last_refused(snapshot: ClusterSnapshot, namespace: str) -> tuple[datetime, str] | None:
    """When Velero last refused a backup, and its name; a queue in which it does so once a minute is not stalled."""
    mine = snapshot.backups_by_namespace.get(namespace, ())
    refused = ((_refused_at(run), run.name) for run in mine if run.phase == "FailedValidation")
    return max(((moment, name) for moment, name in refused if moment is not None), default=None)


def _refused_at(backup: Backup) -> datetime | None:
    """Velero reckons the expiration when it validates a backup; nothing else in a refused one tells the time."""
    kept, expires = read_duration(backup.spec.ttl), backup.status.expiration
    try:
        return expires - kept if kept and expires is not None else backup.created
    except OverflowError:
        return backup.created


def _ready_since(snapshot: ClusterSnapshot, backup: Backup) -> datetime | None:
    """The object does not tell; where nobody watched, no earlier than anything else that moved in that queue.

    A finishing backup has given up its slot at a time that nothing tells, perhaps just now, and to this one.
    """
    if moment := snapshot.seen.phase_since.get(snapshot.ref(backup)):
        return moment
    others = snapshot.backups_by_namespace.get(backup.namespace, ())
    if any(other.phase in FINISHING for other in others):
        return None
    moves = [at for other in others for at in (other.started, other.status.completion_timestamp) if at is not None]
    return max((moment for moment in (backup.created, *moves) if moment is not None), default=None)


def _no_progress(backup: Backup) -> str:
    progress = backup.status.progress
    if progress is None or not progress.total_items:
        return "no progress, no items yet"
    if progress.done >= progress.total_items:
        return "its data does not move"
    return f"no progress at {max(0, 100 * progress.done // progress.total_items)}%"


def _progress(backup: Backup, movements: tuple[DataMovement, ...]) -> str:
    progress = backup.status.progress
    items = f"{progress.done:,} of {progress.total_items:,} items" if progress else "No items"
    under_way = [movement for movement in movements if movement.phase == "InProgress"]
    for movement in under_way[:1]:
        done, total = movement.status.progress.bytes_done, movement.status.progress.total_bytes
        items += f" and {humanize.size(done)} of {humanize.size(total)} of volume {movement.volume}"
    return items
