"""Names that are imported when they are first used: the first frame and the first rows do not wait for them."""

from __future__ import annotations

import importlib
from typing import Any

import msgspec


def load(path: str) -> Any:
    """The object that `package.module:name` names; the module is imported now."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


class Late(msgspec.Struct, frozen=True):
    """Stands for the function that its path names, which is imported with the first call."""

    path: str

    def __call__(self, *given: Any, **options: Any) -> Any:
        return load(self.path)(*given, **options)
