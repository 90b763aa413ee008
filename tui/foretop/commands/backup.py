"""`foretop backup`: make one now or again, delete one with its data, cancel its movements, read its log and results."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands.argument_values import moment
from foretop.commands.connection import connection_options
from foretop.commands.log_output import LogOptions, log_options, show_log
from foretop.commands.object_selection import ObjectSelection, choosing_options, pairs, select_one
from foretop.commands.results_output import add_results
from foretop.commands.write_command import (
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
from foretop_core.actions.backups import (
    plan_back_up_now,
    plan_cancel_movements,
    plan_delete_backup,
    plan_run_again,
    replan_cancel,
)
from foretop_core.actions.lifetimes import NewLifetime, plan_extend
from foretop_core.actions.movements_and_events import movements_of
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.validation import days_in_hours, go_duration
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, DEPLOYMENT, RESTORE, SCHEDULE, STORAGE
from foretop_core.rules.snapshot import ClusterSnapshot

KINDS = (SCHEDULE, BACKUP, RESTORE, DELETE_REQUEST, STORAGE, DEPLOYMENT)


@click.group("backup")
def command() -> None:
    """Create, extend, delete and cancel backups, and read their logs and results.

    Exit code: 0 done, 1 some failed, 2 usage, 3 refused (read-only, rights, state), 4 the plan changed under way.
    """


@verb_of(command, action_catalog.BACK_UP_NOW)
@click.argument("name", required=False)
@click.option("--from-schedule", metavar="SCHEDULE", help="Back up now with the template of this schedule.")
@click.option("--same-as", metavar="BACKUP", help="Run a finished backup again with the same spec.")
@click.option("--labels", multiple=True, metavar="KEY=VALUE", help="Additional labels for the backup.")
@wait_option
@connection_options
@acting_options
def create(
    name: str | None,
    from_schedule: str | None,
    same_as: str | None,
    labels: tuple[str, ...],
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Back up now: --from-schedule SCHEDULE, or --same-as BACKUP."""
    if (from_schedule is None) is (same_as is None):
        raise click.UsageError("give --from-schedule or --same-as")
    if same_as is not None and (name or labels):
        raise click.UsageError("--same-as takes name and labels from the backup")
    return run_async(
        _create(
            session_options,
            write_options,
            name or "",
            from_schedule,
            same_as,
            pairs(labels, "--labels"),
            wants_to_wait(wait),
        )
    )


async def _create(
    session_options: SessionOptions,
    write_options: WriteOptions,
    name: str,
    from_schedule: str | None,
    same_as: str | None,
    labels: dict[str, str],
    wait: bool,
) -> int:
    def probe(step: PlanStep) -> velero_pickup.Probe:
        return velero_pickup.run_probe(Backup, step.target.namespace, step.target.name, to_the_end=True)

    def from_it(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
        return plan_back_up_now(snapshot, some, now, name, labels)

    async with open_session(session_options, KINDS) as at:
        follows = probe if wait else None
        if from_schedule is not None:
            schedule = select_one(at.snapshot, SCHEDULE, at.snapshot.schedules, from_schedule)
            return await run_action(at, from_it, [schedule], write_options, probe=follows, to_the_end=True)
        backup = select_one(at.snapshot, BACKUP, at.snapshot.backups, same_as or "")
        return await run_action(at, plan_run_again, [backup], write_options, probe=follows, to_the_end=True)


@verb_of(command, action_catalog.DELETE_BACKUP)
@choosing_options
@wait_option
@connection_options
@acting_options
def delete(
    selection: ObjectSelection,
    wait: bool | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Delete backups with their data, by a DeleteBackupRequest each; --wait shows its errors."""
    return run_async(_delete(session_options, write_options, selection, wants_to_wait(wait)))


async def _delete(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
    wait: bool,
) -> int:
    def probe(step: PlanStep) -> velero_pickup.Probe:
        return velero_pickup.deletion_probe(step.target.namespace, step.target.name)

    async with open_session(session_options, KINDS) as at:
        items = selection.of(at.snapshot, BACKUP, at.snapshot.backups)
        return await run_action(at, plan_delete_backup, items, write_options, probe=probe if wait else None)


@verb_of(command, action_catalog.CANCEL_MOVEMENTS)
@click.argument("name")
@connection_options
@acting_options
def cancel(name: str, session_options: SessionOptions, write_options: WriteOptions) -> int:
    """Cancel the data movements of a running backup."""
    return run_async(_cancel(session_options, write_options, name))


async def _cancel(session_options: SessionOptions, write_options: WriteOptions, name: str) -> int:
    async with open_session(session_options, KINDS) as at:
        backup = select_one(at.snapshot, BACKUP, at.snapshot.backups, name)
        moving = await movements_of(at.executor.client, backup)

        def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
            return plan_cancel_movements(replace(snapshot, movements=moving), some, now)

        return await run_action(at, planner, [backup], write_options, again=replan_cancel)


@verb_of(command, action_catalog.EXTEND_BACKUP)
@choosing_options
@click.option("--ttl", metavar="DURATION", help="How long it is kept from its start, such as 720h.")
@click.option("--until", metavar="TIME", help="Until when it is kept: a date, or a time in RFC 3339.")
@connection_options
@acting_options
def extend(
    selection: ObjectSelection,
    ttl: str | None,
    until: str | None,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Keep backups for longer: --ttl DURATION, or --until TIME."""
    if (ttl is None) is (until is None):
        raise click.UsageError("give --ttl or --until")
    wanted = (
        NewLifetime(until=moment(until)) if until else NewLifetime(ttl=go_duration(days_in_hours(ttl or ""), "--ttl"))
    )
    return run_async(_extend(session_options, write_options, selection, wanted))


async def _extend(
    session_options: SessionOptions,
    write_options: WriteOptions,
    selection: ObjectSelection,
    wanted: NewLifetime,
) -> int:
    def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
        return plan_extend(snapshot, some, wanted, now)

    async with open_session(session_options, KINDS) as at:
        items = selection.of(at.snapshot, BACKUP, at.snapshot.backups)
        return await run_action(at, planner, items, write_options)


@command.command("logs")
@click.argument("name")
@log_options
@connection_options
def logs(name: str, wanted: LogOptions, session_options: SessionOptions) -> int:
    """Print the log of a backup, or what Velero's own log has of it where the whole cannot be had."""
    return run_async(_logs(session_options, name, wanted))


async def _logs(session_options: SessionOptions, name: str, wanted: LogOptions) -> int:
    async with open_session(session_options, KINDS) as at:
        return await show_log(at, select_one(at.snapshot, BACKUP, at.snapshot.backups, name), wanted)


add_results(command, BACKUP, lambda snapshot: snapshot.backups, KINDS, "a backup, by namespace and resource")
