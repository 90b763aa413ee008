"""Action records: conflicting keys are refused, and plans write exactly what their record declares."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from msgspec.structs import replace

from foretop.bindings import ACTIONS, KeyConflict, check_keys, footer_order
from foretop.cli import COMMANDS, foretop
from foretop.commands.write_command import WriteCommand
from foretop.dialogs.dialog_registry import find_screens, screen_of
from foretop.dialogs.pause_dialogs import PauseDialog
from foretop.dialogs.plan_screen import PlanScreen
from foretop_core import rooms
from foretop_core.actions import planners
from foretop_core.actions.action_catalog import BY_ID, RECORDS, check_records, told_rights
from foretop_core.actions.action_record import ActionRecord, no_planner
from foretop_core.actions.guard import guard_plan
from foretop_core.actions.planners.backups import (
    CANCEL_MOVEMENTS,
    DELETE_BACKUP,
    RUN_AGAIN,
)
from foretop_core.actions.planners.downloads import LOGS, NONADMIN_LOGS, RESOURCES
from foretop_core.actions.planners.lifetimes import EXTEND_BACKUP, NewLifetime, plan_extend
from foretop_core.actions.planners.pausing import CHANGE_PAUSE, PAUSE, UNPAUSE
from foretop_core.actions.planners.restores import RESTORE_FROM
from foretop_core.actions.plans import Plan
from foretop_core.config.protection import NO_PROTECTION, Protection
from foretop_core.kube.access.access_reviewer import AccessReviewer, AccessVerdict, Permission
from foretop_core.models import Resource
from foretop_core.models.kinds import BACKUP, SCHEDULE, RequiredPermission
from foretop_core.models.wire import Metadata
from foretop_core.rules.snapshot import ClusterSnapshot
from tests import generated_tables
from tests.generated_tables import action_of
from tests.objects import NOW, condition
from tests.objects import backup as a_backup
from tests.objects import nab as a_nab
from tests.objects import restore as a_restore
from tests.objects import schedule as schedule_of
from tests.rooms import ROOM_ACTIONS
from tests.sample_plans import SAMPLES, sample_snapshot


def test_every_record_is_whole_and_on_a_key_of_its_own() -> None:
    """The program reads the table that is made from them: where a record was refused, it is the one before."""
    generated_tables.check_records()


def test_two_actions_on_one_key_of_one_kind_are_refused() -> None:
    rival = replace(RESTORE_FROM, id="rival")
    with pytest.raises(KeyConflict, match="restore and rival are both on r"):
        check_keys([action_of(RESTORE_FROM), action_of(rival)])
    check_keys([action_of(RESTORE_FROM), action_of(replace(rival, kinds=(SCHEDULE,)))])
    check_keys([action_of(RESTORE_FROM), action_of(replace(rival, instead_of=("restore",)))])


@pytest.mark.parametrize("key", ["y", "j", "G", "7", "enter"])
def test_a_global_key_is_refused(key: str) -> None:
    with pytest.raises(KeyConflict):
        check_keys([*ACTIONS, action_of(replace(RESTORE_FROM, id="rival", key=key))])


def test_an_action_has_the_plan_screen_or_the_one_class_that_is_for_it() -> None:
    assert screen_of(PAUSE) is screen_of(CHANGE_PAUSE) is PauseDialog
    assert screen_of(DELETE_BACKUP) is PlanScreen
    module, other, lost = ModuleType("module"), ModuleType("other"), ModuleType("lost")
    vars(module)["PauseDialog"] = PauseDialog
    assert find_screens([module, module]) == {"pause": PauseDialog, "change-pause": PauseDialog}
    vars(other)["Rival"] = type("Rival", (PlanScreen,), {"actions": ("pause",)})
    with pytest.raises(LookupError, match="action pause has two screens: PauseDialog and Rival"):
        find_screens([module, other])
    vars(lost)["Lost"] = type("Lost", (PlanScreen,), {"actions": ("no-such",)})
    with pytest.raises(LookupError, match="Lost is for no-such, which is no action"):
        find_screens([lost])


@pytest.mark.parametrize(
    ("records", "error"),
    [
        ([replace(PAUSE, planner=no_planner)], "action pause has no planner"),
        ([replace(PAUSE, kinds=())], "action pause has no kinds"),
        ([replace(PAUSE, rights=())], "action pause has no rights"),
        ([replace(PAUSE, dialog=None)], "action pause has no dialog"),
        ([replace(LOGS, dialog=PAUSE.dialog)], "action logs has a dialog"),
        ([replace(PAUSE, short="")], "action pause has a rank in the footer and no word for it"),
        ([PAUSE, replace(PAUSE, place=15)], "two actions are called pause"),
        ([PAUSE, replace(UNPAUSE, place=10)], "actions pause and unpause both have the place 10"),
    ],
)
def test_a_record_that_is_not_whole_or_not_the_only_one_is_named(records: list[ActionRecord], error: str) -> None:
    with pytest.raises(LookupError, match=error):
        check_records(records)


def test_every_record_in_the_planners_is_in_the_catalog() -> None:
    paths = (*Path(planners.__path__[0]).glob("*.py"), *Path(rooms.__path__[0]).glob("*/planners.py"))
    text = "".join(path.read_text() for path in paths)
    assert text.count(" = ActionRecord(") == len(RECORDS)
    assert [one.place for one in check_records(reversed(RECORDS))] == [one.place for one in RECORDS]


def test_a_plan_cannot_write_what_its_record_does_not_declare() -> None:
    plan = plan_extend(ClusterSnapshot("prod"), [a_backup()], NewLifetime(ttl="720h"), NOW)
    with pytest.raises(ValueError, match="delete-backup writes what its record does not declare: patch Backup"):
        Plan(DELETE_BACKUP, NOW, plan.steps)


def test_the_doctor_checks_the_declared_permissions() -> None:
    told = [(str(needed), kind.name, purpose) for needed, kind, purpose in told_rights()]
    assert told[:7] == [
        ("patch schedules.velero.io", "Schedule", "pause and unpause schedules"),
        ("create backups.velero.io", "Schedule", "back up now"),
        ("create restores.velero.io", "Backup", "restore"),
        ("create downloadrequests.velero.io", "Backup", "fetch logs and results"),
        ("get downloadrequests.velero.io", "Backup", "fetch logs and results"),
        ("watch downloadrequests.velero.io", "Backup", "fetch logs and results"),
        ("list pods", "Backup", "fetch logs and results"),
    ]
    assert len(told) == len({needed for needed, _, _ in told})
    assert EXTEND_BACKUP.rights == (RequiredPermission("patch", BACKUP),)


def test_write_commands_and_records_match_one_to_one() -> None:
    context = click.Context(foretop)
    every = [command for name in COMMANDS if (command := foretop.get_command(context, name)) is not None]
    there = {str(command.name) for command in every if isinstance(command, WriteCommand)} | {
        f"{group.name} {name}"
        for group in every
        if isinstance(group, click.Group)
        for name, command in group.commands.items()
        if isinstance(command, WriteCommand)
    }
    assert there == {line.words for record in RECORDS for line in record.commands}
    assert {record.id for record in RECORDS if not record.commands} == {i.id for i in RECORDS if i.fetches}


class Asked(AccessReviewer):
    """An access check that allows everything and records the requests."""

    def __init__(self) -> None:
        self.rights: set[tuple[str, str]] = set()

    async def verdict(self, wanted: Permission) -> AccessVerdict:
        self.rights.add((wanted.verb, wanted.resource))
        return AccessVerdict(True)


class Writable:
    async def judge_afresh(self) -> Protection:
        return NO_PROTECTION


@pytest.mark.parametrize("action", [action for action in SAMPLES if len(BY_ID[action].rights) == 1])
async def test_the_requested_permissions_are_the_declared_ones(action: str) -> None:
    plan = SAMPLES[action].plan(sample_snapshot(), NOW)
    assert plan.steps
    assert plan.record.id == action
    access = Asked()
    await guard_plan(plan, Writable(), access)  # type: ignore[arg-type]
    assert access.rights == {(needed.verb, needed.kind.plural) for needed in plan.record.rights}


def _moves() -> bool:
    return True


def _rests() -> bool:
    return False


MADE: dict[str, Any] = {"veleroBackup": {"name": "v-1", "nacuuid": "u-1"}}


@pytest.mark.parametrize(
    ("record", "item", "why"),
    [
        (PAUSE, schedule_of(), ""),
        (PAUSE, schedule_of(paused=True), "it is already paused"),
        (PAUSE, a_backup(), "it is already paused"),
        (UNPAUSE, schedule_of(paused=True), ""),
        (UNPAUSE, schedule_of(), "it is not paused"),
        (UNPAUSE, a_backup(), "it is not paused"),
        *((RUN_AGAIN, a_backup(phase=phase), "") for phase in ("Completed", "PartiallyFailed", "Failed")),
        *((RUN_AGAIN, a_backup(phase=phase), "it has not ended") for phase in ("", "InProgress", "Deleting")),
        (RUN_AGAIN, a_restore(), "it has not ended"),
        (RESTORE_FROM, a_backup(), ""),
        (RESTORE_FROM, a_backup(phase="PartiallyFailed"), ""),
        (RESTORE_FROM, a_backup(phase="Failed"), "there is nothing to restore from it"),
        (RESTORE_FROM, a_restore(), "there is nothing to restore from it"),
        (LOGS, a_backup(phase="InProgress"), ""),
        (LOGS, a_restore(phase="Failed"), ""),
        *((LOGS, a_backup(phase=phase), "it has not begun") for phase in ("", "New", "Queued")),
        (LOGS, schedule_of(), "it has not begun"),
        (RESOURCES, a_backup(), ""),
        (RESOURCES, a_restore(phase="PartiallyFailed"), ""),
        (RESOURCES, a_backup(phase=""), "it has not begun (New)"),
        (RESOURCES, a_restore(phase="InProgress"), "it has not ended (InProgress)"),
        (RESOURCES, schedule_of(phase="Completed"), "it has no files"),
        (EXTEND_BACKUP, a_backup(), ""),
        (EXTEND_BACKUP, a_backup(phase=""), "there is nothing to keep in it (New)"),
        (EXTEND_BACKUP, a_backup(phase="Failed"), "there is nothing to keep in it (Failed)"),
        (EXTEND_BACKUP, a_backup(phase="Deleting"), "it is being deleted"),
        (EXTEND_BACKUP, a_restore(), "there is nothing to keep in it (New)"),
        (EXTEND_BACKUP, replace(a_backup(), metadata=Metadata(deletion_timestamp=NOW)), "it is being deleted"),
        (NONADMIN_LOGS, a_nab(**MADE), ""),
        (NONADMIN_LOGS, a_nab(), "it has no object of Velero's yet"),
        (NONADMIN_LOGS, a_backup(), "it has no object of Velero's yet"),
        (DELETE_BACKUP, a_backup(), ""),
    ],
)
def test_an_action_is_offered_only_where_it_would_not_be_refused(
    record: ActionRecord, item: Resource, why: str
) -> None:
    assert record.applies(item, _rests) == record.applies(item, _moves) == why


def test_movements_can_be_cancelled_only_while_something_is_moved() -> None:
    assert CANCEL_MOVEMENTS.applies(a_backup(phase="InProgress"), _moves) == ""
    assert CANCEL_MOVEMENTS.applies(a_backup(phase="InProgress"), _rests) == "nothing of it is being moved"


def test_what_destroys_asks_for_the_name_and_the_rest_does_not() -> None:
    """Whoever changes this changes what an operator at night can do with one key."""
    assert {needed.verb for needed, _, _ in told_rights()} >= {"create", "patch", "delete"}

    def ids(name: str) -> set[str]:
        return {record.id for record in RECORDS if getattr(record, name)} - ROOM_ACTIONS

    deleting = {"delete-schedule", "delete-backup", "delete-restore", "delete-nab", "delete-nar"}
    reading = {"logs", "nonadmin-logs", "fetch-results", "fetch-nonadmin-results", "resources"}
    assert ids("dangerous") == deleting | {"cancel-movements", "server-default"}
    assert ids("many") == deleting | {
        "pause",
        "change-pause",
        "unpause",
        "back-up-now",
        "extend-backup",
        "decide-storage",
        "acknowledge",
        "unacknowledge",
    }
    assert ids("fetches") == reading
    assert ids("only_in_results") == {"fetch-results", "fetch-nonadmin-results"}
    assert not ids("for_administrators")
    everything = {record.id for record in RECORDS} - ROOM_ACTIONS
    assert everything - ids("footer") == {"resources", "server-default"}


def test_the_footer_begins_with_what_is_done_most_and_ends_with_what_is_done_rarely() -> None:
    assert list(told_rights())
    order = [action.id for action in footer_order(ACTIONS)]
    above = ["pause", "edit-schedule", "jump", "palette"]
    wanted = [*above, "mark", "faults", "delete-backup"]
    assert sorted(wanted, key=order.index) == wanted


def test_a_right_is_told_with_the_kind_that_the_action_is_asked_of() -> None:
    told = {(needed.verb, needed.kind.name): (kind.name, purpose) for needed, kind, purpose in told_rights()}
    assert told["patch", "Backup"] == ("Backup", "extend the life of backups")
    assert told["patch", "PodVolumeBackup"] == ("Backup", "cancel data movements")
    assert told["create", "NonAdminDownloadRequest"] == (
        "NonAdminBackup",
        "fetch logs and results of NABs and NARs",
    )
    assert told["patch", "ConfigMap"] == ("ConfigMap", "acknowledge findings")
    silent = replace(PAUSE, purpose="")
    assert list(told_rights([silent])) == []


def test_the_log_of_a_nab_whose_velero_backup_is_gone_is_not_offered() -> None:
    gone = condition("Accepted", "False", "VeleroBackupNotFound")
    made: dict[str, Any] = {"veleroBackup": {"name": "v-1", "nacuuid": "u-1"}}
    assert NONADMIN_LOGS.applies(a_nab(**made), lambda: False) == ""
    lost = a_nab(phase="BackingOff", conditions=[gone], **made)
    assert NONADMIN_LOGS.applies(lost, lambda: False) == "its Velero object no longer exists"
