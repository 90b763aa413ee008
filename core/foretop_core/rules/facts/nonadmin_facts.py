"""All that is said of a NAB or NAR: its state and how grave that is, its path, what acts next, and why.

Tables, panes, commands and Triage read it here and derive nothing of it themselves.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum
from functools import cached_property
from typing import assert_never

import msgspec

from foretop_core.foreign_text import named, quoted
from foretop_core.models import Backup, Condition, NonAdmin, NonAdminBackup, Restore
from foretop_core.models.kinds import BACKUP
from foretop_core.models.nonadmin import says_lost
from foretop_core.models.velero import BackupStatus, RunStatus
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import RunFacts
from foretop_core.rules.lookups import own_run
from foretop_core.rules.nonadmin_lifecycle import (
    CONDITIONS,
    DELETING,
    LifecycleStep,
    Path,
    StepState,
    is_synced,
    is_true,
    path_of,
    run_of,
    run_steps,
    steps_of,
)
from foretop_core.rules.phases import ENDED, FAULTY, FINISHING, USABLE, WAITING
from foretop_core.rules.refusal_actor import who_must_act
from foretop_core.rules.schedule_history import began
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.severity import Severity
from foretop_core.rules.snapshot import ClusterSnapshot

__all__ = [
    "CONDITIONS",
    "LastingNonAdminFacts",
    "LifecycleStep",
    "NonAdminFacts",
    "NonAdminState",
    "StepState",
    "nonadmin_facts",
    "own_run",
    "run_steps",
    "vanished_words",
]


class NonAdminState(Enum):
    """How a NAB or NAR stands, the first that holds."""

    DELETING = "deleting"
    LOST = "lost"
    """Its Velero object is gone."""
    REFUSED = "refused"
    WAITING = "waiting"
    """The controller or Velero has yet to begin."""
    VELERO = "velero"
    """It is what its Velero object is."""


_CLOCKS_DIFFER = timedelta(minutes=1)


class LastingNonAdminFacts(msgspec.Struct, frozen=True):
    """The facts that do not depend on the time: a table keeps them from change to change."""

    item: NonAdmin
    run: Backup | Restore | None
    """Its Velero object, where the viewer may read it."""

    @property
    def status(self) -> RunStatus | None:
        """Velero's status: the object's own where it was seen, for the copy can be frozen; of a lost one nothing."""
        if self.run is not None:
            return self.run.status
        return None if self.item.is_lost else self.item.velero.status

    @property
    def state_and_phase(self) -> tuple[NonAdminState, str]:
        """Its state and the phase of its Velero object: worked out together, for every row is asked for both."""
        item, run = self.item, self.run
        accepted = item.condition("Accepted")
        is_lost = says_lost(accepted)
        if run is not None:
            phase = run.phase or "New"
        else:
            copied = item.velero.status
            phase = copied.phase if copied is not None and not is_lost else ""
        if item.metadata.deletion_timestamp is not None or item.phase in DELETING:
            return NonAdminState.DELETING, phase
        if accepted.status == "False" if accepted is not None else item.phase == "BackingOff":
            return NonAdminState.LOST if is_lost else NonAdminState.REFUSED, phase
        return NonAdminState.VELERO if phase else NonAdminState.WAITING, phase

    @property
    def velero_phase(self) -> str:
        """The phase of its Velero object; "" where it has none."""
        return self.state_and_phase[1]

    @property
    def state(self) -> NonAdminState:
        return self.state_and_phase[0]

    @property
    def deleting_since(self) -> datetime | None:
        """When its deletion began; None where it is not being deleted, or nothing tells."""
        return _deletion_began(self.item) if self.state is NonAdminState.DELETING else None

    @property
    def reported(self) -> int:
        """The controller's estimate of its place in the queue; 0 where it has none, or takes it for served."""
        info = self.item.state.queue_info
        return info.estimated_queue_position if info is not None else 0

    @property
    def reason(self) -> str:
        """Why it does not get on, in the words of whoever refused or failed it; empty where it does."""
        item, accepted = self.item, self.item.condition("Accepted")
        if item.is_lost or (accepted is not None and not is_true(accepted)):
            return _words(accepted)
        request = item.status.velero_delete_backup_request if isinstance(item, NonAdminBackup) else None
        if request is not None and request.status is not None and request.status.errors:
            return "; ".join(request.status.errors)
        run = run_of(item, self.run)
        if run is None or run.phase not in FAULTY:
            return ""
        return _reason(run) or _error_count(run)


