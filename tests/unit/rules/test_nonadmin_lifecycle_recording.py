"""The lifecycle of every NAB and NAR of the recording, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from foretop_core.foreign_text import quoted
from foretop_core.models import Backup, NonAdmin, Restore
from foretop_core.models.kinds import BACKUP, NAB, NAR, RESTORE
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.rules.facts.nonadmin_facts import NonAdminFacts
from foretop_core.rules.nonadmin_lifecycle import Path, StepState, is_synced
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_demo.reconcile.naming import led_to
from tests import recordings
from tests.nonadmin_chart import PhaseTransition, transition
from tests.objects import NOW
from tests.recordings import Event

ALONE = ClusterSnapshot("prod")

Walked = tuple[Event, NonAdmin | None, PhaseTransition]


def _walk() -> Iterator[Walked]:
    held: dict[tuple[str, str, str], NonAdmin] = {}
    for event in recordings.events("nonadmin", NAB.plural, NAR.plural):
        assert isinstance(event.object, NonAdmin)
        before = held.get(event.key)
        if event.type == "DELETED":
            after = None
            del held[event.key]
        else:
            after = held[event.key] = event.object
        yield event, before, transition(before, after)


WALKED = tuple(_walk())


def test_every_recorded_step_is_known() -> None:
    assert len(WALKED) > 120
    assert [(event.object.name, step.text) for event, _, step in WALKED if not step.known] == []


def test_only_wave_3_goes_back_when_its_velero_backup_vanishes() -> None:
    ((event, before, step),) = [entry for entry in WALKED if entry[2].backwards]
    assert before is not None
    assert (event.object.namespace, event.object.name) == ("team-3", "wave-3")
    assert isinstance(event.object, NonAdmin)
    assert (before.phase, event.object.phase) == ("Created", "BackingOff")
    assert step.text == "Created → BackingOff, backwards (VeleroBackupNotFound)"


def test_only_wave_2_is_created_again_by_the_sync_with_a_new_uid() -> None:
    ((event, before, _),) = [entry for entry in WALKED if entry[2].restored_by_sync]
    assert (event.object.namespace, event.object.name) == ("team-2", "wave-2")
    assert isinstance(event.object, NonAdmin)
    assert event.object.condition("Accepted") is None
    assert before is not None
    assert before.phase == ""
    uids = {entry.object.metadata.uid for entry, _, _ in WALKED if entry.key == event.key}
    assert len(uids) == 2


def test_a_synced_nab_is_recognized_even_if_seen_late() -> None:
    """A viewer that lists only now and then sees the old wave-2, then one with another uid that is Created."""
    states = [entry.object for entry, _, _ in WALKED if entry.object.name == "wave-2" and entry.type != "DELETED"]
    old = next(state for state in states if isinstance(state, NonAdmin) and state.phase == "Created")
    new = states[-1]
    assert isinstance(new, NonAdmin)
    for earlier in (old, None):
        assert transition(earlier, new) == PhaseTransition(
            True, False, True, "recreated by the sync: its backup is still in the bucket"
        )


def _live(obj: NonAdmin, velero: dict[tuple[str, str, str], Backup | Restore]) -> Backup | Restore | None:
    objects = list(velero.values())
    return led_to(objects, NAB_UUID_LABEL, obj.velero.nacuuid) or led_to(objects, NAR_UUID_LABEL, obj.velero.nacuuid)


def _views() -> Iterator[tuple[datetime, NonAdmin, NonAdminFacts]]:
    velero: dict[tuple[str, str, str], Backup | Restore] = {}
    owners: dict[tuple[str, str, str], NonAdmin] = {}
    for event in recordings.events("nonadmin", NAB.plural, NAR.plural, BACKUP.plural, RESTORE.plural):
        if event.type == "DELETED":
            velero.pop(event.key, None)
            owners.pop(event.key, None)
        elif isinstance(event.object, NonAdmin):
            owners[event.key] = event.object
        elif isinstance(event.object, Backup | Restore):
            velero[event.key] = event.object
        for owner in owners.values():
            yield event.t, owner, NonAdminFacts(owner, _live(owner, velero), event.t, ALONE)


VIEWS = tuple(_views())


def test_exactly_one_step_is_current_or_failed_unless_all_are_done() -> None:
    for _, owner, view in VIEWS:
        states = [step.state for step in view.steps]
        turning = [state for state in states if state in {StepState.CURRENT, StepState.FAILED}]
        reached = len([state for state in states if state is StepState.DONE])
        assert len(turning) <= 1, owner
        assert bool(turning) == (reached < len(states)), owner
        assert all(state is StepState.DONE for state in states[:reached]), owner
        assert all(state is StepState.AHEAD for state in states[reached + 1 :]), owner


def test_every_state_has_a_sentence_and_a_next_step() -> None:
    for _, owner, view in VIEWS:
        why = render(view.why, NOW)
        assert why.endswith("."), owner
        assert view.next
        accepted = owner.condition("Accepted")
        if owner.phase == "BackingOff" and accepted is not None and accepted.status == "False":
            assert quoted(f"{accepted.reason}: {accepted.message.rstrip('.')}") in why


def test_step_times_never_decrease() -> None:
    for _, owner, view in VIEWS:
        times = [step.at for step in view.steps if step.at is not None and step.state is not StepState.AHEAD]
        if is_synced(owner):
            continue
        assert times == sorted(times), owner


def _path(view: NonAdminFacts) -> str:
    marks = {StepState.DONE: " ✓", StepState.CURRENT: " ◐", StepState.AHEAD: "", StepState.FAILED: " ✗"}
    return " ─ ".join(step.name + marks[step.state] for step in view.steps)


def _story(name: str, kind: str = "NonAdminBackup") -> list[str]:
    paths: list[str] = []
    for _, owner, view in VIEWS:
        if owner.name == name and type(owner).__name__ == kind and (not paths or paths[-1] != _path(view)):
            paths.append(_path(view))
    return paths


def test_the_steps_of_a_successful_nab() -> None:
    assert _story("good") == [
        "New ◐ ─ Accepted ─ Created ─ Queued ─ InProgress ─ Completed",
        "New ✓ ─ Accepted ◐ ─ Created ─ Queued ─ InProgress ─ Completed",
        "New ✓ ─ Accepted ✓ ─ Created ◐ ─ Queued ─ InProgress ─ Completed",
        "New ✓ ─ Accepted ✓ ─ Created ✓ ─ Queued ◐ ─ InProgress ─ Completed",
        "New ✓ ─ Accepted ✓ ─ Created ✓ ─ Queued ✓ ─ ReadyToStart ◐ ─ Completed",
        "New ✓ ─ Accepted ✓ ─ Created ✓ ─ Queued ✓ ─ InProgress ◐ ─ Completed",
        "New ✓ ─ Accepted ✓ ─ Created ✓ ─ Queued ✓ ─ InProgress ✓ ─ Finalizing ◐ ─ Completed",
        "New ✓ ─ Accepted ✓ ─ Created ✓ ─ Queued ✓ ─ InProgress ✓ ─ Completed ✓",
    ]


def test_a_refused_nab_continues_after_it_is_fixed() -> None:
    story = _story("bad-namespace")
    assert story[:4] == [
        "New ◐ ─ Accepted ─ Created ─ Queued ─ InProgress ─ Completed",
        "New ✓ ─ Accepted ◐ ─ Created ─ Queued ─ InProgress ─ Completed",
        "New ✓ ─ Accepted ✗ ─ Created ─ Queued ─ InProgress ─ Completed",
        "New ✓ ─ Accepted ✓ ─ Created ◐ ─ Queued ─ InProgress ─ Completed",
    ]
    assert story[-1] == "New ✓ ─ Accepted ✓ ─ Created ✓ ─ Queued ✓ ─ InProgress ✓ ─ Completed ✓"


def test_a_nab_that_lost_its_backup_stays_failed_when_the_backup_returns() -> None:
    assert _story("wave-3")[-1] == "New ✓ ─ Created ✓ ─ Lost ✗"


def test_a_synced_nab_shows_no_steps_it_did_not_take() -> None:
    assert _story("wave-2")[-1] == "New ✓ ─ Created ✓ ─ Queued ✓ ─ InProgress ✓ ─ Completed ✓"


def test_a_partially_failed_restore_ends_with_that_phase() -> None:
    story = _story("good", "NonAdminRestore")
    assert "New ✓ ─ Accepted ✓ ─ Created ✓ ─ InProgress ✓ ─ PartiallyFailed ✗" in story
    assert story[-1] == "New ✓ ─ Created ✓ ─ Deleting ◐ ─ Gone"


@pytest.mark.parametrize("name", ["wave-1", "wave-4"])
def test_deleting_with_the_data_includes_the_delete_request(name: str) -> None:
    story = _story(name)
    assert "New ✓ ─ Created ✓ ─ Deleting ◐ ─ DeleteBackupRequest ─ Gone" in story
    assert story[-1] == "New ✓ ─ Created ✓ ─ Deleting ✓ ─ DeleteBackupRequest ◐ ─ Gone"
    assert {view.path for _, owner, view in VIEWS if owner.name == name} == {Path.CREATE_UPDATE, Path.DELETE}


def test_the_live_backup_is_used_while_the_copied_status_is_outdated() -> None:
    """wave-4 waited half a minute: its copied status stayed empty while its Velero Backup was ReadyToStart."""
    seen = {
        step.name
        for _, owner, view in VIEWS
        if owner.name == "wave-4" and owner.velero.status is not None and not owner.velero.status.phase
        for step in view.steps
        if step.state is StepState.CURRENT
    }
    assert seen >= {"Queued", "ReadyToStart"}
