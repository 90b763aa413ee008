"""The spec as text for an editor: what is shown, and what is taken from it."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.spec_editing import spec_as_text, spec_from_text
from foretop_core.errors import BadInput
from foretop_core.models.wire import ObjectRef

REF = ObjectRef("prod", "Schedule", "velero", "daily")
SPEC = {"schedule": "@daily", "paused": True, "template": {"ttl": "24h", "labels": ["ä", "b"]}}


def test_a_spec_is_shown_in_its_order_without_what_has_commands_of_its_own() -> None:
    first, *comments, body = spec_as_text(REF, SPEC).split("\n", 3)
    assert first == "# schedule velero/daily in prod"
    assert all(line.startswith("# ") for line in comments)
    assert body == "spec:\n  schedule: '@daily'\n  template:\n    ttl: 24h\n    labels:\n    - ä\n    - b\n"


def test_a_text_that_is_not_changed_is_the_spec() -> None:
    assert spec_from_text(spec_as_text(REF, SPEC), "the file", SPEC) == SPEC
    without = {"schedule": "@daily"}
    assert spec_from_text(spec_as_text(REF, without), "the file", without) == without


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n"])
def test_an_empty_text_is_no_edit(text: str) -> None:
    assert spec_from_text(text, "the file", SPEC) is None


def test_a_null_is_a_field_that_is_not_there() -> None:
    text = "spec: {schedule: '@daily', template: {ttl: null, hooks: [{a: null, b: 1}, 2]}, 7: x}"
    expected: dict[str, Any] = {"schedule": "@daily", "template": {"hooks": [{"b": 1}, 2]}, "7": "x"}
    assert spec_from_text(text, "the file", {}) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("spec: {}\n---\nspec: {}", "it must contain spec: and nothing else beside it"),
        ("[spec]", "it must contain spec: and nothing else beside it"),
        ("spec: {}\nkind: Schedule", "it must contain spec: and nothing else beside it"),
        ("kind: Schedule", "it must contain spec: and nothing else beside it"),
        ("spec:", "spec is empty or not a mapping"),
        ("spec: [a]", "spec is empty or not a mapping"),
        ("spec: {paused: false}", "spec.paused is not edited (use pause or unpause)"),
    ],
)
def test_what_is_not_a_spec_is_refused_with_the_name_of_the_file(text: str, why: str) -> None:
    with pytest.raises(BadInput) as refused:
        spec_from_text(text, "the file", SPEC)
    assert str(refused.value) == f"the file is not valid: {why}"
