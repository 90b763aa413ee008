"""Queue positions, compared with those of the non-admin controller and with Velero's order."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from foretop_core.models import Backup, NonAdmin, NonAdminBackup, from_builtins
from foretop_core.rules.queue import (
    Disagreement,
    Positions,
    disagreement,
    estimated_position,
    estimated_positions,
    has_ended,
    live_positions,
)
from tests import recordings
from tests.examples import few_or_many
from tests.unit.rules.runs_and_recordings import (
    Recorded,
    backup,
    backups_in,
    objects_at,
    restore,
    restores_in,
    walk,
)

pytestmark = pytest.mark.long


def nabs_in(objects: Recorded) -> dict[str, NonAdminBackup]:
    return {entry.name: entry for entry in objects.values() if isinstance(entry, NonAdminBackup)}


def test_every_recorded_position_follows_the_formula() -> None:
    statuses: dict[tuple[str, str, str], object] = {}
    written, lagging = 0, []
    for event, before in walk("nonadmin"):
        nonadmin, status = event.object, event.raw.get("status")
        unchanged = statuses.get(event.key) == status
        statuses[event.key] = status
        if not isinstance(nonadmin, NonAdmin) or nonadmin.state.queue_info is None or unchanged:
            continue
        runs = backups_in(before) if isinstance(nonadmin, NonAdminBackup) else restores_in(before)
        target = next((run for run in runs if run.name == nonadmin.velero.name), None)
        if target is None:
            assert nonadmin.phase in ("BackingOff", "Deleting"), "without a Velero object the last word stays"
            continue
        written += 1
        if nonadmin.state.queue_info.estimated_queue_position != estimated_position(target, runs):
            lagging.append((nonadmin.name, nonadmin.velero.status and nonadmin.velero.status.phase, target.phase))
    # The one write that differs copied the Restore of 30 ms before, and was corrected 10 ms later.
    assert lagging == [("good", "FinalizingPartiallyFailed", "PartiallyFailed")]
    assert written == 54


def test_five_nabs_within_a_second_tie_although_velero_orders_them() -> None:
    objects = objects_at("nonadmin", "02:23:50")
    waves = [nab for name, nab in sorted(nabs_in(objects).items()) if name.startswith("wave-")]
    made = {entry.name: entry for entry in backups_in(objects)}
    reported = [wave.state.queue_info.estimated_queue_position for wave in waves if wave.state.queue_info]
    veleros_own = [made[wave.velero.name].status.queue_position or 0 for wave in waves]
    positions = Positions.of(made.values())

    assert reported == [1, 1, 1, 1, 5]
    assert veleros_own == [0, 1, 2, 3, 4]
    assert [estimated_position(made[wave.velero.name], made.values()) for wave in waves] == reported
    assert [live_positions(made.values())[wave.velero.name] for wave in waves] == [1, 2, 3, 4, 5]
    assert [disagreement(wave, positions) for wave in waves] == [
        None,
        Disagreement(1, 1, 2),
        Disagreement(1, 1, 3),
        Disagreement(1, 1, 4),
        None,
    ]


def test_a_position_not_updated_while_others_ended_is_stale() -> None:
    objects = objects_at("nonadmin", "02:24:20")
    found = disagreement(nabs_in(objects)["wave-4"], Positions.of(backups_in(objects)))
    assert found == Disagreement(reported=5, recomputed=3, live=3)
    assert found is not None
    assert found.is_stale


def test_a_nab_without_its_velero_backup_has_no_disagreement() -> None:
    objects = objects_at("nonadmin", "02:24:40")
    assert disagreement(nabs_in(objects)["wave-3"], Positions.of(backups_in(objects))) is None


@pytest.mark.parametrize("name", recordings.NAMES)
def test_live_positions_never_tie_and_match_velero_in_every_recording(name: str) -> None:
    looked = 0
    for _, objects in walk(name):
        for runs in (backups_in(objects), restores_in(objects)):
            live = live_positions(runs)
            unfinished = [run for run in runs if not has_ended(run)]
            assert sorted(live[run.name] for run in unfinished) == list(range(1, len(unfinished) + 1))
            assert all(live[run.name] == 0 for run in runs if has_ended(run))
            looked += len(unfinished)
        queued = [run for run in backups_in(objects) if run.phase == "Queued"]
        queued.sort(key=lambda run: live_positions(backups_in(objects))[run.name])
        if _renumbered(queued):
            assert [run.status.queue_position for run in queued] == sorted(
                run.status.queue_position or 0 for run in queued
            )
    assert looked > 0


def _renumbered(queued: list[Backup]) -> bool:
    """Velero renumbers one by one, so two backups can have the same number for some milliseconds."""
    return len({run.status.queue_position for run in queued}) == len(queued)


def test_a_deletion_leaves_a_gap_only_in_velero_s_own_numbers() -> None:
    queued = [run for run in backups_in(objects_at("queue", "02:33:25")) if run.phase == "Queued"]
    live = live_positions(backups_in(objects_at("queue", "02:33:25")))
    queued.sort(key=lambda run: live[run.name])
    assert [run.name[:7] for run in queued] == ["c", "e", "f", "guarded", "guarded"]
    assert [run.status.queue_position for run in queued] == [1, 3, 4, 5, 6]
    assert [live[run.name] for run in queued] == [3, 4, 5, 6, 7]


def test_a_backup_that_failed_validation_is_counted_only_by_the_formula() -> None:
    runs = backups_in(objects_at("queue", "02:36:20.100"))
    running = next(run for run in runs if run.phase == "InProgress")
    assert any(run.name == "bad" and run.phase == "FailedValidation" for run in runs)
    assert estimated_position(running, runs) == 2
    assert live_positions(runs)[running.name] == 1
    assert live_positions(runs)["bad"] == 0


def test_without_a_queue_phase_the_oldest_goes_first_and_the_resource_version_breaks_a_tie() -> None:
    runs = [
        backup("young", created=2, version=30),
        backup("twin-b", created=1, version=9),
        backup("twin-a", created=1, version=10),
        backup("runs", "InProgress", created=0, started=0.5, version=40),
    ]
    assert live_positions(runs) == {"runs": 1, "twin-b": 2, "twin-a": 3, "young": 4}


def test_started_runs_come_before_queued_ones_in_order_of_start() -> None:
    runs = [
        backup("first-queued", "Queued", created=3, place=1),
        backup("late-queued", "Queued", created=0, place=7),
        backup("ready", "ReadyToStart", created=1),
        backup("finishing", "Finalizing", created=2, started=4),
        backup("running", "InProgress", created=1, started=5),
        backup("done", "Completed", created=1, started=1, ended=2),
        backup("just-made", created=-5),
    ]
    assert live_positions(runs) == {
        "done": 0,
        "finishing": 1,
        "running": 2,
        "ready": 3,
        "first-queued": 4,
        "late-queued": 5,
        "just-made": 6,
    }


def test_the_seed_examples_waiting_running_and_done() -> None:
    ahead = [backup(f"other-{number}", created=number) for number in range(11)]
    mine = backup("mongo", created=20)
    assert estimated_position(mine, [*ahead, mine]) == 12
    running = backup("mongo", "InProgress", created=20, started=21)
    assert estimated_position(running, [running, backup("later", created=30)]) == 1
    served = backup("mongo", "Completed", created=20, started=21, ended=22)
    assert estimated_position(served, [*ahead, served]) == 0


def test_backups_of_another_velero_and_objects_not_yet_stored_do_not_count() -> None:
    mine = backup("mine", created=5)
    assert estimated_position(mine, [backup("elsewhere", created=0, velero="openshift-adp")]) == 1
    assert estimated_position(from_builtins(Backup, {"metadata": {"name": "draft"}}), [mine]) == 0


def test_restores_queue_the_same_way() -> None:
    runs = [
        restore("b", created=2),
        restore("a", created=1),
        restore("runs", "InProgress", created=0, started=0),
    ]
    assert live_positions(runs) == {"runs": 1, "a": 2, "b": 3}
    assert [estimated_position(run, runs) for run in runs] == [3, 2, 1]


WAITING = ("", "New", "Queued", "ReadyToStart", "FailedValidation")
BEGUN = ("InProgress", "Finalizing", "Completed", "Odd")


@st.composite
def many(draw: st.DrawFn) -> list[Backup]:
    made = []
    for number in range(draw(st.integers(0, 25))):
        phase = draw(st.sampled_from((*WAITING, *BEGUN)))
        made.append(
            backup(
                f"b{number}",
                phase,
                created=draw(st.integers(0, 4)),
                started=draw(st.integers(0, 4)) if phase in BEGUN else None,
                ended=9 if phase == "Completed" else None,
                place=draw(st.one_of(st.none(), st.integers(1, 4))) if phase == "Queued" else None,
                version=draw(st.integers(0, 3)),
                velero=draw(st.sampled_from(("velero", "openshift-adp"))),
            )
        )
    return made


@few_or_many(25, 100, many())
def test_live_positions_of_unfinished_runs_are_one_to_n(runs: list[Backup]) -> None:
    live = live_positions(runs)
    unfinished = {run.name for run in runs if not has_ended(run)}
    assert sorted(live[name] for name in unfinished) == list(range(1, len(unfinished) + 1))
    assert {name for name, place in live.items() if place == 0} == {run.name for run in runs} - unfinished


@few_or_many(25, 100, many())
def test_computing_all_positions_equals_computing_each(runs: list[Backup]) -> None:
    assert estimated_positions(runs) == {(run.namespace, run.name): estimated_position(run, runs) for run in runs}


@few_or_many(25, 100, many())
def test_an_unfinished_run_is_never_estimated_below_one(runs: list[Backup]) -> None:
    for run in runs:
        assert (estimated_position(run, runs) == 0) == (run.status.completion_timestamp is not None)
