"""`python -m trials.bench.dashboard_in_terminal`: the dashboard before ten thousand NABs, each figure with its goal."""

from __future__ import annotations

import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from tests.terminal import Terminal, cpu_seconds, resident_megabytes
from trials.bench import Figure, table

FORETOP = [sys.executable, "-m", "foretop"]
NABS = "/apis/oadp.openshift.io/v1alpha1"
VELERO = "/apis/velero.io/v1"
BURST_SECONDS, BURST_RATE = 6.0, 500
MOVING_SECONDS, IDLE_SECONDS = 12.0, 30.0
"""An idle dashboard looks at everything each half minute: a shorter time would have that look by chance."""
SIZES = ((120, 40), (200, 60))


class Cluster:
    """The `large` scene, served by another process, with writes as a controller makes them."""

    def __init__(self, kubeconfig: str, server: subprocess.Popen[str]) -> None:
        self.kubeconfig = kubeconfig
        self._server = server
        with open(kubeconfig) as file:
            parts = urlsplit(yaml.safe_load(file)["clusters"][0]["cluster"]["server"])
        self._place, self._prefix = parts.netloc, parts.path
        self._line = self.connection()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._place, timeout=30)

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """A cluster in which nothing happens: its controllers are stopped too."""
        self._server.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._server.send_signal(signal.SIGCONT)

    def nabs(self) -> list[Nab]:
        self._line.request("GET", f"{self._prefix}{NABS}/nonadminbackups")
        items = json.loads(self._line.getresponse().read())["items"]
        found = [Nab(item["metadata"]["namespace"], item["metadata"]["name"], *_backup(item)) for item in items]
        return sorted(found)

    def set_outcome(self, nab: Nab, phase: str) -> None:
        """Set the outcome of the Velero Backup; the box's own controllers ignore one that has ended."""
        path = f"{VELERO}/namespaces/{nab.velero_namespace}/backups/{nab.velero_name}"
        self._patch(self._line, path, {"status": {"phase": phase}})

    def touch(self, nab: Nab, line: http.client.HTTPConnection, number: int) -> None:
        path = f"{NABS}/namespaces/{nab.namespace}/nonadminbackups/{nab.name}"
        self._patch(line, path, {"metadata": {"labels": {"touched": str(number)}}})

    def _patch(self, line: http.client.HTTPConnection, path: str, body: object) -> None:
        head = {"Content-Type": "application/merge-patch+json"}
        line.request("PATCH", self._prefix + path, json.dumps(body), head)
        answer = line.getresponse()
        answer.read()
        assert answer.status == 200, answer.status


class Nab(NamedTuple):
    namespace: str
    name: str
    velero_namespace: str
    velero_name: str


def _backup(item: dict[str, Any]) -> tuple[str, str]:
    velero = item.get("status", {}).get("veleroBackup", {})
    return velero.get("namespace", ""), velero.get("name", "")


