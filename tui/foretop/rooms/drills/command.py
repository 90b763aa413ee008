"""`foretop drill`: a trial restore of a namespace beside it, compared with its backup and removed again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import click
from msgspec.structs import replace

from foretop.commands.action_reporter import ActionReporter
from foretop.commands.connection import connection_options
from foretop.commands.output import emit, say_to, table
from foretop.commands.write_command import (
    DONE,
    REFUSED,
    SOME_FAILED,
    CommandSession,
    WriteOptions,
    confirm_production,
    open_session,
    plain_acting_options,
    run_async,
    verb_of,
)
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, NAMESPACE, REPOSITORY, RESTORE, SCHEDULE, STORAGE
from foretop_core.rooms.drills.leftovers import DrillReport, LeftDrill
from foretop_core.rooms.drills.planners import (
    DRILL,
    LONGEST_LIMIT,
    USUAL_LIMIT,
    DrillRequest,
    MadeObject,
    drill_name,
    drill_source,
    plan_drill,
    plan_later_cleanup,
)
from foretop_core.rooms.drills.run import (
    DrillResult,
    DrillRun,
    delete_made,
    leftovers,
    plan_deletion,
    quota_sentence,
    quotas_of,
    require_journal,
)
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.tables.text.terminal_text import clean

_LISTS = "foretop drill --clean-up --dry-run lists what is left"
_GOING = "its drill is still going, or was a few minutes ago"
KINDS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, REPOSITORY, DEPLOYMENT, NAMESPACE)


@verb_of(None, DRILL)
@click.argument("names", nargs=-1, metavar="NAMESPACE | --clean-up [NAME]...")
@click.option("--into", default="", metavar="NAME", help="The namespace to restore into; one is made up if omitted.")
@click.option("--with-secrets", is_flag=True, help="Restore Secrets too: a second copy of them lies there meanwhile.")
@click.option(
    "--time-limit",
    type=click.IntRange(1, LONGEST_LIMIT),
    default=USUAL_LIMIT,
    show_default=True,
    help="Minutes the restore may take.",
)
@click.option("--clean-up", is_flag=True, help="Delete what earlier drills have left: those of these names, or any.")
@click.option("--all", "everything", is_flag=True, help="With --clean-up: all that foretop can prove it created.")
@connection_options
@plain_acting_options
def command(
    names: tuple[str, ...],
    into: str,
    with_secrets: bool,
    time_limit: int,
    clean_up: bool,
    everything: bool,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Restore the newest good copy of a namespace beside it, compare, and delete it again.

    Nothing of it acts: workloads have zero replicas, jobs and CronJobs are suspended, Services are ClusterIP;
    pods, ingresses, custom and cluster-scoped resources are left out, and so are Secrets unless asked for.

    With --clean-up it deletes what drills that were cut off have left, one by one: only what the journal here proves
    that foretop created. All else is listed with the kubectl line that deletes it.
    """
    options = replace(session_options, namespaces=(), with_velero=True)
    if clean_up:
        if write_options.yes and not (names or everything):
            raise click.UsageError("--clean-up --yes needs the names of what to delete, or --all")
        if names and everything:
            raise click.UsageError("give names or --all, not both")
        write_options.check()
        return run_async(_clean_up_earlier(options, write_options, names))
    if len(names) != 1 or everything:
        raise click.UsageError("name exactly one namespace to drill (--all is for --clean-up)")
    write_options.check()
    request = DrillRequest(names[0], into, with_secrets)
    return run_async(_drill(options, write_options, request, timedelta(minutes=time_limit)))


async def _drill(
    session_options: SessionOptions, write_options: WriteOptions, request: DrillRequest, limit: timedelta
) -> int:
    async with open_session(session_options, KINDS) as session:
        backup = drill_source(session.snapshot, request.namespace)
        request = replace(request, into=request.into or drill_name(request.namespace, session.now))
        plan = plan_drill(session.snapshot, backup, request, session.now)
        reporter = ActionReporter(write_options.form, session.context, write_options.asks)
        reporter.plan(plan)
        quotas = await quotas_of(session.executor.client, request.namespace)
        if plan.steps and (text := quota_sentence(request.namespace, quotas)):
            say_to(f"  {text}", err=write_options.form != "text")
        if not plan.steps:
            return REFUSED
        await _tell_earlier(session)
        if write_options.dry_run:
            reporter.close(planned=plan.steps)
            return DONE
        await session.executor.guard(plan)
        await session.executor.guard(plan_later_cleanup(plan))
        await require_journal(session.executor, request.namespace)
        confirm_production(session, write_options)
        if write_options.asks and not click.confirm(f"Create these {len(plan.steps)} objects?", err=True):
            raise click.Abort
        await session.introduce()
        return await _carry_out(session, DrillRun(session.executor, backup, request), plan, limit, write_options)


async def _carry_out(
    at: CommandSession, run: DrillRun, plan: Plan, limit: timedelta, write_options: WriteOptions
) -> int:
    try:
        result = await run.carry_out(plan, limit, lambda news: say_to(f"  {news}", err=write_options.form != "text"))
        if result.not_noted:
            say_to(f"The outcome is not on the backup: {result.not_noted}", err=True)
        _show(at, run, result, write_options)
        cleaned = await _clean_up(at, run.made, write_options)
    except (asyncio.CancelledError, KeyboardInterrupt, click.Abort):
        made = (
            humanize.join([f"{made_object.kind.lower()} {made_object.name}" for made_object in run.made])
            or "what it has created"
        )
        say_to(f"Interrupted. Still there may be {made}: foretop drill --clean-up {run.request.into}", err=True)
        raise
    return DONE if not result.report.failed and cleaned else SOME_FAILED


