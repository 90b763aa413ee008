"""The layout of columns: which fit, and where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.tables.engine.drawings import LEAST_BAR
from foretop_core.tables.engine.view import Column
from foretop_core.tables.text.terminal_text import width

GAP = 2
NARROW = 50
_LEAST = 12
_LEAST_OF = {"context": 8, "subject": 24, "what": 20, "phase": 11, "velero": 11, "from": 5, "backup": 16}
"""A column that may be cut keeps at least this much."""
_TIGHT = 16
"""What a column that may be cut keeps where a wide table would show no further column otherwise."""
_ALWAYS = ("name", "subject", "context")
_ESSENTIAL = 3
NAME, LONG_NAME = 26, 40
"""Up to here names are served before the others are; that of the row itself further, before more columns are shown."""
_AT_80 = 76
"""The room for columns in a table that is 80 wide."""


class ColumnSlot(msgspec.Struct, frozen=True):
    """One column on the line."""

    index: int
    x: int
    width: int


class ColumnPriorities(msgspec.Struct, frozen=True):
    """The order in which columns are kept where there is no room for all."""

    rank: tuple[str, ...] = ()
    wide: bool = False
    tight: bool = False
    """A wide table with little room: columns are cut further."""
    essential: int = _ESSENTIAL
    """So many of the first in rank stay when further columns are asked for."""
    selected: str = ""
    least: Mapping[str, int] = msgspec.field(default_factory=dict)
    """By column, how much of it is kept when it is cut, where that is not the usual."""
    first: Mapping[str, int] = msgspec.field(default_factory=dict)
    """By column, up to how many cells it gets before names are given more."""
    needed: frozenset[str] = frozenset()
    """Columns that are not for a wide table alone, whatever they say of themselves."""
    without: frozenset[str] = frozenset()
    """What is told elsewhere."""
    chosen: tuple[str, ...] = ()
    """The columns that a person wants, in their order; further ones are shown in a wide table only."""
    narrow: Mapping[str, int] = msgspec.field(default_factory=dict)
    """On a line of less than `NARROW` cells: the columns that stay, by rank, and how much of them is kept."""

    def for_room(self, room: int) -> ColumnPriorities:
        """The columns of a line with so much room; a wide table or a selected column is asked for on any line."""
        if room >= NARROW or not self.narrow or self.wide:
            return self
        return replace(self, rank=tuple(self.narrow), least={**self.least, **self.narrow})


def arrange(
    columns: Sequence[Column[Any]], natural: Sequence[int], room: int, priorities: ColumnPriorities
) -> tuple[ColumnSlot, ...]:
    """Places the columns in their own order; what does not fit goes by rank, and long ones are cut before that."""
    priorities = priorities.for_room(room)
    shown = [place for place in range(len(columns)) if is_wanted(columns[place].name, priorities)]
    order, least, taken = _fitting(columns, natural, room, priorities, shown)
    served = [min(size, NAME) if column.name in _ALWAYS else 0 for column, size in zip(columns, natural, strict=True)]
    if room > _AT_80 and not priorities.wide and not priorities.chosen:
        few = _fitting(columns, natural, _AT_80, priorities, shown)[2]
        whole = [_served(column, size) for column, size in zip(columns, natural, strict=True)]
        taken = _with_further(columns, natural, room, priorities, few, taken, least, whole)
        served = whole if len(taken) > len(few) else served
    if priorities.wide:
        # Beside the pane there may be no room for a further column: others are cut more, and then left out.
        hidden = [place for place in shown if _is_for_wide(columns[place], priorities)]
        for essential in reversed(range(_ESSENTIAL + 1)):
            if not hidden or any(place in taken for place in hidden):
                break
            tight = replace(priorities, tight=True, essential=essential)
            order, least, taken = _fitting(columns, natural, room, tight, shown)
    if not taken and order:
        return (ColumnSlot(order[0], 0, max(1, room)),)
    sizes_of = {place: least[place] for place in taken}
    spare = room - _total(list(sizes_of.values()))
    growing = {place: priorities.first.get(columns[place].name, 0) for place in taken}
    first = [min(size, growing.get(place, 0)) for place, size in enumerate(natural)]
    spare = _share_out(sizes_of, first, spare, [place for place in taken if growing[place]])
    spare = _share_out(sizes_of, served, spare, taken)
    spare = _share_out(sizes_of, natural, spare, taken)
    _give_to_bar(sizes_of, columns, spare)
    return _placed(sizes_of, columns, priorities)


def _give_to_bar(sizes_of: dict[int, int], columns: Sequence[Column[Any]], spare: int) -> None:
    """Give a bar what is left; where that is too little, also what the name of the row has beyond `LONG_NAME`."""
    place = next((place for place in sizes_of if columns[place].bar), None)
    name = next((place for place in sizes_of if columns[place].name == "name"), None)
    if place is None or name is None:
        return
    beyond = max(0, sizes_of[name] - LONG_NAME) if spare <= LEAST_BAR else 0
    used = min(spare + beyond, columns[place].bar + 1)
    if used > LEAST_BAR:
        sizes_of[place] += used
        sizes_of[name] -= max(0, used - spare)


def _fitting(
    columns: Sequence[Column[Any]],
    natural: Sequence[int],
    room: int,
    priorities: ColumnPriorities,
    shown: Sequence[int],
) -> tuple[list[int], list[int], list[int]]:
    """The columns by rank, how much of each is kept at least, and which of them fit so."""
    order = sorted(shown, key=lambda place: _rank(columns, place, priorities))
    least = [_least(column, size, priorities) for column, size in zip(columns, natural, strict=True)]
    taken: list[int] = []
    for place in order:
        asked_for = columns[place].name == priorities.selected or columns[place].name in priorities.chosen
        modest = _is_for_wide(columns[place], priorities) and not priorities.wide and not asked_for
        sizes = natural if modest else least
        if _total([sizes[other] for other in (*taken, place)]) <= room:
            taken.append(place)
    return order, least, taken


def _with_further(
    columns: Sequence[Column[Any]],
    natural: Sequence[int],
    room: int,
    priorities: ColumnPriorities,
    few: Sequence[int],
    more: Sequence[int],
    least: Sequence[int],
    whole: Sequence[int],
) -> list[int]:
    """The columns of a narrower table, and of the further ones those that no name is cut for."""
    taken = list(few)
    first = [min(size, priorities.first.get(column.name, 0)) for column, size in zip(columns, natural, strict=True)]
    needed = [max(sizes) for sizes in zip(least, whole, first, strict=True)]
    for place in more:
        size = natural[place] if _is_for_wide(columns[place], priorities) else least[place]
        if place not in few and _total([*(needed[other] for other in taken), size]) <= room:
            taken.append(place)
    return taken


def _served(column: Column[Any], natural: int) -> int:
    """How much of a name is shown before a further column is; 0 for what is not a name."""
    return min(natural, LONG_NAME if column.name in _ALWAYS else NAME if column.from_middle else 0)


def is_wanted(name: str, priorities: ColumnPriorities) -> bool:
    """True if a column may stand on the line at all; that of the context always may."""
    if name in priorities.without:
        return False
    return not priorities.chosen or priorities.wide or name in (*priorities.chosen, "context", priorities.selected)


def _share_out(sizes_of: dict[int, int], wanted: Sequence[int], spare: int, places: Sequence[int]) -> int:
    """Give the room that is left cell by cell to columns that lack some, in turn; returns the rest."""
    while spare > 0:
        wanting = [place for place in places if sizes_of[place] < wanted[place]]
        if not wanting:
            break
        for place in wanting[:spare]:
            sizes_of[place] += 1
        spare -= len(wanting[:spare])
    return spare


def _least(column: Column[Any], natural: int, priorities: ColumnPriorities) -> int:
    kept = priorities.least.get(column.name, _LEAST_OF.get(column.name))
    if kept is not None and priorities.wide:
        # Whoever asks for more columns gets them by narrower ones.
        kept = min(kept, _TIGHT if priorities.tight else 2 * _LEAST)
    flexible = column.from_middle or kept is not None or natural > 2 * _LEAST
    return min(natural, max(kept or _LEAST, width(column.title))) if flexible else natural


def _rank(columns: Sequence[Column[Any]], place: int, priorities: ColumnPriorities) -> tuple[int, int, int]:
    column = columns[place]
    if column.name in priorities.chosen:
        return 0, 0, priorities.chosen.index(column.name)
    if column.name in _ALWAYS:
        return 0, 0, place
    if column.name == priorities.selected:
        return 0, 1, place
    listed = priorities.rank.index(column.name) if column.name in priorities.rank else len(priorities.rank)
    if priorities.wide and listed < priorities.essential:
        return 1, listed, place
    if _is_for_wide(column, priorities):
        return (2 if priorities.wide else 4), listed, place
    return 3, listed, place


def _is_for_wide(column: Column[Any], priorities: ColumnPriorities) -> bool:
    return column.wide and column.name not in priorities.needed


def _total(sizes: Sequence[int]) -> int:
    return sum(sizes) + GAP * (len(sizes) - 1)


def _placed(
    sizes_of: dict[int, int], columns: Sequence[Column[Any]], priorities: ColumnPriorities
) -> tuple[ColumnSlot, ...]:
    """In the order that a person chose, behind the context; the others follow in their own order."""
    order = {name: index for index, name in enumerate(("context", *priorities.chosen))} if priorities.chosen else {}
    slots: list[ColumnSlot] = []
    x = 0
    for place in sorted(sizes_of, key=lambda place: (order.get(columns[place].name, len(order)), place)):
        slots.append(ColumnSlot(place, x, sizes_of[place]))
        x += sizes_of[place] + GAP
    return tuple(slots)
