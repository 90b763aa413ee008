"""Every measured answer of the Go libraries, including errors."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from foretop_core.cron import CronError, Dialect, parse
from tests.examples import sampled

pytestmark = pytest.mark.long

_FOLDER = Path(__file__).parents[2] / "data/vectors"


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_FOLDER / name).read_text(encoding="utf-8").split("\n") if line]


ROBFIG_ONLY = _read("cron.jsonl")
BY_DIALECT = _read("cron-dialects.jsonl")
# At and beside the limits of numbers, durations, ranges, names and lengths.
EDGES = _read("cron-edges.jsonl")
# The runs of a server from some days before a change of the clocks to some days after it.
FOLLOWED = _read("cron-followed.jsonl")
RUNS = [vector for vector in ROBFIG_ONLY if "error" not in vector]
# A question and one library's answer.
ANSWERS = [
    *((Dialect.ROBFIG, vector, vector) for vector in ROBFIG_ONLY),
    *((dialect, vector, vector[dialect.name.lower()]) for vector in (*BY_DIALECT, *EDGES) for dialect in Dialect),
]
# No multiple of the number of dialects: each part has answers of all of them.
_PARTS = 61


@pytest.mark.parametrize("place", sampled(range(_PARTS), *range(0, _PARTS, 4)))
def test_every_answer_matches_the_library(place: int) -> None:
    for dialect, question, answer in ANSWERS[place::_PARTS]:
        assert _ours(dialect, question, answer) == _theirs(answer), (dialect, question)


def _theirs(answer: dict[str, Any]) -> list[datetime | None] | str:
    if "error" in answer:
        return str(answer["error"])
    return [run and datetime.fromisoformat(run) for run in answer["next"]]


def _ours(dialect: Dialect, question: dict[str, Any], answer: dict[str, Any]) -> list[datetime | None] | str:
    try:
        schedule = parse(question["expr"], dialect)
    except CronError as refusal:
        return str(refusal)
    zone = ZoneInfo(question["tz"])
    after: datetime | None = datetime.fromisoformat(question.get("from", "2026-01-01T00:00:00Z"))
    runs: list[datetime | None] = []
    while after is not None and len(runs) < len(answer.get("next", [])):
        after = schedule.next(after.astimezone(zone))
        # In a zone, times of a repeated hour are not equal to any other time.
        runs.append(after and after.astimezone(UTC))
    return runs


@pytest.mark.parametrize("vector", RUNS[::7], ids=lambda vector: vector["expr"])
def test_the_answer_in_utc_is_the_same_instant(vector: dict[str, Any]) -> None:
    if not vector["expr"].startswith(("TZ=", "CRON_TZ=")) and vector["tz"] != "UTC":
        vector = vector | {"expr": f"TZ={vector['tz']} {vector['expr']}"}
    found = parse(vector["expr"], Dialect.ROBFIG).next(datetime.fromisoformat(vector["from"]).astimezone(UTC))
    expected = vector["next"][0]
    assert found == (expected and datetime.fromisoformat(expected))
    assert found is None or found.tzinfo is UTC


@pytest.mark.parametrize("vector", FOLLOWED, ids=lambda vector: f"{vector['tz']} {vector['expr']}")
def test_a_server_that_is_followed_over_a_change_of_the_clocks_has_these_runs(vector: dict[str, Any]) -> None:
    zone = ZoneInfo(vector["tz"])
    start = datetime.fromisoformat(vector["from"]).astimezone(zone)
    for dialect in Dialect:
        schedule = parse(vector["expr"], dialect)
        expected = [datetime.fromisoformat(run) for run in vector[dialect.name.lower()]["next"]]
        found = [run.astimezone(UTC) for run in schedule.between(start, expected[-1])]
        assert found == expected
        earlier = [schedule.previous(run.astimezone(zone)) for run in expected[1:]]
        assert [run and run.astimezone(UTC) for run in earlier] == expected[:-1]
