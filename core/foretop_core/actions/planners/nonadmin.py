"""Actions on tenants' objects: delete a NAB or a NAR, approve or reject a storage request."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from foretop_core.actions.action_record import EARLY, LATE, ActionRecord, ChoiceField, CommandLine, DialogSpec
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import delete_step, patch_step
from foretop_core.actions.velero_pickup import follow_nab_deletion, follow_nar_deletion
from foretop_core.errors import BadInput
from foretop_core.models import NonAdminBackup, NonAdminBackupStorageLocationRequest, NonAdminRestore
from foretop_core.models.kinds import NAB, NABSL_REQUEST, NAR, RequiredPermission
from foretop_core.models.wire import as_json
from foretop_core.rules import humanize
from foretop_core.rules.facts.storage_facts import credential_text, where_text
from foretop_core.rules.nonadmin_lifecycle import Path, path_of
from foretop_core.rules.snapshot import ClusterSnapshot

Decision = Literal["approve", "reject"]
FORCE_FIELD = ("spec", "forceDeleteBackup")
NO_FORCE = "NonAdminBackup in this cluster has no field forceDeleteBackup"


def plan_delete_nab(
    snapshot: ClusterSnapshot,
    nabs: Iterable[NonAdminBackup],
    now: datetime,
    *,
    force: bool = False,
    serves_force: bool = False,
) -> Plan:
    """`serves_force`: the cluster's NAB has the field `spec.forceDeleteBackup`, without which it would be dropped."""
    if force and not serves_force:
        raise BadInput("Cannot delete by force", NO_FORCE, "delete without --force, which removes the data too")
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for nab in nabs:
        path = path_of(nab, serves_force)
        taken = path is Path.FORCE_DELETE or (path is Path.DELETE and not force)
        if taken:
            by_force = " by force" if path is Path.FORCE_DELETE else ""
            refused.append(Refusal(snapshot.ref(nab), f"it is already being deleted{by_force}"))
        else:
            steps.append(_force(snapshot, nab) if force else _delete(snapshot, nab))
    return Plan(DELETE_NAB, now, tuple(steps), tuple(refused))


def plan_delete_nar(snapshot: ClusterSnapshot, nars: Iterable[NonAdminRestore], now: datetime) -> Plan:
    """A plain delete: the controller removes the Velero Restore with it; what was restored stays."""
    steps = []
    for nar in nars:
        velero = nar.velero.name
        also = f"its Velero restore {velero} is deleted with it; " if velero else ""
        forecast = f"{also}restored objects stay"
        steps.append(delete_step(snapshot.ref(nar), nar, as_json(nar.spec), forecast))
    return Plan(DELETE_NAR, now, tuple(steps))


def plan_decide(
    snapshot: ClusterSnapshot,
    requests: Iterable[NonAdminBackupStorageLocationRequest],
    decision: Decision,
    now: datetime,
) -> Plan:
    """An administrator's word on a tenant's storage location."""
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for request in requests:
        where = snapshot.ref(request)
        if request.spec.approval_decision == decision:
            refused.append(Refusal(where, f"already decided ({decision})"))
            continue
        source = request.status.non_admin_backup_storage_location
        asked = source.requested_spec
        name = f"{source.namespace}/{source.name} ({where_text(asked)}, with {credential_text(asked)})"
        forecast = (
            f"the storage location {name} is created for Velero; NABs that were refused without it stay refused until "
            "they are changed or created again"
            if decision == "approve"
            else f"the storage location {name} is not created (or is removed); NABs that use it are refused"
        )
        before = {"spec": {"approvalDecision": request.spec.approval_decision or None}}
        steps.append(patch_step(where, request, {"spec": {"approvalDecision": decision}}, before, forecast))
    return Plan(DECIDE_STORAGE, now, tuple(steps), tuple(refused))


