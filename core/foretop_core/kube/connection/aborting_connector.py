"""Connections that are gone once their pool is closed. Importing this loads aiohttp."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import Connection
from aiohttp.tracing import Trace

from foretop_core.background import in_thread

GOODBYE_LIMIT = 5.0
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class SocksRefused(aiohttp.ClientError):
    """A SOCKS proxy answered, and did not connect us."""


class ThreadedResolver(AbstractResolver):
    """Looks names up in threads of their own: one that gets no answer holds up no other thread, nor the exit."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        look_up = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)
        addresses = await in_thread(look_up)
        return [
            ResolveResult(hostname=host, host=str(address[0]), port=port, family=kind, proto=proto, flags=_NUMERIC)
            for kind, _, proto, _, address in addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


class AbortingConnector(aiohttp.TCPConnector):
    """A pool that also ends the connections which it no longer counts as its own.

    One that is given up (a watch that is left, a request that is cancelled) waits under TLS for the server's goodbye,
    which aiohttp does not follow up: it could outlive the event loop. Whoever still reads gets an error: aiohttp's own
    closing tells a reader nothing, and a watch would wait for ever.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"resolver": ThreadedResolver(), **settings})
        self._lines: dict[asyncio.Future[None], asyncio.Transport] = {}

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # aiohttp's own signature
    ) -> Connection:
        connection = await super().connect(req, traces, timeout)
        protocol, transport = connection.protocol, connection.transport
        ended = protocol.closed if protocol is not None else None
        if ended is not None and transport is not None and ended not in self._lines:
            self._lines[ended] = transport
            ended.add_done_callback(self._forget)
        return connection

    async def close(self, *, abort_ssl: bool = False) -> None:
        for transport in self._lines.values():
            transport.abort()
        if self._lines:
            await asyncio.wait(self._lines, timeout=GOODBYE_LIMIT)
        await super().close(abort_ssl=abort_ssl)

    def _forget(self, ended: asyncio.Future[None]) -> None:
        del self._lines[ended]
        if not ended.cancelled():
            # Asked for, since asyncio complains of a failure that nobody looked at.
            ended.exception()
