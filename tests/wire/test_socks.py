"""Clusters behind a SOCKS5 proxy, as `ssh -D` makes one."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest

from foretop_core.kube.connection.config import ContextConfig
from foretop_core.kube.connection.connection_errors import NotConnected, Unreachable
from tests.wire.test_auth import certified, client_for, trusted

SUCCEEDED, NOT_ALLOWED, HOST_UNREACHABLE = 0, 2, 4
BY_ADDRESS, BY_NAME = 1, 3


@dataclass
class SocksServer:
    """A SOCKS5 server on the loopback that connects everybody to one place, whatever they ask for."""

    leads_to: int
    reply: int = SUCCEEDED
    password: bytes = b""
    asked: list[tuple[int, str, int]] = field(default_factory=list)
    open: set[asyncio.Task[None]] = field(default_factory=set)

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            if await self._greeted(reader, writer):
                await self._connected(reader, writer)
        await _closed(writer)

    async def _greeted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        if not self.password:
            writer.write(b"\x05\x00")
            return True
        if 2 not in methods:
            writer.write(b"\x05\xff")
            return False
        writer.write(b"\x05\x02")
        _, size = await reader.readexactly(2)
        await reader.readexactly(size)
        given = await reader.readexactly((await reader.readexactly(1))[0])
        writer.write(b"\x01\x00" if given == self.password else b"\x01\x01")
        return given == self.password

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, _, _, kind = await reader.readexactly(4)
        if kind == BY_NAME:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = socket.inet_ntoa(await reader.readexactly(4))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append((kind, host, port))
        writer.write(bytes((5, self.reply, 0, BY_ADDRESS)) + bytes(6))
        if self.reply == SUCCEEDED:
            inside_reader, inside_writer = await asyncio.open_connection("127.0.0.1", self.leads_to)
            await asyncio.gather(_pump(reader, inside_writer), _pump(inside_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    await _closed(writer)


async def _closed(writer: asyncio.StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


@asynccontextmanager
async def listening(server: SocksServer) -> AsyncIterator[str]:
    running = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    async with running:
        yield f"127.0.0.1:{running.sockets[0].getsockname()[1]}"
        if server.open:
            await asyncio.wait(server.open, timeout=5)


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


async def asked_once(config: ContextConfig) -> int:
    client = client_for(config, [config])
    try:
        return (await client.request("GET", "/version")).status
    finally:
        await client.close()


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
async def test_the_proxy_looks_up_a_name_that_nobody_here_knows(scheme: str) -> None:
    seen: list[str] = []
    async with trusted("elsewhere", seen) as url:
        server = SocksServer(port_of(url))
        async with listening(server) as address:
            inside = certified(f"https://api.example.test:{port_of(url)}", "alice")
            assert await asked_once(replace(inside, proxy=f"{scheme}://{address}")) == 200
    assert seen == ["alice"]
    assert server.asked == [(BY_NAME, "api.example.test", port_of(url))]


async def test_an_address_stays_an_address_and_tls_server_name_is_honoured() -> None:
    seen: list[str] = []
    async with trusted("elsewhere", seen) as url:
        server = SocksServer(port_of(url))
        async with listening(server) as address:
            named = replace(certified(url, "bob"), tls_server_name="api.example.test")
            assert await asked_once(replace(named, proxy=f"socks5://{address}")) == 200
    assert seen == ["bob"]
    assert server.asked == [(BY_ADDRESS, "127.0.0.1", port_of(url))]


async def test_a_proxy_that_wants_a_password_gets_the_one_in_its_address() -> None:
    async with trusted("server", []) as url:
        server = SocksServer(port_of(url), password=b"let me/in")
        async with listening(server) as address:
            config = certified(url, "alice")
            assert await asked_once(replace(config, proxy=f"socks5://me:let%20me%2Fin@{address}")) == 200
            with pytest.raises(NotConnected) as caught:
                await asked_once(replace(config, proxy=f"socks5://me:a-wrong-one@{address}"))
    assert "the SOCKS proxy answered" in str(caught.value)
    assert "a-wrong-one" not in str(caught.value)


@pytest.mark.parametrize("reply", [NOT_ALLOWED, HOST_UNREACHABLE])
async def test_a_proxy_that_refuses_is_one_line(reply: int) -> None:
    async with listening(SocksServer(0, reply)) as address:
        config = ContextConfig("c", "https://api.example.test:6443", proxy=f"socks5h://{address}")
        with pytest.raises(NotConnected) as caught:
            await asked_once(config)
    told = str(caught.value)
    assert told.startswith("https://api.example.test:6443 cannot be reached: the SOCKS proxy answered: ")
    assert "\n" not in told


async def test_a_proxy_that_is_not_there_is_one_line() -> None:
    async with listening(SocksServer(0)) as address:
        pass
    config = ContextConfig("c", "https://api.example.test", proxy=f"socks5://{address}")
    with pytest.raises(NotConnected, match="the proxy does not answer"):
        await asked_once(config)


async def test_the_server_behind_a_proxy_must_be_trusted_as_any() -> None:
    async with trusted("elsewhere", []) as url, listening(SocksServer(port_of(url))) as address:
        config = replace(certified(url, "alice"), proxy=f"socks5://{address}")
        with pytest.raises(Unreachable, match="tls-server-name"):
            await asked_once(config)
