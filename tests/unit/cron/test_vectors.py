"""Every answer that the Go library gave when it was measured, errors included."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from foretop_core.cron import CronError, parse

_LINES = (Path(__file__).parents[2] / "data/vectors/cron.jsonl").read_text(encoding="utf-8").split("\n")
VECTORS: list[dict[str, Any]] = [json.loads(line) for line in _LINES if line]
RUNS = [vector for vector in VECTORS if "error" not in vector]
ERRORS = [vector for vector in VECTORS if "error" in vector]


def test_all_of_the_measured_answers_are_here() -> None:
    assert len(VECTORS) == 600
    assert len(ERRORS) == 83


@pytest.mark.parametrize("vector", RUNS, ids=lambda vector: vector["expr"])
def test_the_next_runs_are_those_of_the_library(vector: dict[str, Any]) -> None:
    schedule = parse(vector["expr"])
    moment: datetime | None = datetime.fromisoformat(vector["from"]).astimezone(ZoneInfo(vector["tz"]))
    for expected in vector["next"]:
        assert moment is not None
        moment = schedule.next(moment)
        assert (moment and moment.isoformat()) == (expected and expected.replace("Z", "+00:00"))


@pytest.mark.parametrize("vector", ERRORS, ids=lambda vector: ascii(vector["expr"]))
def test_a_bad_expression_is_refused_in_the_words_of_the_library(vector: dict[str, Any]) -> None:
    with pytest.raises(CronError) as caught:
        parse(vector["expr"])
    assert str(caught.value) == vector["error"]


@pytest.mark.parametrize("vector", RUNS[::7], ids=lambda vector: vector["expr"])
def test_the_answer_in_utc_is_the_same_instant(vector: dict[str, Any]) -> None:
    if not vector["expr"].startswith(("TZ=", "CRON_TZ=")) and vector["tz"] != "UTC":
        vector = vector | {"expr": f"TZ={vector['tz']} {vector['expr']}"}
    found = parse(vector["expr"]).next(datetime.fromisoformat(vector["from"]).astimezone(UTC))
    expected = vector["next"][0]
    assert found == (expected and datetime.fromisoformat(expected))
    assert found is None or found.tzinfo is UTC
