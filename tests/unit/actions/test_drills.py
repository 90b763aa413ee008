"""A drill is planned only where it is known that nothing of what it restores can start."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from foretop_core.actions.drill_quotas import ResourceQuota, quota_sentence
from foretop_core.actions.drills import DrillRequest, plan_drill, plan_later_cleanup
from foretop_core.models.wire import Metadata
from foretop_core.rules.snapshot import QUEUE_FIELD, ClusterSnapshot, VeleroInfo
from tests.objects import NOW, backup

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
