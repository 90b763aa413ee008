"""What an object, or its absence, tells of a write whose answer was lost."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.plans import PlanStep, Write
from foretop_core.actions.write_answer import WriteEvidence, judge_write
from foretop_core.models.wire import ObjectRef

DONE, NOT_DONE, NO_WORD = WriteEvidence.DONE, WriteEvidence.NOT_DONE, WriteEvidence.NO_WORD
AIM = ObjectRef("prod", "Schedule", "velero", "nightly")


def step(write: Write) -> PlanStep:
    return PlanStep(AIM, write, (), "", "")


def meta(**more: Any) -> dict[str, Any]:
    return {"name": "nightly", "uid": "u-1", "resourceVersion": "7", **more}


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (None, NOT_DONE),
        (
            {"metadata": meta(labels={"drill": "a", "more": "b"}), "spec": {"x": 1, "added": 2}, "data": {"k": "v"}},
            DONE,
        ),
        ({"metadata": meta(labels={"drill": "a"}), "spec": {"x": 2}, "data": {"k": "v"}}, NO_WORD),
        ({"metadata": meta(labels={"drill": "a"}), "spec": {"x": 1}, "data": {"k": "other"}}, NO_WORD),
        ({"metadata": meta(labels={"drill": "b"}), "spec": {"x": 1}, "data": {"k": "v"}}, NO_WORD),
        ({"metadata": meta(), "spec": {"x": 1}, "data": {"k": "v"}}, NO_WORD),
    ],
)
def test_a_new_object_is_known_by_its_labels_and_by_all_that_it_says(
    found: dict[str, Any] | None, told: WriteEvidence
) -> None:
    labelled = {"name": "nightly", "labels": {"drill": "a"}}
    body = {"apiVersion": "v1", "kind": "Any", "metadata": labelled, "spec": {"x": 1}, "data": {"k": "v"}}
    assert judge_write(step(Write("POST", body)), found) is told


def test_a_new_object_without_spec_or_labels_is_known_by_its_name() -> None:
    made = step(Write("POST", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}))
    assert judge_write(made, {"metadata": meta(), "spec": {"finalizers": ["kubernetes"]}}) is DONE


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (None, DONE),
        ({"metadata": meta()}, NOT_DONE),
        ({"metadata": meta(deletionTimestamp="2026-11-15T02:41:07Z")}, DONE),
        ({"metadata": meta(uid="u-2")}, DONE),
    ],
)
def test_a_deletion_is_done_where_that_very_object_goes(found: dict[str, Any] | None, told: WriteEvidence) -> None:
    body = {"preconditions": {"uid": "u-1", "resourceVersion": "7"}}
    assert judge_write(step(Write("DELETE", body)), found) is told


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (None, NO_WORD),
        ({"metadata": meta(), "spec": {"paused": False}}, NOT_DONE),
        ({"metadata": meta(), "spec": {"paused": True}}, NOT_DONE),
        ({"metadata": meta(resourceVersion="8"), "spec": {"paused": True}}, DONE),
        ({"metadata": meta(resourceVersion="8"), "spec": {"paused": False}}, NO_WORD),
        ({"metadata": meta(resourceVersion="8", uid="u-2"), "spec": {"paused": True}}, NO_WORD),
    ],
)
def test_a_patch_is_done_only_where_a_newer_version_of_that_very_object_shows_it(
    found: dict[str, Any] | None, told: WriteEvidence
) -> None:
    body = {"metadata": {"uid": "u-1", "resourceVersion": "7"}, "spec": {"paused": True}}
    assert judge_write(step(Write("PATCH", body)), found) is told


def test_only_silence_is_no_answer() -> None:
    assert [one for one in WriteEvidence if not one.answered] == [WriteEvidence.NO_ANSWER]
