"""What is typed into a dialog is text: no key but enter on the action's own button sends anything."""

from __future__ import annotations

import random
import string
from collections.abc import Sequence
from typing import Any

import pytest
from textual.widget import Widget

from foretop.dialogs.base_modal import BaseModal
from foretop.dialogs.dialog_parts import DialogButton, DialogEdge
from foretop.dialogs.pause_dialogs import PauseDialog
from foretop.dialogs.plan_screen import PlanScreen
from foretop.widgets.prompt import Prompt
from foretop_core.dashboard.action_service import TrackedPlan
from foretop_core.models.kinds import BACKUP, NAB, NABSL_REQUEST, NAR, SCHEDULE
from foretop_demo.scenarios.scenario_builder import HOME
from tests.rooms import samples
from tests.tui.dashboard_on_box import CONTEXT, Stand, stand
from tests.tui.pilot import MIDDLE, SMALL

PRINTABLE = tuple("space" if sign == " " else sign for sign in string.printable if sign.isprintable())
WALK = 40
"""Keys pressed in each dialog, in an order that is the same in every run."""


def newest(at: Stand, schedule: str) -> str:
    names = [item["metadata"]["name"] for item in at.box.storage.list(at.box.storage.kind("Backup"))]
    return str(max(name for name in names if name.startswith(f"{schedule}-")))


def typed(at: Stand, field: str) -> str:
    return at.dialog.query_one(f"#{field}", Prompt).value


def chars(text: str) -> list[str]:
    return ["space" if sign == " " else sign for sign in text]


async def test_a_reason_typed_after_a_tab_does_not_pause_all_that_is_marked() -> None:
    async with stand("default") as at:
        await at.shown.press("2", "*", "s", "tab", *chars("CHG-4711 storage firmware"))
        assert typed(at, "until") == "CHG-4711 storage firmware"
        await at.shown.press("shift+tab", *chars("CHG-4711 storage firmware"))
        assert typed(at, "reason") == "CHG-4711 storage firmware"
        assert at.writes == []


@pytest.mark.sweep
async def test_keys_on_the_heels_of_the_one_that_opens_are_text_too() -> None:
    async with stand("quiet") as at:
        await at.shown.press("2")
        for key in ("s", *"quarter"):
            at.shown.send(key)
        await at.shown.press("l", "y")
        assert typed(at, "reason") == "quarterly"
        assert at.writes == []


async def test_an_expression_typed_after_a_tab_creates_nothing() -> None:
    async with stand("quiet") as at:
        await at.shown.press("2", "a", "tab", *chars("30 2 * * 1"))
        assert typed(at, "cron") == "30 2 * * 1"
        assert all("warning" not in text and "Nothing is sent" not in text for _, text in at.shown.app.told)
        assert at.writes == []


async def test_a_name_typed_to_confirm_is_typed_and_not_lost() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("ctrl+d", *name)
        assert typed(at, "confirm") == name
        await at.shown.press("tab", *name)
        assert typed(at, "confirm") == name
        assert at.dialog.cancel.has_focus
        assert at.writes == []
        await at.shown.press("escape", "ctrl+d", "tab", "shift+tab", *name)
        assert typed(at, "confirm") == name
        assert at.writes == []


# Every dialog


async def _movements(at: Stand) -> None:
    index = at.session.store.indexes.movements_by_backup
    await at.shown.until(lambda: len(index.keys(CONTEXT, HOME, newest(at, "mongo"))) == 2)
    await at.go("7", at.key(BACKUP, newest(at, "mongo")))


async def _nar(at: Stand) -> None:
    spec = {"restoreSpec": {"backupName": "before-release-0"}}
    body = {"metadata": {"name": "bring-it-back", "namespace": "team-pay"}, "spec": spec}
    at.box.storage.create(at.box.storage.kind("NonAdminRestore"), body)
    await at.go("3", at.key(NAR, "bring-it-back", "team-pay"))


async def _request(at: Stand) -> None:
    (request,) = at.box.storage.list(at.box.storage.kind("NonAdminBackupStorageLocationRequest"))
    await at.go("storage", at.key(NABSL_REQUEST, request["metadata"]["name"]))


async def _due(at: Stand) -> None:
    await at.go("2", at.key(SCHEDULE, "etcd-hourly"))


