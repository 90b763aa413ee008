"""The command line. Each command is imported when it is called, so that none waits for another's libraries."""

from __future__ import annotations

import errno
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn, cast

import click

from foretop.commands.complete_words import REFRESH
from foretop.commands.connection import config_of, connection_options
from foretop.commands.help_examples import START_EXAMPLES, CommandGroup
from foretop.commands.start_dashboard import DisplayFlags, has_terminal, screen_options, watch_clusters
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.room_finder import rooms

# Deferred imports: a command loads what it needs, so that --version and completion stay quick.

COMMANDS = {
    "demo": ("foretop.commands.demo", "Run a simulated cluster; no real one is needed."),
    "next": ("foretop.commands.next_runs", "Show the next runs of an expression or of the schedules in a file."),
    "forecast": ("foretop.commands.forecast", "Foresee when the coming backups start and end, and which are lost."),
    "get": ("foretop.commands.get", "Print the rows of a view, once or as they change."),
    "describe": ("foretop.commands.describe", "Print everything that foretop knows of one object."),
    "watch": ("foretop.commands.watch", "Print each new finding, or run a command for it."),
    "doctor": ("foretop.commands.doctor", "Check a cluster: what foretop finds, what is missing, and how to fix it."),
    "schedule": ("foretop.commands.schedule", "Pause, unpause, create, edit and delete schedules."),
    "backup": ("foretop.commands.backup", "Create, delete and cancel backups, and read their logs and results."),
    "restore": ("foretop.commands.restore", "Restore from a backup, and read the log and results of a restore."),
    "nab": ("foretop.commands.nonadmin:nab", "Delete non-admin backups, and read their logs and results."),
    "nar": ("foretop.commands.nonadmin:nar", "Delete non-admin restores, and read their results."),
    "storage-request": ("foretop.commands.nonadmin:storage_request", "Approve or reject storage requested by tenants."),
    "server": ("foretop.commands.server", "Set Velero's default for skipImmediately."),
    "acknowledge": (
        "foretop.commands.acknowledge:acknowledge",
        "Acknowledge findings: they are known, and no longer count.",
    ),
    "unacknowledge": ("foretop.commands.acknowledge:unacknowledge", "Let acknowledged findings count again."),
    "handover": ("foretop.commands.handover", "Print the hand-over to the next shift, as text or Markdown."),
    "journal": ("foretop.commands.journal", "Show what foretop has written to which cluster."),
    "config": ("foretop.commands.config", "Show, write and explain the configuration file."),
    "completion": ("foretop.commands.completion", "Print the completion script of a shell."),
    "report": ("foretop.commands.report", "Report next runs, queue and findings of a cluster or of a file."),
    **{name: command for room in rooms("foretop") for name, command in room.COMMANDS.items()},
}
"""The module of each command, with the name of its function where that is not `command`, and its help in a line."""
HIDDEN = {REFRESH: "foretop.commands.completion_names"}
"""Commands that foretop calls itself."""
_SILENT = frozenset({REFRESH, "completion", "demo"})
"""Commands that say nothing of mistakes in the configuration: nobody reads it, or the screen shows them."""


class _ReaderGone(Exception):
    """Standard output was closed: `foretop get backups | head`."""


