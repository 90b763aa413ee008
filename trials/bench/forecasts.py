"""`python -m trials.bench.forecasts`: forecasts at every tenth event of the recordings, beside what Velero then did."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median

import msgspec

from foretop_core.cron import CronSchedule, Dialect
from foretop_core.models import Backup, Resource, Schedule
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.night.night import Fate, ForeseenRun, Night, night
from foretop_core.rules.night.ranges import Range, range_over
from foretop_core.rules.snapshot import VeleroInfo
from tests import recordings
from tests.unit.rules.runs_and_recordings import CONCURRENCY, walk

STEP, DRAWS = 10, 100
_STAMP = timedelta(seconds=1.5)
"""Objects have whole seconds."""


class _Judged:
    """The forecasts of one kind."""

    def __init__(self) -> None:
        self.inside = 0
        self.errors: list[float] = []
        self.widths: list[float] = []

    def note(self, told: Range, real: datetime) -> None:
        first, last = told.most
        self.inside += first - _STAMP <= real <= last + _STAMP
        self.errors.append((told.likely - real).total_seconds())
        self.widths.append((last - first).total_seconds())

    def line(self) -> str:
        sizes = sorted(map(abs, self.errors))
        return (
            f"{len(sizes):5} told, {self.inside / len(sizes):4.0%} inside, {median(self.widths):4.0f} s wide, "
            f"error {median(self.errors):+4.0f} s in the middle, {median(sizes):3.0f} s as a size, "
            f"{sizes[int(0.9 * len(sizes))]:4.0f} s in nine of ten"
        )


class _WhatHappened:
    """When each backup of a recording was made, started and ended."""

    def __init__(self, name: str) -> None:
        self.starts: dict[str, datetime] = {}
        self.ends: dict[str, datetime] = {}
        self.made: dict[str, tuple[datetime, str]] = {}
        for event in recordings.events(name, "backups"):
            backup = event.object
            assert isinstance(backup, Backup)
            if backup.created is not None:
                self.made.setdefault(backup.name, (backup.created, backup.schedule_name))
            if backup.status.start_timestamp and backup.phase == "InProgress":
                self.starts.setdefault(backup.name, backup.status.start_timestamp)
            if backup.status.completion_timestamp and backup.phase != "Deleting":
                self.ends.setdefault(backup.name, backup.status.completion_timestamp)

    def next_of(self, schedule: str, after: datetime, known: set[str]) -> str:
        coming = sorted(
            (made, name)
            for name, (made, owner) in self.made.items()
            if owner == schedule and name not in known and made >= after.replace(microsecond=0)
        )
        return coming[0][1] if coming else ""


def _nights(name: str) -> Iterator[tuple[datetime, list[Resource], Night]]:
    for number, (event, objects) in enumerate(walk(name)):
        if number % STEP:
            continue
        version = recordings.version_at(name, event.t)
        server = VeleroInfo(concurrency=CONCURRENCY.get(name, 1), version=version)
        held = list(objects.values())
        snapshot = msgspec.structs.replace(
            assemble(held, given_versions={"": version}), servers={recordings.VELERO_NAMESPACE: server}
        )
        yield event.t, held, night(snapshot, recordings.VELERO_NAMESPACE, event.t, timedelta(minutes=30), DRAWS)


def _note(judged: dict[str, _Judged], kind: str, told: Range | None, real: datetime | None) -> None:
    if told is not None and real is not None:
        judged[kind].note(told, real)


def judge(name: str) -> dict[str, _Judged]:
    happened, judged = _WhatHappened(name), defaultdict[str, _Judged](_Judged)
    for at, objects, ahead in _nights(name):
        known = {one.name for one in objects if isinstance(one, Backup)}
        seen: set[str] = set()
        for run in ahead.runs:
            if run.is_finishing:
                continue  # Within a second, which is less than its time stamp tells.
            if run.name:
                kind = "end of one at work" if run.is_running else "end of one that waits"
                _note(judged, kind, run.end, happened.ends.get(run.name))
                if not run.is_running:
                    _note(judged, "start of one that waits", run.start, happened.starts.get(run.name))
            elif run.owner.name not in seen and run.share_lost < 0.5:
                seen.add(run.owner.name)
                _judge_next(judged, run, objects, happened, happened.next_of(run.owner.name, at, known))
    return judged


def _judge_next(
    judged: dict[str, _Judged], run: ForeseenRun, objects: Iterable[Resource], happened: _WhatHappened, name: str
) -> None:
    _note(judged, "next start of a schedule", run.start, happened.starts.get(name))
    _note(judged, "next end of a schedule", run.end, happened.ends.get(name))
    if run.start is None or run.due is None:
        return
    waits = [
        (one.started - one.created).total_seconds()
        for one in objects
        if isinstance(one, Backup) and one.schedule_name == run.owner.name and one.started and one.created
    ]
    if waits:
        _note(judged, "  by its own history alone", range_over(run.due, waits), happened.starts.get(name))


def fates(name: str) -> tuple[Counter[tuple[str, str]], float]:
    """How many runs became what, by what was told at the last look before they were due; and how many losses in all.

    A run is lost where the next one fell due before a backup was made, and late where that took more than a beat.
    """
    happened, told = _WhatHappened(name), dict[tuple[str, datetime], ForeseenRun]()
    expressions, last = dict[str, tuple[str, datetime]](), datetime.min.replace(tzinfo=UTC)
    for event in recordings.events(name):
        last = event.t
        if isinstance(event.object, Schedule) and event.object.created is not None:
            expressions.setdefault(event.object.name, (event.object.spec.schedule, event.object.created))
    for at, _, ahead in _nights(name):
        for run in ahead.runs:
            if not run.name and run.due is not None and at <= run.due:
                told[run.owner.name, run.due.replace(microsecond=0)] = run
    found, share_lost = Counter[tuple[str, str]](), 0.0
    for schedule, (cron, since) in expressions.items():
        parsed = expression(cron, Dialect.NETRESEARCH)
        assert isinstance(parsed, CronSchedule)
        made = sorted(at for at, owner in happened.made.values() if owner == schedule)
        dues = list(parsed.between(since, last))
        for due, following in pairwise(dues):
            last_told, made_at = told.get((schedule, due)), next((at for at in made if at >= due), None)
            if last_told is None or made_at is None or last_told.fate is Fate.UNKNOWN:
                continue
            late = made_at - due > timedelta(seconds=61)
            found["lost" if made_at >= following else "late" if late else "made", last_told.fate] += 1
            share_lost += last_told.share_lost
    return found, share_lost


def main() -> None:
    for name in ("night", "queue", "overlap"):
        begun = time.process_time()
        judged = judge(name)
        print(f"{name}, {time.process_time() - begun:.0f} s of CPU")
        for kind, found in sorted(judged.items()):
            print(f"  {kind:26}{found.line()}")
        became, share_lost = fates(name)
        for (fate, told), number in sorted(became.items()):
            print(f"  {number:3} {fate}, told as {told}")
        print(f"  {share_lost:.1f} losses by the shares that were told")


if __name__ == "__main__":
    main()
