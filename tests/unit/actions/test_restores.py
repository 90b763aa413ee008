"""Restores: what a backup holds, where it goes, what is sent, and the line to copy."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.planners.restores import (
    RestoreRequest,
    copy_limits,
    offered_mapping,
    only_namespace,
    plan_delete_restore,
    plan_restore,
    restored,
    targets,
)
from foretop_core.actions.plans import PlanStep
from foretop_core.errors import BadInput
from foretop_core.models import Backup, Namespace, RestoreSpec, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, at, backup, location, restore

SHOP = backup("one", spec={"includedNamespaces": ["shop"]})


def step_of(
    request: RestoreRequest, source: Backup = SHOP, present: tuple[str, ...] | None = (), **more: Any
) -> PlanStep:
    (step,) = plan_restore(ClusterSnapshot("prod", backups=(source,), **more), [source], request, NOW, present).steps
    return step


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (backup(), "all namespaces (Completed)"),
        (backup(spec={"includedNamespaces": ["*"]}), "all namespaces (Completed)"),
        (backup(spec={"includedNamespaces": ["shop"]}), "namespace shop (Completed)"),
        (backup(spec={"includedNamespaces": ["shop", "web"]}), "namespaces shop and web (Completed)"),
        (backup(started="01:10:44"), "all namespaces as of 01:10:44Z (Completed)"),
        (backup(phase="PartiallyFailed", errors=1), "all namespaces (PartiallyFailed, 1 error)"),
        (
            backup(progress={"totalItems": 9, "itemsBackedUp": 7}, expiration="2026-11-15T04:00:00Z"),
            "7 items of all namespaces (Completed), kept until 04:00:00Z",
        ),
    ],
)
def test_the_content_of_a_backup_in_a_line(source: Backup, told: str) -> None:
    assert restored(source, RestoreRequest(), NOW) == told


@pytest.mark.parametrize(
    ("held", "more", "told"),
    [
        (["shop", "default"], {"included_namespaces": ("shop",)}, "of 7 items in the backup those of namespace shop"),
        (
            ["shop", "default"],
            {"excluded_namespaces": ("default",)},
            "of 7 items in the backup those of namespace shop",
        ),
        (["shop", "web"], {"included_namespaces": ("web", "shop")}, "7 items of namespaces web and shop"),
        (["*"], {"included_namespaces": ("shop",)}, "of 7 items in the backup those of namespace shop"),
        ([], {"excluded_namespaces": ("a",)}, "of 7 items in the backup those of all namespaces without a"),
        (["shop"], {"included_resources": ("pods",)}, "of 7 items in the backup the chosen ones of namespace shop"),
    ],
)
def test_a_part_of_a_backup_names_no_namespace_that_is_not_restored(
    held: list[str], more: dict[str, Any], told: str
) -> None:
    source = backup(spec={"includedNamespaces": held}, progress={"totalItems": 9, "itemsBackedUp": 7})
    assert restored(source, RestoreRequest(more=RestoreSpec(**more)), NOW) == f"{told} (Completed)"


@pytest.mark.parametrize(
    ("source", "limits"),
    [
        (SHOP, []),
        (backup(spec={"excludedResources": ["secrets"]}), ["no secrets"]),
        (backup(phase="PartiallyFailed", errors=2), ["gaps where items failed (2 errors)"]),
        (
            backup(spec={"snapshotVolumes": False}),
            ["no data of volumes, but of those that an annotation of a pod names"],
        ),
        (
            backup(spec={"excludedResources": ["persistentvolumeclaims"]}),
            ["no persistentvolumeclaims", "no data of volumes"],
        ),
        (backup(spec={"includeClusterResources": False}), ["no cluster-scoped resources"]),
    ],
)
def test_what_a_backup_lacks_of_a_namespace(source: Backup, limits: list[str]) -> None:
    assert copy_limits(source, "shop") == limits


@pytest.mark.parametrize(
    ("included", "chosen", "only"),
    [
        (["shop"], (), "shop"),
        (["shop", "web"], (), ""),
        (["shop", "web"], ("web",), "web"),
        ([], (), ""),
        ([], ("web",), "web"),
        (["team-*"], (), ""),
        (["shop", "team-*"], (), ""),
    ],
)
def test_the_one_namespace_of_a_restore_is_told_where_there_is_no_other(
    included: list[str], chosen: tuple[str, ...], only: str
) -> None:
    request = RestoreRequest(more=RestoreSpec(included_namespaces=chosen))
    assert only_namespace(backup(spec={"includedNamespaces": included}), request) == only


def test_only_namespaces_that_are_named_are_offered_beside_themselves() -> None:
    assert offered_mapping(ClusterSnapshot(), ["shop", "team-*"]) == {"shop": "shop-restored"}


def test_a_namespace_that_is_gone_is_offered_to_come_back_as_it_was() -> None:
    snapshot = assemble([from_builtins(Namespace, {"metadata": {"name": "shop"}})])
    assert offered_mapping(snapshot, ["shop", "gone"]) == {"shop": "shop-restored"}


@pytest.mark.parametrize(
    ("request_", "written"),
    [
        (RestoreRequest(), ("shop", "web")),
        (RestoreRequest(more=RestoreSpec(included_namespaces=("*",))), ("shop", "web")),
        (RestoreRequest(more=RestoreSpec(included_namespaces=("web",))), ("web",)),
        (RestoreRequest(more=RestoreSpec(excluded_namespaces=("web",))), ("shop",)),
        (RestoreRequest(mapping={"web": "shop"}), ("shop",)),
        (RestoreRequest(more=RestoreSpec(included_namespaces=("w*",))), ()),
    ],
)
def test_the_namespaces_that_a_restore_writes_to(request_: RestoreRequest, written: tuple[str, ...]) -> None:
    assert targets(backup(spec={"includedNamespaces": ["shop", "web"]}), request_) == written


def test_a_plain_restore_leaves_policy_and_volumes_to_velero() -> None:
    step = step_of(RestoreRequest())
    assert step.write.body["spec"] == {"includedNamespaces": ["*"], "backupName": "one"}
    assert step.write.body["metadata"] == {"name": "one-20261115024107", "namespace": "velero"}
    assert step.changes[:3] == (
        "restore velero/one-20261115024107 is created from one",
        "into shop: namespace shop (Completed)",
        "existing resources stay unchanged; volumes are restored (Velero's default)",
    )
    assert step.warnings == ()
    assert step.command == "velero --kubecontext prod -n velero restore create one-20261115024107 --from-backup one"
    assert step.forecast == "Velero starts it at once, or after the restores ahead of it"


def test_a_mapped_restore_shows_where_each_namespace_goes() -> None:
    step = step_of(RestoreRequest(mapping={"shop": "shop-2"}, volumes=True, existing="none"))
    assert step.changes[1:3] == (
        "into shop-2 (shop → shop-2): namespace shop (Completed)",
        "existing resources stay unchanged; volumes are restored",
    )
    assert step.write.body["spec"]["restorePVs"] is True
    assert step.write.body["spec"]["existingResourcePolicy"] == "none"
    assert step.command.endswith(
        "--from-backup one --namespace-mappings shop:shop-2 --existing-resource-policy none --restore-volumes=true"
    )


def test_a_restore_without_volumes_says_so() -> None:
    step = step_of(RestoreRequest(volumes=False))
    assert step.changes[2] == "existing resources stay unchanged; volumes are not restored"
    assert step.command.endswith("--from-backup one --restore-volumes=false")


@pytest.mark.parametrize(
    "request_",
    [
        RestoreRequest(labels={"team": "a"}),
        RestoreRequest(more=RestoreSpec(item_operation_timeout="4h")),
    ],
)
def test_what_velero_s_command_has_no_flag_for_is_copied_as_a_manifest(request_: RestoreRequest) -> None:
    step = step_of(request_)
    assert step.command.startswith("kubectl --context prod create -f - <<<")
    assert step.write.body["metadata"].get("labels", {}) == request_.labels


def test_all_filters_are_in_the_line_to_copy() -> None:
    more = RestoreSpec(
        included_namespaces=("shop",),
        excluded_namespaces=("web", "crm"),
        included_resources=("pods",),
        excluded_resources=("secrets",),
    )
    assert step_of(RestoreRequest(more=more)).command.endswith(
        "--from-backup one --include-namespaces shop --exclude-namespaces web,crm "
        "--include-resources pods --exclude-resources secrets"
    )


def test_a_silent_velero_restores_nothing_until_it_is_back() -> None:
    silent = location(checked="02:26:03", synced="02:26:03")
    assert step_of(RestoreRequest(), storage=(silent,)).forecast == (
        "nothing is restored until Velero is back: no sign of activity from Velero since 02:26:03Z"
    )


@pytest.mark.parametrize(
    ("held", "wanted", "warnings"),
    [
        (["shop"], ("shop",), ()),
        (["shop"], ("crm", "web"), ("The backup does not include crm and web: nothing is restored from there.",)),
        (["shop", "team-*"], ("shop", "crm"), ()),
        ([], ("crm",), ()),
        (["shop"], ("shop", "t*"), ()),
    ],
)
def test_a_wanted_namespace_that_the_backup_lacks_is_named(
    held: list[str], wanted: tuple[str, ...], warnings: tuple[str, ...]
) -> None:
    """A pattern may stand for anything, so nothing is said about one."""
    request = RestoreRequest(more=RestoreSpec(included_namespaces=wanted))
    assert step_of(request, backup("one", spec={"includedNamespaces": held})).warnings == warnings


def test_a_backup_of_everything_goes_into_every_namespace_in_it() -> None:
    step = step_of(RestoreRequest(), backup("one", "PartiallyFailed"))
    assert step.changes[1] == "into its original namespaces: all namespaces (PartiallyFailed)"
    assert step.warnings == (
        "The backup failed partially: some data may be missing.",
        "The backup does not list its namespaces: it restores into every namespace in it.",
    )


def test_namespaces_that_may_not_be_seen_are_not_said_to_be_free() -> None:
    assert step_of(RestoreRequest(), present=None).warnings == (
        "You are not allowed to see which target namespaces already exist.",
    )


@pytest.mark.parametrize(
    ("request_", "present", "warning"),
    [
        (
            RestoreRequest(),
            ("shop", "web"),
            "shop and web exist already: what is in them stays, what is missing is added "
            "(to restore next to them, map shop:shop-restored,web:web-restored).",
        ),
        (
            RestoreRequest(existing="update"),
            ("web",),
            "web exists already: what is in it is overwritten (to restore next to it, map web:web-restored).",
        ),
        (
            RestoreRequest(mapping={"shop": "crm"}),
            ("crm", "shop"),
            "crm exists already: what is in it stays, what is missing is added.",
        ),
    ],
)
def test_what_becomes_of_namespaces_that_exist(
    request_: RestoreRequest, present: tuple[str, ...], warning: str
) -> None:
    assert step_of(request_, backup("one", spec={"includedNamespaces": ["shop", "web"]}), present).warnings == (
        warning,
    )


@pytest.mark.parametrize("phase", ["", "New", "InProgress", "Failed", "Deleting"])
def test_nothing_is_restored_from_a_backup_that_is_not_there_yet_or_failed(phase: str) -> None:
    source = backup("one", phase)
    (refused,) = plan_restore(ClusterSnapshot("prod", backups=(source,)), [source], RestoreRequest(), NOW).refused
    assert refused.why == f"nothing can be restored from it: it is {phase or 'New'}"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (RestoreRequest("Mine!"), "'Mine!' is not a valid name for a restore"),
        (RestoreRequest(mapping={"A": "b"}), "'A' is not a valid namespace name"),
        (RestoreRequest(mapping={"a": "x", "b": "y", "c": "y"}), "Two namespaces are mapped to y"),
        (RestoreRequest(more=RestoreSpec(excluded_namespaces=("B!",))), "'B!' is not a valid namespace name"),
    ],
)
def test_a_name_that_cannot_be_is_a_one_line_error(request_: RestoreRequest, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        plan_restore(ClusterSnapshot(), [], request_, NOW)


def test_a_restore_that_is_possible_is_not_refused() -> None:
    more = RestoreSpec(included_namespaces=("*",), item_operation_timeout="4h")
    request = RestoreRequest("mine", mapping={"a": "x", "b": "y"}, existing="update", more=more)
    assert plan_restore(ClusterSnapshot(), [], request, NOW).steps == ()


@pytest.mark.parametrize("phase", ["InProgress", "Finalizing", "WaitingForPluginOperationsPartiallyFailed"])
def test_a_restore_that_runs_is_not_deleted(phase: str) -> None:
    plan = plan_delete_restore(ClusterSnapshot(), [restore("back", phase), restore("next", "")], NOW)
    assert [one.why for one in plan.refused] == [f"it is {phase}: wait until it has ended"]
    (step,) = plan.steps
    assert (step.target.name, step.warnings) == ("next", ())


def test_the_time_a_backup_expires_names_another_day() -> None:
    kept = backup(expiration=at("2026-12-01T04:00:00Z").isoformat())
    assert restored(kept, RestoreRequest(), NOW).endswith(", kept until 1 Dec 04:00Z")


@pytest.mark.parametrize(
    "more",
    [
        RestoreSpec(included_namespaces=("default",)),
        RestoreSpec(excluded_namespaces=("shop",)),
    ],
)
def test_a_mapping_of_what_is_not_restored_is_refused(more: RestoreSpec) -> None:
    both = backup(spec={"includedNamespaces": ["shop", "default"]})
    request = RestoreRequest(mapping={"shop": "shop-old"}, more=more)
    with pytest.raises(BadInput, match="shop is mapped to shop-old but not restored") as refused:
        plan_restore(ClusterSnapshot(), [both], request, NOW)
    assert "this restore takes default" in str(refused.value)


@pytest.mark.parametrize("held", [[], ["*"], ["sh*"], ["shop"], ["default", "shop"]])
def test_a_mapping_of_what_may_be_restored_is_not_refused(held: list[str]) -> None:
    request = RestoreRequest(mapping={"shop": "shop-old"})
    assert plan_restore(ClusterSnapshot(), [backup(spec={"includedNamespaces": held})], request, NOW).steps
