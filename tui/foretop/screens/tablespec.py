"""What makes one table page different from another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from foretop.desk import Desk
from foretop.prose import Line, Para, span
from foretop.rows import Rows
from foretop.widgets.columns import Wishes
from foretop_core.store import Key
from foretop_core.tables.engine.status_glyphs import Tone


@dataclass(frozen=True, slots=True)
class TableSpec:
    rows: Callable[[Desk], Rows]
    pane: Callable[[Rows, Key, Desk], tuple[Para, ...]]
    kinds: frozenset[str]
    """The plurals without which it has nothing to show."""
    wishes: Wishes
    """Which columns are given up last, and how much of them is kept."""
    empty: Callable[[Desk], list[Line]] | None = None
    """What to say where there are no rows though all was seen."""
    tells_keys: bool = False
    """Whether the pane ends with the keys that act on the row."""


def safely(make: Callable[[], tuple[Para, ...]], key: Key) -> tuple[Para, ...]:
    """A pane that cannot be made says so; the table goes on."""
    try:
        return make()
    except Exception as problem:
        return (Para((span(f"{key.name} cannot be told: {type(problem).__name__}: {problem}", Tone.BAD),)),)
