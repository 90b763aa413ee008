"""foretop_core.cron and the cron libraries of Velero, asked the same new questions on every run."""

from __future__ import annotations

import json
import os
import random
import subprocess
import zoneinfo
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from foretop_core import cron
from foretop_core.cron import Dialect
from tests.real.build import Kit
from tests.real.croncases import Question, random_questions

QUESTIONS = 2000
SEED_VARIABLE = "FORETOP_CRON_SEED"
COUNT_VARIABLE = "FORETOP_CRON_QUESTIONS"
"""The number of questions for each library; questions of one batch share their years and zones."""
BATCH = 5000


@pytest.mark.parametrize("dialect", Dialect)
def test_core_cron_answers_what_the_library_answers(kit: Kit, dialect: Dialect) -> None:
    seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().getrandbits(32))
    count = int(os.environ.get(COUNT_VARIABLE) or QUESTIONS)
    rng = random.Random(seed)
    differences = [
        difference
        for asked in range(0, count, BATCH)
        for difference in _differences(kit.cron_oracle, dialect, random_questions(rng, min(BATCH, count - asked)))
    ]
    report = "\n".join(differences[:20])
    assert not differences, f"{len(differences)} differences, repeat with {SEED_VARIABLE}={seed}\n{report}"


def _differences(oracle: Path, dialect: Dialect, questions: list[Question]) -> list[str]:
    answers = _ask_the_oracle(oracle, dialect, questions)
    assert len(answers) == len(questions)
    return [
        f"{question}\n    library: {theirs}\n    foretop: {ours}"
        for question, theirs in zip(questions, answers, strict=True)
        if not theirs.get("hang") and (ours := _ask_foretop(dialect, question)) != theirs
    ]


@pytest.mark.parametrize("dialect", Dialect)
def test_the_questions_reach_both_runs_and_refusals(kit: Kit, dialect: Dialect) -> None:
    answers = _ask_the_oracle(kit.cron_oracle, dialect, random_questions(random.Random(20261115), QUESTIONS))
    refused = [answer for answer in answers if "error" in answer]
    never = [answer for answer in answers if answer.get("next") == [None]]
    assert QUESTIONS * 0.05 < len(refused) < QUESTIONS * 0.5
    assert len({answer["error"].split(":")[0] for answer in refused}) > 20
    assert never
    # Each costs the oracle's patience, which a machine that stands still for a moment may exhaust as well.
    assert len([answer for answer in answers if answer.get("hang")]) < 3


def _ask_the_oracle(oracle: Path, dialect: Dialect, questions: list[Question]) -> list[dict[str, Any]]:
    asked = "\n".join(json.dumps(question.as_json(dialect)) for question in questions).encode()
    environment = {"ZONEINFO": str(_zone_folder()), "TZ": "UTC"}
    done = subprocess.run([str(oracle)], input=asked, env=environment, capture_output=True, check=True)
    return [_without_empty(json.loads(line)) for line in done.stdout.splitlines()]


def _without_empty(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if value is not None and name != "panic"}


def _ask_foretop(dialect: Dialect, question: Question) -> dict[str, Any]:
    try:
        schedule = cron.parse(question.expr, dialect)
    except cron.CronError as refusal:
        return {"error": str(refusal)}
    runs: list[str | None] = []
    zone = zoneinfo.ZoneInfo(question.tz)
    after: datetime | None = question.start
    while after is not None and len(runs) < question.count:
        after = schedule.next(after.astimezone(zone))
        runs.append(None if after is None else after.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))
    return {"next": runs}


def _zone_folder() -> Path:
    """The time zone data that Python uses, so that both sides have the same edition."""
    system = [Path(folder) for folder in zoneinfo.TZPATH if Path(folder, "Europe", "Berlin").is_file()]
    return system[0] if system else Path(str(files("tzdata").joinpath("zoneinfo")))
