"""The settings of a table page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from foretop.widgets.column_layout import ColumnPriorities
from foretop.widgets.paragraphs import Line, Paragraph, span
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.errors import let_through
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.status_glyphs import Tone


class TableSpec(msgspec.Struct, frozen=True):
    rows: Callable[[DashboardState], TableModel]
    pane: Callable[[TableModel, ObjectRef, DashboardState], tuple[Paragraph, ...]]
    kinds: frozenset[str]
    """The names of the kinds without which it has nothing to show."""
    priorities: ColumnPriorities
    """Which columns are given up last, and how much of them is kept."""
    empty: Callable[[DashboardState], list[Line]] | None = None
    """What to say where there are no rows though all was seen."""
    least_with_pane: int = 12
    """Lines of the page from which on it has a pane below its table."""
    shows_keys: bool = False
    """Whether the pane ends with the keys that act on the row."""


def safely(
    make: Callable[[], Sequence[Paragraph]], what: str, key: ObjectRef, state: DashboardState
) -> Sequence[Paragraph]:
    """A pane that cannot be made says so and is listed in Triage; everything else goes on."""
    try:
        return make()
    except Exception as problem:
        let_through(problem)
        failure = state.note_failure(what, key, problem)
        return (Paragraph((span(f"{key.name} cannot be shown: {failure.problem}", Tone.BAD),)),)
