"""The CronJob that warms nodes up before a Schedule or a plain CronJob, which have no prescaler."""

from __future__ import annotations

from typing import Any

import pytest

from foretop_core.actions.plans import Plan
from foretop_core.cron import Dialect, parse
from foretop_core.errors import BadInput
from foretop_core.models import CronJob, from_builtins
from foretop_core.rooms.primer.planners import (
    CREATE_WARM_UP,
    WARMS_UP,
    plan_warm_up,
    read_image,
    read_minutes,
    read_pods,
    read_room,
)
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, backup, schedule


def cron_job(name: str = "month-end", cron: str = "0 4 * * *", **spec: Any) -> CronJob:
    meta = {"name": name, "namespace": "team-data", "creationTimestamp": "2026-11-01T00:00:00Z"}
    return from_builtins(CronJob, {"metadata": meta, "spec": {"schedule": cron, **spec}})


def planned(item: Any, *others: CronJob, **asked: Any) -> Plan:
    jobs = (*others, item) if isinstance(item, CronJob) else others
    schedules = () if isinstance(item, CronJob) else (item,)
    return plan_warm_up(ClusterSnapshot("prod", schedules=schedules, cron_jobs=jobs), [item], NOW, **asked)


def spec_of(plan: Plan) -> dict[str, Any]:
    (step,) = plan.steps
    return dict(step.write.body["spec"])


def test_a_schedule_gets_a_cron_job_with_pods_that_ask_for_room() -> None:
    plan = planned(schedule("nightly", "0 3 * * *"), minutes=20, pods=3, room={"cpu": "2", "memory": "4Gi"})
    (step,) = plan.steps
    meta = {"name": "warm-up-nightly", "namespace": "velero", "annotations": {WARMS_UP: "Schedule/nightly"}}
    assert (step.write.method, step.write.body["metadata"]) == ("POST", meta)
    spec = spec_of(plan)
    assert (spec["schedule"], spec["timeZone"]) == ("40 2 * * *", "Etc/UTC")
    job = spec["jobTemplate"]["spec"]
    assert (job["parallelism"], job["completions"], job["backoffLimit"]) == (3, 3, 0)
    (container,) = job["template"]["spec"]["containers"]
    assert container["resources"] == {"requests": {"cpu": "2", "memory": "4Gi"}}
    assert step.summary[0].endswith("is created: 3 pods that ask for 2 of cpu and 4Gi of memory each, and sleep")
    assert step.forecast == (
        "nodes are warmed up 20 minutes before each run of nightly, the first at 16 Nov 02:40Z for the run at "
        "16 Nov 03:00Z; its pods are gone by then"
    )


@pytest.mark.parametrize("minutes", [1, 2, 10, 11, 30, 10_080])
def test_its_pods_are_gone_before_the_run_and_soon_before_it(minutes: int) -> None:
    """They have the room that the run needs; a node without pods stays for some ten minutes."""
    job = spec_of(planned(schedule("nightly", "0 3 * * *"), minutes=minutes))["jobTemplate"]["spec"]
    _, seconds = job["template"]["spec"]["containers"][0]["command"]
    assert job["activeDeadlineSeconds"] == 60 * minutes
    assert 0 < int(seconds) < 60 * minutes
    assert 60 * minutes - int(seconds) <= 300


def test_its_pods_may_do_nothing() -> None:
    pod = spec_of(planned(schedule()))["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["containers"][0]["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }


@pytest.mark.parametrize(
    ("item", "times"),
    [
        (schedule(cron="0 3 * * *"), {"schedule": "50 2 * * *", "timeZone": "Etc/UTC"}),
        (
            schedule(cron="CRON_TZ=Asia/Tokyo 0 3 * * *"),
            {"schedule": "50 2 * * *", "timeZone": "Asia/Tokyo"},
        ),
        (cron_job(), {"schedule": "50 3 * * *"}),
        (cron_job(timeZone="Asia/Tokyo"), {"schedule": "50 3 * * *", "timeZone": "Asia/Tokyo"}),
        (cron_job(cron="TZ=Asia/Tokyo 0 4 * * *"), {"schedule": "50 3 * * *", "timeZone": "Asia/Tokyo"}),
    ],
)
def test_its_zone_is_that_of_what_it_is_for_and_stands_in_a_field(item: Any, times: dict[str, str]) -> None:
    """The API server refuses a zone within an expression."""
    spec = spec_of(planned(item))
    assert {name: spec[name] for name in ("schedule", "timeZone") if name in spec} == times
    parse(spec["schedule"], Dialect.ROBFIG)


