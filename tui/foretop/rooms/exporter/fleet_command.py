"""`foretop fleet`: a row for each cluster, worst first, by watching them or by asking Prometheus."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from msgspec.structs import replace

from foretop.commands.connection import config_of, connection_options
from foretop.commands.exit_codes import judging
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.output import output_option
from foretop.commands.start_dashboard import display_flags_of, has_terminal, watch_clusters
from foretop_core.config.settings import PrometheusSettings
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.rooms.exporter import PAGE

if TYPE_CHECKING:
    from foretop_core.rooms.exporter.prometheus import PrometheusServer

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

    On a terminal it opens the dashboard on its page :fleet; -o text prints the same rows once. Clusters that the
    Prometheus of the configuration tells of stand beside those that are watched. With --prometheus they stand alone,
    but for the contexts that are given, and on the page; there enter opens one whose name a context has.

    NIGHT counts the backups of the last 24 hours that completed, failed in part and failed, and the runs of the next
    24 hours that are not expected to be made.
    """
    if url is None and (token_file or authority):
        raise BadInput("--prometheus-token-file and --prometheus-ca are for --prometheus", "there is no --prometheus")
    given = None
    if url is not None:
        given = PrometheusSettings(url=url, token_file=token_file or "", ca_file=authority or "")
    settings = given or config_of(ctx).settings.prometheus
    is_asked = url is not None or bool(settings.url)
    if given is None and (not is_asked or _has_context(session_options)):
        session_options = _of_all(session_options)
    contexts = session_options.connect.contexts
    is_for_screen = has_terminal() and ctx.get_parameter_source("form") is ParameterSource.DEFAULT
    is_for_screen = is_for_screen and (_has_context(session_options) if is_asked else len(contexts) > 1)
    # That of the configuration is told by the page, beside the clusters.
    server = _server(settings) if is_asked and (given is not None or not is_for_screen) else None
    if is_for_screen:
        return watch_clusters(session_options, replace(display_flags_of(ctx), page=PAGE.id, prometheus=given))
    from foretop.rooms.exporter.fleet_text import print_fleet

    watched = replace(session_options, with_velero=True) if contexts else None
    return print_fleet(watched, server, form)


def _server(settings: PrometheusSettings) -> PrometheusServer:
    from foretop.commands.live_session import bearer_token
    from foretop_core.rooms.exporter.prometheus import server_of

    return server_of(settings, bearer_token(settings.token_file or None))


def _has_context(session_options: SessionOptions) -> bool:
    """False where nothing can be watched beside what Prometheus tells; a kubeconfig that is named must be there."""
    from foretop_core.kube.connection.kubeconfig import read_kubeconfig

    try:
        return bool(read_kubeconfig(session_options.connect, os.environ).contexts)
    except ForetopError:
        if session_options.connect.kubeconfig:
            raise
        return False


def _of_all(session_options: SessionOptions) -> SessionOptions:
    """The contexts that are given, or else all of the kubeconfig."""
    connect = session_options.connect
    if not connect.contexts:
        from foretop_core.kube.connection.kubeconfig import read_kubeconfig

        connect = dataclasses.replace(connect, contexts=tuple(read_kubeconfig(connect, os.environ).contexts))
    return replace(session_options, connect=connect, with_velero=True)
