"""Logs on the command line: fetched with progress, searched, saved."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import msgspec

from foretop.commands.connection import without_option
from foretop.commands.output import say, say_to, warn
from foretop.commands.write_command import DONE, REFUSED, CommandSession, confirm_name, confirm_option
from foretop_core.actions.guard import ActionRefused
from foretop_core.actions.planners.downloads import Run
from foretop_core.actions.run_files import FileUnavailable
from foretop_core.actions.run_logs import log_of
from foretop_core.actions.signed_url_download import TlsTrust
from foretop_core.errors import ForetopError
from foretop_core.models import NonAdmin


class LogOptions(msgspec.Struct, frozen=True):
    """What to do with a log."""

    search: str = ""
    file: str = ""
    trust: TlsTrust = msgspec.field(default_factory=TlsTrust)
    confirmed_context: str = ""
    """The protected context that --confirm-context names: a DownloadRequest is a write."""


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


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds what can be done with a log; the command is handed `wanted`."""

    @functools.wraps(command)
    def with_wanted(*arguments: Any, search: str, file: str, trust: TlsTrust, confirmed: str, **options: Any) -> Any:
        return command(*arguments, wanted=LogOptions(search, file, trust, confirmed), **options)

    with_options = trust_options(with_wanted)
    for option in (
        click.option("--file", default="", metavar="FILE", help="Save it to this file instead of printing it."),
        click.option(
            "--search", default="", metavar="TEXT", help="Print only lines with this text, with line numbers."
        ),
    ):
        with_options = option(with_options)
    return with_options


async def show_log(at: CommandSession, item: Run | NonAdmin, wanted: LogOptions) -> int:
    """Prints or saves the log. Exit code: 0 the whole log, 1 a partial one, 3 none."""
    await confirm_download(at, wanted.confirmed_context)
    try:
        log = await log_of(at.executor, item, wanted.trust, progress)
    except FileUnavailable as problem:
        warn([problem])
        return REFUSED
    if log.partial:
        warn([ForetopError(f"Partial log, from Velero's own log: {log.why}")])
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


async def confirm_download(at: CommandSession, confirmed: str) -> None:
    """In production the name is asked for on a terminal; elsewhere, and without it, a log may be a partial one."""
    await at.executor.client.judge_afresh()
    with suppress(ActionRefused):
        confirm_name(at, confirmed, asks=sys.stdin.isatty() and not at.executor.client.read_only)


def progress(done: int, total: int) -> None:
    """On a terminal only, on one line that is written over."""
    if sys.stderr.isatty():
        share = f" of {total:,}" if total else ""
        click.echo(f"\r{done:,}{share} bytes", err=True, nl=done == total)
