"""Plans that create or delete schedules, among them one for a namespace that has none: it takes its volumes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from foretop_core.actions import validation
from foretop_core.actions.action_record import (
    LATE,
    ActionRecord,
    AskedOf,
    ChoiceField,
    CommandLine,
    DialogSpec,
    TextField,
)
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import create_step, delete_step
from foretop_core.actions.velero_pickup import follow_new_schedule
from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.models import BackupSpec, Namespace, Resource, Schedule
from foretop_core.models.kinds import NAMESPACE, SCHEDULE, RequiredPermission
from foretop_core.models.velero import ScheduleMetadata, ScheduleSpec
from foretop_core.models.wire import ObjectRef, as_json
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects import ALL_DIALECTS, differences, readings
from foretop_core.rules.facts.schedule_facts import schedule_facts
from foretop_core.rules.forecast import Readings, what_continues
from foretop_core.rules.protection.coverage import namespace_filter
from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot

if TYPE_CHECKING:
    from foretop_core.rules.volumes.foretold import ForetoldVolumes

# Deferred imports: what volumes are foretold by is loaded with the first page that tells of them.

NEXT_RUNS = 5
DEFAULT_CRON = "30 1 * * *"
_LONGEST_COVERING = 63
_END = "-nightly"
WAYS = {
    "default": BackupSpec(),
    "files": BackupSpec(default_volumes_to_fs_backup=True),
    "moved": BackupSpec(snapshot_move_data=True),
}
"""How a template may say that volumes are taken; of two that take as many the earlier one."""
MOST = "most"
_MOST_TOLD = 3


class NewSchedule(msgspec.Struct, frozen=True):
    """A schedule as a person has described it; not yet checked."""

    namespace: str
    name: str
    cron: str
    template: BackupSpec = msgspec.field(default_factory=BackupSpec)
    paused: bool = False
    skip_immediately: bool | None = None
    own_backups: bool | None = None
    """`spec.useOwnerReferencesInBackup`."""
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)


def described_by(item: Schedule, namespace: str) -> NewSchedule:
    """The schedule that a manifest describes; the namespace counts where it names none."""
    return NewSchedule(
        item.namespace or namespace,
        item.name,
        item.spec.schedule,
        item.spec.template,
        item.spec.paused,
        item.spec.skip_immediately,
        item.spec.use_owner_references_in_backup,
        item.metadata.labels,
        item.metadata.own_annotations,
    )


def next_runs(parsed: CronSchedule, now: datetime, count: int = NEXT_RUNS) -> list[datetime]:
    """The runs to show beside an expression."""

    def runs() -> Iterable[datetime]:
        run = parsed.next(now.astimezone(UTC))
        while run is not None:
            yield run
            run = parsed.next(run)

    return list(islice(runs(), count))


def check_schedule(request: NewSchedule, dialects: tuple[Dialect, ...] = ALL_DIALECTS) -> Readings:
    """How servers of these dialects read its expression; nothing is asked of a cluster.

    What cannot be is BadInput, in one line, with the place of the error: an expression that all of them refuse is.
    """
    validation.name(request.name, "schedule")
    read = check_expression(request.cron, dialects)
    template = request.template
    for text, what in (
        (template.ttl, "The TTL"),
        (template.item_operation_timeout, "The item operation timeout"),
        (template.csi_snapshot_timeout, "The CSI snapshot timeout"),
    ):
        if text:
            validation.go_duration(text, what)
    validation.namespaces((*template.included_namespaces, *template.excluded_namespaces))
    return read


def check_expression(text: str, dialects: tuple[Dialect, ...]) -> Readings:
    """How servers of these dialects read it; BadInput where all of them refuse it."""
    read = readings(text, dialects)
    if all(isinstance(reading.parsed, CronError) for reading in read):
        validation.cron(text, dialects[-1])
    return read


def plan_create_schedules(snapshot: ClusterSnapshot, requests: Iterable[NewSchedule], now: datetime) -> Plan:
    """One new Schedule for each request; a name that is taken is refused."""
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for request in requests:
        read = check_schedule(request, snapshot.verdict(request.namespace).candidates)
        where = ObjectRef(snapshot.context, SCHEDULE.name, request.namespace, request.name)
        if any((item.namespace, item.name) == (request.namespace, request.name) for item in snapshot.schedules):
            refused.append(Refusal(where, "a schedule with that name already exists"))
        else:
            steps.append(_create_step(snapshot, where, request, read, now))
    return Plan(CREATE_SCHEDULE, now, tuple(steps), tuple(refused))


def plan_delete_schedule(snapshot: ClusterSnapshot, schedules: Iterable[Schedule], now: datetime) -> Plan:
    return Plan(DELETE_SCHEDULE, now, tuple(_delete_step(snapshot, schedule, now) for schedule in schedules))


def _create_step(
    snapshot: ClusterSnapshot, where: ObjectRef, request: NewSchedule, read: Readings, now: datetime
) -> PlanStep:
    spec: dict[str, Any] = {"schedule": request.cron, "template": as_json(request.template)}
    if request.paused:
        spec["paused"] = True
    if request.skip_immediately is not None:
        spec["skipImmediately"] = request.skip_immediately
    if request.own_backups is not None:
        spec["useOwnerReferencesInBackup"] = request.own_backups
    means, *others = meaning(read, now)
    changes = (f"{where} is created: {request.cron}, {means}", *others)
    meta = {"labels": dict(request.labels), "annotations": dict(request.annotations)}
    forecasts = [(reading.releases, _forecast(snapshot, request, reading.parsed, now)) for reading in read]
    forecast = forecasts[0][1] if len(read) == 1 else "; ".join(f"on {where}: {what}" for where, what in forecasts)
    return create_step(where, spec, changes, forecast, warnings=doubts(snapshot, request, read), meta=meta)


def meaning(read: Readings, now: datetime) -> tuple[str, ...]:
    """Tells what an expression means and when it runs next, for each reading that is possible."""
    if len(read) == 1:
        return read[0].meaning, f"next runs {_listed_runs(read[0].parsed, now)}"
    return tuple(
        f"on {reading.releases}: {reading.meaning}; next runs {_listed_runs(reading.parsed, now)}" for reading in read
    )


def _listed_runs(parsed: CronSchedule | CronError, now: datetime) -> str:
    runs = [] if isinstance(parsed, CronError) else next_runs(parsed, now)
    return ", ".join(humanize.time(run, now) for run in runs) or "none"


def _forecast(snapshot: ClusterSnapshot, request: NewSchedule, parsed: CronSchedule | CronError, now: datetime) -> str:
    """A new schedule's base is its creation, so nothing is due before its first run."""
    if isinstance(parsed, CronError):
        return f"no backup: Velero refuses the schedule ({parsed})"
    if request.paused:
        return "no backup until it is unpaused"
    runs = next_runs(parsed, now)
    if not runs:
        return "a backup at once, then one almost every minute: the expression never fires, so it is always due"
    beat = snapshot.heartbeat(request.namespace)
    if obstacle := schedule_facts(snapshot, _as_schedule(request), now).obstacle:
        return f"first backup due {humanize.time(runs[0], now)}, {render(obstacle, now)}"
    start, due = beat.first_look(runs[0]), humanize.time(runs[0], now)
    start_text = humanize.time(start, now) if start else ""
    starts = "" if start_text == due else f", created {start_text or 'within a minute'}"
    return f"first backup {due}{starts}, in {humanize.duration((start or runs[0]) - now)}"


