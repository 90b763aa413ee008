"""The dashboard on a bundle: what is wrong in it, of when it is, a log from it, and no write."""

from __future__ import annotations

import os
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from foretop.app import Dashboard
from foretop_core.dashboard.session_protocol import DisplayOptions, WritableCluster
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.session import Session, open_session
from tests.objects import schedule
from tests.rooms import SHOWN_BY_ROOMS
from tests.rooms.archives.packing import BUNDLE
from tests.tui.fake_source import CONTEXT, FilledSource
from tests.tui.pilot import LARGE, MIDDLE, SMALL, Screen, running

_KEPT = Path(__file__).with_name("snapshots")


def opened(folder: Path) -> Session:
    return open_session(SessionOptions(files=(str(BUNDLE),), with_velero=True), {"XDG_CONFIG_HOME": str(folder)})


@asynccontextmanager
async def bundle(folder: Path, page: str = "triage", size: tuple[int, int] = LARGE) -> AsyncIterator[Screen]:
    app = Dashboard(lambda: opened(folder), DisplayOptions(flash=False, page=page))
    async with running(app, size) as pilot:
        yield Screen(app, pilot, FilledSource([]))


async def test_what_is_wrong_in_this_bundle(tmp_path: Path) -> None:
    async with bundle(tmp_path) as shown:
        await shown.until(lambda: "last backup failed" in shown.text)
        assert "ARCHIVE 2026-11-19" in shown.text
        assert "02:20:52Z" in shown.text
        assert "11 kinds not in the archive" in shown.text
        await shown.press("8")
        await shown.until(lambda: "Not in the archive: restores.velero.io." in shown.text)
        assert "checks again" not in shown.text


@pytest.mark.skipif("logs" not in SHOWN_BY_ROOMS, reason="no room shows logs")
async def test_a_log_is_read_from_it_and_one_that_is_not_there_is_said(tmp_path: Path) -> None:
    async with bundle(tmp_path, "backups") as shown:
        await shown.until(lambda: "web-2-20261119021921" in shown.text)
        await shown.press("l")
        await shown.until(lambda: "The log of web-2-20261119021921 is not in the archive" in shown.text)
        assert "velero debug --backup web-2-20261119021921 collects it" in " ".join(shown.text.split())
        await shown.press("escape", "end", "up", "l")
        await shown.until(lambda: "Setting up backup temp file" in shown.text)


async def test_nothing_can_be_written(tmp_path: Path) -> None:
    async with bundle(tmp_path, "schedules") as shown:
        await shown.until(lambda: "shop-4" in shown.text)
        assert not {"s pause", "t back up now", "e edit"} & set(
            re.findall(r"\w (?:pause|back up now|edit)", shown.text)
        )
        await shown.press("s")
        await shown.until(lambda: "Read-only, nothing is sent: this is an archive, not a cluster." in shown.text)


async def test_how_far_a_large_archive_is_read_is_told_meanwhile(tmp_path: Path) -> None:
    def slow() -> Session:
        time.sleep(1.0)
        return opened(tmp_path)

    app = Dashboard(slow, DisplayOptions(flash=False), progress=lambda: "Reading bundle: 500 files, 20 objects")
    async with running(app, LARGE) as pilot:
        shown = Screen(app, pilot, FilledSource([]))
        await shown.until(lambda: "Reading bundle: 500 files, 20 objects…" in shown.text)
        await shown.until(lambda: "last backup failed" in shown.text)


@pytest.mark.parametrize("size", [SMALL, MIDDLE], ids=["80x24", "120x40"])
async def test_pictures_of_a_bundle(size: tuple[int, int], tmp_path: Path) -> None:
    """With FORETOP_WRITE_SNAPSHOTS they are written anew."""
    async with bundle(tmp_path, size=size) as shown:
        await shown.until(lambda: "5 of 5" in shown.text)
        await shown.settle()
        compare(f"bundle-{size[0]}x{size[1]}", shown)
        await shown.press("colon", *"changes", "enter")
        # On a busy machine the window comes before what is behind it.
        await shown.until(lambda: all(word in shown.text for word in ("Changes of the last hour", "velero-debug")))
        await shown.settle()
        compare(f"changes-{size[0]}x{size[1]}", shown)


def compare(name: str, shown: Screen) -> None:
    path = _KEPT / f"{name}.txt"
    text = "".join(f"{line.rstrip()}\n" for line in shown.lines)
    if "FORETOP_WRITE_SNAPSHOTS" in os.environ:
        path.write_text(text)
    assert text == path.read_text()


def test_what_comes_in_late_is_found_though_the_clock_of_an_archive_stands_still() -> None:
    source = FilledSource([schedule()])
    archive = SimpleNamespace(origin="archive 2026-11-15", moves_in_time=False, is_moving=False)
    source.clusters = {CONTEXT: cast("WritableCluster", SimpleNamespace(client=archive))}
    state = DashboardState(source, lambda: 0.0)
    state.judge(at_once=True)
    state.judge(at_once=True)
    source.store.fill(CONTEXT, [schedule("broken", "every day", phase="FailedValidation")], source.manual)
    state.judge(at_once=True)
    assert "broken" in {finding.subject.name for finding in state.findings}
