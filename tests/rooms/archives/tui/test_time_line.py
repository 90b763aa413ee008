"""The time line of a recording: every key of it, and each frame as a dashboard shows it that saw all of it happen."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from foretop.app import Dashboard
from foretop.bindings import ROOM_ACTIONS
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.archives import playback
from foretop_core.session import open_session
from tests import recordings
from tests.tui.fake_source import FilledSource
from tests.tui.pilot import MIDDLE, SMALL, Screen, running, screen

_KEPT = Path(__file__).with_name("snapshots")
_NIGHT = str(recordings.FOLDER / "night.jsonl")


@asynccontextmanager
async def recorded(size: tuple[int, int], page: str = "backups", **options: bool) -> AsyncIterator[Screen]:
    def opened_night() -> object:
        return open_session(SessionOptions(files=(_NIGHT,), with_velero=True), {"XDG_CONFIG_HOME": os.devnull})

    app = Dashboard(opened_night, DisplayOptions(flash=False, page=page, **options))  # type: ignore[arg-type]
    async with running(app, size) as pilot:
        shown = Screen(app, pilot, FilledSource([]))
        await shown.until(lambda: "‖ ×60" in shown.text or "= x60" in shown.text)
        yield shown


def line(shown: Screen) -> str:
    return next(text for text in shown.lines if "×60" in text or "×1 " in text or "×3600" in text or "×10 " in text)


def moment(shown: Screen) -> str:
    return line(shown).split()[2]


async def test_every_key_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playback, "TICK", 0.01)
    keys = {key for room in ROOM_ACTIONS if room.of_recording for key in room.action.keys}
    pressed = {"comma", "full_stop", "equals_sign", "T", "left_curly_bracket", "right_curly_bracket"}
    assert pressed == keys
    async with recorded(MIDDLE) as shown:
        assert "100%  15:21:38–15:46:56  , . finding  = others  T play  { } pace" in line(shown)
        await shown.press("1", "comma")
        await shown.until(lambda: "15:46:38  new: etcd not done before its next run" in shown.text)
        assert "schedule etcd                       not done before its next run" in shown.text
        await shown.press("7", "equals_sign", "home")
        await shown.until(lambda: ", . phase" in shown.text or "15:46:38" in shown.text)
        await shown.press("comma")
        await shown.until(lambda: "etcd-20261116152638: phase: InProgress → Failed" in line(shown))
        await shown.press("comma")
        await shown.until(lambda: "→ InProgress" in line(shown) and "15:28:38Z" in shown.text)
        await shown.press("full_stop")
        await shown.until(lambda: "15:28:43  etcd-20261116152638: phase: InProgress → Failed" in line(shown))
        await shown.press("full_stop")
        await shown.until(lambda: "No later phase of etcd-20261116152638 in the recording" in shown.app.told[-1][1])
        await shown.press("equals_sign", "full_stop")
        await shown.until(lambda: "etcd-" not in line(shown) and ": phase: " in line(shown))
        await shown.press(*["left_curly_bracket"] * 3)
        await shown.until(lambda: "‖ ×1 " in shown.text)
        await shown.press(*["right_curly_bracket"] * 5)
        await shown.until(lambda: "‖ ×3600" in shown.text)
        await shown.press("T")
        await shown.until(lambda: "‖ ×3600 15:46:56" in shown.text)


async def test_it_plays_and_stands_still_where_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playback, "TICK", 0.01)
    async with recorded(SMALL) as shown:
        await shown.press("T")
        await shown.until(lambda: "▸ ×60" in shown.text and moment(shown) != "15:21:38")
        await shown.press("T")
        await shown.until(lambda: "‖ ×60" in shown.text)
        stopped = line(shown)
        assert moment(shown) != "15:46:56"
        await shown.settle()
        assert line(shown) == stopped


async def test_a_cluster_has_no_time_line_and_none_of_its_keys() -> None:
    async with screen(FilledSource([]), MIDDLE) as shown:
        offered = {action.id for action in shown.app.main_screen.available()}
        assert not offered & {room.action.id for room in ROOM_ACTIONS if room.of_recording}
        assert not shown.app.main_screen.query_one("#time-line").display


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["80x24", "120x40"])
async def test_it_looks_as_it_did(size: tuple[int, int]) -> None:
    """With FORETOP_WRITE_SNAPSHOTS it is written anew."""
    async with recorded(size, "queue") as shown:
        await shown.press("comma")
        await shown.until(lambda: "15:46:38" in shown.text)
        await shown.press("equals_sign", "equals_sign", "comma", "equals_sign")
        await shown.until(lambda: "crm-20261116154638: created" in shown.text)
        await shown.settle()
        file = _KEPT / f"{size[0]}x{size[1]}.txt"
        if "FORETOP_WRITE_SNAPSHOTS" in os.environ:
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"{shown.text}\n")
        assert shown.text.splitlines() == file.read_text().splitlines()
