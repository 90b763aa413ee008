"""A view that follows the store: only the rows that a change touches are derived again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from foretop_core.models.wire import ObjectRef
from foretop_core.store import Change, Store
from foretop_core.tables.engine.columns import Row, UnreadableRow, View
from foretop_core.tables.engine.filter import Filter, parse_filter
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.sorted_rows import SortedRows

E = TypeVar("E")


class LiveTable(Generic[E]):
    """The rows of one view over some clusters, in order and filtered; `pump` brings them up to date."""

    def __init__(
        self, view: View[E], store: Store, contexts: Iterable[str], wake: Callable[[], None] | None = None
    ) -> None:
        self.view = view
        self._store = store
        self._contexts = frozenset(contexts)
        self._changes = store.feed.subscribe(view.watched, wake)
        self.filter_text = ""
        self._column = view.column(view.order)
        self.reversed = False
        self.derived = 0
        self._bases = self._known_bases()
        self.table: SortedRows[tuple[ObjectRef, E | UnreadableRow]] = SortedRows(self._sort_value)
        self.table.replace(
            (key, (key, entry)) for context in sorted(self._contexts) for key, entry in view.all(store, context)
        )

    @property
    def sorted_by(self) -> str:
        return self._column.name

    def close(self) -> None:
        self._store.feed.unsubscribe(self._changes)

    def pump(self) -> bool:
        """Takes what changed since the last time; whether a visible row is other than before.

        Each row touched is derived once, however often it changed.
        """
        changes = self._changes.drain()
        touched = self._based_anew() if changes else {}
        for key, change in changes.items():
            touched.update(dict.fromkeys(self._touched(key, change)))
        rows: dict[ObjectRef, tuple[ObjectRef, E | UnreadableRow] | None] = {}
        for key in touched:
            if key.context not in self._contexts:
                continue
            self.derived += 1
            entry = self.view.derive(self._store, key)
            rows[key] = None if entry is None else (key, entry)
        return self.table.update(rows)

    def _touched(self, key: ObjectRef, change: Change) -> Iterable[ObjectRef]:
        """Where it fails to say whom a change concerns, it concerns all."""
        try:
            return tuple(self.view.touched(self._store, key, change))
        except Exception:
            return (row for kind in self.view.kinds for row, _ in self._store.items(key.context, kind))

    def _based_anew(self) -> dict[ObjectRef, None]:
        """Every row of the clusters in which what all rows are made from has changed."""
        before, self._bases = self._bases, self._known_bases()
        return {
            key: None
            for context in sorted(self._contexts)
            if before[context] != self._bases[context]
            for kind in self.view.kinds
            for key, _ in self._store.items(context, kind)
        }

    def _known_bases(self) -> dict[str, Any]:
        return {context: self._basis(context) for context in self._contexts}

    def _basis(self, context: str) -> object:
        """A basis that cannot be had is another one each time, so that no row stays as it was."""
        try:
            return self.view.basis(self._store, context)
        except Exception:
            return object()

    def filter(self, text: str) -> None:
        """Shows what fits only; a filter that cannot be read is refused, and the old one stays."""
        wanted = parse_filter(text, self.view.fields)
        self.filter_text = text
        self.table.filter(lambda held: _keeps(wanted, self.view, held) if wanted else True)

    def sort(self, column: str, *, reverse: bool = False) -> None:
        self._column = self.view.column(column)
        self.reversed = reverse
        self.table.sort(self._sort_value, reverse=reverse)

    def paint(self, start: int, stop: int, render_context_of: Callable[[str], RenderContext]) -> list[Row]:
        """The lines that are on the screen, at the moment of their render contexts."""
        return [
            self.view.paint(key, entry, render_context_of(key.context))
            for key, (_, entry) in self.table.window(start, stop)
        ]

    def _sort_value(self, held: tuple[ObjectRef, E | UnreadableRow]) -> Any:
        """What has no value, or fails to have one, comes last."""
        entry = held[1]
        if isinstance(entry, UnreadableRow):
            return None
        try:
            return self._column.sort(entry)
        except Exception:
            return None


def _keeps(wanted: Filter, view: View[Any], held: tuple[ObjectRef, Any]) -> bool:
    """What cannot be put to the filter is shown: nothing is hidden by a failure."""
    try:
        return wanted(view.facets(*held))
    except Exception:
        return True
