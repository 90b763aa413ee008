"""`python -m trials.bench.forecast_scores [WORD...]`: how good forecasts of starts are, beside two simple rules.

Worlds and recordings whose names have one of the words; of each horizon the share of starts inside nine in ten, the
middle error (+ is too late), and the CRPS in seconds of the forecast, of "when due" and of the schedule's last ten
waits. The CRPS is the mean distance of the draws from what came, less half of their distance from each other.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain
from statistics import fmean, median

import msgspec

from foretop_core.models import Backup
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.course import NEVER, play
from foretop_core.rules.night.ranges import range_over
from foretop_core.rules.night.server_model import Drawing, server_model
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from tests import recordings
from tests.unit.rules.runs_and_recordings import walk
from trials.bench.forecast_worlds import START, VELERO, WORLDS, World, moment, play_world, snapshot_of

DRAWS, SEEDS = 50, (1, 2, 3)
HORIZONS = ((0.0, "< 1 h"), (1.0, "1-2 h"), (2.0, "2-4 h"), (4.0, "> 4 h"))
_RECORDED = (("night", 1), ("queue", 2), ("overlap", 1))
_EVERY = 10
_LAST = 10
_STAMP = 1.5
"""Objects have whole seconds."""


class Score(msgspec.Struct, frozen=True):
    """One start that was foretold: whether it was inside nine in ten, and errors in seconds."""

    inside: bool
    error: float
    mean_error: float
    crps: float
    when_due: float
    last_waits: float


def crps(draws: Sequence[float], came: float) -> float:
    ordered, count = sorted(draws), len(draws)
    apart = sum((2 * place - count + 1) * at for place, at in enumerate(ordered))
    return fmean(abs(at - came) for at in ordered) - apart / count**2


Starts = Callable[[str, datetime], datetime | None]
"""When the run of a schedule that fell due at a moment then started."""


def scores(snapshot: ClusterSnapshot, now: datetime, length: timedelta, came: Starts) -> Iterator[tuple[float, Score]]:
    """With its horizon in hours, each start that falls due in this time."""
    model = server_model(snapshot, VELERO, now, now + length)
    drawing = Drawing(model)
    courses = [play(model.state, drawing.next()) for _ in range(DRAWS)]
    for place, schedule in enumerate(model.schedules):
        starts = defaultdict[float, list[float]](list)
        for run in chain.from_iterable(course.made[place] for course in courses):
            if not run.is_lost and run.start < NEVER:
                starts[run.due].append(run.start)
        waits = _last_waits(snapshot, schedule.name)
        for due, draws in starts.items():
            start = came(schedule.name, (now + timedelta(seconds=due)).replace(microsecond=0))
            if start is not None and len(draws) > DRAWS // 2:
                look = max(due, 0.0)
                if model.look is not None:
                    look += (model.look - look) % 60
                yield due / 3600, _score(draws, (start - now).total_seconds(), look, waits)


def _score(draws: Sequence[float], start: float, look: float, waits: Sequence[float]) -> Score:
    foretold = range_over(START, draws)
    assert foretold is not None
    first, last, likely = ((at - START).total_seconds() for at in (*foretold.most, foretold.likely))
    return Score(
        first - _STAMP <= start <= last + _STAMP,
        likely - start,
        fmean(draws) - start,
        crps(draws, start),
        abs(look - start),
        crps([look + wait for wait in waits] or [look], start),
    )


def _last_waits(snapshot: ClusterSnapshot, schedule: str) -> list[float]:
    """Of its own last runs, in seconds."""
    runs = [run for run in snapshot.backups_by_namespace.get(VELERO, ()) if run.schedule_name == schedule]
    waits = [(run.created, (run.started - run.created).total_seconds()) for run in runs if run.started and run.created]
    return [wait for _, wait in sorted(waits)[-_LAST:]]


def world_scores(world: World) -> Iterator[tuple[float, Score]]:
    for seed in SEEDS:
        made = play_world(world, seed)
        came = {(run.owner, moment(run.due)): moment(run.started) for run in made if not run.is_tenant}
        for hour in world.forecasts_at:
            now = hour * 3600 + 11.0
            snapshot = snapshot_of(world, made, now)
            yield from scores(snapshot, moment(now), world.length, lambda *run, came=came: came.get(run))


def recording_scores(name: str, slots: int | None) -> Iterator[tuple[float, Score]]:
    """Of the next start of each schedule, at every tenth event."""
    runs = defaultdict[str, dict[str, tuple[datetime, datetime]]](dict)
    for event in recordings.events(name, "backups"):
        run = event.object
        assert isinstance(run, Backup)
        if run.created is not None and run.schedule_name and run.started is not None:
            runs[run.schedule_name].setdefault(run.name, (run.created, run.started))
    for number, (event, objects) in enumerate(walk(name)):
        if number % _EVERY:
            continue
        version = recordings.version_at(name, event.t)
        snapshot = msgspec.structs.replace(
            assemble(list(objects.values()), given_versions={"": version}),
            servers={VELERO: VeleroInfo(concurrency=slots, version=version)},
        )
        there = {item.name for item in objects.values() if isinstance(item, Backup)}
        since = event.t.replace(microsecond=0)
        coming = {
            owner: min((times for name, times in made.items() if name not in there and times[0] >= since), default=None)
            for owner, made in runs.items()
        }

        def came(
            schedule: str, _: datetime, coming: dict[str, tuple[datetime, datetime] | None] = coming
        ) -> datetime | None:
            """Of the first that is foretold alone."""
            times = coming.pop(schedule, None)
            return times[1] if times is not None else None

        yield from scores(snapshot, event.t, timedelta(minutes=30), came)


def _line(name: str, judged: Sequence[Score]) -> str:
    inside = fmean(one.inside for one in judged)
    bias, mean_bias = median(one.error for one in judged), fmean(one.mean_error for one in judged)
    beside = " ".join(
        f"{fmean(values):7.1f}"
        for values in (
            [one.crps for one in judged],
            [one.when_due for one in judged],
            [one.last_waits for one in judged],
        )
    )
    return f"{name:44}{len(judged):5} {inside:5.0%} {bias:+6.0f} {mean_bias:+6.0f} {beside}"


def _print(name: str, judged: Sequence[tuple[float, Score]], begun: float) -> None:
    for number, (since, called) in enumerate(HORIZONS):
        until = HORIZONS[number + 1][0] if number + 1 < len(HORIZONS) else NEVER
        if some := [score for hours, score in judged if since <= max(0.0, hours) < until]:
            print(_line(f"{name}  {called}", some))
    if judged:
        print(_line(f"{name}  all ({time.process_time() - begun:.0f} s)", [score for _, score in judged]), flush=True)


def main() -> None:
    words = sys.argv[1:]
    print(f"{'':44}{'told':>5} inside  bias   mean    CRPS     due   waits")
    for world in WORLDS:
        if not words or any(word in world.name for word in words):
            begun = time.process_time()
            _print(world.name, list(world_scores(world)), begun)
    for name, slots in _RECORDED:
        for given, called in ((slots, name), (None, f"{name}, flag unknown")):
            if not words or any(word in called for word in words):
                begun = time.process_time()
                _print(called, list(recording_scores(name, given)), begun)


if __name__ == "__main__":
    main()
