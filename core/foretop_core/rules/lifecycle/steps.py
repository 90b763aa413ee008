"""The steps of an object's path, each done, current, ahead or failed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from foretop_core.models import Backup, NonAdmin, NonAdminBackup, Restore
from foretop_core.models.velero import RunStatus
from foretop_core.rules.lifecycle.paths import DELETING, Path, is_lost, is_synced, is_true
from foretop_core.rules.phases import ENDED, FAULTY, WAITING


class State(Enum):
    DONE = "done"
    CURRENT = "current"
    AHEAD = "ahead"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    state: State
    at: datetime | None = None


def steps_of(obj: NonAdmin, path: Path, live: Backup | Restore | None) -> tuple[Step, ...]:
    if path is Path.CREATE_UPDATE and obj.phase not in DELETING:
        return _in_order(_making(obj, run_of(obj, live)))
    return _in_order(_leaving(obj, path))


def run_steps(run: Backup | Restore) -> tuple[Step, ...]:
    """The path of a Velero object of its own; restores have no queue."""
    way = [Step("New", State.DONE if run.phase else State.AHEAD, run.created), *_running(run.status)]
    return _in_order([step for step in way if step.name != "Queued" or isinstance(run, Backup)])


def run_of(obj: NonAdmin, live: Backup | Restore | None) -> RunStatus | None:
    """Velero's word: the object itself where it was seen, for the copy in the status can be frozen."""
    if live is not None:
        return live.status
    return obj.velero.status if is_true(obj.condition("Queued")) else None


def _in_order(steps: list[Step]) -> tuple[Step, ...]:
    """The first step that is not done is the current one; nothing behind it is more than ahead."""
    reached = next((place for place, step in enumerate(steps) if step.state is not State.DONE), len(steps))
    if reached == len(steps):
        return tuple(steps)
    here = steps[reached]
    current = here if here.state is State.FAILED else replace(here, state=State.CURRENT)
    rest = (Step(step.name, State.AHEAD) for step in steps[reached + 1 :])
    return (*steps[:reached], current, *rest)


def _making(obj: NonAdmin, run: RunStatus | None) -> list[Step]:
    accepted, queued = obj.condition("Accepted"), obj.condition("Queued")
    steps = [Step("New", State.DONE if obj.phase or is_synced(obj) else State.AHEAD, obj.created)]
    if is_lost(obj):
        steps.append(Step("Accepted", State.DONE))
        steps.append(Step("Created", State.FAILED, accepted.last_transition_time if accepted else None))
    else:
        if accepted is not None:
            state = State.DONE if is_true(accepted) else State.FAILED
            steps.append(Step("Accepted", state, accepted.last_transition_time))
        elif not is_synced(obj):
            steps.append(Step("Accepted", State.AHEAD))
        made = State.DONE if is_true(queued) else State.AHEAD
        steps.append(Step("Created", made, queued.last_transition_time if queued else None))
    return [*steps, *_running(run)]


def _running(run: RunStatus | None) -> list[Step]:
    """Velero's part of the path; a phase between the usual ones is shown in its own name."""
    if run is None or run.phase in WAITING:
        return [Step("Queued", State.AHEAD), Step("InProgress", State.AHEAD), Step("Completed", State.AHEAD)]
    waited = Step("Queued", State.DONE)
    if run.phase not in ENDED:
        name = run.phase
        return [waited, Step(name, State.AHEAD, run.start_timestamp), Step("Completed", State.AHEAD)]
    ended = State.FAILED if run.phase in FAULTY else State.DONE
    last = Step(run.phase, ended, run.completion_timestamp)
    if run.start_timestamp is None:
        return [waited, last]
    return [waited, Step("InProgress", State.DONE, run.start_timestamp), last]


def _leaving(obj: NonAdmin, path: Path) -> list[Step]:
    deleting = obj.condition("Deleting")
    made = obj.condition("Queued")
    steps = [Step("New", State.DONE, obj.created)]
    if is_true(made):
        steps.append(Step("Created", State.DONE, made.last_transition_time if made else None))
    since = deleting.last_transition_time if deleting else None
    under_way = is_true(deleting) and obj.metadata.deletion_timestamp is not None
    stays = path in {Path.API_DELETE, Path.CREATE_UPDATE}
    steps.append(Step("Deleting", State.DONE if under_way and not stays else State.AHEAD, since))
    if path is Path.DELETE:
        steps.append(_request_step(obj))
    return [*steps, Step("Gone", State.AHEAD)]


def _request_step(obj: NonAdmin) -> Step:
    request = obj.status.velero_delete_backup_request if isinstance(obj, NonAdminBackup) else None
    if request is None or request.status is None:
        return Step("DeleteBackupRequest", State.AHEAD)
    if request.status.errors:
        return Step("DeleteBackupRequest", State.FAILED)
    done = request.status.phase == "Processed"
    return Step("DeleteBackupRequest", State.DONE if done else State.AHEAD)
