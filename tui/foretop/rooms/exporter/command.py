"""`foretop exporter`: metrics for Prometheus, served for as long as it runs, or printed once."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
from collections.abc import Mapping

import click
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import bearer_token, running_session, until_ended, wait_synced
from foretop.commands.output import say, warn
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.exporter.collector import Collector
from foretop_core.rooms.exporter.exposition import PLAIN
from foretop_core.rooms.exporter.server import Address, read_address, served
from foretop_core.session import Session


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
    address, token, tls = read_address(listen), bearer_token(token_file), _tls(tls_cert, tls_key)

    async def export() -> int:
        async with running_session(replace(session_options, with_velero=True)) as session:
            names = _names(session, cluster)
            collector = Collector(session, names, most_series, os.environ, waits=once)
            if once:
                return await _print_once(session, collector)
            await _serve(collector, address, token, tls)
            return 0

    code = asyncio.run(until_ended(export()))
    return 0 if code == 128 + signal.SIGTERM else code


async def _serve(collector: Collector, address: Address, token: str, tls: ssl.SSLContext | None) -> None:
    async with served(collector, address, token, tls) as real:
        say(f"Serving {'http' if tls is None else 'https'}://{real.text}/metrics")
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
