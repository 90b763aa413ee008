"""A plan for every action, by its id, and the objects of one cluster that all of them can be asked of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from foretop_core.actions.planners.acknowledging import AcknowledgeRequest, plan_acknowledge, plan_unacknowledge
from foretop_core.actions.planners.backups import (
    plan_back_up_now,
    plan_cancel_movements,
    plan_delete_backup,
    plan_run_again,
    replan_cancel,
)
from foretop_core.actions.planners.lifetimes import NewLifetime, plan_extend
from foretop_core.actions.planners.nonadmin import plan_decide, plan_delete_nab, plan_delete_nar
from foretop_core.actions.planners.pausing import PauseRequest, plan_pause
from foretop_core.actions.planners.restores import RestoreRequest, plan_delete_restore, plan_restore
from foretop_core.actions.planners.schedule_edits import ScheduleEdit, plan_edit_schedule
from foretop_core.actions.planners.schedules import NewSchedule, plan_cover, plan_create_schedules, plan_delete_schedule
from foretop_core.actions.planners.server_default import plan_server_default
from foretop_core.actions.plans import Plan, Planner
from foretop_core.models import Deployment, from_builtins
from foretop_core.models.kinds import ACKNOWLEDGEMENTS, KINDS
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.forecast import Choice
from foretop_core.rules.pauses import PAUSED_BY
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import Finding, Severity
from foretop_core.rules.triage.acknowledging import key_of_entry
from foretop_demo.local_api_server import LocalApiServer
from tests.rooms import samples
from tests.wire.action_fixtures import a_schedule, pausing, unpausing
from tests.wire.command_fixtures import OBJECTS
from tests.wire.test_commands import obj

Select = Callable[[ClusterSnapshot], Iterable[Any]]


class Sample(NamedTuple):
    """The objects in `WORLD` that an action is asked of, its planner, and another one where it is planned anew."""

    select: Select
    planner: Planner
    replan: Planner | None = None

    def plan(self, snapshot: ClusterSnapshot, now: datetime) -> Plan:
        return self.planner(snapshot, list(self.select(snapshot)), now)

    @property
    def again(self) -> Planner:
        return self.replan or self.planner


def _elsewhere(item: dict[str, Any], namespace: str) -> dict[str, Any]:
    return {**item, "metadata": {**item["metadata"], "namespace": namespace}}


WORLD = [
    *(item for item in OBJECTS if not item["kind"].startswith(("NonAdminBackup", "NonAdminRestore", "Namespace"))),
    *(item for item in OBJECTS if item["kind"] == "NonAdminBackupStorageLocationRequest"),
    obj("NonAdminBackup", "orders", {"backupSpec": {"storageLocation": "mine"}}),
    obj("NonAdminRestore", "orders-back", {"restoreSpec": {"backupName": "orders"}}),
    obj("NonAdminBackup", "kept", {"backupSpec": {"storageLocation": "mine"}}),
    a_schedule("old"),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "second"}},
    _elsewhere(a_schedule("open"), "second"),
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": ACKNOWLEDGEMENTS, "namespace": "velero"},
        "data": {key_of_entry("schedule-overdue:Schedule/velero/known"): "by maria"},
    },
    obj("Restore", "done", {"backupName": "ended"}, status={"phase": "Completed"}),
    obj("Restore", "left", {"backupName": "ended"}, status={"phase": "Completed"}),
    obj("Backup", "second", {"includedNamespaces": ["shop"]}, status=OBJECTS[7]["status"]),
    obj("Backup", "spare", {"ttl": "24h0m0s"}, status={**OBJECTS[7]["status"], "expiration": "2026-11-16T02:00:00Z"}),
]


_HELD = a_schedule("held", paused=True)
HELD = {**_HELD, "metadata": {**_HELD["metadata"], "annotations": {PAUSED_BY: "{}"}}}
"""Paused by foretop itself."""


def sample_snapshot() -> ClusterSnapshot:
    """All of it, as nobody has seen it on a server."""
    kinds = {kind.name: kind for kind in KINDS}
    return assemble([from_builtins(kinds[body["kind"]].model, body) for body in (*WORLD, HELD)], "prod")


def by_name(name: str, place: str = "schedules") -> Select:
    return lambda snapshot: [item for item in getattr(snapshot, place) if item.name == name]


def _of_nothing(_: ClusterSnapshot) -> list[Any]:
    """What is written is beside the objects that findings are about."""
    return []


def _overdue(snapshot: ClusterSnapshot, namespace: str, name: str) -> list[Finding]:
    subject = ObjectRef(snapshot.context, "Schedule", namespace, name)
    return [Finding("schedule-overdue", Severity.WARNING, subject, None, "overdue", "", "")]


def _acknowledging(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    request = AcknowledgeRequest("maria", "CHG-4711")
    return plan_acknowledge(snapshot, items, _overdue(snapshot, "second", "open"), request, now)


def _unacknowledging(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_unacknowledge(snapshot, items, _overdue(snapshot, "velero", "known"), now)


def _extending_a_pause(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    chosen = list(items)
    paused = frozenset(map(snapshot.ref, chosen))
    longer = PauseRequest("maria", "w1", until=timedelta(hours=2), again=paused, changes_end=True)
    return plan_pause(snapshot, chosen, longer, now)


def _creating(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    """A schedule beside another one."""
    return plan_create_schedules(snapshot, [NewSchedule(next(iter(items)).namespace, "new", "@daily")], now)


SAMPLES: Mapping[str, Sample] = {
    "pause": Sample(by_name("nightly"), pausing),
    "change-pause": Sample(by_name("held"), _extending_a_pause),
    "unpause": Sample(by_name("resting"), unpausing(Choice.SKIP)),
    "back-up-now": Sample(by_name("gold-1"), plan_back_up_now),
    "cover-namespace": Sample(by_name("second", "namespaces"), plan_cover),
    "run-again": Sample(by_name("ended", "backups"), plan_run_again),
    "restore": Sample(by_name("ended", "backups"), lambda s, items, now: plan_restore(s, items, RestoreRequest(), now)),
    "create-schedule": Sample(by_name("old"), _creating),
    "delete-schedule": Sample(by_name("old"), plan_delete_schedule),
    "acknowledge": Sample(_of_nothing, _acknowledging),
    "unacknowledge": Sample(_of_nothing, _unacknowledging),
    "delete-backup": Sample(by_name("ended", "backups"), plan_delete_backup),
    "edit-schedule": Sample(
        by_name("gold-2"),
        lambda s, items, now: plan_edit_schedule(s, items, ScheduleEdit({"schedule": "@daily"}), now),
    ),
    "extend-backup": Sample(
        by_name("spare", "backups"), lambda s, items, now: plan_extend(s, items, NewLifetime(ttl="720h"), now)
    ),
    "delete-nab": Sample(by_name("orders", "nabs"), plan_delete_nab),
    "delete-nar": Sample(by_name("orders-back", "nars"), plan_delete_nar),
    "delete-restore": Sample(by_name("done", "restores"), plan_delete_restore),
    "decide-storage": Sample(
        by_name("ask", "storage_requests"), lambda s, items, now: plan_decide(s, items, "reject", now)
    ),
    **{action_id: Sample(*sample) for writes in samples("WRITES") for action_id, sample in writes.items()},
}
"""Those that ask for objects of a snapshot, and are planned again by what they were planned by."""


def serving_default(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    return plan_server_default(snapshot, items, False, now)


def samples_in(box: LocalApiServer) -> Mapping[str, Sample]:
    """All of them, with those that need a box: a Deployment is in no snapshot."""
    server = from_builtins(Deployment, box.storage.get(box.storage.kind("Deployment"), "velero", "velero"))
    return {
        **SAMPLES,
        "server-default": Sample(lambda _: [server], serving_default),
        "cancel-movements": Sample(by_name("running", "backups"), plan_cancel_movements, replan_cancel),
    }
