"""Extending the life of a backup, with the keys that a person presses."""

from __future__ import annotations

from foretop_core.models.kinds import BACKUP
from foretop_demo.scenarios.scenario_builder import HOME
from tests.tui.dashboard_on_box import stand
from tests.tui.pilot import MIDDLE


async def test_a_backup_lives_longer_after_v_and_a_lifetime() -> None:
    async with stand("volumes", size=MIDDLE) as at:
        ended = next(
            item
            for item in at.box.storage.list(at.box.storage.kind("Backup"))
            if item.get("status", {}).get("phase") == "Completed"
        )
        name = ended["metadata"]["name"]
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("v")
        await at.see("Extend the life of", "it expires", "A new lifetime is needed", "[ Cancel ]")
        await at.shown.press("up")
        await at.paste("8760h")
        await at.see("→ 8760h0m0s", "status.expiration", "and not")
        assert at.writes == []
        await at.shown.press("enter")
        await at.send()
        await at.shown.until(lambda: at.object("Backup", name)["spec"]["ttl"] == "8760h0m0s")
        assert at.object("Backup", name)["status"]["expiration"] != ended["status"]["expiration"]
        assert at.object("Backup", name)["status"]["phase"] == "Completed"
        assert at.writes == [f"PATCH /apis/velero.io/v1/namespaces/{HOME}/backups/{name}"]
        assert at.shown.faults == []
