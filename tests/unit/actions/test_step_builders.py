"""Steps: the exact body of a request, what it changes, and the line that does the same."""

from __future__ import annotations

import json
import shlex
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from foretop_core.actions.plans import NamedSource
from foretop_core.actions.step_builders import (
    create_step,
    delete_step,
    kubectl,
    patch_step,
    restore_name,
    said,
    stamped,
    velero,
)
from foretop_core.models.wire import ObjectRef
from tests.objects import NOW, schedule

WHERE = ObjectRef("prod", "Schedule", "velero", "nightly")
ITEM = schedule(uid="u1", resourceVersion="5", labels={"team": "a"}, annotations={"cost": "7"})


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("nightly", "nightly-20261115024107"),
        ("nightly-20261114020003", "nightly-20261115024107"),
        ("nightly-2026111402000", "nightly-2026111402000-20261115024107"),
        ("n" * 238, f"{'n' * 238}-20261115024107"),
        ("n" * 239, f"{'n' * 238}-20261115024107"),
        (f"{'n' * 238}-20261114020003", f"{'n' * 238}-20261115024107"),
    ],
)
def test_a_stamp_is_in_utc_replaces_an_older_one_and_leaves_a_name_that_can_be(name: str, made: str) -> None:
    assert stamped(name, NOW) == made
    assert stamped(name, NOW.astimezone(timezone(timedelta(hours=5)))) == made
    assert len(made) <= 253


@pytest.mark.parametrize(("backup", "kept"), [("one-20261114020003", 18), ("n" * 238, 238), ("n" * 253, 238)])
def test_a_restore_keeps_the_stamp_of_its_backup(backup: str, kept: int) -> None:
    east: datetime = NOW.astimezone(timezone(timedelta(hours=5)))
    assert restore_name(backup, east) == f"{backup[:kept]}-20261115024107"


def test_a_patch_names_the_very_object_and_the_line_to_copy_does_not() -> None:
    patch: dict[str, Any] = {"metadata": {"annotations": {"note": "für morgen"}}, "spec": {"paused": True}, "odd": {}}
    step = patch_step(WHERE, ITEM, patch, {"spec": {"paused": False}}, "forecast", ("careful",))
    assert step.write.body == {
        "metadata": {"annotations": {"note": "für morgen"}, "uid": "u1", "resourceVersion": "5"},
        "spec": {"paused": True},
        "odd": {},
    }
    assert step.write.before == {"spec": {"paused": False}}
    assert step.changes == ("spec.paused false → true", "odd absent → {}", "annotation note: für morgen")
    assert step.warnings == ("careful",)
    assert step.command == (
        "kubectl --context prod -n velero patch schedules.velero.io nightly --type merge -p "
        """'{"metadata":{"annotations":{"note":"für morgen"}},"spec":{"paused":true}}'"""
    )
    of_another = patch_step(WHERE, ITEM, {"spec": {"paused": True}}, {}, "", of="nightly")
    assert of_another.changes == ("spec.paused of nightly absent → true",)


def test_an_owner_comes_before_the_other_warnings() -> None:
    owned = schedule(annotations={"meta.helm.sh/release-name": "velero"})
    for step in (
        patch_step(WHERE, owned, {"spec": {"paused": True}}, {}, "", ("careful",)),
        delete_step(WHERE, owned, {}, "", ("careful",)),
    ):
        first, second = step.warnings
        assert first.startswith("It is managed by Helm (velero)")
        assert second == "careful"
        assert step.uid == "", "the object was read without one"


def test_a_new_object_has_the_name_of_its_target_or_one_that_the_server_makes() -> None:
    source = NamedSource(WHERE, "u1")
    meta = {"labels": {"team": "a"}, "annotations": {}}
    step = create_step(WHERE, {"schedule": "@daily"}, ("it is made",), "forecast", meta=meta, source=source)
    assert step.write.body == {
        "apiVersion": "velero.io/v1",
        "kind": "Schedule",
        "metadata": {"name": "nightly", "namespace": "velero", "labels": {"team": "a"}},
        "spec": {"schedule": "@daily"},
    }
    assert step.changes == ("it is made", "spec.schedule: @daily", "label team: a")
    assert step.source == source
    line, _, body = step.command.partition(" <<<")
    assert line == "kubectl --context prod create -f -"
    assert [json.loads(word) for word in shlex.split(body)] == [step.write.body]
    generated = create_step(WHERE, {}, (), "", "velero do it", meta={"generateName": "nightly-"})
    assert generated.write.body["metadata"] == {"generateName": "nightly-", "namespace": "velero"}
    assert generated.command == "velero do it"
    assert create_step(WHERE, {}, (), "").write.body["metadata"] == {"name": "nightly", "namespace": "velero"}


def test_a_deletion_is_of_the_object_that_was_looked_at_and_keeps_what_it_had() -> None:
    step = delete_step(WHERE, ITEM, {"schedule": "@daily"}, "forecast")
    assert step.write.body["preconditions"] == {"uid": "u1", "resourceVersion": "5"}
    assert step.write.before == {
        "metadata": {"labels": {"team": "a"}, "annotations": {"cost": "7"}},
        "spec": {"schedule": "@daily"},
    }
    assert step.changes == ("schedule velero/nightly is deleted",)
    assert step.command == "kubectl --context prod -n velero delete schedules.velero.io nightly"
    assert delete_step(WHERE, schedule(), {}, "").write.before == {"metadata": {}, "spec": {}}


@pytest.mark.parametrize(
    ("context", "namespace", "line"),
    [
        ("prod", "velero", "--context prod -n velero get x"),
        ("", "velero", "-n velero get x"),
        ("my prod", "", "--context 'my prod' get x"),
        ("", "", "get x"),
    ],
)
def test_a_line_names_context_and_namespace_where_there_are_any(context: str, namespace: str, line: str) -> None:
    assert kubectl(context, namespace, "get", "x") == f"kubectl {line}"
    assert velero(context, namespace, "get", "x") == f"velero {line.replace('--context', '--kubecontext')}"


def test_a_flag_in_words() -> None:
    assert [said(value) for value in (None, True, False)] == ["absent", "true", "false"]
