"""The warm-up schedule of a PreScaledCronJob, written where its prescaler gets it wrong or refuses it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from foretop_core.actions.action_record import LATE, ActionRecord, CommandLine, DialogSpec
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import patch_step
from foretop_core.cron import Dialect
from foretop_core.models import PreScaledCronJob, Resource
from foretop_core.models.kinds import PRESCALED, RequiredPermission
from foretop_core.rules import humanize
from foretop_core.rules.primer import PrimerError, prime
from foretop_core.rules.snapshot import ClusterSnapshot


def plan_prime(snapshot: ClusterSnapshot, items: Iterable[PreScaledCronJob], now: datetime) -> Plan:
    """Sets spec.primerSchedule, which the prescaler takes as it is; it has room for one expression."""
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for item in items:
        where = snapshot.ref(item)
        text, minutes, old = item.spec.cron_job.spec.schedule, item.spec.warm_up_time_mins, item.spec.primer_schedule
        try:
            primed = prime(text, minutes, Dialect.ROBFIG)
        except PrimerError as problem:
            refused.append(Refusal(where, f"{problem}: change spec.cronJob.spec.schedule"))
            continue
        if len(primed.expressions) > 1:
            parts = len(primed.expressions)
            why = f"its warm-ups need {parts} expressions, and spec.primerSchedule takes one: split it into {parts}"
            refused.append(Refusal(where, why))
        elif primed.expressions[0] == old:
            refused.append(Refusal(where, f"spec.primerSchedule is {old!r} already"))
        else:
            (new,) = primed.expressions
            patch, before = {"spec": {"primerSchedule": new}}, {"spec": {"primerSchedule": old or None}}
            ahead = humanize.count(minutes, "minute")
            forecast = f"the prescaler warms up at {new!r}, {ahead} before each run of {text!r}"
            steps.append(patch_step(where, item, patch, before, forecast, (primed.note,) if primed.note else ()))
    return Plan(PRIME, now, tuple(steps), tuple(refused))


def _is_scheduled(item: Resource, _moves: Callable[[], bool]) -> str:
    is_scheduled = isinstance(item, PreScaledCronJob) and item.spec.cron_job.spec.schedule
    return "" if is_scheduled else "it has no schedule"


PRIME = ActionRecord(
    261,
    "set-warm-up",
    "Set its warm-up schedule",
    "P",
    (PRESCALED,),
    (RequiredPermission("patch", PRESCALED),),
    plan_prime,
    many=True,
    applies=_is_scheduled,
    short="warm-up",
    footer=LATE,
    words=("primer", "warm-up", "primerSchedule"),
    hint="set the warm-up schedule of {}",
    dialog=DialogSpec(
        "Set the warm-up schedule of {}",
        "Set",
        ("Set the warm-up schedule of {}", "Set the warm-up schedules of {}"),
        "PreScaledCronJob",
    ),
    commands=(
        CommandLine(
            "prescaled prime",
            "foretop prescaled prime team-data/friday-close",
            "Set spec.primerSchedule, so that the nodes are warm before each run.",
        ),
    ),
    purpose="set the warm-up schedules of PreScaledCronJobs",
)
