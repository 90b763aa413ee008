"""What the raw client sends, how many at a time, and what it makes of each status."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from foretop_core.clock import ManualClock
from foretop_core.kube.connection.aiohttp_pool import ConnectionBudget
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.config import AuthInfo, ContextConfig, Impersonation
from foretop_core.kube.connection.connection_errors import (
    ApiError,
    Unauthenticated,
    Unreachable,
)
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from tests.wire.faulty_server import PATIENCE, SCHEDULES, RoughServer, serving, status
from tests.wire.test_limits import server_that
from tests.wire.watching import permit

PLAIN = ContextConfig("c", "http://127.0.0.1:1")
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


def client_of(
    url: str, *reloads: ContextConfig, config: ContextConfig = PLAIN, budget: ConnectionBudget | None = None
) -> ApiClient:
    """A client whose kubeconfig has changed to each of these by the time that it is read again."""
    clock = ManualClock(datetime(2026, 11, 15, 3, 0, tzinfo=UTC))
    start = replace(config, server=f"{url}{config.server.removeprefix(PLAIN.server)}")
    later = [replace(one, server=start.server) for one in reloads] or [start]
    auth = Authenticator(start, lambda: later.pop(0) if len(later) > 1 else later[0], ExecPlugins(clock, {}), clock)
    return ApiClient(auth, clock, budget=budget)


def signed_in(token: str) -> ContextConfig:
    return replace(PLAIN, identity=AuthInfo(token=token))


async def test_what_is_asked_is_sent_to_the_letter() -> None:
    seen: list[tuple[str, str, bytes]] = []
    headers: list[Any] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append((request.method, request.raw_path, await request.read()))
        headers.append(request.headers)
        return web.json_response({})

    acting = Impersonation("anna", ("ops",), "7", (("scopes", "a"), ("scopes", "b")))
    async with server_that(handle) as server:
        client = client_of(server.url, config=replace(PLAIN, server=f"{PLAIN.server}/k8s", impersonation=acting))
        await client.request("get", "/x/a%2Fb", {"continue": "a+b/c"})
        await client.write(permit(client, "PATCH", "/x"), "PATCH", "/x", {}, {"a": 1}, "application/merge-patch+json")
        await client.write(permit(client, "POST", "/x"), "POST", "/x", {}, [])
        await client.close()
    assert seen == [
        ("GET", "/k8s/x/a%2Fb?continue=a%2Bb%2Fc", b""),
        ("PATCH", "/k8s/x", b'{"a":1}'),
        ("POST", "/k8s/x", b"[]"),
    ]
    sent = {key: headers[1].getall(key) for key in headers[1] if key.startswith("Impersonate-")}
    assert sent == {
        "Impersonate-User": ["anna"],
        "Impersonate-Uid": ["7"],
        "Impersonate-Group": ["ops"],
        "Impersonate-Extra-scopes": ["a", "b"],
    }
    assert headers[1]["Content-Type"] == "application/merge-patch+json"
    assert "Authorization" not in headers[1]


async def test_nobody_is_acted_as_where_nobody_is_named() -> None:
    seen: list[web.Request] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        return web.json_response({})

    async with server_that(handle) as server:
        client = client_of(server.url)
        await client.request("GET", "/version")
        await client.close()
    assert [key for key in seen[0].headers if key.startswith("Impersonate-")] == []


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (300, "The API server answered 300 Multiple Choices: it redirects to elsewhere, which foretop does not follow"),
        (399, "The API server answered 399 Odd: it redirects to elsewhere, which foretop does not follow"),
        (400, "The API server answered 400 Odd: the words"),
        (500, "The API server answered 500 Odd: the words"),
    ],
)
async def test_what_is_not_a_success_is_told_by_its_number(code: int, told: str) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        reason = "Multiple Choices" if code == 300 else "Odd"
        return web.Response(status=code, reason=reason, text="the words")

    async with server_that(handle) as server:
        client = client_of(server.url)
        with pytest.raises(ApiError) as caught:
            await client.request("GET", "/x")
        await client.close()
    assert str(caught.value).startswith(told)


@pytest.mark.parametrize("code", [200, 201, 204, 299])
async def test_every_other_answer_is_a_success(code: int) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=code)

    async with server_that(handle) as server:
        client = client_of(server.url)
        assert (await client.request("GET", "/x")).status == code
        await client.close()


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
async def test_a_redirect_on_the_same_server_is_followed_to_the_letter(code: int) -> None:
    seen: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request.raw_path)
        if request.path == "/moved":
            return web.json_response({})
        return web.Response(status=code, headers={"Location": "/moved?continue=a%2Fb"})

    async with server_that(handle) as server:
        client = client_of(server.url)
        assert (await client.request("GET", "/x")).status == 200
        await client.close()
    assert seen == ["/x", "/moved?continue=a%2Fb"]


@pytest.mark.parametrize("code", [304, 305, 309])
async def test_other_numbers_of_that_kind_lead_nowhere(code: int) -> None:
    seen: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request.path)
        return web.Response(status=code, headers={"Location": "/moved"})

    async with server_that(handle) as server:
        client = client_of(server.url)
        with pytest.raises(ApiError, match="redirects to elsewhere"):
            await client.request("GET", "/x")
        await client.close()
    assert seen == ["/x"]


async def test_a_redirect_in_a_circle_comes_to_an_end() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=302, headers={"Location": f"{server.url}{request.path}"})

    async with server_that(handle) as server:
        client = client_of(server.url)
        with pytest.raises(ApiError, match=r"redirects to 127\.0\.0\.1, which foretop does not follow"):
            await client.request("GET", "/x")
        await client.close()


async def test_credentials_that_were_renewed_and_are_refused_as_well_are_signed_out() -> None:
    seen: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers["Authorization"])
        return status(401, "Unauthorized")

    async with server_that(handle) as server:
        client = client_of(server.url, signed_in("new"), config=signed_in("old"))
        with pytest.raises(Unauthenticated, match="does not accept the credentials of c"):
            await client.request("GET", "/x")
        await client.close()
    assert seen == ["Bearer old", "Bearer new"]


@pytest.mark.parametrize("waiting", [True, False])
async def test_a_changed_kubeconfig_ends_the_watches_of_the_old_one(waiting: bool) -> None:
    """Else they would be shown as live for ever, for nothing comes on a connection that is closed."""
    async with serving(RoughServer()) as server:

        async def renewed(request: web.Request) -> web.StreamResponse:
            return status(200 if request.headers["Authorization"] == "Bearer new" else 401, "")

        server.other["GET", "/version"] = renewed
        client = client_of(server.url, signed_in("new"), config=signed_in("old"))
        async with client.stream(SCHEDULES, {"watch": "1", "resourceVersion": "1"}, PATIENCE) as lines:
            await server.put("daily")
            assert b"daily" in await anext(lines)
            following = asyncio.ensure_future(anext(lines)) if waiting else None
            await asyncio.sleep(0)
            assert (await client.request("GET", "/version")).status == 200
            with pytest.raises(Unreachable, match="was cut"):
                async with asyncio.timeout(PATIENCE):
                    await (following or anext(lines))
        await client.close()


async def test_one_connection_serves_requests_in_turn() -> None:
    used: list[object] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        used.append(request.transport.get_extra_info("peername"))
        return web.json_response({})

    async with server_that(handle) as server:
        client = client_of(server.url)
        for _ in range(3):
            await client.request("GET", "/x")
        await client.close()
    assert len(used) == 3
    assert len(set(used)) == 1


async def test_no_more_is_under_way_than_the_budget_allows() -> None:
    budget = ConnectionBudget(requests=2, watches=2, other_streams=1)
    under_way = most = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.02)
        under_way -= 1
        return web.json_response({})

    async with serving(RoughServer()) as server:
        server.other["GET", "/version"] = handle
        client = client_of(server.url, budget=budget)
        await asyncio.gather(*(client.request("GET", "/version") for _ in range(8)))
        assert most == 2
        params = {"watch": "1", "resourceVersion": "1"}
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(30):
                for _ in range(3):
                    await stack.enter_async_context(client.stream(SCHEDULES, params, 60.0))
            assert server.watching == 3
            fourth = asyncio.create_task(stack.enter_async_context(client.stream(SCHEDULES, params, 60.0)))
            assert (await client.request("GET", "/version")).status == 200
            assert server.watching == 3
            fourth.cancel()
            await asyncio.wait([fourth])
        await client.close()


@pytest.mark.parametrize("limit", [4.0, None])
async def test_a_limit_of_a_few_seconds_or_none_leaves_time_for_an_answer(limit: float | None) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response({})

    async with server_that(handle) as server:
        client = client_of(server.url, config=replace(PLAIN, request_timeout=limit))
        assert (await client.request("GET", "/x")).status == 200
        async with client.chunks("/x", {}) as chunks:
            assert b"".join([chunk async for chunk in chunks]) == b"{}"
        await client.close()


@pytest.mark.parametrize(("length", "fits"), [(1000, True), (1001, False)])
async def test_an_answer_and_a_line_may_be_as_long_as_the_limit(
    length: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("MOST_BYTES", "LONGEST_LINE"):
        monkeypatch.setattr(f"foretop_core.kube.connection.client.{name}", 1000)

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * length)

    async with server_that(handle) as server:
        client = client_of(server.url)
        reading = client.request("GET", "/x")
        async with client.stream("/x", {}, 30.0) as lines:
            if fits:
                assert (await reading).body == b"x" * length
                assert [line async for line in lines] == [], "it has no end of line"
            else:
                with pytest.raises(ApiError, match="the answer is longer than 0 MiB"):
                    await reading
                with pytest.raises(ApiError, match="a line of the answer is longer than 0 MiB"):
                    await anext(lines)
        await client.close()


async def test_a_line_may_hold_the_largest_object_and_not_much_more() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * (int(request.query["mib"]) * 2**20) + b"\n")

    async with server_that(handle) as server:
        client = client_of(server.url)
        async with client.stream("/x", {"mib": "2"}, 30.0) as lines:
            assert [len(line) async for line in lines] == [2 * 2**20]
        async with client.stream("/x", {"mib": "7"}, 30.0) as lines:
            with pytest.raises(ApiError, match="a line of the answer is longer than 4 MiB"):
                await anext(lines)
        await client.close()


async def test_others_get_a_turn_now_and_then_while_many_lines_are_read_and_not_after_each() -> None:
    turns = 0

    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"{}\n" * 3000)

    async def count_turns() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with server_that(handle) as server:
        client = client_of(server.url)
        async with client.stream("/x", {}, 30.0) as lines:
            await asyncio.sleep(0.1)
            others = asyncio.create_task(count_turns())
            assert len([line async for line in lines]) == 3000
            others.cancel()
        await client.close()
    assert 20 <= turns <= 300
