"""A drill: the newest good copy of a namespace restored beside it, where nothing of it can act, and removed again."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.actions import validation
from foretop_core.actions.action_record import EARLY, LATE, ActionRecord, CommandLine, DialogSpec
from foretop_core.actions.journal import JournalEntry
from foretop_core.actions.planners.downloads import URL_OF_A_FILE
from foretop_core.actions.planners.restores import copy_limits, unready_warnings
from foretop_core.actions.plans import NamedSource, Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import (
    create_plain_step,
    create_step,
    delete_step,
    patch_step,
    unavailable_storage,
)
from foretop_core.cron import Dialect
from foretop_core.errors import ActionRefused, BadInput
from foretop_core.models import Backup, Resource, RestoreSpec
from foretop_core.models.kinds import (
    BACKUP,
    CONFIG_MAP,
    DOWNLOAD_REQUEST,
    NAMESPACE,
    RESOURCE_QUOTA,
    RESTORE,
    RequiredPermission,
)
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.models.wire import Metadata, ObjectRef
from foretop_core.rooms.drills.leftovers import DRILLED_KINDS, LEFT_OVER, LONGEST_DRILL, SECRETS, DrillRecord
from foretop_core.rules import humanize, phases
from foretop_core.rules.cron_dialects import Release
from foretop_core.rules.protection.copies import DRILLED, DrillOutcome, drills_written
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_readiness import unready_sources

USUAL_LIMIT, LONGEST_LIMIT = 30, int(LONGEST_DRILL.total_seconds()) // 60
"""Minutes that the restore of a drill may take."""
_NOT_FOR_TENANTS = (
    "you are not allowed to list namespaces",
    "a drill is for administrators; a tenant restores in place with a NonAdminRestore",
)
"""Why somebody cannot drill, and what one can do instead."""
RESTS_SINCE = Release(1, 12, 2)
"""The first release whose resource modifiers take merge patches; earlier ones would start what they restore."""
_LONGEST = 63
_NOWHERE = {"foretop.io/drill": "never"}
"""A node selector that no node has."""
_REST: Mapping[str, dict[str, Any]] = {
    "deployments.apps": {"spec": {"replicas": 0}},
    "statefulsets.apps": {"spec": {"replicas": 0}},
    "daemonsets.apps": {"spec": {"template": {"spec": {"nodeSelector": _NOWHERE}}}},
    "jobs.batch": {"spec": {"suspend": True}},
    "cronjobs.batch": {"spec": {"suspend": True}},
    "services": {
        "metadata": {"annotations": {"service.beta.kubernetes.io/load-balancer-source-ranges": None}},
        "spec": {
            "type": "ClusterIP",
            "ports": [{"port": 1}],
            "externalName": None,
            "externalTrafficPolicy": None,
            "healthCheckNodePort": None,
            "loadBalancerClass": None,
            "loadBalancerIP": None,
            "loadBalancerSourceRanges": None,
            "allocateLoadBalancerNodePorts": None,
        },
    },
}
"""What keeps each kind from acting.

A Service of the type ClusterIP must have a port, which an external name has not, and may have none of the fields of a
load balancer; Velero keeps a node port that somebody chose, and a merge patch takes one away only with all ports.
"""


class DrillRequest(msgspec.Struct, frozen=True):
    """The drill that is asked for: what is tried, and where."""

    namespace: str
    into: str
    with_secrets: bool = False
    id: str = msgspec.field(default_factory=lambda: secrets.token_hex(8))
    """In the journal and on all that it makes: a name is anybody's, and nobody else can have chosen this."""

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in DRILLED_KINDS if self.with_secrets or kind != SECRETS)


def drill_name(namespace: str, now: datetime) -> str:
    """`shop-drill-20261115024107`."""
    end = f"-drill-{now:%Y%m%d%H%M%S}"
    return f"{namespace[: _LONGEST - len(end)]}{end}"


def drill_source(snapshot: ClusterSnapshot, namespace: str) -> Backup:
    """The newest good copy of a namespace; raises ActionRefused or BadInput where it cannot be drilled."""
    if snapshot.namespaces is None:
        raise ActionRefused(f"Cannot drill {namespace}", *_NOT_FOR_TENANTS)
    row = snapshot.protection.row(namespace)
    newest = row.copies.usable if row is not None else None
    if newest is None:
        raise BadInput(f"{namespace} has no copy to drill", "", "foretop get protection lists the namespaces")
    backup = find_backup(snapshot, newest)
    if backup is None:
        raise ActionRefused(f"Cannot drill {namespace}", "you are not allowed to read its backups")
    return backup


def find_backup(snapshot: ClusterSnapshot, wanted: Backup) -> Backup | None:
    """The backup as the snapshot has it; None where it is gone."""
    key = (wanted.namespace, wanted.name)
    return next((backup for backup in snapshot.backups if (backup.namespace, backup.name) == key), None)


