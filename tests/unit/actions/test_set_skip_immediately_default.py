"""The server's default for new schedules: one flag of Velero's container, and who may set it."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from foretop_core.actions.planners.server_default import FLAG, OADP_WAY, plan_server_default
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.models import Deployment, from_builtins
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, backup, restore

OTHER_SERVER = {"name": "cache", "image": "cache:1", "args": ["server"]}


def velero(*args: str, command: tuple[str, ...] = (), beside: tuple[Any, ...] = (), **meta: Any) -> Deployment:
    container = {"name": "velero", "image": "velero/velero:v1.18.3", "command": command, "args": ["server", *args]}
    return from_builtins(
        Deployment,
        {
            "metadata": {"name": "velero", "namespace": "velero", "uid": "u1", "resourceVersion": "9", **meta},
            "spec": {"template": {"spec": {"containers": [*beside, container]}}},
        },
    )


def planned(item: Deployment, skip: bool = True, **held: Any) -> Plan:
    return plan_server_default(ClusterSnapshot("prod", **held), [item], skip, NOW)


def step_of(item: Deployment, skip: bool = True, **held: Any) -> PlanStep:
    (step,) = planned(item, skip, **held).steps
    return step


def args_of(step: PlanStep) -> list[str]:
    (container,) = step.write.body["spec"]["template"]["spec"]["containers"]
    assert container["name"] == "velero"
    return list(container["args"])


@pytest.mark.parametrize(
    ("item", "skip", "args", "change"),
    [
        (velero("-v"), True, ["server", "-v", f"{FLAG}=true"], f"{FLAG} absent (false) → true"),
        (velero(f"{FLAG}=false"), True, ["server", f"{FLAG}=true"], f"{FLAG} false → true"),
        (velero(f"{FLAG}=true", "-v"), False, ["server", "-v", f"{FLAG}=false"], f"{FLAG} true → false"),
        (velero(FLAG), False, ["server", f"{FLAG}=false"], f"{FLAG} true → false"),
        (velero(FLAG, "true", "-v"), False, ["server", "-v", f"{FLAG}=false"], f"{FLAG} true → false"),
        (velero(FLAG, "-v"), False, ["server", "-v", f"{FLAG}=false"], f"{FLAG} true → false"),
        (velero(command=("/velero", f"{FLAG}=true")), False, ["server", f"{FLAG}=false"], f"{FLAG} true → false"),
        (velero(f"{FLAG}-not=true"), True, ["server", f"{FLAG}-not=true", f"{FLAG}=true"], f"{FLAG} absent"),
    ],
)
def test_the_flag_is_set_once_and_at_the_end(item: Deployment, skip: bool, args: list[str], change: str) -> None:
    step = step_of(item, skip)
    assert args_of(step) == args
    assert step.changes[0].startswith(change)


def test_the_container_of_velero_is_changed_and_not_the_server_of_something_else() -> None:
    step = step_of(velero("-v", beside=(OTHER_SERVER,)))
    assert args_of(step) == ["server", "-v", f"{FLAG}=true"]


def test_the_patch_holds_for_the_deployment_that_was_read() -> None:
    step = step_of(velero("-v"))
    assert step.write.body["metadata"] == {"uid": "u1", "resourceVersion": "9"}
    (before,) = step.write.before["spec"]["template"]["spec"]["containers"]
    assert before == {"name": "velero", "args": ["server", "-v"]}
    *words, sent = shlex.split(step.command)
    assert words == ["kubectl", "--context", "prod", "-n", "velero", "patch", "deployment", "velero", "-p"]
    assert json.loads(sent) == {"spec": step.write.body["spec"]}


@pytest.mark.parametrize(("skip", "told"), [(True, "skip due runs"), (False, "do not skip due runs")])
def test_the_forecast_tells_what_schedules_do_then(skip: bool, told: str) -> None:
    step = step_of(velero() if skip else velero(FLAG), skip)
    assert f"schedules without skipImmediately {told} when they are created or unpaused" in step.forecast


def test_a_restart_kills_what_runs_in_that_namespace_only() -> None:
    running: dict[str, Any] = {
        "backups": (backup("one", "InProgress"), backup("two", "Queued"), backup("three")),
        "restores": (
            restore("back", "InProgress"),
            restore("over", "Completed"),
            restore("else", "InProgress", meta={"namespace": "other"}),
        ),
    }
    (warning,) = step_of(velero(), **running).warnings
    assert warning == (
        "Velero restarts, which kills one and back (they end as Failed); waiting ones continue afterwards."
    )
    many = tuple(backup(f"b{number}", "InProgress") for number in range(12))
    (warning,) = step_of(velero(), backups=many).warnings
    assert "b8, b9 and 2 more (they end as Failed)" in warning
    (warning,) = step_of(velero()).warnings
    assert warning == "Velero restarts. No running backup is affected; its reconcile offset will change."


def test_who_manages_the_deployment_is_named() -> None:
    _, owner = step_of(velero(annotations={"meta.helm.sh/release-name": "velero"})).warnings
    assert owner.startswith("It is managed by Helm (velero)")


OWNED = f"the OADP operator owns it and would revert the flag: {OADP_WAY}"


@pytest.mark.parametrize(
    ("item", "skip", "why"),
    [
        (velero(labels={"openshift.io/oadp": "True"}), True, OWNED),
        (velero(labels={"oadp.openshift.io/oadp": "True"}), True, OWNED),
        (velero(labels={"app.kubernetes.io/managed-by": "oadp-operator"}), True, OWNED),
        (velero(ownerReferences=[{"kind": "Velero", "name": "v"}]), True, OWNED),
        (
            velero(ownerReferences=[{"kind": "Chart", "name": "a"}, {"kind": "Op", "name": "b", "controller": True}]),
            True,
            "Op b owns it and would revert the flag: set it there",
        ),
        (velero(), False, "its default is already false"),
        (velero(FLAG), True, "its default is already true"),
        (velero(command=("/velero", f"{FLAG}=true")), True, "its default is already true"),
        (from_builtins(Deployment, {"metadata": {"name": "velero"}}), True, "it does not run a Velero server"),
    ],
)
def test_why_the_flag_is_not_set(item: Deployment, skip: bool, why: str) -> None:
    plan = planned(item, skip)
    assert (plan.steps, [one.why for one in plan.refused]) == ((), [why])


@pytest.mark.parametrize(
    "meta",
    [
        {"labels": {"app.kubernetes.io/managed-by": "Helm"}},
        {"ownerReferences": [{"kind": "Chart", "name": "a"}]},
    ],
)
def test_an_owner_that_does_not_control_it_does_not_refuse_it(meta: dict[str, Any]) -> None:
    assert planned(velero(**meta)).refused == ()
