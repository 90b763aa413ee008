"""The program in terminals that are tiny, slow, that do not read, and where no file can be opened any more."""

from __future__ import annotations

import os
import resource
import signal
import sys

from tests.terminal import Terminal, cpu_seconds
from tests.tui.test_terminal import is_left_as_found

_VISITED = (sys.executable, "-m", "tests.tui.filled_dashboard")
_PAGES = "123456789"
_BLOCKED = 6
"""So often in a row the program did not move when keys came."""


def _fill(terminal: Terminal) -> None:
    """Has the program write until nobody takes it any more: then it does not look at keys either."""
    terminal.settled()
    terminal.stop_reading()
    idle = 0
    while idle < _BLOCKED:
        used = cpu_seconds(terminal.pid)
        terminal.press("78")
        terminal.changed(0.4)
        idle = idle + 1 if cpu_seconds(terminal.pid) == used else 0


def test_sigterm_does_not_wait_for_a_terminal_that_does_not_read() -> None:
    with Terminal(_VISITED, 120, 40) as terminal:
        terminal.shows("etcd-hourly")
        _fill(terminal)
        terminal.signal(signal.SIGTERM)
        assert terminal.ended_unread() == 128 + signal.SIGTERM
        # What the terminal has not taken yet cannot be taken back, and so no sequence reaches it behind that.
        assert terminal.settings() == terminal.settings_before


def test_output_that_was_held_up_goes_on_and_costs_no_time_meanwhile() -> None:
    with Terminal(_VISITED, 120, 40) as terminal:
        terminal.shows("etcd-hourly")
        _fill(terminal)
        used = cpu_seconds(terminal.pid)
        terminal.changed(1.0)
        assert cpu_seconds(terminal.pid) - used < 0.5, "it spins"
        terminal.read_again()
        terminal.settled()
        terminal.press("7")
        terminal.shows("STARTED")
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)


def test_a_line_of_2400_baud_is_enough() -> None:
    with Terminal(_VISITED, 40, 10) as terminal:
        terminal.slow_down(2400)
        terminal.shows("s3-us")
        terminal.press("2")
        terminal.shows("2Sched")
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)


def test_size_signals_that_come_faster_than_they_are_handled_end_nothing() -> None:
    with Terminal(_VISITED, 120, 40) as terminal:
        terminal.shows("etcd-hourly")
        for _ in range(200_000):
            terminal.signal(signal.SIGWINCH)
        terminal.resize(columns=100, lines=30)
        terminal.press("7")
        terminal.shows("STARTED")
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)


def test_three_hundred_changes_of_its_size_end_nothing() -> None:
    with Terminal(_VISITED, 120, 40) as terminal:
        terminal.shows("etcd-hourly")
        for number in range(300):
            terminal.resize(columns=1 + number * 7 % 160, lines=1 + number * 5 % 60)
        terminal.resize(columns=120, lines=40)
        # While the notice of a terminal that is too small is there, no key reaches the page.
        terminal.settled()
        terminal.press("7")
        terminal.shows("STARTED")
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)


def test_a_terminal_of_twenty_by_five_is_used_and_left() -> None:
    with Terminal(_VISITED, 20, 5) as terminal:
        terminal.shows(lambda lines: any(line.strip() for line in lines))
        terminal.settled()
        for key in _PAGES + "?\x1b/x\x1b\r\x1b":
            terminal.press(key)
        terminal.settled()
        assert terminal.is_running
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
        is_left_as_found(terminal)


def test_without_a_free_descriptor_nothing_ends_and_sigterm_restores_the_terminal() -> None:
    with Terminal(_VISITED, 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        held = len(os.listdir(f"/proc/{terminal.pid}/fd"))
        resource.prlimit(terminal.pid, resource.RLIMIT_NOFILE, (held, 4096))
        for key in (*_PAGES, "?", "\x1b", "p", "\x1b", "1"):
            terminal.press(key)
            terminal.changed(0.5)
        terminal.settled()
        assert terminal.is_running, str(terminal)
        terminal.signal(signal.SIGTERM)
        assert terminal.ended() == 128 + signal.SIGTERM
        is_left_as_found(terminal)