def plan_drill(snapshot: ClusterSnapshot, backup: Backup, request: DrillRequest, now: datetime) -> Plan:
    """Three objects: the namespace, the modifiers that keep everything in it at rest, and the restore."""
    validation.namespaces((request.into,))
    if any(item.name == request.into for item in snapshot.namespaces or ()):
        raise BadInput(f"Namespace {request.into} exists already", "", "give another name to restore into")
    if why := _why_not(snapshot, backup):
        return Plan(DRILL, now, (), (Refusal(snapshot.ref(backup), why),))
    limits = copy_limits(backup, request.namespace)
    unready = unready_sources(snapshot, backup, RestoreSpec(included_namespaces=(request.namespace,)))
    warnings = (*((f"The copy has {humanize.join(limits)}.",) if limits else ()), *unready_warnings(unready))
    steps = (
        _namespace_step(snapshot, request),
        _modifiers_step(snapshot, backup, request),
        _restore_step(snapshot, backup, request, now),
    )
    return Plan(DRILL, now, tuple(replace(step, drill=request.id) for step in steps), warnings=warnings)


def plan_note(
    snapshot: ClusterSnapshot, backup: Backup, request: DrillRequest, outcome: DrillOutcome, now: datetime
) -> Plan:
    """The outcome as an annotation of the backup, for all to see; in the journal it is the end of the drill."""
    written = drills_written(backup, request.namespace, outcome)
    patch = {"metadata": {"annotations": {DRILLED: written}}}
    before = {"metadata": {"annotations": {DRILLED: backup.annotation(DRILLED) or None}}}
    step = patch_step(snapshot.ref(backup), backup, patch, before, "protection shows when it was drilled")
    return Plan(DRILL, now, (replace(step, drill=request.id),))


_DELETED_WITH = {
    NAMESPACE.name: "with everything in it",
    RESTORE.name: "with its files in the storage location, which Velero deletes first",
}


def plan_cleanup(context: str, made: Iterable[Resource], now: datetime) -> Plan:
    """Deletes exactly these objects, each as it was made: a namesake made by somebody else is another object."""
    steps = []
    for item in made:
        kind = item.kind if isinstance(item, MadeObject) else _kind_of(item)
        where = ObjectRef(context, kind, item.namespace, item.name)
        step = delete_step(where, item, {}, _DELETED_WITH.get(kind, "it is gone at once"))
        steps.append(replace(step, drill=item.label(DRILL_LABEL)))
    return Plan(DRILL_CLEANUP, now, tuple(steps))


def plan_later_cleanup(plan: Plan) -> Plan:
    """Plans what would be deleted after a drill: who may not do that is told before anything is made."""
    made = [
        MadeObject(metadata=Metadata(name=step.target.name, namespace=step.target.namespace), kind=step.target.kind)
        for step in plan.steps
    ]
    return plan_cleanup(next((step.target.context for step in plan.steps), ""), made, plan.at)


class MadeObject(Resource, frozen=True):
    """An object that a drill made, as the server answered."""

    kind: str = ""


def _kind_of(item: Resource) -> str:
    """A ConfigMap that a drill made is read without its data."""
    return CONFIG_MAP.name if type(item) is Resource else type(item).__name__


def drill_records(journal: Iterable[JournalEntry]) -> tuple[DrillRecord, ...]:
    """All that a journal has of drills, oldest first."""
    records = []
    for entry in journal:
        if entry.drill and (moment := entry.moment) is not None:
            target = ObjectRef(entry.context, entry.kind, entry.namespace, entry.name)
            records.append(DrillRecord(entry.drill, entry.method, target, entry.uid, entry.user, moment))
    return tuple(records)


def _why_not(snapshot: ClusterSnapshot, backup: Backup) -> str:
    if backup.phase not in phases.USABLE:
        return f"nothing can be restored from it: it is {backup.phase or 'New'}"
    return _too_old(snapshot, backup.namespace) or unavailable_storage(snapshot, backup)


def _too_old(snapshot: ClusterSnapshot, namespace: str) -> str:
    """Why this Velero would start what it restores; "" where it is known not to."""
    verdict = snapshot.verdict(namespace)
    release = verdict.release
    needed = f"a drill needs {RESTS_SINCE} or later, which restores it at rest"
    if release is None:
        is_recent = Dialect.ROBFIG1 not in verdict.candidates
        return "" if is_recent else f"the release of Velero is not known, and {needed}: name it with --velero-version"
    if release.patch is None and (release.major, release.minor) == (RESTS_SINCE.major, RESTS_SINCE.minor):
        return f"Velero {release} may start what it restores; {needed}: give the patch with --velero-version"
    if release < RESTS_SINCE:
        return f"Velero {release} would start what it restores; {needed}: upgrade Velero first"
    return ""


