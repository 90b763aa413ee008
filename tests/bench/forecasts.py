"""`python -m tests.bench.forecasts`: forecasts at every tenth event of the recordings, beside what Velero then did."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from statistics import median

import msgspec

from foretop_core.models import Backup, Resource
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.night import ForeseenRun, Night, night
from foretop_core.rules.night.ranges import Range
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
                _judge_next(judged, run, happened, happened.next_of(run.owner.name, at, known))
    return judged


def _judge_next(judged: dict[str, _Judged], run: ForeseenRun, happened: _WhatHappened, name: str) -> None:
    _note(judged, "next start of a schedule", run.start, happened.starts.get(name))
    _note(judged, "next end of a schedule", run.end, happened.ends.get(name))


def main() -> None:
    for name in ("night", "queue", "overlap"):
        begun = time.process_time()
        judged = judge(name)
        print(f"{name}, {time.process_time() - begun:.0f} s of CPU")
        for kind, found in sorted(judged.items()):
            print(f"  {kind:26}{found.line()}")


if __name__ == "__main__":
    main()
