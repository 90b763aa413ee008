"""The size and the outcome of each backup and restore, which a scenario decides because a box has no real data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Protocol

import msgspec
from msgspec.structs import replace

from foretop_core.models import Backup, Restore
from foretop_core.models.nonadmin import NAB_NAMESPACE_ANNOTATION, NAR_NAMESPACE_ANNOTATION

Run = Backup | Restore
GIGABYTE = 10**9


class VolumeTransfer(msgspec.Struct, frozen=True):
    """One volume to transfer; `kind` is PodVolumeBackup or DataUpload.

    `fails` is the message it ends with, "" if it succeeds; with `waits` no node ever picks it up.
    """

    kind: str
    volume: str
    gigabytes: float
    node: str = "worker-1"
    minutes: float = 4.0
    fails: str = ""
    waits: bool = False


class SimulatedRun(msgspec.Struct, frozen=True):
    """One run: its duration, its number of items, and what goes wrong."""

    duration: timedelta
    items: int
    errors: int = 0
    warnings: int = 0
    failure: str = ""
    moves: tuple[VolumeTransfer, ...] = ()
    steps: int = 12

    @property
    def length(self) -> timedelta:
        """The time from start to end; a node transfers one volume after the other."""
        nodes = {move.node for move in self.moves}
        minutes = [sum(move.minutes for move in self.moves if move.node == node) for node in nodes]
        return max(self.duration, timedelta(minutes=max(minutes, default=0)))

    def scaled(self, factor: float) -> SimulatedRun:
        return replace(self, duration=self.duration * factor, items=max(1, round(self.items * factor)))


class Workload(Protocol):
    """A source of the work of each run."""

    def of(self, run: Run) -> SimulatedRun: ...


@dataclass(frozen=True)
class SeededWork:
    """Work by owner, slightly varied for each run; the same seed gives the same figures for the same names."""

    seed: int = 1
    by_owner: Mapping[str, SimulatedRun] = field(default_factory=dict)
    shortest: float = 30.0
    longest: float = 150.0

    def of(self, run: Run) -> SimulatedRun:
        owner = owner_name(run)
        work = self.by_owner.get(owner) or self._usual(owner)
        return work.scaled(Random(f"{self.seed}/{run.name}").uniform(0.85, 1.2))

    def _usual(self, owner: str) -> SimulatedRun:
        random = Random(f"{self.seed}/{owner}")
        seconds = random.uniform(self.shortest, self.longest)
        return SimulatedRun(timedelta(seconds=seconds), round(seconds * random.uniform(3, 14)))


def owner_name(run: Run) -> str:
    """The owner of a run: its schedule, its team, or else its own name."""
    if isinstance(run, Backup) and run.schedule_name:
        return run.schedule_name
    team = run.annotation(NAB_NAMESPACE_ANNOTATION) or run.annotation(NAR_NAMESPACE_ANNOTATION)
    return team or run.name
