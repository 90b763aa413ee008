"""Scenes show what they promise from the first second on, and the same seed gives the same objects."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from foretop_core.errors import BadInput
from foretop_core.models import (
    Backup,
    BackupRepository,
    DataMovement,
    NonAdminBackup,
    NonAdminRestore,
    Resource,
    Schedule,
)
from foretop_core.models.kinds import BACKUP, NAB
from foretop_core.models.nonadmin import NAB_UUID_LABEL
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.namespace_facts import ProtectionJudge, ProtectionLimits, ProtectionState
from foretop_core.rules.facts.run_facts import queue_line
from foretop_core.rules.facts.size_facts import grown_most, night_sizes
from foretop_core.rules.forecast import missed_runs
from foretop_core.rules.night.night import night
from foretop_core.rules.phases import QUEUE_PHASES
from foretop_core.rules.protection.protection_index import protection_index
from foretop_core.rules.triage import triage
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.resources.repositories import repository_mark
from foretop_demo.scenarios import SCENES, ScenarioOptions, find_scene
from foretop_demo.scenarios.scenario_builder import HOME
from foretop_demo.schema import check_object
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.unit.tables.test_views import Shown

SMALL = [name for name in SCENES if name != "large"]


def opened(name: str, seed: int = 1) -> SimulatedCluster:
    return SimulatedCluster(find_scene(name), ScenarioOptions(seed=seed), FIXED_START)


def codes(box: SimulatedCluster) -> Counter[str]:
    return Counter(finding.code for finding in triage(assemble(box.objects()), box.clock.now()).findings)


def counted(box: SimulatedCluster) -> Counter[type[Resource]]:
    return Counter(type(item) for item in box.objects())


def waiting_nabs(box: SimulatedCluster) -> list[Backup]:
    backups = box.engine.cache.all(BACKUP, Backup)
    return [item for item in backups if item.phase == "Queued" and item.label(NAB_UUID_LABEL)]


def test_the_default_scene_is_as_large_as_it_says() -> None:
    box = opened("default")
    found = counted(box)
    assert 36 <= found[Schedule] <= 44
    assert 40 <= found[NonAdminBackup] <= 52
    assert 12 <= found[NonAdminRestore] <= 17
    assert len({item.namespace for item in box.objects() if isinstance(item, NonAdminBackup)}) == 12


def test_tenants_of_the_busy_scene_go_on_as_they_have_begun() -> None:
    """Of each hour of its past day as many are kept as its future brings; four hours later as many are there."""
    box = opened("busy")
    begun = counted(box)[NonAdminBackup]
    assert 140 <= begun <= 240
    waits = [run.started - run.created for run in box.engine.cache.all(BACKUP, Backup) if run.started and run.created]
    assert sum(wait > timedelta(minutes=1) for wait in waits) >= 5
    box.settle(timedelta(hours=4))
    assert begun * 0.75 <= counted(box)[NonAdminBackup] <= begun * 1.25


def test_what_is_foretold_of_the_busy_scene_comes() -> None:
    box = opened("busy")
    now = box.clock.now()
    ahead = night(assemble(box.objects()), HOME, now, timedelta(hours=3))
    box.settle(timedelta(hours=4))
    made = {
        (run.schedule_name, run.created.replace(second=0)): run.started
        for run in box.engine.cache.all(BACKUP, Backup)
        if run.schedule_name and run.created is not None and run.created > now
    }
    told = [
        run.start.most[0] <= started + timedelta(seconds=1) and started <= run.start.most[1] + timedelta(seconds=1)
        for run in ahead.runs
        if run.due and run.start and (started := made.get((run.owner.name, run.due.replace(second=0, microsecond=0))))
    ]
    assert len(told) > 50
    assert sum(told) >= 0.9 * len(told)


@pytest.mark.parametrize(
    ("name", "minutes"), [("short-rush", 60), pytest.param("long-rush", 170, marks=pytest.mark.sweep)]
)
def test_a_rush_keeps_the_queue_filled_and_ends(name: str, minutes: int) -> None:
    box = opened(name)
    begun = box.clock.now() - find_scene(name).warm_up
    assert len(waiting_nabs(box)) >= 4
    box.settle(begun + timedelta(minutes=minutes - 5) - box.clock.now())
    assert len(waiting_nabs(box)) >= 4
    box.settle(timedelta(minutes=25))
    assert len(waiting_nabs(box)) < 4


def test_the_default_scene_is_busy_throughout_half_an_hour() -> None:
    box = opened("default")
    served = set()
    for _ in range(30):
        waiting = waiting_nabs(box)
        assert waiting, box.clock.now()
        served |= {backup.name for backup in waiting}
        nabs = box.engine.cache.all(NAB, NonAdminBackup)
        assert sum(nab.phase == "BackingOff" for nab in nabs) >= 3
        assert 40 <= len(nabs) <= 55
        box.settle(timedelta(minutes=1))
    assert len(served - {backup.name for backup in waiting_nabs(box)}) > 12, "the queue moves"
    assert 8 <= counted(box)[NonAdminRestore] <= 17


def test_the_default_scene_has_a_few_problems_and_estimates_the_waiting_starts() -> None:
    box = opened("default")
    found = codes(box)
    wanted = {
        "storage-unavailable",
        "nonadmin-refused",
        "schedule-invalid",
        "schedule-paused-long",
        "schedule-failing",
        "nonadmin-velero-failed",
    }
    assert wanted <= set(found)
    namespace = next(item.namespace for item in box.objects() if isinstance(item, Backup))
    line = queue_line(assemble(box.objects()), namespace, box.clock.now()).backups.items
    assert any(item.run.phase == "Queued" for item in line)
    assert [item.run.name for item in line if item.run.phase == "Queued" and item.expected_start is None] == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("quiet", set()),
        ("outage", {"velero-no-pulse"}),
        ("dead", {"velero-no-pulse"}),
        ("nonadmin-status", {"nonadmin-refused", "nonadmin-went-back"}),
    ],
)
def test_a_scene_shows_its_problem(name: str, expected: set[str]) -> None:
    found = set(codes(opened(name)))
    assert expected <= found
    assert found if expected else not found


def test_the_scene_of_non_admin_objects_stays_what_it_is() -> None:
    """Its deletion goes on for long, and Velero works all the while."""
    box = opened("nonadmin-status")
    box.settle(timedelta(minutes=15))
    assert "velero-no-pulse" not in codes(box)
    nabs = {(item.namespace, item.name): item for item in box.objects() if isinstance(item, NonAdminBackup)}
    assert nabs["team-a", "to-delete"].phase == "Deleting"
    assert nabs["team-c", "to-lose"].is_lost


def test_in_maintenance_all_schedules_are_paused_and_several_are_due() -> None:
    snapshot = assemble(opened("maintenance").objects())
    assert all(schedule.spec.paused for schedule in snapshot.schedules)
    assert snapshot.backups


def test_one_repository_is_well_and_the_maintenance_of_another_fails() -> None:
    found = [one for one in opened("volumes").objects() if isinstance(one, BackupRepository)]
    assert {one.spec.volume_namespace: one.failed_maintenance for one in found} == {
        "mongo": "",
        "kafka": "error to prune: repository is locked by another client",
    }
    marks = {one.spec.volume_namespace: repository_mark(one) for one in found}
    assert marks == {"mongo": StatusGlyph.HEALTHY, "kafka": StatusGlyph.LOOK}
    held = Shown("storage", found, FIXED_START).text("what")
    assert ["▲", "maintenance failed: error to prune: repository is locked by another client"] in held


def test_volumes_move_wait_and_fail() -> None:
    box = opened("volumes")
    phases: set[str] = set()
    for _ in range(15):
        phases |= {item.phase for item in box.objects() if isinstance(item, DataMovement)}
        box.settle(timedelta(minutes=2))
    assert {"Accepted", "InProgress", "Completed", "Failed"} <= phases


def test_the_large_scene_has_ten_thousand_nabs() -> None:
    assert len(opened("large").engine.cache.all(NAB, NonAdminBackup)) >= 10_000


@pytest.mark.parametrize("name", SMALL)
def test_every_object_of_a_scene_is_valid_for_the_api(name: str) -> None:
    box = opened(name)
    for kind in box.storage.catalog:
        for body in box.storage.list(kind):
            assert check_object(body, kind.schema) == [], body["metadata"]["name"]


@pytest.mark.parametrize("version", ["1.14", "1.17.2"])
@pytest.mark.parametrize("name", ["outage", "nonadmin-status"])
def test_an_older_release_has_no_queue_and_its_crd_accepts_every_backup(name: str, version: str) -> None:
    old, new = (
        SimulatedCluster(find_scene(name), ScenarioOptions(velero_version=each), FIXED_START)
        for each in (version, "1.18.3")
    )
    waiting = [{item.phase for item in box.engine.cache.all(BACKUP, Backup)} & QUEUE_PHASES for box in (old, new)]
    assert waiting == [set(), {"Queued"}]
    kind = old.storage.kind("Backup")
    for body in old.storage.list(kind):
        assert "queuePosition" not in (body.get("status") or {})
        assert check_object(body, kind.schema) == [], body["metadata"]["name"]


def test_the_same_seed_gives_identical_objects() -> None:
    boxes = [opened("default", seed) for seed in (7, 7, 8)]
    for box in boxes:
        box.settle(timedelta(minutes=2))
    first, again, other = [[box.storage.list(kind) for kind in box.storage.catalog] for box in boxes]
    assert first == again
    assert first != other


def test_an_unknown_scene_lists_the_known_ones() -> None:
    with pytest.raises(BadInput, match="the scenes are default, quiet, outage"):
        find_scene("nope")


def protection_states(box: SimulatedCluster) -> dict[str, str]:
    snapshot = assemble(box.objects())
    index = protection_index(snapshot)
    judge = ProtectionJudge(snapshot, box.clock.now(), ProtectionLimits())
    return {name: judge.facts(row).state.value for name in index.names if (row := index.row(name)) is not None}


@pytest.mark.parametrize("name", SMALL)
def test_what_the_schedules_of_a_scene_take_exists(name: str) -> None:
    states = protection_states(opened(name))
    gone = {namespace for namespace, state in states.items() if state == ProtectionState.DELETED.value}
    assert gone == ({"legacy"} if name == "protection" else set())


def test_the_protection_scene_has_a_namespace_in_every_state() -> None:
    states = protection_states(opened("protection"))
    assert {
        "shop": "protected",
        "team-pay": "by hand only",
        "crm-archive": "late",
        "ledger": "repo not ready",
        "orders": "partial",
        "metrics": "expiring",
        "media": "unreachable",
        "scratch": "not covered",
        "fresh": "no copy yet",
        "vault": "not known",
        "bank": "protected",
        "files": "volumes missing",
        "stateful": "manifests only",
        "wiki": "paused",
        "legacy": "deleted",
        "kube-system": "ignored",
    }.items() <= states.items()
    assert set(states.values()) == {state.value for state in ProtectionState}


def test_the_contents_scene_has_copies_with_all_volumes_some_and_none() -> None:
    box = opened("contents")
    states = protection_states(box)
    assert {name: states[name] for name in ("team-pay", "wiki", "shop", "metrics", "blog", "archive", "scratch")} == {
        "team-pay": "protected",
        "wiki": "protected",
        "shop": "volumes missing",
        "metrics": "volumes missing",
        "blog": "manifests only",
        "archive": "not known",
        "scratch": "not covered",
    }
    assert codes(box)["copy-lacks-volumes"] == 1
    snapshot = assemble(box.objects())
    (most, *_) = grown_most(snapshot)
    assert most[1].text == "postgres-data by 12.0 GB to 96.0 GB"
    sizes = night_sizes(snapshot, box.clock.now())
    assert (sizes.with_volumes, sizes.known, sizes.volumes) == (6, 4, 5)


def test_a_paused_schedule_of_the_protection_scene_has_missed_only_the_runs_since_its_pause() -> None:
    box = opened("protection")
    snapshot = assemble(box.objects())
    (paused,) = [item for item in snapshot.schedules if item.name == "metrics-daily"]
    dialect = snapshot.dialect(paused)
    assert dialect is not None
    assert missed_runs(paused, box.clock.now(), dialect) == 20
