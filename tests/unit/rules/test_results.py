"""The errors and warnings of a run, grouped by namespace and resource without losing any."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foretop_core.errors import Unreadable
from foretop_core.rules.results import Problem, ResultGroup, Results, ResultScope, parse

DIFFERS = "Warning: the in-cluster version is different than the backed-up version."


def read(**parts: Any) -> Results:
    return parse(json.dumps(parts).encode())


def only(line: str) -> Problem:
    (group,) = read(errors={"namespaces": {"shop": [line]}}).errors
    (problem,) = group.problems
    return problem


@pytest.mark.parametrize(
    ("line", "resource", "name", "message"),
    [
        (
            " resource: /pods name: /web-0 message: /volume data is declared in pod shop/web-0 but not mounted by any "
            "container, skipping",
            "pods",
            "web-0",
            "volume data is declared in pod shop/web-0 but not mounted by any container, skipping",
        ),
        (
            " resource: /pods name: /web-0 message: /Error backing up item error: /timed out waiting for x: y",
            "pods",
            "web-0",
            "Error backing up item: timed out waiting for x: y",
        ),
        (
            " resource: /pods name: /web-0 error: /error executing custom action (groupResource=pods, namespace=shop, "
            "name=web-0): rpc error: code = Unknown",
            "pods",
            "web-0",
            "error executing custom action (groupResource=pods, namespace=shop, name=web-0): rpc error: code = Unknown",
        ),
        (" message: /Error listing items error: /forbidden", "", "", "Error listing items: forbidden"),
        (" name: /web-0 message: /Error executing hook", "", "web-0", "Error executing hook"),
        (" error: /boom", "", "", "boom"),
        (
            'error restoring pods/shop/web-0: pods "web-0" is forbidden: exceeded quota: q',
            "pods",
            "web-0",
            'error restoring: pods "web-0" is forbidden: exceeded quota: q',
        ),
        (
            "error restoring clusterroles.rbac.authorization.k8s.io/system:thing: not allowed",
            "clusterroles.rbac.authorization.k8s.io",
            "system:thing",
            "error restoring: not allowed",
        ),
        (
            "error executing PVAction for persistentvolumes/pvc-4c81: rpc error: code = Unknown desc = no zone",
            "persistentvolumes",
            "pvc-4c81",
            "error executing PVAction: rpc error: code = Unknown desc = no zone",
        ),
        ("error preparing secrets/shop/key: no plugin", "secrets", "key", "error preparing: no plugin"),
        (
            f'could not restore, configmaps "kube-root-ca.crt" already exists. {DIFFERS}',
            "configmaps",
            "kube-root-ca.crt",
            f"could not restore, already exists. {DIFFERS}",
        ),
        (
            f"could not restore, ConfigMap:kube-root-ca.crt already exists. {DIFFERS}",
            "ConfigMap",
            "kube-root-ca.crt",
            f"could not restore, already exists. {DIFFERS}",
        ),
        (
            "additional items for pods/shop/web-0 are not ready to use",
            "pods",
            "web-0",
            "additional items for it are not ready to use",
        ),
    ],
)
def test_a_message_that_names_its_resource_is_grouped_by_it(line: str, resource: str, name: str, message: str) -> None:
    assert only(line) == Problem(resource, name, message)


@pytest.mark.parametrize(
    "line",
    [
        "stat /tmp/93/resources/persistentvolumeclaims/namespaces/shop/data.json: no such file or directory",
        "error restoring web-0: something",
        "error parsing backup contents: directory resources does not exist",
        "could not restore, and nobody knows what",
        "resource pods name web-0",
        "",
    ],
)
def test_any_other_message_is_kept_unchanged(line: str) -> None:
    assert only(line) == Problem("", "", line)


def test_errors_and_warnings_are_separate_and_grouped_by_scope() -> None:
    found = read(
        errors={
            "namespaces": {
                "shop": [" resource: /pods name: /b message: /x", " resource: /pods name: /a message: /y", "odd"],
                "api": [" resource: /secrets name: /s message: /z"],
            },
            "velero": ["error uploading the log"],
            "cluster": ["error restoring persistentvolumes/pv-1: no"],
        },
        warnings={"namespaces": {"shop": ["careful"]}},
    )
    assert [(group.scope, group.namespace, group.count) for group in found.errors] == [
        (ResultScope.VELERO, "", 1),
        (ResultScope.CLUSTER, "", 1),
        (ResultScope.NAMESPACE, "api", 1),
        (ResultScope.NAMESPACE, "shop", 3),
    ]
    assert [problem.subject for problem in found.errors[-1].problems] == ["pods/a", "pods/b", ""]
    assert found.warnings == (ResultGroup(ResultScope.NAMESPACE, "shop", (Problem("", "", "careful"),)),)
    assert (found.error_count, found.warning_count) == (6, 1)


def test_a_repeated_message_is_shown_once_with_its_count() -> None:
    found = read(errors={"velero": ["again", "again", "once", "again"]})
    assert [(problem.message, problem.times) for problem in found.errors[0].problems] == [("again", 3), ("once", 1)]
    assert found.error_count == 4


@pytest.mark.parametrize(
    "text",
    [b"{}", b'{"errors": null, "warnings": {}}', b'{"errors": {"velero": null, "namespaces": {"a": []}}, "x": 1}'],
)
def test_empty_parts_are_not_problems(text: bytes) -> None:
    assert parse(text) == Results()


def test_unexpected_shapes_are_read_as_far_as_possible() -> None:
    found = read(errors={"velero": "alone", "cluster": [7, None, {"a": 1}], "namespaces": ["no", "map"]}, warnings=[1])
    assert [problem.message for problem in found.errors[0].problems] == ["alone"]
    assert found.error_count == 4
    assert found.warnings == ()


@pytest.mark.parametrize(
    "text", [b"", b"<html>", b"[1]", b'"x"', b'{"errors": {"velero": ["cut', b"[" * 100_000, b"\xff"]
)
def test_an_invalid_file_is_reported_unreadable(text: bytes) -> None:
    with pytest.raises(Unreadable, match="The results cannot be read"):
        parse(text)


def test_a_hostile_message_is_parsed_quickly_and_stays_one_message() -> None:
    spaces = "error restoring " + " " * 200_000 + "x"
    colons = "error restoring " + "a/" * 100_000 + ": x"
    evil = "\x1b[2J could not restore, " + '"' * 200_000
    found = read(errors={"velero": [spaces, colons, evil]})
    assert [problem.message for problem in found.errors[0].problems] == [spaces, colons, evil]
