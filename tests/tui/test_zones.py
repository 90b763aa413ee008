"""Whose zone the times are in: UTC, the machine's, or that of the cron expression they belong to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from foretop.app import Dashboard
from foretop.widgets.line_widgets import TextPane
from foretop_core.clock import local_zone
from foretop_core.models import Backup, Resource, Schedule, from_builtins
from foretop_core.models.kinds import BACKUP, SCHEDULE
from tests.tui.fake_source import FilledSource, backup_dict, meta
from tests.tui.pilot import MIDDLE, SMALL, Screen, screen

_NEW_YORK, _PLAIN, _BY_HAND = "ny-nightly-20261115020003", "plain-20261115010003", "by-hand"


def _objects() -> list[Resource]:
    def schedule(name: str, cron: str, last: str) -> Schedule:
        status = {"phase": "Enabled", "lastBackup": last}
        return from_builtins(Schedule, {"metadata": meta(name), "spec": {"schedule": cron}, "status": status})

    def backup(name: str, start: str, of: str = "") -> Backup:
        return from_builtins(Backup, backup_dict(name, "Completed", start, start.replace("03Z", "43Z"), of=of))

    return [
        schedule("ny-nightly", "CRON_TZ=America/New_York 0 21 * * *", "2026-11-15T02:00:03Z"),
        schedule("plain", "0 1 * * *", "2026-11-15T01:00:03Z"),
        backup(_NEW_YORK, "2026-11-15T02:00:03Z", "ny-nightly"),
        backup(_PLAIN, "2026-11-15T01:00:03Z", "plain"),
        backup(_BY_HAND, "2026-11-15T01:30:03Z"),
    ]


@asynccontextmanager
async def _in_berlin(monkeypatch: pytest.MonkeyPatch, size: tuple[int, int] = SMALL) -> AsyncIterator[Screen]:
    monkeypatch.setattr(Dashboard, "my_zone", ZoneInfo("Europe/Berlin"))
    async with screen(FilledSource(_objects()), size) as shown:
        yield shown


def _row(shown: Screen, name: str) -> str:
    return next(line for line in shown.lines if line[3:].startswith(name))


async def test_z_goes_from_utc_to_mine_to_the_expressions_and_round_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _in_berlin(monkeypatch) as shown:
        for clock, said in (
            ("03:41:07 CET ", "Times in local time, Europe/Berlin"),
            ("02:41:07Z cron ", "Times in the zone of their cron expression, otherwise UTC"),
            ("02:41:07Z ", "Times in UTC"),
        ):
            await shown.press("Z")
            assert shown.status.endswith(f"  {clock}")
            assert shown.app.told[-1][1].startswith(said)


@pytest.mark.sweep
async def test_backups_start_in_the_zone_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _in_berlin(monkeypatch) as shown:
        await shown.press("7")
        assert " 02:00:03 " in _row(shown, "ny-")
        await shown.press("Z")
        assert " 03:00:03 CET " in _row(shown, "ny-")
        await shown.press("Z")
        assert " 21:00:03 EST " in _row(shown, "ny-")
        assert " 01:00:03Z " in _row(shown, "plain-")
        assert " 01:30:03Z " in _row(shown, _BY_HAND)


@pytest.mark.parametrize(
    ("presses", "name", "told"),
    [
        (0, "ny-nightly", "Next     16 Nov 02:00Z"),
        (1, "ny-nightly", "Next     16 Nov 03:00 CET"),
        (2, "ny-nightly", "Next     15 Nov 21:00 EST"),
        (2, "plain", "Next     16 Nov 01:00Z"),
    ],
)
async def test_the_pane_and_the_detail_of_a_schedule_tell_the_same(
    monkeypatch: pytest.MonkeyPatch, presses: int, name: str, told: str
) -> None:
    async with _in_berlin(monkeypatch, MIDDLE) as shown:
        await shown.press("2", *["Z"] * presses)
        await shown.on(shown.source.key(SCHEDULE, "velero", name))
        assert told in shown.pane
        await shown.press("enter")
        assert told in shown.text


@pytest.mark.sweep
async def test_the_detail_of_a_backup_has_the_zone_of_its_schedule(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _in_berlin(monkeypatch, MIDDLE) as shown:
        await shown.press("7", "Z", "Z")
        await shown.on(shown.source.key(BACKUP, "velero", _NEW_YORK))
        await shown.press("enter")
        assert "started 21:00:03 EST, ended 21:00:43 EST" in shown.text
        await shown.press("d")
        assert "Created    21:00:03 EST" in shown.text
        await shown.press("y")
        assert "2026-11-15T02:00:03Z" in shown.text


async def test_a_lane_of_the_calendar_has_the_zone_of_its_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    async with _in_berlin(monkeypatch, MIDDLE) as shown:
        await shown.press("5", "Z", "Z")
        pane = shown.app.main_screen.query_one("CalendarPage #pane", TextPane)
        assert "Mon 16 01:00 UTC, " in pane.text
        await shown.press("down")
        assert "Sun 15 21:00 EST, " in pane.text


@pytest.mark.sweep
async def test_what_is_saved_as_json_is_in_utc_whatever_the_screen_tells(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with _in_berlin(monkeypatch) as shown:
        await shown.press("7", "Z", "Z", "ctrl+s", "down", "enter")
        await shown.until(lambda: any(tmp_path.glob("*.json")))
    items = _saved(tmp_path)
    assert items[_NEW_YORK]["started"] == "2026-11-15T02:00:03Z"


def _saved(folder: Path) -> dict[str, dict[str, object]]:
    (path,) = folder.glob("*.json")
    return {item["name"]: item for item in json.loads(path.read_text())["items"]}


def test_the_zone_of_this_machine_has_its_name(tmp_path: Path) -> None:
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/Asia/Tokyo")
    assert local_zone({}, str(link)) == ZoneInfo("Asia/Tokyo")
    assert local_zone({"TZ": ":Europe/Berlin"}, str(link)) == ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize("name", ["CET-1CEST", "../etc/passwd", "No/Where", "Europe"])
def test_a_zone_that_has_no_name_still_has_an_offset(name: str, tmp_path: Path) -> None:
    from tests.objects import NOW

    assert NOW.astimezone(local_zone({"TZ": name}, str(tmp_path / "none"))).utcoffset() is not None
