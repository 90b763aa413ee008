"""The dialog of each action: the class named after its id, or the one that its record describes."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping

from textual.screen import Screen

from foretop import dialogs
from foretop.dialogs.acknowledge_dialogs import FindingsDialog
from foretop.dialogs.action_dialog import ActionDialog
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.confirm_dialog import ConfirmDialog
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.action_record import ActionRecord
from foretop_core.dashboard.action_service import ActionService
from foretop_core.dashboard.state import DashboardState
from foretop_core.models.wire import ObjectRef
from foretop_core.room_finder import room_modules
from foretop_core.rules.facts.contents_facts import FetchedFiles


def _own_dialogs() -> Iterator[tuple[str, type[ActionDialog]]]:
    """By their names, the classes of the rooms, and of the modules whose names end with dialog or dialogs."""
    names = (name for _, name, _ in pkgutil.iter_modules(dialogs.__path__) if name.endswith(("_dialog", "_dialogs")))
    modules = (importlib.import_module(f"{dialogs.__name__}.{name}") for name in names)
    for module in (*modules, *room_modules("foretop", "dialogs")):
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, ActionDialog):
                yield name, value


def class_name(record: ActionRecord) -> str:
    """`create-schedule`: `CreateScheduleDialog`."""
    return "".join(word.title() for word in record.id.split("-")) + "Dialog"


def find_dialogs(
    classes: Mapping[str, type[ActionDialog]], records: Iterable[ActionRecord]
) -> dict[str, type[ActionDialog]]:
    """By the ids of the records, but of those that fetch a file; raises where one has none, or two."""
    by_id: dict[str, type[ActionDialog]] = {}
    for record in (record for record in records if not record.fetches):
        own = classes.get(class_name(record))
        if (own is None) == (record.dialog is None):
            raise LookupError(
                f"action {record.id} has no dialog: neither in its record nor a class {class_name(record)}"
                if own is None
                else f"action {record.id} has two dialogs: one in its record, and {class_name(record)}"
            )
        by_id[record.id] = own or ConfirmDialog
    return by_id


Keep = Callable[[ObjectRef, FetchedFiles], None]
"""Takes results that were fetched."""
Viewer = Callable[[ActionService, ObjectRef, bool, Keep], Screen[None]]
"""Makes the window of a file that is fetched."""
_VIEWERS: Mapping[str, Viewer] = {
    action_id: viewer
    for module in room_modules("foretop", "dialogs")
    for action_id, viewer in getattr(module, "VIEWERS", {}).items()
}
_DIALOGS = find_dialogs(dict(_own_dialogs()), RECORDS)


def make_dialog(
    service: ActionService, record: ActionRecord, targets: ActionTargets, ascii: bool, keep: Keep, state: DashboardState
) -> Screen[None]:
    """The window of what the action asks, or the file that it fetches; `state` has the findings to acknowledge."""
    if record.fetches:
        return _VIEWERS[record.id](service, targets.keys[0], ascii, keep)
    dialog = _DIALOGS[record.id]
    if issubclass(dialog, FindingsDialog):
        return dialog(service, record, targets, ascii, state)
    return dialog(service, record, targets, ascii)
