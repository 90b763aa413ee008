"""The demo's scenes on the screen: every row has its pane, and no view stumbles over any object."""

from __future__ import annotations

import pytest

from foretop.pages.table_page import TablePage
from foretop_core.models import Resource
from foretop_core.pages import TABS
from foretop_demo.scenarios import SCENES, ScenarioOptions
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from tests.tui.fake_source import FilledSource
from tests.tui.pilot import screen

_ROWS = 6
_STUMBLES = ("cannot be shown", "could not be drawn")


def objects_of(name: str) -> list[Resource]:
    return SimulatedCluster(SCENES[name], ScenarioOptions(seed=1), FIXED_START).objects()


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["default", "outage", "volumes", "nonadmin-status", "large"])
async def test_every_row_of_every_view_can_be_told(name: str) -> None:
    async with screen(FilledSource(objects_of(name))) as shown:
        for tab in TABS:
            await shown.press(str(tab.digit))
            if not isinstance(shown.app.main_screen.page, TablePage):
                continue
            for _ in range(min(_ROWS, len(shown.table.rows.table)) if shown.table.rows else 0):
                assert not any(stumble in shown.text for stumble in _STUMBLES), shown.text
                await shown.key("down")
        assert shown.faults == []


@pytest.mark.sweep
async def test_every_kind_of_object_opens_in_all_its_parts() -> None:
    async with screen(FilledSource(objects_of("default"))) as shown:
        for tab in TABS:
            await shown.press(str(tab.digit))
            if not isinstance(shown.app.main_screen.page, TablePage) or not shown.names():
                continue
            await shown.press("enter")
            for _ in range(8):
                assert not any(stumble in shown.text for stumble in _STUMBLES), shown.text
                await shown.key("tab")
            await shown.press("escape")
        assert shown.faults == []