def _delete(snapshot: ClusterSnapshot, nab: NonAdminBackup) -> PlanStep:
    nars = [
        nar.name
        for nar in snapshot.nars
        if nar.namespace == nab.namespace and nar.spec.restore_spec.backup_name == nab.name
    ]
    also = f", the NARs made from it ({humanize.join(nars)})" if nars else ""
    velero = nab.velero.name
    first = f"its data in storage, the Velero backup {velero}{also}" if velero else f"it never created a backup{also}"
    forecast = (
        f"{first} and then the NAB itself are permanently deleted"
        if velero
        else f"{first}: only the NAB itself is deleted"
    )
    return _patch(snapshot, nab, "deleteBackup", forecast)


def _force(snapshot: ClusterSnapshot, nab: NonAdminBackup) -> PlanStep:
    velero = nab.velero.name
    forecast = (
        f"the Velero backup {velero} and the NAB are deleted at once; "
        "their data stays in storage, from which a sync may recreate them"
        if velero
        else "it never created a backup: only the NAB itself is deleted, at once"
    )
    return _patch(snapshot, nab, "forceDeleteBackup", forecast)


def _patch(snapshot: ClusterSnapshot, nab: NonAdminBackup, name: str, forecast: str) -> PlanStep:
    flags = {"deleteBackup": nab.spec.delete_backup, "forceDeleteBackup": nab.spec.force_delete_backup}
    before = {"spec": {name: flags[name] or None}}
    return patch_step(snapshot.ref(nab), nab, {"spec": {name: True}}, before, forecast)


DELETE_NAB = ActionRecord(
    190,
    "delete-nab",
    "Delete the NAB",
    "ctrl+d",
    (NAB,),
    (RequiredPermission("patch", NAB),),
    plan_delete_nab,
    dangerous=True,
    many=True,
    short="delete",
    footer=LATE,
    dialog=DialogSpec(
        "Delete NAB {}",
        "Delete",
        ("Delete NAB {}", "Delete {}"),
        "NAB",
        fields=(
            ChoiceField(
                "force",
                "How",
                (
                    ("with its data (spec.deleteBackup)", False),
                    ("by force, data stays (spec.forceDeleteBackup)", True),
                ),
                served=(NAB, FORCE_FIELD),
                served_as="serves_force",
                unserved=f"By force is not offered: {NO_FORCE}.",
            ),
        ),
    ),
    follow=follow_nab_deletion,
    commands=(CommandLine("nab delete", "foretop nab delete team-pay/ledger"),),
    purpose="delete NABs",
)
DELETE_NAR = ActionRecord(
    200,
    "delete-nar",
    "Delete the NAR",
    "ctrl+d",
    (NAR,),
    (RequiredPermission("delete", NAR),),
    plan_delete_nar,
    dangerous=True,
    many=True,
    short="delete",
    footer=LATE,
    dialog=DialogSpec("Delete NAR {}", "Delete", ("Delete NAR {}", "Delete {}"), "NAR"),
    follow=follow_nar_deletion,
    commands=(
        CommandLine(
            "nar delete",
            "foretop nar delete team-pay/ledger-back",
            "Delete non-admin restores; what they have restored stays.",
        ),
    ),
    purpose="delete NARs",
)
DECIDE_STORAGE = ActionRecord(
    210,
    "decide-storage",
    "Approve or reject the storage request",
    "a",
    (NABSL_REQUEST,),
    (RequiredPermission("patch", NABSL_REQUEST),),
    plan_decide,
    many=True,
    short="approve",
    footer=EARLY,
    words=("approve", "reject"),
    hint="approve or reject {}",
    dialog=DialogSpec(
        "Storage request {}",
        "Approve",
        fields=(ChoiceField("decision", "Decision", (("approve", "approve"), ("reject", "reject")), on_button=True),),
    ),
    commands=(
        CommandLine("storage-request approve", "foretop storage-request approve team-pay-bucket"),
        CommandLine("storage-request reject", "foretop storage-request reject team-pay-bucket"),
    ),
    purpose="approve and reject storage requests",
)
