"""kubectl's custom columns: `NAME:.name,PHASE:.phase`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from foretop_core.errors import BadInput
from foretop_core.tables.engine.jsonpath import JsonPath, parse_relaxed
from foretop_core.tables.text.terminal_text import clean, pad, width

_LEAST, _GAP = 6, 3
"""The widths of kubectl's tables."""


class CustomColumns(msgspec.Struct, frozen=True):
    """Headers, and the path that fills each."""

    columns: tuple[tuple[str, JsonPath], ...]

    def lines(self, items: Iterable[Mapping[str, Any]], *, headers: bool = True) -> list[str]:
        rows = [[clean(_cell(path.values(item))) for _, path in self.columns] for item in items]
        return kubectl_table([*([[title for title, _ in self.columns]] if headers else []), *rows])


def parse_columns(spec: str) -> CustomColumns:
    """Understands the columns, or says in one line what is wrong with them."""
    found = []
    for part in _split(spec):
        title, colon, path = part.partition(":")
        if not title or not colon or not path:
            raise BadInput(f"custom-columns {spec!r} cannot be used", f"{part!r} is not HEADER:PATH")
        found.append((title, parse_relaxed(path)))
    return CustomColumns(tuple(found))


def kubectl_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as kubectl draws them; the last one is not padded."""
    if not rows:
        return []
    widths = [max(_LEAST, max(width(row[at]) for row in rows) + _GAP) for at in range(len(rows[0]))]
    return ["".join(pad(cell, cells) for cell, cells in zip(row[:-1], widths, strict=False)) + row[-1] for row in rows]


def _split(spec: str) -> list[str]:
    """At the commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in spec:
        depth += {"[": 1, "]": -1}.get(sign, 0)
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _cell(values: Sequence[Any]) -> str:
    known = [value for value in values if value is not None]
    return ",".join(_go_text(value) for value in known) if known else "<none>"


def _go_text(value: Any) -> str:
    """As Go prints a value: `map[a:1 b:2]`, `[x y]`, `true`."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case dict():
            return f"map[{' '.join(f'{key}:{_go_text(held)}' for key, held in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(_go_text, value))}]"
        case _:
            return str(value)
