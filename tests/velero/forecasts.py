"""What foretop forecast while a story ran, compared with what Velero then did.

Every time that foretop showed for a start or an end is one forecast. A forecast is kept where it came true in time. It
is void where nobody could have known better: a person changed the schedule or the storage, or had changed it so
shortly before that Velero was still answering; the server was killed; Velero's own log shows that it stalled; or
foretop said itself that it was a guess.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from tests.velero.get_watch import ShownForecasts, ShownRow
from tests.velero.real_cluster import UserAction
from tests.velero.velero_log import SUBMITTED, VeleroLog
from tests.velero.watch_events import WatchEvent

TOLERANCE = timedelta(seconds=2)
PERIOD = timedelta(seconds=60)
"""Velero looks at its schedules, and again at its queue, once a minute."""
STARTS_WITHIN = timedelta(seconds=5)
"""Until a server has started, its second of the minute is not known."""
LEARNED_WITHIN = timedelta(minutes=6)
"""A stall moves Velero's second of the minute; after this time foretop has learned the new one."""
_SCHEDULE_LABEL = "velero.io/schedule-name"
_BLOCKS_NEXT_RUN = ("", "New", "InProgress")
_SERVER_ACTIONS = ("kill", "start")
_QUEUE_ACTIONS = (*_SERVER_ACTIONS, "freeze storage", "unfreeze storage", "delete bucket", "create bucket")


@dataclass(frozen=True, slots=True)
class Forecast:
    """One thing that foretop said would happen; `ahead` is the number of runs before it in the queue.

    With a `guess` foretop said with it why it had too little to tell it from.
    """

    made_at: datetime
    field: str
    name: str
    predicted: datetime
    ahead: int = 0
    guess: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a forecast: kept, broken, void or open (the story ended first), and why."""

    forecast: Forecast
    outcome: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Observed:
    """What happened: the watch events, what people did, Velero's log, and when the story ended."""

    events: Sequence[WatchEvent]
    actions: Sequence[UserAction]
    log: VeleroLog
    end: datetime


def forecasts(shown: ShownForecasts) -> Iterator[Forecast]:
    """Every time that foretop showed before it came."""
    for line in shown.schedules:
        if not line.row["paused"]:
            yield from _of_row(line, {"expectedStart": "expected start", "nextRun": "next run"})
    for line in shown.queue:
        if line.row["kind"] == "Backup":
            yield from _of_row(line, {"expectedStart": "start from queue", "expectedEnd": "estimated end"})


def _of_row(line: ShownRow, fields: dict[str, str]) -> Iterator[Forecast]:
    ahead = (line.row.get("waitingPosition") or 0) if "waitingPosition" in line.row else 0
    for key, field in fields.items():
        predicted = _time(line.row.get(key))
        if predicted is not None and predicted > line.at:
            yield Forecast(line.at, field, line.row["name"], predicted, ahead, line.row.get("note") or "")


def judge(made: Iterable[Forecast], observed: Observed) -> list[Verdict]:
    judges = {
        "expected start": _judge_expected_start,
        "next run": _judge_next_run,
        "start from queue": _judge_queue,
        "estimated end": _judge_queue,
    }
    return [judges[forecast.field](forecast, observed) for forecast in made]


def _judge_expected_start(forecast: Forecast, observed: Observed) -> Verdict:
    return _judge_run(forecast, observed, forecast.predicted + TOLERANCE)


def _judge_next_run(forecast: Forecast, observed: Observed) -> Verdict:
    """It is created at the first look after it is due, or after its own previous backup lets it."""
    free = max([forecast.predicted, *_let_go(observed.events, forecast.name, forecast.predicted)])
    return _judge_run(forecast, observed, free + PERIOD + TOLERANCE)


def _judge_run(forecast: Forecast, observed: Observed, latest: datetime) -> Verdict:
    earliest = forecast.predicted - TOLERANCE
    created = [run for run in _created(observed.events, forecast.name) if run.at >= forecast.made_at - TOLERANCE]
    following = next((run for run in created if run.at >= forecast.made_at), None)
    after = following.created if following is not None else None
    in_time = any(earliest <= run.created <= latest for run in created)
    early = after is not None and after < earliest
    until = min(following.at, latest) if following else latest
    if void := _voided(forecast, observed, until, _SERVER_ACTIONS):
        return Verdict(forecast, "void", void)
    if in_time and not early:
        return Verdict(forecast, "kept")
    if after is None and observed.end <= latest:
        return Verdict(forecast, "open")
    why = "no backup came" if after is None else f"it came at {after:%H:%M:%S}, {'early' if early else 'late'}"
    if stall := _stall(forecast, observed, after or latest):
        return Verdict(forecast, "void", f"{why}, and {stall}")
    return Verdict(forecast, "broken", why)


def _judge_queue(forecast: Forecast, observed: Observed) -> Verdict:
    """An estimate, shown to the minute; Velero may leave a slot free for a minute for each one ahead."""
    field = "startTimestamp" if forecast.field == "start from queue" else "completionTimestamp"
    happened = _status_time(observed.events, forecast.name, field)
    slack = PERIOD * (1 + forecast.ahead)
    latest = forecast.predicted + slack
    if void := _voided(forecast, observed, min(happened or latest, latest), _QUEUE_ACTIONS):
        return Verdict(forecast, "void", void)
    if happened is None:
        return Verdict(forecast, "open") if observed.end <= latest else _missed(forecast, "it did not come")
    if abs(happened - forecast.predicted) <= slack:
        return Verdict(forecast, "kept")
    return _missed(forecast, f"it came at {happened:%H:%M:%S}")


