"""A key that does nothing here says why, and the palette knows what can be done elsewhere."""

from __future__ import annotations

import re

import pytest

from foretop.bindings import ACTIONS, BY_ID, WRITE_ACTIONS
from foretop.dialogs.command_palette import matching
from foretop.main_screen.screen_actions import entries
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from foretop_demo.scenarios.scenario_builder import HOME
from tests.tui.dashboard_on_box import stand
from tests.tui.pilot import LARGE
from tests.tui.test_dialogs_typing import newest


def _found(text: str) -> list[str]:
    return [entry.command for entry in matching(entries(ACTIONS), text)]


def test_the_palette_knows_the_words_of_other_tools() -> None:
    assert {"do resume", "do unpause"} <= set(_found("resume"))
    assert _found("resume window") == ["do resume"]
    assert "do pause" in _found("stop")
    assert "do create-schedule" in _found("new")
    assert "do back-up-now" in _found("backup now")


def test_the_palette_shows_the_command_while_its_word_is_typed() -> None:
    assert _found("ns team-a") == ["ns"]
    assert _found("ctx pro") == ["ctx"]


def test_the_palette_lists_what_can_be_done_elsewhere() -> None:
    listed = entries([BY_ID["help"]])
    elsewhere = {entry.command for entry in listed if not entry.works}
    assert elsewhere == {f"do {action.id}" for action in WRITE_ACTIONS if action.id != "create-schedule"}


def test_the_palette_offers_what_needs_no_object_on_every_page_without_a_key_that_works_elsewhere() -> None:
    offered = {entry.command: entry for entry in entries([BY_ID["help"]])}
    for one in ("create-schedule", "collisions"):
        assert (offered[f"do {one}"].works, offered[f"do {one}"].shown) == (True, "")


@pytest.mark.parametrize(
    ("command", "seen", "page"),
    [
        ("create-schedule", "A schedule needs a name", "schedules"),
        pytest.param("collisions", "Starting in the same minute", "calendar", marks=pytest.mark.sweep),
    ],
)
async def test_what_needs_no_object_leads_to_its_page_from_every_other(command: str, seen: str, page: str) -> None:
    """It had said `Create a schedule: only for Schedule and NonAdminBackupStorageLocationRequest`."""
    async with stand("default") as at:
        await at.shown.press("7")
        await at.shown.on_page("backups")
        assert at.shown.app.main_screen.disabled_reason("create-schedule") == "Create a schedule: on the page schedules"
        await at.shown.press("colon", *command, "enter")
        await at.see(seen)
        await at.shown.on_page(page)
        await at.shown.press("escape", "escape")
        await at.shown.on_page("backups")


@pytest.mark.sweep
async def test_a_key_without_effect_says_why() -> None:
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "wiki"))
        disabled_reason = at.shown.app.main_screen.disabled_reason
        assert disabled_reason("restore") == "Restore from it: only for Backup"
        assert disabled_reason("logs") == "Fetch its logs: only for Backup, Restore, NonAdminBackup and NonAdminRestore"
        assert disabled_reason("horizon") == "How far ahead: only in the calendar (:calendar)"
        assert disabled_reason("clear_marks") == "Nothing is marked"
        assert disabled_reason("run-again") == ""
        assert disabled_reason("pause") == ""
        await at.shown.press("r")
        assert at.shown.app.told[-1][1] == "Restore from it: only for Backup"


@pytest.mark.sweep
async def test_space_on_the_calendar_says_where_schedules_are_marked() -> None:
    async with stand("quiet") as at:
        await at.shown.press("5", "space")
        assert at.shown.app.told[-1][1] == "Nothing to mark here: schedules are marked on their page (:schedules)"
        await at.shown.press("W")
        await at.see("Other schedules")


@pytest.mark.parametrize(("tab", "title"), [("7", "Delete the backup"), ("2", "Delete the schedule")])
async def test_a_key_without_a_row_speaks_of_what_the_page_shows(tab: str, title: str) -> None:
    async with stand("quiet") as at:
        await at.shown.press(tab, "slash", *"zzz", "enter", "ctrl+d")
        assert at.shown.app.told[-1][1] == f"{title}: no row is selected"


@pytest.mark.sweep
async def test_what_describes_an_object_says_that_a_finding_about_the_server_has_none() -> None:
    async with stand("outage") as at:
        await at.see("storage hangs")
        for key in ("d", "y"):
            at.shown.app.told.clear()
            await at.shown.press(key)
            assert [told for _, told in at.shown.app.told] == ["No single object is selected"]


@pytest.mark.sweep
async def test_the_key_that_fetches_results_says_why_a_waiting_backup_has_none() -> None:
    async with stand("outage") as at:
        state = at.shown.app.main_screen.state
        assert state is not None
        store = state.store
        held = [(key, item) for key, item in store.items(store.contexts()[0], BACKUP.name) if isinstance(item, Backup)]
        waits = next(key for key, item in held if item.phase == "Queued")
        await at.go("7", waits)
        await at.shown.press("x", "x")
        assert at.shown.app.told[-1][1] == "Fetch its results: it has not begun (Queued)"


async def test_keys_that_need_a_copy_are_not_offered_where_all_are_out_of_reach() -> None:
    async with stand("protection", size=LARGE) as at:
        await at.shown.press("9", "slash", *"media", "enter")
        await at.see("All its copies are in a storage location")
        assert not re.search("r restore| tries it", at.shown.text)
        await at.shown.press("r")
        assert at.shown.app.told[-1][1].startswith("Restore media: all its copies are in ")


@pytest.mark.sweep
async def test_results_are_not_offered_of_a_nab_that_velero_has_no_backup_of() -> None:
    async with stand("default") as at:
        nab = at.key(NAB, "own-bucket", "team-iot")
        await at.go("3", nab)
        assert at.shown.app.main_screen.disabled_reason("results") == "Only Velero's backups and restores have results"
        assert "x results" not in at.shown.text


async def test_an_object_that_is_gone_offers_nothing_to_read() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("enter")
        await at.shown.until(lambda: "r restore" in at.shown.footer)
        at.box.storage.delete(at.box.storage.kind("Backup"), HOME, name)
        await at.see("It no longer exists or is no longer visible.")
        await at.shown.until(lambda: "r restore" not in at.shown.footer)
        offered = {action.id for action in at.shown.app.main_screen.offered()}
        assert not offered & {"results", "describe", "yaml", "logs", "restore"}
