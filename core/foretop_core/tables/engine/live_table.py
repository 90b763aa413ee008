"""A view of a store that lives: what changed is derived anew, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from foretop_core.models.wire import ObjectRef
from foretop_core.store import Store
from foretop_core.tables.engine.columns import Row, UnreadableRow, View
from foretop_core.tables.engine.filter import parse_filter
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
            touched.update(dict.fromkeys(self.view.touched(self._store, key, change)))
        rows: dict[ObjectRef, tuple[ObjectRef, E | UnreadableRow] | None] = {}
        for key in touched:
            if key.context not in self._contexts:
                continue
            self.derived += 1
            entry = self.view.derive(self._store, key)
            rows[key] = None if entry is None else (key, entry)
        return self.table.update(rows)

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
        return {context: self.view.basis(self._store, context) for context in self._contexts}

    def filter(self, text: str) -> None:
        """Shows what fits only; a filter that cannot be read is refused, and the old one stays."""
        wanted = parse_filter(text, self.view.fields)
        self.filter_text = text
        self.table.filter(lambda held: wanted(self.view.facets(*held)) if wanted else True)

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
        entry = held[1]
        return None if isinstance(entry, UnreadableRow) else self._column.sort(entry)
