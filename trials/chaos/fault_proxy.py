"""An HTTPS proxy before an API server that breaks what passes through it: bytes, TLS, answers, watches."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import ssl
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

import aiohttp
from aiohttp import web

from tests.real.credentials import Signed

Break = Callable[[web.Request, "Answered"], Awaitable[web.StreamResponse]]
"""How one request is answered instead; it may ask the API server for the right answer."""
Answered = Callable[[], Awaitable[tuple[bytes, str]]]
_KEPT = ("Content-Type", "Content-Encoding", "Retry-After")
_DRIP = 97
_LOGIN = b"<!doctype html><html><body><form>Sign in</form></body></html>"


class FaultProxy:
    """Passes everything on until it is told otherwise; a fault lasts for some requests or until `heal`."""

    def __init__(self, upstream: str, ca: Path, serving: Signed) -> None:
        self.url = ""
        self.answers: deque[Break] = deque()
        """How the next requests are answered."""
        self.broken_handshakes = 0
        """So many of the next connections end inside their TLS handshake."""
        self.delay = 0.0
        self.drips = False
        self.server_clock = timedelta()
        """The API server's clock, as its `Date` header tells it, is so far ahead."""
        self._flows = asyncio.Event()
        self._flows.set()
        self._upstream = upstream
        self._trust = ssl.create_default_context(cafile=str(ca))
        self._inner = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._inner.load_cert_chain(serving.certificate, serving.key)
        self._inner_port = 0
        self._relays: set[asyncio.Task[None]] = set()
        self._transports: set[asyncio.WriteTransport] = set()
        self._watches: set[_OpenWatch] = set()

    def heal(self) -> None:
        self.answers.clear()
        self.broken_handshakes = 0
        self.delay, self.drips = 0.0, False
        self._flows.set()

    def stall(self) -> None:
        """No byte passes any more, and no connection ends."""
        self._flows.clear()

    def cut(self) -> None:
        """Every connection ends where it is."""
        for transport in tuple(self._transports):
            transport.abort()

    async def inject(self, line: bytes) -> None:
        """One more line in every watch that is open."""
        for watch in tuple(self._watches):
            with contextlib.suppress(ConnectionError, RuntimeError):
                await watch.write(line)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[FaultProxy]:
        app = web.Application(client_max_size=2**24)
        app.router.add_route("*", "/{rest:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=self._inner)
        await site.start()
        self._inner_port = runner.addresses[0][1]
        front = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        self.url = f"https://127.0.0.1:{front.sockets[0].getsockname()[1]}"
        try:
            async with aiohttp.ClientSession(auto_decompress=False) as self._client:
                yield self
        finally:
            front.close()
            self.cut()
            for relay in tuple(self._relays):
                relay.cancel()
            await asyncio.gather(*self._relays, return_exceptions=True)
            await runner.cleanup()

    # Bytes

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._relays.add(task)
        broken = self.broken_handshakes > 0
        self.broken_handshakes -= broken
        try:
            await self._flows.wait()
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._inner_port)
            both = {writer.transport, inner_writer.transport}
            self._transports |= both
            try:
                await asyncio.gather(
                    self._pipe(reader, inner_writer), self._pipe(inner_reader, writer, most=40 if broken else None)
                )
            finally:
                self._transports -= both
                for transport in both:
                    transport.abort()
        except (OSError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._relays.discard(task)

    async def _pipe(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None = None) -> None:
        while chunk := await reader.read(2**16):
            await self._flows.wait()
            if self.delay:
                await asyncio.sleep(self.delay)
            if most is not None:
                writer.write(chunk[:most])
                await writer.drain()
                break
            for start in range(0, len(chunk), _DRIP if self.drips else len(chunk)):
                writer.write(chunk[start : start + _DRIP] if self.drips else chunk)
                await writer.drain()
        writer.transport.abort()

    # Answers

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        async def asked() -> tuple[bytes, str]:
            async with self._ask(request) as response:
                return await response.read(), response.headers.get("Content-Encoding", "")

        try:
            if self.answers:
                return await self.answers.popleft()(request, asked)
            async with self._ask(request) as response:
                return await self._pass_on(request, response)
        except (aiohttp.ClientError, TimeoutError):
            await hang_up(request, asked)
            return web.Response()

    @asynccontextmanager
    async def _ask(self, request: web.Request) -> AsyncIterator[aiohttp.ClientResponse]:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("host",)}
        async with self._client.request(
            request.method,
            f"{self._upstream}{request.path_qs}",
            headers=headers,
            data=await request.read() or None,
            ssl=self._trust,
            timeout=aiohttp.ClientTimeout(total=None),
        ) as response:
            yield response

    async def _pass_on(self, request: web.Request, response: aiohttp.ClientResponse) -> web.StreamResponse:
        passed = web.StreamResponse(status=response.status)
        for name in _KEPT:
            if name in response.headers:
                passed.headers[name] = response.headers[name]
        date = parsedate_to_datetime(response.headers["Date"]) + self.server_clock
        passed.headers["Date"] = format_datetime(date, usegmt=True)
        await passed.prepare(request)
        if "watch" in request.query and response.status == 200 and "Content-Encoding" not in response.headers:
            await self._pass_lines(response, passed)
        else:
            async for chunk in response.content.iter_any():
                await passed.write(chunk)
        await passed.write_eof()
        return passed

    async def _pass_lines(self, response: aiohttp.ClientResponse, passed: web.StreamResponse) -> None:
        watch = _OpenWatch(passed)
        self._watches.add(watch)
        rest = b""
        try:
            async for chunk in response.content.iter_any():
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    await watch.write(line)
        finally:
            self._watches.discard(watch)


class _OpenWatch:
    """A watch that passes; lines of two writers do not mix."""

    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response
        self._turn = asyncio.Lock()

    async def write(self, line: bytes) -> None:
        async with self._turn:
            await self._response.write(line + b"\n")


async def hang_up(request: web.Request, _asked: Answered) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


def refuse(code: int, reason: str, retry_after: int | None = None) -> Break:
    async def answer(_request: web.Request, _asked: Answered) -> web.StreamResponse:
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        body = {"kind": "Status", "code": code, "reason": reason, "message": f"broken on purpose: {reason}"}
        return web.json_response(body, status=code, headers=headers)

    return answer


async def login_page(_request: web.Request, _asked: Answered) -> web.StreamResponse:
    return web.Response(body=_LOGIN, content_type="text/html")


async def redirect(_request: web.Request, _asked: Answered) -> web.StreamResponse:
    return web.Response(status=302, headers={"Location": "https://login.example.test/"})


async def other_json(_request: web.Request, _asked: Answered) -> web.StreamResponse:
    return web.json_response(["not", "a", "list"])


async def half_gzip(_request: web.Request, asked: Answered) -> web.StreamResponse:
    """Half of a compressed answer, with the length of that half."""
    body, packed = (b"{}", "") if "watch" in _request.query else await asked()
    whole = body if packed == "gzip" else gzip.compress(body)
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    return web.Response(body=whole[: len(whole) // 2], headers=headers)


async def half_answer(request: web.Request, asked: Answered) -> web.StreamResponse:
    """Half of an answer, then the connection ends."""
    body, packed = (b'{"type":', "") if "watch" in request.query else await asked()
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    if packed:
        response.headers["Content-Encoding"] = packed
    response.content_length = max(len(body), 2)
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    return await hang_up(request, asked)


def expired_line() -> bytes:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    return json.dumps({"type": "ERROR", "object": gone}).encode()
