"""The changes of late, as the rows of `foretop get changes`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from foretop.commands.view_rows import PrintedTable
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.archives.kept_changes import HEAD, KeptChanges, beginning, cells, item
from foretop_core.rules import humanize
from foretop_core.rules.changes import ObservedTransition
from foretop_core.session import Session
from foretop_core.tables.engine.filter import parse_filter
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import Cell, Row

_FIELDS = ("kind", "namespace", "name", "what", "by")


class ChangeRows(PrintedTable):
    """The changes of all contexts, the newest first."""

    def __init__(self, session: Session, wanted: str, since: timedelta) -> None:
        super().__init__(session, None)
        self.titles = [(title, False) for title in HEAD]
        self._since = since
        self._fits = parse_filter(wanted, _FIELDS)
        self._changes: dict[ObjectRef, ObservedTransition] = {}

    def pump(self) -> None:
        super().pump()
        self._changes.clear()
        notes = []
        for context in self._session.contexts:
            since = self._state.now(context) - self._since
            listed = KeptChanges(self._state, context, since).listed()
            for change in listed.changes:
                if self._fits(_ChangeFields(change)):
                    # A change has no name of its own.
                    name = f"{change.at.isoformat()} {change.key} {change.text}"
                    self._changes[ObjectRef(context, "Change", change.key.namespace, name)] = change
            if said := beginning(listed, since, self._state.zone):
                notes.append(f"{context}: {said}")
        self.notes = tuple(notes)

    @property
    def empty(self) -> str:
        return f"No changes in the last {humanize.duration(self._since)}."

    def items(self) -> dict[ObjectRef, Item]:
        return {key: item(change) for key, change in self._changes.items()}

    def rows(self) -> list[Row]:
        return [
            Row(key, StatusGlyph.UNSET, tuple(map(Cell, cells(change, self._state.now(key.context), self._state.zone))))
            for key, change in self._changes.items()
        ]


class _ChangeFields:
    """A change as a filter sees it."""

    def __init__(self, change: ObservedTransition) -> None:
        key = change.key
        self._values = dict(zip(_FIELDS, (key.kind, key.namespace, key.name, change.what, change.by), strict=True))
        self._text = f"{key} {change.text} {change.by}".lower()

    def text(self) -> str:
        return self._text

    def contains(self, word: str) -> bool:
        return word in self._text

    def field(self, name: str) -> str:
        return self._values[name]

    def labels(self) -> Mapping[str, str]:
        return {}
