"""A drill is planned only where it is known that nothing of what it restores can start."""

from __future__ import annotations

import json
import os
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from foretop.bindings import ACTIONS, footer_order
from foretop_core.errors import ActionRefused, BadInput
from foretop_core.models import Namespace, Resource
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.models.wire import Metadata
from foretop_core.rooms.drills.leftovers import DrillReport
from foretop_core.rooms.drills.planners import (
    DRILL,
    DRILL_CLEANUP,
    DrillRequest,
    drill_name,
    drill_source,
    plan_cleanup,
    plan_drill,
    plan_later_cleanup,
    plan_note,
)
from foretop_core.rooms.drills.run import DrillResult, ResourceQuota, prevention, quota_sentence
from foretop_core.rules.protection.copies import DRILLED, DrillOutcome
from foretop_core.rules.server_evidence import QUEUE_FIELD
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests.objects import NOW, backup, location, nab, restore
from tests.unit.actions.test_roles import IN_CLUSTER, granted, needed

KEPT = backup("shop-1", spec={"includedNamespaces": ["shop"]})
SNAPSHOT = ClusterSnapshot("prod", backups=(KEPT,), namespaces=())
REQUEST = DrillRequest("shop", "shop-trial")


def _refusal(snapshot: ClusterSnapshot) -> str:
    plan = plan_drill(snapshot, KEPT, REQUEST, NOW)
    assert bool(plan.steps) is not bool(plan.refused)
    return plan.refused[0].why if plan.refused else ""


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("v1.9.5", "Velero 1.9.5 would start what it restores"),
        ("v1.12.1", "Velero 1.12.1 would start what it restores"),
        ("v1.12", "give the patch with --velero-version"),
        ("main", "the release of Velero is not known"),
        ("v1.12.2", ""),
        ("v1.13", ""),
        ("v2.0.0", ""),
    ],
)
def test_a_release_that_cannot_restore_at_rest_or_is_not_known_is_refused(version: str, said: str) -> None:
    why = _refusal(replace(SNAPSHOT, servers={KEPT.namespace: VeleroInfo(version=version)}))
    assert said in why
    assert bool(why) is bool(said)


def test_an_unknown_release_is_not_refused_where_its_definitions_show_that_it_is_new() -> None:
    assert _refusal(replace(SNAPSHOT, backup_status_fields=frozenset({QUEUE_FIELD}))) == ""
    assert "is not known" in _refusal(replace(SNAPSHOT, backup_status_fields=frozenset({"phase"})))


def test_what_is_deleted_afterwards_is_what_is_made() -> None:
    plan = plan_drill(replace(SNAPSHOT, servers={KEPT.namespace: VeleroInfo(version="1.18.3")}), KEPT, REQUEST, NOW)
    assert [step.target for step in plan_later_cleanup(plan).steps] == [step.target for step in plan.steps]


def test_quotas_of_the_namespace_say_that_they_do_not_count() -> None:
    one = ResourceQuota(Metadata(name="team"), {"hard": {"pods": "10"}, "used": {"pods": "3"}})
    other = ResourceQuota(Metadata(name="disk"), {"used": {"requests.storage": "12Gi"}})
    assert quota_sentence("shop", []) == ""
    assert quota_sentence("shop", [one]) == "The quota team of shop is not restored and cannot stop the drill."
    assert quota_sentence("shop", [one, other]) == (
        "The quotas team and disk of shop are not restored and cannot stop the drill; "
        "its volumes take up to 12Gi of storage once more."
    )


NEW = replace(SNAPSHOT, servers={KEPT.namespace: VeleroInfo(version="1.18.3")})


def namespace(name: str) -> Namespace:
    return Namespace(metadata=Metadata(name=name))


def body_of(request: DrillRequest, place: int, copy: Any = KEPT) -> dict[str, Any]:
    return plan_drill(replace(NEW, backups=(copy,)), copy, request, NOW).steps[place].write.body


def test_everything_that_could_act_is_restored_at_rest() -> None:
    rules = json.loads(body_of(REQUEST, 1)["data"]["modifiers.json"])["resourceModifierRules"]
    rest = {one["conditions"]["groupResource"]: json.loads(one["mergePatches"][0]["patchData"]) for one in rules}
    assert set(rest) == {
        "deployments.apps",
        "statefulsets.apps",
        "daemonsets.apps",
        "jobs.batch",
        "cronjobs.batch",
        "services",
    }
    assert rest["deployments.apps"] == rest["statefulsets.apps"] == {"spec": {"replicas": 0}}
    assert rest["jobs.batch"] == rest["cronjobs.batch"] == {"spec": {"suspend": True}}
    assert rest["services"]["spec"]["type"] == "ClusterIP"
    assert {one["conditions"]["resourceNameRegex"] for one in rules} == {".*"}


