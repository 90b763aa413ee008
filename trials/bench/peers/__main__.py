"""`python -m trials.bench.peers`: the table of both programs at each size, with its ratios, and as JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from tests.real.build import BuildError, Kit, prepare
from tests.real.cluster import RealCluster
from trials.bench.peers.build import k9s_version, prepare_k9s
from trials.bench.peers.byte_counter import ByteCounter
from trials.bench.peers.measure import Figures, measure
from trials.bench.peers.nabs import fill
from trials.bench.peers.programs import foretop, k9s

SIZES = (1_000, 10_000, 50_000)
GOALS: dict[str, tuple[float, ...]] = {
    "frame, s": (0.4, 0.4, 0.4),
    "first rows, s": (1.0, 1.0, 1.0),
    "all rows, s": (8.0, 8.0, 8.0),
    "key to screen, while rows come in, p95, ms": (100.0, 100.0, 100.0),
    "change to cell, while rows come in, p95, s": (0.3, 0.3, 0.3),
    "resident, MB": (70.0, 100.0, 220.0),
    "change to cell, p50, s": (0.08, 0.08, 0.08),
    "change to cell, p95, s": (0.15, 0.15, 0.15),
    "CPU in 30 s idle, s": (0.25, 0.25, 0.25),
    "from the API in 30 s idle, kB": (10.0, 10.0, 10.0),
    "to the terminal in 30 s idle, kB": (2.0, 2.0, 2.0),
    "key to screen, move, p95, ms": (50.0, 50.0, 50.0),
    "key to screen, page, p95, ms": (50.0, 50.0, 50.0),
    "key to screen, sort, p95, ms": (250.0, 250.0, 250.0),
    "key to screen, filter, p95, ms": (250.0, 250.0, 250.0),
}
"""For the sizes of `SIZES`."""
Say = partial(print, flush=True)


def main() -> int:
    options = _options()
    try:
        kit = prepare(Say)
        binary = None if options.alone else prepare_k9s(Say)
    except BuildError as problem:
        print(f"Skipped: {problem}")
        return 0
    results = _run(kit, binary, sorted(options.sizes))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps({"machine": _machine(), "results": results}, indent=1) + "\n")
    Say(f"Written to {options.json}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m trials.bench.peers", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of NABs")
    parser.add_argument("--alone", action="store_true", help="foretop without k9s")
    parser.add_argument("--json", type=Path, default=Path("build", "peers.json"), help="where the figures are written")
    return parser.parse_args()


def _run(kit: Kit, binary: Path | None, sizes: list[int]) -> dict[str, dict[str, Figures]]:
    results: dict[str, dict[str, Figures]] = {}
    Say(_machine())
    with RealCluster(kit) as cluster, tempfile.TemporaryDirectory() as scratch:
        filled = 0
        for size in sizes:
            fill(cluster, filled, size)
            filled = size
            results[str(size)] = _both(cluster, binary, size, Path(scratch))
            Say("\n".join(_table(size, results[str(size)])))
    Say("\n".join(_growth(results)))
    return results


def _both(cluster: RealCluster, binary: Path | None, size: int, scratch: Path) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    with ByteCounter(urlsplit(cluster.url).port or 443) as counter:
        kubeconfig = cluster.kubeconfig_by(f"https://127.0.0.1:{counter.port}", "admin")
        programs = [foretop(kubeconfig, scratch / f"foretop-{size}")]
        if binary is not None:
            programs.append(k9s(binary, kubeconfig, scratch / f"k9s-{size}"))
        for program in programs:
            Path(program.environ["HOME"]).mkdir()
            found[program.name] = measure(program, cluster, counter, size)
    return found


def _table(size: int, found: dict[str, Figures]) -> list[str]:
    """One line for each figure: foretop, its goal, k9s, and how many times foretop's it is."""
    ours, theirs = found["foretop"], found.get("k9s", {})
    lines = [f"\n{size:,} NABs", f"{'':<46} {'foretop':>9} {'goal':>9} {'k9s':>9} {'ratio':>7}"]
    for name, value in ours.items():
        goal = GOALS[name][SIZES.index(size)] if name in GOALS and size in SIZES else None
        other = theirs.get(name)
        ratio = f"{other / value:.1f}" if other is not None and value > 0 else ""
        missed = " missed" if goal is not None and value > goal else ""
        shown = [f"{value:.2f}", *("" if one is None else f"{one:.2f}" for one in (goal, other)), ratio]
        lines.append(f"{name:<46} {shown[0]:>9} {shown[1]:>9} {shown[2]:>9} {shown[3]:>7}{missed}")
    return lines


def _growth(results: dict[str, dict[str, Figures]]) -> list[str]:
    """What the largest number costs beside the smallest."""
    small, large = min(results, key=int), max(results, key=int)
    if small == large:
        return []
    lines = [f"\n{int(large):,} : {int(small):,} NABs"]
    for program in results[small]:
        first, last = results[small][program], results[large][program]
        name = "CPU for one change, ms"
        if first.get(name) and name in last:
            lines.append(f"{name:<46} {program:<8} {last[name] / first[name]:.2f} times (goal 1.2)")
        if "resident, MB" in first and "resident, MB" in last:
            more = (last["resident, MB"] - first["resident, MB"]) / (int(large) - int(small)) * 1000
            lines.append(f"{'resident for 1,000 NABs more':<46} {program:<8} {more:.1f} MB (goal 3)")
    return lines


def _machine() -> str:
    with open("/proc/meminfo") as file:
        memory = int(file.readline().split()[1]) / 1024 / 1024
    return (
        f"{os.cpu_count()} cores, {memory:.0f} GB, Python {platform.python_version()}, k9s {k9s_version()}, "
        f"load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    sys.exit(main())