def _as_schedule(request: NewSchedule) -> Schedule:
    meta = ScheduleMetadata(name=request.name, namespace=request.namespace)
    return Schedule(metadata=meta, spec=ScheduleSpec(schedule=request.cron, template=request.template))


def doubts(snapshot: ClusterSnapshot, request: NewSchedule, read: Readings) -> tuple[str, ...]:
    """Doubts about what the API server accepts and a person may not have meant."""
    texts = []
    location = request.template.storage_location
    locations = [item.name for item in snapshot.storage if item.namespace == request.namespace]
    if location and locations and location not in locations:
        texts.append(
            f"Storage location {location} does not exist in {request.namespace}; it has {humanize.join(locations)}."
        )
    if doubt := differences(request.cron, snapshot.verdict(request.namespace).candidates):
        texts.append(doubt)
    if any(isinstance(reading.parsed, CronSchedule) and reading.parsed.every is not None for reading in read):
        texts.append("@every counts from the actual last run, so it drifts.")
    return tuple(texts)


def _delete_step(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime) -> PlanStep:
    runs = snapshot.labelled_runs(schedule)
    owned = [run for run in runs if any(owner.uid == schedule.metadata.uid for owner in run.metadata.owner_references)]
    warnings: tuple[str, ...] = ()
    if owned:
        names = humanize.join([run.name for run in owned])
        warnings = (
            f"Its {humanize.count(len(owned), 'Backup object')} {'is' if len(owned) == 1 else 'are'} deleted with it "
            f"(useOwnerReferencesInBackup: {names}); the data in storage stays, and the sync recreates those it finds "
            "there.",
        )
    stay = len(runs) - len(owned)
    staying = humanize.count(stay, "other backup" if owned else "backup")
    kept = f"; its {staying} {'stays' if stay == 1 else 'stay'}" if stay else ""
    running = [run for run in runs if run.status.completion_timestamp is None and run.phase == "InProgress"]
    beat = snapshot.heartbeat(schedule.namespace)
    goes_on = f"; {render(what_continues(running, now, beat), now)}" if running else ""
    forecast = f"no further backup of {schedule.name}{kept}{goes_on}"
    return delete_step(snapshot.ref(schedule), schedule, as_json(schedule.spec), forecast, warnings)


