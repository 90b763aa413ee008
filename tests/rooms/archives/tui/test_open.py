"""The dashboard on a bundle: what is wrong in it, of when it is, a log from it, and no write."""

from __future__ import annotations

from pathlib import Path

from foretop.app import Dashboard
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.session import open_session
from tests.rooms.archives.packing import BUNDLE
from tests.tui.pilot import LARGE, Screen, running


async def test_what_is_wrong_in_this_bundle(tmp_path: Path) -> None:
    options = SessionOptions(files=(str(BUNDLE),), with_velero=True)
    app = Dashboard(lambda: open_session(options, {"XDG_CONFIG_HOME": str(tmp_path)}), DisplayOptions(flash=False))
    async with running(app, LARGE) as pilot:
        shown = Screen(app, pilot, None)  # type: ignore[arg-type]
        await shown.until(lambda: "last backup failed" in shown.text)
        assert "ARCHIVE 2026-11-19" in shown.text
        assert "02:20:52Z" in shown.text
        assert "11 kinds not in the archive" in shown.text
        await shown.press("8")
        await shown.until(lambda: "Not in the archive: restores.velero.io." in shown.text)
        assert "checks again" not in shown.text