def test_the_restore_takes_only_kinds_that_rest_and_secrets_only_on_request() -> None:
    spec = body_of(REQUEST, 2)["spec"]
    assert spec["includeClusterResources"] is False
    assert spec["namespaceMapping"] == {"shop": "shop-trial"}
    assert spec["includedResources"] == [
        "configmaps",
        "persistentvolumeclaims",
        "services",
        "serviceaccounts",
        "daemonsets.apps",
        "deployments.apps",
        "statefulsets.apps",
        "cronjobs.batch",
        "jobs.batch",
    ]
    with_secrets = body_of(DrillRequest("shop", "shop-trial", with_secrets=True), 2)["spec"]["includedResources"]
    assert set(with_secrets) - set(spec["includedResources"]) == {"secrets"}


@pytest.mark.parametrize(("started", "age"), [("02:31:07", ", 10 minutes old"), ("", "")])
def test_the_age_of_the_copy_is_told_where_it_is_known(started: str, age: str) -> None:
    copy = backup("shop-1", started=started, spec={"includedNamespaces": ["shop"]})
    (*_, step) = plan_drill(replace(NEW, backups=(copy,)), copy, REQUEST, NOW).steps
    assert step.changes[0].endswith(f" is created from shop-1{age}")
    assert step.changes[1].startswith("shop into shop-trial, only ")


def test_a_copy_without_the_data_of_volumes_is_drilled_with_a_warning() -> None:
    less = backup("shop-1", spec={"includedNamespaces": ["shop"], "snapshotVolumes": False})
    assert plan_drill(NEW, KEPT, REQUEST, NOW).warnings == ()
    assert plan_drill(NEW, less, REQUEST, NOW).warnings == (
        "The copy has no data of volumes, but of those that an annotation of a pod names.",
    )


def test_a_name_is_cut_so_that_it_is_still_one() -> None:
    assert drill_name("shop", NOW) == "shop-drill-20261115024107"
    assert drill_name("n" * 63, NOW) == f"{'n' * 42}-drill-20261115024107"
    assert len(drill_name("n" * 63, NOW)) == 63


def test_a_namespace_that_exists_is_not_restored_into() -> None:
    taken = replace(NEW, namespaces=(namespace("shop"), namespace("shop-trial")))
    with pytest.raises(BadInput, match="Namespace shop-trial exists already"):
        plan_drill(taken, KEPT, REQUEST, NOW)
    assert plan_drill(replace(NEW, namespaces=(namespace("shop"),)), KEPT, REQUEST, NOW).steps


@pytest.mark.parametrize(
    ("phase", "store", "why"),
    [
        ("", "Available", "nothing can be restored from it: it is New"),
        ("Failed", "Available", "nothing can be restored from it: it is Failed"),
        ("PartiallyFailed", "Available", ""),
        ("Completed", "Unavailable", "the storage location default is Unavailable: no reason given"),
    ],
)
def test_what_nothing_can_be_restored_from_is_refused(phase: str, store: str, why: str) -> None:
    copy = backup("shop-1", phase)
    plan = plan_drill(replace(NEW, backups=(copy,), storage=(location(phase=store),)), copy, REQUEST, NOW)
    assert [one.why for one in plan.refused] == ([why] if why else [])
    assert bool(plan.steps) is not bool(why)


def test_the_source_is_the_newest_copy_that_can_be_read() -> None:
    older = backup("shop-0", created="01:00:00", started="01:00:00", spec={"includedNamespaces": ["shop"]})
    newer = backup("shop-1", created="02:00:00", started="02:00:00", spec={"includedNamespaces": ["shop"]})
    seen = replace(SNAPSHOT, backups=(older, newer), namespaces=(namespace("shop"), namespace("wiki")))
    assert drill_source(seen, "shop") is newer
    for name in ("wiki", "nowhere"):
        with pytest.raises(BadInput, match=f"{name} has no copy to drill"):
            drill_source(seen, name)
    with pytest.raises(ActionRefused, match="you are not allowed to list namespaces"):
        drill_source(replace(seen, namespaces=None), "shop")


def test_a_copy_that_only_its_nab_tells_of_cannot_be_drilled() -> None:
    status = {"phase": "Completed", "startTimestamp": "2026-11-15T02:00:00Z"}
    made = nab(veleroBackup={"name": "v-1", "namespace": "velero", "status": status})
    seen = ClusterSnapshot("prod", nabs=(made,), namespaces=(namespace("team-a"),))
    with pytest.raises(ActionRefused, match="you are not allowed to read its backups"):
        drill_source(seen, "team-a")