# A schedule for a namespace that has none


def read_cron(text: str) -> str:
    """Reads no further than whether there is one: how it is read depends on the server."""
    return text.strip() or DEFAULT_CRON


def plan_cover(
    snapshot: ClusterSnapshot,
    namespaces: Iterable[Namespace],
    now: datetime,
    cron: str = DEFAULT_CRON,
    volumes: str = MOST,
) -> Plan:
    """A Schedule for each namespace; `volumes` is a way, or `most` for the one that leaves out the fewest."""
    from foretop_core.rules.facts.volume_facts import described

    plan = Plan(COVER_NAMESPACE, now, ())
    for namespace in namespaces:
        validation.namespaces((namespace.name,))
        server = next(iter(snapshot.velero_namespaces), "velero")
        name = _free_name(snapshot, server, namespace.name)
        spec = WAYS.get(volumes) or takes_most(snapshot, server, namespace.name)
        template = replace(spec, included_namespaces=(namespace.name,))
        made = plan_create_schedules(snapshot, [NewSchedule(server, name, cron, template)], now)
        told = snapshot.next_volumes(described(server, name, template), namespace.name)
        covered = _covered_by(snapshot, namespace.name)
        steps = tuple(_with_volumes(step, told, covered) for step in made.steps)
        plan = replace(plan, steps=(*plan.steps, *steps), refused=(*plan.refused, *made.refused))
    return plan


def takes_most(snapshot: ClusterSnapshot, server: str, namespace: str) -> BackupSpec:
    """The template that leaves out the fewest of its volumes, and of the fewest it is not known."""

    from foretop_core.rules.facts.volume_facts import described

    def lacks(way: BackupSpec) -> tuple[int, int]:
        template = replace(way, included_namespaces=(namespace,))
        found = snapshot.next_volumes(described(server, f"{namespace}{_END}", template), namespace)
        return len(found.left_out), len(found.open)

    return min(WAYS.values(), key=lacks)


