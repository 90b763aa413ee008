"""Proxies that die, say nothing or talk nonsense: one line, in time, without the password of their address."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import AuthInfo, ContextConfig
from foretop_core.kube.connection.connection_errors import Unreachable
from foretop_core.kube.connection.proxy import proxy_for
from tests.wire.test_limits import client_with

PASSWORD = "canary-proxy"
PAIR = base64.b64encode(f"anna:{PASSWORD}".encode()).decode()
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
ANSWERS = {
    "nothing": b"",
    "noise": b"\x00\xff\x13noise\r\n\r\n" * 3,
    "login page": b"<html>sign in</html>\r\n\r\n",
    "its password in a header": f"HTTP/1.1 407 Basic {PAIR}\r\nContent-Length: 0\r\n\r\n".encode(),
    "its password": f"HTTP/1.1 407 anna:{PASSWORD}\r\nContent-Length: 0\r\n\r\n".encode(),
    "a long line": b"HTTP/1.1 500 " + b"A" * 200_000 + b"\r\n\r\n",
    "a redirect": f"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/?{PASSWORD}\r\n\r\n".encode(),
    "half of SOCKS": b"\x05",
    "another SOCKS": b"\x05\x00\xff\xff\xff\xff",
    "an odd address": b"\x05\x00\x05\x00\x00\x09aaaaaaaaaaaaaa",
    "noise behind SOCKS": b"\x05\x00\x05\x00\x00\x01" + bytes(6) + b"noise\r\n\r\n",
}


@asynccontextmanager
async def proxy(serve: Serve) -> AsyncIterator[str]:
    open_ones: set[asyncio.Task[None]] = set()
    writers: list[asyncio.StreamWriter] = []

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        open_ones.add(asyncio.ensure_future(_served(serve, reader, writer)))

    running = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"anna:{PASSWORD}@127.0.0.1:{running.sockets[0].getsockname()[1]}"
    finally:
        for one in open_ones:
            one.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)
        running.close()
        # What nobody reads any more is not waited for, nor what came too late to be served.
        for writer in writers:
            writer.transport.abort()
        await asyncio.sleep(0)


async def _served(serve: Serve, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with suppress(ConnectionError):
            await serve(reader, writer)
    finally:
        writer.close()


@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("scheme", ["http", "https", "socks5"])
async def test_a_proxy_that_talks_nonsense_is_one_line_without_its_password(scheme: str, answer: str) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(ANSWERS[answer])
        await writer.drain()

    async with proxy(serve) as address:
        for server in ("https://api.example.test:6443", "http://api.example.test:8080"):
            config = ContextConfig("c", server, proxy=f"{scheme}://{address}", identity=AuthInfo(token="canary-token"))
            client = client_with(config)
            with pytest.raises(ForetopError) as caught:
                await client.request("GET", "/version")
            await client.close()
            told = str(caught.value)
            assert "\n" not in told
            assert "canary" not in told
            assert PAIR not in told
            assert len(told) < 1000


async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def dripping(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        writer.write(b"a")
        await writer.drain()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("serve", [silent, dripping])
@pytest.mark.parametrize("proxied", [True, False])
async def test_a_watch_behind_what_never_answers_is_given_up(serve: Serve, proxied: bool) -> None:
    """Else the state of the watch before would be shown for ever."""
    async with proxy(serve) as address:
        config = (
            ContextConfig("c", "https://api.example.test", proxy=f"http://{address}", request_timeout=0.5)
            if proxied
            else ContextConfig("c", f"http://{address}", request_timeout=0.5)
        )
        client = client_with(config)
        with pytest.raises(Unreachable, match="no answer in time"):
            async with asyncio.timeout(60), client.stream("/x", {"watch": "1"}, 0.5):
                pass
        await client.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://",
        "https://",
        "http:///x",
        "http://anna:canary@",
        "socks5://:1080",
        "socks5://host:0",
        "http://host:0",
        "socks5://host:70000",
        "http://[::1",
        "socks4://host:1080",
        "http://host:1\r\nX: y",
    ],
)
def test_an_odd_address_of_a_proxy_is_refused_at_the_start(url: str) -> None:
    with pytest.raises(BadInput, match="The proxy in proxy-url in the kubeconfig cannot be used") as caught:
        proxy_for("https://api.example.test", url, {})
    assert "canary" not in str(caught.value)
