"""foretop_core.cron and robfig/cron, asked the same fresh questions on every run."""

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

from foretop_core import cron
from tests.real.build import Kit
from tests.real.croncases import Question, random_questions

QUESTIONS = 5000
SEED_VARIABLE = "FORETOP_CRON_SEED"


def test_core_cron_answers_what_the_library_of_velero_answers(kit: Kit) -> None:
    seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().getrandbits(32))
    questions = random_questions(random.Random(seed), QUESTIONS)
    answers = _ask_the_oracle(kit.cron_oracle, questions)
    assert len(answers) == len(questions)
    differences = [
        f"{question}\n    library: {theirs}\n    foretop: {ours}"
        for question, theirs in zip(questions, answers, strict=True)
        if not theirs.get("hang") and (ours := _ask_foretop(question)) != theirs
    ]
    report = "\n".join(differences[:20])
    assert not differences, f"{len(differences)} differences, repeat with {SEED_VARIABLE}={seed}\n{report}"


def test_the_questions_reach_both_runs_and_refusals(kit: Kit) -> None:
    answers = _ask_the_oracle(kit.cron_oracle, random_questions(random.Random(20261115), QUESTIONS))
    refused = [answer for answer in answers if "error" in answer]
    never = [answer for answer in answers if answer.get("next") == [None]]
    assert QUESTIONS * 0.05 < len(refused) < QUESTIONS * 0.5
    assert len({answer["error"].split(":")[0] for answer in refused}) > 20
    assert never
    # Each costs the oracle's patience, which a machine that stands still for a moment may exhaust as well.
    assert len([answer for answer in answers if answer.get("hang")]) < 3


def _ask_the_oracle(oracle: Path, questions: list[Question]) -> list[dict[str, Any]]:
    asked = "\n".join(json.dumps(question.as_json()) for question in questions).encode()
    environment = {"ZONEINFO": str(_zone_folder()), "TZ": "UTC"}
    done = subprocess.run([str(oracle)], input=asked, env=environment, capture_output=True, check=True)
    return [_without_empty(json.loads(line)) for line in done.stdout.splitlines()]


def _without_empty(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if value is not None and name != "panic"}


def _ask_foretop(question: Question) -> dict[str, Any]:
    try:
        schedule = cron.parse(question.expr)
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
    """The rules of time zones that Python goes by, so that both sides have the same edition of them."""
    system = [Path(folder) for folder in zoneinfo.TZPATH if Path(folder, "Europe", "Berlin").is_file()]
    return system[0] if system else Path(str(files("tzdata").joinpath("zoneinfo")))
