"""The screen of an upgrade."""

from __future__ import annotations

from foretop.rooms.upgrade_check.screen import UpgradeScreen
from tests.tui.pilot import screen


async def test_the_palette_tells_what_an_upgrade_of_velero_changes() -> None:
    async with screen() as shown:
        await shown.press("colon", *"upgrade", "enter")
        await shown.until(lambda: isinstance(shown.app.screen, UpgradeScreen))
        assert "Upgrade to Velero " in shown.text
        assert "schedules" in shown.text
