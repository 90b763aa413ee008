"""The keys of warm-ups on the page of the primer."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretop.dialogs.plan_screen import PlanScreen
from foretop.widgets.prompt import Prompt
from tests.tui.dashboard_on_box import stand


async def test_the_warm_up_that_is_shown_can_be_created_with_its_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand("quiet", tmp_path, monkeypatch) as at:
        await at.shown.press("6", "p", *"orders", "enter", "tab", "ctrl+u", *"25", "enter", "P")
        dialog = at.dialog
        assert isinstance(dialog, PlanScreen)
        assert dialog.record.id == "create-warm-up"
        assert dialog.query_one("#minutes", Prompt).value == "25"
        await at.shown.press("escape", "enter", *"@daily", "enter", "P")
        assert at.shown.app.screen is at.shown.app.main_screen, "nobody knows what another expression is for"
