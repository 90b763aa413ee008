"""By which names a filter on the screen may ask for what the rows say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foretop_core.tables.engine.filter import FilterableRow
from foretop_core.tables.engine.view import Column

_TITLE_WORD = re.compile(r"[a-z]+")


def filter_fields(fields: Iterable[str], columns: Sequence[Column[Any]]) -> dict[str, str]:
    """What a filter on the screen may ask for: the fields, and the columns by their names and titles.

    Each with the field or column that it stands for; a title of several words is known by its column's name.
    """
    names = {name: name for name in (*fields, *(column.name for column in columns))}
    for column in columns:
        words = [] if " " in column.title else _TITLE_WORD.findall(column.title.lower())
        names |= {word: column.name for word in words if word not in names}
    return names


class OverriddenFields:
    """The sides of a row, with some fields that the screen says otherwise than the row."""

    __slots__ = ("_fields", "_row")

    def __init__(self, row: FilterableRow, fields: Mapping[str, str]) -> None:
        self._row = row
        self._fields = fields

    def text(self) -> str:
        return self._row.text()

    def contains(self, word: str) -> bool:
        return self._row.contains(word)

    def field(self, name: str) -> str:
        return self._fields[name] if name in self._fields else self._row.field(name)

    def labels(self) -> Mapping[str, str]:
        return self._row.labels()
