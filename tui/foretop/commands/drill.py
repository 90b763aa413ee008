"""`foretop drill`: a trial restore of a namespace beside it, compared with its backup and removed again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import click

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
    acting_options,
    confirm_production,
    open_session,
    run_async,
)
from foretop_core.actions.drill_run import DrillRun, fresh, leftovers, quota_lines
from foretop_core.actions.drills import (
    DrillRequest,
    MadeObject,
    drill_name,
    plan_cleanup,
    plan_drill,
    plan_note,
)
from foretop_core.actions.guard import ActionRefused
from foretop_core.actions.plan_sender import Outcome
from foretop_core.actions.plans import Plan
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, NAMESPACE, REPOSITORY, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.wire import Metadata
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.protection.copies import DrillOutcome
from foretop_core.rules.protection.drill_report import DrillReport

KINDS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, REPOSITORY, DEPLOYMENT, NAMESPACE)


@click.command("drill", cls=WriteCommand)
@click.argument("namespace")
@click.option("--into", default="", metavar="NAME", help="The namespace to restore into; one is made up if omitted.")
@click.option("--with-secrets", is_flag=True, help="Restore Secrets too: a second copy of them lies there meanwhile.")
@click.option(
    "--time-limit", type=click.IntRange(1, 24 * 60), default=30, show_default=True, help="Minutes the restore may take."
)
@connection_options
@acting_options
def command(
    namespace: str,
    into: str,
    with_secrets: bool,
    time_limit: int,
    session_options: SessionOptions,
    write_options: WriteOptions,
) -> int:
    """Restore the newest good copy of a namespace beside it, compare, and delete it again.

    Nothing of it acts: workloads have zero replicas, jobs and CronJobs are suspended, Services have no load balancer;
    pods, ingresses, custom and cluster-scoped resources are left out, and so are Secrets unless asked for.

    Exit code: 0 all came back, 1 something did not, 2 usage, 3 refused (read-only, rights, state).
    """
    options = replace(session_options, namespaces=(), with_velero=True)
    request = DrillRequest(namespace, into, with_secrets)
    return run_async(_drill(options, write_options, request, timedelta(minutes=time_limit)))


async def _drill(
    session_options: SessionOptions, write_options: WriteOptions, request: DrillRequest, limit: timedelta
) -> int:
    async with open_session(session_options, KINDS) as at:
        await _clean_up_before(at, write_options)
        backup = _newest_copy(at, request.namespace)
        request = replace(request, into=request.into or drill_name(request.namespace, at.now))
        existing = [item.name for item in at.snapshot.namespaces or ()]
        plan = plan_drill(at.snapshot, backup, request, at.now, existing)
        reporter = ActionReporter(write_options.form, at.context, write_options.asks)
        reporter.plan(plan)
        for line in await quota_lines(at.executor, request.namespace):
            say_to(f"  {line}", err=write_options.form != "text")
        if not plan.steps:
            return REFUSED
        if write_options.dry_run:
            reporter.close(planned=plan.steps)
            return DONE
        await at.executor.guard(plan)
        await at.executor.guard(_deletion_of(at, plan))
        confirm_production(at, write_options)
        if write_options.asks and not click.confirm(f"Create these {len(plan.steps)} objects?", err=True):
            raise click.Abort
        await at.introduce()
        return await _carry_out(at, DrillRun(at.executor, backup, request), plan, limit, write_options)


async def _carry_out(
    at: CommandSession, run: DrillRun, plan: Plan, limit: timedelta, write_options: WriteOptions
) -> int:
    problem = await run.make(plan)
    if not problem:
        problem = await run.wait(limit, lambda news: say_to(f"  {news}", err=write_options.form != "text"))
        report = await run.report(problem)
    else:
        report = DrillReport((), (), "", problem)
    took = run.took
    if len(run.made) == len(plan.steps):
        await _note(at, run, DrillOutcome(at.now, took, report.failed))
    _show(at, run, report, took, write_options)
    cleaned = await _clean_up(at, run.made, write_options)
    return DONE if not report.failed and cleaned else SOME_FAILED


async def _note(at: CommandSession, run: DrillRun, outcome: DrillOutcome) -> None:
    """On the Backup, where it is still there; the journal has it either way."""
    known = next((one for one in at.snapshot.backups if _same(one, run.backup)), None)
    if known is None:
        return
    space = run.request.namespace

    def planned(item: Backup) -> Plan:
        return plan_note(at.snapshot, item, space, outcome, outcome.at)

    async for result in at.executor.carry_out(planned(known), lambda _snapshot, items, _at: planned(next(iter(items)))):
        if result.outcome is not Outcome.DONE:
            say_to(f"The outcome is not on the backup: {result.error}", err=True)


def _show(at: CommandSession, run: DrillRun, report: DrillReport, took: timedelta, write_options: WriteOptions) -> None:
    if write_options.form != "text":
        emit(_item(at, run, report, took), write_options.form)
        return
    if report.counts:
        table(
            ("KIND", "IN BACKUP", "RESTORED"),
            [(one.kind, str(one.expected), str(one.restored)) for one in report.counts],
        )
    if report.left_out:
        say_to(f"  Not tried: {humanize.join(report.left_out, 12)}")
    name = run.request.namespace
    if report.failed:
        say_to(f"✗ Drill of {name} failed: {report.failed}")
    else:
        say_to(f"✓ {name} came back from {run.backup.name} in {humanize.duration(took)}")


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
        "kinds": [{"kind": one.kind, "inBackup": one.expected, "restored": one.restored} for one in report.counts],
        "notTried": list(report.left_out),
    }


async def _clean_up_before(at: CommandSession, write_options: WriteOptions) -> None:
    """What a drill that was cut off has left is shown and, where that is agreed to, deleted first."""
    left = await leftovers(at.executor, at.context)
    if left and not write_options.dry_run:
        say_to("A drill was cut off and has left this:", err=True)
        await _clean_up(at, left, write_options)


async def _clean_up(at: CommandSession, made: list[MadeObject], write_options: WriteOptions) -> bool:
    """Whether nothing is left; only what carries the label and is the very object is deleted, the restore first."""
    order = (RESTORE.name, "ConfigMap", NAMESPACE.name)
    found = sorted(await fresh(at.executor, at.context, made), key=lambda item: order.index(item.kind))
    if not found:
        return True
    names = [f"{item.kind.lower()} {item.name}" for item in found]
    if write_options.asks and not click.confirm(f"Delete {humanize.join(names, 6)}?", default=True, err=True):
        say_to("Kept. The next drill offers to delete it.", err=True)
        return False
    plan = plan_cleanup(at.context, found, at.now)
    await at.executor.guard(plan)
    await at.introduce()
    done = True
    async for result in at.executor.carry_out(plan, lambda _snapshot, items, now: plan_cleanup(at.context, items, now)):
        if result.outcome is not Outcome.DONE:
            done = False
            say_to(f"✗ {result.step.target} is still there: {result.error}", err=True)
    if done and write_options.form == "text":
        say_to(f"  deleted: {humanize.join(names, 6)}")
    return done


def _deletion_of(at: CommandSession, plan: Plan) -> Plan:
    """What would be deleted afterwards: who may not do that is told before anything is made."""
    made = [
        MadeObject(metadata=Metadata(name=step.target.name, namespace=step.target.namespace), kind=step.target.kind)
        for step in plan.steps
    ]
    return plan_cleanup(at.context, made, at.now)


def _newest_copy(at: CommandSession, namespace: str) -> Backup:
    if at.snapshot.namespaces is None:
        raise ActionRefused(
            f"Cannot drill {namespace}",
            "you are not allowed to list namespaces",
            "a drill is for administrators; a tenant restores in place with a NonAdminRestore",
        )
    row = at.snapshot.protection.row(namespace)
    newest = row.copies.usable if row is not None else None
    if newest is None:
        raise BadInput(f"{namespace} has no copy to drill", "", "foretop get protection lists the namespaces")
    known = next((one for one in at.snapshot.backups if _same(one, newest)), None)
    if known is None:
        raise ActionRefused(f"Cannot drill {namespace}", "you are not allowed to read its backups")
    return known


def _same(one: Backup, other: Backup) -> bool:
    return (one.namespace, one.name) == (other.namespace, other.name)
