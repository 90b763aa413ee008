"""What went wrong in a backup or restore, on the command line: by namespace and resource."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import click

from foretop.commands.connection import connection_options
from foretop.commands.log_output import confirm_download, progress, trust_options
from foretop.commands.object_selection import select_one
from foretop.commands.output import emit, output_option, say, warn
from foretop.commands.write_command import DONE, REFUSED, CommandSession, in_session
from foretop_core.actions.guard import ActionRefused
from foretop_core.actions.planners.downloads import Run
from foretop_core.actions.run_files import FileUnavailable, results_of, velero_run
from foretop_core.actions.signed_url_download import DownloadFailed, TlsTrust
from foretop_core.errors import Unreadable
from foretop_core.models import NonAdmin
from foretop_core.models.kinds import Kind
from foretop_core.models.velero import RunStatus
from foretop_core.rules import humanize
from foretop_core.rules.phases import why_no_files
from foretop_core.rules.results import ResultGroup, Results
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.resources.json_items import results_item


def add_results(
    group: click.Group,
    kind: Kind,
    members: Callable[[ClusterSnapshot], Sequence[Run | NonAdmin]],
    watched: tuple[Kind, ...],
    about: str,
) -> None:
    """Gives a group of commands its `results NAME`."""

    @group.command("results", help=f"Print what went wrong in {about}.")
    @click.argument("name")
    @trust_options
    @output_option
    @connection_options
    @in_session(watched)
    async def results(at: CommandSession, name: str, trust: TlsTrust, confirmed: str, form: str) -> int:
        await confirm_download(at, confirmed)
        return await show_results(at, select_one(at.snapshot, kind, members(at.snapshot), name), trust, form)


async def show_results(at: CommandSession, item: Run | NonAdmin, trust: TlsTrust, form: str) -> int:
    """Prints them; with nothing to tell of, nothing is asked for. Exit code: 0 told, 3 they cannot be had."""
    status = _status(at.snapshot, item)
    is_clean = not why_no_files(status.phase) and not status.errors and not status.warnings
    try:
        found = None if is_clean else await results_of(at.executor, item, trust, progress)
    except (FileUnavailable, ActionRefused, DownloadFailed, Unreadable) as problem:
        warn([problem])
        return REFUSED
    if form != "text":
        emit(results_item(at.context, item, status, found), form)
    else:
        _print(item, status, found or Results())
    return DONE


def _status(snapshot: ClusterSnapshot, item: Run | NonAdmin) -> RunStatus:
    """Velero's own word where it may be read, else the copy of it."""
    if not isinstance(item, NonAdmin):
        return item.status
    run = velero_run(snapshot, item)
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
