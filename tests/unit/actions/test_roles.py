"""The roles that `foretop doctor --roles` prints: all that the watches and actions need, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop.cli import run
from foretop_core.actions.action_catalog import RECORDS, told_rights
from foretop_core.actions.roles import RoleHolder, role_manifests, role_needs, role_records, role_rules
from foretop_core.kube.access.access_reviewer import AccessRule, AccessRules
from foretop_core.kube.access.accessible_namespaces import NAMESPACE_READS, may_list, watch_permissions
from foretop_core.models.kinds import BESIDE_VELERO, DEPLOYMENT, KINDS, NAB, NAR, SCHEDULE, RequiredPermission

IN_CLUSTER = Path(__file__).parents[3] / "packaging" / "in-cluster.yaml"
WRITES = {"create", "patch", "delete", "update"}


def granted(rules: Iterable[dict[str, Any]]) -> set[tuple[str, str, str, str]]:
    """Group, resource, name and verb of all that some rules allow."""
    return {
        (group, resource, name, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
        for verb in rule["verbs"]
    }


def needed(permissions: Iterable[RequiredPermission]) -> set[tuple[str, str, str, str]]:
    return {(one.kind.group, one.resource, name, one.verb) for one in permissions for name in (one.names or ("",))}


@pytest.mark.parametrize("holder", RoleHolder)
def test_the_rules_allow_what_is_needed_and_nothing_else(holder: RoleHolder) -> None:
    needs = role_needs(holder)
    for part in (needs.everywhere, needs.beside_velero, needs.in_own_namespaces):
        assert granted(role_rules(part)) == needed(part)


def test_a_cluster_admin_can_watch_every_kind_and_ask_for_every_action() -> None:
    allowed = needed(role_needs(RoleHolder.CLUSTER_ADMIN).everywhere)
    for kind in KINDS:
        assert needed(watch_permissions(kind)) <= allowed
    for record in RECORDS:
        assert needed((*record.rights, *record.reads)) <= allowed
    assert needed(NAMESPACE_READS) <= allowed


def test_every_action_belongs_to_the_velero_admin_or_to_the_tenant_or_to_the_cluster_s_administrators() -> None:
    admin, tenant = role_records(RoleHolder.VELERO_ADMIN), role_records(RoleHolder.OADP_TENANT)
    assert {record.id for record in (*admin, *tenant)} == {
        record.id for record in RECORDS if not record.for_administrators
    }
    assert not {record.id for record in admin} & {record.id for record in tenant}
    own = role_needs(RoleHolder.OADP_TENANT).in_own_namespaces
    assert not {right.kind for right in own if right.verb == "watch"} & BESIDE_VELERO
    beside = {right for right in role_needs(RoleHolder.VELERO_ADMIN).beside_velero if right.verb == "patch"}
    assert not {right.kind for right in beside} & {NAB, NAR}


def test_a_tenant_watches_all_tenants_kinds_of_own_namespaces_and_nothing_of_the_cluster() -> None:
    own = role_needs(RoleHolder.OADP_TENANT).in_own_namespaces
    for kind in KINDS:
        is_own = kind.namespaced and kind not in BESIDE_VELERO
        assert (needed(watch_permissions(kind)) <= needed(own)) is is_own, kind.name


def test_the_doctor_looks_at_every_permission_of_every_action() -> None:
    told = needed(right for right, _, _ in told_rights())
    every = RECORDS
    assert told == {one for record in every for one in needed((*record.rights, *record.reads))}


def test_an_auditor_changes_nothing_and_nobody_has_nothing() -> None:
    auditor = needed(role_needs(RoleHolder.AUDITOR).everywhere)
    assert auditor
    assert not {verb for _, _, _, verb in auditor} & WRITES
    (role, binding) = role_manifests(RoleHolder.NOBODY, "velero", ())
    assert role["rules"] == []
    assert binding["roleRef"]["name"] == role["metadata"]["name"]


@pytest.mark.parametrize("holder", RoleHolder)
def test_deployments_are_allowed_by_name_only(holder: RoleHolder) -> None:
    for manifest in role_manifests(holder, "velero", ("team-a",)):
        for rule in manifest.get("rules", ()):
            if "deployments" in rule["resources"]:
                assert set(rule["resourceNames"]) <= {"velero", "openshift-adp-controller-manager"}
                assert "patch" not in rule["verbs"] or rule["resourceNames"] == ["velero"]


def test_a_kind_watched_by_name_may_be_listed_with_a_rule_for_these_names() -> None:
    def rules(*names: str) -> AccessRules:
        return AccessRules((AccessRule(("list",), ("apps", "velero.io"), ("deployments", "schedules"), names),), False)

    assert may_list(rules("velero", "openshift-adp-controller-manager"), DEPLOYMENT)
    assert may_list(rules(), DEPLOYMENT)
    assert not may_list(rules("velero"), DEPLOYMENT)
    assert may_list(rules(), SCHEDULE)
    assert not may_list(rules("daily"), SCHEDULE)


def test_the_roles_for_use_in_the_cluster_are_the_same() -> None:
    roles = {
        one["metadata"]["name"]: granted(one["rules"])
        for one in yaml.safe_load_all(IN_CLUSTER.read_text())
        if one["kind"] == "ClusterRole"
    }
    auditor = needed(role_needs(RoleHolder.AUDITOR).everywhere)
    assert roles["foretop-read"] == auditor
    everything = needed(role_needs(RoleHolder.CLUSTER_ADMIN).everywhere)
    # What a room needs beyond that is a role of its own, which its tests compare.
    assert roles["foretop-write"] <= everything - auditor
    assert set().union(*roles.values()) >= everything


# The command


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run(["doctor", "--roles", *arguments]) == 0
    return list(yaml.safe_load_all(capsys.readouterr().out))


def test_the_command_prints_manifests_for_kubectl(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "velero-admin", "--velero-namespace", "openshift-adp")
    assert [(one["kind"], one["metadata"].get("namespace", "")) for one in found] == [
        ("ClusterRole", ""),
        ("ClusterRoleBinding", ""),
        ("Role", "openshift-adp"),
        ("RoleBinding", "openshift-adp"),
    ]
    assert found == role_manifests(RoleHolder.VELERO_ADMIN, "openshift-adp", ())
    as_list = printed(capsys, "velero-admin", "--velero-namespace", "openshift-adp", "-o", "json")
    assert as_list == [{"apiVersion": "v1", "kind": "List", "items": found}]


def test_a_tenant_gets_a_role_in_each_namespace(capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, "oadp-tenant", "-n", "team-a", "-n", "team-b")
    assert [one["metadata"]["namespace"] for one in found if one["kind"] == "Role"] == ["team-a", "team-b"]
    assert {one["kind"] for one in found} == {"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
    (everywhere,) = [one["rules"] for one in found if one["kind"] == "ClusterRole"]
    assert everywhere == [
        {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": ["kube-system"], "verbs": ["get"]}
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["somebody"], "'somebody' is not valid for --roles; did you mean"),
        (["oadp-tenant"], "--roles oadp-tenant needs the tenant's namespace: give it with -n"),
        (["oadp-tenant", "-n", "a b"], "'a b' is not a valid name of a namespace"),
        (["velero-admin", "--velero-namespace", "Velero"], "'Velero' is not a valid name of a namespace"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--roles", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert told.err.count("\n") == 1
