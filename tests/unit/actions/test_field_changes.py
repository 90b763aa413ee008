"""The lines that say what a write changes, field by field."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.field_changes import change_lines


def test_what_is_set_comes_before_what_is_noted_about_it() -> None:
    body = {
        "metadata": {"uid": "u-1", "resourceVersion": "7", "annotations": {"foretop.io/paused-by": "maria"}},
        "spec": {"template": {"metadata": {"labels": {"a": "b"}}, "ttl": "24h"}},
    }
    assert change_lines("PATCH", body, {}) == (
        "spec.template.metadata.labels.a absent → b",
        "spec.template.ttl absent → 24h",
        "annotation foretop.io/paused-by: maria",
    )


@pytest.mark.parametrize(
    ("value", "held", "line"),
    [
        (True, False, "spec.x of DataUpload up false → true"),
        ("new", "old", "spec.x of DataUpload up old → new"),
        ("new", None, "spec.x of DataUpload up absent → new"),
        (None, "old", "spec.x of DataUpload up removed (was old)"),
        (["a", "b"], [], "spec.x of DataUpload up [] → a, b"),
        (["a", 1], ["a"], 'spec.x of DataUpload up a → ["a",1]'),
        ([{"name": "Köln"}], None, 'spec.x of DataUpload up absent → [{"name":"Köln"}]'),
        ({}, {"a": 1}, 'spec.x of DataUpload up {"a":1} → {}'),
    ],
)
def test_a_patch_shows_the_old_value_and_the_new_one(value: Any, held: Any, line: str) -> None:
    assert change_lines("PATCH", {"spec": {"x": value}}, {"spec": {"x": held}}, "DataUpload up") == (line,)


@pytest.mark.parametrize(
    ("method", "held", "value", "line"),
    [
        ("PATCH", {"k": "old"}, "new", "label k old → new"),
        ("PATCH", {"k": ""}, "new", "label k: new"),
        ("PATCH", {}, "new", "label k: new"),
        ("PATCH", None, "new", "label k: new"),
        ("PATCH", {"k": "old"}, None, "label k removed (was old)"),
        ("POST", {}, "new", "label k: new"),
    ],
)
def test_a_mark_is_named_as_what_it_is(method: str, held: Any, value: Any, line: str) -> None:
    body = {"metadata": {"labels": {"k": value}}}
    assert change_lines(method, body, {"metadata": {"labels": held}}) == (line,)


def test_a_new_object_is_shown_without_old_values_and_a_deletion_sets_nothing() -> None:
    body = {"apiVersion": "v1", "kind": "Any", "metadata": {"name": "a", "namespace": "b"}, "spec": {"x": 1, "y": {}}}
    assert change_lines("POST", body, {}) == ("spec.x: 1", "spec.y: {}")
    assert change_lines("DELETE", {"preconditions": {"uid": "u"}, "spec": {"x": 1}}, {}) == ()


def test_other_metadata_is_named_by_its_path() -> None:
    body = {"metadata": {"finalizers": ["a"], "labels": {}}}
    assert change_lines("PATCH", body, {"metadata": {}}) == (
        "metadata.finalizers absent → a",
        "metadata.labels absent → {}",
    )
