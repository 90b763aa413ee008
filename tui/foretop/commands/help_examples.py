"""The end of every command's help: an example, which a command that writes has in its record, and the exit codes."""

from __future__ import annotations

import click

from foretop.commands.exit_codes import exit_codes_of

START_EXAMPLES = {
    "The dashboard on the current context": "foretop",
    "Two clusters side by side": "foretop --context prod-eu --context prod-us",
    "One team, and its Velero": "foretop -n team-pay",
    "What is wrong, for a script": "foretop get findings -o json",
    "The next runs of an expression": "foretop next '30 2 * * 1-5'",
    "Try it without a cluster": "foretop demo",
}
_EXAMPLE = "\b\nExample:\n  "


class ConnectionOption(click.Option):
    """An option that every command takes: which cluster, as whom, which part of it."""


class OwnOptionsFirst(click.Command):
    """A command whose help has its own options before those that every command takes."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.write_options(ctx, formatter, of_all=False)
        self.write_options(ctx, formatter, of_all=True)

    def write_options(self, ctx: click.Context, formatter: click.HelpFormatter, *, of_all: bool) -> None:
        params = [param for param in self.get_params(ctx) if isinstance(param, ConnectionOption) is of_all]
        if rows := [row for param in params if (row := param.get_help_record(ctx)) is not None]:
            with formatter.section("Connection options" if of_all else "Options"):
                formatter.write_dl(rows)


class CommandGroup(click.Group, OwnOptionsFirst):
    """A group of such commands, which come before those options as well."""

    command_class = OwnOptionsFirst

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.write_options(ctx, formatter, of_all=False)
        self.format_commands(ctx, formatter)
        self.write_options(ctx, formatter, of_all=True)


def example(text: str) -> str:
    """The epilog of the command that the example calls: the example, and the command's exit codes."""
    return f"{_EXAMPLE}{text}\n\n{exit_codes_text(' '.join(text.split()[1:3]))}".rstrip()


def exit_codes_text(path: str) -> str:
    """The exit codes of a command or a group, for its help; "" where they mean nothing of their own."""
    codes = exit_codes_of(path)
    return f"Exit codes: {codes.line}." if codes is not None else ""


def example_of(command: click.Command) -> str:
    epilog = command.epilog or ""
    return epilog.removeprefix(_EXAMPLE).partition("\n")[0] if epilog.startswith(_EXAMPLE) else ""
