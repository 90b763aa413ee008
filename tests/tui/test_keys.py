"""Every key of the frame does what its line in the help says."""

from __future__ import annotations

import csv
import json
import string
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import OptionList

from foretop.app import Dashboard
from foretop.dialogs.base_modal import ChoicePicker
from foretop.dialogs.command_palette import CommandPalette
from foretop.dialogs.help_screen import HelpScreen, help_text
from foretop.dialogs.text_screens import MessagesScreen
from foretop.pages import filterable_page, table_page
from foretop.pages.page import PageAddress
from foretop.pages.table_page import TablePage
from foretop.terminal.serial_keys import SerialKeyApp
from foretop.widgets.line_widgets import TextPane
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_core.pages import TABS
from tests.tui.fake_source import FilledSource, calm, troubled
from tests.tui.pilot import LARGE, MIDDLE, SMALL, Screen, running, screen

TABLES = [tab for tab in TABS if tab.view]


async def test_keys_keep_their_order_where_the_machine_was_busy_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """However late it is, a key goes where those before it have led."""
    monkeypatch.setattr("foretop.terminal.serial_keys._PATIENCE", -1.0)
    async with screen() as shown:
        for key in ("2", "/", *"etcd"):
            shown.send(key)
        await shown.until(lambda: shown.page == "schedules" and "etcd" in shown.rule)
        assert shown.names() == ["etcd-hourly"]


