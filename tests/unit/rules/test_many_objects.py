"""However much tenants ask for, a step over all of it makes N log N calls at most."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random

import pytest

from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.facts.run_facts import queue_line, run_facts
from foretop_core.rules.night import server_model as server_models
from foretop_core.rules.night.course import play
from foretop_core.rules.night.night import Foresight
from foretop_core.rules.night.open_queue import waiting_forecasts
from foretop_core.rules.night.server_model import MOST_RUNS_OF_ALL, Drawing, history_of, server_model
from foretop_core.rules.queue import queue
from foretop_core.rules.queue.owners import owner_of
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import triage
from tests.counted_work import calls
from tests.crowds import CROWDS, nabs_of_one_team
from tests.objects import NOW

_FEW, _TIMES = 120, 4
_MOST = 1.3 * _TIMES
"""N log N from 120 to 480 is five times the work."""
_DAY = timedelta(days=1)


def _lengths(snapshot: ClusterSnapshot) -> None:
    known = history_of(snapshot, "velero")
    for run in snapshot.backups:
        known.of(owner_of(run), type(run))


def _forecasts(snapshot: ClusterSnapshot) -> None:
    waiting_forecasts(server_model(snapshot, "velero", NOW, NOW + timedelta(hours=3)), 1)


def _night(snapshot: ClusterSnapshot) -> None:
    ahead = Foresight(snapshot, "velero", NOW)
    ahead.play(1)
    ahead.night()


def _facts(snapshot: ClusterSnapshot) -> None:
    line = queue_line(snapshot, "velero", NOW, forecasts={})
    for run in snapshot.backups:
        run_facts(snapshot, run, NOW, line, timedelta(minutes=5))


STEPS: dict[str, Callable[[ClusterSnapshot], object]] = {
    "lengths": _lengths,
    "server model": lambda snapshot: server_model(snapshot, "velero", NOW, NOW + _DAY),
    "queue": lambda snapshot: queue(snapshot.backups, now=NOW, concurrency=3),
    "facts of runs": _facts,
    "forecasts": _forecasts,
    "night": _night,
    "protection": lambda snapshot: [snapshot.protection.row(name) for name in snapshot.protection.names],
    "triage": lambda snapshot: triage(snapshot, NOW),
}


@pytest.mark.parametrize("crowd", CROWDS)
@pytest.mark.parametrize("step", STEPS)
def test_four_times_as_many_make_no_more_than_five_times_the_work(step: str, crowd: str) -> None:
    few, many = (assemble(CROWDS[crowd](count)) for count in (_FEW, _FEW * _TIMES))
    # What is loaded and remembered by the first objects of all is no work of the others.
    STEPS[step](assemble(CROWDS[crowd](_FEW)))
    assert calls(lambda: STEPS[step](many)) <= _MOST * calls(lambda: STEPS[step](few))


@pytest.mark.parametrize("crowd", ["schedules, every minute", "schedules that never fire"])
def test_of_many_schedules_that_run_often_no_more_runs_are_played_than_of_all_together(crowd: str) -> None:
    model = server_model(assemble(CROWDS[crowd](1000)), "velero", NOW, NOW + _DAY)
    course = play(model.state, Drawing(model).likely())
    assert sum(map(len, course.made)) <= MOST_RUNS_OF_ALL


def test_of_very_many_runs_those_behind_share_the_streams_of_those_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[Random]()

    def counted(seed: int) -> Random:
        made.append(Random(seed))
        return made[-1]

    few, many = (server_model(assemble(nabs_of_one_team(count)), "velero", NOW, NOW + _DAY) for count in (900, 3000))
    alone, crowded = Drawing(few).next(), Drawing(many).next()
    assert crowded.waiting[: len(alone.waiting)] == alone.waiting
    assert len(set(crowded.waiting)) == len(crowded.waiting) == 3000
    monkeypatch.setattr(server_models, "Random", counted)
    Drawing(many).next()
    assert len(made) <= 1_100
