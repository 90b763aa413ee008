"""Connections through a SOCKS5 proxy (`ssh -D`). Importing this loads aiohttp and python-socks."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from python_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError
from python_socks.async_.asyncio import Proxy

from foretop_core.kube.connection.aborting_connector import AbortingConnector, SocksRefused


class NamesForTheProxy(AbstractResolver):
    """Leaves every name as it is: the proxy's side of the tunnel knows the cluster's name, ours often does not."""

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host=host, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        """Nothing is held."""


class SocksConnector(AbortingConnector):
    """A pool whose connections are asked of a SOCKS5 proxy; TLS to the server is spoken inside, as without one."""

    def __init__(self, proxy: str, **settings: Any) -> None:
        super().__init__(resolver=NamesForTheProxy(), **settings)
        # Like Go, and so kubectl, socks5 is taken as socks5h: the proxy looks the name up.
        self._proxy = Proxy.from_url(f"socks5://{proxy.partition('://')[2]}", rdns=True)

    async def _wrap_create_connection(
        self,
        *args: Any,
        addr_infos: Any,
        req: aiohttp.ClientRequest,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # aiohttp's own signature
        client_error: type[Exception] = aiohttp.ClientConnectorError,
        **kwargs: Any,
    ) -> tuple[asyncio.Transport, ResponseHandler]:
        """Open the socket through the proxy: aiohttp lets a connected one be given to it here only."""
        connected = await self._through_proxy(req, timeout.sock_connect)
        return await self._wrap_existing_connection(
            *args, req=req, timeout=timeout, client_error=client_error, sock=connected, **kwargs
        )

    async def _through_proxy(self, req: aiohttp.ClientRequest, limit: float | None) -> socket.socket:
        try:
            return await self._proxy.connect(req.url.host or "", req.url.port or 0, timeout=limit)
        except ProxyConnectionError as problem:
            raise aiohttp.ClientProxyConnectionError(req.connection_key, problem) from problem
        except ProxyTimeoutError as problem:
            raise TimeoutError from problem
        except ProxyError as problem:
            raise SocksRefused(str(problem)) from problem