def _show(at: CommandSession, run: DrillRun, result: DrillResult, write_options: WriteOptions) -> None:
    report = result.report
    if write_options.form != "text":
        emit(_item(at, run, report, result.took), write_options.form)
        return
    if report.counts:
        table(
            ("KIND", "IN BACKUP", "RESTORED"),
            [(count.kind, str(count.expected), f"{count.restored}{count.ended_text}") for count in report.counts],
        )
    if report.left_out:
        say_to(f"  Not tried: {humanize.join(report.left_out, 12)}")
    say_to(result.sentence(run.request.namespace, run.backup.name), sign="✗ " if report.failed else "✓ ")


def _item(at: CommandSession, run: DrillRun, report: DrillReport, took: timedelta) -> dict[str, object]:
    return {
        "context": at.context,
        "namespace": run.request.namespace,
        "into": run.request.into,
        "backup": run.backup.name,
        "at": rfc3339(at.now),
        "seconds": int(took.total_seconds()),
        "phase": report.phase or None,
        "failed": report.failed or None,
        "kinds": [
            {"kind": count.kind, "inBackup": count.expected, "restored": count.restored, "ended": count.ended}
            for count in report.counts
        ],
        "notTried": list(report.left_out),
    }


async def _clean_up(at: CommandSession, made: list[MadeObject], write_options: WriteOptions) -> bool:
    """Deletes what this drill has just made, which was agreed to with it; returns whether nothing is left."""
    plan = await plan_deletion(at.executor, made)
    for refusal in plan.refused:
        say_to(f"{refusal.target} is still there: {refusal.why}", err=True, sign="✗ ")
    if not plan.steps:
        return not plan.refused
    names = humanize.join([str(step.target) for step in plan.steps], 6)
    if write_options.asks and not click.confirm(f"Delete {names}?", default=True, err=True):
        say_to(f"Kept. To delete it: foretop drill --clean-up {plan.steps[0].target.name}", err=True)
        return False
    await at.executor.guard(plan)
    remaining = await delete_made(at.executor, plan)
    _tell_deleted(plan, remaining, write_options)
    return not (remaining or plan.refused)


def _tell_deleted(plan: Plan, left: list[str], write_options: WriteOptions) -> None:
    for line in left:
        say_to(line, err=True, sign="✗ ")
    if plan.steps and not left and write_options.form == "text":
        say_to(f"  deleted: {humanize.join([str(step.target) for step in plan.steps], 6)}")


# What earlier drills have left


async def _tell_earlier(at: CommandSession) -> None:
    """Names what earlier drills have left, and leaves it alone; a journal that cannot be read is refused later."""
    try:
        drills = await leftovers(at.executor)
    except ForetopError:
        return
    going = [str(drill.objects[-1].target) for drill in drills if drill.is_going]
    over = [str(drill.objects[-1].target) for drill in drills if not drill.is_going]
    if going:
        say_to(f"A drill is still going: {humanize.join(going)}.", err=True)
    if over:
        say_to(f"Left over from drills: {humanize.join(over)}. See: foretop drill --clean-up --dry-run", err=True)


async def _clean_up_earlier(
    session_options: SessionOptions, write_options: WriteOptions, names: tuple[str, ...]
) -> int:
    async with open_session(session_options, KINDS) as session:
        drills = [drill for drill in await leftovers(session.executor) if not names or drill.names.intersection(names)]
        if unknown := sorted(set(names) - {name for drill in drills for name in drill.names}):
            raise BadInput(f"{humanize.join(unknown)}: no drill has left anything of that name", "", _LISTS)
        reporter = ActionReporter(write_options.form, session.context, write_options.asks)
        over = [drill for drill in drills if not drill.is_going]
        plan = await plan_deletion(session.executor, [item for drill in over for item in drill.objects])
        going = tuple(Refusal(item.target, _GOING) for drill in drills if drill.is_going for item in drill.objects)
        plan = replace(plan, refused=(*plan.refused, *going))
        if not drills:
            say_to("No drill has left anything.", err=write_options.form != "text")
        reporter.plan(plan)
        if plan.steps and write_options.dry_run != "client":
            await session.executor.guard(plan)
        if write_options.dry_run == "client" or not plan.steps:
            reporter.close(planned=plan.steps)
            return REFUSED if names and plan.refused and not plan.steps else DONE
        confirm_production(session, write_options)
        if write_options.asks:
            plan = replace(plan, steps=tuple(step for step in plan.steps if _agreed(step, over, session)))
        await session.introduce()
        checks = write_options.dry_run == "server"
        tells = reporter.result if checks or write_options.form != "text" else None
        remaining = await delete_made(session.executor, plan, tells, checks)
        if not checks:
            _tell_deleted(plan, remaining, write_options)
        reporter.close()
        return SOME_FAILED if remaining or (names and plan.refused) else DONE


def _agreed(step: PlanStep, drills: Sequence[LeftDrill], at: CommandSession) -> bool:
    """Asks for one object, with who made it, when and for what; to leave it is the default."""
    drill, item = next((drill, item) for drill in drills for item in drill.objects if item.target == step.target)
    when = f" at {humanize.time(item.at, at.now)}" if item.at is not None else ""
    what = f" to restore {drill.source}" if drill.source else ""
    question = f"Delete {step.target}, created{when} by {item.by}{what}: {step.forecast}?"
    return click.confirm(clean(question), default=False, err=True)
