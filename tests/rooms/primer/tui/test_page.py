"""The keys of warm-ups on the page of the primer."""

from __future__ import annotations

from pathlib import Path

from foretop.dialogs.plan_screen import PlanScreen
from foretop.panes.detail_sections import describe_object
from foretop.widgets.prompt import Prompt
from foretop_core.models.kinds import PRESCALED
from foretop_core.models.wire import ObjectRef
from tests.objects import location
from tests.terminal import Terminal
from tests.tui.dashboard_on_box import stand
from tests.tui.test_config import change, configured
from tests.tui.test_terminal import _VISITED
from tests.unit.tables.test_timeline import prescaled
from tests.unit.tables.test_views import Shown


async def test_the_warm_up_that_is_shown_can_be_created_with_its_minutes() -> None:
    async with stand("quiet") as at:
        await at.shown.press("6", "p", *"orders", "enter", "tab", "ctrl+u", *"25", "enter", "P")
        dialog = at.dialog
        assert isinstance(dialog, PlanScreen)
        assert dialog.record.id == "create-warm-up"
        assert dialog.query_one("#minutes", Prompt).value == "25"
        await at.shown.press("escape", "enter", *"@daily", "enter", "P")
        assert at.shown.app.screen is at.shown.app.main_screen, "nobody knows what another expression is for"


def test_the_overview_of_a_prescaled_job_says_what_is_wrong_with_its_warm_ups() -> None:
    shown = Shown("schedules", [location(), prescaled("0 * * * *", 5)])
    shown.state.begin_frame()
    shown.state.judge(at_once=True)
    found = describe_object(shown.state, ObjectRef("prod", PRESCALED.name, "batch", "orders"), "overview")
    overview = "\n".join(f"{one.label} {''.join(piece.text for piece in one.spans)}" for one in found)
    assert "has not created CronJob autogen-orders" in overview
    assert "Do Look whether the prescaler is running: it has the right expression." in overview


async def test_its_minutes_are_those_of_the_configuration(tmp_path: Path) -> None:
    async with configured(tmp_path, "") as shown:
        await change(shown, "warmUpMinutes: 25\n")
        await shown.press("6")
        assert shown.app.main_screen.query_one("#minutes", Prompt).value == "25"


def test_a_terminal_without_our_signs_gets_letters() -> None:
    with Terminal([*_VISITED, "--ascii"], 80, 24, {}) as terminal:
        terminal.shows("x     2h  storage s3-us")
        terminal.press("6")
        terminal.shows("Expression")
        assert terminal.output.isascii()
