"""`foretop schedule`: pause, unpause, create, edit and delete."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands import argument_values
from foretop.commands.backup_spec_options import template_from, template_options
from foretop.commands.connection import connection_options
from foretop.commands.object_selection import ObjectSelection, choosing_options, pairs, velero_namespace
from foretop.commands.output import say_to
from foretop.commands.schedule_edit import KINDS, edit
from foretop.commands.write_command import (
    DONE,
    WriteOptions,
    acting_options,
    open_session,
    run_action,
    run_async,
    verb_of,
    wait_option,
    wants_to_wait,
)
from foretop_core.actions import action_catalog, velero_pickup
from foretop_core.actions.pausing import PauseRequest, follow_unpause, of_batch, plan_pause, plan_unpause, read_end
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.schedules import (
    NewSchedule,
    check_schedule,
    described_by,
    plan_create_schedules,
    plan_delete_schedule,
)
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import Schedule
from foretop_core.models.kinds import SCHEDULE
from foretop_core.rules.facts.schedule_facts import Choice
from foretop_core.rules.snapshot import ClusterSnapshot

_TRUTH = click.Choice(["true", "false"], case_sensitive=False)


@click.group("schedule")
def command() -> None:
    """Pause, unpause, create, edit and delete schedules.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, action_catalog.PAUSE)
