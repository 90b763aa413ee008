from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.groups import HEAD, GroupedRows, GroupHeader, head_key
from foretop_core.tables.engine.rows import SortedRows, everything
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, run_standing


@dataclass(frozen=True)
class Row:
    size: int | None
    broken: bool = False


def key(namespace: str, name: str, context: str = "prod") -> ObjectRef:
    return ObjectRef(context, "NonAdminBackup", namespace, name)


def by_size(row: Row) -> int | None:
    return row.size


def small(_key: ObjectRef, row: Row) -> bool:
    return row.size is None or row.size < 5


def standing(_key: ObjectRef, row: Row) -> StatusLabel | None:
    return (StatusGlyph.BROKEN, "failed") if row.broken else None


def shown_lines(lines: GroupedRows[Row]) -> list[str]:
    """`pay 2 1 failed` for a group header, the name for a row."""
    return [
        " ".join([entry.group[1], str(entry.size), *(f"{count} {word}" for (_, word), count in entry.standings)])
        if isinstance(entry, GroupHeader)
        else held.name
        for held, entry in lines.window(0, len(lines))
    ]


@pytest.fixture
def table() -> SortedRows[Row]:
    table = SortedRows[Row](by_size)
    table.replace(
        [
            (key("pay", "b"), Row(2)),
            (key("ml", "z"), Row(1, broken=True)),
            (key("pay", "a"), Row(1)),
            (key("web", "c"), Row(None)),
            (key("ml", "y"), Row(7)),
        ]
    )
    return table


def test_rows_are_grouped_by_namespace_in_their_own_order(table: SortedRows[Row]) -> None:
    lines = GroupedRows(table, standing)
    assert shown_lines(lines) == ["ml 2 1 failed", "z", "y", "pay 2", "a", "b", "web 1", "c"]
    table.sort(by_size, reverse=True)
    assert shown_lines(lines) == ["ml 2 1 failed", "y", "z", "pay 2", "b", "a", "web 1", "c"]
    lines.close()
    assert [held.name for held, _ in table] == ["y", "b", "a", "z", "c"]


def test_a_group_header_counts_additions_changes_and_deletions(table: SortedRows[Row]) -> None:
    lines = GroupedRows(table, standing)
    table.update({key("pay", "a"): Row(1, broken=True)})
    table.update({key("ml", "z"): Row(9)})
    table.remove(key("web", "c"))
    table.update({key("new", "n"): Row(0, broken=True)})
    assert shown_lines(lines) == ["ml 2", "y", "z", "new 1 1 failed", "n", "pay 2 1 failed", "a", "b"]
    table.filter(small)
    assert shown_lines(lines) == ["new 1 1 failed", "n", "pay 2 1 failed", "a", "b"]


def test_a_collapsed_group_is_one_line_and_keeps_its_rows(table: SortedRows[Row]) -> None:
    lines = GroupedRows(table, standing)
    lines.fold(head_key(("prod", "ml")))
    assert shown_lines(lines) == ["ml 2 1 failed", "pay 2", "a", "b", "web 1", "c"]
    assert lines.index_of(key("ml", "z")) is None
    assert [held.name for held, _ in lines.rows()] == ["z", "y", "a", "b", "c"]
    assert [held.name for held in lines.members(head_key(("prod", "ml")))] == ["z", "y"]
    lines.unfold(key("ml", "z"))
    assert lines.index_of(key("ml", "z")) == 1


def test_namespaces_of_two_clusters_are_two_groups() -> None:
    table = SortedRows[Row](by_size)
    table.replace([(key("pay", "a", "us"), Row(1)), (key("pay", "b", "eu"), Row(1)), (key("ml", "c", "us"), Row(1))])
    lines = GroupedRows(table, standing)
    assert [lines.key_at(line).context for line in range(len(lines))] == ["eu", "eu", "us", "us", "us", "us"]
    assert shown_lines(lines) == ["pay 1", "b", "ml 1", "c", "pay 1", "a"]


class Counted:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, key: ObjectRef, row: Row) -> StatusLabel | None:
        self.calls += 1
        return standing(key, row)


