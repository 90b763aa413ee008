"""Other forms of the same objects: the table that `kubectl get` prints, and metadata only."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from foretop_demo.kinds import Column, Json, Kind

_FILTERED = re.compile(r"^(\w+)\[\?\(@\.(\w+)==['\"](.*)['\"]\)\]$")
_NAME: Json = {"name": "Name", "type": "string", "format": "name", "description": "", "priority": 0}
_UNITS = ((86400 * 365, "y"), (86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def columns_of(kind: Kind) -> tuple[Column, ...]:
    return kind.columns or (Column("Age", "date", ".metadata.creationTimestamp"),)


def table(kind: Kind, bodies: list[Json], meta: Json, include: str, now: datetime, headed: bool = True) -> Json:
    """A Table; a watch sends its column definitions only once."""
    heads = [_NAME, *(_definition(column) for column in columns_of(kind))]
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": meta,
        "columnDefinitions": heads if headed else None,
        "rows": [_row(kind, body, include, now) for body in bodies],
    }


def _definition(column: Column) -> Json:
    return {
        "name": column.name,
        "type": column.type,
        "format": column.format,
        "description": "",
        "priority": column.priority,
    }


def _row(kind: Kind, body: Json, include: str, now: datetime) -> Json:
    cells = [body["metadata"]["name"], *(_cell(body, column, now) for column in columns_of(kind))]
    row: Json = {"cells": cells}
    if include == "Object":
        row["object"] = body
    else:
        row["object"] = None if include == "None" else partial(body)
    return row


def partial(body: Json) -> Json:
    """PartialObjectMetadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": body["metadata"]}


def _cell(body: Json, column: Column, now: datetime) -> Any:
    value = lookup(body, column.path)
    if value is None:
        return "<unknown>" if column.name == "Age" else None
    if column.type == "date":
        return _since(value, now)
    return value if column.type in ("integer", "number", "boolean") else str(value)


def lookup(body: Json, path: str) -> Any:
    """The value at a printer column's path: dots, and one filter on a list."""
    here: Any = body
    for part in _parts(path):
        if not isinstance(here, dict):
            return None
        if found := _FILTERED.match(part):
            items = here.get(found[1]) or []
            here = next((each for each in items if each.get(found[2]) == found[3]), None)
        else:
            here = here.get(part)
    return here


def _parts(path: str) -> list[str]:
    return re.findall(r"\w+(?:\[[^\]]*\])?", path)


def _since(text: str, now: datetime) -> str:
    """The age in the largest unit that counts at least two, as kubectl prints it."""
    try:
        seconds = int((now - datetime.fromisoformat(text)).total_seconds())
    except (TypeError, ValueError):
        return "<invalid>"
    if seconds < 0:
        return "<invalid>" if seconds < -1 else "0s"
    for size, unit in _UNITS:
        if seconds >= 2 * size or size == 1:
            return f"{seconds // size}{unit}"
    return "0s"
