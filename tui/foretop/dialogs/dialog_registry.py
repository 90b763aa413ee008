"""The dialog of each intent; an import fails where one is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.screen import Screen

from foretop.dialogs import confirm_dialogs
from foretop.dialogs.acknowledge_dialogs import AcknowledgeDialog, FindingsDialog, UnacknowledgeDialog
from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.edit_dialog import EditScheduleDialog
from foretop.dialogs.form_dialogs import CreateScheduleDialog, RestoreDialog
from foretop.dialogs.lifetime_dialog import ExtendBackupDialog
from foretop.dialogs.log_viewer import LogViewer
from foretop.dialogs.pause_dialogs import PauseDialog, UnpauseDialog
from foretop.dialogs.resource_list_viewer import ResourceListViewer
from foretop.dialogs.results_viewer import Keep, ResultsViewer
from foretop_core.actions import intents
from foretop_core.actions.intents import Intent
from foretop_core.dashboard.action_service import ActionService
from foretop_core.dashboard.state import DashboardState

_DIALOGS: dict[str, type[ActionDialog]] = {
    intents.PAUSE.id: PauseDialog,
    intents.UNPAUSE.id: UnpauseDialog,
    intents.BACK_UP_NOW.id: confirm_dialogs.BackUpNowDialog,
    intents.RUN_AGAIN.id: confirm_dialogs.RunAgainDialog,
    intents.CANCEL_MOVEMENTS.id: confirm_dialogs.CancelMovementsDialog,
    intents.DELETE_SCHEDULE.id: confirm_dialogs.DeleteScheduleDialog,
    intents.DELETE_BACKUP.id: confirm_dialogs.DeleteBackupDialog,
    intents.EXTEND_BACKUP.id: ExtendBackupDialog,
    intents.DELETE_RESTORE.id: confirm_dialogs.DeleteRestoreDialog,
    intents.DELETE_NAB.id: confirm_dialogs.DeleteNabDialog,
    intents.DELETE_NAR.id: confirm_dialogs.DeleteNarDialog,
    intents.DECIDE_STORAGE.id: confirm_dialogs.DecideStorageDialog,
    intents.SERVER_DEFAULT.id: confirm_dialogs.ServerDefaultDialog,
    intents.RESTORE_FROM.id: RestoreDialog,
    intents.CREATE_SCHEDULE.id: CreateScheduleDialog,
    intents.EDIT_SCHEDULE.id: EditScheduleDialog,
    intents.ACKNOWLEDGE.id: AcknowledgeDialog,
    intents.UNACKNOWLEDGE.id: UnacknowledgeDialog,
}


def check_dialogs(dialogs: Mapping[str, type[ActionDialog]], records: Iterable[Intent]) -> None:
    """Every record has its dialog, but those that fetch a file, and every dialog its record."""
    wanted = {record.id for record in records if not record.fetches}
    if odd := wanted ^ dialogs.keys():
        raise LookupError(f"without a dialog or without a record: {', '.join(sorted(odd))}")


check_dialogs(_DIALOGS, intents.INTENTS)


def make_dialog(
    service: ActionService, intent: Intent, targets: ActionTargets, ascii: bool, keep: Keep, state: DashboardState
) -> Screen[None]:
    """`keep` takes results that were fetched; `state` has the findings that a person may acknowledge."""
    if intent in (intents.LOGS, intents.NONADMIN_LOGS):
        return LogViewer(service, targets.keys[0], ascii)
    if intent is intents.RESOURCES:
        return ResourceListViewer(service, targets.keys[0], ascii)
    if intent in (intents.RESULTS, intents.NONADMIN_RESULTS):
        return ResultsViewer(service, targets.keys[0], ascii, keep)
    dialog = _DIALOGS[intent.id]
    if issubclass(dialog, FindingsDialog):
        return dialog(service, intent, targets, ascii, state)
    return dialog(service, intent, targets, ascii)
