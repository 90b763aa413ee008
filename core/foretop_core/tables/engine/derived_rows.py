"""The entries of a view, derived from the store: only those that a change touches are derived again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from foretop_core.models.wire import ObjectRef
from foretop_core.store import Change, Store
from foretop_core.tables.engine.sorted_rows import SortedRows
from foretop_core.tables.engine.view import UnreadableRow, View

E = TypeVar("E")


class DerivedRows(Generic[E]):
    """The entries of one view over some clusters, in order; `pump` brings them up to date."""

    def __init__(self, view: View[E], store: Store, contexts: Iterable[str]) -> None:
        self.view = view
        self._store = store
        self._contexts = frozenset(contexts)
        self._changes = store.feed.subscribe(view.watched)
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
            return tuple(self.view.keys(self._store, key.context))

    def _based_anew(self) -> dict[ObjectRef, None]:
        """Every row of the clusters in which what all rows are made from has changed."""
        before, self._bases = self._bases, self._known_bases()
        if before == self._bases:
            return {}
        return {
            key: None
            for context in sorted(self._contexts)
            if before[context] != self._bases[context]
            for key in self.view.keys(self._store, context)
        }

    def _known_bases(self) -> dict[str, Any]:
        return {context: self._basis(context) for context in self._contexts}

    def _basis(self, context: str) -> object:
        """A basis that cannot be had is another one each time, so that no row stays as it was."""
        try:
            return self.view.basis(self._store, context)
        except Exception:
            return object()

    def sort(self, column: str, *, reverse: bool = False) -> None:
        self._column = self.view.column(column)
        self.reversed = reverse
        self.table.sort(self._sort_value, reverse=reverse)

    def _sort_value(self, held: tuple[ObjectRef, E | UnreadableRow]) -> Any:
        """What has no value, or fails to have one, comes last."""
        entry = held[1]
        if isinstance(entry, UnreadableRow):
            return None
        try:
            return self._column.sort(entry)
        except Exception:
            return None
