"""The window of each action: the plan screen or the class that is for it, or the viewer of a file that it fetches."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType

from textual.screen import Screen

from foretop import dialogs
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.plan_screen import PlanScreen
from foretop_core.actions.action_catalog import BY_ID
from foretop_core.actions.action_record import ActionRecord
from foretop_core.dashboard.action_service import ActionService
from foretop_core.models.wire import ObjectRef
from foretop_core.room_finder import room_modules
from foretop_core.rules.facts.contents_facts import FetchedFiles


def find_screens(modules: Iterable[ModuleType]) -> dict[str, type[PlanScreen]]:
    """By the ids of their actions, the classes of these modules; raises where an action has two, or is none."""
    screens: dict[str, type[PlanScreen]] = {}
    values = {value: None for module in modules for value in vars(module).values() if isinstance(value, type)}
    for screen in (value for value in values if issubclass(value, PlanScreen)):
        for action in screen.actions:
            if action not in BY_ID:
                raise LookupError(f"{screen.__name__} is for {action}, which is no action")
            if action in screens:
                raise LookupError(f"action {action} has two screens: {screens[action].__name__} and {screen.__name__}")
            screens[action] = screen
    return screens


Keep = Callable[[ObjectRef, FetchedFiles], None]
"""Takes results that were fetched."""
Viewer = Callable[[ActionService, ObjectRef, Keep], Screen[None]]
"""Makes the window of a file that is fetched."""
_NAMES = (name for _, name, _ in pkgutil.iter_modules(dialogs.__path__) if name.endswith(("_dialog", "_dialogs")))
_OF_ROOMS = tuple(room_modules("foretop", "dialogs"))
_SCREENS = find_screens((*(importlib.import_module(f"{dialogs.__name__}.{name}") for name in _NAMES), *_OF_ROOMS))
_VIEWERS: Mapping[str, Viewer] = {
    action_id: viewer for module in _OF_ROOMS for action_id, viewer in getattr(module, "VIEWERS", {}).items()
}


def screen_of(record: ActionRecord) -> type[PlanScreen]:
    return _SCREENS.get(record.id, PlanScreen)


def make_dialog(service: ActionService, record: ActionRecord, targets: ActionTargets, keep: Keep) -> Screen[None]:
    """The window of what the action asks, or the file that it fetches."""
    if record.fetches:
        return _VIEWERS[record.id](service, targets.keys[0], keep)
    return screen_of(record)(service, record, targets)