class NonAdminFacts(LastingNonAdminFacts, frozen=True, dict=True):
    """A NAB or NAR at a moment; each fact is worked out when it is first asked for."""

    now: datetime
    snapshot: ClusterSnapshot
    longest_deletion: timedelta = timedelta(minutes=10)
    """A deletion that takes longer is stuck."""
    work: RunFacts | None = None
    """The facts of its Velero object, where they are at hand."""

    @property
    def severity(self) -> Severity | None:
        """An error only where Velero failed: what is refused or lost is for its owner to correct, and Velero works."""
        state, phase = self.state_and_phase
        match state:
            case NonAdminState.LOST if self.expired_at is not None:
                return Severity.NOTE
            case NonAdminState.LOST | NonAdminState.REFUSED:
                return Severity.WARNING
            case NonAdminState.DELETING:
                since = told_before(self.now, self.deleting_since, self.item.created)
                return Severity.WARNING if since is not None and self.now - since >= self.longest_deletion else None
            case NonAdminState.VELERO if phase in FAULTY:
                return Severity.WARNING if phase == "PartiallyFailed" else Severity.ERROR
            case _:
                is_left_alone = self.work is not None and self.work.is_left_alone
                return Severity.WARNING if is_left_alone or self._is_gone(state, phase) else None

    @property
    def is_gone(self) -> bool:
        """True if it reports a copy that Velero no longer has: the controller has not noticed.

        Where the backups of its Velero are not seen, nobody can tell.
        """
        return self._is_gone(*self.state_and_phase)

    def _is_gone(self, state: NonAdminState, phase: str) -> bool:
        item, snapshot = self.item, self.snapshot
        return (
            self.run is None
            and state is NonAdminState.VELERO
            and phase in USABLE
            and isinstance(item, NonAdminBackup)
            and snapshot.lookups.has_backups_in(item.velero.namespace)
            and snapshot.gap(BACKUP) is None
        )

    @property
    def expired_at(self) -> datetime | None:
        """When its Velero backup expired, where it is gone for that; None where it is there, or was deleted before."""
        copied, accepted = self.item.velero.status, self.item.condition("Accepted")
        expires = copied.expiration if isinstance(copied, BackupStatus) else None
        gone_at = self.now if self.is_gone else None
        if self.state is NonAdminState.LOST and self.run is None and accepted is not None:
            gone_at = told_before(self.now, accepted.last_transition_time, self.now)
        return expires if expires is not None and gone_at is not None and expires <= gone_at else None

    @property
    def gone(self) -> Text:
        """Says that its Velero backup is gone, where it expired or the controller has not noticed; "" for any other."""
        expired_at, name = self.expired_at, self.item.velero.name
        if not self.is_gone:
            return (
                sentence("Its Velero backup expired at ", expired_at, ", and Velero has deleted it.")
                if expired_at
                else ""
            )
        reports = f"It still reports {named(self.velero_phase)}, but its Velero backup "
        if expired_at is None:
            return f"{reports}{name} no longer exists."
        return sentence(f"{reports}expired at ", expired_at, " and is gone.")

    @property
    def is_overtaken(self) -> bool:
        """True if nothing is lacking since it failed: Triage does not list it then."""
        return self.overtaken_at is not None

    @property
    def overtaken_at(self) -> datetime | None:
        """The start of the newest complete copy of the namespace, or of a later restore, since Velero failed it."""
        item, status, snapshot = self.item, self.status, self.snapshot
        if status is None or status.phase not in FAULTY:
            return None
        began_at = status.start_timestamp or item.created
        if self.run is None and began_at is not None and item.created is not None:
            # Only the copy in its own status tells it, and cannot have begun before it.
            began_at = max(began_at, item.created)
        if began_at is None:
            return None
        if isinstance(item, NonAdminBackup):
            row = snapshot.protection.row(item.namespace)
            good = began(row.copies.newest) if row is not None and row.copies.newest is not None else None
        else:
            good = snapshot.last_restored.get(item.namespace)
        return good if good is not None and good > began_at else None

    @cached_property
    def path(self) -> Path:
        return path_of(self.item)

    @property
    def steps(self) -> tuple[LifecycleStep, ...]:
        return steps_of(self.item, self.path, self.run)

    @property
    def next(self) -> Text:
        """The step that comes next, and who takes it."""
        return self._explanation[0]

    @property
    def why(self) -> Text:
        """Its state in a sentence."""
        return self._explanation[1]

    @cached_property
    def _explanation(self) -> tuple[Text, Text]:
        if gone := self.gone:
            return f"a new {type(self.item).__name__}", gone
        is_making = self.state is NonAdminState.VELERO and self.path is Path.CREATE_UPDATE
        if is_making and self.work is not None and self.work.stands_still:
            noun, phase = _noun(self.item), self.velero_phase
            return "Velero gets on with it", f"The Velero {noun} was started, and stands still ({named(phase)})."
        return _explain(self.item, self.path, self.run, self.now, self.snapshot)


