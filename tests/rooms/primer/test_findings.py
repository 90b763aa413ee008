"""Findings about warm-ups that nothing makes, or that are made at the wrong time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from foretop_core.cron import Dialect
from foretop_core.models import CronJob, PreScaledCronJob, Resource, from_builtins
from foretop_core.rooms.primer.planners import PRIME, plan_prime
from foretop_core.rooms.primer.priming import prescaler_verdict
from foretop_core.rules.sentences import names_key, render
from foretop_core.rules.triage import Severity
from tests.demo.test_scenes import codes as codes_of_scene
from tests.demo.test_scenes import opened
from tests.objects import NOW, at, location
from tests.unit.rules.test_triage import codes, only, snapshot


def prescaled(schedule_text: str, minutes: int, primed: str | None) -> list[Resource]:
    made: list[Resource] = [
        from_builtins(
            PreScaledCronJob,
            {
                "metadata": {"name": "warm", "namespace": "team-a", "creationTimestamp": "2026-11-14T02:00:00Z"},
                "spec": {"warmUpTimeMins": minutes, "cronJob": {"spec": {"schedule": schedule_text}}},
            },
        )
    ]
    if primed is not None:
        job = {"metadata": {"name": "autogen-warm", "namespace": "team-a"}, "spec": {"schedule": primed}}
        made.append(from_builtins(CronJob, job))
    return made


def test_a_primed_cron_job_in_the_wrong_hour() -> None:
    """The published operator's result, on the wrong side of midnight."""
    found = only(location(), *prescaled("0/15 * 1 * *", 10, "50,5,20,35 * 1 * *"))
    assert (found.code, found.severity) == ("warmup-wrong", Severity.ERROR)


def test_a_correct_primed_cron_job_is_not_a_finding() -> None:
    assert codes(location(), *prescaled("30 * * * *", 10, "20 * * * *")) == []


def test_a_prescaled_cron_job_without_its_cron_job() -> None:
    assert "no primed cron job" in render(only(location(), *prescaled("0 14-16 * * *", 10, None)).what, NOW)


@pytest.mark.parametrize(
    ("cron", "why", "advice"),
    [
        ("0 14-16 * * *", "the prescaler can only shift a plain hour", "Set spec.primerSchedule to '50 13-15 * * *' ("),
        ("* * * * *", "a schedule that runs every minute is always warm", "needs no warm-up: use a plain CronJob"),
        (
            "0-20 0 * * *",
            "the prescaler cannot shift an hour when there are several minutes",
            "Its warm-ups need 2 expressions: '0-10 0 * * *' and '50-59 23 * * *'.",
        ),
    ],
)
def test_a_warm_up_that_was_not_made_is_explained_in_the_words_of_the_primer(cron: str, why: str, advice: str) -> None:
    found = only(location(), *prescaled(cron, 10, None))
    assert prescaler_verdict(cron, 10, Dialect.ROBFIG).reason == why
    assert f"it refuses {cron!r}: {why}." in render(found.evidence, NOW)
    assert found.since == at("02:00:00") - timedelta(days=1), "it was made then, and has had no CronJob since"
    assert advice in render(found.remedy, NOW)
    assert names_key(found.remedy, PRIME.id) is advice.startswith("Set")


def test_a_warm_up_at_the_wrong_time_leads_to_the_key_that_sets_the_right_one() -> None:
    """As a plan of it says, which refuses to write what is there already."""
    objects = prescaled("0/15 * 1 * *", 10, "50,5,20,35 * 1 * *")
    found, where = only(location(), *objects), snapshot(*objects)
    assert not names_key(found.remedy, PRIME.id), "its warm-ups need more than one expression"
    item, *objects = prescaled("30 * * * *", 10, "25 * * * *")
    assert isinstance(item, PreScaledCronJob)
    wrong = replace(item, spec=replace(item.spec, primer_schedule="25 * * * *"))
    found, where = only(location(), wrong, *objects), snapshot(wrong)
    (step,) = plan_prime(where, where.prescaled, NOW).steps
    assert f"Set spec.primerSchedule to {step.write.body['spec']['primerSchedule']!r}" in render(found.remedy, NOW)
    assert names_key(found.remedy, PRIME.id)
    right = replace(wrong, spec=replace(wrong.spec, primer_schedule="20 * * * *"))
    found, where = only(location(), right, *objects), snapshot(right)
    assert not plan_prime(where, where.prescaled, NOW).steps
    assert "Look whether the prescaler is running" in render(found.remedy, NOW)


def test_a_warm_up_that_the_prescaler_would_accept_is_not_said_to_be_refused() -> None:
    found = only(location(), *prescaled("30 * * * *", 10, None))
    assert "it accepts '30 * * * *', so look whether the operator is running" in render(found.evidence, NOW)
    assert not names_key(found.remedy, PRIME.id), "there is nothing to set"


@pytest.mark.parametrize("scene", ["default", "primed-cron"])
def test_a_scene_shows_its_wrong_warm_ups(scene: str) -> None:
    assert "warmup-wrong" in codes_of_scene(opened(scene))
