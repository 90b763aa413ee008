"""The command line. Each command is imported when it is called, so that none waits for another's libraries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn, cast

import click

from foretop.commands.connection import connection_options
from foretop.commands.display_flags import DisplayFlags, has_terminal, screen_options, watch_clusters
from foretop_core.kube.connection.config import SessionOptions

COMMANDS = {
    "demo": ("foretop.commands.demo", "Run a simulated cluster; no real one is needed."),
    "next": ("foretop.commands.next_runs", "Show the next runs of an expression or of the schedules in a file."),
    "primer": ("foretop.commands.primer", "Compute expressions that warm up a cluster before a schedule runs."),
    "get": ("foretop.commands.get", "Print the rows of a view, once or as they change."),
    "doctor": ("foretop.commands.doctor", "Check a cluster: what foretop finds, what is missing, and how to fix it."),
    "upgrade-check": ("foretop.commands.upgrade_check", "Show which schedules a Velero upgrade changes, and how."),
    "schedule": ("foretop.commands.schedule", "Pause, unpause, create and delete schedules."),
    "backup": ("foretop.commands.backup", "Create, delete and cancel backups, and read their logs and results."),
    "restore": ("foretop.commands.restore", "Restore from a backup, and read the log and results of a restore."),
    "nab": ("foretop.commands.nab", "Delete non-admin backups, and read their logs and results."),
    "nar": ("foretop.commands.nar", "Delete non-admin restores, and read their results."),
    "storage-request": ("foretop.commands.storage_request", "Approve or reject storage requested by tenants."),
    "server": ("foretop.commands.server", "Set Velero's default for skipImmediately."),
    "journal": ("foretop.commands.journal", "Show what foretop has written to which cluster."),
    "report": ("foretop.commands.report", "Report next runs, queue and findings of a cluster or of a file."),
}


class LazyCommands(click.Group):
    """Knows the names and one-line helps; the rest of a command comes with its module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _ = COMMANDS[cmd_name]
        return cast(click.Command, importlib.import_module(module).command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=LazyCommands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="foretop", message="foretop %(version)s")
@connection_options
@screen_options
@click.pass_context
def foretop(ctx: click.Context, wishes: SessionOptions, tastes: DisplayFlags) -> int | None:
    """The lookout for Kubernetes backups: Velero schedules, backups, restores, and OADP's non-admin ones.

    Without a command it opens the dashboard, or prints one plain report where there is no terminal.
    """
    ctx.obj = wishes
    if ctx.invoked_subcommand is not None:
        return None
    if has_terminal():
        return watch_clusters(wishes, tastes)
    from foretop.commands.report import report_on_clusters

    report_on_clusters(wishes)
    return 0


def run(arguments: Sequence[str] | None = None) -> int:
    """What `main` does, with the exit code as its answer; every refusal is one line on standard error."""
    try:
        answer = foretop.main(arguments, prog_name="foretop", standalone_mode=False)
    except click.UsageError as problem:
        where = problem.ctx.command_path if problem.ctx else "foretop"
        return _refuse(f"{problem.format_message().rstrip('.')} (see {where} --help)")
    except click.ClickException as problem:
        return _refuse(problem.format_message())
    except click.Abort:
        return 130
    except BrokenPipeError:
        _let_the_reader_go()
        return 0
    except Exception as problem:
        from foretop_core.errors import ForetopError

        return _refuse(str(problem)) if isinstance(problem, ForetopError) else _crash(problem)
    return answer if isinstance(answer, int) else 0


def main() -> NoReturn:
    sys.exit(run())


def _refuse(line: str) -> int:
    from foretop_core.tables.text.cell_text import clean

    click.echo(f"foretop: {clean(' '.join(line.split()))}", err=True)
    return 2


def _crash(problem: Exception) -> int:
    """A fault of foretop's own: nothing could be read, and the report says where it happened."""
    import os

    from foretop.terminal.crash_report import crash_lines

    click.echo(crash_lines(problem, os.environ), err=True)
    return 2


def _let_the_reader_go() -> None:
    """A pager that was closed early is no fault; nothing must be written to it on the way out either."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