@contextmanager
def served() -> Iterator[Cluster]:
    with subprocess.Popen(
        [*FORETOP, "demo", "--scene", "large", "--serve"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield Cluster(server.stdout.readline().strip(), server)
        finally:
            server.terminate()


def measure() -> Iterator[Figure]:
    yield Figure("foretop --version", _version(), 0.15, "s", "Python itself, then click and typing")
    with served() as cluster:
        nabs = cluster.nabs()
        for columns, lines in SIZES:
            print(f"{columns}x{lines}", flush=True)
            yield from _dashboard(cluster, nabs, columns, lines)
    yield from table.measure()


def _dashboard(cluster: Cluster, nabs: list[Nab], columns: int, lines: int) -> Iterator[Figure]:
    with Terminal([*FORETOP, "--kubeconfig", cluster.kubeconfig], columns, lines, anew=True) as terminal:
        frame = terminal.until(lambda lines: "Triage" in lines[1])
        terminal.press("3")
        yield Figure("frame painted", frame, 0.5, "s", "loading textual and rich, two thirds; its style sheet")
        names = {nab.name for nab in nabs}
        rows = frame + terminal.until(lambda lines: any(not names.isdisjoint(line.split()) for line in lines))
        yield Figure("first rows", rows, 1.2, "s", "loading aiohttp, the rules and the pages, 0.5 s")
        every = rows + terminal.until(lambda lines: "API ●" in lines[0])
        yield Figure("all 10,000", every, 3.0, "s", "the server's pages; decoding and storing, 0.4 s of CPU")
        # By name: a row whose outcome changes keeps its place.
        terminal.press(">>")
        first, second = sorted(nabs, key=lambda nab: nab.name)[:2]
        terminal.until(lambda lines: any(first.name in line for line in lines))
        time.sleep(1)
        times, sizes = _changes(cluster, terminal, first)
        yield Figure("change to changed cell, p95", sorted(times)[-2] * 1000, 200, "ms")
        yield Figure("bytes for the changed row of the cursor", min(sizes), 300, "B", "the lines of its pane move")
        yield Figure("bytes for another changed row", min(_changes(cluster, terminal, second)[1]), 100, "B")
        yield from _burst(cluster, terminal, nabs)
        yield from _idle(cluster, terminal)
        yield Figure("resident", resident_megabytes(terminal.pid), 140, "MB", "20,000 objects, 2.7 kB each")


def _version() -> float:
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        subprocess.run([*FORETOP, "--version"], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
    return min(times)


def _is_row_of(name: str, phase: str, lines: list[str]) -> bool:
    return any(name in line and phase in line for line in lines)


def _changes(cluster: Cluster, terminal: Terminal, nab: Nab) -> tuple[list[float], list[int]]:
    """The Backup of a row alternates between two outcomes: the seconds and the bytes that each change takes."""
    times, sizes = [], []
    for phase, _ in zip(cycle(("Failed", "Completed")), range(20), strict=False):
        time.sleep(0.3)
        before, begin = terminal.written, time.perf_counter()
        cluster.set_outcome(nab, phase)
        terminal.until(partial(_is_row_of, nab.name, phase), 5)
        times.append(time.perf_counter() - begin)
        sizes.append(terminal.written - before)
    return times, sizes


def _burst(cluster: Cluster, terminal: Terminal, nabs: list[Nab]) -> Iterator[Figure]:
    stop = threading.Event()
    sent = [0]
    writers = [threading.Thread(target=_write, args=(cluster, nabs, stop, sent, seed)) for seed in range(4)]
    cpu, begin = cpu_seconds(terminal.pid), time.perf_counter()
    for writer in writers:
        writer.start()
    answers: list[Any] = []
    while time.perf_counter() - begin < BURST_SECONDS:
        answers.append(_key(terminal, "j" if len(answers) % 2 == 0 else "k"))
        time.sleep(0.2)
    stop.set()
    passed = time.perf_counter() - begin
    share = (cpu_seconds(terminal.pid) - cpu) / passed * 100
    for writer in writers:
        writer.join()
    rate = sent[0] / passed
    yield Figure(f"CPU at {rate:.0f} changes a second", share, 60, "%")
    yield Figure("key answered meanwhile, p95", sorted(answers)[int(len(answers) * 0.95)] * 1000, 100, "ms")


def _write(cluster: Cluster, nabs: list[Nab], stop: threading.Event, sent: list[int], seed: int) -> None:
    chance, line = random.Random(seed), cluster.connection()
    pause = 4 / BURST_RATE
    due = time.perf_counter()
    while not stop.is_set():
        sent[0] += 1
        cluster.touch(chance.choice(nabs), line, sent[0])
        due += pause
        time.sleep(max(0.0, due - time.perf_counter()))


def _key(terminal: Terminal, key: str) -> float:
    """Seconds until the cursor is on another line."""
    before, begin = terminal.cursor_line(), time.perf_counter()
    terminal.press(key)
    while terminal.cursor_line() == before and time.perf_counter() - begin < 2:
        terminal.changed(0.05)
    return time.perf_counter() - begin


def _idle(cluster: Cluster, terminal: Terminal) -> Iterator[Figure]:
    time.sleep(2)
    moving, _ = _load(terminal, MOVING_SECONDS)
    with cluster.standing_still():
        still, written = _load(terminal, IDLE_SECONDS)
    yield Figure("written in an idle minute", written * 60 / IDLE_SECONDS / 1000, 5, "kB")
    yield Figure("CPU when idle", still, 1, "%", "a look at everything each half minute; the clock's line")
    yield Figure("CPU while only the cluster's own queue moves", moving, 5, "%", "triage, a fortieth of the time")


def _load(terminal: Terminal, seconds: float) -> tuple[float, int]:
    """The CPU share of foretop while no key is pressed, and how much it writes."""
    cpu, before = cpu_seconds(terminal.pid), terminal.written
    time.sleep(seconds)
    return (cpu_seconds(terminal.pid) - cpu) / seconds * 100, terminal.written - before


if __name__ == "__main__":
    for figure in measure():
        print(figure.line(), flush=True)
