"""Metrics of a cluster as values, without a format: rooms add families of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from enum import StrEnum

import msgspec

from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Thresholds


class FamilyKind(StrEnum):
    """The type by its name in OpenMetrics."""

    GAUGE = "gauge"
    INFO = "info"
    STATESET = "stateset"


class Family(msgspec.Struct, frozen=True):
    """Samples of one meaning. The states of a set stand in a label of the family's own name, behind the others."""

    name: str
    """Without `foretop_`, and of an info without `_info`."""
    about: str
    labels: tuple[str, ...] = ()
    """Besides `cluster`, which all have."""
    kind: FamilyKind = FamilyKind.GAUGE


class Sample(msgspec.Struct, frozen=True, gc=False):
    """One number; what is not known has no sample."""

    family: Family
    labels: tuple[str, ...]
    value: float


class MeasuredCluster(msgspec.Struct, frozen=True):
    """One cluster at one moment, and the limits by which it is judged."""

    snapshot: ClusterSnapshot
    now: datetime
    limits: Thresholds


Measure = Callable[[MeasuredCluster], Iterator[Sample]]
"""One of `MEASURES` in the module `metrics` of a room."""


def states(family: Family, labels: tuple[str, ...], every: Iterable[str], current: str) -> Iterator[Sample]:
    """One sample for each state that there is: 1 for the current one, 0 for the others."""
    for state in every:
        yield Sample(family, (*labels, state), float(state == current))


def at(family: Family, labels: tuple[str, ...], moment: datetime | None) -> Iterator[Sample]:
    """A moment in seconds, where there is one."""
    if moment is not None:
        yield Sample(family, labels, moment.timestamp())
