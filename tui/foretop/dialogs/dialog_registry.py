"""The dialog of each intent; an import fails where one is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.screen import Screen

from foretop.dialogs import confirm_dialogs
from foretop.dialogs.acknowledge_dialogs import AcknowledgeDialog, FindingsDialog, UnacknowledgeDialog
from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.create_dialogs import CreateScheduleDialog, RestoreDialog
from foretop.dialogs.drill_cleanup_dialog import DrillCleanupDialog
from foretop.dialogs.drill_dialog import DrillDialog
from foretop.dialogs.edit_schedule_dialog import EditScheduleDialog
from foretop.dialogs.lifetime_dialog import ExtendBackupDialog
from foretop.dialogs.log_viewer import LogViewer
from foretop.dialogs.pause_dialogs import PauseDialog, UnpauseDialog
from foretop.dialogs.resource_list_viewer import ResourceListViewer
from foretop.dialogs.results_download import Keep, ResultsDownload
from foretop_core.actions import action_catalog
from foretop_core.actions.action_catalog import ActionRecord
from foretop_core.dashboard.action_service import ActionService
from foretop_core.dashboard.state import DashboardState

_DIALOGS: dict[str, type[ActionDialog]] = {
    action_catalog.PAUSE.id: PauseDialog,
    action_catalog.UNPAUSE.id: UnpauseDialog,
    action_catalog.BACK_UP_NOW.id: confirm_dialogs.BackUpNowDialog,
    action_catalog.RUN_AGAIN.id: confirm_dialogs.RunAgainDialog,
    action_catalog.CANCEL_MOVEMENTS.id: confirm_dialogs.CancelMovementsDialog,
    action_catalog.DELETE_SCHEDULE.id: confirm_dialogs.DeleteScheduleDialog,
    action_catalog.DELETE_BACKUP.id: confirm_dialogs.DeleteBackupDialog,
    action_catalog.EXTEND_BACKUP.id: ExtendBackupDialog,
    action_catalog.DELETE_RESTORE.id: confirm_dialogs.DeleteRestoreDialog,
    action_catalog.DELETE_NAB.id: confirm_dialogs.DeleteNabDialog,
    action_catalog.DELETE_NAR.id: confirm_dialogs.DeleteNarDialog,
    action_catalog.DECIDE_STORAGE.id: confirm_dialogs.DecideStorageDialog,
    action_catalog.SERVER_DEFAULT.id: confirm_dialogs.ServerDefaultDialog,
    action_catalog.RESTORE_FROM.id: RestoreDialog,
    action_catalog.CREATE_SCHEDULE.id: CreateScheduleDialog,
    action_catalog.EDIT_SCHEDULE.id: EditScheduleDialog,
    action_catalog.ACKNOWLEDGE.id: AcknowledgeDialog,
    action_catalog.UNACKNOWLEDGE.id: UnacknowledgeDialog,
    action_catalog.DRILL.id: DrillDialog,
    action_catalog.DRILL_CLEANUP.id: DrillCleanupDialog,
}


def check_dialogs(dialogs: Mapping[str, type[ActionDialog]], records: Iterable[ActionRecord]) -> None:
    """Every record has its dialog, but those that fetch a file, and every dialog its record."""
    wanted = {record.id for record in records if not record.fetches}
    if odd := wanted ^ dialogs.keys():
        raise LookupError(f"without a dialog or without a record: {', '.join(sorted(odd))}")


check_dialogs(_DIALOGS, action_catalog.INTENTS)


def make_dialog(
    service: ActionService, intent: ActionRecord, targets: ActionTargets, ascii: bool, keep: Keep, state: DashboardState
) -> Screen[None]:
    """`keep` takes results that were fetched; `state` has the findings that a person may acknowledge."""
    if intent in (action_catalog.LOGS, action_catalog.NONADMIN_LOGS):
        return LogViewer(service, targets.keys[0], ascii)
    if intent is action_catalog.RESOURCES:
        return ResourceListViewer(service, targets.keys[0], ascii)
    if intent in (action_catalog.RESULTS, action_catalog.NONADMIN_RESULTS):
        return ResultsDownload(service, targets.keys[0], ascii, keep)
    dialog = _DIALOGS[intent.id]
    if issubclass(dialog, FindingsDialog):
        return dialog(service, intent, targets, ascii, state)
    return dialog(service, intent, targets, ascii)
