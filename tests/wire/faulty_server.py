"""An API server that misbehaves on purpose, as scripted by a test."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web

PATIENCE = 120.0
SCHEDULES = "/apis/velero.io/v1/schedules"
Fault = Callable[[web.Request], Awaitable[web.StreamResponse | None]]
Event = dict[str, Any]
Twist = Callable[[list[bytes]], list[bytes]]


def status(code: int, reason: str, message: str = "", retry_after: int | None = None) -> web.Response:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = {"kind": "Status", "code": code, "reason": reason, "message": message}
    return web.json_response(body, status=code, headers=headers)


def answer(code: int, reason: str, message: str = "", retry_after: int | None = None) -> Fault:
    """A fault that refuses one request."""

    async def refuse(request: web.Request) -> web.StreamResponse:
        return status(code, reason, message, retry_after)

    return refuse


async def hang_up(request: web.Request) -> web.StreamResponse | None:
    assert request.transport is not None
    request.transport.abort()
    return None


@dataclass
class Script:
    """How one watch misbehaves: what becomes of its lines, and when it is cut."""

    twist: Twist = list
    cut_inside_line: int = 0
    end_after: int = 0
    error_after: int = 0
    drip: bool = False
    stall: bool = False
    gzipped: bool = False


@dataclass
class RoughServer:
    """Holds objects of one kind with a log of what happened to them, as etcd does."""

    objects: dict[str, Event] = field(default_factory=dict)
    log: list[tuple[int, Event]] = field(default_factory=list)
    version: int = 1
    compacted: int = 0
    forget_continue_tokens: bool = False
    refuses_whole_lists: bool = False
    list_faults: deque[Fault] = field(default_factory=deque)
    watch_faults: deque[Fault] = field(default_factory=deque)
    scripts: deque[Script] = field(default_factory=deque)
    other: dict[tuple[str, str], Callable[[web.Request], Awaitable[web.StreamResponse]]] = field(default_factory=dict)
    seen: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    watching: int = 0
    closing: bool = False
    holding: bool = False
    generation: int = 0
    url: str = ""
    types: dict[str, str] = field(default_factory=lambda: {"apiVersion": "velero.io/v1", "kind": "Schedule"})

    def __post_init__(self) -> None:
        self.news = asyncio.Condition()

    async def put(self, name: str, **fields: Any) -> None:
        self.version += 1
        kind = "MODIFIED" if name in self.objects else "ADDED"
        meta = {"name": name, "namespace": "velero", "resourceVersion": str(self.version)}
        self.objects[name] = {**self.types, "metadata": meta, **fields}
        await self._tell(kind, self.objects[name])

    async def delete(self, name: str) -> None:
        self.version += 1
        last = self.objects.pop(name)
        meta = {**last["metadata"], "resourceVersion": str(self.version)}
        await self._tell("DELETED", {**last, "metadata": meta})

    async def compact(self) -> None:
        """Forgets the past, as etcd does: older watches and continue tokens are expired."""
        self.compacted = self.version

    async def _tell(self, kind: str, found: Event) -> None:
        self.log.append((self.version, {"type": kind, "object": found}))
        await self.nudge()

    async def nudge(self) -> None:
        async with self.news:
            self.news.notify_all()

    def requests(self, method: str = "GET") -> list[dict[str, str]]:
        return [params for used, path, params in self.seen if used == method and path == SCHEDULES]

    def lists(self) -> list[dict[str, str]]:
        """Without the questions for the version alone."""
        return [params for params in self.requests() if "watch" not in params and params.get("limit") != "1"]

    def watches(self) -> list[dict[str, str]]:
        return [params for params in self.requests() if "watch" in params]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        params = {key: values[0] for key, values in parse_qs(request.query_string).items()}
        self.seen.append((request.method, request.path, params))
        if (request.method, request.path) in self.other:
            return await self.other[request.method, request.path](request)
        if request.path != SCHEDULES or request.method != "GET":
            return status(404, "NotFound", "the server could not find the requested resource")
        return await self.handle_kind(request)

    async def handle_kind(self, request: web.Request) -> web.StreamResponse:
        params = {key: values[0] for key, values in parse_qs(request.query_string).items()}
        faults = self.watch_faults if "watch" in params else self.list_faults
        if faults:
            refused = await faults.popleft()(request)
            return refused or web.Response()
        return await (self._watch(request, params) if "watch" in params else self.answer_list(request))

    async def answer_list(self, request: web.Request) -> web.StreamResponse:
        params = {key: values[0] for key, values in parse_qs(request.query_string).items()}
        version, start = self.version, 0
        if "continue" in params:
            version, start = (int(part) for part in params["continue"].split("/"))
            if self.forget_continue_tokens or version <= self.compacted:
                return status(410, "Expired", "The provided continue parameter is too old")
        if self.refuses_whole_lists and "resourceVersionMatch" in params:
            return status(504, "Timeout", "Too large resource version")
        names = sorted(self.objects)
        limit = int(params.get("limit", 0)) or len(names)
        meta: dict[str, Any] = {"resourceVersion": str(version)}
        if start + limit < len(names):
            meta |= {
                "continue": f"{version}/{start + limit}",
                "remainingItemCount": len(names) - start - limit,
            }
        items = [self.objects[name] for name in names[start : start + limit]]
        body = json.dumps({"kind": "ScheduleList", "metadata": meta, "items": items}, separators=(",", ":")).encode()
        if "gzip" in request.headers.get("Accept-Encoding", "") and len(body) > 100_000:
            return web.Response(body=gzip.compress(body), headers={"Content-Encoding": "gzip"})
        return web.Response(body=body, content_type="application/json")

    async def _watch(self, request: web.Request, params: dict[str, str]) -> web.StreamResponse:
        position = int(params["resourceVersion"])
        if position < self.compacted:
            return status(410, "Expired", "too old resource version")
        script = self.scripts.popleft() if self.scripts else Script()
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if script.gzipped:
            response.headers["Content-Encoding"] = "gzip"
        await response.prepare(request)
        self.watching += 1
        await self.nudge()
        try:
            await self._feed(request, response, script, position)
        finally:
            self.watching -= 1
            await self.nudge()
        return response

    async def _feed(self, request: web.Request, response: web.StreamResponse, script: Script, position: int) -> None:
        sent, generation = 0, self.generation
        packer = zlib.compressobj(wbits=31)
        while await self._fresh(position, script, generation):
            fresh = [(version, event) for version, event in self.log if version > position]
            position = fresh[-1][0]
            for line in script.twist([json.dumps(event).encode() + b"\n" for _, event in fresh]):
                sent += 1
                if sent == script.cut_inside_line:
                    await response.write(line[: len(line) // 2])
                    await hang_up(request)
                    return
                packed = packer.compress(line) + packer.flush(zlib.Z_SYNC_FLUSH)
                await _write(response, packed if script.gzipped else line, script.drip)
                if sent == script.error_after:
                    gone = {"kind": "Status", "code": 410, "reason": "Expired"}
                    await _write(response, json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n")
                    return
            if script.end_after and sent >= script.end_after:
                return

    async def _fresh(self, position: int, script: Script, generation: int) -> bool:
        """Waits for something to tell; false when the watch is to end."""

        def ready() -> bool:
            quiet = script.stall or self.holding or not self.log or self.log[-1][0] <= position
            return self.closing or generation != self.generation or not quiet

        async with self.news:
            await self.news.wait_for(ready)
        return not self.closing and generation == self.generation

    async def end_watches(self) -> None:
        """Ends every watch that is open, as a server does when their time is up."""
        self.generation += 1
        await self.nudge()

    async def release(self) -> None:
        """Tells everything that was held back, at once."""
        self.holding = False
        await self.nudge()

    async def bookmark(self) -> bytes:
        mark = {**self.types, "metadata": {"resourceVersion": str(self.version)}}
        return json.dumps({"type": "BOOKMARK", "object": mark}).encode()

    async def until_watched(self, times: int = 1) -> None:
        async with asyncio.timeout(PATIENCE), self.news:
            await self.news.wait_for(lambda: self.watching >= times)


async def _write(response: web.StreamResponse, line: bytes, drip: bool = False) -> None:
    step = 7 if drip else max(len(line), 1)
    for start in range(0, len(line), step):
        await response.write(line[start : start + step])
        if drip:
            await asyncio.sleep(0)


@asynccontextmanager
async def serving(server: RoughServer, port: int = 0) -> AsyncIterator[RoughServer]:
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{rest:.*}", server.handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", port)
    await site.start()
    assert site._server is not None
    host, bound = site._server.sockets[0].getsockname()[:2]  # type: ignore[attr-defined]
    server.url = f"http://{host}:{bound}"
    try:
        yield server
    finally:
        server.closing = True
        await server.nudge()
        await runner.cleanup()
