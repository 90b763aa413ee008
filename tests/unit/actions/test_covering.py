"""A schedule for a namespace without one: its template takes the volumes, and says which it cannot."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from foretop_core.actions.planners.schedules import plan_cover, takes_most
from foretop_core.actions.plans import PlanStep
from foretop_core.errors import BadInput
from foretop_core.models import BackupSpec, Namespace, Resource
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import triage
from foretop_core.rules.volumes.run_plan import Deciders
from tests.objects import NOW, schedule
from tests.objects import location as storage
from tests.unit.rules.test_foretold import KNOWN, claim, pod, volume, world

WITH_AGENT = replace(KNOWN, agent_nodes=frozenset({"node-1"}), pods={"shop": (pod(),)})


def step(*objects: Resource, deciding: Deciders | None = KNOWN, **fields: Any) -> PlanStep:
    snapshot = world(storage(), *objects, deciding=deciding)
    (space,) = (one for one in snapshot.namespaces or () if one.name == "shop")
    (found,) = plan_cover(snapshot, [space], NOW, **fields).steps
    return found


def test_a_volume_that_only_a_file_copy_takes_gets_a_template_with_file_copies() -> None:
    nfs = volume(nfs={"server": "a"})
    found = step(claim(), nfs, deciding=WITH_AGENT)
    assert found.write.body["spec"] == {
        "schedule": "30 1 * * *",
        "template": {"defaultVolumesToFsBackup": True, "includedNamespaces": ["shop"]},
    }
    assert found.warnings == ("It may take data: its files are to be copied by the node agent on node-1.",)


def test_one_that_a_snapshot_takes_keeps_the_default_of_velero() -> None:
    found = step(claim(), volume(), cron="0 3 * * *")
    assert found.write.body["spec"]["template"] == {"includedNamespaces": ["shop"]}
    assert found.forecast.endswith("; it takes 1 volume of it")
    assert found.warnings == ()
    assert found.write.body["spec"]["schedule"] == "0 3 * * *"
    assert (found.target.name, found.target.namespace) == ("shop-nightly", "velero")


def test_it_says_which_volume_no_template_takes() -> None:
    found = step(claim(), volume(hostPath={"path": "/a"}), deciding=WITH_AGENT)
    assert len(found.warnings) == 1
    assert found.warnings[0].startswith("It leaves out data: ")


def test_without_the_claims_it_says_that_its_volumes_are_not_known() -> None:
    snapshot = replace(world(storage()), volumes_seen=world().volumes_seen.__class__())
    (space,) = snapshot.namespaces or ()
    assert takes_most(snapshot, "velero", "shop") == BackupSpec()
    (found,) = plan_cover(snapshot, [space], NOW).steps
    assert found.warnings == ("Whether it takes its volumes is not known: its PersistentVolumeClaims were not read.",)


def test_a_chosen_way_is_kept_and_a_name_that_is_taken_gets_a_number() -> None:
    found = step(
        schedule("shop-nightly", template={"includedNamespaces": ["shop"]}),
        *(claim(), volume()),
        volumes="moved",
    )
    assert found.target.name == "shop-nightly-2"
    assert found.warnings == ("shop-nightly takes it already.",)


def test_a_wrong_expression_is_told_at_its_place() -> None:
    with pytest.raises(BadInput, match="minute"):
        step(cron="61 * * * *")


def test_the_finding_of_a_namespace_that_nothing_covers_names_the_key() -> None:
    other = schedule(template={"includedNamespaces": ["other"]}, last="2026-11-15T02:00:03Z")
    found = [one for one in triage(world(storage(), other), NOW).findings if one.code == "namespace-uncovered"]
    assert [one.subject.name for one in found] == ["shop"]
    assert "Create a schedule for it" in render(found[0].remedy, NOW)
    assert isinstance(found[0].subject.kind, str)
    assert found[0].subject.kind == Namespace.__name__
