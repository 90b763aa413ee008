"""`foretop drill`: a trial restore of a namespace beside it, compared with its backup and removed again."""

from __future__ import annotations

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
    WriteCommand,
    WriteOptions,
    confirm_production,
    open_session,
    plain_acting_options,
    run_async,
)
from foretop_core.actions.drill_quotas import quota_sentence, quotas_of
from foretop_core.actions.drill_run import DrillResult, DrillRun, delete_made, leftovers, plan_deletion
from foretop_core.actions.drills import (
    LONGEST_LIMIT,
    USUAL_LIMIT,
    DrillRequest,
    MadeObject,
    drill_name,
    drill_source,
    plan_drill,
    plan_later_cleanup,
)
from foretop_core.actions.plans import Plan
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, NAMESPACE, REPOSITORY, RESTORE, SCHEDULE, STORAGE
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.protection.drill_report import DrillReport

KINDS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, REPOSITORY, DEPLOYMENT, NAMESPACE)


@click.command("drill", cls=WriteCommand)
@click.argument("namespace")
@click.option("--into", default="", metavar="NAME", help="The namespace to restore into; one is made up if omitted.")
@click.option("--with-secrets", is_flag=True, help="Restore Secrets too: a second copy of them lies there meanwhile.")
@click.option(
    "--time-limit",
    type=click.IntRange(1, LONGEST_LIMIT),
    default=USUAL_LIMIT,
    show_default=True,
    help="Minutes the restore may take.",
)
@connection_options
@plain_acting_options
def command(
    namespace: str,
    into: str,
    with_secrets: bool,
    time_limit: int,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Restore the newest good copy of a namespace beside it, compare, and delete it again.

    Nothing of it acts: workloads have zero replicas, jobs and CronJobs are suspended, Services are ClusterIP;
    pods, ingresses, custom and cluster-scoped resources are left out, and so are Secrets unless asked for.

    Exit code: 0 all came back, 1 something did not, 2 usage, 3 refused (read-only, rights, state).
    """
    write_options.check()
    options = replace(session_options, namespaces=(), with_velero=True)
    request = DrillRequest(namespace, into, with_secrets)
    return run_async(_drill(options, write_options, request, timedelta(minutes=time_limit)))


async def _drill(
    session_options: SessionOptions, write_options: WriteOptions, request: DrillRequest, limit: timedelta
) -> int:
    async with open_session(session_options, KINDS) as at:
        await _clean_up_before(at, write_options)
        backup = drill_source(at.snapshot, request.namespace)
        request = replace(request, into=request.into or drill_name(request.namespace, at.now))
        plan = plan_drill(at.snapshot, backup, request, at.now)
        reporter = ActionReporter(write_options.form, at.context, write_options.asks)
        reporter.plan(plan)
        quotas = await quotas_of(at.executor.client, request.namespace)
        if plan.steps and (said := quota_sentence(request.namespace, quotas)):
            say_to(f"  {said}", err=write_options.form != "text")
        if not plan.steps:
            return REFUSED
        if write_options.dry_run:
            reporter.close(planned=plan.steps)
            return DONE
        await at.executor.guard(plan)
        await at.executor.guard(plan_later_cleanup(plan))
        confirm_production(at, write_options)
        if write_options.asks and not click.confirm(f"Create these {len(plan.steps)} objects?", err=True):
            raise click.Abort
        await at.introduce()
        return await _carry_out(at, DrillRun(at.executor, backup, request), plan, limit, write_options)


async def _carry_out(
    at: CommandSession, run: DrillRun, plan: Plan, limit: timedelta, write_options: WriteOptions
) -> int:
    result = await run.carry_out(plan, limit, lambda news: say_to(f"  {news}", err=write_options.form != "text"))
    if result.not_noted:
        say_to(f"The outcome is not on the backup: {result.not_noted}", err=True)
    _show(at, run, result, write_options)
    cleaned = await _clean_up(at, run.made, write_options)
    return DONE if not result.report.failed and cleaned else SOME_FAILED


def _show(at: CommandSession, run: DrillRun, result: DrillResult, write_options: WriteOptions) -> None:
    report = result.report
    if write_options.form != "text":
        emit(_item(at, run, report, result.took), write_options.form)
        return
    if report.counts:
        table(
            ("KIND", "IN BACKUP", "RESTORED"),
            [(one.kind, str(one.expected), f"{one.restored}{one.ended_text}") for one in report.counts],
        )
    if report.left_out:
        say_to(f"  Not tried: {humanize.join(report.left_out, 12)}")
    say_to(f"{'✗' if report.failed else '✓'} {result.sentence(run.request.namespace, run.backup.name)}")


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
            {"kind": one.kind, "inBackup": one.expected, "restored": one.restored, "ended": one.ended}
            for one in report.counts
        ],
        "notTried": list(report.left_out),
    }


async def _clean_up_before(at: CommandSession, write_options: WriteOptions) -> None:
    """What a drill that was cut off has left is shown and, where that is agreed to, deleted first."""
    left = await leftovers(at.executor)
    if left and not write_options.dry_run:
        say_to("A drill was cut off and has left this:", err=True)
        await _clean_up(at, left, write_options)


async def _clean_up(at: CommandSession, made: list[MadeObject], write_options: WriteOptions) -> bool:
    """Whether nothing is left."""
    plan = await plan_deletion(at.executor, made)
    if not plan.steps:
        return True
    names = humanize.join([str(step.target) for step in plan.steps], 6)
    if write_options.asks and not click.confirm(f"Delete {names}?", default=True, err=True):
        say_to("Kept. The next drill offers to delete it.", err=True)
        return False
    await at.executor.guard(plan)
    await at.introduce()
    left = await delete_made(at.executor, plan)
    for line in left:
        say_to(f"✗ {line}", err=True)
    if not left and write_options.form == "text":
        say_to(f"  deleted: {names}")
    return not left
