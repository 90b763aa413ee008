"""Backups by hand: one now from a schedule, one again with the same spec, and the end of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from foretop_core.actions import validation
from foretop_core.actions.action_record import LATE, ActionRecord, CommandLine, DialogSpec
from foretop_core.actions.plans import NamedSource, Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import create_step, patch_step, stamped, velero, waits_for_velero
from foretop_core.actions.velero_pickup import follow_backup, follow_backup_deletion
from foretop_core.models import Backup, DataMovement, DataUpload, PodVolumeBackup, Resource, Schedule
from foretop_core.models.kinds import (
    BACKUP,
    DATA_UPLOAD,
    DELETE_REQUEST,
    MOVEMENTS,
    POD_VOLUME_BACKUP,
    SCHEDULE,
    RequiredPermission,
)
from foretop_core.models.movement import label_value
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION
from foretop_core.models.velero import BACKUP_LABEL, SCHEDULE_LABEL
from foretop_core.models.wire import Metadata, ObjectRef, as_json
from foretop_core.rules import humanize, phases
from foretop_core.rules.facts.run_facts import RunFacts, has_ended, planned_backup, planned_runs, stamped_name
from foretop_core.rules.sentences import about, render, sentence
from foretop_core.rules.snapshot import ClusterSnapshot

BACKUP_UID_LABEL = "velero.io/backup-uid"
_CONTROLLERS_OWN = ("velero.io/", "openshift.io/oadp")
_MANAGED_BY_NONADMIN = ("app.kubernetes.io/managed-by", "oadp-nac-controller")
_ENDED_MOVEMENTS = frozenset({"Canceled", "Completed", "Failed"})
_TOLD_OF_SPEC = frozenset({"includedNamespaces", "excludedNamespaces", "storageLocation", "ttl"})
"""What tells one backup from another; the rest is mostly what the server has filled in."""
_KIND_OF_MOVEMENT = {kind.model: kind for kind in MOVEMENTS}


def plan_back_up_now(
    snapshot: ClusterSnapshot,
    schedules: Iterable[Schedule],
    now: datetime,
    name: str = "",
    labels: Mapping[str, str] | None = None,
    named_at: datetime | None = None,
) -> Plan:
    """A Backup as Velero would make it from the schedule; the schedule's own rhythm is not touched.

    `named_at` is the moment that its name tells, where that is not now: what was shown is then what is made.
    """
    if name:
        validation.name(name, "backup")
    asked = tuple(schedules)
    planned = [
        planned_backup(schedule, now, name or stamped_name(schedule, named_at or now), labels) for schedule in asked
    ]
    starts = _starts(snapshot, planned, now)
    steps = [_from_schedule(snapshot, *parts, labels or {}) for parts in zip(asked, planned, starts, strict=True)]
    return Plan(BACK_UP_NOW, now, tuple(steps))


def plan_run_again(
    snapshot: ClusterSnapshot, backups: Iterable[Backup], now: datetime, named_at: datetime | None = None
) -> Plan:
    """The same spec under a new name; what controllers wrote on the old one is not repeated.

    A second Backup with the UUID of a NAB would be taken for the NAB's own.
    """
    asked = tuple(backups)
    refused = [
        Refusal(snapshot.ref(backup), f"it has not ended ({backup.phase or 'New'})")
        for backup in asked
        if not has_ended(backup)
    ]
    repeated = [backup for backup in asked if has_ended(backup)]
    planned = [_same_as(backup, now, named_at or now) for backup in repeated]
    steps: list[PlanStep] = []
    for old, new, start in zip(repeated, planned, _starts(snapshot, planned, now), strict=True):
        where = ObjectRef(snapshot.context, BACKUP.name, new.namespace, new.name)
        changes = (f"{where} is created with the whole spec of {old.name} ({old.phase})",)
        meta = {"labels": new.metadata.labels, "annotations": new.metadata.annotations}
        spec, warnings = as_json(new.spec), _not_of_nab(old)
        untold = spec.keys() - _TOLD_OF_SPEC
        source = NamedSource(snapshot.ref(old), old.metadata.uid, ("spec",))
        steps.append(
            create_step(where, spec, changes, start, warnings=warnings, meta=meta, source=source, untold=untold)
        )
    return Plan(RUN_AGAIN, now, tuple(steps), tuple(refused))


def plan_delete_backup(snapshot: ClusterSnapshot, backups: Iterable[Backup], now: datetime) -> Plan:
    """A DeleteBackupRequest each: removing the object alone would leave the data, and the sync brings it back."""
    judged = [(backup, _why_not_deleted(snapshot, backup)) for backup in backups]
    refused = [Refusal(snapshot.ref(backup), why) for backup, why in judged if why]
    deleted = [backup for backup, why in judged if not why]
    steps = [_delete_request(snapshot, backup, now) for backup in deleted]
    if steps and (losing := _namespaces_losing_last_copy(snapshot, deleted)):
        which = "It is" if len(deleted) == 1 else "Among them is"
        last = f"{which} the last good copy of {humanize.count(len(losing), 'namespace')}: {humanize.join(losing)}."
        steps[0] = replace(steps[0], warnings=(last, *steps[0].warnings))
    return Plan(DELETE_BACKUP, now, tuple(steps), tuple(refused))


def _namespaces_losing_last_copy(snapshot: ClusterSnapshot, deleted: Iterable[Backup]) -> tuple[str, ...]:
    """The namespaces whose last good copy would go; all backups are looked at only where that is possible."""
    gone = {(backup.namespace, backup.name) for backup in deleted}
    index = snapshot.protection
    rows = (index.row(name) for name in index.names)
    few = [
        row.namespace
        for row in rows
        if row is not None
        and row.copies.newest is not None
        and row.copies.good <= len(gone)
        and (row.copies.newest.namespace, row.copies.newest.name) in gone
    ]
    if not few or len(gone) == 1:
        return tuple(few)
    backups = tuple(backup for backup in snapshot.backups if (backup.namespace, backup.name) not in gone)
    after = replace(snapshot, backups=backups, live=None).protection
    return tuple(name for name in few if (row := after.row(name)) is None or not row.copies.good)


def _namespaces_losing_all_together(snapshot: ClusterSnapshot, deleted: Sequence[Backup]) -> tuple[str, ...]:
    """The namespaces that lose their last good copy with all of the backups, but with none of them alone."""
    if len(deleted) < 2:
        return ()
    alone = {name for backup in deleted for name in _namespaces_losing_last_copy(snapshot, (backup,))}
    return tuple(name for name in _namespaces_losing_last_copy(snapshot, deleted) if name not in alone)


def last_copies_warning(snapshot: ClusterSnapshot, deleted: Sequence[Backup]) -> str:
    """Warns of what only all of them together lose, which the plan of each alone does not say."""
    losing = _namespaces_losing_all_together(snapshot, deleted)
    if not losing:
        return ""
    return f"Together they are all good copies of {humanize.count(len(losing), 'namespace')}: {humanize.join(losing)}."


def plan_cancel_movements(snapshot: ClusterSnapshot, backups: Iterable[Backup], now: datetime) -> Plan:
    """`spec.cancel` on every data movement of a running backup that has not ended."""
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for backup in backups:
        movements = snapshot.movements_of(backup)
        moving = [movement for movement in movements if isinstance(movement, PodVolumeBackup | DataUpload)]
        active = [movement for movement in moving if movement.phase not in _ENDED_MOVEMENTS]
        running = [movement for movement in active if not movement.spec.cancel]
        if not running:
            why = "its data movements are already being cancelled" if active else "it has no active data movements"
            refused.append(Refusal(snapshot.ref(backup), why))
        steps += [_cancel(snapshot, backup, movement) for movement in running]
    return Plan(CANCEL_MOVEMENTS, now, tuple(steps), tuple(refused))


def plan_cancel(snapshot: ClusterSnapshot, items: Iterable[Backup | DataMovement], now: datetime) -> Plan:
    """Plans for backups at first, and for single movements when one is planned again."""
    asked = list(items)
    movements = [item for item in asked if isinstance(item, DataMovement)]
    if movements:
        return replan_cancel(snapshot, movements, now)
    return plan_cancel_movements(snapshot, [item for item in asked if isinstance(item, Backup)], now)


def replan_cancel(snapshot: ClusterSnapshot, movements: Iterable[DataMovement], now: datetime) -> Plan:
    """The same plan for movements that were read afresh."""
    steps = []
    for movement in movements:
        key = (movement.namespace, movement.backup_name)
        backup = next((item for item in snapshot.backups if (item.namespace, label_value(item.name)) == key), None)
        if backup is not None and movement.phase not in _ENDED_MOVEMENTS and not movement.spec.cancel:
            steps.append(_cancel(snapshot, backup, movement))
    return Plan(CANCEL_MOVEMENTS, now, tuple(steps))


def _same_as(backup: Backup, now: datetime, named_at: datetime) -> Backup:
    schedule = {SCHEDULE_LABEL: backup.schedule_name} if backup.schedule_name else {}
    made = Metadata(
        name=stamped(backup.name, named_at),
        namespace=backup.namespace,
        creation_timestamp=now.replace(microsecond=0),
        labels={**_without_controllers(backup.metadata.labels), **schedule},
        annotations=_without_controllers(backup.metadata.own_annotations),
    )
    return Backup(metadata=made, spec=backup.spec)


def _from_schedule(
    snapshot: ClusterSnapshot, schedule: Schedule, made: Backup, start: str, labels: Mapping[str, str]
) -> PlanStep:
    template, named = made.spec, made.name
    where = ObjectRef(snapshot.context, BACKUP.name, schedule.namespace, named)
    own_notes, notes = schedule.metadata.own_annotations, made.metadata.annotations
    meta: dict[str, Any] = {"labels": made.metadata.labels, "annotations": notes}
    if schedule.spec.use_owner_references_in_backup:
        owner = {"apiVersion": SCHEDULE.api_version, "kind": SCHEDULE.name, "name": schedule.name}
        meta["ownerReferences"] = [{**owner, "uid": schedule.metadata.uid, "controller": True}]
    line = velero(snapshot.context, schedule.namespace, "backup", "create", named, "--from-schedule", schedule.name)
    # Velero's own command copies all annotations and gives no further labels: where that differs, the object is shown.
    command = line if not labels and notes == own_notes else ""
    changes = (f"{where} is created from the template of {schedule.name}",)
    forecast = f"{start}; the next run of {schedule.name} does not change"
    source = NamedSource(snapshot.ref(schedule), schedule.metadata.uid, ("spec", "template"))
    return create_step(where, as_json(template), changes, forecast, command, meta=meta, source=source)


def _starts(snapshot: ClusterSnapshot, planned: Sequence[Backup], now: datetime) -> list[str]:
    """When each of the backups comes to its turn, all of them made now, and whether it is then refused."""
    return [_start(snapshot, facts, now) for facts in planned_runs(snapshot, planned, now)]


def _start(snapshot: ClusterSnapshot, facts: RunFacts, now: datetime) -> str:
    """In the words of the queue, where it will be seen next."""
    run = facts.run
    assert facts.item is not None
    refusal = facts.item.refusal
    beat = snapshot.heartbeat(run.namespace)
    if silence := beat.silence(now):
        then = f"; Velero refuses it while {refusal}" if refusal else ""
        return f"one backup is created but {beat.holds_back(now)}: {render(silence, now)}{then}"
    if refusal:
        return f"one backup is created, and Velero refuses it while {refusal}"
    if facts.item.starts_at_once(now):
        return "one backup starts at once"
    after = f", after {humanize.count(facts.ahead, 'unfinished backup')} ahead of it" if facts.ahead else ""
    if (moment := facts.expected_start) is not None:
        return render(sentence(f"one backup{after}; it starts ", about(moment, now)), now)
    why = f"; when is not known: {render(facts.item.note, now)}" if facts.item.note else ""
    return f"one backup{after}{why}"


def _without_controllers(marks: Mapping[str, str]) -> dict[str, str]:
    return {
        key: text
        for key, text in marks.items()
        if not key.startswith(_CONTROLLERS_OWN) and (key, text) != _MANAGED_BY_NONADMIN
    }


def _not_of_nab(backup: Backup) -> tuple[str, ...]:
    """A NAB has the one Backup that was made for it: another one is the administrator's."""
    if not (owner := backup.annotation(NAB_NAME_ANNOTATION)):
        return ()
    place = backup.annotation(NAB_NAMESPACE_ANNOTATION)
    return (
        f"It does not belong to the NAB {place}/{owner}: its owner sees nothing of it. For one of the owner's, "
        "a new NAB is needed.",
    )


