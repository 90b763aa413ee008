"""`foretop exporter`: metrics for Prometheus, served for as long as it runs, or printed once."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import bearer_token, running_session, until_ended, wait_synced
from foretop.commands.output import say, warn
from foretop_core.background import when_changed
from foretop_core.config.config_file import file_stamp
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.exporter.collector import Collector
from foretop_core.rooms.exporter.exposition import PLAIN
from foretop_core.rooms.exporter.server import Address, read_address, served
from foretop_core.session import Session

_LOOK_AT_FILES = 1.0


@click.command(
    "exporter", cls=OwnOptionsFirst, epilog=example("foretop exporter --listen :9469 --token-file /etc/foretop/token")
)
@click.option("--listen", default="127.0.0.1:9469", show_default=True, metavar="HOST:PORT", help="Where to serve.")
@click.option("--once", is_flag=True, help="Print the metrics once, for the textfile collector of node_exporter.")
@click.option("--cluster-label", "cluster", metavar="NAME", help="The label cluster in place of the context's name.")
@click.option("--token-file", metavar="FILE", help="Answer only who has this bearer token.")
@click.option("--tls-cert", metavar="FILE", help="Serve with TLS: the certificate, PEM.")
@click.option("--tls-key", metavar="FILE", help="The key of the certificate, PEM.")
@click.option(
    "--most-series",
    default=20_000,
    show_default=True,
    type=click.IntRange(1),
    help="Leave out what a metric has more; foretop_series_dropped counts it.",
)
@connection_options
def command(
    session_options: SessionOptions,
    listen: str,
    once: bool,
    cluster: str | None,
    token_file: str | None,
    tls_cert: str | None,
    tls_key: str | None,
    most_series: int,
) -> int:
    """Serve metrics of schedules, protection, queue, night and findings to Prometheus until interrupted.

    /metrics answers with what was worked out last, at most a minute ago; /readyz once all lists have come in.
    """
    address, guard = read_address(listen), _Guard(token_file, tls_cert, tls_key)

    async def export() -> int:
        async with running_session(replace(session_options, with_velero=True)) as session:
            names = _names(session, cluster)
            collector = Collector(session, names, most_series, os.environ, waits=once)
            if once:
                return await _print_once(session, collector)
            await _serve(collector, address, guard)
            return 0

    code = asyncio.run(until_ended(export()))
    return 0 if code == 128 + signal.SIGTERM else code


class _Guard:
    """The token and certificate that guard it; both are read again when their files change."""

    def __init__(self, token_file: str | None, cert: str | None, key: str | None) -> None:
        self._token_file, self._files = token_file, (cert, key)
        self.token = bearer_token(token_file)
        self.tls = _tls(cert, key)

    async def follow(self) -> None:
        """Never ends; what cannot be used is told in a line, and the last that could be stays."""
        paths = [Path(name) for name in (self._token_file, *self._files) if name is not None]
        if not paths:
            return
        is_first = True
        async with aclosing(when_changed(lambda: tuple(map(file_stamp, paths)), _LOOK_AT_FILES)) as changes:
            async for _ in changes:
                if not is_first:
                    self._read_again()
                is_first = False

    def _read_again(self) -> None:
        try:
            self.token = bearer_token(self._token_file)
            if self.tls is not None:
                cert, key = self._files
                # First into another one: half of a pair that is being replaced must not get into what is served.
                _tls(cert, key)
                assert cert is not None
                self.tls.load_cert_chain(cert, key)
        except BadInput as problem:
            warn([problem])


async def _serve(collector: Collector, address: Address, guard: _Guard) -> None:
    async with served(collector, address, lambda: guard.token, guard.tls) as real, asyncio.TaskGroup() as group:
        say(f"Serving {'http' if guard.tls is None else 'https'}://{real.text}/metrics")
        group.create_task(guard.follow())
        await collector.run()


async def _print_once(session: Session, collector: Collector) -> int:
    await wait_synced(session)
    # Where the volumes are is known only now.
    collector.look()
    _, bad = await wait_synced(session)
    warn(bad)
    collector.look(at_once=True)
    await collector.collect()
    click.echo(collector.expositions[PLAIN].text, nl=False)
    return 1 if bad else 0


def _names(session: Session, cluster: str | None) -> Mapping[str, str]:
    if cluster is None:
        return {}
    if not cluster.strip():
        raise BadInput("--cluster-label is empty", "nobody could tell whose series these are", "give a name")
    if len(session.contexts) > 1:
        raise BadInput(
            "--cluster-label names one cluster",
            f"there are {len(session.contexts)} contexts",
            "choose one with --context",
        )
    return {session.contexts[0]: cluster}


def _tls(cert: str | None, key: str | None) -> ssl.SSLContext | None:
    if cert is None and key is None:
        return None
    if cert is None or key is None:
        raise BadInput("--tls-cert and --tls-key go together", "one of them is missing")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key)
    except OSError as problem:
        raise BadInput(f"Cannot use {cert} and {key}", problem.strerror or str(problem)) from None
    return context
