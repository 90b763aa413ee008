"""One program before one number of NABs: what a person waits for, and what it costs."""

from __future__ import annotations

import re
import time
from functools import partial
from itertools import cycle, islice

from tests.real.cluster import RealCluster
from tests.terminal import Terminal, cpu_seconds, resident_megabytes
from trials.bench.peers.byte_counter import ByteCounter
from trials.bench.peers.nabs import PHASES, NabName, nab_name, set_outcome
from trials.bench.peers.programs import Program

COLUMNS, LINES = 160, 45
IDLE_SECONDS = 30.0
START_LIMIT, CHANGE_LIMIT, KEY_LIMIT = 90.0, 15.0, 5.0
CHANGES, CHANGES_TIME = 20, 60.0
_SETTLE = 5.0
Figures = dict[str, float]


def measure(program: Program, cluster: RealCluster, counter: ByteCounter, count: int) -> Figures:
    """Every figure of the table, in the order in which it is measured."""
    with Terminal(program.command, COLUMNS, LINES, program.environ, anew=True) as terminal:
        figures = _start(program, terminal, cluster, count)
        if figures["first rows, s"] == float("inf"):
            return figures
        time.sleep(_SETTLE)
        figures["resident, MB"] = resident_megabytes(terminal.pid)
        shown = _shown(terminal.text())
        figures |= _changes(terminal, cluster, shown)
        time.sleep(_SETTLE)
        figures |= _idle(terminal, counter)
        for name, keys in program.keys.items():
            answers = [_answer(terminal, key) for key in keys]
            figures[f"key to screen, {name}, p95, ms"] = _share(answers, 0.95) * 1000
        return figures


def _start(program: Program, terminal: Terminal, cluster: RealCluster, count: int) -> Figures:
    frame = terminal.until(program.has_frame, START_LIMIT)
    rows = frame + terminal.until(lambda lines: bool(_names(lines)), START_LIMIT)
    cpu = cpu_seconds(terminal.pid)
    answers: list[float] = []
    changes: list[float] = []
    begin = time.perf_counter()
    while not program.has_all(terminal.text(), count) and time.perf_counter() - begin < START_LIMIT:
        if program.keys:
            answers.append(_move(terminal))
            if names := _names(terminal.look()[1]):
                phase = PHASES[(len(changes) // 2 + 1) % 2]
                changes.append(_change(terminal, cluster, nab_name(_number(names[0])), phase))
        terminal.changed(0.1)
    everything = rows + time.perf_counter() - begin
    if program.keys:
        # A row that fails goes to the top: it is looked for there.
        terminal.press("g")
    figures = {"frame, s": frame, "first rows, s": rows, "all rows, s": everything}
    if answers:
        figures["key to screen, while rows come in, p95, ms"] = _share(answers, 0.95) * 1000
    if changes:
        figures["change to cell, while rows come in, p95, s"] = _share(changes, 0.95)
    return {**figures, "CPU until first rows, s": cpu, "CPU until all rows, s": cpu_seconds(terminal.pid)}


def _changes(terminal: Terminal, cluster: RealCluster, nab: NabName) -> Figures:
    """Velero's phase of a NAB on the screen alternates."""
    times: list[float] = []
    cpu, began = cpu_seconds(terminal.pid), time.perf_counter()
    for phase in islice(cycle(reversed(PHASES)), CHANGES):
        if time.perf_counter() - began > CHANGES_TIME:
            break
        times.append(_change(terminal, cluster, nab, phase))
        time.sleep(0.5)
    return {
        "change to cell, p50, s": _share(times, 0.5),
        "change to cell, p95, s": _share(times, 0.95),
        "CPU for one change, ms": (cpu_seconds(terminal.pid) - cpu) / len(times) * 1000,
    }


def _change(terminal: Terminal, cluster: RealCluster, nab: NabName, phase: str) -> float:
    begin = time.perf_counter()
    set_outcome(cluster.admin, nab, phase)
    terminal.until(partial(_has_row, name=nab.name, phase=phase), CHANGE_LIMIT)
    return time.perf_counter() - begin


def _idle(terminal: Terminal, counter: ByteCounter) -> Figures:
    cpu, written, received = cpu_seconds(terminal.pid), terminal.written, counter.received()
    time.sleep(IDLE_SECONDS)
    return {
        "CPU in 30 s idle, s": cpu_seconds(terminal.pid) - cpu,
        "from the API in 30 s idle, kB": (counter.received() - received) / 1000,
        "to the terminal in 30 s idle, kB": (terminal.written - written) / 1000,
    }


def _answer(terminal: Terminal, key: str) -> float:
    """Seconds until the rows, the cursor or the field below look different; the clock does not count."""
    before, begin = _look(terminal), time.perf_counter()
    terminal.press(key)
    while _look(terminal) == before and time.perf_counter() - begin < KEY_LIMIT:
        terminal.changed(0.05)
    passed = time.perf_counter() - begin
    time.sleep(0.05)
    return passed


def _move(terminal: Terminal) -> float:
    """Seconds until the cursor is on another row: rows that come in change the others at any moment.

    A row that fails goes to the top with the cursor, and from there no key leads up.
    """
    lines, lit = terminal.look()
    before, begin = _names(lit), time.perf_counter()
    terminal.press("j" if before[:1] == _names(lines)[:1] else "k")
    while _names(terminal.look()[1]) in (before, []) and time.perf_counter() - begin < KEY_LIMIT:
        terminal.changed(0.05)
    return time.perf_counter() - begin


def _look(terminal: Terminal) -> tuple[list[str], list[str]]:
    lines, lit = terminal.look()
    return lines[2:], lit[2:]


def _names(lines: list[str]) -> list[str]:
    return re.findall(r"nab-\d{6}", "\n".join(lines))


def _shown(lines: list[str]) -> NabName:
    """A NAB in the middle of those on the screen."""
    names = _names(lines)
    return nab_name(_number(names[len(names) // 2]))


def _number(name: str) -> int:
    return int(name.removeprefix("nab-"))


def _has_row(lines: list[str], name: str, phase: str) -> bool:
    return any(name in line and phase in line for line in lines)


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]
