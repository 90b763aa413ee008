"""Which dialog carries out which intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from foretop.hands import Hands
from foretop.modals import plain
from foretop.modals.dialog import Dialog
from foretop.modals.forms import CreateSchedule, RestoreDialog
from foretop.modals.logs import LogWindow
from foretop.modals.pausing import PauseDialog, UnpauseDialog
from foretop.modals.results import ResultsWindow
from foretop.screens.detail import DetailPage
from foretop_core.actions import intents
from foretop_core.actions.intents import Intent
from foretop_core.store import Key

if TYPE_CHECKING:
    from foretop.screens.frame import Frame

_DIALOGS: dict[str, type[Dialog]] = {
    intents.PAUSE.id: PauseDialog,
    intents.UNPAUSE.id: UnpauseDialog,
    intents.BACK_UP_NOW.id: plain.BackUpNow,
    intents.RUN_AGAIN.id: plain.RunAgain,
    intents.CANCEL_MOVEMENTS.id: plain.CancelMovements,
    intents.DELETE_SCHEDULE.id: plain.DeleteSchedule,
    intents.DELETE_BACKUP.id: plain.DeleteBackup,
    intents.DELETE_NAB.id: plain.DeleteNab,
    intents.DELETE_NAR.id: plain.DeleteNar,
    intents.DECIDE_STORAGE.id: plain.DecideStorage,
    intents.SERVER_DEFAULT.id: plain.ServerDefault,
    intents.RESTORE_FROM.id: RestoreDialog,
    intents.CREATE_SCHEDULE.id: CreateSchedule,
}


def make_dialog(frame: Frame, hands: Hands, intent: Intent, keys: tuple[Key, ...], hidden: int) -> Screen[None]:
    if intent in (intents.LOGS, intents.NONADMIN_LOGS):
        return LogWindow(hands, keys[0], frame.looks.ascii)
    if intent in (intents.RESULTS, intents.NONADMIN_RESULTS):
        assert isinstance(frame.page, DetailPage)
        return ResultsWindow(hands, keys[0], frame.looks.ascii, frame.page.keep_results)
    return _DIALOGS[intent.id](hands, intent, keys, hidden, frame.looks.ascii)
