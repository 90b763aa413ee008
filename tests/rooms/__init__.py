"""Tests of the rooms, a folder for each. What other tests compare for all features, a room adds in its `samples`."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from typing import Any

from foretop import bindings
from foretop_core.actions.action_record import ActionRecord
from foretop_core.room_finder import room_modules

ROOM_ACTIONS = frozenset(
    record.id
    for module in room_modules("foretop_core", "planners")
    for record in vars(module).values()
    if isinstance(record, ActionRecord)
).union(room.action.id for room in bindings.ROOM_ACTIONS)
"""The ids of the actions of all rooms."""
SHOWN_BY_ROOMS = frozenset(
    action for module in room_modules("foretop", "dialogs") for action in getattr(module, "VIEWERS", ())
)
"""The ids of the actions of the core that fetch a file, and have a key where a room shows it."""


def samples(name: str, module: str = "samples") -> list[Any]:
    """The values that the rooms have under this name in a module of their tests, one for each room that has it."""
    folders = (f"{__name__}.{folder.name}.{module}" for folder in pkgutil.iter_modules(__path__) if folder.ispkg)
    modules = [importlib.import_module(folder) for folder in folders if importlib.util.find_spec(folder) is not None]
    return [value for module in modules if (value := getattr(module, name, None)) is not None]
