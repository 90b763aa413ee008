"""Primed schedules over the API: a PreScaledCronJob goes in, the published operator's CronJob comes out."""

from __future__ import annotations

import json
from pathlib import Path

from tests.wire.http_box import CRON_JOBS, PRESCALED, state

_VECTORS = Path(__file__).parents[1] / "data" / "vectors" / "prescaler.jsonl"

DOCUMENT = {
    ("30 * * * *", 10): "20 * * * *",
    ("0 * * * *", 10): "50 * * * *",
    ("0 0 * * *", 10): "50 23 * * *",
    ("0/30 * * * *", 10): "50,20 * * * *",
    ("0-5 * * * *", 10): "50,51,52,53,54,55 * * * *",
    ("0 14-16 * * *", 10): None,
    ("0-15 0 * * *", 10): None,
    ("0 0 * * 5", 10): None,
}


async def _primed(cases: dict[tuple[str, int], str | None]) -> dict[tuple[str, int], str | None]:
    async with state() as at:
        names = {case: f"case-{number}" for number, case in enumerate(cases)}
        for (expression, minutes), name in names.items():
            spec = {"warmUpTimeMins": minutes, "cronJob": {"spec": {"schedule": expression}}}
            await at.post(PRESCALED, name, spec)
        at.wait()
        made = {job["metadata"]["name"]: job["spec"]["schedule"] for job in await at.items(CRON_JOBS)}
        return {case: made.get(f"autogen-{name}") for case, name in names.items()}


async def test_the_examples_of_the_document() -> None:
    assert await _primed(DOCUMENT) == DOCUMENT


async def test_what_the_published_operator_answered() -> None:
    lines = [json.loads(line) for line in _VECTORS.read_text(encoding="utf-8").splitlines()][:120]
    measured = {(line["expr"], line["minutes"]): line["primed"] for line in lines}
    assert await _primed(measured) == measured


async def test_a_cron_job_follows_its_prescaled_one_and_goes_with_it() -> None:
    async with state() as at:
        spec = {"warmUpTimeMins": 10, "cronJob": {"spec": {"schedule": "30 4 * * *"}}}
        await at.post(PRESCALED, "batch", spec)
        at.wait(1)
        assert (await at.get(f"{CRON_JOBS}/autogen-batch"))["spec"]["schedule"] == "20 4 * * *"
        await at.patch(f"{PRESCALED}/batch", {"spec": {"warmUpTimeMins": 25}})
        at.wait(1)
        assert (await at.get(f"{CRON_JOBS}/autogen-batch"))["spec"]["schedule"] == "5 4 * * *"
        await at.patch(f"{PRESCALED}/batch", {"spec": {"primerSchedule": "0 4 * * *"}})
        at.wait(1)
        assert (await at.get(f"{CRON_JOBS}/autogen-batch"))["spec"]["schedule"] == "0 4 * * *"
        await at.delete(f"{PRESCALED}/batch")
        assert await at.gone(f"{CRON_JOBS}/autogen-batch")
