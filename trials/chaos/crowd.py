"""Ten thousand waiting NABs of one team that come, change and go, while somebody presses keys."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from tests.terminal import Terminal, resident_megabytes

COUNT, RATE = 10_000, 20
_PAGES = ("1", "2", "3", "4", "7", "5")
_STILL_DUE, _NIGHT_IS_THERE = "still to come", "Peak"
_SETTLES = 2.0
_KEYS = (*_PAGES, "j", "k", "\x1b[6~", "\x1b[5~", "g", "G")
_HELP = "esc/q close"
_PATIENCE = 60.0
_MOST_GROWTH = 1.25
"""From the warm-up on, in which each page is opened and a night is played: what is worked out there is kept."""


def press_in_a_crowd(keys: int, seed: int, say: Callable[[str], None]) -> list[str]:
    """What was lost: a key that nothing answered, the program itself, memory."""
    dice, lost, levels, slowest = Random(seed), list[str](), list[float](), (0.0, "")
    with tempfile.TemporaryDirectory() as home:
        report = Path(home) / "stay"
        command = [sys.executable, "-m", "trials.bench.crowded_dashboard", str(COUNT), str(RATE), str(report)]
        with Terminal(command, 120, 40, {"HOME": home, "XDG_STATE_HOME": home}, anew=True) as terminal:
            terminal.until(lambda lines: "Triage" in lines[1], _PATIENCE)
            warm = max(_warm_up(terminal))
            # From here on the stays are measured anew.
            report.unlink(missing_ok=True)
            for number in range(keys):
                key = dice.choice(_KEYS)
                terminal.press(key)
                # Help answers last: all before it was answered.
                terminal.press("?")
                answer = terminal.until(lambda lines: any(_HELP in line for line in lines), _PATIENCE)
                terminal.press("\x1b")
                answer += terminal.until(lambda lines: not any(_HELP in line for line in lines), _PATIENCE)
                slowest = max(slowest, (answer, key))
                if not terminal.is_running or answer == float("inf"):
                    lost.append(f"key {number}, {key!r}, was not answered")
                    break
                levels.append(resident_megabytes(terminal.pid))
            time.sleep(1)
            stay, busy = report.read_text().split()
    if levels and levels[-1] > _MOST_GROWTH * warm:
        lost.append(f"memory grew from {warm:.0f} to {levels[-1]:.0f} MB")
    say(f"  the slowest key, with help after it: {slowest[0]:.1f} s, {slowest[1]!r}")
    say(f"  memory: {warm:.0f} MB after the warm-up, at most {max(levels, default=0):.0f} MB")
    say(f"  the longest stay on the event loop: {stay} ms, {busy} ms of a processor")
    say(f"  beside a load of {os.getloadavg()[0]:.0f}")
    return lost


def _warm_up(terminal: Terminal) -> Iterator[float]:
    """The memory after each page was opened, the calendar with the night that is played for it."""
    for page in _PAGES:
        terminal.press(page)
        terminal.until(lambda lines: not any(_STILL_DUE in line for line in lines), _PATIENCE)
        time.sleep(_SETTLES)
        yield resident_megabytes(terminal.pid)
    terminal.until(lambda lines: any(_NIGHT_IS_THERE in line for line in lines), _PATIENCE)
    time.sleep(_SETTLES)
    yield resident_megabytes(terminal.pid)
