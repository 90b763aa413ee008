"""Every dialog at 40x12 and at 80x24: the focused field is in sight, and so are the buttons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.geometry import Region
from textual.widget import Widget

from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.dialog_registry import make_dialog
from foretop.dialogs.plan_screen import PlanScreen
from foretop.widgets.prompt import Prompt
from foretop_core.actions.action_catalog import RECORDS
from foretop_core.actions.action_record import ActionRecord, AskedOf
from foretop_core.models.kinds import SCHEDULE, VELERO_DEPLOYMENT
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.resources.findings import key_of
from foretop_demo.scenarios.scenario_builder import HOME
from tests.tui.dashboard_on_box import CONTEXT, Stand, stand
from tests.tui.pilot import SMALL, TINY

SHOWN = [(record, several) for record in RECORDS if not record.fetches for several in {False, record.many}]


def targets(at: Stand, record: ActionRecord, several: bool) -> ActionTargets:
    """The object that the dialog is about: the first one that the action can be asked of, or else is refused for."""
    if record.asked_of is AskedOf.NEW:
        return ActionTargets((ObjectRef(CONTEXT, SCHEDULE.name, HOME, ""),))
    if record.asked_of is AskedOf.SERVER:
        return ActionTargets((ObjectRef(CONTEXT, "Deployment", HOME, VELERO_DEPLOYMENT),))
    if record.asked_of is AskedOf.FINDING:
        state = at.shown.app.main_screen.state
        assert state is not None
        findings = state.findings[: None if several else 1]
        return ActionTargets(tuple(map(key_of, findings)), findings=findings)
    names = {kind.name for kind in record.kinds}
    held = [pair for name in names for pair in at.session.store.items(CONTEXT, name)]
    fitting = [key for key, item in held if not record.applies(item, lambda: True)]
    return ActionTargets(tuple((fitting or [key for key, _ in held])[: None if several and record.many else 1]))


def unseen(at: Stand) -> Iterator[str]:
    """What should be seen whole, in the place where it is drawn, and is not."""
    dialog = at.dialog
    width, height = dialog.size
    assert isinstance(dialog, PlanScreen)
    for one in (dialog.focused, dialog.cancel, *(() if dialog.is_impossible else (dialog.go,))):
        assert isinstance(one, Widget)
        seen = dialog.find_widget(one).visible_region.intersection(Region(0, 0, width, height))
        if not one.display or seen.height < one.region.height or seen.width < one.region.width:
            yield f"{one.id}: {seen} of {one.region}"


@pytest.mark.sweep
@pytest.mark.parametrize("size", [TINY, SMALL])
async def test_every_dialog_shows_its_focused_field_and_its_buttons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    async with stand("default", tmp_path, monkeypatch, size=size) as at:
        hidden: list[str] = []
        for record, several in SHOWN:
            found = targets(at, record, several)
            assert found.keys, f"nothing to ask {record.id} of"
            main = at.shown.app.main_screen
            assert main.state is not None
            window = make_dialog(main.write_actions.service, record, found, False, lambda *_: None)
            assert isinstance(window, PlanScreen)
            await at.shown.app.push_screen(window)
            await at.shown.settle()
            empty = [one for one in window.query(Prompt) if one.placeholder and not one.value]
            hints = [one.placeholder for one in empty]
            assert all(one.startswith(("empty: ", "e.g. ")) for one in hints), (record.id, hints)
            assert [one.render_line(0).text.rstrip() for one in empty] == hints, "no word of it is lost"
            for _ in window.focus_chain:
                hidden += [f"{record.id}, {one}:\n{at.shown.text}" for one in unseen(at)]
                await at.shown.press("tab")
            await at.shown.press("escape")
        assert not hidden, "\n\n".join(hidden)
        assert at.writes == []
