"""When the runs that are there already start and end: those at work by themselves, those that wait by many courses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from foretop_core.models import Backup, Restore
from foretop_core.rules import phases
from foretop_core.rules.night.course import play
from foretop_core.rules.night.lengths import RunHistory
from foretop_core.rules.night.ranges import range_over
from foretop_core.rules.night.server_model import (
    Drawing,
    ServerModel,
    at_work_model,
    history_of,
    restores_model,
    server_model,
)
from foretop_core.rules.queue.positions import Run, has_ended
from foretop_core.rules.queue.queue_items import RunForecast
from foretop_core.rules.snapshot import ClusterSnapshot

OPEN_HORIZON = timedelta(hours=3)
"""For the runs that are there already, the submissions of so long count."""
_OPEN_DRAWS, _FEWEST_OPEN_DRAWS, _OPEN_WORK = 50, 11, 4000
"""Courses that are played for them; fewer where very many wait, so that a screen can ask at every event."""
_AT_ONCE = 40
"""Waiting runs and schedules that are played while the caller waits: it takes some milliseconds."""
Beside = Callable[[Callable[[], None]], None]
"""Does some work beside the caller."""


def open_forecasts(model: ServerModel, draws: int | None = None) -> dict[str, RunForecast]:
    """By name, when the runs that are there already start and end: what every surface tells of them.

    0 draws give the likely course alone.
    """
    return at_work_forecasts(model, draws) | waiting_forecasts(model, draws)


def _draws_for(model: ServerModel) -> int:
    """For a model in which a run waits."""
    return max(_FEWEST_OPEN_DRAWS, min(_OPEN_DRAWS, _OPEN_WORK // (len(model.waiting) + len(model.schedules))))


def at_work_forecasts(model: ServerModel, draws: int | None = None) -> dict[str, RunForecast]:
    """Each that is at work ends by itself: nothing has to be played."""
    now, drawing = model.now, Drawing(model)
    count = _OPEN_DRAWS if draws is None else draws
    forecasts: dict[str, RunForecast] = {}
    for backup in (*model.running, *model.finishing):
        if backup.is_finalizing:
            forecasts[backup.run.name] = RunForecast(unknown="it is finishing")
            continue
        # Its slot is played as if it ended soon, since it may; of itself nothing is told that was not seen.
        has_end = not backup.has_outlived(now)
        end = range_over(now, drawing.ends(backup, count), backup.left(now, None), is_exact=True) if has_end else None
        why = backup.why_a_guess(now)
        if end is None:
            forecasts[backup.run.name] = RunForecast(None, None, backup.own_runs, unknown=backup.volumes.reason or why)
            continue
        has_other_basis = backup.is_by_items(now) or end.likely == backup.volumes.end
        forecasts[backup.run.name] = RunForecast(None, end, 0 if has_other_basis else backup.own_runs, why)
    return forecasts


def waiting_forecasts(model: ServerModel, draws: int | None = None) -> dict[str, RunForecast]:
    """The starts and ends of those that wait, from as many courses."""
    if not model.waiting:
        return {}
    now, drawing = model.now, Drawing(model)
    count = _draws_for(model) if draws is None else draws
    likely = play(model.state, drawing.likely(), only_open=True).waiting
    courses = [play(model.state, drawing.next(), only_open=True).waiting for _ in range(count)]
    outlived = next((backup for backup in model.running if backup.has_outlived(now)), None)
    doubt = f"the end of {outlived.run.name} is not known: {outlived.why_a_guess(now)}" if outlived else ""
    forecasts: dict[str, RunForecast] = {}
    for place, backup in enumerate(model.waiting):
        played = [course[place] for course in courses]
        refused, why = likely[place].is_refused, backup.why_a_guess(now) or doubt
        start = range_over(now, [run.start for run in played], likely[place].start)
        end = None if refused else range_over(now, [run.end for run in played], likely[place].end)
        is_endless = end is None and not refused
        forecasts[backup.run.name] = RunForecast(
            start, end, backup.own_runs, "" if is_endless else why, why if is_endless else ""
        )
    return forecasts


class QueueForecasts:
    """Forecasts of the open runs of one server, from look to look.

    Those that wait are played forward again when the queue has moved, and after a while: not at every event. Where
    they are many that is done `beside` the caller: until then the last answer holds, of a new one the likely course.
    """

    def __init__(self, lasts: timedelta = timedelta(), beside: Beside | None = None) -> None:
        self._lasts, self._beside = lasts, beside
        self._waiting: dict[type[Run], dict[str, RunForecast]] = {}
        self._seen: tuple[object, datetime] | None = None
        self._is_playing = False
        self._problem: Exception | None = None

    def of(
        self,
        snapshot: ClusterSnapshot,
        namespace: str,
        now: datetime,
        history: RunHistory | None = None,
        planned: Sequence[Backup] = (),
    ) -> dict[tuple[type[Run], str], RunForecast]:
        """By kind and name, when the open backups and restores start and end; `planned` ones as if made now."""
        past = history or history_of(snapshot, namespace)
        backups = [*(run for run in snapshot.open_backups.get(namespace, ()) if not has_ended(run)), *planned]
        restores = restores_model(snapshot, namespace, now, past)
        at_work = {
            Backup: at_work_forecasts(at_work_model(snapshot, namespace, now, past)),
            Restore: at_work_forecasts(restores),
        }
        moved = {(run.name, run.phase) for run in (*backups, *(restore.run for restore in restores.open))}
        state = (moved, snapshot.server(namespace))
        is_old = self._seen is None or self._seen[0] != state or abs(now - self._seen[1]) >= self._lasts
        if is_old and not self._is_playing:
            self._seen = state, now
            models: dict[type[Run], ServerModel] = {Restore: restores}
            if any(run.phase in phases.WAITING for run in backups):
                models[Backup] = server_model(
                    snapshot, namespace, now, now + OPEN_HORIZON, history=past, planned_backups=planned
                )
            self._begin(models)
        every: dict[tuple[type[Run], str], RunForecast] = {}
        kinds: tuple[type[Run], ...] = (Backup, Restore)
        for kind in kinds:
            for name, forecast in (self._waiting.get(kind, {}) | at_work[kind]).items():
                every[kind, name] = forecast
        return every

    def _begin(self, models: dict[type[Run], ServerModel]) -> None:
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
        size = sum(len(model.waiting) + len(model.schedules) for model in models.values())
        if self._beside is None or size <= _AT_ONCE:
            self._waiting = {kind: waiting_forecasts(model) for kind, model in models.items()}
            return
        for kind, model in models.items():
            forecasts = self._waiting.get(kind, {})
            if any(backup.run.name not in forecasts for backup in model.waiting):
                self._waiting[kind] = waiting_forecasts(model, 0) | forecasts
        self._is_playing = True
        self._beside(lambda: self._play(models))

    def _play(self, models: dict[type[Run], ServerModel]) -> None:
        try:
            self._waiting = {kind: waiting_forecasts(model) for kind, model in models.items()}
        except Exception as problem:
            self._problem = problem
        finally:
            self._is_playing = False
