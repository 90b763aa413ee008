"""What makes one table page different from another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from foretop.widgets.column_layout import ColumnPriorities
from foretop.widgets.paragraphs import Line, Paragraph, span
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.store import Key
from foretop_core.tables.engine.status_glyphs import Tone


@dataclass(frozen=True, slots=True)
class TableSpec:
    rows: Callable[[DashboardState], TableModel]
    pane: Callable[[TableModel, Key, DashboardState], tuple[Paragraph, ...]]
    kinds: frozenset[str]
    """The plurals without which it has nothing to show."""
    wishes: ColumnPriorities
    """Which columns are given up last, and how much of them is kept."""
    empty: Callable[[DashboardState], list[Line]] | None = None
    """What to say where there are no rows though all was seen."""
    tells_keys: bool = False
    """Whether the pane ends with the keys that act on the row."""


def safely(make: Callable[[], tuple[Paragraph, ...]], key: Key) -> tuple[Paragraph, ...]:
    """A pane that cannot be made says so; the table goes on."""
    try:
        return make()
    except Exception as problem:
        return (Paragraph((span(f"{key.name} cannot be told: {type(problem).__name__}: {problem}", Tone.BAD),)),)