@pytest.mark.parametrize("rows", [10, 5_000])
def test_a_change_recounts_only_its_own_row(rows: int) -> None:
    asked = Counted()
    table = SortedRows[Row](by_size)
    table.replace((key(f"ns-{number % 50}", f"n{number}"), Row(number)) for number in range(rows))
    lines = GroupedRows(table, asked)
    asked.calls = 0
    table.update({key("ns-5", "n5"): Row(5, broken=True)})
    list(lines.window(0, 40))
    assert asked.calls <= 4


SPACES, NAMES = st.sampled_from("xyz"), st.sampled_from("abcd")
STEP = st.one_of(
    st.tuples(st.just("put"), SPACES, NAMES, st.none() | st.integers(0, 9), st.booleans()),
    st.tuples(st.just("remove"), SPACES, NAMES),
    st.tuples(st.just("sort"), st.booleans()),
    st.tuples(st.just("filter"), st.booleans()),
    st.tuples(st.just("fold"), SPACES),
)


@given(st.lists(STEP, max_size=30))
def test_incremental_lines_equal_those_grouped_from_scratch(steps: list[Any]) -> None:
    table = SortedRows[Row](by_size)
    lines = GroupedRows(table, standing)
    folded: set[str] = set()
    for step in steps:
        match step:
            case ("put", space, name, size, broken):
                table.update({key(space, name): Row(size, broken)})
            case ("remove", space, name):
                table.remove(key(space, name))
            case ("sort", reverse):
                table.sort(by_size, reverse=reverse)
            case ("filter", narrow):
                table.filter(small if narrow else everything)
            case ("fold", space):
                lines.fold(head_key(("prod", space)))
                folded ^= {space}
    wanted: list[ObjectRef] = []
    rows = [held for held, _ in table]
    for space in sorted({held.namespace for held in rows}):
        wanted.append(head_key(("prod", space)))
        wanted += [held for held in rows if held.namespace == space and space not in folded]
    shown = [held for held, _ in lines.window(0, len(lines))]
    assert shown == wanted == [lines.key_at(line) for line in range(len(lines))]
    assert [lines.index_of(held) for held in shown] == list(range(len(shown)))
    for _, entry in lines.window(0, len(lines)):
        if isinstance(entry, GroupHeader):
            below = [table.get(held) for held in rows if held.namespace == entry.group[1]]
            assert entry.size == len(below)
            assert dict(entry.standings).get((StatusGlyph.BROKEN, "failed"), 0) == sum(
                row is not None and row.broken for row in below
            )
    assert all(held.kind != HEAD for held, _ in lines.rows())


def test_each_head_knows_its_line_and_that_of_the_next(table: SortedRows[Row]) -> None:
    lines = GroupedRows[Row](table, standing)
    heads = [head_key(("prod", name)) for name in ("ml", "pay", "web")]
    assert [lines.index_of(head) for head in heads] == [0, 3, 6]
    assert [lines.next_head(head) for head in heads] == [3, 6, None]
    assert lines.next_head(head_key(("prod", "nowhere"))) is None
    found = {held: place for place, (held, _) in enumerate(lines.window(0, len(lines)))}
    assert {held: lines.index_of(held) for held in found} == found
    lines.fold(heads[0])
    assert [entry.folded for _, entry in lines.window(0, len(lines)) if isinstance(entry, GroupHeader)] == [
        *(True, False, False),
    ]
    assert [lines.index_of(head) for head in heads] == [0, 1, 4]
    assert lines.index_of(key("ml", "z")) is None
    assert lines.index_of(key("pay", "b")) == 3
    lines.unfold(key("ml", "z"))
    assert lines.index_of(key("ml", "z")) == 1


@pytest.mark.parametrize(
    ("phase", "mark", "word"),
    [
        ("Queued", StatusGlyph.WAITING, "waiting"),
        ("InProgress", StatusGlyph.RUNNING, "running"),
        ("Deleting", StatusGlyph.RUNNING, "deleting"),
        ("FailedValidation", StatusGlyph.BROKEN, "refused"),
        ("Failed", StatusGlyph.BROKEN, "failed"),
        ("PartiallyFailed", StatusGlyph.LOOK, "partly failed"),
    ],
)
def test_a_run_that_is_not_well_says_how_it_stands(phase: str, mark: StatusGlyph, word: str) -> None:
    assert run_standing(phase) == (mark, word)
    assert run_standing("Completed") is run_standing("of tomorrow") is None
