"""The box's schemas: they accept what real controllers wrote, and the quick check equals the thorough one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foretop_demo.kinds import load_catalog
from foretop_demo.schema import check_object, shape_object
from foretop_demo.schema_fast_path import is_fit

CATALOG = load_catalog()
RECORDINGS = sorted((Path(__file__).parents[1] / "data" / "recordings").glob("*.jsonl"))
SCHEDULE = CATALOG.named("Schedule")
NAB = CATALOG.named("NonAdminBackup")

WORDS = [
    "schedule",
    "template",
    "paused",
    "skipImmediately",
    "hooks",
    "resources",
    "name",
    "ttl",
    "phase",
    "lastBackup",
    "colour",
    "labelSelector",
]
SCALARS = st.sampled_from([None, True, 5, 2.0, "", "x", "New", "Bogus", "2026-11-15T02:30:00Z", "True"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=8,
)
CONDITION = st.fixed_dictionaries(
    {"type": st.just("Accepted"), "status": st.sampled_from(["True", "Maybe"]), "reason": st.sampled_from(["", "Ok"])},
    optional={"message": st.just(""), "lastTransitionTime": st.sampled_from(["2026-11-15T02:30:00Z", "now"])},
)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_objects_of_real_controllers_are_valid_unchanged(path: Path) -> None:
    events = [json.loads(line) for line in path.read_text().splitlines()]
    bodies = [event["object"] for event in events if "object" in event]
    assert bodies
    for body in bodies:
        kind = CATALOG.find(body["apiVersion"], body["kind"])
        assert kind is not None
        assert shape_object(body, kind.schema) == (body, [])
        assert check_object(body, kind.schema) == []
        assert is_fit(kind, body, None)


def agrees(kind: Any, body: dict[str, Any]) -> bool:
    shaped, dropped = shape_object(body, kind.schema)
    thorough = shaped == body and not dropped and not check_object(shaped, kind.schema)
    return is_fit(kind, body, None) is thorough


@settings(max_examples=300)
@given(st.dictionaries(st.sampled_from(["spec", "status", "extra"]), VALUES))
def test_the_quick_check_of_a_schedule_equals_the_thorough_one(body: dict[str, Any]) -> None:
    assert agrees(SCHEDULE, {"metadata": {"name": "x"}, **body})


@settings(max_examples=100)
@given(st.lists(CONDITION, max_size=2), VALUES)
def test_the_quick_check_of_a_condition_equals_the_thorough_one(conditions: list[Any], spec: Any) -> None:
    assert agrees(NAB, {"spec": {"backupSpec": spec}, "status": {"conditions": conditions}})
