"""Which dialog carries out which intent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from core.actions import intents
from core.actions.intents import Intent
from core.store import Key
from tui.hands import Hands
from tui.modals import plain
from tui.modals.dialog import Dialog
from tui.modals.forms import CreateSchedule, RestoreDialog
from tui.modals.logs import LogWindow
from tui.modals.pausing import PauseDialog, UnpauseDialog
from tui.modals.results import ResultsWindow
from tui.screens.detail import DetailPage

if TYPE_CHECKING:
    from tui.screens.frame import Frame

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
