"""The address where Prometheus asks: it is answered with what is finished, and nothing is worked out for it."""

from __future__ import annotations

import asyncio
import hmac
import ssl
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from aiohttp import web

from foretop_core.errors import BadInput
from foretop_core.logs import logger
from foretop_core.rooms.exporter.collector import Collector
from foretop_core.rooms.exporter.exposition import OPEN_METRICS, PLAIN

_MOST_CONNECTIONS = 100
_HANDSHAKE = 5.0
"""Seconds for that of TLS."""
_log = logger(__name__)


class Address(msgspec.Struct, frozen=True):
    """The host and port to listen on."""

    host: str
    port: int

    @property
    def text(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """`HOST:PORT`, `[::1]:9469`, or `:9469` for all addresses of the machine; raises BadInput."""
    host, colon, port = text.rpartition(":")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    is_plain = bare != host or ":" not in host
    if not colon or not is_plain or not (port.isascii() and port.isdigit()) or len(port) > 5 or int(port) >= 2**16:
        raise BadInput(
            f"{text!r} is not an address to listen on", "it is not HOST:PORT", "give one such as 127.0.0.1:9469"
        )
    return Address(bare or "0.0.0.0", int(port))


@asynccontextmanager
async def served(
    collector: Collector, address: Address, token: Callable[[], str], tls: ssl.SSLContext | None
) -> AsyncIterator[Address]:
    """Answers until the end of the block; the address is the real one where the port was to be chosen.

    The token is asked for with every request: it may be another one by then. "" lets everybody in.
    """

    async def answer(request: web.Request) -> web.Response:
        match request.path:
            case "/healthz":
                return web.Response(text="ok\n")
            case "/readyz":
                is_ready = collector.is_ready
                return web.Response(
                    text="ok\n" if is_ready else "lists are coming in\n", status=200 if is_ready else 503
                )
            case "/metrics":
                return _metrics(request, collector, token())
        return web.Response(text="foretop serves /metrics, /healthz and /readyz\n", status=404)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    # Anybody can send what is no request: that is nothing for the log of a service.
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2, logger=_log)
    await runner.setup()
    assert runner.server is not None
    connect, handshake = _newest(runner.server), None if tls is None else _HANDSHAKE
    try:
        listening = await asyncio.get_running_loop().create_server(
            connect, address.host, address.port, ssl=tls, ssl_handshake_timeout=handshake
        )
    except (OSError, UnicodeError) as problem:
        await runner.cleanup()
        why = getattr(problem, "strerror", None) or str(problem)
        raise BadInput(f"Cannot listen on {address.text}", why, "choose another with --listen") from None
    try:
        host, port = listening.sockets[0].getsockname()[:2]
        yield Address(str(host), int(port))
    finally:
        listening.close()
        await runner.cleanup()


def _newest(server: web.Server) -> Callable[[], web.RequestHandler]:
    """Connections, of which the oldest ends for a new one where they are many.

    Whoever opens many and says nothing would else have all descriptors, also those of the watches.
    """
    connections: deque[web.RequestHandler] = deque()

    def connect() -> web.RequestHandler:
        if len(connections) == _MOST_CONNECTIONS and (transport := connections.popleft().transport) is not None:
            transport.abort()
        connections.append(server())
        return connections[-1]

    return connect


def _metrics(request: web.Request, collector: Collector, token: str) -> web.Response:
    given = request.headers.get("Authorization", "")
    if token and not hmac.compare_digest(given.encode(errors="surrogateescape"), f"Bearer {token}".encode()):
        return web.Response(text="a bearer token is needed\n", status=401, headers={"WWW-Authenticate": "Bearer"})
    kind = OPEN_METRICS if "application/openmetrics-text" in request.headers.get("Accept", "") else PLAIN
    exposition = collector.expositions.get(kind)
    if exposition is None:
        return web.Response(text="lists are coming in\n", status=503, headers={"Retry-After": "5"})
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        headers = {"Content-Type": kind, "Content-Encoding": "gzip"}
        return web.Response(body=exposition.compressed, headers=headers)
    return web.Response(body=exposition.text, headers={"Content-Type": kind})
