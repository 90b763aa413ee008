"""Warm-ups: of a PreScaledCronJob the schedule, of a Schedule and a plain CronJob a CronJob of their own.

A PreScaledCronJob has its prescaler, which makes the CronJob from spec.primerSchedule; that is written where the
prescaler gets it wrong or refuses it. A Schedule and a plain CronJob have nobody: pods ask for room some minutes before
each run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TypeAlias

import msgspec

from foretop_core.actions import validation
from foretop_core.actions.action_record import LATE, ActionRecord, CommandLine, DialogSpec, TextField
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import create_step, patch_step
from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.errors import BadInput
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule
from foretop_core.models.builtin_kinds import MOST_WARM_UP_MINUTES
from foretop_core.models.kinds import CRON_JOB, PRESCALED, SCHEDULE, RequiredPermission
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.primer.priming import Primed, PrimerError, prime, warmups
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.snapshot import ClusterSnapshot

# Deferred imports: quantities are read where somebody has typed one.

WARMS_UP = "foretop.io/warms-up"
"""The annotation of a warm-up CronJob that names what it is for."""
_PREFIX = "warm-up-"
_LONGEST_NAME = 52
"""Kubernetes adds eleven signs to the name of a CronJob for each of its jobs."""
_MOST_PODS, _LONGEST_IMAGE = 1_000, 300
_NOBODY = 65_534
_UTC = "Etc/UTC"
"""Velero's zone in its stock image; a CronJob without a zone of its own runs in that of the controller manager."""
_HOW_MUCH = "write it as cpu=2,memory=4Gi"

Primable: TypeAlias = Schedule | CronJob


class WarmUp(msgspec.Struct, frozen=True):
    """The pods that warm nodes up, and how long before a run."""

    minutes: int = 10
    pods: int = 1
    room: Mapping[str, str] = msgspec.field(default_factory=lambda: {"cpu": "500m", "memory": "512Mi"})
    """What each pod asks for."""
    image: str = "busybox:1.37"
    """One that has the program `sleep`."""

    @property
    def seconds(self) -> int:
        """How long a pod sleeps: it has gone before the run, which needs its room, and the nodes have not yet.

        Some minutes are left for the nodes to come up, half of a short warm-up.
        """
        return 60 * (self.minutes - 5) if self.minutes > 10 else 30 * self.minutes


_DEFAULT = WarmUp()
_DEFAULT_ROOM = ",".join("=".join(part) for part in _DEFAULT.room.items())


def read_minutes(text: str) -> int:
    return _number(text, "The warm-up", _DEFAULT.minutes, MOST_WARM_UP_MINUTES, "minutes")


def read_pods(text: str) -> int:
    return _number(text, "The number of pods", _DEFAULT.pods, _MOST_PODS, "pods")


def _number(text: str, what: str, default: int, most: int, unit: str) -> int:
    text = text.strip()
    if not text:
        return default
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
    if not 1 <= number <= most:
        raise BadInput(f"{what} {text!r} is not valid", "", f"give 1 to {most:,} {unit}")
    return number


def read_room(text: str) -> Mapping[str, str]:
    """Reads `cpu=2,memory=4Gi`, which each pod asks for."""
    if not text.strip():
        return _DEFAULT.room
    from foretop_core.rules.volumes.quantities import read_quantity

    room: dict[str, str] = {}
    for part in text.split(","):
        name, _, amount = (word.strip() for word in part.partition("="))
        if name not in ("cpu", "memory", "ephemeral-storage") or name in room:
            raise BadInput(f"{part.strip()!r} is not what a pod can ask for", "", _HOW_MUCH)
        quantity = read_quantity(amount)
        if quantity is None or quantity <= 0:
            raise BadInput(f"{amount!r} is not a quantity of {name}", "", _HOW_MUCH)
        room[name] = amount
    return room


def read_image(text: str) -> str:
    text = text.strip() or _DEFAULT.image
    if len(text) > _LONGEST_IMAGE or not text.isascii() or not text.isprintable() or " " in text:
        raise BadInput(f"{text!r} is not the name of an image", "", "write it as registry/name:tag")
    return text


def plan_warm_up(
    snapshot: ClusterSnapshot,
    items: Iterable[Primable],
    now: datetime,
    minutes: int = _DEFAULT.minutes,
    pods: int = _DEFAULT.pods,
    room: Mapping[str, str] = _DEFAULT.room,
    image: str = _DEFAULT.image,
) -> Plan:
    """A CronJob for each expression that its warm-ups need."""
    wanted = WarmUp(minutes, pods, room, image)
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for item in items:
        try:
            steps += _steps(snapshot, item, wanted, now)
        except (BadInput, PrimerError) as problem:
            refused.append(Refusal(snapshot.ref(item), str(problem)))
    return Plan(CREATE_WARM_UP, now, tuple(steps), tuple(refused))


