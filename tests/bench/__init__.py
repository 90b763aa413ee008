"""Measurements beside their goals; they print and never fail."""

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

    def line(self) -> str:
        verdict = "ok" if self.value <= self.goal else "over"
        return f"{self.name:<44} {self.value:>10.2f} {self.unit:<3} goal {self.goal:>8.2f} {self.unit:<3} {verdict}"


def seconds_per_call(work: Callable[[], object], calls_each: int, rounds: int = 15) -> float:
    """The best of several rounds: what the machine can do when nobody else is using it."""
    gc.collect()
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best / calls_each
