"""The private parts of Textual stand in one module, and foretop runs without them."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from textual import app, dom, message_pump, screen, widget
from textual.widgets import Static

import foretop
from foretop.terminal import textual_internals
from foretop.terminal.textual_internals import (
    InternalsApp,
    ParsedOnce,
    has_driver,
    show_late_widgets,
    switch_mouse,
    write_to_terminal,
)

_WITHOUT = """
import asyncio, builtins, sys

plain = builtins.__import__

def without_private(name, globals=None, locals=None, fromlist=(), level=0):
    if globals and globals.get("__name__", "").startswith("foretop") and name.startswith("textual._"):
        raise ImportError(f"there is no {name}")
    return plain(name, globals, locals, fromlist, level)

builtins.__import__ = without_private

from foretop.app import Dashboard
from foretop.terminal import textual_internals
from foretop.terminal.cell_diff import CellDiff
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.errors import BadInput

assert not hasattr(textual_internals, "ChopsUpdate")
assert not hasattr(textual_internals, "XTermParser")
update = object()
assert CellDiff().sparing(update) is update

def closed():
    raise BadInput("There is no configuration")

async def main():
    app = Dashboard(closed, DisplayOptions(typed=b"2"))
    async with app.run_test(size=(120, 40)) as pilot:
        for _ in range(200):
            await pilot.pause(0.05)
            if app.main_screen.page is not None and app.main_screen.trouble is not None:
                break
        await pilot.press("7")
        assert app.main_screen.current == "backups"
        await pilot.press("question_mark")
        print(type(app.screen).__name__)
        await pilot.press("escape", "ctrl+e", "q", "q")
    print(app.return_code)

asyncio.run(main())
"""


def test_the_screen_works_where_textual_has_none_of_them() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["HelpScreen", "0"], done.stderr


def test_an_app_without_a_driver_is_left_alone() -> None:
    bare: Any = SimpleNamespace()
    assert not has_driver(bare)
    write_to_terminal(bare, "x")
    switch_mouse(bare, True)


def test_a_driver_that_cannot_switch_its_mouse_keeps_it() -> None:
    driver = SimpleNamespace(_mouse=True)
    bare: Any = SimpleNamespace(_driver=driver)
    switch_mouse(bare, False)
    assert driver._mouse


class Failing(InternalsApp):
    def on_mount(self) -> None:
        token = "-".join(("se", "cret"))
        try:
            raise ValueError(f"nothing to do with {len(token)}")
        except ValueError as problem:
            self.fail(problem)


@pytest.mark.parametrize("is_missing", [False, True])
async def test_a_fault_ends_the_app_and_tells_no_values(
    is_missing: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if is_missing:
        monkeypatch.delattr(app.App, "_handle_exception")
    failing = Failing()
    await asyncio.wait_for(failing.run_async(headless=True), 120)
    told = capsys.readouterr()
    assert failing.return_code == 1
    assert "ValueError: nothing to do with 7" in told.err
    assert "se-cret" not in told.err


async def test_a_layout_paints_and_erases_a_widget_whose_place_was_asked_for_before_it() -> None:
    """As it happens to a message that comes while a table looks how much room it has."""
    show_late_widgets()
    bare = InternalsApp()
    async with bare.run_test():
        compositor, late = bare.screen._compositor, Static("late")
        with bare.batch_update():
            await bare.screen.mount(late)
            compositor.update_widgets({late})
            place = late.region
            assert place
            compositor._dirty_regions.clear()
            compositor.reflow(bare.screen, bare.size)
            assert place in compositor._dirty_regions
            await late.remove()
            compositor.update_widgets({Static("another")})
            assert late not in compositor.full_map
            compositor._dirty_regions.clear()
            compositor.reflow(bare.screen, bare.size)
            assert place in compositor._dirty_regions


def test_nobody_else_touches_them() -> None:
    sources = (inspect.getsource(module) for module in (app, dom, message_pump, screen, widget))
    private = {name for source in sources for name in re.findall(r"(?:self\.|    def )(_[a-z]\w*)", source)}
    root = Path(foretop.__file__).parent
    touched = {
        (str(path.relative_to(root)), name)
        for path in root.rglob("*.py")
        if path != Path(textual_internals.__file__) and "textual" in (text := path.read_text())
        for name in (*re.findall(r"(?:\w\.|    def )(_[a-z]\w*)", text), *re.findall(r"from (textual\._\w+)", text))
        if name in private or name.startswith("textual.")
    }
    assert touched == set()


def test_a_style_sheet_is_parsed_again_for_other_variables_only() -> None:
    sheet = ParsedOnce(variables={"shade": "red"})
    sheet.add_source("Label { color: $shade; }", read_from=("a", ""))
    sheet.parse()
    (rule,) = sheet.rules

    sheet.set_variables({"shade": "red"})
    sheet.add_source("Label { width: 3; }", read_from=("b", ""))
    sheet.reparse()
    assert sheet.rules[0] is rule
    assert len(sheet.rules) == 2

    sheet.set_variables({"shade": "blue"})
    sheet.reparse()
    assert [one.styles.color.hex for one in sheet.rules[:1]] == ["#0000FF"]


def test_style_sheets_of_the_same_variables_share_their_rules() -> None:
    def sheet(shade: str) -> ParsedOnce:
        made = ParsedOnce(variables={"shade": shade, "never-named": "not a ; value"})
        made.add_source("Label { color: $shade; }", read_from=("a", ""))
        made.parse()
        return made

    first, second, other = sheet("red"), sheet("red"), sheet("green")
    assert second.rules[0] is first.rules[0]
    assert other.rules[0] is not first.rules[0]

    second.set_variables({"shade": "green", "never-named": "not a ; value"})
    second.reparse()
    assert second.rules[0] is other.rules[0]
    assert sheet("red").rules[0] is first.rules[0]
