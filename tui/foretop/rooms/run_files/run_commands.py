"""The logs of backups and restores, and what went wrong in them: fetched with progress, searched, saved, printed."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from foretop.commands.connection import connection_options, without_option
from foretop.commands.help_examples import example
from foretop.commands.object_selection import select_one
from foretop.commands.output import emit, output_option, say, say_signed, say_to, warn
from foretop.commands.write_command import DONE, REFUSED, CommandSession, confirm_name, confirm_option, in_session
from foretop_core.actions.planners.downloads import Run
from foretop_core.actions.plans import objects_of
from foretop_core.actions.run_files import FileUnavailable, results_of
from foretop_core.actions.run_logs import log_of
from foretop_core.actions.signed_url_download import DownloadFailed, TlsTrust
from foretop_core.errors import ActionRefused, ForetopError, Unreadable
from foretop_core.models import NonAdmin, Resource
from foretop_core.models.kinds import (
    BACKUP,
    DELETE_REQUEST,
    DEPLOYMENT,
    NAB,
    NAR,
    RESTORE,
    SCHEDULE,
    STORAGE,
    Kind,
)
from foretop_core.models.velero import RunStatus
from foretop_core.rules import humanize
from foretop_core.rules.phases import why_no_files
from foretop_core.rules.results import ResultGroup, Results
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.json_items import Item, identity

_KINDS = {
    BACKUP: (SCHEDULE, BACKUP, RESTORE, DELETE_REQUEST, STORAGE, DEPLOYMENT),
    RESTORE: (BACKUP, RESTORE, STORAGE),
    NAB: (NAB, NAR, BACKUP, STORAGE),
    NAR: (NAR, NAB, RESTORE, BACKUP, STORAGE),
}
"""The kinds that are watched while a file of one of a kind is fetched."""
_BY_RULES = "by namespace and resource, where its rules allow"
_IN_PART = "or what Velero's own log has of it where the whole cannot be had"


def add_to(group: click.Group) -> None:
    """Gives `backup`, `restore`, `nab` and `nar` their commands `logs` and `results`."""
    match group.name:
        case "backup":
            name = "nightly-20261115010012"
            _add_logs(group, BACKUP, f"Print the log of a backup, {_IN_PART}.", f"backup logs {name} --search error")
            _add_results(group, BACKUP, "a backup, by namespace and resource", f"backup results {name}")
        case "restore":
            _add_logs(group, RESTORE, f"Print the log of a restore, {_IN_PART}.", "restore logs shop-again")
            _add_results(group, RESTORE, "a restore, by namespace and resource", "restore results shop-again -o json")
        case "nab":
            about = "Print the log of a non-admin backup, where its rules allow."
            _add_logs(group, NAB, about, "nab logs team-pay/ledger")
            _add_results(group, NAB, f"a non-admin backup, {_BY_RULES}", "nab results team-pay/ledger")
        case "nar":
            _add_results(group, NAR, f"a non-admin restore, {_BY_RULES}", "nar results team-pay/ledger-back")


def _add_logs(group: click.Group, kind: Kind, about: str, shown: str) -> None:
    """Adds its `logs NAME`; `shown` is the example."""

    @group.command("logs", help=about, epilog=example(f"foretop {shown}"))
    @click.argument("name")
    @click.option("--search", default="", metavar="TEXT", help="Print only lines with this text, with line numbers.")
    @click.option("--file", default="", metavar="FILE", help="Save it to this file instead of printing it.")
    @trust_options
    @connection_options
    @in_session(_KINDS[kind])
    async def logs(at: CommandSession, name: str, search: str, file: str, trust: TlsTrust, confirmed: str) -> int:
        item = select_one(at.snapshot, kind, objects_of(at.snapshot, kind), name)
        await confirm_download(at, confirmed)
        return await _show_log(at, item, trust, search, file)


def _add_results(group: click.Group, kind: Kind, about: str, shown: str) -> None:
    """Adds its `results NAME`; `shown` is the example."""

    @group.command("results", help=f"Print what went wrong in {about}.", epilog=example(f"foretop {shown}"))
    @click.argument("name")
    @trust_options
    @output_option
    @connection_options
    @in_session(_KINDS[kind])
    async def results(at: CommandSession, name: str, trust: TlsTrust, confirmed: str, form: str) -> int:
        await confirm_download(at, confirmed)
        item = select_one(at.snapshot, kind, objects_of(at.snapshot, kind), name)
        return await _show_results(at, item, trust, form)


def trust_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds how far the storage is trusted; the command is handed `trust`, once its authority is known to be usable.

    It is also handed `confirmed`, the name that --confirm-context gives.
    """

    @functools.wraps(command)
    def with_trust(*arguments: Any, cacert: str, blindly: bool, confirm_context: str | None, **options: Any) -> Any:
        trust = TlsTrust(cacert, blindly)
        trust.context()
        return command(*arguments, trust=trust, confirmed=confirm_context or "", **options)

    without_option(with_trust, "insecure_skip_tls_verify")
    for option in (
        confirm_option,
        click.option(
            "--insecure-skip-tls-verify", "blindly", is_flag=True, help="Do not verify the object store's certificate."
        ),
        click.option("--cacert", default="", metavar="FILE", help="CA certificate of the object store."),
    ):
        with_trust = option(with_trust)
    return with_trust


