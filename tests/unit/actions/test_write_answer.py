"""Answers to writes: only the object itself with the change in it, or the server's word on its deletion, counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from foretop_core.actions.planners.backups import plan_back_up_now, plan_delete_backup
from foretop_core.actions.plans import PlanStep, Write
from foretop_core.actions.step_builders import delete_step, patch_step
from foretop_core.actions.write_answer import check_answer, is_another, read_object, shows
from foretop_core.errors import Unreadable
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, backup, schedule

ITEM = schedule(uid="u1", resourceVersion="5")
WHERE = ObjectRef("prod", "Schedule", "velero", "nightly")
PATCH = patch_step(WHERE, ITEM, {"spec": {"paused": True}}, {}, "")
DELETE = delete_step(WHERE, ITEM, {}, "")
(CREATE,) = plan_back_up_now(ClusterSnapshot("prod", schedules=(ITEM,)), [ITEM], NOW).steps
(GENERATED,) = plan_delete_backup(ClusterSnapshot("prod", backups=(backup("one"),)), [backup("one")], NOW).steps
DELETED = {"kind": "Status", "status": "Success", "details": {"name": "nightly", "uid": "u1"}}


def answer(step: PlanStep, spec: dict[str, Any] | None = None, **meta: Any) -> bytes:
    """The object of a step as a server writes it."""
    named = {"name": step.target.name, "namespace": "velero", "uid": "u1", "creationTimestamp": "2026-11-01T00:00:00Z"}
    found = {key: value for key, value in {**named, **meta}.items() if value is not None}
    return json.dumps({"kind": step.target.kind, "metadata": found, "spec": spec or {}}).encode()


@pytest.mark.parametrize(
    ("step", "body"),
    [
        (PATCH, answer(PATCH, {"paused": True, "schedule": "@daily"}, resourceVersion="6")),
        (CREATE, answer(CREATE)),
        (CREATE, answer(CREATE, uid="whatever")),
        (GENERATED, answer(GENERATED, name="one-x7k2p")),
        (DELETE, answer(DELETE, deletionTimestamp="2026-11-15T02:41:07Z")),
        (DELETE, json.dumps(DELETED).encode()),
        (DELETE, json.dumps({**DELETED, "details": {"name": "nightly"}}).encode()),
    ],
)
def test_what_shows_that_a_write_was_made(step: PlanStep, body: bytes) -> None:
    check_answer(step, body)


@pytest.mark.parametrize(
    ("step", "body", "words"),
    [
        (PATCH, answer(PATCH, {"paused": False}), "does not show the change"),
        (PATCH, answer(PATCH, {"paused": True}, uid="u2"), "about another object than schedule velero/nightly"),
        (CREATE, answer(CREATE, uid=None), "about another object"),
        (CREATE, answer(CREATE, creationTimestamp=None), "about another object"),
        (CREATE, answer(CREATE, name="other"), "is not about"),
        (GENERATED, answer(GENERATED, name="two-x7k2p"), "is not about"),
        (PATCH, answer(PATCH, {"paused": True}, namespace="other"), "is not about"),
        (PATCH, answer(PATCH, {"paused": True}, namespace=None), "is not about"),
        (PATCH, answer(PATCH, {"paused": True}, name=7), "is not about"),
        (DELETE, answer(DELETE), "does not show the change"),
        (PATCH, json.dumps(DELETED).encode(), "it is not a Schedule"),
        (DELETE, json.dumps({**DELETED, "status": "Failure"}).encode(), "is not about"),
        (DELETE, json.dumps({**DELETED, "details": {"name": "other", "uid": "u1"}}).encode(), "is not about"),
        (DELETE, json.dumps({**DELETED, "details": ["nightly"]}).encode(), "is not about"),
        (DELETE, json.dumps({**DELETED, "details": {"name": "nightly", "uid": "u2"}}).encode(), "its uid differs"),
        (PATCH, b"<html>", "does not come from the API server"),
        (PATCH, b"[" * 30_000, "does not come from the API server"),
        (PATCH, b"[]", "it is not an object"),
        (PATCH, b'{"kind": "Schedule", "metadata": []}', "it is not a Schedule"),
        (PATCH, answer(PATCH, {"paused": True}).replace(b'"Schedule"', b'"Backup"'), "it is not a Schedule"),
    ],
)
def test_what_does_not_show_that_a_write_was_made(step: PlanStep, body: bytes, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        check_answer(step, body)


def test_an_object_without_a_namespace_is_read_for_a_target_without_one() -> None:
    step = PlanStep(ObjectRef("prod", "Namespace", "", "shop"), Write("POST", {}), (), "", "")
    body = {"kind": "Namespace", "metadata": {"name": "shop"}}
    assert read_object(step, json.dumps(body).encode()) == body


def test_only_a_known_uid_tells_a_namesake() -> None:
    found = {"metadata": {"uid": "u2"}}
    assert is_another(PATCH, found)
    assert not is_another(PATCH, {"metadata": {"uid": "u1"}})
    assert not is_another(CREATE, found)


def test_a_deletion_of_an_object_without_a_uid_is_told_by_its_name() -> None:
    step = delete_step(WHERE, schedule(), {}, "")
    check_answer(step, json.dumps(DELETED).encode())


@pytest.mark.parametrize(
    ("found", "patch", "shown"),
    [
        ({"a": 1, "b": 2}, {"a": 1}, True),
        ({"a": 2}, {"a": 1}, False),
        ({}, {"a": None}, True),
        ({"a": 1}, {"a": None}, False),
        ({"resourceVersion": "6", "uid": "u"}, {"resourceVersion": "5", "uid": "u"}, True),
        ({"resourceVersion": "5", "uid": "x"}, {"resourceVersion": "5", "uid": "u"}, False),
        ("text", {"a": None}, True),
        ("text", {"a": 1}, False),
        ([1, 2], [1, 2], True),
        ([1, 2, 3], [1, 2], True),
        ([1], [1, 2], False),
        ([2, 1], [1, 2], False),
        ("text", [1], False),
        ([], [], True),
        ([{"name": "b", "v": 2}, {"name": "a", "v": 1}], [{"name": "a", "v": 1}], True),
        ([{"name": "b", "v": 1}, {"name": "a", "v": 2}], [{"name": "a", "v": 1}], False),
        ([{"name": "b", "v": 1}, "odd"], [{"name": "a", "v": 1}], False),
        ([{"v": 2}, {"v": 1}], [{"v": 1}], False),
        ([{"v": 1}, {"name": "a"}], [{"v": 1}, {"name": "a"}], True),
        ([{"name": "a"}, {"v": 1}], [{"v": 1}, {"name": "a"}], False),
    ],
)
def test_an_object_shows_a_patch_where_it_has_all_of_it(found: object, patch: object, shown: bool) -> None:
    """Items with names are found by them; others by their place."""
    assert shows(found, patch) is shown
