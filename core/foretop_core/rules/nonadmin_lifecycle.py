"""NABs and NARs as the state machine of the seed's chart: their path and its steps."""

from __future__ import annotations

from datetime import datetime
from enum import Enum

import msgspec
from msgspec.structs import replace

from foretop_core.models import Backup, Condition, NonAdmin, NonAdminBackup, Restore
from foretop_core.models.velero import RunStatus
from foretop_core.rules.phases import ENDED, FAULTY, WAITING

SYNCED_LABEL = "openshift.io/oadp-nab-synced-from-nacuuid"

CONDITIONS = ("Accepted", "Queued", "Deleting")
DELETING = frozenset({"Deleting", "Deletion"})
"""The seed's table says Deletion; its chart and every controller say Deleting."""


class Path(Enum):
    CREATE_UPDATE = "create/update"
    API_DELETE = "api delete"
    FORCE_DELETE = "force delete"
    DELETE = "delete"


def path_of(obj: NonAdmin, forced: bool = True) -> Path:
    """The path of an object; `forced` is whether the controller supports `spec.forceDeleteBackup`."""
    if isinstance(obj, NonAdminBackup):
        if forced and obj.spec.force_delete_backup:
            return Path.FORCE_DELETE
        if obj.spec.delete_backup:
            return Path.DELETE
    return Path.CREATE_UPDATE if obj.metadata.deletion_timestamp is None else Path.API_DELETE


def is_true(condition: Condition | None) -> bool:
    return condition is not None and condition.status == "True"


def is_synced(obj: NonAdmin) -> bool:
    """True if the sync made it from a backup in the bucket; it was never validated and has no Accepted condition."""
    if obj.label(SYNCED_LABEL):
        return True
    return obj.phase == "Created" and obj.condition("Accepted") is None


class StepState(Enum):
    DONE = "done"
    CURRENT = "current"
    AHEAD = "ahead"
    FAILED = "failed"


class LifecycleStep(msgspec.Struct, frozen=True, gc=False):
    name: str
    state: StepState
    at: datetime | None = None


def steps_of(obj: NonAdmin, path: Path, live: Backup | Restore | None) -> tuple[LifecycleStep, ...]:
    if path is Path.CREATE_UPDATE and obj.phase not in DELETING:
        return _in_order(_making(obj, run_of(obj, live)))
    return _in_order(_leaving(obj, path))


def run_steps(run: Backup | Restore) -> tuple[LifecycleStep, ...]:
    """The path of a Velero object itself; restores have no queue."""
    steps = [LifecycleStep("New", StepState.DONE if run.phase else StepState.AHEAD, run.created), *_running(run.status)]
    return _in_order([step for step in steps if step.name != "Queued" or isinstance(run, Backup)])


def run_of(obj: NonAdmin, live: Backup | Restore | None) -> RunStatus | None:
    """Velero's status: from the object itself if it is visible, because the copy in the NAB or NAR can be outdated."""
    if live is not None:
        return live.status
    return obj.velero.status if is_true(obj.condition("Queued")) else None


def _in_order(steps: list[LifecycleStep]) -> tuple[LifecycleStep, ...]:
    """The steps with the first unfinished one as current; everything behind it is ahead."""
    reached = next((index for index, step in enumerate(steps) if step.state is not StepState.DONE), len(steps))
    if reached == len(steps):
        return tuple(steps)
    here = steps[reached]
    current = here if here.state is StepState.FAILED else replace(here, state=StepState.CURRENT)
    rest = (LifecycleStep(step.name, StepState.AHEAD) for step in steps[reached + 1 :])
    return (*steps[:reached], current, *rest)


def _making(obj: NonAdmin, run: RunStatus | None) -> list[LifecycleStep]:
    accepted, queued = obj.condition("Accepted"), obj.condition("Queued")
    steps = [LifecycleStep("New", StepState.DONE if obj.phase or is_synced(obj) else StepState.AHEAD, obj.created)]
    if obj.is_lost:
        # The controller takes its acceptance back: the condition is False, and says nothing of the request.
        made_at = queued.last_transition_time if queued else None
        lost_at = accepted.last_transition_time if accepted else None
        made = LifecycleStep("Created", StepState.DONE, made_at)
        return [*steps, made, LifecycleStep("Lost", StepState.FAILED, lost_at)]
    if accepted is not None:
        state = StepState.DONE if is_true(accepted) else StepState.FAILED
        steps.append(LifecycleStep("Accepted", state, accepted.last_transition_time))
    elif not is_synced(obj):
        steps.append(LifecycleStep("Accepted", StepState.AHEAD))
    state = StepState.DONE if is_true(queued) else StepState.AHEAD
    steps.append(LifecycleStep("Created", state, queued.last_transition_time if queued else None))
    return [*steps, *(step for step in _running(run) if step.name != "Queued" or isinstance(obj, NonAdminBackup))]


def _running(run: RunStatus | None) -> list[LifecycleStep]:
    """Velero's part of the path; an unusual phase is shown under its own name."""
    if run is None or run.phase in WAITING:
        return [
            LifecycleStep("Queued", StepState.AHEAD),
            LifecycleStep("InProgress", StepState.AHEAD),
            LifecycleStep("Completed", StepState.AHEAD),
        ]
    waited = LifecycleStep("Queued", StepState.DONE)
    if run.phase not in ENDED:
        went_through = run.start_timestamp is not None and run.phase != "InProgress"
        return [
            waited,
            *([LifecycleStep("InProgress", StepState.DONE, run.start_timestamp)] if went_through else []),
            LifecycleStep(run.phase, StepState.AHEAD, None if went_through else run.start_timestamp),
            LifecycleStep("Completed", StepState.AHEAD),
        ]
    ended = StepState.FAILED if run.phase in FAULTY else StepState.DONE
    last = LifecycleStep(run.phase, ended, run.completion_timestamp)
    if run.start_timestamp is None:
        return [waited, last]
    return [waited, LifecycleStep("InProgress", StepState.DONE, run.start_timestamp), last]


def _leaving(obj: NonAdmin, path: Path) -> list[LifecycleStep]:
    deleting = obj.condition("Deleting")
    made = obj.condition("Queued")
    steps = [LifecycleStep("New", StepState.DONE, obj.created)]
    if is_true(made):
        steps.append(LifecycleStep("Created", StepState.DONE, made.last_transition_time if made else None))
    since = deleting.last_transition_time if deleting else None
    under_way = is_true(deleting) and obj.metadata.deletion_timestamp is not None
    stays = path in {Path.API_DELETE, Path.CREATE_UPDATE}
    steps.append(LifecycleStep("Deleting", StepState.DONE if under_way and not stays else StepState.AHEAD, since))
    if path is Path.DELETE:
        steps.append(_request_step(obj))
    return [*steps, LifecycleStep("Gone", StepState.AHEAD)]


def _request_step(obj: NonAdmin) -> LifecycleStep:
    request = obj.status.velero_delete_backup_request if isinstance(obj, NonAdminBackup) else None
    if request is None or request.status is None:
        return LifecycleStep("DeleteBackupRequest", StepState.AHEAD)
    if request.status.errors:
        return LifecycleStep("DeleteBackupRequest", StepState.FAILED)
    done = request.status.phase == "Processed"
    return LifecycleStep("DeleteBackupRequest", StepState.DONE if done else StepState.AHEAD)
