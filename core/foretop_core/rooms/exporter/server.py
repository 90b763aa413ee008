"""The address where Prometheus asks: it is answered with what is finished, and nothing is worked out for it."""

from __future__ import annotations

import hmac
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from aiohttp import web

from foretop_core.errors import BadInput
from foretop_core.rooms.exporter.collector import Collector
from foretop_core.rooms.exporter.exposition import OPEN_METRICS, PLAIN


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
    if not colon or not is_plain or not (port.isascii() and port.isdigit()) or not 0 <= int(port) < 2**16:
        raise BadInput(
            f"{text!r} is not an address to listen on", "it is not HOST:PORT", "give one such as 127.0.0.1:9469"
        )
    return Address(bare or "0.0.0.0", int(port))


@asynccontextmanager
async def served(
    collector: Collector, address: Address, token: str, tls: ssl.SSLContext | None
) -> AsyncIterator[Address]:
    """Answers until the end of the block; the address is the real one where the port was to be chosen."""

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
                return _metrics(request, collector, token)
        return web.Response(text="foretop serves /metrics, /healthz and /readyz\n", status=404)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=2)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, address.host, address.port, ssl_context=tls).start()
        except OSError as problem:
            why = problem.strerror or str(problem)
            raise BadInput(f"Cannot listen on {address.text}", why, "choose another with --listen") from None
        host, port = runner.addresses[0][:2]
        yield Address(str(host), int(port))
    finally:
        await runner.cleanup()


def _metrics(request: web.Request, collector: Collector, token: str) -> web.Response:
    given = request.headers.get("Authorization", "")
    if token and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        return web.Response(text="a bearer token is needed\n", status=401, headers={"WWW-Authenticate": "Bearer"})
    kind = OPEN_METRICS if "application/openmetrics-text" in request.headers.get("Accept", "") else PLAIN
    exposition = collector.expositions.get(kind)
    if exposition is None:
        return web.Response(text="lists are coming in\n", status=503, headers={"Retry-After": "5"})
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        headers = {"Content-Type": kind, "Content-Encoding": "gzip"}
        return web.Response(body=exposition.compressed, headers=headers)
    return web.Response(body=exposition.text, headers={"Content-Type": kind})
