"""Logs on the command line: fetched with progress, searched, saved."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from core.actions.download import Trust
from core.actions.logs import Log, NoLog, nab_log, run_log
from core.errors import ForetopError
from core.models import Backup, NonAdminBackup, Restore
from tui.commands.acting import DONE, REFUSED, Desk
from tui.commands.output import say, say_to, warn


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to do with a log."""

    search: str = ""
    file: str = ""
    trust: Trust = field(default_factory=Trust)


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command is handed `wanted`, once its authority is known to be usable."""

    @functools.wraps(command)
    def with_wanted(*arguments: Any, search: str, file: str, cacert: str, blindly: bool, **options: Any) -> Any:
        trust = Trust(cacert, blindly)
        trust.context()
        return command(*arguments, wanted=Wanted(search, file, trust), **options)

    for option in (
        click.option("--insecure-skip-tls-verify", "blindly", is_flag=True, help="Trust any storage."),
        click.option(
            "--cacert", default="", metavar="FILE", help="The authority that the storage's certificate is of."
        ),
        click.option("--file", default="", metavar="FILE", help="Save it there instead of printing it."),
        click.option("--search", default="", metavar="TEXT", help="Only the lines with this text, with their numbers."),
    ):
        with_wanted = option(with_wanted)
    return with_wanted


async def show_log(at: Desk, item: Backup | Restore | NonAdminBackup, wanted: Wanted) -> int:
    """Prints or saves the log. Exit code: 0 the whole log, 1 a partial one, 3 none."""
    try:
        log = await _fetch(at, item, wanted.trust)
    except NoLog as problem:
        warn([problem])
        return REFUSED
    if log.partial:
        warn([ForetopError(f"Only part of the log, from Velero's own: {log.why}")])
    if wanted.file:
        log.save(Path(wanted.file))
        say_to(f"{len(log.lines)} lines saved to {wanted.file}", err=True)
    elif wanted.search:
        for number, line in log.search(wanted.search):
            say(f"{number}: {line}")
    else:
        for line in log.lines:
            say(line)
    return 1 if log.partial else DONE


async def _fetch(at: Desk, item: Backup | Restore | NonAdminBackup, trust: Trust) -> Log:
    if isinstance(item, NonAdminBackup):
        return await nab_log(at.hand, item, trust, _progress)
    return await run_log(at.hand, item, trust, _progress)


def _progress(done: int, total: int) -> None:
    """On a terminal only, on one line that is written over."""
    if sys.stderr.isatty():
        share = f" of {total:,}" if total else ""
        click.echo(f"\r{done:,}{share} bytes", err=True, nl=done == total)