def _with_volumes(step: PlanStep, told: ForetoldVolumes, covered: tuple[str, ...]) -> PlanStep:
    """The same with what becomes of its volumes, and who takes it already."""
    lacks = [f"It leaves out {one.name}: {one.why}." for one in told.left_out[:_MOST_TOLD]]
    more = len(told.left_out) - _MOST_TOLD
    lacks += [f"It leaves out {humanize.count(more, 'more volume')}."] if more > 0 else []
    if told.open:
        names = [one.name for one in told.open]
        lacks.append(f"It may take {humanize.join(names, _MOST_TOLD)}: {told.open[0].why}.")
    if told.unknown:
        lacks.append(f"Whether it takes its volumes is not known: {told.unknown}.")
    if covered:
        lacks.append(f"{humanize.join(covered)} {'takes' if len(covered) == 1 else 'take'} it already.")
    takes = f"; it takes {humanize.count(len(told.taken), 'volume')} of it" if told.taken else ""
    return replace(step, forecast=f"{step.forecast}{takes}", warnings=(*step.warnings, *lacks))


def _covered_by(snapshot: ClusterSnapshot, namespace: str) -> tuple[str, ...]:
    return tuple(
        schedule.name
        for schedule in snapshot.schedules
        if not schedule.spec.paused and namespace_filter(schedule.spec.template).takes(namespace)
    )


def _free_name(snapshot: ClusterSnapshot, server: str, namespace: str) -> str:
    """`shop-nightly`, or with a number where that is taken."""
    taken = {schedule.name for schedule in snapshot.schedules if schedule.namespace == server}
    ends = (f"{_END}{f'-{number}' if number > 1 else ''}" for number in range(1, len(taken) + 2))
    names = (f"{namespace[: _LONGEST_COVERING - len(end)]}{end}" for end in ends)
    return next(name for name in names if name not in taken)


def _stays(item: Resource, _moves: Callable[[], bool]) -> str:
    return "it is being deleted" if item.metadata.deletion_timestamp is not None else ""


CREATE_SCHEDULE = ActionRecord(
    130,
    "create-schedule",
    "Create a schedule",
    "a",
    (SCHEDULE,),
    (RequiredPermission("create", SCHEDULE),),
    plan_create_schedules,
    asked_of=AskedOf.NEW,
    page="schedules",
    short="create",
    footer=LATE,
    words=("new", "add"),
    dialog=DialogSpec("Create a schedule", "Create the schedule", another_choice_helps=True),
    follow=follow_new_schedule,
    commands=(
        CommandLine(
            "schedule create", "foretop schedule create nightly --schedule '0 1 * * *' --include-namespaces shop"
        ),
    ),
    purpose="create schedules",
)
DELETE_SCHEDULE = ActionRecord(
    150,
    "delete-schedule",
    "Delete the schedule",
    "ctrl+d",
    (SCHEDULE,),
    (RequiredPermission("delete", SCHEDULE),),
    plan_delete_schedule,
    dangerous=True,
    many=True,
    short="delete",
    footer=LATE,
    dialog=DialogSpec("Delete schedule {}", "Delete", ("Delete schedule {}", "Delete {}")),
    commands=(
        CommandLine(
            "schedule delete",
            "foretop schedule delete nightly",
            "Delete schedules; their backups stay, unless they are owned by the schedule.",
        ),
    ),
    purpose="delete schedules",
)
COVER_NAMESPACE = ActionRecord(
    135,
    "cover-namespace",
    "Create a schedule for it",
    "a",
    (NAMESPACE,),
    (RequiredPermission("create", SCHEDULE),),
    plan_cover,
    applies=_stays,
    short="schedule",
    footer=LATE,
    words=("protect", "cover"),
    hint="create a schedule for {}",
    dialog=DialogSpec(
        "Create a schedule for {}",
        "Create",
        fields=(
            TextField("cron", "Cron", "0 3 * * 1-5", read_cron, default=DEFAULT_CRON),
            ChoiceField(
                "volumes",
                "Volumes",
                (
                    ("as takes most of them", MOST),
                    ("Velero's default", "default"),
                    ("file copies", "files"),
                    ("snapshots, moved to storage", "moved"),
                ),
            ),
        ),
    ),
    follow=follow_new_schedule,
    commands=(CommandLine("schedule cover", "foretop schedule cover shop --schedule '0 3 * * *'"),),
)
