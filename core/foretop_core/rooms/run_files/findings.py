"""Findings about copies that hold less than the ones before, or that warn of something."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from foretop_core.models import Backup, Schedule
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import lessened
from foretop_core.rules.phases import USABLE
from foretop_core.rules.sentences import Key, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds
from foretop_core.rules.volumes.evidence import VolumeFate


def lessened_copies(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """The newest copy of each schedule that has less than the one before."""
    for schedule in snapshot.schedules:
        newest = next(iter(snapshot.last_copies(schedule.namespace, schedule.name)), None)
        less = lessened(snapshot, newest) if newest is not None else None
        if newest is None or less is None:
            continue
        pair, before = (newest, less.before), less.before
        if less.fewer:
            counts = (
                f"{newest.name} has {humanize.count(less.has.taken, 'volume')}, {before.name} had {less.had.taken}."
            )
            what = f"{humanize.count(less.fewer, 'volume')} fewer than before"
            yield _finding(snapshot, "copy-lacks-volumes", schedule, pair, what, f"{counts}{_lost(snapshot, pair)}")
        else:
            has, had = humanize.size(less.has.size or 0), humanize.size(less.had.size or 0)
            sizes = f"{newest.name} has {has}, {before.name} had {had}."
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
