"""The last line of Triage's pane: the keys that act on the finding, and only those that do."""

from __future__ import annotations

import pytest

from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph
from foretop_core.dashboard.findings_table import FindingsTableModel
from tests.tui.dashboard_on_box import Stand, stand
from tests.tui.pilot import MIDDLE, Screen, screen


def _told(shown: Screen) -> Paragraph:
    assert shown.app.main_screen.page is not None
    return shown.app.main_screen.page.query_one("#pane", TextPane).paragraphs[-1]


def _line(shown: Screen) -> str:
    told = _told(shown)
    assert told.label == "Keys"
    return "".join(piece.text for piece in told.spans)


def _keys(shown: Screen) -> dict[str, str]:
    """By what it says it does, the key."""
    spans = [piece for piece in _told(shown).spans if piece.text.strip()]
    return {says.text: key.text for key, says in zip(spans[::2], spans[1::2], strict=True)}


async def _on(at: Stand, code: str) -> str:
    """Puts the cursor on a finding of this kind; the keys that its pane tells."""
    rows = at.shown.table.rows
    assert isinstance(rows, FindingsTableModel)
    await at.shown.until(lambda: any(found.code == code for _, found in rows.table))
    key = next(key for key, found in rows.table if found.code == code)
    await at.shown.on(key)
    await at.shown.until(lambda: "Keys " in at.shown.pane)
    return _line(at.shown)


@pytest.mark.sweep
async def test_every_key_that_the_pane_tells_does_something() -> None:
    async with stand("default") as at:
        await at.shown.until(lambda: len(at.shown.names()) > 5)
        rows = at.shown.table.rows
        assert isinstance(rows, FindingsTableModel)
        pressed: set[str] = set()
        for code in sorted({found.code for _, found in rows.table}):
            await _on(at, code)
            for says, key in _keys(at.shown).items():
                if says in pressed or key in pressed or key.startswith(":"):
                    continue
                pressed.add(key if key in ("enter", "J") else says)
                await at.shown.press(key)
                await at.shown.until(lambda: len(at.shown.app.screen_stack) > 1 or at.shown.page != "triage")
                await at.shown.press("escape", "1")
                await at.shown.until(lambda: at.shown.page == "triage" and len(at.shown.app.screen_stack) == 1)
                await _on(at, code)
        assert {" logs of the backup", " pause the schedule", " unpause the schedule"} <= pressed
        assert at.writes == []


@pytest.mark.sweep
async def test_a_schedule_whose_last_backup_failed_leads_to_that_backup_and_its_logs() -> None:
    async with stand("default", size=MIDDLE) as at:
        told = await _on(at, "schedule-failing")
        assert "enter open the schedule" in told
        assert "l logs of the backup" in told
        assert "s pause the schedule" in told
        await at.shown.press("s")
        assert at.has_dialog
        await at.shown.press("escape", "space", "up")
        assert "s pause the marked rows" in _line(at.shown)


@pytest.mark.sweep
async def test_without_a_cluster_to_act_on_only_going_there_is_told() -> None:
    async with screen() as shown:
        rows = shown.table.rows
        assert isinstance(rows, FindingsTableModel)
        key = next(key for key, found in rows.table if found.code == "schedule-overdue")
        await shown.on(key)
        assert _line(shown) == "enter open the schedule   J go to the backup or the schedule"
        storage = next(key for key, found in rows.table if found.subject.kind == "BackupStorageLocation")
        await shown.on(storage)
        assert _line(shown) == "enter open the location   J go to its row"