async def _mail(at: Stand) -> None:
    await at.go("2", at.key(SCHEDULE, "mail"))


async def _wiki(at: Stand) -> None:
    await at.go("7", at.key(BACKUP, newest(at, "wiki")))


async def _nab(at: Stand) -> None:
    await at.go("3", at.key(NAB, "before-release-0", "team-pay"))


SERVER_DEFAULT = (":", *"server-default", "enter")
OPENED = (
    ("quiet", _mail, ("s",), "t", ("a",), ("ctrl+d",), SERVER_DEFAULT),
    ("quiet", _wiki, "t", "r", ("ctrl+d",), *samples("KEY_OF_LOGS")),
    ("quiet", _nab, ("ctrl+d",), *samples("KEY_OF_LOGS")),
    ("quiet", _nar, ("ctrl+d",)),
    ("maintenance", _due, "u"),
    ("default", _request, "a"),
    ("volumes", _movements, "ctrl+k"),
)
"""By scene and row, the keys that open each dialog there is."""


async def _open(at: Stand, keys: Sequence[str]) -> BaseModal[None]:
    await at.shown.press(*keys)
    await at.shown.until(lambda: isinstance(at.shown.app.screen, BaseModal))
    window = at.shown.app.screen
    await at.see("[ Cancel ]")
    assert isinstance(window, BaseModal)
    return window


def _is_button(widget: Widget | None) -> str:
    return str(widget.id) if isinstance(widget, DialogButton) else ""


@pytest.mark.sweep
@pytest.mark.parametrize("place", OPENED, ids=lambda place: f"{place[0]}{place[1].__name__}")
async def test_no_key_but_enter_sends_anything_from_any_dialog(place: tuple[Any, ...]) -> None:
    scene, go, *ways = place
    assert isinstance(scene, str)
    assert callable(go)
    chance = random.Random(4711)
    async with stand(scene, size=MIDDLE) as at:
        await go(at)
        before = at.shown.app.main_screen.current
        for way in ways:
            window = await _open(at, way)
            closes = "" if isinstance(window, PlanScreen) and window.can_be_typed_in else "q"
            keys = [key for key in PRINTABLE if key != closes] + ["space", "tab", "shift+tab"] * 10
            for key in chance.choices(keys, k=WALK):
                await at.shown.press(key)
                assert at.shown.app.screen is window, f"{key} left {window}:\n{at.shown.text}"
            assert at.writes == []
            await at.shown.press("escape")
            assert at.shown.app.main_screen.current == before
            assert at.shown.app.screen is at.shown.app.main_screen
        assert at.writes == []
        assert at.shown.faults == []


@pytest.mark.sweep
@pytest.mark.parametrize("place", OPENED, ids=lambda place: f"{place[0]}{place[1].__name__}")
async def test_every_dialog_opens_in_its_first_field_and_tab_comes_to_the_action_last(place: tuple[Any, ...]) -> None:
    scene, go, *ways = place
    assert isinstance(scene, str)
    assert callable(go)
    async with stand(scene, size=SMALL) as at:
        await go(at)
        for way in ways:
            window = await _open(at, way)
            chain = list(window.focus_chain)
            assert [_is_button(widget) for widget in chain[-2:]] == ["cancel", "go"]
            assert not any(_is_button(widget) for widget in chain[:-2])
            first = chain[0] if len(chain) > 2 else chain[-1]
            assert window.focused is first, f"{way} opens on {window.focused}"
            if first is not chain[0]:
                await at.shown.press("tab")
            for widget in (*chain[1:], chain[0]):
                await at.shown.press("tab")
                assert window.focused is widget
            await at.shown.press("shift+tab")
            assert _is_button(window.focused) == "go"
            await at.shown.press("space")
            assert at.shown.app.screen is window
            await at.shown.press("escape")
        assert at.writes == []


async def test_q_leaves_only_where_nothing_can_be_typed() -> None:
    async with stand("quiet") as at:
        await _mail(at)
        for opening in ("s", "ctrl+d"):
            await at.shown.press(opening)
            while not at.dialog.cancel.has_focus:
                await at.shown.press("tab")
            await at.shown.press("q", "tab", "q")
            assert at.has_dialog
            assert "esc close" in at.shown.text
            await at.shown.press("escape")
            assert not at.has_dialog
        await at.shown.press("t")
        assert at.dialog.go.has_focus
        assert "esc/q close" in at.shown.text
        await at.shown.press("q")
        assert not at.has_dialog
        assert at.shown.app.told[-1][1] == "Nothing was changed"
        assert at.writes == []


