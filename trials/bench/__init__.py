"""Measurements and their goals; they print and never fail."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value, in the unit of its goal."""

    name: str
    value: float
    goal: float
    unit: str
    costs: str = ""
    """Where the profiler sees the time spent; printed beside a missed goal."""

    def line(self) -> str:
        shown = f"{self.name:<46} {self.value:>8.2f} {self.unit:<5} goal {self.goal:>8.2f} {self.unit:<5}"
        if self.value <= self.goal:
            return f"{shown} ok"
        return f"{shown} over{': ' if self.costs else ''}{self.costs}"


def seconds_per_call(work: Callable[[], object], calls_each: int, rounds: int = 15) -> float:
    """The best of several rounds: the speed of the machine while nothing else uses it."""
    gc.collect()
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best / calls_each
