"""The current state of a NAB or NAR and its next step, in sentences for an operator or a team."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

import msgspec

from foretop_core.models import Backup, Condition, NonAdmin, NonAdminBackup, Restore
from foretop_core.models.velero import RunStatus
from foretop_core.rules import humanize
from foretop_core.rules.nonadmin_lifecycle.paths import CONDITIONS, DELETING, Path, is_synced, is_true, path_of
from foretop_core.rules.nonadmin_lifecycle.steps import LifecycleStep, run_of, steps_of
from foretop_core.rules.phases import ENDED, FAULTY, FINISHING, WAITING
from foretop_core.rules.refusal_actor import who_must_act
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot


class Lifecycle(msgspec.Struct, frozen=True):
    """The drawn path, the next step, and the sentence that explains it."""

    path: Path
    steps: tuple[LifecycleStep, ...]
    conditions: tuple[Condition, ...]
    next: str
    why: Text
    synced: bool


def lifecycle(obj: NonAdmin, live: Backup | Restore | None, now: datetime, snapshot: ClusterSnapshot) -> Lifecycle:
    """The state of a NAB or NAR; `live` is its Velero object if the viewer may read it."""
    path = path_of(obj)
    following, why = _explain(obj, path, live, now, snapshot)
    return Lifecycle(
        path=path,
        steps=steps_of(obj, path, live),
        conditions=_ordered(obj.state.conditions),
        next=following,
        why=why,
        synced=is_synced(obj),
    )


def _ordered(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    places = {kind: place for place, kind in enumerate(CONDITIONS)}
    return tuple(sorted(conditions, key=lambda entry: places.get(entry.type, len(places))))


def _explain(
    obj: NonAdmin, path: Path, live: Backup | Restore | None, now: datetime, snapshot: ClusterSnapshot
) -> tuple[str, Text]:
    match path:
        case Path.CREATE_UPDATE:
            if obj.phase in DELETING:
                return _explain_api_delete(obj, now)
            return _explain_making(obj, live, now, snapshot)
        case Path.API_DELETE:
            return _explain_api_delete(obj, now)
        case Path.FORCE_DELETE:
            return (
                "the Velero objects are deleted, then the finalizer is removed",
                f"Force deletion in progress{_for(obj, now)}: data may remain in the bucket.",
            )
        case Path.DELETE:
            return _explain_delete(obj, now)
        case never:
            assert_never(never)


def _explain_making(
    obj: NonAdmin, live: Backup | Restore | None, now: datetime, snapshot: ClusterSnapshot
) -> tuple[str, Text]:
    noun = _noun(obj)
    accepted = obj.condition("Accepted")
    if not obj.phase and not is_synced(obj):
        return (
            "the controller picks it up",
            "The controller has not picked it up yet. If this lasts, the controller is down.",
        )
    if obj.is_lost:
        return (
            f"a new {type(obj).__name__}",
            f"Its Velero {noun} no longer exists, and it will not run again ({_said(accepted)}).",
        )
    if accepted is not None and not is_true(accepted):
        needed = who_must_act(snapshot, obj)
        return needed.next, sentence(f"The controller refuses it: {_said(accepted)}. ", needed.waits)
    if not is_true(obj.condition("Queued")):
        step = "validate its spec" if accepted is None else f"create the Velero {noun}"
        return f"the controller must {step}", f"The controller must {step} next. If this lasts, the controller is down."
    run = run_of(obj, live)
    silence = snapshot.heartbeat(obj.velero.namespace).silence(now) if obj.velero.namespace else ""
    if silence and (run is None or run.phase in ("", "New")):
        return "Velero picks it up", sentence(
            f"The Velero {noun} is created, and Velero has not picked it up: ", silence, "."
        )
    following, why = _explain_run(noun, run)
    return following, f"Recreated by the sync from the bucket. {why}" if is_synced(obj) else why


def _explain_run(noun: str, run: RunStatus | None) -> tuple[str, str]:
    phase = run.phase if run is not None else ""
    if run is None or phase in WAITING:
        return "InProgress", f"The Velero {noun} is created and waits for its turn in Velero's queue."
    if phase in FAULTY:
        return "nothing more", f"The Velero {noun} ended {phase}{_fault(run)}. Read its log; start a new one."
    if phase in ENDED:
        after = "Gone" if phase == "Deleting" else "nothing more"
        return after, f"The Velero {noun} is {phase}."
    if phase == "ReadyToStart":
        return "InProgress", f"The Velero {noun} has left the queue and is about to start."
    if phase in FINISHING:
        return "Completed", f"The Velero {noun} has all items and is finishing ({phase})."
    return "Completed", f"The Velero {noun} is running ({phase})."


def _explain_api_delete(obj: NonAdmin, now: datetime) -> tuple[str, str]:
    """After a plain delete: a NAB may wait for a decision on its data, a NAR only for its Velero Restore."""
    noun = _noun(obj)
    deleting = obj.condition("Deleting")
    if deleting is None:
        return (
            "the controller marks it as Deleting",
            f"It was deleted{_for(obj, now)}; waiting for the controller.",
        )
    if not isinstance(obj, NonAdminBackup):
        return f"the Velero {noun} is deleted", f"It is being deleted{_for(obj, now)}: {_said(deleting)}."
    return (
        "spec.deleteBackup: true, or the finalizer removed",
        f"It is being deleted{_for(obj, now)}: {_said(deleting)}. "
        "If it does not go away, set spec.deleteBackup to true (this also deletes the data).",
    )


def _explain_delete(obj: NonAdmin, now: datetime) -> tuple[str, str]:
    request = obj.status.velero_delete_backup_request if isinstance(obj, NonAdminBackup) else None
    status = request.status if request is not None else None
    if not is_true(obj.condition("Deleting")):
        return "the controller marks it as Deleting", "spec.deleteBackup is set; waiting for the controller."
    if status is None:
        return (
            "Velero picks up the DeleteBackupRequest",
            f"Backup and data are queued for deletion{_for(obj, now)}.",
        )
    if status.errors:
        return (
            "the cause is fixed and a new DeleteBackupRequest is created",
            f"Velero could not delete the backup: {'; '.join(status.errors)}.",
        )
    return (
        "the Velero Backup is deleted, then this object",
        f"Velero is deleting backup and data ({status.phase}{_for(obj, now)}).",
    )


def reason(obj: NonAdmin, live: Backup | Restore | None) -> str:
    """Why it does not get on, in the words of whoever refused or failed it; empty where it does."""
    accepted = obj.condition("Accepted")
    if obj.is_lost or (accepted is not None and not is_true(accepted)):
        return _said(accepted)
    request = obj.status.velero_delete_backup_request if isinstance(obj, NonAdminBackup) else None
    if request is not None and request.status is not None and request.status.errors:
        return "; ".join(request.status.errors)
    run = run_of(obj, live)
    return _fault(run).removeprefix(":").strip() if run is not None and run.phase in FAULTY else ""


def _noun(obj: NonAdmin) -> str:
    return "Backup" if isinstance(obj, NonAdminBackup) else "Restore"


def _said(condition: Condition | None) -> str:
    if condition is None:
        return "no reason given"
    return f"{condition.reason}: {condition.message}".strip(": ").rstrip(".")


def _fault(run: RunStatus) -> str:
    if run.failure_reason:
        return f": {run.failure_reason}"
    if run.validation_errors:
        return f": {'; '.join(run.validation_errors)}"
    return f" with {humanize.count(run.errors, 'error')}" if run.errors else ""


def _for(obj: NonAdmin, now: datetime) -> str:
    """` for 3 minutes`: the time since the deletion began, "" if it has not begun."""
    deleting = obj.condition("Deleting")
    since = obj.metadata.deletion_timestamp or (deleting.last_transition_time if deleting else None)
    if since is None:
        return ""
    return f" for {humanize.duration(now - since)}"