def _why_not_deleted(snapshot: ClusterSnapshot, backup: Backup) -> str:
    if backup.phase in phases.HOLDS_SLOT:
        return f"it is {backup.phase}: Velero does not delete a running backup"
    return requested_deletion(snapshot, backup)


def requested_deletion(snapshot: ClusterSnapshot, backup: Backup) -> str:
    """Why nothing more is done to a backup whose deletion Velero has still to make; "" for any other."""
    open_requests = [request for request in snapshot.delete_requests if request.phase != "Processed"]
    asked = any(_is_from(request.spec.backup_name, request.namespace, backup) for request in open_requests)
    return "its deletion was already requested" if asked else ""


def _delete_request(snapshot: ClusterSnapshot, backup: Backup, now: datetime) -> PlanStep:
    where = ObjectRef(snapshot.context, DELETE_REQUEST.name, backup.namespace, backup.name)
    labels = {BACKUP_LABEL: label_value(backup.name), BACKUP_UID_LABEL: backup.metadata.uid}
    meta = {"generateName": f"{backup.name}-", "labels": labels}
    changes = (f"a DeleteBackupRequest for backup {backup.namespace}/{backup.name} is created",)
    restores = [
        restore.name for restore in snapshot.restores if _is_from(restore.spec.backup_name, restore.namespace, backup)
    ]
    also = f", and the restores made from it ({humanize.join(restores)})" if restores else ""
    wait = waits_for_velero(snapshot, backup.namespace, "deleted", now)
    forecast = f"{wait}its data in storage, its snapshots and its object are permanently deleted{also}"
    command = velero(snapshot.context, backup.namespace, "backup", "delete", backup.name, "--confirm")
    location = snapshot.location(backup.namespace, backup.spec.storage_location)
    warnings = []
    if owner := backup.annotation(NAB_NAME_ANNOTATION):
        place = backup.annotation(NAB_NAMESPACE_ANNOTATION)
        warnings.append(f"It belongs to the NAB {place}/{owner}, which would remain: delete that one instead.")
    if location is not None and location.phase == "Unavailable":
        warnings.append(f"Its storage location {location.name} is Unavailable: Velero cannot delete from it now.")
    if location is not None and location.spec.access_mode == "ReadOnly":
        warnings.append(f"Its storage location {location.name} is ReadOnly: Velero deletes nothing from it.")
    source = NamedSource(snapshot.ref(backup), backup.metadata.uid)
    return create_step(where, {"backupName": backup.name}, changes, forecast, command, tuple(warnings), meta, source)


