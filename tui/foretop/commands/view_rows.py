"""The rows of a view on the command line, as they are and as they change."""

from __future__ import annotations

import asyncio
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec

from foretop.commands.live_session import dashboard_state
from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.models.kinds import BESIDE_VELERO, KINDS, NAMESPACE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.rules.triage import Finding
from foretop_core.rules.triage.acknowledging import acknowledgement_text
from foretop_core.session import Session
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.engine.view import Cell, Row, View
from foretop_core.tables.resources import findings
from foretop_core.tables.resources.nonadmin import NonAdminRow
from foretop_core.tables.text.terminal_text import unsigned

_EACH, _LONGEST = 0.1, 1.0
"""Changes are told at most ten times a second, findings looked for as often as something changed or a second passed."""


class PrintedTable(ABC):
    """A table model of the screen, for the command line: without marks of the screen, and woken by changes."""

    def __init__(self, session: Session, watched: Collection[str] | None) -> None:
        self.changed = asyncio.Event()
        self._session = session
        self._state = dashboard_state(session)
        self._feed = session.store.feed.subscribe(watched, self.changed.set)
        self.titles: list[tuple[str, bool]] = []
        """Of each column, and whether it is for wide output only."""
        self.notes: tuple[str, ...] = ()
        """What is to be said beside the rows."""

    def pump(self) -> None:
        """Takes up all that is new."""
        self._feed.drain()
        self._state.begin_frame()

    @property
    @abstractmethod
    def empty(self) -> str:
        """The line that is printed where there is no row."""

    @abstractmethod
    def items(self) -> dict[ObjectRef, Item]: ...

    @abstractmethod
    def rows(self) -> list[Row]: ...


class ResourceRows(PrintedTable):
    """The rows of a view of the store."""

    def __init__(self, session: Session, view: View[Any], wanted: str, only: frozenset[str] | None) -> None:
        super().__init__(session, view.watched)
        self._model = StoreTableModel(self._state, view)
        self._model.narrow(wanted)
        self._only = only
        self._name_at = next((index for index, column in enumerate(view.columns) if column.name == "name"), None)
        self._with_reason = view.name == "nonadmin"
        self.titles = [(column.title, column.wide) for column in view.columns]
        if self._with_reason:
            self.titles.append(("REASON", False))
        self._kinds = {kind for kind in KINDS if kind.name in (only or view.kinds)}

    @property
    def empty(self) -> str:
        """Says so where something was not seen, or where Velero's own objects are outside of the namespaces given."""
        gaps = _not_seen(self._session, {"", *(kind.name for kind in self._kinds)})
        if gaps:
            return f"Nothing visible. Not visible: {gaps}."
        places = ", ".join(self._session.namespaces)
        if places and self._kinds <= BESIDE_VELERO:
            return f"Nothing in {places}. Velero's objects are in its own namespace: name that one, or omit -n."
        return f"Nothing in {places}." if places else "No resources found."

    def pump(self) -> None:
        super().pump()
        self._model.pump()

    def items(self) -> dict[ObjectRef, Item]:
        return {key: self._model.item(key) for key, _ in self._shown()}

    def rows(self) -> list[Row]:
        return [self._plain(self._model.row(key, entry), entry) for key, entry in self._shown()]

    def _shown(self) -> Iterator[tuple[ObjectRef, Any]]:
        return (row for row in self._model.ordered() if self._is_wanted(row[0]))

    def _is_wanted(self, key: ObjectRef) -> bool:
        """Namespaces are watched as a whole: with -n only those that were named are printed."""
        if key.kind == NAMESPACE.name and self._session.namespaces and key.name not in self._session.namespaces:
            return False
        return self._only is None or key.kind in self._only

    def _plain(self, row: Row, entry: Any) -> Row:
        """A name that a script reads has no sign before it; why a tenant's object does not get on stands last."""
        cells = list(row.cells[self._model.many :])
        name = unsigned(row.key.name)
        if self._name_at is not None and not sys.stdout.isatty() and cells[self._name_at].text.endswith(name):
            cells[self._name_at] = Cell(name)
        if self._with_reason:
            cells.append(Cell(unsigned(entry.reason) if isinstance(entry, NonAdminRow) else ""))
        return replace(row, cells=tuple(cells))


class FindingRows(PrintedTable):
    """The findings of all contexts exactly as Triage shows them: debounced, aggregated, with what cannot be seen."""

    def __init__(self, session: Session, wanted: str) -> None:
        super().__init__(session, None)
        self._model = FindingsTableModel(self._state)
        self._model.shows_acknowledged = True
        self._model.narrow(wanted)
        self.titles = [*((column.title, column.wide) for column in findings.COLUMNS), ("ACKNOWLEDGED", False)]

    def pump(self) -> None:
        super().pump()
        # Wherever a Velero is by now.
        self._session.watch_on_demand(KINDS_OF_VOLUMES)
        self._state.judge(at_once=True)
        self._model.pump()

    @property
    def empty(self) -> str:
        """Says "no problems" only where everything was seen."""
        gaps = _not_seen(self._session)
        return f"No problems in what is visible. Not visible: {gaps}." if gaps else "No problems."

    def items(self) -> dict[ObjectRef, Item]:
        return {key: self._model.item(key) for key, _ in self._model.ordered()}

    def rows(self) -> list[Row]:
        return [self._row(key, finding) for key, finding in self._model.ordered()]

    def _row(self, key: ObjectRef, found: Finding) -> Row:
        render = self._state.render_context_of(found)
        note = found.acknowledged
        reason = unsigned(render.text(acknowledgement_text(note))) if note is not None else ""
        return Row(key, findings.FINDINGS.mark(found, render), (*self._model.plain_cells(found, render), Cell(reason)))


def _not_seen(session: Session, kinds: Collection[str] | None = None) -> str:
    unseen = [gap for context in session.contexts for gap in session.snapshot(context).unseen]
    shown = [gap for gap in unseen if kinds is None or gap.kind in kinds]
    return ", ".join(f"{gap.kind or gap.context} ({gap.why()})" for gap in shown)


class RowChange(msgspec.Struct, frozen=True):
    """A row that came, changed or went, in kubectl's words: ADDED, MODIFIED, DELETED."""

    type: str
    key: ObjectRef
    item: Item


async def row_changes(source: PrintedTable) -> AsyncIterator[list[RowChange]]:
    """First all that is there, then what changes, until it is interrupted; a lost API server is waited out."""
    before: dict[ObjectRef, Item] = {}
    while True:
        source.pump()
        items = source.items()
        yield [
            *(RowChange("ADDED", key, item) for key, item in items.items() if key not in before),
            *(RowChange("MODIFIED", key, item) for key, item in items.items() if key in before and before[key] != item),
            *(RowChange("DELETED", key, item) for key, item in before.items() if key not in items),
        ]
        before = items
        source.changed.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LONGEST):
                await source.changed.wait()
        await asyncio.sleep(_EACH)
