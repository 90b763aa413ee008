"""Answers as text, JSON or YAML."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click

from foretop_core.errors import ForetopError
from foretop_core.foreign_text import redacted_values
from foretop_core.tables.text.terminal_text import UNSEEN, clean, pad, unsigned, width

# Deferred imports: PyYAML is loaded for YAML output only.

output_option: Callable[[Any], Any] = click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "json", "yaml"]),
    default="text",
    help="Output format.",
    show_default=True,
)
version_option: Callable[[Any], Any] = click.option(
    "--velero-version", "version", metavar="VERSION", help="Read cron as this Velero release does."
)
_CONTROLS = re.compile(f"[\x7f-\x9f\ud800-\udfff{UNSEEN}]")
"""DEL, C1, halves of a character, and what is invisible or turns the order of letters around; JSON itself spells out
the rest."""
_ALL_CONTROLS = re.compile(f"[\x00-\x08\x0b-\x1f]|{_CONTROLS.pattern}")
"""The same for text that no form of its own spells out; its lines and tabs stay."""
file_help = "Manifests or output of kubectl get -o yaml|json; - for standard input."


def emit(value: Mapping[str, Any], form: str) -> None:
    """The same value without secrets, its controls spelt out: a terminal is not moved, recoloured or misled by them."""
    value = redacted_values(value)
    if form == "json":
        text = json.dumps(value, indent=2, ensure_ascii=False)
        click.echo(_CONTROLS.sub(_escaped, text))
    else:
        import yaml

        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
        if _CONTROLS.search(text):
            text = yaml.safe_dump(value, sort_keys=False, allow_unicode=False, width=10_000)
        click.echo(text, nl=False)


def _escaped(found: re.Match[str]) -> str:
    # As JSON writes it: what lies beyond four digits is a pair.
    code = ord(found[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else json.dumps(found[0])[1:-1]


def without_controls(text: str) -> str:
    """Text for a machine, of any number of lines, with its controls spelt out as in JSON."""
    return _ALL_CONTROLS.sub(_escaped, text)


def say(line: str = "", *, sign: str = "") -> None:
    """A line behind a sign of foretop's own, which there is no other of in it."""
    say_to(line, sign=sign)


def say_to(line: str, err: bool = False, *, sign: str = "") -> None:
    """A line for whoever reads this: on standard error where standard output is for a machine."""
    click.echo(f"{sign}{unsigned(line)}", err=err)


def say_progress(text: str) -> None:
    """A line on how far something has come, for a person at a terminal only."""
    if sys.stderr.isatty():
        say_to(text, err=True)


def say_signed(line: str, err: bool = False) -> None:
    """A line with signs of foretop's own in it, made of parts without those of others; or one of others alone."""
    click.echo(clean(line), err=err)


def warn(problems: Iterable[ForetopError]) -> None:
    for problem in problems:
        click.echo(f"foretop: {unsigned(str(problem))}", err=True)


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    indent: str = "  ",
    *,
    headers: bool = True,
    signed: frozenset[int] = frozenset(),
) -> None:
    """Columns as wide as what is in them; the last one is not padded. Those by number have signs of foretop's own."""
    fit = [clean if column in signed else unsigned for column in range(len(head))]
    cells = (tuple(to_fit(cell) for to_fit, cell in zip(fit, row, strict=True)) for row in rows)
    lines = [*([tuple(head)] if headers else []), *cells]
    widths = [max(width(line[column]) for line in lines) for column in range(len(head))]
    for line in lines:
        say_signed(indent + "  ".join(pad(cell, cells) for cell, cells in zip(line, widths, strict=True)).rstrip())
