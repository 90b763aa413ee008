"""The manual page of foretop, made from its commands, topics and exit codes: `make man` writes it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version

import click

from foretop.cli import foretop
from foretop.commands.exit_codes import exit_codes
from foretop.commands.help_examples import START_EXAMPLES, example_of
from foretop_core.tables.text.explanations import explanations


def manual_page() -> str:
    """In the language of man(7)."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
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
    for codes in exit_codes():
        yield ".TP"
        yield rf"\fB{_plain(', '.join(codes.commands))}\fR"
        yield _plain(codes.line)
    for explanation in explanations().values():
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


if __name__ == "__main__":
    sys.stdout.write(manual_page())
