"""`foretop fleet`: a row for each cluster, worst first, by watching them or by asking Prometheus."""

from __future__ import annotations

import dataclasses
import os
import ssl

import click
from click.core import ParameterSource
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.exit_codes import judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.output import output_option
from foretop.commands.start_dashboard import display_flags_of, has_terminal, watch_clusters
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.exporter import PAGE

# Deferred imports: on a terminal the screen is painted before clusters, rules and metrics are loaded.


@click.command("fleet", cls=OwnOptionsFirst, epilog=example("foretop fleet --prometheus https://thanos.example:9090"))
@click.option("--prometheus", "url", metavar="URL", help="Ask a Prometheus, Thanos or Mimir for exporters' metrics.")
@click.option("--prometheus-token-file", "token_file", metavar="FILE", help="The bearer token for it.")
@click.option("--prometheus-ca", "authority", metavar="FILE", help="The certificate authority of it, PEM.")
@connection_options
@output_option
@judging
@click.pass_context
def command(
    ctx: click.Context,
    session_options: SessionOptions,
    url: str | None,
    token_file: str | None,
    authority: str | None,
    form: str,
) -> int:
    """A row for each cluster, worst first: the contexts that are given, or else all of the kubeconfig.

    On a terminal it opens the dashboard on its page :fleet; -o text prints the rows once.

    NIGHT counts the backups of the last 24 hours that completed, failed in part and failed, and the runs of the next
    24 hours that are not expected to be made.
    """
    if url is None and (token_file or authority):
        raise BadInput("--prometheus-token-file and --prometheus-ca are for --prometheus", "there is no --prometheus")
    if url is None:
        session_options = _of_all(session_options)
        is_for_screen = has_terminal() and ctx.get_parameter_source("form") is ParameterSource.DEFAULT
        if is_for_screen and len(session_options.connect.contexts) > 1:
            return watch_clusters(session_options, replace(display_flags_of(ctx), page=PAGE.id))
    from foretop.rooms.exporter.fleet_text import print_asked, print_watched

    if url is None:
        return print_watched(session_options, form)
    return print_asked(url, token_file, _trusting(authority), form)


def _of_all(session_options: SessionOptions) -> SessionOptions:
    """The contexts that are given, or else all of the kubeconfig."""
    connect = session_options.connect
    if not connect.contexts:
        from foretop_core.kube.connection.kubeconfig import read_kubeconfig

        connect = dataclasses.replace(connect, contexts=tuple(read_kubeconfig(connect, os.environ).contexts))
    return replace(session_options, connect=connect, with_velero=True)


def _trusting(authority: str | None) -> ssl.SSLContext | None:
    if authority is None:
        return None
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError as problem:
        raise BadInput(f"Cannot use {authority}", problem.strerror or str(problem)) from None
