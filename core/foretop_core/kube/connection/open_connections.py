"""From the command line's wishes to clients, one for each context, sharing their exec plugins and OIDC tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from foretop_core.clock import Clock, SystemClock, steady_seconds
from foretop_core.config.config_file import read_config
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.connection_budget import connection_budget
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from foretop_core.kube.connection.kubeconfig import choose_contexts, reloading
from foretop_core.kube.connection.oidc import OidcTokens


@dataclass(frozen=True, slots=True)
class Connections:
    """The clients of a run by context, in the order asked for; no connection is open yet."""

    clients: Mapping[str, ApiClient]
    plugins: ExecPlugins


def connect(options: ConnectionOptions, environ: Mapping[str, str], clock: Clock, read_only: bool) -> Connections:
    """Reads the kubeconfig; what is wrong with it is raised as one line, before anything is sent.

    A context is read-only where the caller or the user's configuration file says so.
    """
    config = read_config(environ)
    plugins = ExecPlugins(clock, environ)
    oidc = OidcTokens(clock)
    clients = {}
    chosen = choose_contexts(options, environ)
    budget = connection_budget(len(chosen))
    ticks = steady_seconds if isinstance(clock, SystemClock) else None
    for context in chosen:
        auth = Authenticator(context, reloading(context, options, environ), plugins, clock, oidc)
        client = ApiClient(auth, clock, read_only, budget, ticks)
        client.protection = config.protection(context.name)
        clients[context.name] = client
    return Connections(clients, plugins)
