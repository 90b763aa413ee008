"""Benchmarks of the start of a scene: the demo's, through its command, and the large one."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import yaml

from foretop_demo.scenarios import ScenarioOptions, find_scene
from foretop_demo.simulated_cluster import FIXED_START, SimulatedCluster
from trials.bench import Figure

_SERVE = [sys.executable, "-c", "from foretop.cli import main; main()", "demo", "--serve"]


def measure() -> Iterable[Figure]:
    yield Figure("demo --serve: start to first list, Python too", _first_answer_seconds(), 2.0, "s")
    begin = time.perf_counter()
    box = SimulatedCluster(find_scene("large"), ScenarioOptions(), FIXED_START)
    yield Figure("scene large: load", time.perf_counter() - begin, 5.0, "s")
    begin = time.perf_counter()
    box.settle(timedelta(minutes=1))
    yield Figure("scene large: one minute of its life", time.perf_counter() - begin, 1.0, "s")


def _first_answer_seconds() -> float:
    begin = time.perf_counter()
    with subprocess.Popen(_SERVE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        content = yaml.safe_load(Path(process.stdout.readline().removesuffix("\n")).read_text())
        server = content["clusters"][0]["cluster"]["server"]
        with urllib.request.urlopen(f"{server}/apis/velero.io/v1/schedules") as answer:
            answer.read()
        seconds = time.perf_counter() - begin
        process.terminate()
    return seconds
