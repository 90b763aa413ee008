"""Terminals of every kind: a visit in each, the mouse that is switched on and off, and copying out of what wraps it."""

from __future__ import annotations

import base64
import sys

import pytest

from tests.terminal import Terminal

_VISITED = (sys.executable, "-m", "tests.tui.filled_dashboard")
_CTRL_E, _ESCAPE = "\x05", "\x1b"
_MOUSE = 1000 << 5
_NAME = base64.b64encode(b"broken")


@pytest.mark.sweep
@pytest.mark.parametrize("term", ["linux", "xterm", "screen.xterm-256color", "rxvt-unicode-256color"])
def test_a_visit_in_terminals_of_every_kind(term: str) -> None:
    with Terminal(_VISITED, 80, 24, {"TERM": term}) as terminal:
        terminal.shows("etcd-hourly")
        terminal.press("2/paused:true\r")
        terminal.shows(lambda lines: "/paused:true" in lines[2] and not any("mongo-nightly" in line for line in lines))
        terminal.press("\r")
        terminal.shows("Overview")
        terminal.press(_ESCAPE)
        terminal.shows(lambda lines: "/paused:true" in lines[2])
        terminal.press(_ESCAPE)
        terminal.shows("mongo-nightly")
        terminal.press("qq")
        assert terminal.ended() == 0
        assert terminal.modes() == terminal.modes_before
        assert terminal.settings() == terminal.settings_before


def test_the_mouse_is_taken_and_given_back_by_a_key_and_given_back_at_the_end() -> None:
    with Terminal(_VISITED, 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        assert b"\x1b[?1000h" not in terminal.output
        terminal.press(_CTRL_E)
        terminal.shows(lambda _: _MOUSE in terminal.modes())
        terminal.press(_CTRL_E)
        terminal.shows(lambda _: _MOUSE not in terminal.modes())
        terminal.press(_CTRL_E)
        terminal.shows(lambda _: _MOUSE in terminal.modes())
        terminal.press("qq")
        assert terminal.ended() == 0
        assert terminal.modes() == terminal.modes_before
        assert terminal.output.count(b"\x1b[?1000h") == 2


@pytest.mark.parametrize(
    ("environ", "sent", "told"),
    [
        ({}, b"\x1b]52;c;" + _NAME + b"\x07", "Copied by OSC 52: "),
        ({"TMUX": "/nowhere,1,0"}, b"\x1b]52;c;" + _NAME + b"\x07", "tmux refused it"),
        ({"STY": "1.host", "TERM": "screen"}, b"\x1bP\x1b]52;c;" + _NAME + b"\x07\x1b\\", "OSC 52, through screen"),
    ],
    ids=["alone", "tmux", "screen"],
)
def test_copying_reaches_the_terminal_through_what_wraps_it(environ: dict[str, str], sent: bytes, told: str) -> None:
    with Terminal(_VISITED, 80, 24, environ) as terminal:
        terminal.shows("etcd-hourly")
        terminal.press("2")
        terminal.shows("CRON")
        terminal.press("c")
        terminal.shows(told)
        assert sent in terminal.output