async def _show_log(at: CommandSession, item: Run | NonAdmin, trust: TlsTrust, search: str, file: str) -> int:
    """Prints or saves the log. Exit code: 0 the whole log, 1 a partial one, 3 none."""
    try:
        log = await log_of(at.executor, item, trust, print_progress)
    except FileUnavailable as problem:
        warn([problem])
        return REFUSED
    if log.partial:
        warn([ForetopError(f"Partial log, from Velero's own log: {log.why}")])
    if file:
        log.save(Path(file))
        say_to(f"{len(log.lines)} lines saved to {file}", err=True)
    elif search:
        for number, line in log.search(search):
            say_signed(f"{number}: {line}")
    else:
        for line in log.lines:
            say_signed(line)
    return 1 if log.partial else DONE


async def confirm_download(at: CommandSession, confirmed: str) -> None:
    """In production the name is asked for on a terminal; elsewhere, and without it, a log may be a partial one."""
    await at.executor.client.judge_afresh()
    with suppress(ActionRefused):
        confirm_name(at, confirmed, asks=sys.stdin.isatty() and not at.executor.client.read_only)


def print_progress(done: int, total: int) -> None:
    """On a terminal only, on one line that is written over."""
    if sys.stderr.isatty():
        share = f" of {total:,}" if total else ""
        click.echo(f"\r{done:,}{share} bytes", err=True, nl=done == total)


async def _show_results(at: CommandSession, item: Run | NonAdmin, trust: TlsTrust, form: str) -> int:
    """Prints them; with nothing to tell of, nothing is asked for. Exit code: 0 told, 3 they cannot be had."""
    status = _status(at.snapshot, item)
    is_clean = not why_no_files(status.phase) and not status.errors and not status.warnings
    try:
        results = None if is_clean else await results_of(at.executor, item, trust, print_progress)
    except (FileUnavailable, ActionRefused, DownloadFailed, Unreadable) as problem:
        warn([problem])
        return REFUSED
    if form != "text":
        emit(results_item(at.context, item, status, results), form)
    else:
        _print(item, status, results or Results())
    return DONE


def _status(snapshot: ClusterSnapshot, item: Run | NonAdmin) -> RunStatus:
    """Velero's own word where it may be read, else the copy of it."""
    if not isinstance(item, NonAdmin):
        return item.status
    run = snapshot.velero_run(item)
    return run.status if run is not None else item.velero.status or RunStatus()


def _print(item: Run | NonAdmin, status: RunStatus, results: Results) -> None:
    errors, warnings = humanize.count(results.error_count, "error"), humanize.count(results.warning_count, "warning")
    say(f"{item.namespace}/{item.name}: {status.phase or 'New'}, {errors} and {warnings}")
    if status.failure_reason:
        say(f"failed: {status.failure_reason}")
    _print_part("Errors", results.errors)
    _print_part("Warnings", results.warnings)


def _print_part(title: str, groups: Sequence[ResultGroup]) -> None:
    if not groups:
        return
    say()
    say(f"{title}:")
    for group in groups:
        say(f"  {group.title}")
        for problem in group.problems:
            times = f" ({problem.times} times)" if problem.times > 1 else ""
            say(f"    {'  '.join(filter(None, (problem.subject, problem.message)))}{times}")


def results_item(context: str, item: Resource, status: RunStatus, results: Results | None) -> Item:
    """The problems of a run; `problems` is null where nothing was fetched, for there was nothing to fetch."""
    problems = None
    if results is not None:
        parts = (("error", results.errors), ("warning", results.warnings))
        problems = [
            {
                "severity": word,
                "scope": group.scope.value,
                "namespace": group.namespace,
                "resource": problem.resource,
                "name": problem.name,
                "message": problem.message,
                "times": problem.times,
            }
            for word, part in parts
            for group in part
            for problem in group.problems
        ]
    return {
        **identity(context, item),
        "phase": status.phase or None,
        "errors": status.errors,
        "warnings": status.warnings,
        "failureReason": status.failure_reason or None,
        "problems": problems,
    }
