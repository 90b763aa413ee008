"""By which names a filter on the screen may ask for what the rows say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from foretop_core.tables.engine.columns import Column
from foretop_core.tables.engine.filter import FilterableRow

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


class NamedFields:
    """The sides of a row by all those names; `shown` are those that the screen says otherwise than the view."""

    __slots__ = ("_facets", "_names", "_shown")

    def __init__(self, facets: FilterableRow, names: Mapping[str, str], shown: Mapping[str, str] | None = None) -> None:
        self._facets = facets
        self._names = names
        self._shown = shown or {}

    def text(self) -> str:
        return self._facets.text()

    def contains(self, word: str) -> bool:
        return self._facets.contains(word)

    def field(self, name: str) -> str:
        known = self._names.get(name, name)
        return self._shown[known] if known in self._shown else self._facets.field(known)

    def labels(self) -> Mapping[str, str]:
        return self._facets.labels()