@pytest.mark.parametrize("held", [{}, {DRILLED: "{}"}])
def test_a_note_replaces_the_one_that_was_there(held: dict[str, str]) -> None:
    (step,) = plan_note(NEW, backup(annotations=held), REQUEST, DrillOutcome(NOW, timedelta(minutes=4)), NOW).steps
    assert set(json.loads(step.write.body["metadata"]["annotations"][DRILLED])) == {"shop"}
    assert step.write.before == {"metadata": {"annotations": {DRILLED: held.get(DRILLED)}}}
    assert step.drill == REQUEST.id


def test_all_that_a_drill_makes_carries_its_id_which_no_other_drill_has() -> None:
    plan = plan_drill(NEW, KEPT, REQUEST, NOW)
    assert {step.drill for step in plan.steps} == {REQUEST.id}
    assert {step.write.body["metadata"]["labels"][DRILL_LABEL] for step in plan.steps} == {REQUEST.id}
    assert DrillRequest("shop", "shop-trial").id != REQUEST.id


@pytest.mark.parametrize("into", ["shop-trial", "it's"])
def test_the_kubectl_lines_are_what_is_sent_once_a_shell_has_read_them(into: str, tmp_path: Path) -> None:
    """With an apostrophe, which no name may have, as some value inside of the object may."""
    kubectl = tmp_path / "kubectl"
    kubectl.write_text("#!/bin/sh\nexec cat\n")
    kubectl.chmod(0o700)
    request = DrillRequest("shop", "shop-trial", id=into)
    for step in plan_drill(NEW, KEPT, request, NOW).steps:
        environ = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        read = subprocess.run(["bash", "-c", step.command], env=environ, capture_output=True, check=True)
        assert json.loads(read.stdout) == step.write.body, step.command


def test_what_was_read_again_is_deleted_by_its_kind() -> None:
    items = [restore("a"), namespace("a"), Resource(metadata=Metadata(name="a", namespace="velero"))]
    plan = plan_cleanup("prod", items, NOW)
    assert [step.target.kind for step in plan.steps] == ["Restore", "Namespace", "ConfigMap"]
    assert [step.forecast for step in plan.steps] == [
        "with its files in the storage location, which Velero deletes first",
        "with everything in it",
        "it is gone at once",
    ]


def test_a_refused_drill_leaves_nothing_to_delete() -> None:
    refused = plan_drill(NEW, backup("shop-1", "Failed"), REQUEST, NOW)
    assert plan_later_cleanup(refused).steps == ()


def test_the_outcome_is_one_sentence() -> None:
    took = timedelta(minutes=4)
    assert DrillResult(DrillReport((), (), "Completed"), took).sentence("shop", "shop-1") == (
        "shop came back from shop-1 in 4 minutes"
    )
    assert DrillResult(DrillReport((), (), "Failed"), took).sentence("shop", "shop-1") == (
        "Drill of shop failed: the restore is Failed"
    )


def test_the_quotas_of_the_copy_are_named_with_what_they_count() -> None:
    full = ResourceQuota(Metadata(name="small"), {"hard": {"pods": "2", "services": "1"}, "used": {"pods": "2"}})
    assert prevention("shop-trial", []) == ""
    assert prevention("shop-trial", [full, ResourceQuota(Metadata(name="new"))]) == (
        "shop-trial got a quota that may have prevented it: "
        "small (pods 2 of 2, services 0 of 1) and new (not counted yet)"
    )


def test_both_actions_ask_for_the_name_and_are_for_administrators_alone() -> None:
    """Whoever changes this changes what an operator at night can do with one key."""
    for record in (DRILL, DRILL_CLEANUP):
        assert record.dangerous
        assert record.for_administrators
        assert not record.many


def test_the_drill_is_offered_early_and_its_clean_up_with_what_deletes() -> None:
    order = [action.id for action in footer_order(ACTIONS)]
    assert order.index("decide-storage") < order.index("drill") < order.index("filter")
    assert order.index("delete-nar") < order.index("drill-cleanup") < order.index("acknowledged")


def test_the_role_of_drills_has_what_they_need_beyond_the_one_that_writes() -> None:
    needs = needed((*DRILL.rights, *DRILL.reads, *DRILL_CLEANUP.rights, *DRILL_CLEANUP.reads))
    roles = [one for one in yaml.safe_load_all(IN_CLUSTER.read_text()) if one["kind"] == "ClusterRole"]
    rights = {role["metadata"]["name"]: granted(role["rules"]) for role in roles}
    assert rights["foretop-drills"] == needs - rights["foretop-write"] - rights["foretop-read"]
