"""The state of an object in situations that the recording does not contain."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from foretop_core.models import Backup, NonAdminBackup, NonAdminRestore, Restore, from_builtins
from foretop_core.rules.facts.nonadmin_facts import NonAdminFacts
from foretop_core.rules.nonadmin_lifecycle import Path, StepState
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.nonadmin_chart import transition

ALONE = ClusterSnapshot("prod")

NOW = datetime(2026, 11, 15, 2, 41, 7, tzinfo=UTC)
ACCEPTED = {"type": "Accepted", "status": "True", "reason": "BackupAccepted", "message": "backup accepted"}
QUEUED = {"type": "Queued", "status": "True", "reason": "BackupScheduled", "message": "Created Velero Backup object"}
DELETING = {
    "type": "Deleting",
    "status": "True",
    "reason": "DeletionPending",
    "message": "backup accepted for deletion",
    "lastTransitionTime": "2026-11-12T02:41:07Z",
}


def nab(phase: str, *conditions: dict[str, Any], uid: str = "u1", **parts: Any) -> NonAdminBackup:
    meta = {"name": "ledger", "namespace": "team-pay", "uid": uid, **parts.pop("metadata", {})}
    status = {"phase": phase, "conditions": list(conditions), **parts.pop("status", {})}
    return from_builtins(NonAdminBackup, {"metadata": meta, "status": status, **parts})


def backup(**status: Any) -> Backup:
    return from_builtins(Backup, {"metadata": {"name": "b", "namespace": "velero"}, "status": status})


def restore(**status: Any) -> Restore:
    return from_builtins(Restore, {"metadata": {"name": "r", "namespace": "velero"}, "status": status})


@pytest.mark.parametrize("phase", ["Deleting", "Deletion"])
def test_both_spellings_of_the_seed_mean_deleting(phase: str) -> None:
    leaving = nab(phase, ACCEPTED, QUEUED, DELETING, metadata={"deletionTimestamp": "2026-11-12T02:41:07Z"})
    view = NonAdminFacts(leaving, None, NOW, ALONE)
    assert view.path is Path.API_DELETE
    assert [(step.name, step.state) for step in view.steps][-2:] == [
        ("Deleting", StepState.CURRENT),
        ("Gone", StepState.AHEAD),
    ]
    assert "for 3 days" in str(view.why)
    assert "spec.deleteBackup" in str(view.why)
    assert transition(nab("Created", ACCEPTED, QUEUED), leaving).known


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ((ACCEPTED,), (ACCEPTED, QUEUED), "Queued True (BackupScheduled)"),
        ((ACCEPTED, {**QUEUED, "status": "False"}), (ACCEPTED, QUEUED), "Queued True (BackupScheduled)"),
        ((ACCEPTED, QUEUED), (ACCEPTED, QUEUED), "stays Created"),
    ],
    ids=["new", "changed", "same"],
)
def test_in_one_phase_the_condition_that_changed_is_told(
    before: tuple[dict[str, Any], ...], after: tuple[dict[str, Any], ...], text: str
) -> None:
    assert transition(nab("Created", *before), nab("Created", *after)).text == text


def test_a_delete_request_with_errors_is_a_failed_step() -> None:
    request = {"status": {"phase": "Processed", "errors": ["bucket not reachable"]}}
    stuck = nab(
        "Deleting",
        ACCEPTED,
        QUEUED,
        DELETING,
        metadata={"deletionTimestamp": "2026-11-12T02:41:07Z"},
        spec={"deleteBackup": True},
        status={"veleroDeleteBackupRequest": request},
    )
    view = NonAdminFacts(stuck, None, NOW, ALONE)
    assert view.path is Path.DELETE
    assert [(step.name, step.state) for step in view.steps if step.state is StepState.FAILED] == [
        ("DeleteBackupRequest", StepState.FAILED)
    ]
    assert "bucket not reachable" in str(view.why)


def test_force_wins_over_delete_where_both_are_set() -> None:
    both = nab("Created", ACCEPTED, QUEUED, spec={"deleteBackup": True, "forceDeleteBackup": True})
    view = NonAdminFacts(both, None, NOW, ALONE)
    assert view.path is Path.FORCE_DELETE
    assert "bucket" in str(view.why)


def test_a_backup_that_fails_validation_was_never_in_progress() -> None:
    made = nab("Created", ACCEPTED, QUEUED)
    view = NonAdminFacts(made, backup(phase="FailedValidation", validationErrors=["no such location"]), NOW, ALONE)
    assert [step.name for step in view.steps] == ["New", "Accepted", "Created", "Queued", "FailedValidation"]
    assert view.steps[-1].state is StepState.FAILED
    assert "no such location" in str(view.why)


def test_a_restore_is_never_queued() -> None:
    status = {"phase": "Created", "conditions": [ACCEPTED, QUEUED]}
    meta = {"name": "back", "namespace": "team-pay", "uid": "u1"}
    back = from_builtins(NonAdminRestore, {"metadata": meta, "status": status})
    for run in (restore(phase=""), restore(phase="Completed", startTimestamp="2026-11-15T02:00:00Z")):
        steps = [step.name for step in NonAdminFacts(back, run, NOW, ALONE).steps]
        assert steps == ["New", "Accepted", "Created", "InProgress", "Completed"]


def test_a_backup_that_waits_for_its_volumes_was_in_progress() -> None:
    live = backup(phase="WaitingForPluginOperations", startTimestamp="2026-11-15T02:00:00Z")
    steps = [
        (step.name, step.state) for step in NonAdminFacts(nab("Created", ACCEPTED, QUEUED), live, NOW, ALONE).steps
    ]
    assert steps[3:] == [
        ("Queued", StepState.DONE),
        ("InProgress", StepState.DONE),
        ("WaitingForPluginOperations", StepState.CURRENT),
        ("Completed", StepState.AHEAD),
    ]


def test_a_failed_backup_shows_its_reason() -> None:
    live = backup(
        phase="Failed", failureReason="found a backup with status InProgress", startTimestamp="2026-11-15T02:00:00Z"
    )
    assert "found a backup with status InProgress" in str(
        NonAdminFacts(nab("Created", ACCEPTED, QUEUED), live, NOW, ALONE).why
    )


def test_the_live_backup_wins_over_the_copied_status() -> None:
    frozen = nab("Created", ACCEPTED, QUEUED, status={"veleroBackup": {"status": {"phase": "InProgress"}}})
    assert NonAdminFacts(frozen, None, NOW, ALONE).steps[4].state is StepState.CURRENT
    assert NonAdminFacts(frozen, backup(phase="Completed", startTimestamp="2026-11-15T02:00:00Z"), NOW, ALONE).steps[
        -1
    ].state is (StepState.DONE)


@pytest.mark.parametrize(
    ("phase", "following", "why"),
    [
        ("", "InProgress", "The Velero Backup is created and waits for its turn in Velero's queue."),
        ("Queued", "InProgress", "The Velero Backup is created and waits for its turn in Velero's queue."),
        ("ReadyToStart", "InProgress", "The Velero Backup has left the queue and is about to start."),
        ("InProgress", "Completed", "The Velero Backup is running (InProgress)."),
        ("Finalizing", "Completed", "The Velero Backup has all items and is finishing (Finalizing)."),
        ("Completed", "nothing more", "The Velero Backup is Completed."),
        ("Deleting", "Gone", "The Velero Backup is Deleting."),
    ],
)
def test_velero_s_phase_is_explained_in_a_sentence(phase: str, following: str, why: str) -> None:
    view = NonAdminFacts(nab("Created", ACCEPTED, QUEUED), backup(phase=phase), NOW, ALONE)
    assert (view.next, view.why) == (following, why)


def test_an_unknown_phase_is_shown_unchanged() -> None:
    view = NonAdminFacts(nab("Created", ACCEPTED, QUEUED), backup(phase="Polishing"), NOW, ALONE)
    assert ("Polishing", StepState.CURRENT) in [(step.name, step.state) for step in view.steps]
    assert not transition(nab("New"), nab("Polishing")).known


@pytest.mark.parametrize(
    ("before", "after", "known", "backwards"),
    [
        ("", "New", True, False),
        ("New", "BackingOff", True, False),
        ("New", "Created", True, False),
        ("BackingOff", "Created", True, False),
        ("Created", "Deleting", True, False),
        ("BackingOff", "Deleting", True, False),
        ("New", "Deleting", True, False),
        ("", "Deleting", True, False),
        ("Created", "BackingOff", True, True),
        ("Created", "New", False, True),
        ("BackingOff", "New", False, True),
        ("Deleting", "Created", False, True),
        ("Deleting", "BackingOff", False, True),
        ("", "BackingOff", False, False),
        ("Deleting", "Deletion", True, False),
        ("Deletion", "Deleting", True, False),
        ("Created", "OfALaterRelease", False, False),
        ("OfALaterRelease", "", True, False),
    ],
)
def test_a_phase_moves_forward_only(before: str, after: str, known: bool, backwards: bool) -> None:
    step = transition(nab(before, ACCEPTED), nab(after, ACCEPTED))
    assert (step.known, step.backwards, step.restored_by_sync) == (known, backwards, False)


def test_a_step_back_says_why_where_the_condition_does() -> None:
    refused = {**ACCEPTED, "status": "False", "reason": "InvalidBackupSpec"}
    assert transition(nab("Created", ACCEPTED), nab("BackingOff", refused)).text == (
        "Created → BackingOff, backwards (InvalidBackupSpec)"
    )
    assert transition(nab("Created", ACCEPTED), nab("BackingOff")).text == "Created → BackingOff, backwards"


def test_queued_never_clears() -> None:
    cleared = {**QUEUED, "status": "False"}
    assert not transition(nab("Created", ACCEPTED, QUEUED), nab("Created", ACCEPTED, cleared)).known
    assert not transition(nab("Created", ACCEPTED, QUEUED), nab("Created", ACCEPTED)).known


def test_an_object_gone_without_a_deletion_mark_lost_its_finalizer() -> None:
    held = {"finalizers": ["nonadminbackup.oadp.openshift.io/finalizer"]}
    assert not transition(nab("Created", ACCEPTED, QUEUED, metadata=held), None).known
    assert transition(nab("BackingOff", ACCEPTED), None).known
    assert transition(nab("Deleting", DELETING, metadata=held), None).known


def test_an_object_created_again_is_new_and_not_a_backward_step() -> None:
    step = transition(nab("Created", ACCEPTED, QUEUED), nab("", uid="u2"))
    assert (step.known, step.backwards, step.restored_by_sync) == (True, False, False)


def test_a_deleting_nar_waits_only_for_its_velero_restore() -> None:
    nar = from_builtins(
        NonAdminRestore,
        {
            "metadata": {"name": "r", "namespace": "team-pay", "deletionTimestamp": "2026-11-15T02:40:07Z"},
            "status": {"phase": "Deleting", "conditions": [{**DELETING, "message": "restore accepted for deletion"}]},
        },
    )
    view = NonAdminFacts(nar, None, NOW, ALONE)
    assert view.next == "the Velero Restore is deleted"
    assert "restore accepted for deletion" in str(view.why)
    assert "deleteBackup" not in str(view.why)
