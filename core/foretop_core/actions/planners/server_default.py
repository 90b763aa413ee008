"""The server's default for new schedules: a flag of Velero's Deployment."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from foretop_core.actions.action_record import ActionRecord, AskedOf, ChoiceField, CommandLine, DialogSpec
from foretop_core.actions.field_changes import change_lines
from foretop_core.actions.plans import Plan, PlanStep, Refusal, Write
from foretop_core.actions.step_builders import identity, kubectl, owner_warning, said
from foretop_core.models import Deployment
from foretop_core.models.builtin_kinds import Container
from foretop_core.models.kinds import DEPLOYMENT, VELERO_DEPLOYMENT, RequiredPermission
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.velero_deployment import server, server_container

FLAG = "--schedule-skip-immediately"
OADP_WAY = (
    "set it by a ConfigMap that the annotation oadp.openshift.io/unsupported-velero-server-args of the "
    "DataProtectionApplication names"
)
_OADP_KINDS = frozenset({"DataProtectionApplication", "Velero"})
_OADP_MANAGER = "oadp-operator"
_OADP_LABELS = ("openshift.io/oadp", "oadp.openshift.io/oadp")


def plan_server_default(
    snapshot: ClusterSnapshot, deployments: Iterable[Deployment], skip: bool, now: datetime
) -> Plan:
    """Sets the flag; an operator's Deployment is refused, because the flag would be put back."""
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for deployment in deployments:
        where = snapshot.ref(deployment)
        container = server_container(deployment)
        if container is None:
            refused.append(Refusal(where, "it does not run a Velero server"))
        elif why := _why_not(deployment, skip):
            refused.append(Refusal(where, why))
        else:
            steps.append(_step(snapshot, where, deployment, container, skip))
    return Plan(SERVER_DEFAULT, now, tuple(steps), tuple(refused))


def _why_not(deployment: Deployment, skip: bool) -> str:
    if _is_oadps(deployment):
        return f"the OADP operator owns it and would revert the flag: {OADP_WAY}"
    owner = next((reference for reference in deployment.metadata.owner_references if reference.controller), None)
    if owner is not None:
        return f"{owner.kind} {owner.name} owns it and would revert the flag: set it there"
    velero = server(deployment)
    if velero is not None and velero.skip_immediately is skip:
        return f"its default is already {said(skip)}"
    return ""


def _step(
    snapshot: ClusterSnapshot, where: ObjectRef, deployment: Deployment, container: Container, skip: bool
) -> PlanStep:
    args = _with_flag(container.args, skip)
    patch: dict[str, Any] = {
        "metadata": identity(deployment),
        "spec": {"template": {"spec": {"containers": [{"name": container.name, "args": args}]}}},
    }
    before = {"spec": {"template": {"spec": {"containers": [{"name": container.name, "args": list(container.args)}]}}}}
    old = said(not skip) if _has_flag(container) else "absent (false)"
    plain = {"spec": patch["spec"]}
    line = kubectl(where.context, where.namespace, "patch", "deployment", where.name, "-p", json.dumps(plain))
    warnings = [_restart(snapshot, deployment)]
    if owned := owner_warning(deployment):
        warnings.append(owned)
    forecast = (
        f"Velero restarts; schedules without skipImmediately {'skip' if skip else 'do not skip'} due runs when they "
        "are created or unpaused (releases up to mid-2026 ignore the default after its first use)"
    )
    write = Write("PATCH", patch, before, "strategic")
    changes = (f"{FLAG} {old} → {said(skip)}", *change_lines(write.method, write.body, write.before))
    return PlanStep(where, write, changes, forecast, line, tuple(warnings))


def _restart(snapshot: ClusterSnapshot, deployment: Deployment) -> str:
    backups = snapshot.backups_by_namespace.get(deployment.namespace, ())
    restores = [restore for restore in snapshot.restores if restore.namespace == deployment.namespace]
    running = [backup.name for backup in backups if backup.phase == "InProgress"]
    running += [restore.name for restore in restores if restore.phase == "InProgress"]
    if not running:
        return "Velero restarts. No running backup is affected; its reconcile offset will change."
    return (
        f"Velero restarts, which kills {humanize.join(running, most=10)} (they end as Failed); waiting ones continue "
        "afterwards."
    )


def _has_flag(container: Container) -> bool:
    return any(word.partition("=")[0] == FLAG for word in (*container.command, *container.args))


def _with_flag(args: tuple[str, ...], skip: bool) -> list[str]:
    """The arguments with the flag once, at the end; `--flag value` is taken out with its value."""
    kept: list[str] = []
    words_left = list(args)
    while words_left:
        word = words_left.pop(0)
        if word == FLAG and words_left and words_left[0] in ("true", "false"):
            words_left.pop(0)
        elif word.partition("=")[0] != FLAG:
            kept.append(word)
    return [*kept, f"{FLAG}={said(skip)}"]


def _is_oadps(deployment: Deployment) -> bool:
    owners = {owner.kind for owner in deployment.metadata.owner_references}
    manager = deployment.label("app.kubernetes.io/managed-by")
    return bool(owners & _OADP_KINDS) or manager == _OADP_MANAGER or any(deployment.label(key) for key in _OADP_LABELS)


SERVER_DEFAULT = ActionRecord(
    220,
    "server-default",
    "Set the server's skip default",
    "",
    (DEPLOYMENT,),
    (RequiredPermission("patch", DEPLOYMENT, names=(VELERO_DEPLOYMENT,)),),
    plan_server_default,
    dangerous=True,
    asked_of=AskedOf.SERVER,
    page="schedules",
    short="server default",
    dialog=DialogSpec(
        "Skip default of {}",
        "Restart Velero",
        fields=(ChoiceField("skip", "Skip", (("yes", True), ("no", False))),),
    ),
    commands=(CommandLine("server set", "foretop server set --schedule-skip-immediately true --dry-run"),),
    purpose="set the server's skip default",
)