def told_before(now: datetime, told: datetime | None, otherwise: datetime | None) -> datetime | None:
    """A moment that an object tells of itself; `otherwise` where it is still to come, which proves nothing."""
    return otherwise if told is not None and told > now + _CLOCKS_DIFFER else told


def nonadmin_facts(
    snapshot: ClusterSnapshot, item: NonAdmin, now: datetime, longest_deletion: timedelta = timedelta(minutes=10)
) -> NonAdminFacts:
    """The facts of a NAB or NAR; its Velero object is looked up by its label."""
    return NonAdminFacts(item, snapshot.velero_run(item), now, snapshot, longest_deletion)


def _explain(
    obj: NonAdmin, path: Path, live: Backup | Restore | None, now: datetime, snapshot: ClusterSnapshot
) -> tuple[Text, Text]:
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


def vanished_words(item: NonAdmin, live: Backup | Restore | None) -> str:
    """Says of one that the controller has lost its Velero object; the sync may have brought a backup back since."""
    return f"Its Velero {_noun(item).lower()} {'no longer exists' if live is None else 'was gone and is there again'}"


def _explain_making(
    obj: NonAdmin, live: Backup | Restore | None, now: datetime, snapshot: ClusterSnapshot
) -> tuple[Text, Text]:
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
            f"{vanished_words(obj, live)}: the controller took Accepted back, and it will not run again "
            f"({_said(accepted)}).",
        )
    if accepted is not None and not is_true(accepted):
        needed = who_must_act(snapshot, obj)
        refused = f"The controller refuses it: {_said(accepted)}."
        # What is missing comes first where that is known: the controller's words name the lack of it by a long id.
        reasons = (needed.waits, refused) if needed.request is not None else (refused, needed.waits)
        return needed.next, sentence(reasons[0], " ", reasons[1])
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
    unset = ", which does not set Accepted" if accepted is None else ""
    return following, f"Recreated by the sync from the bucket{unset}. {why}" if is_synced(obj) else why


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
    return "Completed", f"The Velero {noun} is running ({named(phase)})."


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
            f"Velero could not delete the backup: {quoted('; '.join(status.errors))}.",
        )
    return (
        "the Velero Backup is deleted, then this object",
        f"Velero is deleting backup and data ({named(status.phase)}{_for(obj, now)}).",
    )


def _noun(obj: NonAdmin) -> str:
    return "Backup" if isinstance(obj, NonAdminBackup) else "Restore"


def _words(condition: Condition | None) -> str:
    if condition is None:
        return "no reason given"
    return f"{condition.reason}: {condition.message}".strip(": ").rstrip(".")


def _said(condition: Condition | None) -> str:
    return quoted(_words(condition)) if condition is not None else "no reason given"


def _reason(run: RunStatus) -> str:
    return run.failure_reason or "; ".join(run.validation_errors)


def _error_count(run: RunStatus) -> str:
    return f"with {humanize.count(run.errors, 'error')}" if run.errors else ""


def _fault(run: RunStatus) -> str:
    if reason := _reason(run):
        return f": {quoted(reason)}"
    return f" {count}" if (count := _error_count(run)) else ""


def _for(obj: NonAdmin, now: datetime) -> str:
    """` for 3 minutes`: the time since the deletion began, "" if it has not begun."""
    since = _deletion_began(obj)
    return "" if since is None else f" for {humanize.duration(now - since)}"


def _deletion_began(obj: NonAdmin) -> datetime | None:
    deleting = obj.condition("Deleting")
    return obj.metadata.deletion_timestamp or (deleting.last_transition_time if deleting else None)
