"""aiohttp, set up so that it behaves as kubectl's transport does.

It is imported here only when a connection is made: it costs more than the first paint may.
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import os
import ssl
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from foretop_core.background import in_thread
from foretop_core.errors import BadInput
from foretop_core.kube.connection.auth import Credentials
from foretop_core.kube.connection.config import ContextConfig
from foretop_core.kube.connection.connection_errors import NotConnected, Unauthenticated, Unreachable
from foretop_core.kube.connection.proxy import is_socks

if TYPE_CHECKING:
    import aiohttp
import resource

import msgspec

RESERVED = 64
"""Descriptors for the terminal, files, plugins and connections that are just being closed."""
MOST_REQUESTS = 32
MOST_OTHER_STREAMS = 8
"""A pod's log, or the wait for an address."""
MOST_WATCHES = 200
"""So many at once are enough for any person, and an API server has others to serve."""
_LEAST = 8


class ConnectionBudget(msgspec.Struct, frozen=True):
    """Connections that may be open at the same time, by what they are for."""

    requests: int = MOST_REQUESTS
    watches: int = MOST_WATCHES
    other_streams: int = MOST_OTHER_STREAMS


def connection_budget(contexts: int, descriptors: int | None = None) -> ConnectionBudget:
    """The share of one of so many contexts."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if descriptors is None else descriptors
    if limit == resource.RLIM_INFINITY:
        return ConnectionBudget()
    share = max((limit - RESERVED) // contexts, _LEAST)
    requests, others = min(MOST_REQUESTS, share // 4), min(MOST_OTHER_STREAMS, share // 8)
    return ConnectionBudget(requests, min(MOST_WATCHES, share - requests - others), others)


# Deferred imports: aiohttp takes 0.2 s to load, and the first paint does not wait for it.

UNLIMITED = 0
READ_BUFFER = 2**18
_CONNECTOR = ("foretop_core.kube.connection.aborting_connector", "AbortingConnector")
_SOCKS_CONNECTOR = ("foretop_core.kube.connection.socks_connector", "SocksConnector")


async def import_in_background(config: ContextConfig) -> None:
    """The libraries take a good while to load; the screen stays alive meanwhile."""
    module, last = _SOCKS_CONNECTOR if is_socks(config.proxy) else _CONNECTOR
    # A module is listed from the moment that its loading begins; what is defined last in it tells that it has ended.
    if not hasattr(sys.modules.get(module), last):
        await in_thread(partial(importlib.import_module, module))


async def make_pool(config: ContextConfig, credentials: Credentials) -> aiohttp.ClientSession:
    """A pool of connections to one server with one client certificate."""
    import aiohttp

    trust = await in_thread(partial(_trust, config, credentials))
    return aiohttp.ClientSession(
        connector=_connector(config, trust),
        # The environment's proxies are settled by our own rules, and a netrc is none of kubectl's business.
        trust_env=False,
        proxy=None if is_socks(config.proxy) else config.proxy or None,
        read_bufsize=READ_BUFFER,
        cookie_jar=aiohttp.DummyCookieJar(),
    )


def _connector(config: ContextConfig, trust: ssl.SSLContext | bool) -> aiohttp.TCPConnector:
    from foretop_core.kube.connection.aborting_connector import AbortingConnector

    # The client counts its connections itself: a limit here would hold back the watch above it without a word.
    if not is_socks(config.proxy):
        return AbortingConnector(limit=UNLIMITED, ssl=trust)
    # Loaded only for those who need it.
    from foretop_core.kube.connection.socks_connector import SocksConnector

    return SocksConnector(config.proxy, limit=UNLIMITED, ssl=trust)


def _trust(config: ContextConfig, credentials: Credentials) -> ssl.SSLContext | bool:
    """Whom to believe, and who we are; plain HTTP asks neither.

    Reading the system's authorities takes far longer than all the rest: only where they are asked, and after a client
    certificate that cannot be used, which every watch tries again and again.
    """
    if config.server.startswith("http:") and not config.proxy.startswith("https:"):
        return True
    if credentials.certificate:
        load_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), config.name, credentials)
    try:
        if config.insecure and not config.ca:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        else:
            context = ssl.create_default_context(cadata=config.ca or None)
    except ssl.SSLError:
        raise BadInput(
            f"The certificate-authority of {config.name} cannot be used",
            "it is not a PEM certificate",
            "see kubectl config view --raw",
        ) from None
    if config.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    # Go does not ask for the key usages that newer Pythons insist on, and many clusters' CAs lack them.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if credentials.certificate:
        load_certificate(context, config.name, credentials)
    return context


def load_certificate(context: ssl.SSLContext, name: str, credentials: Credentials) -> None:
    """OpenSSL wants files; these have no name, so that no key outlives the process, however it ends."""
    try:
        with _nameless(credentials.certificate) as certificate, _nameless(credentials.key) as key:
            context.load_cert_chain(certificate, key, password=_no_password)
    except (ssl.SSLError, _EncryptedKey):
        raise Unauthenticated(
            f"The client certificate of {name} cannot be used",
            "certificate and key do not match, are not PEM, or the key has a passphrase",
            "see kubectl config view --raw",
        ) from None


class _EncryptedKey(Exception):
    """OpenSSL would ask the terminal for a passphrase."""


def _no_password() -> bytes:
    raise _EncryptedKey


@contextlib.contextmanager
def _nameless(content: bytes) -> Iterator[str]:
    memory = os.fdopen(os.memfd_create("certificate"), "w+b") if hasattr(os, "memfd_create") else None
    with memory or tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        yield f"/dev/fd/{file.fileno()}"


def explain(server: str, problem: Exception) -> Unreachable:
    """One line for whatever the transport raises."""
    import aiohttp

    from foretop_core.kube.connection.aborting_connector import SocksRefused

    what = f"{server} cannot be reached"
    match problem:
        case aiohttp.ClientConnectorCertificateError():
            return NotConnected(f"{server} is not trusted", *_certificate_trouble(problem.certificate_error))
        case aiohttp.ClientConnectorSSLError():
            return NotConnected(what, f"TLS: {problem.strerror or problem}", "is it really an https server?")
        case aiohttp.ClientConnectorDNSError():
            return NotConnected(what, "its name cannot be resolved", "check the server's name, the network or the VPN")
        case aiohttp.ClientProxyConnectionError():
            return NotConnected(what, "the proxy does not answer", "check proxy-url, HTTPS_PROXY and ALL_PROXY")
        case aiohttp.ClientHttpProxyError():
            return NotConnected(what, f"the proxy answered {problem.status} {problem.message}", "check the proxy")
        case SocksRefused():
            return NotConnected(what, f"the SOCKS proxy answered: {problem}", "check the proxy and the server's name")
        case aiohttp.ClientConnectorError():
            if problem.os_error.errno in (errno.EMFILE, errno.ENFILE):
                return NotConnected(what, "too many open files", "raise the limit: ulimit -n")
            return NotConnected(what, _system_reason(problem.os_error), "check the address, the network or the VPN")
        case TimeoutError():
            return Unreachable(what, "no answer in time", "check the network or the VPN")
        case (
            aiohttp.ClientPayloadError()
            | aiohttp.ServerDisconnectedError()
            | aiohttp.ClientOSError()
            | ConnectionError()
        ):
            return Unreachable(f"The connection to {server} was cut")
        case aiohttp.InvalidURL():
            return Unreachable(what, "its address is malformed", "see kubectl config view")
        case _:
            return Unreachable(what, str(problem) or type(problem).__name__)


def _certificate_trouble(problem: Exception) -> tuple[str, str]:
    reason = getattr(problem, "verify_message", "") or str(problem)
    if "expired" in reason:
        return "its certificate has expired", "renew it, or check this machine's clock"
    if "not yet valid" in reason:
        return "its certificate is not valid yet", "check this machine's clock"
    if "ostname mismatch" in reason or "IP address mismatch" in reason:
        return reason.rstrip("."), "set tls-server-name in the kubeconfig to a name in the certificate"
    return f"{reason}: the CA is not the one in the kubeconfig", "check certificate-authority"


def _system_reason(problem: OSError) -> str:
    if problem.errno is None:
        return str(problem)
    reason = os.strerror(problem.errno) if problem.errno > 0 else str(problem)
    return reason.lower()
