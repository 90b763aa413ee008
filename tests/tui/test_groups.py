"""Rows under their namespaces: what stays where it is, and what the heads are for."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.models import NonAdminBackup, Resource, from_builtins
from foretop_core.models.kinds import NAB
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.groups import HEAD
from tests.tui.fake_source import FilledSource, calm, meta, troubled
from tests.tui.pilot import MIDDLE, Screen, screen


def _nab(namespace: str, name: str, phase: str = "Created") -> dict[str, Any]:
    velero = {"veleroBackup": {"status": {"phase": "Completed"}}} if phase == "Created" else {}
    return {"metadata": meta(name, namespace), "status": {"phase": phase, **velero}}


def _many(number: int) -> list[Resource]:
    return [from_builtins(NonAdminBackup, _nab(f"team-{place % 40:02}", f"nab-{place:05}")) for place in range(number)]


def _heads(shown: Screen) -> list[str]:
    return [line[1:].rstrip() for line in shown.table_lines if line[1:3] in ("▾ ", "▸ ")]


def _head(namespace: str, context: str = "prod-eu") -> ObjectRef:
    return ObjectRef(context, HEAD, namespace, "")


@pytest.mark.sweep
async def test_more_groups_than_fit_are_an_overview_first() -> None:
    async with screen(FilledSource(_many(80))) as shown:
        await shown.press("3", "down", "b")
        assert _heads(shown)[0] == "▸ team-00  2"
        assert shown.table.cursor == _head("team-00")
        assert "80 rows in 40 groups" in shown.rule
        await shown.press("enter")
        assert _heads(shown)[:2] == ["▾ team-00  2", "▸ team-01  2"]


async def test_the_cursor_stays_on_its_object_into_groups_and_out_again() -> None:
    async with screen() as shown:
        await shown.press("3")
        orders = shown.source.key(NAB, "team-pay", "orders-db")
        await shown.on(orders)
        await shown.press("b")
        assert shown.table.cursor == orders
        await shown.press("up", "b")
        assert shown.table.cursor == orders


@pytest.mark.sweep
async def test_nothing_can_be_done_to_a_head_but_folding_and_marking() -> None:
    async with screen() as shown:
        await shown.press("3", "b", "home")
        assert shown.table.cursor == _head("team-ml")
        offered = {action.id for action in shown.app.main_screen.available()}
        assert {"fold", "mark", "group", "filter"} <= offered
        assert not offered & {"open", "jump", "yaml", "describe", "copy_name", "logs", "delete-nab"}
        assert "enter fold" in shown.footer
        assert "team-ml: 1 row, 1 refused" in shown.pane
        await shown.press("y", "c", "d", "ctrl+d")
        assert len(shown.app.screen_stack) == 1
        assert shown.page == "nonadmin"


@pytest.mark.sweep
async def test_enter_folds_a_group_and_opens_it_again() -> None:
    async with screen() as shown:
        await shown.press("3", "b", "home", "down", "down", "enter")
        assert shown.names() == ["", "features", "", "", "cms"]
        assert "▸ team-pay  2  1 running  1 waiting" in _heads(shown)
        assert shown.table.cursor == _head("team-pay")
        assert "enter unfold" in shown.footer
        await shown.press("enter")
        assert "enter fold" in shown.footer
        assert shown.names() == ["", "features", "", "orders-db", "ledger", "", "cms"]


async def test_a_jump_into_a_folded_group_opens_it() -> None:
    async with screen() as shown:
        await shown.press("3", "b", "home", "down", "down", "enter", "7", "slash", *"ledger", "enter", "J", "enter")
        await shown.until(lambda: shown.page == "nonadmin")
        assert shown.table.cursor == shown.source.key(NAB, "team-pay", "ledger")


async def test_space_on_a_head_marks_all_of_its_rows_and_goes_on_to_the_next_head() -> None:
    async with screen() as shown:
        await shown.press("3", "b", "home", "down", "down", "space")
        assert {key.name for key in shown.table.marked} == {"ledger", "orders-db"}
        assert shown.table.cursor == _head("team-web")
        await shown.press("up", "up", "up", "space")
        assert not shown.table.marked


@pytest.mark.sweep
async def test_a_range_over_heads_marks_the_rows_alone() -> None:
    async with screen() as shown:
        await shown.press("3", "b", "home", "down", "space", "end", "ctrl+@")
        assert [key.name for key in shown.table.marked] == ["features", "orders-db", "ledger", "cms"]


@pytest.mark.sweep
async def test_a_filter_and_an_order_work_within_the_groups() -> None:
    async with screen() as shown:
        await shown.press("3", "b", "slash", *"team-pay", "enter")
        assert _heads(shown) == ["▾ team-pay  2  1 running  1 waiting"]
        await shown.sort_by("age")
        assert shown.names() == ["", "ledger", "orders-db"]
        await shown.press("O")
        assert shown.names() == ["", "orders-db", "ledger"]
        await shown.press("escape", "ctrl+z")
        assert _heads(shown) == ["▾ team-ml  1  1 refused"]


async def test_what_is_saved_has_the_rows_in_their_order_and_no_heads(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with screen() as shown:
        await shown.press("3", "b", "home", "enter")
        await shown.sort_by("age")
        await shown.press("O", "ctrl+s", "enter", "ctrl+s", "down", "enter")
        await shown.until(lambda: any(tmp_path.glob("*.json")))
    assert _saved(tmp_path) == (
        ["features", "orders-db", "ledger", "↺ cms"],
        ["features", "orders-db", "ledger", "cms"],
    )


def _saved(folder: Path) -> tuple[list[str], list[str]]:
    (table,), (items,) = folder.glob("*.csv"), folder.glob("*.json")
    rows = list(csv.reader(table.read_text().splitlines()))
    return [row[2] for row in rows[1:]], [item["name"] for item in json.loads(items.read_text())["items"]]


async def test_one_changed_row_costs_its_line_and_that_of_its_head() -> None:
    async with screen(FilledSource([*calm(), *_many(3000)]), MIDDLE, painted=True) as shown:
        await shown.press("3")
        await shown.sort_by("name")
        await shown.press("b", "home", "enter")
        rows = shown.table.rows
        assert isinstance(rows, StoreTableModel)
        # So many rows come some at a time.
        derived = 0
        while derived != rows.table.derived:
            derived = rows.table.derived
            await shown.tick()
        shown.source.change(NAB, _nab("team-00", shown.names()[1], "BackingOff"))
        await shown.tick()
        derived, made = rows.table.derived, shown.table.strips_made
        shown.source.change(NAB, _nab("team-00", shown.names()[3], "BackingOff"))
        await shown.tick()
        assert rows.table.derived - derived == 1
        assert shown.table.strips_made - made == 2
        assert _heads(shown)[0] == "▾ team-00  75  2 refused"
        made = shown.table.strips_made
        shown.source.change(NAB, _nab("team-39", "nab-02999", "BackingOff"))
        await shown.tick()
        assert shown.table.strips_made == made


@pytest.mark.sweep
async def test_with_several_clusters_the_head_names_both() -> None:
    async with screen(FilledSource(troubled(), ("prod-eu", "prod-us"))) as shown:
        await shown.press("3", "b", "home")
        assert _heads(shown)[0] == "▾ eu  team-ml  1  1 refused"
        assert "CONTEXT" not in shown.text
        await shown.press("end")
        assert "▾ us  team-web  1  1 waiting" in _heads(shown)


@pytest.mark.sweep
async def test_without_our_signs_heads_have_letters() -> None:
    async with screen(display_options=DisplayOptions(ascii=True, flash=False)) as shown:
        await shown.press("3", "b", "home", "enter")
        assert shown.text.isascii()
        assert ">> team-ml  1  1 refused" in shown.lines