def _is_from(backup_name: str, namespace: str, backup: Backup) -> bool:
    return (backup_name, namespace) == (backup.name, backup.namespace)


def _cancel(snapshot: ClusterSnapshot, backup: Backup, movement: DataMovement) -> PlanStep:
    kind = _KIND_OF_MOVEMENT[type(movement)]
    where = snapshot.ref(movement)
    progress = movement.status.progress
    share = f"{progress.bytes_done * 100 // progress.total_bytes} % moved" if progress.total_bytes else ""
    forecast = f"volume {movement.volume or '?'} is cancelled; {backup.name} ends as PartiallyFailed or Failed"
    before = {"spec": {"cancel": movement.spec.cancel}}
    named = f"{kind.name} {movement.name}"
    return replace(patch_step(where, movement, {"spec": {"cancel": True}}, before, forecast, of=named), progress=share)


def _has_ended(item: Resource, _moves: Callable[[], bool]) -> str:
    ended = isinstance(item, Backup) and item.phase in phases.ENDED and item.phase != "Deleting"
    return "" if ended else "it has not ended"


def _has_movements(_item: Resource, moves: Callable[[], bool]) -> str:
    return "" if moves() else "nothing of it is being moved"


BACK_UP_NOW = ActionRecord(
    40,
    "back-up-now",
    "Back up now",
    "t",
    (SCHEDULE,),
    (RequiredPermission("create", BACKUP),),
    plan_back_up_now,
    many=True,
    planned_together=True,
    short="back up now",
    footer=LATE,
    words=("backup now", "run now"),
    hint="back {} up now",
    dialog=DialogSpec("Back up {} now", "Back up", ("Back up {} now", "Back up {} now"), takes=("named_at",)),
    follow=follow_backup,
    commands=(CommandLine("backup create", "foretop backup create --from-schedule nightly --wait"),),
    purpose="back up now",
)
RUN_AGAIN = ActionRecord(
    50,
    "run-again",
    "Run again",
    "t",
    (BACKUP,),
    (RequiredPermission("create", BACKUP),),
    plan_run_again,
    applies=_has_ended,
    short="run again",
    footer=LATE,
    words=("backup now",),
    hint="run {} again",
    dialog=DialogSpec("Run {} again", "Run again", ("Run {} again", "Run {} again"), "backup", takes=("named_at",)),
    follow=follow_backup,
    commands=(CommandLine("backup create"),),
)
CANCEL_MOVEMENTS = ActionRecord(
    120,
    "cancel-movements",
    "Cancel its data movements",
    "ctrl+k",
    (BACKUP,),
    (RequiredPermission("patch", POD_VOLUME_BACKUP), RequiredPermission("patch", DATA_UPLOAD)),
    plan_cancel,
    dangerous=True,
    applies=_has_movements,
    short="cancel",
    footer=LATE,
    words=("stop",),
    hint="cancel the data movements of {}",
    dialog=DialogSpec(
        "Stop the data movements of {}",
        "Stop transfers",
        ("Stop the data movements of {}", "Stop the data movements of {}"),
        "data movement",
    ),
    commands=(CommandLine("backup cancel", "foretop backup cancel nightly-20261115010012"),),
    purpose="cancel data movements",
)
DELETE_BACKUP = ActionRecord(
    160,
    "delete-backup",
    "Delete the backup",
    "ctrl+d",
    (BACKUP,),
    (RequiredPermission("create", DELETE_REQUEST),),
    plan_delete_backup,
    dangerous=True,
    many=True,
    short="delete",
    footer=LATE,
    dialog=DialogSpec(
        "Delete backup {}",
        "Delete permanently",
        ("Delete backup {} permanently", "Delete {} permanently"),
        "backup",
        together=last_copies_warning,
    ),
    follow=follow_backup_deletion,
    commands=(
        CommandLine(
            "backup delete",
            "foretop backup delete nightly-20261115010012",
            "Delete backups with their data, by a DeleteBackupRequest each; --wait shows its errors.",
        ),
    ),
    purpose="delete backups",
)
