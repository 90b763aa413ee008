"""The marked rows of a table."""

from __future__ import annotations

from collections.abc import Iterable

from foretop_core.dashboard.table_models import TableModel
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.groups import HEAD


class RowSelection:
    """The marked rows in the order of marking; they outlive a filter that hides them."""

    def __init__(self) -> None:
        self.keys: dict[ObjectRef, None] = {}
        self._anchor: ObjectRef | None = None
        """The row that was marked last."""

    def toggle(self, key: ObjectRef) -> None:
        if self.keys.pop(key, key) is not None:
            self.keys[key] = None
        self._anchor = key

    def toggle_group(self, below: list[ObjectRef]) -> None:
        """All of them, or none where all were marked."""
        if all(key in self.keys for key in below):
            for key in below:
                del self.keys[key]
        else:
            self.keys.update(dict.fromkeys(below))

    def extend_to(self, cursor: ObjectRef, place: int, rows: TableModel) -> None:
        """All rows from the last mark to the cursor; heads between them are no rows."""
        lines = rows.lines
        start = lines.index_of(self._anchor) if self._anchor else None
        first, last = sorted((place if start is None else start, place))
        self.keys.update(dict.fromkeys(key for key, _ in lines.window(first, last + 1) if key.kind != HEAD))
        self._anchor = cursor

    def add(self, keys: Iterable[ObjectRef]) -> None:
        self.keys.update(dict.fromkeys(keys))

    def remove(self, keys: Iterable[ObjectRef]) -> None:
        for key in keys:
            self.keys.pop(key, None)

    def clear(self) -> None:
        self.keys.clear()
        self._anchor = None
