"""Dialogs that only confirm: they show what will happen; dangerous actions need the name typed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from operator import is_
from typing import Any, ClassVar

from msgspec.structs import replace
from textual import work
from textual.widget import Widget

from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.dialog_parts import DialogField, OptionCycler
from foretop_core.actions.backups import (
    last_copies_warning,
    plan_back_up_now,
    plan_cancel_movements,
    plan_delete_backup,
    plan_run_again,
    replan_cancel,
)
from foretop_core.actions.nonadmin import FORCE_FIELD, Decision, plan_decide, plan_delete_nab, plan_delete_nar
from foretop_core.actions.plans import Plan, Planner
from foretop_core.actions.restores import plan_delete_restore
from foretop_core.actions.schedules import plan_delete_schedule
from foretop_core.actions.schema_probe import serves_field
from foretop_core.actions.set_skip_immediately_default import plan_server_default
from foretop_core.dashboard.action_service import TrackedPlan
from foretop_core.errors import ForetopError
from foretop_core.models import Backup, DataMovement
from foretop_core.models.kinds import NAB
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.snapshot import ClusterSnapshot


class BackUpNowDialog(ActionDialog):
    verb: ClassVar[str] = "Back up"
    headline: ClassVar[str] = "Back up {} now"
    titles: ClassVar[tuple[str, str]] = ("Back up {} now", "Back up {} now")

    def planner(self) -> Planner:
        return partial(plan_back_up_now, named_at=self.opened)


class RunAgainDialog(ActionDialog):
    verb: ClassVar[str] = "Run again"
    headline: ClassVar[str] = "Run {} again"
    titles: ClassVar[tuple[str, str]] = ("Run {} again", "Run {} again")
    noun: ClassVar[str] = "backup"

    def planner(self) -> Planner:
        return partial(plan_run_again, named_at=self.opened)


class DeleteScheduleDialog(ActionDialog):
    verb: ClassVar[str] = "Delete"
    headline: ClassVar[str] = "Delete schedule {}"
    titles: ClassVar[tuple[str, str]] = ("Delete schedule {}", "Delete {}")

    def planner(self) -> Planner:
        return plan_delete_schedule


class DeleteBackupDialog(ActionDialog):
    verb: ClassVar[str] = "Delete permanently"
    headline: ClassVar[str] = "Delete backup {}"
    titles: ClassVar[tuple[str, str]] = ("Delete backup {} permanently", "Delete {} permanently")
    noun: ClassVar[str] = "backup"

    _judged: tuple[tuple[ClusterSnapshot, ...], tuple[ObjectRef, ...], tuple[str, ...]] | None = None

    def planner(self) -> Planner:
        return plan_delete_backup

    def make_plan(self) -> TrackedPlan:
        """Each backup is planned alone; what only all of them together lose is said once for all."""
        tracked = super().make_plan()
        warnings = (*self._lost_together(tracked.origins), *tracked.plan.warnings)
        return replace(tracked, plan=replace(tracked.plan, warnings=warnings))

    def _lost_together(self, deleted: tuple[ObjectRef, ...]) -> tuple[str, ...]:
        """Worked out anew only where something has changed: it looks at all backups."""
        snapshots = tuple(self.service.snapshot(context) for context in self.contexts)
        held = self._judged
        if held is not None and held[1] == deleted and all(map(is_, held[0], snapshots)):
            return held[2]
        found = []
        for snapshot in snapshots:
            items = (self.service.item(key) for key in deleted if key.context == snapshot.context)
            found.append(last_copies_warning(snapshot, [item for item in items if isinstance(item, Backup)]))
        self._judged = (snapshots, deleted, tuple(filter(None, found)))
        return self._judged[2]


class DeleteRestoreDialog(ActionDialog):
    verb: ClassVar[str] = "Delete"
    headline: ClassVar[str] = "Delete restore {}"
    titles: ClassVar[tuple[str, str]] = ("Delete restore {}", "Delete {}")
    noun: ClassVar[str] = "restore"

    def planner(self) -> Planner:
        return plan_delete_restore


class DeleteNarDialog(ActionDialog):
    verb: ClassVar[str] = "Delete"
    headline: ClassVar[str] = "Delete NAR {}"
    titles: ClassVar[tuple[str, str]] = ("Delete NAR {}", "Delete {}")
    noun: ClassVar[str] = "NAR"

    def planner(self) -> Planner:
        return plan_delete_nar


class CancelMovementsDialog(ActionDialog):
    verb: ClassVar[str] = "Cancel transfers"
    dismissal: ClassVar[str] = "Back"
    headline: ClassVar[str] = "Cancel the data movements of {}"
    titles: ClassVar[tuple[str, str]] = ("Cancel the data movements of {}", "Cancel the data movements of {}")
    noun: ClassVar[str] = "data movement"

    def planner(self) -> Planner:
        return _cancel


class DeleteNabDialog(ActionDialog):
    """Deletes a NAB with or without its data; the second is offered where the CRD has the field for it."""

    verb: ClassVar[str] = "Delete permanently"
    headline: ClassVar[str] = "Delete NAB {}"
    titles: ClassVar[tuple[str, str]] = ("Delete NAB {} permanently", "Delete {} permanently")
    noun: ClassVar[str] = "NAB"
    _WAYS: ClassVar[tuple[str, ...]] = ("with its data (spec.deleteBackup)", "by force (spec.forceDeleteBackup)")

    def on_mount(self) -> None:
        self.query_one(DialogField).display = False
        self._learn_fields()

    def fields(self) -> Iterable[Widget]:
        yield DialogField("How", OptionCycler(self._WAYS, "way", self.ascii))

    @property
    def serves_force(self) -> bool:
        return bool(self.query_one(DialogField).display)

    @property
    def is_impossible(self) -> bool:
        """The other way helps where there is one."""
        return super().is_impossible and not self.serves_force

    def planner(self) -> Planner:
        serves = self.serves_force
        force = serves and self.query_one(OptionCycler).at == 1
        return lambda snapshot, items, now: plan_delete_nab(snapshot, items, now, force=force, serves_force=serves)

    @work
    async def _learn_fields(self) -> None:
        """Of all clusters that are concerned: what one of them lacks is not offered."""
        try:
            found = [await serves_field(self.service.client(context), NAB, FORCE_FIELD) for context in self.contexts]
        except ForetopError:
            found = [False]
        self.query_one(DialogField).display = all(found)
        self.replan()


class DecideStorageDialog(ActionDialog):
    """Approves or rejects a tenant's storage location."""

    verb: ClassVar[str] = "Approve"
    another_choice_helps: ClassVar[bool] = True
    headline: ClassVar[str] = "Storage request {}"
    _DECISIONS: ClassVar[tuple[Decision, ...]] = ("approve", "reject")

    def fields(self) -> Iterable[Widget]:
        yield DialogField("Decision", OptionCycler(self._DECISIONS, "decision", self.ascii))

    @property
    def confirm_label(self) -> str:
        return self._DECISIONS[self.query_one(OptionCycler).at].title()

    def planner(self) -> Planner:
        decision = self._DECISIONS[self.query_one(OptionCycler).at]
        return lambda snapshot, items, now: plan_decide(snapshot, items, decision, now)


class ServerDefaultDialog(ActionDialog):
    """Sets Velero's default for skipImmediately; Velero restarts for it."""

    verb: ClassVar[str] = "Restart Velero"
    another_choice_helps: ClassVar[bool] = True
    headline: ClassVar[str] = "Skip default of {}"

    def fields(self) -> Iterable[Widget]:
        yield DialogField("Skip", OptionCycler(("yes", "no"), "skip", self.ascii))

    def planner(self) -> Planner:
        skip = self.query_one(OptionCycler).at == 0
        return lambda snapshot, items, now: plan_server_default(snapshot, items, skip, now)


def _cancel(snapshot: ClusterSnapshot, items: Iterable[Any], now: datetime) -> Plan:
    """Of backups at first, and of single movements when one is planned again."""
    asked = list(items)
    movements = [item for item in asked if isinstance(item, DataMovement)]
    if movements:
        return replan_cancel(snapshot, movements, now)
    return plan_cancel_movements(snapshot, [item for item in asked if isinstance(item, Backup)], now)
