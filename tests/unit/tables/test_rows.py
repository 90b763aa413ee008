from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.rows import SortedRows, everything
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import Column
from foretop_core.tables.resources.runs import BackupRow, BackupsView
from tests.objects import backup
from tests.tui.fake_source import CONTEXT, FilledSource


@dataclass(frozen=True)
class Row:
    size: int | None
    note: str = ""


def key(name: str) -> ObjectRef:
    return ObjectRef("prod", "Backup", "velero", name)


def by_size(row: Row) -> int | None:
    return row.size


def small(_key: ObjectRef, row: Row) -> bool:
    return row.size is None or row.size < 5


def names(table: SortedRows[Row]) -> list[str]:
    return [row_key.name for row_key, _ in table]


def test_rows_are_sorted_with_missing_values_last() -> None:
    table = SortedRows[Row](by_size)
    for name, size in (("b", 2), ("none", None), ("a", 1), ("c", 2)):
        table.update({key(name): Row(size)})
    assert names(table) == ["a", "b", "c", "none"]
    table.sort(by_size, reverse=True)
    assert names(table) == ["c", "b", "a", "none"]


def test_only_visible_changes_are_reported() -> None:
    table = SortedRows[Row](by_size)
    table.update({key("a"): Row(1)})
    table.update({key("b"): Row(2)})
    assert table.update({key("b"): Row(2, "new")})
    assert not table.update({key("b"): Row(2, "new")})
    assert table.update({key("b"): Row(0, "new")})
    assert table.remove(key("a"))
    assert not table.remove(key("a"))


def test_a_row_that_no_longer_matches_the_filter_is_hidden_but_kept() -> None:
    table = SortedRows[Row](by_size, small)
    table.update({key("a"): Row(1)})
    assert table.update({key("a"): Row(9)})
    assert (len(table), table.total, table.index_of(key("a"))) == (0, 1, None)
    assert not table.update({key("a"): Row(10)})
    assert table.update({key("a"): Row(3)})


def test_the_cursor_follows_its_row_by_key() -> None:
    table = SortedRows[Row](by_size)
    for size in range(10):
        table.update({key(f"n{size}"): Row(size)})
    table.remove(key("n3"))
    assert table.index_of(key("n7")) == 6
    assert table.key_at(6) == key("n7")
    assert [row.size for _, row in table.window(5, 8)] == [6, 7, 8]
    assert [row.size for _, row in table.window(7, 99)] == [8, 9]


def test_new_findings_replace_the_old_ones() -> None:
    table = SortedRows[Row](by_size)
    table.replace([(key("a"), Row(1)), (key("b"), Row(2)), (key("c"), Row(3))])
    wanted = [(key("a"), Row(1)), (key("c"), Row(3, "worse")), (key("d"), Row(4))]
    assert table.replace(wanted)
    assert list(table) == wanted
    assert not table.replace(wanted)


def test_many_changes_are_sorted_in_one_pass() -> None:
    table = SortedRows[Row](by_size, small)
    table.update({key("stays"): Row(2), key("goes"): Row(1)})
    flood: dict[ObjectRef, Row | None] = {key(f"n{number}"): Row(number % 7) for number in range(300)}
    assert table.update({**flood, key("goes"): None})
    sizes = [row.size for _, row in table]
    assert sizes == sorted(sizes, key=lambda size: size or 0)
    assert (table.total, key("goes") in table, key("stays") in table) == (301, False, True)


@dataclass(frozen=True)
class Compared:
    """A value that counts how often two of its kind are compared."""

    size: int
    comparisons: list[int]

    def __lt__(self, other: Compared) -> bool:
        self.comparisons[0] += 1
        return self.size < other.size


def test_a_change_of_every_row_costs_one_sort() -> None:
    comparisons = [0]
    table = SortedRows[Row](lambda row: Compared(row.size or 0, comparisons))
    table.replace((key(f"n{number}"), Row(number)) for number in range(1000))
    comparisons[0] = 0
    table.replace((key(f"n{number}"), Row(number * 7 % 1000)) for number in range(1000))
    changed, comparisons[0] = comparisons[0], 0
    table.sort(lambda row: Compared(row.size or 0, comparisons))
    assert changed == comparisons[0]


