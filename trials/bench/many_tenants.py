"""`python -m trials.bench.many_tenants [COUNT]`: the dashboard before ten thousand waiting NABs of one team."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.terminal import Terminal, cpu_seconds, resident_megabytes
from trials.bench import Figure

COUNT = 10_000
RATES = (0, 5)
"""Changes a second."""
_KEYS = "4572391"
"""Queue, calendar, backups, schedules, NABs, Protection and Triage."""
_ROUNDS = 3
_PATIENCE = 120.0


def measure(count: int = COUNT) -> Iterator[Figure]:
    for rate in RATES:
        yield from _at(count, rate)


def _at(count: int, rate: int) -> Iterator[Figure]:
    what = f"{count:,} waiting NABs, {rate} changes a second"
    yield Figure(f"{what}: load of the machine before it", os.getloadavg()[0], 1, "")
    with tempfile.TemporaryDirectory() as home:
        report = Path(home) / "stay"
        command = [sys.executable, "-m", "trials.bench.crowded_dashboard", str(count), str(rate), str(report)]
        with Terminal(command, 120, 40, {"HOME": home, "XDG_STATE_HOME": home}, anew=True) as terminal:
            terminal.until(lambda lines: "Triage" in lines[1], _PATIENCE)
            time.sleep(10)
            report.unlink(missing_ok=True)
            cpu, begun = cpu_seconds(terminal.pid), time.monotonic()
            answers = {key: max(_answer(terminal, key) for _ in range(_ROUNDS)) for key in _KEYS}
            share = (cpu_seconds(terminal.pid) - cpu) / (time.monotonic() - begun)
            slowest = max(answers, key=answers.__getitem__)
            yield Figure(f"{what}: slowest key, {slowest}", answers[slowest] * 1000, 100, "ms")
            stay, busy = map(float, report.read_text().split())
            yield Figure(f"{what}: longest stay on the loop", stay, 50, "ms")
            yield Figure(f"{what}: of a processor", busy, 50, "ms")
            yield Figure(f"{what}: CPU", share * 100, 100, "%")
            yield Figure(f"{what}: resident", resident_megabytes(terminal.pid), 300, "MB")


def _answer(terminal: Terminal, key: str) -> float:
    """Seconds until the screen has changed after a key."""
    other = next(one for one in _KEYS if one != key)
    terminal.press(other)
    time.sleep(1)
    before, begun = terminal.text()[2:4], time.monotonic()
    terminal.press(key)
    while terminal.text()[2:4] == before and time.monotonic() - begun < _PATIENCE:
        terminal.changed(0.02)
    return time.monotonic() - begun


if __name__ == "__main__":
    for figure in measure(*map(int, sys.argv[1:])):
        print(figure.line(), flush=True)
