"""`foretop backup`: make one now or again, delete one with its data, cancel its movements, read its log and results."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click
from msgspec.structs import replace

from foretop.commands.argument_values import moment
from foretop.commands.help_examples import CommandGroup, exit_codes_text
from foretop.commands.object_selection import ObjectSelection, choosing_options, pairs, select_one
from foretop.commands.write_command import (
    CommandSession,
    add_plain_verbs,
    add_verbs_of_rooms,
    verb_of,
    wait_option,
    writing,
)
from foretop_core.actions.planners.backups import (
    BACK_UP_NOW,
    CANCEL_MOVEMENTS,
    plan_back_up_now,
    plan_cancel,
    plan_run_again,
)
from foretop_core.actions.planners.lifetimes import EXTEND_BACKUP, NewLifetime, plan_extend
from foretop_core.actions.plans import Plan, chosen
from foretop_core.actions.unwatched_reads import movements_of
from foretop_core.actions.validation import days_in_hours, go_duration
from foretop_core.actions.velero_pickup import follow_backup_to_the_end
from foretop_core.models.kinds import BACKUP, DELETE_REQUEST, DEPLOYMENT, RESTORE, SCHEDULE, STORAGE
from foretop_core.rules.snapshot import ClusterSnapshot

KINDS = (SCHEDULE, BACKUP, RESTORE, DELETE_REQUEST, STORAGE, DEPLOYMENT)


@click.group("backup", cls=CommandGroup, epilog=exit_codes_text("backup"))
def command() -> None:
    """Create, extend, delete and cancel backups, and read their logs and results."""


def _one_source(
    name: str | None, from_schedule: str | None, same_as: str | None, labels: tuple[str, ...]
) -> dict[str, Any]:
    if (from_schedule is None) is (same_as is None):
        raise click.UsageError("give --from-schedule or --same-as")
    if same_as is not None and (name or labels):
        raise click.UsageError("--same-as takes name and labels from the backup")
    return {
        "name": name or "",
        "from_schedule": from_schedule,
        "same_as": same_as,
        "labels": pairs(labels, "--labels"),
    }


@verb_of(command, BACK_UP_NOW)
@click.argument("name", required=False)
@click.option("--from-schedule", metavar="SCHEDULE", help="Back up now with the template of this schedule.")
@click.option("--same-as", metavar="BACKUP", help="Run a finished backup again with the same spec.")
@click.option("--labels", multiple=True, metavar="KEY=VALUE", help="Additional labels for the backup.")
@wait_option
@writing(KINDS, _one_source)
async def create(
    at: CommandSession, name: str, from_schedule: str | None, same_as: str | None, labels: dict[str, str]
) -> int:
    """Back up now: --from-schedule SCHEDULE, or --same-as BACKUP."""
    if from_schedule is not None:
        schedule = select_one(at.snapshot, SCHEDULE, at.snapshot.schedules, from_schedule)
        planner = chosen(plan_back_up_now, name=name, labels=labels)
        return await at.run(planner, [schedule], follow=follow_backup_to_the_end, to_the_end=True)
    backup = select_one(at.snapshot, BACKUP, at.snapshot.backups, same_as or "")
    return await at.run(plan_run_again, [backup], follow=follow_backup_to_the_end, to_the_end=True)


@verb_of(command, CANCEL_MOVEMENTS)
@click.argument("name")
@writing(KINDS)
async def cancel(at: CommandSession, name: str) -> int:
    """Cancel the data movements of a running backup."""
    backup = select_one(at.snapshot, BACKUP, at.snapshot.backups, name)
    moving = await movements_of(at.executor.client, backup)

    def planner(snapshot: ClusterSnapshot, some: Any, now: datetime) -> Plan:
        return plan_cancel(replace(snapshot, movements=moving), some, now)

    return await at.run(planner, [backup])


def _longer(ttl: str) -> NewLifetime:
    length = go_duration(days_in_hours(ttl.removeprefix("+")), "--ttl")
    return NewLifetime(more=length) if ttl.startswith("+") else NewLifetime(ttl=length)


def _lifetime(selection: ObjectSelection, ttl: str | None, until: str | None) -> dict[str, Any]:
    if (ttl is None) is (until is None):
        raise click.UsageError("give --ttl or --until")
    lifetime = NewLifetime(until=moment(until)) if until else _longer(ttl or "")
    return {"selection": selection, "wanted": lifetime}


@verb_of(command, EXTEND_BACKUP)
@choosing_options
@click.option("--ttl", metavar="DURATION", help="How long it is kept from its start (720h); +7d adds to what is left.")
@click.option("--until", metavar="TIME", help="Until when it is kept: a date, or a time in RFC 3339.")
@writing(KINDS, _lifetime)
async def extend(at: CommandSession, selection: ObjectSelection, wanted: NewLifetime) -> int:
    """Keep backups for longer: --ttl DURATION, or --until TIME."""
    items = selection.of(at.snapshot, BACKUP, at.snapshot.backups)
    return await at.run(chosen(plan_extend, request=wanted), items)


add_plain_verbs(command, KINDS)
add_verbs_of_rooms(command)