async def test_a_key_is_not_kept_waiting_by_one_whose_widget_went_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waited until one more key was pressed, and then both were carried out."""
    lost: list[object] = []
    follow = SerialKeyApp._follow

    def lose_first(app: SerialKeyApp, *place: Any, **more: Any) -> None:
        if lost:
            follow(app, *place, **more)
        else:
            lost.append(place)

    monkeypatch.setattr(SerialKeyApp, "_follow", lose_first)
    async with screen() as shown:
        shown.send("2")
        shown.send("7")
        await shown.until(lambda: shown.page == "backups")
    assert lost


@pytest.mark.sweep
async def test_the_tab_of_a_page_is_lit_before_its_rows_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    lit: list[str] = []
    monkeypatch.setattr("foretop.main_screen.main_screen._MANY_OBJECTS", 0)
    async with screen(size=MIDDLE) as shown:

        def attach(page: TablePage, state: DashboardState) -> None:
            lit.extend(segment.text.strip() for segment in shown.lit[1])
            whole(page, state)

        whole = TablePage.attach
        monkeypatch.setattr(TablePage, "attach", attach)
        await shown.press("3", "7", "3")
    assert lit == ["3", "NonAdmin", "7", "Backups"]


@pytest.mark.sweep
async def test_a_filter_narrows_as_it_is_typed_and_one_escape_brings_everything_back() -> None:
    async with screen() as shown:
        await shown.press("2", "slash", *"hourly")
        assert shown.names() == ["etcd-hourly", "sales-hourly"]
        await shown.press("escape")
        assert len(shown.names()) == 6
        assert shown.table.has_focus


@pytest.mark.sweep
async def test_enter_keeps_the_filter_and_gives_the_keys_back_to_the_table() -> None:
    async with screen() as shown:
        await shown.press("2", "slash", *"paused:true", "enter", "down")
        assert shown.names() == ["cassandra", "reports"]
        assert shown.table.cursor == shown.source.key(SCHEDULE, "velero", "reports")
        await shown.press("escape")
        assert len(shown.names()) == 6


@pytest.mark.sweep
async def test_every_column_can_be_asked_for_by_the_name_that_stands_above_it() -> None:
    async with screen(size=LARGE) as shown:
        for tab in TABLES:
            await shown.press(str(tab.digit))
            rows = shown.table.rows
            assert rows is not None
            every = list(shown.table.window)
            for place, column in enumerate(rows.columns):
                has_word = " " not in column.title and column.name not in ("position", "promise")
                title = column.title if has_word else column.name
                cells = (row.cells[place].text for row in every if row.cells)
                cell = next((text for text in cells if text and text != "–"), "")
                rows.narrow(f"{title.partition('/')[0]}:'{cell}'")
                assert 0 < len(rows.table) <= len(every), f"{title}:{cell} finds nothing"


@pytest.mark.sweep
async def test_a_field_that_is_not_there_is_named_although_its_letters_fitted_nothing() -> None:
    async with screen() as shown:
        await shown.press("3", "slash", *"status")
        assert "No row has " in shown.text
        await shown.press("colon", "x")
        assert "'status' is not a field here" in shown.lines[2]
        assert "No row has " not in shown.text
        assert "the fields are age, " in " ".join(shown.text.split())
        await shown.press("ctrl+u", *"velero:Qu")
        assert shown.names() == ["ledger"]
        assert "no field" not in shown.text


@pytest.mark.sweep
async def test_keys_of_text_entry_stay_keys_of_text_entry_in_the_filter() -> None:
    async with screen() as shown:
        await shown.press("2", "slash", *"one two", "ctrl+w")
        assert shown.table.rows is not None
        assert shown.table.rows.filter_text == "one "
        assert not shown.table.wide


async def test_marks_survive_a_change_of_order_and_are_cleared_together() -> None:
    async with screen() as shown:
        await shown.press("2", "space", "down", "space")
        marked = set(shown.table.marked)
        assert {key.name for key in marked} == {"broken", "mongo-nightly"}
        await shown.press("C")
        assert set(shown.table.marked) == marked
        await shown.press("ctrl+backslash")
        assert not shown.table.marked


async def test_all_that_is_shown_is_marked_at_once_and_the_frame_counts_it() -> None:
    async with screen() as shown:
        await shown.press("2", "slash", *"hourly", "enter", "*")
        assert {key.name for key in shown.table.marked} == {"etcd-hourly", "sales-hourly"}
        assert "2 marked" in shown.rule
        await shown.press("slash", "ctrl+u", *"etcd", "enter")
        assert "2 marked, 1 hidden, 1 of 6" in shown.rule
        await shown.press("escape")
        assert "marked" not in shown.text
        assert shown.table.rows is not None
        assert shown.table.rows.filter_text == "etcd", "one thing at a time"
        await shown.press("escape")
        assert not shown.table.rows.filter_text


@pytest.mark.sweep
async def test_a_terminal_without_our_signs_cuts_a_name_with_a_tilde() -> None:
    async with screen(display_options=DisplayOptions(flash=False, ascii=True)) as shown:
        await shown.press("7")
        assert any("~" in line[3:28] for line in shown.lines)
        assert not any("$" in line[3:28] for line in shown.lines)


async def test_a_range_is_marked_from_the_last_mark_to_the_cursor() -> None:
    async with screen() as shown:
        await shown.press("2", "space", "down", "down", "ctrl+@")
        assert {key.name for key in shown.table.marked} == set(shown.names()[:4])


async def test_two_keys_go_through_the_columns_of_every_table_and_sort_by_each() -> None:
    async with screen() as shown:
        for tab in TABLES:
            await shown.press(str(tab.digit))
            rows = shown.table.rows
            assert rows is not None
            without = rows.columns_in_header | rows.needless_columns | {"context"}
            wanted = [column.name for column in rows.columns if column.name not in without]
            await shown.sort_by(wanted[-1])
            orders: list[str] = []
            for key in ("greater_than_sign",) * len(wanted) + ("less_than_sign",) * len(wanted):
                await shown.press(key)
                orders.append(rows.sorted_by)
                assert orders[-1] in {rows.columns[slot.index].name for slot in shown.table._slots}
            assert orders == [*wanted, *reversed(wanted[:-1]), wanted[-1]]


async def test_no_letter_that_does_something_elsewhere_sorts() -> None:
    """An action has its letter on every page: where it does nothing, nothing else does."""
    async with screen() as shown:
        for tab in TABLES:
            await shown.press(str(tab.digit))
            rows = shown.table.rows
            assert rows is not None
            before = (rows.sorted_by, rows.reversed)
            offered = {key for action in shown.app.main_screen.available() for key in action.keys}
            for letter in sorted(set(string.ascii_uppercase) - offered - {"G"}):
                await shown.press(letter)
                assert (rows.sorted_by, rows.reversed) == before, f"{letter} sorts {tab.id}"


@pytest.mark.sweep
async def test_the_arrow_points_the_way_that_the_values_run() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.sort_by("started")
        assert "STARTED↓" in shown.text
        await shown.press("O")
        assert "STARTED↑" in shown.text
        await shown.sort_by("name")
        assert "BACKUP↑" in shown.text


@pytest.mark.sweep
async def test_what_waits_and_what_runs_come_before_what_has_ended() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.sort_by("started")
        rows = shown.table.rows
        assert isinstance(rows, StoreTableModel)
        ranks = [rows.view.phase(entry) for _, entry in rows.table.window(0, 99)]
        waiting = [phase == "Queued" for phase in ranks]
        running = [phase == "InProgress" for phase in ranks]
        assert waiting == sorted(waiting, reverse=True)
        assert running[sum(waiting) :] == sorted(running, reverse=True)[: len(running) - sum(waiting)]
        assert any(waiting)
        assert any(running)


async def test_the_selected_column_is_brought_into_sight_and_sorted_by() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.sort_by("started")
        assert "LOCATION" not in shown.text
        assert shown.table.rows is not None
        names = [column.name for column in shown.table.rows.columns]
        steps = (names.index("storage") - names.index("started")) % len(names)
        await shown.press(*["right"] * steps)
        assert "LOCATION" in shown.text
        await shown.press("O")
        assert shown.table.rows.sorted_by == "storage"


@pytest.mark.sweep
async def test_one_namespace_by_palette_and_all_again_by_zero() -> None:
    async with screen() as shown:
        await shown.press("3", "colon", *"ns team-pay", "enter")
        await shown.until(lambda: len(shown.names()) == 2)
        assert "ns team-pay" in shown.status
        await shown.press("0")
        assert len(shown.names()) == 4


@pytest.mark.sweep
async def test_the_palette_leads_to_a_view_by_its_name() -> None:
    async with screen() as shown:
        for typed, page in (
            ("schedules", "schedules"),
            ("nab", "nonadmin"),
            ("queue", "queue"),
            ("nar", "nonadmin"),
            ("backups", "backups"),
            ("restores", "restores"),
            ("bsl", "storage"),
        ):
            await shown.press("colon")
            assert isinstance(shown.app.screen, CommandPalette)
            await shown.press(*typed, "enter")
            await shown.on_page(page)


@pytest.mark.sweep
async def test_the_palette_finds_actions_by_what_they_do() -> None:
    async with screen() as shown:
        await shown.press("2", "ctrl+p", *"only faults", "down", "enter")
        await shown.until(lambda: shown.names() == ["broken", "etcd-hourly"])


@pytest.mark.sweep
async def test_clusters_whose_names_end_differently_are_told_apart_at_80_columns() -> None:
    async with screen(FilledSource(troubled(), ("minicluster", "minicluster2"))) as shown:
        for page in ("1", "2"):
            await shown.press(page)
            named = {line[3:].split("  ")[0].strip() for line in shown.table_lines[1:] if " minic" in line}
            assert len(named) == 2, shown.text


@pytest.mark.sweep
async def test_one_context_of_two_by_palette() -> None:
    source = FilledSource(troubled(), ("prod-eu", "prod-us"))
    async with screen(source) as shown:
        await shown.press("2")
        assert "CONTEXT" in shown.text
        await shown.press("colon", *"ctx us", "enter")
        await shown.until(lambda: {row.key.context for row in shown.table.window} == {"prod-us"})


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE, LARGE])
async def test_palette_and_help_cut_no_text(size: tuple[int, int]) -> None:
    async with screen(size=size) as shown:
        for key in ("colon", "question_mark"):
            await shown.press("2", key)
            assert "…" not in shown.text.partition("\n")[2].replace("1 … 9", "").partition("╰")[0]
            await shown.press("escape")


async def test_colon_q_quits() -> None:
    async with screen() as shown:
        await shown.press("colon", "q", "enter")
        await shown.until(lambda: not shown.app.is_running or shown.app._exit)


async def test_q_leads_out_of_the_detail_and_pressed_twice_out_of_foretop(monkeypatch: pytest.MonkeyPatch) -> None:
    async with screen() as shown:
        await shown.press("2", "enter")
        assert shown.page == "detail"
        await shown.press("q")
        assert shown.page == "schedules"
        await shown.press("q")
        assert not shown.app._exit
        assert shown.app.told[-1][1] == "q again to quit"
        monkeypatch.setattr("foretop.main_screen.main_screen._QUIT_WITHIN", 0.0)
        await shown.press("q")
        assert not shown.app._exit, "after a while it is asked again"
        monkeypatch.setattr("foretop.main_screen.main_screen._QUIT_WITHIN", 1000.0)
        await shown.press("q")
        assert shown.app._exit


async def test_a_q_that_closed_a_window_is_no_first_one() -> None:
    async with screen() as shown:
        await shown.press("2", "question_mark", "q", "q")
        assert not shown.app._exit
        assert shown.app.told[-1][1] == "q again to quit"


async def test_the_letters_that_move_in_a_table_move_in_a_list_of_choices() -> None:
    async with screen() as shown:
        await shown.press("7", "ctrl+s")
        listed = shown.app.screen.query_one(OptionList)
        await shown.press("j")
        assert listed.highlighted == 1
        await shown.press("k")
        assert listed.highlighted == 0


async def test_every_window_has_more_than_one_way_out() -> None:
    async with screen() as shown:
        await shown.press("2")
        await shown.on(shown.source.key(SCHEDULE, "velero", "etcd-hourly"))
        for key, window in (
            ("question_mark", HelpScreen),
            ("m", MessagesScreen),
            ("ctrl+s", ChoicePicker),
            ("J", ChoicePicker),
        ):
            for way_out in ("escape", "q", "ctrl+c"):
                await shown.press(key)
                assert isinstance(shown.app.screen, window)
                await shown.press(way_out)
                assert len(shown.app.screen_stack) == 1
        assert not shown.app._exit


async def test_ctrl_c_quits_where_no_window_is_open() -> None:
    async with screen() as shown:
        await shown.press("ctrl+c")
        assert shown.app._exit


@pytest.mark.sweep
async def test_the_help_lists_every_key_that_works_here() -> None:
    async with screen(size=LARGE) as shown:
        await shown.press("2")
        await shown.until(lambda: len(shown.names()) == 6)
        await shown.press("question_mark")
        told = " ".join(pane.text for pane in shown.app.screen.query(TextPane))
        wanted = [action for action in shown.app.main_screen.available() if action.shown]
        assert len(wanted) > 15
        assert [action.id for action in wanted if action.title not in " ".join(told.split())] == []


async def test_what_does_nothing_here_is_not_offered() -> None:
    async with screen(FilledSource(calm())) as shown:
        offered = {action.id for action in shown.app.main_screen.available()}
        assert not offered & {"open", "jump", "yaml", "copy_name", "mark", "save", "clear_marks", "all_namespaces"}
        assert "open" not in shown.footer


@pytest.mark.sweep
async def test_enter_opens_the_object_and_its_sections_follow_the_arrows() -> None:
    async with screen() as shown:
        await shown.press("3")
        await shown.on(shown.source.key(NAB, "team-pay", "ledger"))
        await shown.press("enter")
        assert "nab team-pay/ledger" in shown.text
        assert "left right section" in shown.footer
        assert "Accepted  ✓ True" in shown.text
        await shown.press("right")
        assert "BackupScheduled" in shown.text
        await shown.press("y")
        assert "kind: NonAdminBackup" in shown.text
        await shown.press("d")
        assert "Namespace  team-pay" in shown.text
        await shown.press("escape")
        assert shown.page == "nonadmin"


@pytest.mark.sweep
async def test_opening_an_object_and_leaving_it_moves_nothing_in_the_table() -> None:
    async with screen(size=(80, 20)) as shown:
        await shown.press("7", *["down"] * 4)
        before = shown.names()
        assert shown.table.place == 4
        await shown.press("enter", "escape")
        await shown.tick()
        assert shown.page == "backups"
        assert shown.table.place == 4
        assert shown.names() == before
        await shown.press("end")
        scrolled = shown.names()
        assert scrolled != before
        await shown.press("up", "enter", "escape")
        await shown.tick()
        assert shown.names() == scrolled


@pytest.mark.sweep
async def test_a_table_that_is_small_for_a_moment_comes_back_as_it_was() -> None:
    async with screen(size=(80, 20)) as shown:
        await shown.press("7", *["down"] * 8)
        before = shown.names()
        await shown.pilot.resize_terminal(80, 10)
        await shown.until(lambda: shown.names()[0] != before[0])
        assert shown.table.place == 8
        await shown.pilot.resize_terminal(80, 20)
        await shown.until(lambda: shown.names() == before)


async def test_jumping_goes_from_the_nab_to_its_velero_backup_and_back() -> None:
    async with screen() as shown:
        await shown.press("3")
        await shown.on(shown.source.key(NAB, "team-pay", "ledger"))
        await shown.press("J")
        await shown.until(lambda: shown.page == "backups")
        assert shown.table.cursor is not None
        assert shown.table.cursor.name.startswith("team-pay-ledger-")
        await shown.press("J")
        await shown.until(lambda: isinstance(shown.app.screen, ChoicePicker))
        await shown.press("enter")
        await shown.until(lambda: shown.page == "nonadmin")
        assert shown.table.cursor == shown.source.key(NAB, "team-pay", "ledger")


@pytest.mark.sweep
async def test_jumping_from_a_finding_leads_to_the_culprit_first() -> None:
    async with screen() as shown:
        await shown.press("slash", *"overdue", "enter", "J")
        await shown.until(lambda: isinstance(shown.app.screen, ChoicePicker))
        await shown.press("enter")
        await shown.until(lambda: shown.page == "backups")
        assert shown.table.cursor == shown.source.key(BACKUP, "velero", "etcd-hourly-20261115010003")


@pytest.mark.sweep
async def test_back_after_a_jump_leads_to_where_it_came_from() -> None:
    async with screen() as shown:
        await shown.press("3")
        await shown.on(shown.source.key(NAB, "team-pay", "ledger"))
        for back in ("escape", "q"):
            assert "q quit" in shown.footer
            await shown.press("J")
            await shown.until(lambda: shown.page == "backups")
            assert "q back" in shown.footer
            await shown.press(back)
            assert shown.page == "nonadmin"
            assert shown.table.cursor == shown.source.key(NAB, "team-pay", "ledger")
            assert not shown.app._exit


@pytest.mark.sweep
async def test_back_after_a_jump_and_a_look_inside_leads_to_where_it_came_from() -> None:
    async with screen() as shown:
        await shown.press("3")
        await shown.on(shown.source.key(NAB, "team-pay", "ledger"))
        await shown.press("J")
        await shown.until(lambda: shown.page == "backups")
        await shown.press("enter")
        assert shown.page == "detail"
        await shown.press("escape", "escape")
        assert shown.page == "nonadmin"
        assert shown.table.cursor == shown.source.key(NAB, "team-pay", "ledger")


@pytest.mark.sweep
async def test_keys_that_come_in_one_go_are_taken_one_after_the_other() -> None:
    async with screen() as shown:
        for key in ("2", "slash", *"hourly"):
            shown.send(key)
        await shown.until(lambda: shown.names() == ["etcd-hourly", "sales-hourly"])
        await shown.press("escape")
        for key in ("colon", "q", "enter"):
            shown.send(key)
        await shown.until(lambda: shown.app._exit)


@pytest.mark.sweep
async def test_a_key_on_the_heels_of_the_enter_that_keeps_a_filter_is_no_letter_of_it() -> None:
    async with screen() as shown:
        for key in ("2", "slash", *"hourly", "enter", "down", "y"):
            shown.send(key)
        await shown.until(lambda: "sales-hourly" in shown.text and "kind: Schedule" in shown.text)
        assert shown.page == "detail"


async def test_history_goes_back_forth_and_to_and_fro() -> None:
    async with screen() as shown:
        await shown.press("2", "down", "7", "9")
        await shown.press("left_square_bracket", "left_square_bracket")
        assert shown.page == "schedules"
        assert shown.table.place == 1
        await shown.press("right_square_bracket")
        assert shown.page == "backups"
        await shown.press("minus")
        assert shown.page == "schedules"
        await shown.press("minus")
        assert shown.page == "backups"


@pytest.mark.sweep
async def test_to_and_fro_works_on_the_longest_of_days() -> None:
    async with screen() as shown:
        for _ in range(60):
            await shown.app.main_screen.go(PageAddress("schedules"))
            await shown.app.main_screen.go(PageAddress("backups"))
        await shown.press("minus")
        assert shown.page == "schedules"


@pytest.mark.sweep
@pytest.mark.parametrize(("way", "chosen"), [(("colon", "down"), "pods"), (("ctrl+s", "down"), "JSON")])
async def test_what_is_chosen_in_a_list_is_seen_by_reverse_video(way: tuple[str, ...], chosen: str) -> None:
    async with screen() as shown:
        await shown.press("2", *way)
        lit = "".join(segment.text for line in shown.lit for segment in line)
        assert chosen in lit


@pytest.mark.sweep
async def test_the_caret_is_seen_without_colours_too() -> None:
    async with screen() as shown:
        await shown.press("2", "slash", "a", "left")
        assert [segment.text for segment in shown.lit[2]] == ["a"]


@pytest.mark.sweep
async def test_the_footer_forgets_a_filter_that_was_opened_and_left() -> None:
    async with screen() as shown:
        await shown.press("2", "slash")
        await shown.until(lambda: "esc clear" in shown.footer)
        await shown.press("escape")
        await shown.until(lambda: "q quit" in shown.footer)


async def test_in_triage_c_copies_the_finding_for_a_ticket(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    async with screen() as shown:
        monkeypatch.setattr(shown.app, "copy_to_clipboard", copied.append)
        await shown.press("c")
        lines = copied[0].splitlines()
        assert lines[:2] == ["Cluster:  prod-eu", "Object:   storage velero/s3-us"]
        assert "Command:  foretop describe bsl velero/s3-us --context prod-eu" in lines
        assert "Copied by OSC 52" in shown.app.told[-1][1]


async def test_copying_says_what_was_copied_and_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    async with screen() as shown:
        await shown.press("2", "c")
        assert shown.app.clipboard == "broken"
        assert shown.app.told[-1][1] == "Copied by OSC 52: broken"
        await shown.press("n")
        assert shown.app.clipboard == "velero"


@pytest.mark.sweep
async def test_the_table_is_saved_as_it_is_on_the_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with screen() as shown:
        await shown.press("2", "slash", *"hourly", "enter", "ctrl+s", "enter")
        await shown.press("ctrl+s", "down", "enter")
        await shown.until(lambda: len(list(tmp_path.iterdir())) == 2)
    assert _saved(tmp_path) == (["etcd-hourly", "sales-hourly"], ["etcd-hourly", "sales-hourly"])


def _saved(folder: Path) -> tuple[list[str], list[str]]:
    (table,), (items,) = folder.glob("*.csv"), folder.glob("*.json")
    rows = list(csv.reader(table.read_text().splitlines()))
    return [row[2] for row in rows[1:]], [item["name"] for item in json.loads(items.read_text())["items"]]


async def test_full_screen_leaves_the_table_alone_and_escape_brings_the_frame_back() -> None:
    async with screen() as shown:
        await shown.press("2", "f")
        assert "prod-eu" not in shown.text
        assert "etcd-hourly" in shown.text
        await shown.press("escape")
        assert "prod-eu" in shown.text


@pytest.mark.sweep
async def test_list_again_retries_watches_that_wait() -> None:
    async with screen() as shown:
        await shown.press("ctrl+r")
        assert shown.source.retries == 1


async def test_the_messages_are_kept_and_can_be_read_again() -> None:
    async with screen() as shown:
        await shown.press("ctrl+r", "m")
        assert isinstance(shown.app.screen, MessagesScreen)
        assert "Retrying now" in shown.text


@pytest.mark.sweep
async def test_choosing_by_hand_in_the_palette_works_with_the_arrows() -> None:
    async with screen() as shown:
        await shown.press("colon", "down")
        assert shown.app.screen.query_one(OptionList).highlighted == 1
        await shown.press("enter")
        await shown.until(lambda: shown.page == "pods")


async def test_a_command_that_is_only_guessed_is_offered_and_not_run() -> None:
    async with screen() as shown:
        await shown.press("2")

        async def is_answered(typed: str, told: str) -> None:
            answers = len(shown.app.told)
            await shown.press("colon", *typed)
            assert shown.app.screen.query_one(OptionList).highlighted is None
            await shown.press("enter")
            await shown.until(lambda: len(shown.app.told) > answers)
            assert shown.app.told[-1][1] == told
            assert shown.page == "schedules"
            assert "1Triage" in shown.text, "the header and the tabs stay"

        await is_answered("foo", "Unknown command 'foo'; did you mean full?")
        await is_answered("pa", "Unknown command 'pa'; did you mean pauses or pause?")
        await is_answered("q 12345", "Unknown command 'q 12345'")
        await is_answered("xyzzy", "Unknown command 'xyzzy'")


@pytest.mark.sweep
async def test_the_beginning_of_one_command_alone_runs_it() -> None:
    async with screen() as shown:
        await shown.press("colon", *"sche", "enter")
        await shown.on_page("schedules")


async def test_a_filter_typed_before_the_session_is_there_holds_once_it_is() -> None:
    source, may_open = FilledSource(troubled()), threading.Event()

    def open_late() -> FilledSource:
        may_open.wait()
        return source

    app = Dashboard(open_late, DisplayOptions(flash=False, page="schedules"))
    async with running(app, SMALL) as pilot:
        shown = Screen(app, pilot, source)
        try:
            await shown.until(lambda: app.main_screen.page is not None)
            await shown.press("slash", *"mongo", "escape")
            assert "esc clear" not in shown.footer
            await shown.press("slash", *"hourly", "enter")
            assert app.main_screen.state is None
        finally:
            may_open.set()
        await shown.until(lambda: app.main_screen.state is not None)
        await shown.tick()
        assert shown.names() == ["etcd-hourly", "sales-hourly"]


@pytest.mark.sweep
async def test_the_frame_of_a_wide_page_has_its_corners_and_its_title_before_it_has_rows() -> None:
    source, may_open = FilledSource(troubled()), threading.Event()

    def open_late() -> FilledSource:
        may_open.wait()
        return source

    app = Dashboard(open_late, DisplayOptions(flash=False, page="schedules"))
    async with running(app, (140, 40)) as pilot:
        shown = Screen(app, pilot, source)
        try:
            await shown.until(lambda: any("┌─ Schedules ─" in line for line in shown.lines))
            assert app.main_screen.state is None
        finally:
            may_open.set()
        await shown.until(lambda: app.main_screen.state is not None)


@pytest.mark.parametrize(("page", "told"), [("2", "select a column"), ("5", "earlier and later")])
async def test_the_help_of_a_page_has_one_meaning_for_left_and_right(page: str, told: str) -> None:
    async with screen() as shown:
        await shown.press(page)
        lines = help_text(shown.app.main_screen.available())
        meanings = ["".join(span.text for span in line.spans).split() for line in lines]
        assert {" ".join(words[2:]) for words in meanings if words[:2] == ["left", "right"]} == {told}


async def test_of_very_many_rows_a_word_is_narrowed_to_once_when_it_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each letter is in the field at once; the rows follow when no other letter does, or a key needs them."""
    monkeypatch.setattr(table_page, "_MANY_ROWS", 2)
    monkeypatch.setattr(filterable_page, "NEXT_LETTER", 1000.0)
    async with screen() as shown:
        await shown.press("2")
        all_rows = shown.names()
        assert len(all_rows) > 2
        await shown.press("/", *"mongo")
        assert any(line.strip(" │").startswith("/mongo") for line in shown.lines), shown.text
        assert shown.names() == all_rows
        await shown.press("enter")
        narrowed = shown.names()
        assert narrowed
        assert all("mongo" in name for name in narrowed)
        await shown.press("escape")
        assert shown.names() == all_rows
        await shown.press("/", *"mongo", "escape")
        assert shown.names() == all_rows
        await shown.press("/", *"mongo", "down")
        assert shown.names() == narrowed
        await shown.press("escape", "/")
        monkeypatch.setattr(filterable_page, "NEXT_LETTER", 0.01)
        await shown.press(*"mongo")
        await shown.until(lambda: shown.names() == narrowed)