def _namespace_step(snapshot: ClusterSnapshot, request: DrillRequest) -> PlanStep:
    where = ObjectRef(snapshot.context, NAMESPACE.name, "", request.into)
    meta = {"name": request.into, "labels": _labels(request)}
    summary = (f"{where} is created, with the label {DRILL_LABEL}={request.id}",)
    return create_plain_step(where, {"metadata": meta}, summary, "what is restored goes there and nowhere else")


def _modifiers_step(snapshot: ClusterSnapshot, backup: Backup, request: DrillRequest) -> PlanStep:
    where = ObjectRef(snapshot.context, CONFIG_MAP.name, backup.namespace, request.into)
    rules = {
        "version": "v1",
        "resourceModifierRules": [
            {
                "conditions": {"groupResource": resource, "resourceNameRegex": ".*"},
                "mergePatches": [{"patchData": json.dumps(patch)}],
            }
            for resource, patch in _REST.items()
        ],
    }
    meta = {"name": request.into, "namespace": backup.namespace, "labels": _labels(request)}
    body = {"metadata": meta, "data": {"modifiers.json": json.dumps(rules)}}
    summary = (
        f"{where} is created",
        "workloads come with zero replicas, jobs and CronJobs suspended, DaemonSets on no node, "
        "Services as ClusterIP with one port",
    )
    return create_plain_step(where, body, summary, "Velero changes the objects by it before it makes them")


def _restore_step(snapshot: ClusterSnapshot, backup: Backup, request: DrillRequest, now: datetime) -> PlanStep:
    where = ObjectRef(snapshot.context, RESTORE.name, backup.namespace, request.into)
    spec = {
        "backupName": backup.name,
        "includedNamespaces": [request.namespace],
        "includedResources": [_resource(kind) for kind in request.kinds],
        "includeClusterResources": False,
        "namespaceMapping": {request.namespace: request.into},
        "resourceModifier": {"kind": CONFIG_MAP.name, "name": request.into},
    }
    age = f", {humanize.duration(now - backup.started)} old" if backup.started is not None else ""
    summary = (
        f"{where} is created from {backup.name}{age}",
        f"{request.namespace} into {request.into}, only {humanize.join(request.kinds, len(request.kinds))}",
    )
    return create_step(
        where,
        spec,
        summary,
        "no pods, ingresses, custom or cluster-scoped resources are restored, so nothing of it acts",
        meta={"labels": _labels(request)},
        source=NamedSource(snapshot.ref(backup), backup.metadata.uid),
    )


def _labels(request: DrillRequest) -> dict[str, str]:
    return {DRILL_LABEL: request.id}


def _resource(kind: str) -> str:
    version, plural = DRILLED_KINDS[kind]
    group = version.rpartition("/")[0]
    return f"{plural}.{group}" if group else plural


def _is_of_drill(item: Resource, _moves: Callable[[], bool]) -> str:
    return "" if item.label(DRILL_LABEL) else "no drill made it"


DRILL = ActionRecord(
    250,
    "drill",
    "Drill",
    "D",
    (NAMESPACE,),
    (
        RequiredPermission("create", NAMESPACE),
        RequiredPermission("create", CONFIG_MAP),
        RequiredPermission("create", RESTORE),
        RequiredPermission("create", DOWNLOAD_REQUEST),
        RequiredPermission("patch", BACKUP),
    ),
    plan_drill,
    reads=(RequiredPermission("list", CONFIG_MAP), RequiredPermission("list", RESOURCE_QUOTA), *URL_OF_A_FILE),
    dangerous=True,
    tries_copies="; ".join(_NOT_FOR_TENANTS),
    short="drill",
    footer=EARLY,
    words=("try", "test", "rehearse"),
    hint="drill {}",
    dialog=DialogSpec("Drill {}", "Drill", ("Drill {}", "Drill {}"), "namespace"),
    for_administrators=True,
    commands=(CommandLine("drill", "foretop drill shop --dry-run"),),
    purpose="drill a restore",
)
DRILL_CLEANUP = ActionRecord(
    260,
    "drill-cleanup",
    "Delete what the drill made",
    "ctrl+d",
    (NAMESPACE,),
    (
        RequiredPermission("delete", NAMESPACE),
        RequiredPermission("delete", CONFIG_MAP),
        RequiredPermission("delete", RESTORE),
    ),
    plan_cleanup,
    reads=(RequiredPermission("list", CONFIG_MAP),),
    dangerous=True,
    applies=_is_of_drill,
    only_with=(LEFT_OVER, "it is not known to be left over from a drill of yours"),
    short="delete",
    footer=LATE,
    hint="delete what its drill left",
    words=("left over", "clean up"),
    dialog=DialogSpec("Delete what the drill left: {}", "Delete", noun="object", another_choice_helps=True),
    for_administrators=True,
    commands=(CommandLine("drill"),),
    purpose="clean up after a drill",
)