class LazyCommands(CommandGroup):
    """The group of commands: names and one-line helps are known; the rest of a command comes with its module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS[cmd_name][0] if cmd_name in COMMANDS else HIDDEN.get(cmd_name)
        if module is None:
            return None
        path, _, name = module.partition(":")
        return cast(click.Command, getattr(importlib.import_module(path), name or "command"))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Examples"):
            formatter.write_dl([(example, about) for about, example in START_EXAMPLES.items()], col_max=44)

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        """A reader that has gone is told apart here and in `invoke`: click itself would end with exit code 1."""
        try:
            return super().make_context(*arguments, **settings)
        except BrokenPipeError:
            raise _ReaderGone from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise _ReaderGone from None

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
def foretop(ctx: click.Context, session_options: SessionOptions, display_flags: DisplayFlags) -> int | None:
    """The lookout for Kubernetes backups: Velero schedules, backups, restores, and OADP's non-admin ones.

    Without a command it opens the dashboard, or prints one plain report where there is no terminal.
    """
    ctx.obj = session_options
    if ctx.invoked_subcommand is not None:
        if ctx.invoked_subcommand not in _SILENT:
            warn_of_mistakes(config_of(ctx).mistakes)
        return None
    if has_terminal():
        return watch_clusters(session_options, display_flags)
    from foretop.commands.report import report_on_clusters

    warn_of_mistakes(config_of(ctx).mistakes)
    report_on_clusters(session_options)
    return 0


def warn_of_mistakes(mistakes: Sequence[str]) -> None:
    """Prints the mistakes in the configuration, one line each; the command goes on with the rest of it."""
    if not mistakes:
        return
    from foretop_core.tables.text.terminal_text import unsigned

    for mistake in mistakes:
        click.echo(f"foretop: {unsigned(mistake)}", err=True)


def run(arguments: Sequence[str] | None = None) -> int:
    """Runs a command, with the exit code as its answer; every refusal is one line on standard error."""
    try:
        answer = foretop.main(arguments, prog_name=_program(), standalone_mode=False)
        sys.stdout.flush()
    except click.UsageError as problem:
        where = problem.ctx.command_path if problem.ctx else "foretop"
        return _refuse(f"{_usage_text(problem).rstrip('.')} (see {where} --help)")
    except click.ClickException as problem:
        return _refuse(problem.format_message())
    except click.Abort:
        return 130
    except (BrokenPipeError, _ReaderGone):
        _let_the_reader_go()
        return 0
    except OSError as problem:
        if problem.errno not in (errno.ENOSPC, errno.EIO, errno.EDQUOT) or problem.filename is not None:
            raise
        _let_the_reader_go()
        return _refuse(f"Standard output cannot be written: {(problem.strerror or '').lower()}")
    except Exception as problem:
        from foretop_core.errors import ForetopError

        return _refuse(str(problem)) if isinstance(problem, ForetopError) else _crash(problem)
    return answer if isinstance(answer, int) else 0


def main() -> NoReturn:
    sys.exit(run())


def _program() -> str:
    """How it was called: kubectl and oc start a plugin by the name of its file."""
    called, dash, rest = Path(sys.argv[0]).name.partition("-")
    return f"{called} {rest}" if dash and called in ("kubectl", "oc") else "foretop"


def _usage_text(problem: click.UsageError) -> str:
    """The error in one short line, with the nearest right word, or the possible ones once."""
    from foretop_core.errors import nearest

    context = problem.ctx
    if isinstance(problem, click.BadParameter) and problem.param is not None and context is not None:
        return _parameter_text(problem, problem.param, context)
    if isinstance(problem, click.NoSuchOption) and context is not None:
        options = [max(param.opts, key=len) for param in context.command.params if isinstance(param, click.Option)]
        return f"No such option {problem.option_name}{nearest(problem.option_name, options)}"
    group = context.command if context is not None else None
    commands = group.list_commands(context) if context is not None and isinstance(group, click.Group) else []
    if isinstance(problem, click.exceptions.NoSuchCommand):
        return f"No such command {problem.command_name!r}{nearest(problem.command_name, commands)}"
    if isinstance(problem, click.exceptions.NoArgsIsHelpError):
        return f"Missing command; use {', '.join(commands)}"
    return problem.format_message()


def _parameter_text(problem: click.BadParameter, param: click.Parameter, context: click.Context) -> str:
    from foretop_core.errors import nearest

    name = max(param.opts, key=len) if isinstance(param, click.Option) else context.info_name
    words = [str(word) for word in param.type.choices] if isinstance(param.type, click.Choice) else []
    value = problem.message.rpartition(" is not one of ")[0]
    if words and isinstance(problem, click.MissingParameter):
        return f"{name} needs one of {', '.join(words)}"
    if words and value:
        return f"{value} is not valid for {name}{nearest(value[1:-1], words) or '; use ' + ', '.join(words)}"
    return f"Invalid value for {name}: {problem.message}" if problem.message else problem.format_message()


def _refuse(line: str) -> int:
    from foretop_core.tables.text.terminal_text import unsigned

    click.echo(f"foretop: {unsigned(' '.join(line.split()))}", err=True)
    return 2


def _crash(problem: Exception) -> int:
    """A fault of foretop's own: nothing could be read, and the report says where it happened."""
    import os

    from foretop.terminal.crash_report import crash_lines

    click.echo(crash_lines(problem, os.environ), err=True)
    return 2


def _let_the_reader_go() -> None:
    """A pager that was closed early is not an error; nothing more is written to it."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
