from __future__ import annotations

from foretop_core.tables.engine import layout
from foretop_core.tables.engine.columns import Cell, Column
from foretop_core.tables.resources.runs import BackupsView
from foretop_core.tables.text.cell_text import cut, width


def cells(*texts: str) -> tuple[Cell, ...]:
    return tuple(Cell(text) for text in texts)


COLUMNS: list[Column[object]] = [
    Column("name", "BACKUP", lambda _entry, _scene: "", lambda _: None, from_middle=True),
    Column("phase", "PHASE", lambda _entry, _scene: "", lambda _: None),
    Column("errors", "E", lambda _entry, _scene: "", lambda _: None, right=True),
]
ROWS = [cells("mongo-nightly-20261115023003", "PartiallyFailed", "3"), cells("x", "New", "12")]


def test_columns_are_as_wide_as_their_rows_if_there_is_space() -> None:
    sizes = layout.widths(COLUMNS, ROWS)
    assert sizes == [28, 15, 2]
    assert layout.header(COLUMNS, sizes) == "BACKUP                        PHASE             E"
    assert layout.line(COLUMNS, ROWS[1], sizes) == ["x".ljust(28), "New".ljust(15), "12"]


def test_the_widest_column_shrinks_and_a_name_keeps_its_end() -> None:
    sizes = layout.widths(COLUMNS, ROWS, room=40)
    assert sum(sizes) + layout.GAP * 2 == 40
    name, phase, errors = layout.line(COLUMNS, ROWS[0], sizes)
    assert name.startswith("mongo")
    assert name.endswith("3003")
    assert phase.startswith("Partially")
    assert errors == " 3"


def test_a_very_narrow_line_keeps_part_of_every_column() -> None:
    sizes = layout.widths(COLUMNS, ROWS, room=5)
    assert sizes == [6, 6, 2]
    assert all(width(text) == size for text, size in zip(layout.line(COLUMNS, ROWS[0], sizes), sizes, strict=True))


def test_a_narrow_terminal_hides_the_wide_columns() -> None:
    columns = BackupsView().columns
    narrow = [columns[place].title for place in layout.chosen(columns, wide=False)]
    assert narrow == ["BACKUP", "PHASE", "E", "W", "STARTED", "TOOK", "EXPIRES", "FROM", "LOCATION"]
    assert len(layout.chosen(columns, wide=True)) == len(columns)


def test_an_owner_is_abbreviated_before_it_is_cut() -> None:
    column: Column[object] = Column("from", "FROM", lambda _entry, _scene: "", lambda _: None)
    cell = Cell("nab team-pay/ledger", briefs=("nab team-pay", "team-pay", "nab"))
    fitted = [layout.fit(cell, column, size) for size in (19, 18, 11, 5, 2)]
    assert fitted == ["nab team-pay/ledger", "nab team-pay", "team-pay", "nab", "n…"]


def test_the_name_of_a_tenants_backup_is_cut_in_its_uuid() -> None:
    name = "team-pay-ledger-0651-16-c9f0a1b2-1111-4222-8333-a1d79d284934"
    assert cut(name, 26) == "team-pay-ledger-0651-…4934"