def _steps(snapshot: ClusterSnapshot, item: Primable, wanted: WarmUp, now: datetime) -> list[PlanStep]:
    text, dialect, parsed = _expression_of(snapshot, item)
    primed = prime(text, wanted.minutes, dialect)
    pairs = warmups(text, wanted.minutes, dialect, now, 1)
    if not pairs:
        raise BadInput("it has no run to come")
    first = f"the first at {humanize.time(pairs[0].warmup, now)} for the run at {humanize.time(pairs[0].run, now)}"
    # A CronJob takes its zone from a field: in the expression the API server refuses it.
    zone = str(parsed.zone) if parsed.zone is not None else _UTC if isinstance(item, Schedule) else ""
    there = {job.name for job in snapshot.cron_jobs if job.namespace == item.namespace}
    steps = []
    for number, cron in enumerate(primed.expressions, 1):
        where = ObjectRef(snapshot.context, CRON_JOB.name, item.namespace, _name(item.name, number))
        if where.name in there:
            raise BadInput(f"CronJob {where.name} exists already", "", "to make another, delete it with kubectl first")
        times = {"schedule": cron.partition(" ")[2] if parsed.zone is not None else cron, "timeZone": zone}
        steps.append(_create(where, item, times, wanted, first, _doubts(item, primed)))
    return steps


def _expression_of(snapshot: ClusterSnapshot, item: Primable) -> tuple[str, Dialect, CronSchedule]:
    """Its expression with its zone, as its server reads it; BadInput where nobody can tell, or none is valid."""
    if isinstance(item, Schedule):
        readings = snapshot.readings(item)
        if len(readings) > 1:
            raise BadInput("Velero's release decides how its expression is read, and it is not known")
        text, dialect, parsed = item.spec.schedule, readings[-1].dialect, readings[-1].parsed
    else:
        text, dialect = item.spec.expression, Dialect.ROBFIG
        parsed = expression(text, dialect)
    if isinstance(parsed, CronError):
        raise BadInput("its expression is not valid", str(parsed))
    return text, dialect, parsed


def _name(name: str, number: int) -> str:
    """The name of its CronJob. The end of a long one gives way to a sum of all of it, which keeps two names apart."""
    suffix = f"-{number}" if number > 1 else ""
    room = _LONGEST_NAME - len(_PREFIX) - len(suffix)
    short = name if len(name) <= room else f"{name[: room - 9].rstrip('-.')}-{zlib.crc32(name.encode()):08x}"
    return f"{_PREFIX}{short}{suffix}"


def _create(
    where: ObjectRef,
    item: Primable,
    times: dict[str, str],
    wanted: WarmUp,
    first: str,
    warnings: tuple[str, ...],
) -> PlanStep:
    validation.name(where.name, "CronJob")
    times = {name: value for name, value in times.items() if value}
    container = {
        "name": "warm-up",
        "image": wanted.image,
        "command": ["sleep", str(wanted.seconds)],
        "resources": {"requests": dict(wanted.room)},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    pod = {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _NOBODY,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    ahead = 60 * wanted.minutes
    job = {
        "parallelism": wanted.pods,
        "completions": wanted.pods,
        "backoffLimit": 0,
        "activeDeadlineSeconds": ahead,
        "template": {"spec": pod},
    }
    spec = {
        **times,
        "startingDeadlineSeconds": ahead,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"spec": job},
    }
    pods = humanize.count(wanted.pods, "pod")
    asks = "asks" if wanted.pods == 1 else "ask"
    room = " and ".join(f"{amount} of {name}" for name, amount in wanted.room.items())
    each = "" if wanted.pods == 1 else " each"
    summary = (f"{where} is created: {pods} that {asks} for {room}{each}, and sleep",)
    gone = humanize.count(wanted.minutes, "minute")
    forecast = f"nodes are warmed up {gone} before each run of {item.name}, {first}; its pods are gone by then"
    kind = SCHEDULE if isinstance(item, Schedule) else CRON_JOB
    meta = {"annotations": {WARMS_UP: f"{kind.name}/{item.name}"}}
    return create_step(where, spec, summary, forecast, warnings=warnings, meta=meta)


def _doubts(item: Primable, primed: Primed) -> tuple[str, ...]:
    doubts = [f"{primed.note[:1].upper()}{primed.note[1:]}."] if primed.note else []
    if item.spec.paused if isinstance(item, Schedule) else item.spec.suspend:
        doubts.append("It is paused: the warm-ups are made all the same.")
    return tuple(doubts)


def _has_expression(item: Resource, _moves: Callable[[], bool]) -> str:
    text = item.spec.schedule if isinstance(item, Schedule | CronJob) else ""
    return "" if text else "it has no schedule"


CREATE_WARM_UP = ActionRecord(
    262,
    "create-warm-up",
    "Create a warm-up CronJob",
    "P",
    (SCHEDULE, CRON_JOB),
    (RequiredPermission("create", CRON_JOB),),
    plan_warm_up,
    applies=_has_expression,
    short="warm-up",
    footer=LATE,
    words=("primer", "warm-up", "cronjob", "nodes"),
    # Whoever may make pods beside Velero may use Velero's account, which may do everything.
    for_administrators=True,
    dialog=DialogSpec(
        "Warm the nodes up before {}",
        "Create",
        ("Create a warm-up CronJob for {}", "Create warm-up CronJobs for {}"),
        fields=(
            TextField("minutes", "Minutes ahead", "20", read_minutes, str(_DEFAULT.minutes)),
            TextField("pods", "Pods", "3", read_pods, str(_DEFAULT.pods)),
            TextField("room", "Each asks for", "cpu=2,memory=4Gi", read_room, _DEFAULT_ROOM),
            TextField("image", "Image", "one with the program sleep", read_image, _DEFAULT.image),
        ),
    ),
    commands=(CommandLine("prescaled create", "foretop prescaled create schedule/nightly --warmup 15 --pods 3"),),
    purpose="create warm-up CronJobs",
)


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
