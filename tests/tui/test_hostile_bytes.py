"""What reaches the terminal, byte by byte, before a box full of hostile text: nothing but foretop's own sequences."""

from __future__ import annotations

import base64
import os
import re
import sys
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.strip import Strip

from foretop.dialogs.dialog_parts import OptionCycler
from foretop.terminal.cell_diff import drawable
from foretop_core.actions.action_record import ChoiceField
from foretop_demo.scenarios.scenario_builder import HOME
from tests.terminal import Terminal
from tests.tui.hostile_box import MARK

_REPOSITORY = Path(__file__).parents[2]
_CODE = os.pathsep.join(map(str, (_REPOSITORY, _REPOSITORY / "core", _REPOSITORY / "tui")))
"""This checkout's own code, whichever is installed."""
_BOX = (sys.executable, "-m", "tests.tui.hostile_box")
_ESCAPE = "\x1b[27u"
_KEYS = [
    *("\r", "J", "y", "d", "e", "p", "z", "\t", "o", "/", "*", "O", "b", "?", "Z", "0", "-", ":", " ", "h", "S"),
    *(
        "s",
        "u",
        "U",
        "r",
        "D",
        "x",
        "l",
        "B",
        "n",
        "c",
        "a",
        "t",
        "E",
        "i",
        "X",
        "L",
        "P",
        "N",
        "T",
        "C",
        "m",
        "<",
        ">",
    ),
    *("<", ">", "\x17", "\x04", "\x0b", "\x12", "\x07"),
]
_ALLOWED = re.compile(
    r"\x1b\[[0-9;]*[ABCDGHJKmnr]"
    r"|\x1b\[\?[0-9;]+(?:[hl]|\$p)"
    r"|\x1b\[[<>=?]?[0-9;]*[uctq]"
    r"|\x1b\]22;[a-z-]*\x07"
    r"|\x1b\]52;c;(?P<copied>[A-Za-z0-9+/=]*)\x07"
    r"|[\r\n]"
)
_NOTICE = re.compile(r"\x1b\]777;notify;foretop;(?P<text>[^\x00-\x1f\x7f-\x9f;]*)\x1b\\")
_TITLE = re.compile(r"\x1b\]2;(?P<text>[^\x00-\x1f\x7f-\x9f;]*)\x1b\\")
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


def foreign(output: bytes) -> list[str]:
    """What is neither text nor a sequence that foretop or its toolkit writes."""
    rest = _ALLOWED.sub("", output.decode("utf-8", errors="replace"))
    return [rest[max(0, found.start() - 30) : found.end() + 30] for found in _UNSAFE.finditer(rest)]


def test_the_grammar_notices_what_is_not_ours() -> None:
    for sent in ("\x1b]0;own\x07", "\x1b]52;c;o!\x07", "\x9b31m", "\u202e", "\x07", "\x1bP", "\x1b[2J\x1bc", "\x0e"):
        assert foreign(f"before {sent} after".encode()) != [], sent
    assert foreign("\x1b[1;31mplain é 漢字\x1b[0m\x1b[?25l\r\n".encode()) == []


@pytest.mark.sweep
@pytest.mark.parametrize("pages", ["123", "456", "789"])
def test_no_key_on_any_page_lets_a_sequence_of_an_object_through(pages: str, tmp_path: Path) -> None:
    environ = {"PYTHONPATH": _CODE, "XDG_STATE_HOME": str(tmp_path)}
    with Terminal(_BOX, 120, 40, environ, tmp_path) as terminal:
        terminal.shows(lambda lines: "API ●" in lines[0])
        for page in pages:
            for key in _KEYS:
                terminal.press(f"{page}{key}")
                terminal.changed(0.05)
                terminal.press(f"{_ESCAPE}{_ESCAPE}{_ESCAPE}")
            terminal.settled()
            assert terminal.is_running, str(terminal)
        terminal.press("2")
        terminal.shows("┌─ Schedules")
        # What is still on its way would be read in the middle of a sequence.
        terminal.settled()
        output = bytes(terminal.output)
    assert foreign(output) == []
    assert MARK not in terminal.title
    copied = [found["copied"] for found in _ALLOWED.finditer(output.decode(errors="replace")) if found["copied"]]
    lines = [line for text in copied for line in base64.b64decode(text).decode().split("\n")]
    assert [line for line in lines if _UNSAFE.search(line)] == []
    assert len(output) > 100_000
    assert list(tmp_path.glob("foretop/crash-*")) == []


@pytest.mark.sweep
def test_a_new_finding_is_one_bell_one_notification_and_the_title(tmp_path: Path) -> None:
    environ = {"PYTHONPATH": _CODE, "XDG_STATE_HOME": str(tmp_path)}
    with Terminal((*_BOX, "notify"), 120, 40, environ, tmp_path) as terminal:
        terminal.shows(lambda lines: "API ●" in lines[0])
        terminal.until(lambda _lines: b"\x1b]777;" in terminal.output)
        terminal.settled()
        output = bytes(terminal.output).decode()
    notices = [found["text"] for found in _NOTICE.finditer(output)]
    titles = [found["text"] for found in _TITLE.finditer(output)]
    assert len(notices) == 1
    assert f"storage {HOME}/late: bucket does not exist" in notices[0]
    assert titles
    rest = _TITLE.sub("", _NOTICE.sub("", output))
    assert rest.count("\x07") - len(re.findall(r"\x1b\](?:22|52);[^\x07]*\x07", rest)) == 1
    assert [part for part in foreign(rest.encode()) if "\x07" not in part] == []


def test_a_choice_is_shown_without_its_sequences() -> None:
    choice = OptionCycler(ChoiceField("storage", "Storage", (("\x1b]0;own\x07", ""),)))
    assert choice.render().plain.isprintable()
    assert choice.render().plain.startswith("‹ \\x1")


def test_the_last_filter_drops_what_takes_no_cell_and_keeps_the_width() -> None:
    strip = Strip([Segment("a\x1b]0;own\x07é漢\u202eb")])
    assert drawable(strip).text.rstrip() == "a]0;owné漢b"
    assert drawable(strip).cell_length == strip.cell_length
    private = Strip([Segment("a\ue000b\U000f0001c\U0010fffd")])
    assert drawable(private).text == "a?b?c?"
    assert drawable(private).cell_length == private.cell_length
