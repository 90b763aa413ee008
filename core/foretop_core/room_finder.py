"""Finds the rooms: the folders under `foretop_core.rooms` and `foretop.rooms`, each a feature that stands by itself.

A room offers what it adds in modules of fixed names; who collects such parts asks for them here, and imports no room.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from types import ModuleType


def rooms(package: str) -> Iterator[ModuleType]:
    """The rooms in `foretop_core` or `foretop`, in the order of their names."""
    folder = importlib.import_module(f"{package}.rooms")
    for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
        yield importlib.import_module(module.name)


def room_modules(package: str, name: str) -> Iterator[ModuleType]:
    """The modules of this name, one for each room that has it."""
    for room in rooms(package):
        if importlib.util.find_spec(f"{room.__name__}.{name}") is not None:
            yield importlib.import_module(f"{room.__name__}.{name}")
