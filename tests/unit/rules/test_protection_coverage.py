"""What Velero takes of the namespace shop by forty templates, each judged by hand."""

from __future__ import annotations

from fnmatch import fnmatchcase
from random import Random
from typing import Any

import msgspec
import pytest

from foretop_core.models import BackupSpec
from foretop_core.rules.protection.coverage import (
    Extent,
    NamespaceFilter,
    _pattern,
    cluster_scoped_text,
    content_coverage,
    template_coverage,
    volume_method,
)

_APP = {"matchLabels": {"app": "shop"}}
_WEB = {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["web", "api"]}]}
_BOTH_FILTERS = "none: Velero refuses it: old and scoped resource filters together"

TEMPLATES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("nothing set", {}, "all"),
    ("all namespaces", {"includedNamespaces": ["*"]}, "all"),
    ("by name", {"includedNamespaces": ["shop"]}, "all"),
    ("among several", {"includedNamespaces": ["wiki", "shop"]}, "all"),
    ("another one", {"includedNamespaces": ["wiki"]}, "none: not among its namespaces"),
    ("a name that begins alike", {"includedNamespaces": ["shop-2"]}, "none: not among its namespaces"),
    ("a name in capitals", {"includedNamespaces": ["Shop"]}, "none: Velero refuses it: Shop is not a valid namespace"),
    ("pattern with a star", {"includedNamespaces": ["sh*"]}, "all"),
    ("star at the front", {"includedNamespaces": ["*op"]}, "all"),
    ("star that does not fit", {"includedNamespaces": ["sh*s"]}, "none: not among its namespaces"),
    ("question mark", {"includedNamespaces": ["s?op"]}, "all"),
    ("set of letters", {"includedNamespaces": ["[rst]hop"]}, "all"),
    ("set without the letter", {"includedNamespaces": ["[abc]hop"]}, "none: not among its namespaces"),
    (
        "alternatives in braces",
        {"includedNamespaces": ["{wiki,shop}"]},
        "none: Velero refuses it: {wiki,shop} is not a valid namespace",
    ),
    (
        "set that excludes letters",
        {"includedNamespaces": ["[!abc]hop"]},
        "none: Velero refuses it: [!abc]hop is not a valid namespace",
    ),
    ("a range of letters", {"includedNamespaces": ["[r-t]hop"]}, "all"),
    (
        "a set that is not closed",
        {"includedNamespaces": ["[rs"]},
        "none: Velero refuses it: [rs is not a valid namespace",
    ),
    ("two stars", {"includedNamespaces": ["sh**"]}, "none: Velero refuses it: sh** is not a valid namespace"),
    ("a dot", {"includedNamespaces": ["s.op"]}, "none: Velero refuses it: s.op is not a valid namespace"),
    (
        "excluded in capitals",
        {"includedNamespaces": ["shop"], "excludedNamespaces": ["Wiki"]},
        "none: Velero refuses it: Wiki is not a valid namespace",
    ),
    ("excluded by name", {"excludedNamespaces": ["shop"]}, "none: excluded by name"),
    ("excluded by a pattern", {"includedNamespaces": ["*"], "excludedNamespaces": ["sh*"]}, "none: excluded by name"),
    ("another excluded", {"includedNamespaces": ["*"], "excludedNamespaces": ["kube-*"]}, "all"),
    (
        "both included and excluded",
        {"includedNamespaces": ["shop"], "excludedNamespaces": ["shop"]},
        "none: Velero refuses it: shop is both included and excluded",
    ),
    ("star beside a name", {"includedNamespaces": ["*", "shop"]}, "none: Velero refuses it: * beside other names"),
    ("all namespaces excluded", {"excludedNamespaces": ["*"]}, "none: Velero refuses it: * is excluded"),
    ("label", {"labelSelector": _APP}, "part: only objects with app=shop"),
    ("empty selector", {"labelSelector": {}}, "none: Velero cannot list with an empty label selector"),
    (
        "selector without labels",
        {"labelSelector": {"matchLabels": {}}},
        "none: Velero cannot list with an empty label selector",
    ),
    (
        "an empty one of two selectors",
        {"orLabelSelectors": [_APP, {}]},
        "none: Velero cannot list with an empty label selector",
    ),
    ("label in a set", {"labelSelector": _WEB}, "part: only objects with tier in (web, api)"),
    (
        "label that must not be there",
        {"labelSelector": {"matchExpressions": [{"key": "tmp", "operator": "DoesNotExist"}]}},
        "part: only objects with !tmp",
    ),
    (
        "one of two selectors",
        {"orLabelSelectors": [_APP, _WEB]},
        "part: only objects with app=shop or tier in (web, api)",
    ),
    (
        "both sorts of selectors",
        {"labelSelector": _APP, "orLabelSelectors": [_WEB]},
        "none: Velero refuses it: labelSelector and orLabelSelectors together",
    ),
    ("only pods", {"includedResources": ["pods"]}, "part: only pods"),
    (
        "only pods with a label",
        {"includedResources": ["pods"], "labelSelector": _APP},
        "part: only pods with app=shop",
    ),
    ("all resources by star", {"includedResources": ["*"]}, "all"),
    (
        "only cluster-scoped resources",
        {"includedResources": ["clusterroles", "customresourcedefinitions.apiextensions.k8s.io"]},
        "none: only clusterroles and customresourcedefinitions.apiextensions.k8s.io, which are in no namespace",
    ),
    ("without secrets", {"excludedResources": ["secrets"]}, "part: without secrets"),
    ("without events", {"excludedResources": ["events", "events.events.k8s.io"]}, "all"),
    ("without cluster-scoped ones", {"excludedResources": ["storageclasses", "persistentvolumes"]}, "all"),
    ("all resources excluded", {"excludedResources": ["*"]}, "none: Velero refuses it: * is excluded"),
    (
        "scoped filter",
        {"includedNamespaceScopedResources": ["configmaps", "secrets"]},
        "part: only configmaps and secrets",
    ),
    ("scoped exclusion", {"excludedNamespaceScopedResources": ["secrets"]}, "part: without secrets"),
    ("nothing of namespaces", {"excludedNamespaceScopedResources": ["*"]}, "none: all resources are excluded"),
    ("scoped filter for the cluster", {"includedClusterScopedResources": ["storageclasses"]}, "all"),
    (
        "old and scoped filters",
        {"includedResources": ["pods"], "excludedNamespaceScopedResources": ["secrets"]},
        _BOTH_FILTERS,
    ),
    (
        "cluster resources with scoped filter",
        {"includeClusterResources": True, "includedNamespaceScopedResources": ["pods"]},
        _BOTH_FILTERS,
    ),
    (
        "star beside a kind in a scoped filter",
        {"includedNamespaceScopedResources": ["secrets", "*"]},
        "none: Velero refuses it: * beside other names",
    ),
    (
        "a cluster-scoped kind both in and out",
        {"includedClusterScopedResources": ["nodes"], "excludedClusterScopedResources": ["nodes"]},
        "none: Velero refuses it: nodes is both included and excluded",
    ),
    (
        "everything excluded beside a kind",
        {"excludedClusterScopedResources": ["*", "nodes"]},
        "none: Velero refuses it: * is excluded beside other names",
    ),
    ("the same star twice", {"includedNamespaces": ["*", "*"]}, "all"),
    (
        "a resource policy",
        {"resourcePolicy": {"kind": "ConfigMap", "name": "p"}},
        "not known: its resource policy p was not read",
    ),
    ("a policy of another kind, which Velero ignores", {"resourcePolicy": {"kind": "Secret", "name": "p"}}, "all"),
    (
        "nothing, whatever its policy says",
        {"includedNamespaces": ["wiki"], "resourcePolicy": {"kind": "configmap", "name": "p"}},
        "none: not among its namespaces",
    ),
    (
        "label without secrets",
        {"labelSelector": _APP, "excludedResources": ["secrets"]},
        "part: only objects with app=shop, without secrets",
    ),
)


