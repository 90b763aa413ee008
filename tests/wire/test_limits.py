"""A server without measure: what is too long, without end, or meant for somebody else ends with a word."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from foretop_core.actions.run_logs import container_log, pod_log
from foretop_core.actions.unwatched_reads import serves_field
from foretop_core.clock import SystemClock
from foretop_core.errors import ForetopError
from foretop_core.kube.access.accessible_namespaces import visible_namespaces
from foretop_core.kube.access.doctor_checks import diagnose
from foretop_core.kube.access.namespace_resolver import NamespaceSelection
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import LONGEST_LINE, MOST_BYTES, ApiClient, Response
from foretop_core.kube.connection.config import AuthInfo, ContextConfig, Impersonation
from foretop_core.kube.connection.connection_errors import ApiError, Unreachable
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from foretop_core.kube.connection.list_watch_codec import EndlessList
from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP
from tests.examples import sampled
from tests.wire.faulty_server import PATIENCE, SCHEDULES, RoughServer, answer, serving, status
from tests.wire.raw_server import raw_server
from tests.wire.watching import connect, following, permit

Handler = Callable[[web.Request], Coroutine[Any, Any, web.StreamResponse]]


@asynccontextmanager
async def server_that(handle: Handler) -> AsyncIterator[RoughServer]:
    server = RoughServer()
    server.handle = handle  # type: ignore[method-assign, assignment]
    async with serving(server) as running:
        yield running


@pytest.mark.sweep
async def test_an_answer_that_is_too_long_is_left() -> None:
    bomb = gzip.compress(b"[" + b" " * (MOST_BYTES + 2**20), compresslevel=1)

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip"})

    async with server_that(handle) as server:
        client = connect(server.url)
        with pytest.raises(ApiError, match="longer than 64 MiB"):
            await client.request("GET", SCHEDULES)
        await client.close()


async def test_a_line_of_a_watch_without_an_end_is_left() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"x" * 2**16)

    async with server_that(handle) as server:
        client = connect(server.url)
        async with client.stream(SCHEDULES, {"watch": "true"}, 30.0) as lines:
            with pytest.raises(ApiError, match="longer than 4 MiB"):
                await anext(lines)
        await client.close()


@pytest.mark.parametrize(
    "unit", sampled((b"\n", b"{}\n", b"{}" + b" " * 500_000 + b"\n"), b"{}\n"), ids=["empty", "short", "long"]
)
async def test_a_packed_flood_of_lines_leaves_time_for_keys(unit: bytes) -> None:
    flood = gzip.compress(unit * (4_000_000 // len(unit)), compresslevel=1)

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=flood, headers={"Content-Encoding": "gzip"})

    async with server_that(handle) as server:
        client = connect(server.url)
        turns = 0

        async def count_turns() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        async with client.stream(SCHEDULES, {"watch": "true"}, 30.0) as lines:
            others = asyncio.create_task(count_turns())
            before = turns
            read = [len(line) async for line in lines]
            others.cancel()
        await client.close()
    assert len(read) == (4_000_000 // len(unit) if unit != b"\n" else 0)
    assert turns - before >= max(3, len(read) // 200)


async def test_a_log_without_an_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.actions.run_logs.MOST_BYTES", 2**20)

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/pods"):
            return web.json_response({"items": [{"metadata": {"name": "velero-0"}}]})
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            await response.write(b"msg=again\n" * 1000)

    async with server_that(handle) as server:
        client = connect(server.url)
        with pytest.raises(ApiError, match="the log is longer than 1 MiB"):
            await container_log(client, "velero", "velero-0")
        with pytest.raises(ApiError, match="the log is longer than 1 MiB"):
            await pod_log(client, "velero", "one")
        await client.close()


@pytest.mark.parametrize("body", [b"<html>sign in</html>", b"[]", b'{"items": [{"metadata": 5}]}', b"[" * 100_000])
async def test_what_is_no_answer_of_an_api_server_is_one_line_wherever_it_is_asked(body: bytes) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body)

    async with server_that(handle) as server:
        client = connect(server.url)
        with pytest.raises(ApiError, match="the answer cannot be read"):
            await pod_log(client, "velero", "one")
        assert not await serves_field(client, BACKUP, ("spec", "ttl"))
        with suppress(ForetopError):
            async for _ in diagnose(client, SystemClock(), NamespaceSelection(), ()):
                pass
        await client.close()


@pytest.mark.parametrize("inside", ["the headers", "the body"])
async def test_an_answer_that_drips_without_an_end_is_left(inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("foretop_core.kube.connection.client._WHOLE_WITHIN", 0.02)

    left = asyncio.Event()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n" if inside == "the headers" else b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while not writer.is_closing():
                writer.write(b"a")
                await writer.drain()
                await asyncio.sleep(0.02)
        finally:
            left.set()

    async with raw_server(drip) as port:
        client = connect(f"http://127.0.0.1:{port}")
        with pytest.raises(Unreachable, match="no answer in time"):
            await client.request("GET", SCHEDULES, limit=30.0)
        await client.close()
        async with asyncio.timeout(PATIENCE):
            await left.wait()


@pytest.mark.parametrize(
    ("token", "items", "words"),
    [("same", 1, "repeats its pages"), ("", 0, "more than 1,000 objects"), ("", 500, "more than 1,000 objects")],
)
async def test_a_list_without_an_end_is_left_with_a_word(
    token: str, items: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("foretop_core.kube.connection.list_watch_codec.MOST_OBJECTS", 1000)
    asked = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        found = [{"metadata": {"name": f"s-{asked}-{one}", "namespace": "velero"}} for one in range(items)]
        meta = {"continue": token or f"t-{asked}", "resourceVersion": "1"}
        return web.json_response({"kind": "ScheduleList", "metadata": meta, "items": found})

    async with server_that(handle) as server, following(server) as found:
        await found.until(lambda: found.state is WatchState.STALE)
        assert words in found.healths[-1].error


@pytest.mark.parametrize("way", ["pages", "whole"])
async def test_a_list_that_drips_without_an_end_is_left_and_asked_for_again(way: str) -> None:
    """Each page, or each byte, is there in time; there is always another one."""

    async def pages(request: web.Request) -> web.StreamResponse:
        server.list_faults.append(pages)
        await asyncio.sleep(0.01)
        if "resourceVersionMatch" in request.query:
            return status(504, "Timeout", "Too large resource version")
        server.version += 1
        meta = {"continue": f"t-{server.version}", "resourceVersion": "1"}
        return web.json_response({"kind": "ScheduleList", "metadata": meta, "items": []})

    async def whole(request: web.Request) -> web.StreamResponse:
        if "limit" in request.query:
            server.list_faults.append(whole)
            meta = {"continue": "t", "resourceVersion": "1"}
            return web.json_response({"kind": "ScheduleList", "metadata": meta, "items": []})
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"metadata":{"resourceVersion":"1"},"items":[')
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.01)

    async with serving(RoughServer()) as server:
        await server.put("daily")
        server.list_faults.append({"pages": pages, "whole": whole}[way])
        async with following(server, WatchTimings(list_limit=0.5)) as found:
            await found.until(lambda: found.state is WatchState.STALE)
            assert "the list did not end within 0.5 s" in found.healths[-1].error
            server.list_faults.clear()
            await found.until_equal(server)
            await found.until(lambda: found.state is WatchState.LIVE)


async def test_a_list_of_namespaces_that_drips_without_an_end_is_left() -> None:
    asked = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.01)
        return web.json_response({"metadata": {"continue": f"t-{asked}"}, "items": []})

    async with server_that(handle) as server:
        client = connect(server.url)
        with pytest.raises(EndlessList, match=r"did not end within 0\.3 s"):
            await visible_namespaces(client, limit=0.3)
        await client.close()


async def test_a_server_s_wish_to_wait_is_granted_for_half_a_minute_at_most() -> None:
    for told in (3600, "9" * 5_000, float("nan"), -5):
        async with serving(RoughServer()) as server:
            server.list_faults.append(answer(429, "TooManyRequests", retry_after=told))  # type: ignore[arg-type]
            async with following(server) as found:
                await found.until(lambda found=found: found.state is WatchState.STALE)  # type: ignore[misc]
                health = next(one for one in found.healths if one.state is WatchState.STALE)
                assert health.retry_at is not None
                assert health.retry_at - health.since <= timedelta(seconds=30)


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "DELETE"])
async def test_nobody_else_is_told_who_we_are(method: str) -> None:
    heard: list[dict[str, str]] = []

    async def elsewhere(request: web.Request) -> web.StreamResponse:
        heard.append(dict(request.headers))
        return web.json_response({})

    async with server_that(elsewhere) as other:

        async def handle(request: web.Request) -> web.StreamResponse:
            return web.Response(status=307, headers={"Location": f"{other.url}{request.path}"})

        async with server_that(handle) as server:
            config = ContextConfig("c", server.url, identity=AuthInfo(token="t"), impersonation=Impersonation("anna"))
            client = client_with(config)
            with pytest.raises(ApiError, match=r"redirects to 127\.0\.0\.1, which foretop does not follow"):
                await sent(client, method)
            await client.close()
    assert heard == []


async def test_a_redirect_on_the_same_server_is_followed_for_what_is_read() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/moved":
            return web.json_response({"items": []})
        return web.Response(status=301, headers={"Location": "/moved"})

    async with server_that(handle) as server:
        client = connect(server.url)
        assert (await client.request("GET", SCHEDULES)).read(dict[str, Any]) == {"items": []}
        with pytest.raises(ApiError):
            await sent(client, "POST")
        await client.close()


async def sent(client: ApiClient, method: str) -> Response:
    if method == "GET":
        return await client.request(method, SCHEDULES)
    return await client.write(permit(client, method, SCHEDULES), method, SCHEDULES, {}, {})


def client_with(config: ContextConfig) -> ApiClient:
    clock = SystemClock()
    return ApiClient(Authenticator(config, lambda: config, ExecPlugins(clock, {}), clock), clock)


SECRETS = {"path": "canary-path-1", "token": "canary-token-2", "password": "canary-password-3", "proxy": "canary-4xx"}
ECHOES: dict[str, Callable[[web.Request, str], web.Response]] = {
    "text": lambda request, said: web.Response(status=404, text=f"cannot find {request.path} for {said}"),
    "page": lambda request, said: web.Response(status=502, text=f"<html>{request.path} {said}</html>"),
    "status": lambda request, said: web.json_response(
        {"kind": "Status", "message": f"{request.path} {said}"}, status=403
    ),
    "bad": lambda request, said: web.Response(status=500, body=b"\xff" + f"{request.path} {said}".encode()),
    "redirect": lambda request, said: web.Response(status=302, headers={"Location": f"http://other/{request.path}"}),
    "reason": lambda request, said: web.Response(status=403, reason=f"{request.path} {said}"),
    "a part": lambda request, said: web.Response(status=400, text=f"too long: {said[:22]}..."),
    "odd": lambda request, said: web.Response(status=302, headers={"Location": f"http://[::{request.path}"}),
    "json": lambda request, said: web.json_response([request.path, said]),
    "401": lambda request, said: web.json_response({"message": f"{request.path} {said}"}, status=401),
}


@pytest.mark.parametrize("way", ECHOES)
@pytest.mark.parametrize("who", ["token", "password"])
async def test_no_secret_is_in_an_error_whatever_the_server_repeats(way: str, who: str) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        said = " ".join([request.headers.get("Authorization", ""), *SECRETS.values()])
        return ECHOES[way](request, said)

    token = AuthInfo(token=SECRETS["token"])
    password = AuthInfo(username="anna", password=SECRETS["password"])
    async with server_that(handle) as server:
        config = ContextConfig(
            "c", f"{server.url}/k8s/{SECRETS['path']}", identity=token if who == "token" else password
        )
        # The proxy is not asked in this test: only its password must not be shown.
        config = replace(config, identity=replace(config.identity, token=token.token if who == "token" else ""))
        client = client_with(config)
        for method in ("GET", "POST"):
            with pytest.raises(ForetopError) as caught:
                (await sent(client, method)).read(dict[str, Any])
            wanted = [SECRETS["path"], SECRETS[who]]
            assert not any(secret in str(caught.value) for secret in wanted), str(caught.value)
            assert who != "token" or "canary-token-" not in str(caught.value)
        await client.close()


async def test_no_secret_is_in_an_error_of_the_connection() -> None:
    proxied = "http://anna:canary-proxy@127.0.0.1:1"
    for server, proxy in (
        ("http://127.0.0.1:1/k8s/canary-path", ""),
        ("http://user:canary-user@127.0.0.1:1/", ""),
        ("http://127.0.0.1:99999/k8s/canary-path", ""),
        ("http://127.0.0.1:2/k8s/canary-path", proxied),
    ):
        client = client_with(ContextConfig("c", server, proxy=proxy, identity=AuthInfo(token="canary-token")))
        with pytest.raises(ForetopError) as caught:
            await client.request("GET", SCHEDULES)
        assert "canary" not in str(caught.value)
        await client.close()


async def test_a_slow_flood_of_small_lines_is_no_matter() -> None:
    line = json.dumps({"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "1"}}}).encode() + b"\n"

    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(LONGEST_LINE // len(line) // 10 + 10):
            await response.write(line * 10)
        return response

    async with server_that(handle) as server:
        client = connect(server.url)
        async with client.stream(SCHEDULES, {"watch": "true"}, 30.0) as lines, asyncio.timeout(120):
            assert sum([1 async for _ in lines]) * len(line) > LONGEST_LINE
        await client.close()
