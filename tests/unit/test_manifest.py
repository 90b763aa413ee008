"""Manifests as people write them and as kubectl prints them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foretop_core.errors import BadInput
from foretop_core.models import Schedule
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.manifest_reader import read

ONE = """
apiVersion: velero.io/v1
kind: Schedule
metadata: {name: daily, namespace: velero, creationTimestamp: 2026-11-01T00:00:00Z}
spec: {schedule: "0 2 * * *", template: {ttl: 720h0m0s}}
"""


def test_a_single_manifest_with_a_bare_time() -> None:
    (item,) = read(ONE, "a.yaml").of(SCHEDULE)
    assert isinstance(item, Schedule)
    assert item.created is not None
    assert item.created.isoformat() == "2026-11-01T00:00:00+00:00"


def test_several_documents_empty_ones_and_other_kinds() -> None:
    text = f"---\n{ONE}---\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: c}}\n---{ONE}"
    found = read(text, "a.yaml")
    assert len(found.objects) == 2
    assert found.others == 1


@pytest.mark.parametrize("kind", ["List", "ScheduleList"])
def test_lists_as_kubectl_prints_them(kind: str) -> None:
    item: dict[str, Any] = {"metadata": {"name": "daily"}, "spec": {"schedule": "@daily"}}
    if kind == "List":
        item |= {"apiVersion": "velero.io/v1", "kind": "Schedule"}
    version = "v1" if kind == "List" else "velero.io/v1"
    text = json.dumps({"apiVersion": version, "kind": kind, "items": [item, item]})
    assert len(read(text, "-").of(SCHEDULE)) == 2


def test_json_documents_one_after_the_other() -> None:
    one = {"apiVersion": "velero.io/v1", "kind": "Schedule", "metadata": {"name": "a"}, "spec": {"schedule": "@daily"}}
    text = f"{json.dumps(one, indent=1)}\n{json.dumps({**one, 'metadata': {'name': 'b'}})}"
    assert [item.name for _, item in read(text, "-").objects] == ["a", "b"]
    with pytest.raises(BadInput):
        read(f"{text} and more", "-")


def test_one_bad_object_costs_only_itself_and_is_named() -> None:
    bad = ONE.replace("daily", "broken").replace('"0 2 * * *"', "5")
    found = read(f"{ONE}---{bad}---\njust text\n---\nkind: Schedule\n", "a.yaml")
    assert [item.name for _, item in found.objects] == ["daily"]
    lines = [str(problem) for problem in found.unreadable]
    assert "Schedule velero/broken cannot be read: spec.schedule" in lines[0]
    assert "object 3 of a.yaml" in lines[1]
    assert "object 4 of a.yaml" in lines[2]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"{ONE}---\nkind: [Schedule\n", "line 8, column 1"),
        ("a: b: c", "line 1, column 5"),
        ("{\x00}", "not valid YAML"),
        ('{"kind": "List", ', "not valid YAML"),
    ],
)
def test_invalid_yaml_is_located(text: str, where: str) -> None:
    with pytest.raises(BadInput, match="is not valid YAML") as caught:
        read(text, "a.yaml")
    assert where in str(caught.value)
    assert "\n" not in str(caught.value)


def test_deeply_nested_or_recursive_yaml_does_not_crash() -> None:
    with pytest.raises(BadInput):
        read("[" * 5000, "a.yaml")
    endless = "apiVersion: velero.io/v1\nkind: Schedule\nmetadata: {name: x}\nspec: &s {template: *s}\n"
    assert "contains itself" in str(read(endless, "-").unreadable[0])
