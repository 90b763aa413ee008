"""From the command line's options to clients, one for each context, sharing their exec plugins and OIDC tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from foretop_core.clock import Clock, SystemClock, steady_seconds
from foretop_core.config.protection import ClusterIdentity, Protection
from foretop_core.errors import BadInput
from foretop_core.kube.connection.aiohttp_pool import ConnectionBudget, connection_budget
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.cluster_protection import ClusterProtection
from foretop_core.kube.connection.config import ConnectionOptions, ContextConfig
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from foretop_core.kube.connection.kubeconfig import (
    Kubeconfig,
    choose_contexts,
    cluster_identities,
    read_kubeconfig,
    reloading,
)
from foretop_core.kube.connection.oidc import OidcTokens


def _no_other(name: str) -> ApiClient:
    raise BadInput(f"Context {name!r} does not exist")


class Connections(msgspec.Struct, frozen=True):
    """The clients of a run by context, in the order asked for; no connection is open yet."""

    clients: dict[str, ApiClient]
    plugins: ExecPlugins
    known: Callable[[], tuple[str, ...]] = tuple
    """The contexts of the kubeconfig as it is now; BadInput where it cannot be read."""
    open_more: Callable[[str], ApiClient] = _no_other
    """The client of another context of the kubeconfig; BadInput where that cannot be used."""


def connect(options: ConnectionOptions, environ: Mapping[str, str], clock: Clock, read_only: bool) -> Connections:
    """Reads the kubeconfig; what is wrong with it is raised as one line, before anything is sent.

    The protection of each is that of its cluster, by the user's configuration file, the environment and `read_only`.
    """
    plugins = ExecPlugins(clock, environ)
    oidc = OidcTokens(clock)
    kubeconfig = read_kubeconfig(options, environ)
    chosen = choose_contexts(options, environ, kubeconfig)
    protection = _protection(kubeconfig, options, environ, read_only)
    budget = connection_budget(len(chosen))
    ticks = steady_seconds if isinstance(clock, SystemClock) else None

    def client(context: ContextConfig, budget: ConnectionBudget) -> ApiClient:
        auth = Authenticator(context, reloading(context, options, environ), plugins, clock, oidc)
        return ApiClient(auth, clock, protection, budget, ticks)

    def open_more(name: str) -> ApiClient:
        (context,) = choose_contexts(replace(options, contexts=(name,)), environ)
        return client(context, connection_budget(len(clients) + 1))

    def known() -> tuple[str, ...]:
        return tuple(read_kubeconfig(options, environ).contexts)

    clients = {context.name: client(context, budget) for context in chosen}
    return Connections(clients, plugins, known, open_more)


def known_protections(options: ConnectionOptions, environ: Mapping[str, str], read_only: bool) -> dict[str, Protection]:
    """The protection of each context of the kubeconfig, as far as it can be told without asking its cluster."""
    kubeconfig = read_kubeconfig(options, environ)
    protection = _protection(kubeconfig, options, environ, read_only)
    identities = cluster_identities(kubeconfig, kubeconfig.contexts, replace(options, kubeconfig=""), environ)
    return {name: protection.of(name, next(iter(some), ClusterIdentity())) for name, some in identities.items()}


def _protection(
    kubeconfig: Kubeconfig, options: ConnectionOptions, environ: Mapping[str, str], read_only: bool
) -> ClusterProtection:
    return ClusterProtection(
        read_only,
        environ,
        lambda names: cluster_identities(kubeconfig, names, options, environ),
        trusts_authorities=not options.certificate_authority,
    )
