"""The changes of a write, field by field: dialogs, commands and the journal all show these lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

_Path: TypeAlias = tuple[str, ...]
_IDENTITY = frozenset(
    {
        ("apiVersion",),
        ("kind",),
        ("preconditions",),
        *(("metadata", name) for name in ("name", "generateName", "namespace", "resourceVersion", "uid")),
    }
)
"""Which object is written, and which version of it; everything else is a change."""
_MARKS = {("metadata", "annotations"): "annotation", ("metadata", "labels"): "label"}


def change_lines(method: str, body: Mapping[str, Any], before: Mapping[str, Any], of: str = "") -> tuple[str, ...]:
    """Every field that the request sets, one line each, with the old value where it replaces one.

    `of` names the object where that is not the one that a person has chosen. A deletion sets nothing.
    """
    if method == "DELETE":
        return ()
    owner = f" of {of}" if of else ""
    return tuple(
        _line(path, value, _held(before, path), owner, patch=method == "PATCH") for path, value in _leaves(body)
    )


def _leaves(part: Mapping[str, Any], above: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """Yields what is set first, then what is noted about it."""
    for key in sorted(part, key=lambda key: not above and key == "metadata"):
        path, value = (*above, key), part[key]
        if path in _IDENTITY:
            continue
        if isinstance(value, Mapping) and (value or path == ("metadata",)):
            yield from _leaves(value, path)
        else:
            yield path, value


def _line(path: _Path, value: Any, held: Any, owner: str, *, patch: bool) -> str:
    mark = _MARKS.get(path[:2], "") if len(path) == 3 else ""
    name = f"{mark} {path[2]}{owner}" if mark else f"{'.'.join(path)}{owner}"
    if value is None:
        return f"{name} removed (was {_said(held)})"
    if not patch or (mark and held in (None, "")):
        return f"{name}: {_said(value)}"
    return f"{name} {_said(held)} → {_said(value)}"


def _held(before: Mapping[str, Any], path: _Path) -> Any:
    value: Any = before
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _said(value: Any) -> str:
    match value:
        case None | "":
            return "absent"
        case str():
            return value
        case list() if value and all(isinstance(entry, str) for entry in value):
            return ", ".join(value)
        case _:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