def test_warm_ups_that_need_several_expressions_get_as_many_cron_jobs() -> None:
    plan = planned(schedule("quarterly", "0 0 1 * *"))
    names = [step.target.name for step in plan.steps]
    assert len(names) > 1
    assert names == ["warm-up-quarterly", *(f"warm-up-quarterly-{number}" for number in range(2, len(names) + 1))]
    assert len({step.write.body["spec"]["schedule"] for step in plan.steps}) == len(names)


def test_one_that_is_there_is_left_alone() -> None:
    there = from_builtins(
        CronJob, {"metadata": {"name": "warm-up-nightly", "namespace": "velero"}, "spec": {"schedule": "1 1 * * *"}}
    )
    plan = planned(schedule("nightly"), there)
    assert not plan.steps
    assert plan.refused[0].why == (
        "CronJob warm-up-nightly exists already (to make another, delete it with kubectl first)"
    )


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (schedule(cron="@every 1h"), "it counts from its last run"),
        (schedule(cron="0 0 31 2 *"), "it never fires"),
        (schedule(cron="61 * * * *"), "its expression is not valid"),
        (cron_job(cron="61 * * * *"), "its expression is not valid"),
        (schedule(cron="0 2 1 * 1", created="2026-11-10T00:00:00Z"), "Velero's release decides"),
    ],
)
def test_what_has_no_warm_ups_is_refused(item: Any, words: str) -> None:
    plan = planned(item)
    assert not plan.steps
    assert words in plan.refused[0].why


@pytest.mark.parametrize(
    "item", [schedule(paused=True), cron_job(suspend=True)], ids=["a paused schedule", "a suspended cron job"]
)
def test_what_is_paused_is_warmed_up_all_the_same_and_the_plan_says_so(item: Any) -> None:
    (step,) = planned(item).steps
    assert step.warnings == ("It is paused: the warm-ups are made all the same.",)


def test_a_warm_up_that_is_nearly_exact_says_how_far_off_it_is() -> None:
    (first, *_) = planned(schedule(cron="0/15 * 1 * *")).steps
    assert first.warnings[0].startswith("No set of cron expressions is exact here: 2 warm-ups too many")


def test_long_names_are_cut_and_stay_apart() -> None:
    names = [planned(schedule("n" * 60 + end)).steps[0].target.name for end in ("a", "b")]
    assert all(len(name) == 52 for name in names)
    assert names[0] != names[1]


@pytest.mark.parametrize(
    ("read", "text", "words"),
    [
        (read_minutes, "0", "give 1 to 10,080 minutes"),
        (read_minutes, "soon", "give 1 to 10,080 minutes"),
        (read_pods, "1001", "give 1 to 1,000 pods"),
        (read_room, "gpu=1", "'gpu=1' is not what a pod can ask for"),
        (read_room, "cpu=1,cpu=2", "'cpu=2' is not what a pod can ask for"),
        (read_room, "cpu=much", "'much' is not a quantity of cpu"),
        (read_room, "cpu=0", "'0' is not a quantity of cpu"),
        (read_image, "two words", "is not the name of an image"),
        (read_image, "i" * 301, "is not the name of an image"),
    ],
)
def test_bad_input_is_one_line(read: Any, text: str, words: str) -> None:
    with pytest.raises(BadInput) as refused:
        read(text)
    assert words in str(refused.value)


def test_nothing_typed_is_the_usual_warm_up() -> None:
    assert (read_minutes(" "), read_pods(""), read_image("")) == (10, 1, "busybox:1.37")
    assert read_room("") == {"cpu": "500m", "memory": "512Mi"}
    assert read_room(" cpu = 2 , memory=4Gi") == {"cpu": "2", "memory": "4Gi"}


def test_it_is_offered_for_what_has_an_expression() -> None:
    assert CREATE_WARM_UP.applies(schedule(), lambda: True) == ""
    assert CREATE_WARM_UP.applies(backup("copy"), lambda: True) == "it has no schedule"
