"""The CronJob of a PreScaledCronJob."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.models import PreScaledCronJob, from_builtins
from foretop_core.models.kinds import CRON_JOB
from foretop_core.models.wire import OwnerReference
from foretop_core.rules.prescaler import prescaler
from foretop_demo.reconcile import Create, Patch, Reconciled, reconcile_prescaled
from tests.demo.apply import Objects
from tests.demo.nonadmin_fixture import NOW

JOB = {"spec": {"template": {"spec": {"containers": [{"name": "report", "image": "report:1"}]}}}}


def prescaled(schedule: str = "30 2 * * *", minutes: int = 10, **spec: Any) -> PreScaledCronJob:
    meta = {"name": "report", "namespace": "shop", "uid": "u1", **spec.pop("metadata", {})}
    job = {"spec": {"schedule": schedule, "jobTemplate": JOB, **spec.pop("job", {})}}
    return from_builtins(
        PreScaledCronJob, {"metadata": meta, "spec": {"warmUpTimeMins": minutes, "cronJob": job, **spec}}
    )


def settle(objects: Objects, wanted: PreScaledCronJob) -> Reconciled:
    """One reconcile and its writes; the second one must find nothing to do."""
    answer = reconcile_prescaled(wanted, objects.all(CRON_JOB))
    objects.apply(answer.writes, NOW)
    assert reconcile_prescaled(wanted, objects.all(CRON_JOB)).writes == ()
    return answer


def test_a_new_object_gets_an_owned_primed_cron_job_with_the_same_job() -> None:
    (write,) = settle(Objects(), prescaled(job={"timeZone": "Asia/Tokyo"})).writes
    owner = OwnerReference(
        api_version="psc.cronprimer.local/v1alpha1", kind="PreScaledCronJob", name="report", uid="u1", controller=True
    )
    assert write == Create(
        CRON_JOB,
        "shop",
        "autogen-report",
        {"schedule": "20 2 * * *", "timeZone": "Asia/Tokyo", "jobTemplate": JOB},
        owner_references=(owner,),
    )


def test_an_explicit_primer_schedule_wins() -> None:
    (write,) = settle(Objects(), prescaled("* * * * *", primerSchedule="0 2 * * *")).writes
    assert isinstance(write, Create)
    assert write.spec["schedule"] == "0 2 * * *"


def test_an_invalid_primer_schedule_creates_nothing() -> None:
    answer = reconcile_prescaled(prescaled(primerSchedule="61 * * * *"), ())
    assert answer.writes == ()
    assert "end of range (61) above maximum (59)" in answer.problem


@pytest.mark.parametrize("schedule", ["* * * * *", "not a cron", "0 0 * * 5"])
def test_a_refused_schedule_creates_nothing_and_has_a_reason(schedule: str) -> None:
    answer = reconcile_prescaled(prescaled(schedule), ())
    assert answer.writes == ()
    assert answer.problem


def test_only_a_changed_schedule_or_warm_up_is_patched() -> None:
    objects = Objects()
    settle(objects, prescaled())
    (write,) = settle(objects, prescaled(minutes=45)).writes
    expected = prescaler("30 2 * * *", 45).expression
    assert write == Patch(CRON_JOB, "shop", "autogen-report", {"spec": {"schedule": expected}})


def test_a_removed_zone_is_removed_from_the_cron_job() -> None:
    objects = Objects()
    settle(objects, prescaled(job={"timeZone": "Asia/Tokyo"}))
    (write,) = settle(objects, prescaled()).writes
    assert write == Patch(CRON_JOB, "shop", "autogen-report", {"spec": {"timeZone": None}})


def test_a_cron_job_in_another_namespace_is_ignored() -> None:
    objects = Objects()
    settle(objects, prescaled(metadata={"namespace": "other"}))
    settle(objects, prescaled())
    assert sorted(job.namespace for job in objects.all(CRON_JOB)) == ["other", "shop"]


def test_a_deleting_object_creates_nothing() -> None:
    going = prescaled(metadata={"deletionTimestamp": "2026-11-15T02:00:00Z"})
    assert reconcile_prescaled(going, ()) == Reconciled()