def _spec(fields: dict[str, Any]) -> BackupSpec:

    return msgspec.convert(fields, BackupSpec)


@pytest.mark.parametrize(("fields", "told"), [pytest.param(*rest, id=name) for name, *rest in TEMPLATES])
def test_what_a_template_takes_of_a_namespace(fields: dict[str, Any], told: str) -> None:
    assert str(template_coverage(_spec(fields), "shop")) == told


@pytest.mark.parametrize("fields", [pytest.param(fields, id=name) for name, fields, _ in TEMPLATES])
def test_a_filter_finds_among_many_names_exactly_those_that_it_takes(fields: dict[str, Any]) -> None:
    names = sorted(("shop", "shop-2", "wiki", "shoop", "s.op", "kube-system", "rhop", "Shop"))
    wanted = NamespaceFilter(tuple(fields.get("includedNamespaces", ())), tuple(fields.get("excludedNamespaces", ())))
    assert sorted(wanted.among(names)) == [name for name in names if wanted.takes(name)]


@pytest.mark.parametrize(
    ("fields", "how"),
    [
        ({}, "not known"),
        ({"snapshotVolumes": True}, "not known"),
        ({"snapshotMoveData": True}, "not known"),
        ({"defaultVolumesToFsBackup": True}, "not known"),
        ({"snapshotVolumes": False}, "not known"),
        ({"resourcePolicy": {"kind": "ConfigMap", "name": "p"}}, "not known"),
        ({"excludedResources": ["persistentvolumeclaims"]}, "none"),
        ({"includedResources": ["pods"], "defaultVolumesToFsBackup": True}, "none"),
        ({"includedResources": ["configmaps"], "defaultVolumesToFsBackup": True}, "none"),
        ({"includedNamespaces": ["*", "shop"]}, "none"),
    ],
)
def test_a_template_alone_tells_only_where_volumes_are_not_taken(fields: dict[str, Any], how: str) -> None:
    assert volume_method(_spec(fields)).value == how


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, "all"),
        ({"includedNamespaces": ["shop"]}, "its own"),
        ({"includedNamespaces": ["shop"], "includeClusterResources": True}, "all"),
        ({"includeClusterResources": False}, "none"),
        ({"includedClusterScopedResources": ["storageclasses"]}, "only storageclasses"),
        ({"excludedClusterScopedResources": ["*"]}, "none"),
        ({"includedResources": ["pods"]}, "its own"),
    ],
)
def test_which_cluster_scoped_resources_come_along(fields: dict[str, Any], told: str) -> None:
    assert cluster_scoped_text(_spec(fields)) == told


def test_a_pattern_of_many_stars_is_matched_at_once_and_like_any_other() -> None:
    name = "a" * 63
    for entry in ("*a" * 30 + "b", "*a" * 30 + "*b*", "*[ab]" * 12 + "?c", "{*a,*a}" * 8 + "b", "*a" * 2_000 + "b"):
        assert _pattern(entry).fullmatch(name) is None
    dice = Random(14)
    for _ in range(3_000):
        entry = "".join(dice.choices(("*", "?", "a", "b", "[ab]", "[!a]"), k=dice.randint(1, 7)))
        told = "".join(dice.choices("ab-", k=dice.randint(1, 8)))
        assert bool(_pattern(entry).fullmatch(told)) is fnmatchcase(told, entry), (entry, told)


def test_backups_of_other_groups_are_no_objects_about_backups() -> None:
    """A database has such, and a cluster does not make them again."""
    for name in ("backups.velero.io", "events.events.k8s.io", "backups"):
        assert content_coverage(BackupSpec(excluded_resources=(name,))).extent is Extent.ALL
    for name in ("backups.postgresql.cnpg.io", "restores.example.com"):
        assert str(content_coverage(BackupSpec(excluded_resources=(name,)))) == f"part: without {name}"
