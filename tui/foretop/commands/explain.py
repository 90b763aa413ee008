"""`foretop explain`: a topic in a screenful, and the manual page."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator, Mapping

import click
import msgspec

from foretop.commands.help_examples import START_EXAMPLES, example, example_of
from foretop.commands.output import say
from foretop_core.tables.text.explanations import EXPLANATIONS, Explanation

# Deferred imports: the version is for the manual page alone, and what reads it takes longer to load than a topic.

_WIDTH = 79


@click.command("explain", epilog=example("foretop explain due"))
@click.argument("topic", required=False, type=click.Choice(list(EXPLANATIONS)))
@click.option("--man", is_flag=True, help="Print the manual page of foretop instead.")
def command(topic: str | None, man: bool) -> int:
    """Explain when schedules run, skips, the queue, phases, the reconcile offset, cron dialects or primers."""
    if man:
        root = click.get_current_context().find_root().command
        if isinstance(root, click.Group):
            click.echo(manual_page(root), nl=False)
        return 0
    if topic is None:
        say("Topics:")
        for one in EXPLANATIONS.values():
            say(f"  {one.topic:<10} {one.title}")
        return 0
    for line in explanation_lines(EXPLANATIONS[topic]):
        say(line)
    return 0


def explanation_lines(explanation: Explanation, width: int = _WIDTH) -> list[str]:
    """Folded to a width; what is indented stays as it is."""
    lines = [explanation.title, ""]
    for block in explanation.body.split("\n\n"):
        told = block.splitlines()
        lines += told if told[0].startswith(" ") else textwrap.wrap(" ".join(told), width)
        lines.append("")
    return lines[:-1]


class ExitCodeRow(msgspec.Struct, frozen=True):
    """A row of the table: what the codes mean for some commands."""

    commands: str
    meanings: Mapping[int, str]


_ALWAYS = {2: "bad usage or input, or nothing could be read"}
_UNSURE = {3: "a server or a run cannot be foreseen"}

EXIT_CODES = (
    ExitCodeRow(
        "report",
        {
            0: "no problems",
            1: "findings of severity error (with --acknowledged, open ones only), or an unreadable object",
            **_ALWAYS,
            3: "no such findings, but not everything was visible",
        },
    ),
    ExitCodeRow(
        "upgrade-check", {0: "nothing changes", 1: "something changes", **_ALWAYS, 3: "not everything was visible"}
    ),
    ExitCodeRow(
        "forecast",
        {
            0: "all runs are made, and the window is free",
            1: "a run will be lost, or the window is not free; check: the ranges fail",
            **_ALWAYS,
            **_UNSURE,
        },
    ),
    ExitCodeRow("whatif", {0: "no run would be lost", 1: "a run would be lost after the change", **_ALWAYS, **_UNSURE}),
    ExitCodeRow("spread", {0: "no run would be lost", 1: "a run would be lost even so", **_ALWAYS, **_UNSURE}),
    ExitCodeRow("doctor", {0: "all there", 1: "something is missing or not allowed", 2: "bad usage, or no connection"}),
    ExitCodeRow(
        "get, describe, next, primer, watch, handover, journal",
        {0: "printed", 1: "printed, but a cluster, an object or a part is missing", **_ALWAYS},
    ),
    ExitCodeRow("config", {0: "printed or written", 1: "printed; the configuration has mistakes", **_ALWAYS}),
    ExitCodeRow(
        "schedule, backup, restore, drill, nab, nar, storage-request, server, acknowledge, unacknowledge",
        {
            0: "done",
            1: "some failed",
            **_ALWAYS,
            3: "refused: read-only, permissions or state",
            4: "the plan changed under way",
        },
    ),
    ExitCodeRow("every command", {130: "interrupted"}),
)


def exit_code_table() -> list[str]:
    """The rows as a table in Markdown."""
    codes = sorted({code for row in EXIT_CODES for code in row.meanings})
    head = ["command", *map(str, codes)]
    rows = [[row.commands, *(row.meanings.get(code, "") for code in codes)] for row in EXIT_CODES]
    return [f"| {' | '.join(line)} |".replace("|  |", "| |") for line in (head, ["---"] * len(head), *rows)]


def manual_page(foretop: click.Group) -> str:
    """In the language of man(7)."""
    return "".join(f"{line}\n" for line in _lines(foretop))


def _lines(foretop: click.Group) -> Iterator[str]:
    from importlib.metadata import version

    context = click.Context(foretop)
    shared = frozenset(word for param in foretop.params for word in param.opts)
    yield f'.TH FORETOP 1 "" "foretop {version("foretop")}" "User Commands"'
    yield ".SH NAME"
    yield r"foretop \- dashboard and command line for Velero and OADP non\-admin backups"
    yield ".SH SYNOPSIS"
    yield r".B foretop [\fIOPTIONS\fR] [\fICOMMAND\fR]"
    yield ".SH DESCRIPTION"
    yield from _paragraphs(foretop.help or "")
    yield ".SH OPTIONS"
    yield from _options(foretop)
    yield ".SH COMMANDS"
    for name in foretop.list_commands(context):
        command = foretop.get_command(context, name)
        if command is not None:
            yield from _command(f"foretop {name}", command, shared)
    yield ".SH EXAMPLES"
    yield from _examples(START_EXAMPLES)
    yield ".SH EXIT STATUS"
    for row in EXIT_CODES:
        yield ".TP"
        yield rf"\fB{_plain(row.commands)}\fR"
        yield _plain("; ".join(f"{code} {meaning}" for code, meaning in row.meanings.items()))
    for explanation in EXPLANATIONS.values():
        yield f".SH {_plain(explanation.title.upper())}"
        yield from _paragraphs(explanation.body)


def _command(path: str, command: click.Command, shared: frozenset[str]) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(click.Context(command, info_name=path)))
    yield f".SS {_plain(f'{path} {usage}')}"
    yield from _paragraphs(command.help or "")
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _command(f"{path} {name}", inner, shared)
        return
    yield from _options(command, shared)
    yield from _examples({path: example_of(command)})


def _options(command: click.Command, shared: frozenset[str] = frozenset()) -> Iterator[str]:
    """The options of the command alone: what every command takes is told once."""
    for param in command.params:
        if isinstance(param, click.Option) and not param.hidden and not set(param.opts) <= shared:
            words = ", ".join((*param.opts, *param.secondary_opts))
            value = "" if param.is_flag else f" {param.metavar or 'VALUE'}"
            yield ".TP"
            yield rf"\fB{_plain(words + value)}\fR"
            yield _plain(param.help or "")


def _examples(examples: Mapping[str, str]) -> Iterator[str]:
    for about, line in examples.items():
        if not about.startswith("foretop"):
            yield ".PP"
            yield _plain(about)
        yield ".PP"
        yield ".nf"
        yield f"    {_plain(line)}"
        yield ".fi"


def _paragraphs(text: str) -> Iterator[str]:
    for block in inspect.cleandoc(text).split("\n\n"):
        lines = block.splitlines()
        yield ".PP"
        if lines and lines[0].startswith("  "):
            yield ".nf"
            yield from map(_plain, lines)
            yield ".fi"
        else:
            yield _plain(" ".join(line.strip() for line in lines))


def _plain(text: str) -> str:
    """Text that roff takes for text."""
    plain = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{plain}" if plain.startswith((".", "'")) else plain
