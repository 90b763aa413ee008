"""The expected length of a run, from the last runs of the same schedule or team."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from heapq import nlargest
from statistics import median

import msgspec

from foretop_core.models import Backup
from foretop_core.models.nonadmin import (
    NAB_NAME_ANNOTATION,
    NAB_NAMESPACE_ANNOTATION,
    NAR_NAME_ANNOTATION,
    NAR_NAMESPACE_ANNOTATION,
)
from foretop_core.models.velero import SCHEDULE_LABEL
from foretop_core.rules import phases
from foretop_core.rules.queue.positions import Run
from foretop_core.rules.sentences import Text

_LONGEST = timedelta(days=365)
"""An estimate beyond this says nothing, and adding it to a date could overflow."""
LAST_RUNS = 10
FEWEST_RUNS = 3
_FEWEST_LONGER = 2
"""One longer run alone may have been held up by something that will not happen again."""

Key = tuple[str, ...]


class OwnerKind(StrEnum):
    SCHEDULE = "schedule"
    NAB = "nab"
    NAR = "nar"
    HAND = "by hand"


class Owner(msgspec.Struct, frozen=True):
    """The schedule, NAB or NAR that a backup or restore was made for."""

    kind: OwnerKind
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        if self.kind is OwnerKind.HAND:
            return "by hand"
        place = f"{self.namespace}/{self.name}" if self.kind is not OwnerKind.SCHEDULE else self.name
        return f"{self.kind} {place}"


def owner_of(run: Run) -> Owner:
    """The owner of a run; a manual backup from a schedule counts as the schedule's, because it does the same work."""
    if isinstance(run, Backup):
        kind, name_key, namespace_key = OwnerKind.NAB, NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION
    else:
        kind, name_key, namespace_key = OwnerKind.NAR, NAR_NAME_ANNOTATION, NAR_NAMESPACE_ANNOTATION
    if run.annotation(namespace_key):
        return Owner(kind, run.annotation(namespace_key), run.annotation(name_key))
    if isinstance(run, Backup) and run.schedule_name:
        return Owner(OwnerKind.SCHEDULE, run.namespace, run.schedule_name)
    return Owner(OwnerKind.HAND)


class Expectation(msgspec.Struct, frozen=True):
    """The expected total length of a run, the number of earlier runs behind it, or why it is unknown."""

    length: timedelta | None
    runs: int = 0
    reason: Text = ""


class RunHistory(msgspec.Struct, frozen=True):
    """The lengths of the last runs of every owner."""

    lengths: Mapping[Key, tuple[timedelta, ...]]

    def of(self, owner: Owner) -> tuple[timedelta, ...]:
        """The runs of the same name if there are enough, else those of the same team."""
        known = [self.lengths.get(key, ()) for key in _keys(owner)]
        return next((lengths for lengths in known if len(lengths) >= FEWEST_RUNS), max(known, key=len, default=()))

    def expect(self, run: Run, now: datetime) -> Expectation:
        """For a run under way, only the past runs that took longer than it has so far count, where there are two."""
        owner = owner_of(run)
        lengths = self.of(owner)
        started = run.status.start_timestamp
        elapsed = now - started if started else timedelta(0)
        longer = [length for length in lengths if length > elapsed]
        if len(lengths) >= FEWEST_RUNS and len(longer) >= _FEWEST_LONGER:
            seconds = median(length.total_seconds() for length in longer)
            return Expectation(timedelta(seconds=seconds), len(lengths))
        by_items = _by_items(run, elapsed)
        if by_items is not None:
            return Expectation(by_items)
        return Expectation(None, len(lengths), _why_unknown(owner, len(lengths), len(longer)))


def run_history(runs: Iterable[Run], wanted: Iterable[Run] | None = None) -> RunHistory:
    """The history of every owner, or of the owners of `wanted`, which is quicker.

    Failed runs and runs of another cluster are ignored: they say nothing about the length.
    """
    marks = None if wanted is None else {_mark(run) for run in wanted}
    seen: defaultdict[Key, list[tuple[datetime, timedelta]]] = defaultdict(list)
    for run in runs:
        if marks is not None and _mark(run) not in marks:
            continue
        started, completed = run.status.start_timestamp, run.status.completion_timestamp
        if started is None or completed is None or run.phase not in phases.USABLE:
            continue
        if run.created is not None and run.created > completed:
            continue
        for key in _keys(owner_of(run)):
            seen[key].append((started, completed - started))
    return RunHistory({key: tuple(length for _, length in nlargest(LAST_RUNS, found)) for key, found in seen.items()})


def usual_length(runs: Sequence[Run]) -> timedelta | None:
    """How long the runs of one owner take, from the last of them; None where they are too few to say."""
    known = run_history(runs).of(owner_of(runs[0])) if runs else ()
    return timedelta(seconds=median(length.total_seconds() for length in known)) if len(known) >= FEWEST_RUNS else None


def _mark(run: Run) -> tuple[str | None, str | None, str | None]:
    """A cheap key that is equal for all runs of one schedule or team and differs for most others."""
    labels, annotations = run.metadata.labels, run.metadata.annotations
    return (
        labels.get(SCHEDULE_LABEL),
        annotations.get(NAB_NAMESPACE_ANNOTATION),
        annotations.get(NAR_NAMESPACE_ANNOTATION),
    )


def _keys(owner: Owner) -> tuple[Key, ...]:
    if owner.kind is OwnerKind.HAND:
        return ()
    if owner.kind is OwnerKind.SCHEDULE:
        return ((owner.kind, owner.namespace, owner.name),)
    return (owner.kind, owner.namespace, owner.name), (owner.kind, owner.namespace)


def _by_items(run: Run, elapsed: timedelta) -> timedelta | None:
    progress = run.status.progress
    if progress is None or not 0 < progress.done < progress.total_items:
        return None
    ratio = progress.total_items / progress.done
    return elapsed * ratio if elapsed < _LONGEST / ratio else None


def _why_unknown(owner: Owner, runs: int, longer: int) -> str:
    if owner.kind is OwnerKind.HAND:
        return "created by hand, no earlier runs to compare"
    if runs >= FEWEST_RUNS:
        passed = f"{runs - longer} of the last" if longer else "the last"
        return f"already longer than {passed} {runs} runs"
    whose = f"schedule {owner.name}" if owner.kind is OwnerKind.SCHEDULE else f"{owner.kind}s of {owner.namespace}"
    return f"too few earlier runs of {whose}: {runs}, needs {FEWEST_RUNS}"