def _missed(forecast: Forecast, why: str) -> Verdict:
    return (
        Verdict(forecast, "void", f"a guess: {forecast.guess}") if forecast.guess else Verdict(forecast, "broken", why)
    )


def _voided(forecast: Forecast, observed: Observed, until: datetime, for_all: Sequence[str]) -> str:
    """What a person did between the forecast and its time that changed what was to come."""
    for action in observed.actions:
        concerns = action.what in for_all or (action.kind in ("Schedule", "Backup") and action.name == forecast.name)
        end = action.at + (STARTS_WITHIN if action.what == "start" else TOLERANCE)
        if concerns and action.at <= until and forecast.made_at <= end:
            return f"{action.what} {action.name}".strip()
    return ""


def _stall(forecast: Forecast, observed: Observed, until: datetime) -> str:
    """What Velero's own log shows of a stalled machine; "" where its looks came regularly and were quick."""
    begin = max([forecast.made_at - LEARNED_WITHIN, *(action.at for action in observed.actions[:1])])
    starts = [action.at for action in observed.actions if action.what == "start"]
    looks = [look for look in observed.log.looks if begin <= look <= until + PERIOD]
    for one, other in pairwise(looks):
        restarted = any(one <= at <= other + TOLERANCE for at in starts)
        if not restarted and abs(other - one - PERIOD) >= TOLERANCE:
            return f"Velero looked at its schedules at {one:%H:%M:%S} and then at {other:%H:%M:%S}"
    for submitted in (one.at for one in observed.log.of(forecast.name) if one.message == SUBMITTED):
        look = max((look for look in looks if look <= submitted), default=None)
        if look and forecast.made_at <= submitted <= until + TOLERANCE and TOLERANCE < submitted - look < PERIOD / 2:
            return f"Velero needed from {look:%H:%M:%S} to {submitted:%H:%M:%S} to submit it"
    return ""


@dataclass(frozen=True, slots=True)
class _CreatedRun:
    """A backup of a schedule: when it was seen, and when it was created by its own word, in whole seconds."""

    at: datetime
    created: datetime


def _created(events: Sequence[WatchEvent], schedule: str) -> Iterator[_CreatedRun]:
    for event in _of_schedule(events, schedule):
        if event.change == "ADDED":
            yield _CreatedRun(event.at, datetime.fromisoformat(event.body["metadata"]["creationTimestamp"]))


def _of_schedule(events: Sequence[WatchEvent], schedule: str) -> Iterator[WatchEvent]:
    for event in events:
        labels = event.body["metadata"].get("labels") or {}
        if event.plural == "backups" and labels.get(_SCHEDULE_LABEL) == schedule:
            yield event


def _let_go(events: Sequence[WatchEvent], schedule: str, due: datetime) -> Iterator[datetime]:
    """When each backup that was created before the run was due stopped blocking it."""
    seen: set[str] = set()
    for event in _of_schedule(events, schedule):
        meta, phase = event.body["metadata"], (event.body.get("status") or {}).get("phase", "")
        created = datetime.fromisoformat(meta["creationTimestamp"])
        blocks = event.change != "DELETED" and phase in _BLOCKS_NEXT_RUN
        if created < due and blocks:
            seen.add(meta["name"])
        elif meta["name"] in seen:
            seen.remove(meta["name"])
            yield event.at


def _status_time(events: Sequence[WatchEvent], backup: str, field: str) -> datetime | None:
    for event in events:
        text = (event.body.get("status") or {}).get(field)
        if event.plural == "backups" and event.body["metadata"]["name"] == backup and text:
            return _time(text)
    return None


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


TableRow = tuple[str, str, str, str]
"""Story, field and outcome of a forecast, and the words on it."""


def table_row(story: str, verdict: Verdict) -> TableRow:
    forecast = verdict.forecast
    words = verdict.why
    if verdict.outcome == "broken":
        times = f"{forecast.predicted:%H:%M:%S} forecast at {forecast.made_at:%H:%M:%S}"
        words = f"{forecast.field} of {forecast.name}, {times}: {verdict.why}"
    return story, forecast.field, verdict.outcome, words


def table(rows: Iterable[TableRow]) -> str:
    """For each story and field how many forecasts were made, kept, broken, void or open; then why they were broken."""
    counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    total: Counter[str] = Counter()
    broken: list[str] = []
    reasons: Counter[str] = Counter()
    for story, field, outcome, words in rows:
        counts[story, field][outcome] += 1
        total[outcome] += 1
        if outcome == "broken":
            broken.append(f"  broken: {story}: {words}")
        elif outcome == "void":
            reasons[f"  void: {story}: {words}"] += 1
    return "\n".join(
        [
            f"{'story':36}{'forecast':18}{'made':>6}{'kept':>6}{'broken':>8}{'void':>6}{'open':>6}",
            *(_line(story, field, found) for (story, field), found in sorted(counts.items())),
            _line("all", "", total),
            *broken,
            *(f"{why} ({count})" for why, count in sorted(reasons.items())),
        ]
    )


def _line(story: str, field: str, found: Counter[str]) -> str:
    cells = [found[outcome] for outcome in ("kept", "broken", "void", "open")]
    return f"{story:36}{field:18}{sum(cells):>6}{cells[0]:>6}{cells[1]:>8}{cells[2]:>6}{cells[3]:>6}"
