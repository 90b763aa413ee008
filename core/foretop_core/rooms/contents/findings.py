"""Findings about copies that hold less than the ones before, or that warn of something."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from msgspec.structs import replace

from foretop_core.models import Backup, BackupSpec, Schedule
from foretop_core.rules import humanize
from foretop_core.rules.phases import USABLE
from foretop_core.rules.sentences import Key, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds
from foretop_core.rules.volumes.evidence import VolumeFate

_LEAST_BYTES = 100_000_000
"""Copies smaller than this halve for nothing."""


def lessened_copies(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """The newest copy of a schedule against the one before, where both were to take the same.

    Fewer is said where it is certain: without volume info the number of a copy is the least that it can have.
    """
    for schedule in snapshot.schedules:
        pair = _last_two(snapshot, schedule)
        if pair is None:
            continue
        newest, before = pair
        has, had = snapshot.run_volumes(newest), snapshot.run_volumes(before)
        is_certain = has.total is not None or had.total is None
        if is_certain and has.taken < had.taken:
            fewer = had.taken - has.taken
            counts = f"{newest.name} has {humanize.count(has.taken, 'volume')}, {before.name} had {had.taken}."
            what = f"{humanize.count(fewer, 'volume')} fewer than before"
            yield _finding(snapshot, "copy-lacks-volumes", schedule, pair, what, f"{counts}{_lost(snapshot, pair)}")
        elif has.size is not None and had.size is not None and had.size >= _LEAST_BYTES and 2 * has.size < had.size:
            sizes = f"{newest.name} has {humanize.size(has.size)}, {before.name} had {humanize.size(had.size)}."
            yield _finding(snapshot, "copy-shrunk", schedule, pair, "less than half the bytes", sizes)


def warning_copies(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """Completed is not complete: Velero only warns of a volume whose pod does not run."""
    for schedule in snapshot.schedules:
        newest = next((run for run in snapshot.runs(schedule) if run.phase in USABLE), None)
        if newest is None or newest.phase != "Completed" or not newest.status.warnings:
            continue
        number = humanize.count(newest.status.warnings, "warning")
        yield Finding(
            "backup-warns",
            Severity.NOTE,
            snapshot.ref(newest),
            newest.status.completion_timestamp,
            f"Completed with {number}",
            f"Something may be missing in it: the newest copy of {schedule.name} is Completed with {number}.",
            sentence("Read them in its results", Key("results"), "."),
            (snapshot.ref(schedule),),
            group="Completed with warnings",
        )


def _last_two(snapshot: ClusterSnapshot, schedule: Schedule) -> tuple[Backup, Backup] | None:
    """The newest copy and the one before; None where there are not two that were to take the same."""
    copies = [run for run in snapshot.runs(schedule)[:8] if run.phase in USABLE][:2]
    if len(copies) < 2 or _what(copies[0].spec) != _what(copies[1].spec):
        return None
    return copies[0], copies[1]


def _what(spec: BackupSpec) -> BackupSpec:
    """A template without what does not decide what is taken: somebody may choose to take less."""
    return replace(spec, ttl="", storage_location="")


def _lost(snapshot: ClusterSnapshot, pair: tuple[Backup, Backup]) -> str:
    """The claims that only the earlier copy has, and why where that is told; "" where they have no names."""
    newest, before = ({(one.namespace, one.claim): one for one in snapshot.told_volumes(run).volumes} for run in pair)
    names = []
    for key, told in before.items():
        now = newest.get(key)
        if told.fate is VolumeFate.TAKEN and (now is None or now.fate is not VolumeFate.TAKEN):
            names.append("/".join(key) + (f" ({now.why})" if now is not None and now.why else ""))
    return f" It lacks {humanize.join(names)}." if names else ""


def _finding(
    snapshot: ClusterSnapshot, code: str, schedule: Schedule, pair: tuple[Backup, Backup], what: str, evidence: Text
) -> Finding:
    newest, before = pair
    return Finding(
        code,
        Severity.WARNING,
        snapshot.ref(newest),
        newest.status.completion_timestamp,
        what,
        evidence,
        sentence(
            "See what it holds",
            Key("results"),
            f", or compare with: foretop taken {before.name}. Where less is wanted, the next copy ends this.",
        ),
        (snapshot.ref(before), snapshot.ref(schedule)),
    )


RULES = (lessened_copies, warning_copies)
