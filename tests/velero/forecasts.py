"""What foretop told while a story ran, held against what Velero then did.

`foretop get schedules --watch` and `foretop get queue --watch` run beside the story. Every time that they told for a
start is one forecast; it is kept where the backup was made within two seconds of it. One that a person made void
(the schedule was changed, the server was killed) is neither kept nor broken.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.velero.real_place import Deed
from tests.velero.watch_log import Heard

CLOSE = timedelta(seconds=2)
LOOK = timedelta(seconds=62)
"""A due run is made at the next look, which comes once a minute."""
STARTS_WITHIN = timedelta(seconds=5)
"""While a server starts nobody can tell its beat, which is another one from then on."""
_SCHEDULE = "velero.io/schedule-name"
_HELD = ("", "New", "InProgress", "Queued", "ReadyToStart")
_VOID_FOR_ALL = ("kill", "start")


@dataclass(frozen=True, slots=True)
class Forecast:
    """One thing that foretop said would happen."""

    told: datetime
    field: str
    name: str
    said: datetime


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a forecast: kept, broken, void or open (the story ended first), and why."""

    forecast: Forecast
    outcome: str
    why: str = ""


class ForetopWatch:
    """foretop's own command line, watching one view until it is closed."""

    def __init__(self, view: str, kubeconfig: Path) -> None:
        self.rows: list[tuple[datetime, dict[str, Any]]] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", "foretop", "get", view, "--watch", "-o", "json", "--kubeconfig", str(kubeconfig)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            text=True,
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._thread.join(10)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            if event["type"] != "DELETED":
                self.rows.append((datetime.now(UTC), event["object"]))


def of_schedules(rows: Sequence[tuple[datetime, dict[str, Any]]]) -> Iterator[Forecast]:
    """Every start and every next run that was told ahead."""
    for at, row in rows:
        if row["paused"]:
            continue
        for field in ("expectedStart", "nextRun"):
            said = _time(row.get(field))
            if said is not None and said > at:
                yield Forecast(at, field, row["name"], said)


def judge(forecasts: Iterable[Forecast], heard: Sequence[Heard], deeds: Sequence[Deed], end: datetime) -> list[Verdict]:
    return [_judged(forecast, heard, deeds, end) for forecast in forecasts]


def _judged(forecast: Forecast, heard: Sequence[Heard], deeds: Sequence[Deed], end: datetime) -> Verdict:
    made = next((made for seen, made in _made(heard, forecast.name) if seen >= forecast.told), None)
    latest = forecast.said + (CLOSE if forecast.field == "expectedStart" else LOOK)
    until = min(made or latest, latest)
    if void := next((deed for deed in deeds if _voids(deed, forecast) and _lasts(deed, forecast.told, until)), None):
        return Verdict(forecast, "void", f"{void.what} {void.name}".strip())
    if made is None and end <= latest:
        return Verdict(forecast, "open")
    held = forecast.field == "nextRun" and _was_held(heard, forecast.name, forecast.said)
    if held and (made is None or made > latest):
        return Verdict(forecast, "kept", "due then, and held up by its own backup")
    if made is None:
        return Verdict(forecast, "broken", "no backup came")
    early, late = made < forecast.said - CLOSE, made > latest
    if not early and not late:
        return Verdict(forecast, "kept")
    return Verdict(forecast, "broken", f"it came at {made:%H:%M:%S}, {'early' if early else 'late'}")


def _voids(deed: Deed, forecast: Forecast) -> bool:
    return deed.what in _VOID_FOR_ALL or (deed.kind == "Schedule" and deed.name == forecast.name)


def _lasts(deed: Deed, told: datetime, until: datetime) -> bool:
    """Whether a deed, or the start that it began, lay between the forecast and its end."""
    end = deed.at + (STARTS_WITHIN if deed.what == "start" else timedelta())
    return deed.at <= until and told <= end


def _made(heard: Sequence[Heard], schedule: str) -> Iterator[tuple[datetime, datetime]]:
    """When backups of a schedule were seen, and when they were made by their own word, in whole seconds."""
    for entry in heard:
        meta = entry.body["metadata"]
        if (
            entry.plural == "backups"
            and entry.change == "ADDED"
            and (meta.get("labels") or {}).get(_SCHEDULE) == schedule
        ):
            found = _time(meta["creationTimestamp"])
            assert found is not None
            yield entry.at, found


def _was_held(heard: Sequence[Heard], schedule: str, due: datetime) -> bool:
    """Whether a backup of the schedule was still open when the next one was due."""
    left: dict[str, datetime] = {}
    for entry in heard:
        meta = entry.body["metadata"]
        if entry.plural != "backups" or (meta.get("labels") or {}).get(_SCHEDULE) != schedule:
            continue
        name, phase = meta["name"], (entry.body.get("status") or {}).get("phase", "")
        made_before = datetime.fromisoformat(meta["creationTimestamp"]) < due
        if made_before and (entry.change == "DELETED" or phase not in _HELD):
            left.setdefault(name, entry.at)
    return any(at > due for at in left.values())


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text).astimezone(UTC)


def table(verdicts: Iterable[tuple[str, Verdict]]) -> str:
    """Story by story and field by field: how many were made, kept, broken; then why the broken ones were."""
    counts: Counter[tuple[str, str, str]] = Counter()
    broken: list[str] = []
    for story, verdict in verdicts:
        counts[story, verdict.forecast.field, verdict.outcome] += 1
        if verdict.outcome == "broken":
            forecast = verdict.forecast
            broken.append(
                f"  {story}: {forecast.field} of {forecast.name}, {forecast.said:%H:%M:%S} "
                f"told at {forecast.told:%H:%M:%S}: {verdict.why}"
            )
    lines = [f"{'story':32}{'forecast':16}{'made':>6}{'kept':>6}{'broken':>8}{'void':>6}{'open':>6}"]
    for story, field in sorted({key[:2] for key in counts}):
        found = {outcome: counts[story, field, outcome] for outcome in ("kept", "broken", "void", "open")}
        lines.append(
            f"{story:32}{field:16}{sum(found.values()):>6}{found['kept']:>6}{found['broken']:>8}"
            f"{found['void']:>6}{found['open']:>6}"
        )
    return "\n".join([*lines, *broken])