async def test_enter_goes_through_the_fields_to_the_action_and_sends_only_there() -> None:
    async with stand("quiet") as at:
        await _mail(at)
        await at.shown.press("s", "enter")
        assert at.dialog.query_one("#until", Prompt).has_focus
        await at.shown.press("enter")
        assert at.dialog.go.has_focus
        assert at.writes == []
        await at.shown.press("enter")
        await at.see("✓ patched")


async def test_enter_leaves_a_name_only_when_it_is_the_right_one_and_then_sends_nothing_yet() -> None:
    async with stand("quiet") as at:
        await _mail(at)
        await at.shown.press("ctrl+d", *"mai", "enter")
        assert at.dialog.query_one("#confirm", Prompt).has_focus
        assert at.shown.app.told[-1][1] == "Type mail first"
        await at.shown.press("l", "enter")
        assert at.dialog.go.has_focus
        assert at.writes == []
        await at.shown.press("enter")
        await at.see("✓ deleted")


async def test_choices_are_turned_with_arrows_and_space_and_enter_leads_to_the_action() -> None:
    async with stand("maintenance") as at:
        await _due(at)
        await at.shown.press("u", "space")
        await at.see("● Do not skip")
        assert "false → false" not in at.shown.text, "what stays as it is is no write"
        await at.shown.press("down", "space")
        await at.see("● Skip what is due")
        await at.shown.press("enter")
        assert at.dialog.go.has_focus
        assert at.writes == []


@pytest.mark.sweep
async def test_what_cannot_be_undone_is_red_and_says_what_it_does() -> None:
    async with stand("quiet") as at:
        name = newest(at, "wiki")
        await at.go("7", at.key(BACKUP, name))
        await at.shown.press("ctrl+d")
        await at.see(f"[ Delete backup {name} permanently ]")
        window = at.dialog.query_one(".dialog")
        assert window.has_class("-dangerous")
        border = window.query_one(".sides").styles.border_left[1]
        assert border.ansi == 1, border
        assert all(edge.is_dangerous for edge in window.query(DialogEdge))
        await at.shown.press("escape", "r")
        assert not at.dialog.query_one(".dialog").has_class("-dangerous")


@pytest.mark.sweep
async def test_the_button_says_how_many_it_is_about() -> None:
    async with stand("quiet") as at:
        for name in ("etcd", "mail"):
            await at.go("2", at.key(SCHEDULE, name))
            await at.shown.press("space")
        await at.shown.press("s")
        await at.see("[ Pause 2 schedules ]")
        at.patch("Schedule", "etcd", {"spec": {"paused": True}})
        await at.see("[ Pause 1 schedule ]")


async def test_typing_into_the_dialog_of_500_schedules_makes_their_plan_once_it_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The plan had been made again with each key: a reason took seconds to appear."""
    made: list[str] = []
    make_plan = PauseDialog.make_plan

    def counting(self: PauseDialog) -> TrackedPlan:
        made.append(self.query_one("#reason", Prompt).value)
        return make_plan(self)

    async with stand("quiet") as at:
        kind = at.box.storage.kind("Schedule")
        for number in range(500):
            spec = {"schedule": f"{number % 60} * * * *", "template": {"includedNamespaces": ["wiki"]}}
            body = {"metadata": {"name": f"many-{number:03}", "namespace": HOME}, "spec": spec}
            at.box.storage.create(kind, body)
        await at.go("2", at.key(SCHEDULE, "many-499"))
        await at.shown.press("/", *"many", "enter", "*", "s")
        await at.see("[ Pause 500 schedules ]", "Writes spec.paused false → true and 3 annotations, on each of 500")
        monkeypatch.setattr(PauseDialog, "make_plan", counting)
        text = "CHG-4711 storage firmware"
        for key in chars(text)[:-1]:
            at.shown.send(key)
        await at.shown.press("e")
        assert typed(at, "reason") == text
        # A machine under load may pause between two keys: never once for each of them.
        assert len(made) <= len(text) // 5, made
        await at.see("and 4 annotations, on each of 500")
        await at.shown.until(lambda: made[-1] == text)
        assert at.writes == []