@choosing_options
@click.option("--reason", default="", help="Reason, shown to the next shift.")
@click.option(
    "--until", metavar="TIME", help="Planned end: 04:30 (UTC), 2h or RFC 3339. A reminder: nothing resumes by itself."
)
@click.option("--batch", metavar="ID", help="Name of this window; unpause --batch ID resumes exactly its schedules.")
@connection_options
@acting_options
def pause(
    selection: ObjectSelection,
    reason: str,
    until: str | None,
    batch: str | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Make no further backups of some schedules; what is running goes on."""
    return run_async(_pause(session_options, write_options, selection, reason, until or "", batch or ""))


async def _pause(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
    reason: str,
    until: str,
    batch: str,
) -> int:
    async with open_session(session_options, KINDS) as at:
        items = selection.of(at.snapshot, SCHEDULE, at.snapshot.schedules)
        end = read_end(until, at.now) if until else None
        wanted = items if selection.names else tuple(item for item in items if not item.spec.paused)
        if not wanted:
            say_to(f"Nothing to do: all {len(items)} are already paused.", err=True)
            return DONE
        window = batch or f"{at.now:%Y%m%d%H%M%S}-{secrets.token_hex(2)}"
        request = PauseRequest(await at.introduce(), window, reason, end)
        code = await run_action(
            at, lambda snapshot, some, now: plan_pause(snapshot, some, request, now), wanted, write_options
        )
        if code == DONE and not write_options.dry_run:
            say_to(f"To resume exactly these: foretop schedule unpause --batch {window}", err=True)
        return code


@verb_of(command, action_catalog.UNPAUSE)
@choosing_options
@click.option("--batch", metavar="ID", help="Exactly the schedules that this window paused.")
@click.option(
    "--skip-immediately",
    "skip",
    type=_TRUTH,
    metavar="true|false",
    help="Skip due runs (true) or run one at once (false); by default the schedule and the server decide.",
)
@wait_option
@connection_options
@acting_options
def unpause(
    selection: ObjectSelection,
    batch: str | None,
    skip: str | None,
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Let schedules run again, with or without the backup that is overdue."""
    choice = Choice.LEAVE if skip is None else Choice.SKIP if skip == "true" else Choice.DO_NOT_SKIP
    return run_async(_unpause(session_options, write_options, selection, batch, choice, wants_to_wait(wait)))


async def _unpause(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
    batch: str | None,
    choice: Choice,
    wait: bool,
) -> int:
    async with open_session(session_options, KINDS) as at:
        if batch is not None:
            selection.of(at.snapshot, SCHEDULE, at.snapshot.schedules, more=True)
            items: tuple[Schedule, ...] = tuple(of_batch(at.snapshot.schedules, batch))
            if not items:
                raise BadInput(f"Window {batch} has no paused schedule", "", "run foretop journal")
        else:
            items = selection.of(at.snapshot, SCHEDULE, at.snapshot.schedules)
        wanted = items if selection.names else tuple(item for item in items if item.spec.paused)
        if not wanted:
            say_to(f"Nothing to do: none of the {len(items)} is paused.", err=True)
            return DONE

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_unpause(snapshot, some, choice, now)

        # As they are before anything is sent: what was there already does not count.
        before, since = at.snapshot, at.now
        items_by_name = {(item.namespace, item.name): item for item in wanted}

        def follow(step: PlanStep) -> velero_pickup.Probe:
            item = items_by_name[step.target.namespace, step.target.name]
            return follow_unpause(before, item, step, since)

        return await run_action(at, planner, wanted, write_options, probe=follow if wait else None)


@verb_of(command, action_catalog.CREATE_SCHEDULE)
@click.argument("name", required=False)
@click.option("--schedule", "cron", metavar="CRON", help="When to run: a cron expression.")
@click.option("-f", "--file", "source", metavar="FILE", help="Read the schedules from a manifest instead.")
@click.option("--paused", is_flag=True, help="Create it paused.")
@click.option("--skip-immediately", "skip", type=_TRUTH, metavar="true|false", help="Written only if given.")
@click.option("--use-owner-references-in-backup", "owns", is_flag=True, help="Delete its backups with it.")
@click.option("--labels", multiple=True, metavar="KEY=VALUE", help="Labels of the schedule.")
@click.option("--annotations", multiple=True, metavar="KEY=VALUE", help="Annotations of the schedule.")
@template_options
@wait_option
@connection_options
@acting_options
def create(
    name: str | None,
    source: str | None,
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
    **given: Any,
) -> int:
    """Make a schedule: NAME --schedule CRON, or -f FILE."""
    if (source is None) is (name is None):
        raise click.UsageError("give NAME and --schedule, or -f FILE")
    if name is not None and not given["cron"]:
        raise click.UsageError("--schedule is missing: give a cron expression")
    wanted: list[NewSchedule] = []
    if source is not None:
        read = argument_values.objects(source)
        wanted = [described_by(item, "") for item in read.of(SCHEDULE) if isinstance(item, Schedule)]
        if not wanted:
            raise BadInput(f"{source} contains no Schedule")
    else:
        wanted = [_from_flags(name or "", given)]
    for request in wanted:
        check_schedule(request)
    return run_async(_create(session_options, write_options, wanted, wants_to_wait(wait)))


def _from_flags(name: str, given: dict[str, Any]) -> NewSchedule:
    return NewSchedule(
        "",
        name,
        given["cron"],
        template_from(given),
        given["paused"],
        None if given["skip"] is None else given["skip"] == "true",
        True if given["owns"] else None,
        pairs(given["labels"], "--labels"),
        pairs(given["annotations"], "--annotations"),
    )


async def _create(
    session_options: SessionOptions, write_options: WriteOptions, wanted: list[NewSchedule], wait: bool
) -> int:
    async with open_session(session_options, KINDS) as at:
        placed = [
            replace(request, namespace=request.namespace or velero_namespace(at.snapshot, at.namespaces))
            for request in wanted
        ]

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_create_schedules(snapshot, some, now)

        def probe(step: PlanStep) -> velero_pickup.Probe:
            return velero_pickup.schedule_probe(step.target.namespace, step.target.name)

        return await run_action(at, planner, placed, write_options, probe=probe if wait else None)


verb_of(command, action_catalog.EDIT_SCHEDULE)(edit)


@verb_of(command, action_catalog.DELETE_SCHEDULE)
@choosing_options
@connection_options
@acting_options
def delete(
    selection: ObjectSelection,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Delete schedules; their backups stay, unless they are owned by the schedule."""
    return run_async(_delete(session_options, write_options, selection))


async def _delete(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
) -> int:
    async with open_session(session_options, KINDS) as at:
        items = selection.of(at.snapshot, SCHEDULE, at.snapshot.schedules)
        return await run_action(at, plan_delete_schedule, items, write_options)