class Counted:
    """Counts how often rows are derived."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, row: Row) -> int | None:
        self.calls += 1
        return row.size


@pytest.mark.parametrize("rows", [10, 5_000])
def test_one_change_derives_only_one_row(rows: int) -> None:
    sort = Counted()
    table = SortedRows[Row](sort)
    table.replace((key(f"n{number}"), Row(number)) for number in range(rows))
    sort.calls = 0
    table.update({key("n5"): Row(7)})
    table.remove(key("n6"))
    assert sort.calls == 1
    table.sort(sort, reverse=True)
    assert sort.calls == rows


def test_a_filter_that_narrows_asks_for_visible_rows_only_and_sorts_none() -> None:
    sort, asked = Counted(), list[int | None]()

    def keep_below(limit: int, _key: ObjectRef, row: Row) -> bool:
        asked.append(row.size)
        return row.size is not None and row.size < limit

    table = SortedRows[Row](sort)
    table.replace((key(f"n{number}"), Row(number)) for number in range(9))
    table.filter(partial(keep_below, 5))
    sort.calls = 0
    asked.clear()
    table.filter(partial(keep_below, 3), narrows=True)
    assert (names(table), asked, sort.calls) == (["n0", "n1", "n2"], [0, 1, 2, 3, 4], 0)
    table.filter(partial(keep_below, 4))
    assert names(table) == ["n0", "n1", "n2", "n3"], "one that does not narrow looks at every row"


STEP = st.one_of(
    st.tuples(st.just("put"), st.sampled_from("abcdef"), st.none() | st.integers(0, 9), st.sampled_from(("", "x"))),
    st.tuples(st.just("remove"), st.sampled_from("abcdef")),
    st.tuples(st.just("sort"), st.booleans(), st.booleans()),
    st.tuples(st.just("filter"), st.booleans()),
    st.tuples(st.just("replace"), st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers(0, 9))),
)


@given(st.lists(STEP, max_size=30))
def test_incremental_rows_equal_those_sorted_and_filtered_from_scratch(steps: list[tuple[Any, ...]]) -> None:
    table, model = SortedRows[Row](by_size), dict[ObjectRef, Row]()
    by_value, reverse, only_small = True, False, False
    for step in steps:
        before, reported = list(table), False
        match step:
            case ("put", name, size, note):
                model[key(name)] = Row(size, note)
                reported = table.update({key(name): Row(size, note)})
            case ("remove", name):
                model.pop(key(name), None)
                reported = table.remove(key(name))
            case ("sort", value, backwards):
                by_value, reverse = value, backwards
                table.sort(by_size if value else lambda _: None, reverse=backwards)
            case ("filter", wanted):
                narrows = wanted >= only_small
                only_small = wanted
                table.filter(small if wanted else everything, narrows=narrows)
            case ("replace", rows):
                model = {key(name): Row(size) for name, size in rows.items()}
                reported = table.replace(model.items())
        expected = anew(model, by_value, reverse, only_small)
        assert [row_key for row_key, _ in table] == expected
        assert reported == (list(table) != before) or step[0] in ("sort", "filter")
        assert [table.index_of(row_key) for row_key in expected] == list(range(len(expected)))
        assert all(table.get(row_key) == row for row_key, row in model.items())


def anew(model: dict[ObjectRef, Row], by_value: bool, reverse: bool, only_small: bool) -> list[ObjectRef]:
    kept = {row_key: row for row_key, row in model.items() if small(row_key, row) or not only_small}
    if not by_value:
        return sorted(kept, reverse=reverse)
    valued = [row_key for row_key in kept if kept[row_key].size is not None]
    empty = [row_key for row_key in kept if kept[row_key].size is None]
    valued.sort(key=lambda row_key: (kept[row_key].size or 0, row_key), reverse=reverse)
    return [*valued, *sorted(empty, reverse=reverse)]


def test_a_row_that_is_gone_is_not_counted_in_its_state_any_more() -> None:
    source = FilledSource([backup("good"), backup("bad", "Failed"), backup("worse", "Failed")])
    rows = StoreTableModel(DashboardState(source, lambda: 0.0), BackupsView(), worst_first=True)
    assert rows.marks == {StatusGlyph.HEALTHY: 1, StatusGlyph.BROKEN: 2}
    source.store.sink(WatchScope(CONTEXT, BACKUP), source.manual).apply("DELETED", backup("bad", "Failed"))
    rows.pump()
    assert rows.marks == {StatusGlyph.HEALTHY: 1, StatusGlyph.BROKEN: 1}


def test_a_row_whose_value_fails_to_be_had_comes_last_and_the_others_are_sorted() -> None:
    view = BackupsView()
    odd = Column[BackupRow]("odd", "ODD", lambda entry, _: "", lambda entry: {"b": 2, "c": 1}[entry.run.name])
    view.columns = (*view.columns, odd)
    rows = StoreTableModel(DashboardState(FilledSource([backup(name) for name in "abc"]), lambda: 0.0), view)
    rows.sort("odd", reverse=False)
    assert [row_key.name for row_key, _ in rows.table] == ["c", "b", "a"]
    rows.sort("odd", reverse=True)
    assert [row_key.name for row_key, _ in rows.table] == ["b", "c", "a"]
