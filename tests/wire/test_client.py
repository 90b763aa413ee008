"""The raw client: read-only, server time, errors in one line, many watches at once."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import ClientConnectorError, web
from aiohttp.client_reqrep import ConnectionKey

from foretop_core.clock import ClockSkew
from foretop_core.kube.connection.aiohttp_pool import explain
from foretop_core.kube.connection.config import AuthInfo
from foretop_core.kube.connection.connection_errors import ApiError, Unauthenticated, Unreachable, WriteRefused
from tests.wire.faulty_server import SCHEDULES, RoughServer, answer, serving
from tests.wire.watching import connect, permit

REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@pytest_asyncio.fixture
async def server() -> AsyncIterator[RoughServer]:
    async with serving(RoughServer()) as running:
        yield running


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "patch", "post"])
async def test_with_read_only_on_no_write_leaves_the_process(server: RoughServer, method: str) -> None:
    client = connect(server.url, read_only=True)
    for path in (SCHEDULES, f"{SCHEDULES}/daily", f"{REVIEW}/x", f"{REVIEW}/../{SCHEDULES}"):
        with pytest.raises(WriteRefused, match="it has no permit"):
            await client.request(method, path, body={})
        with pytest.raises(WriteRefused, match="read-only is on"):
            await client.write(permit(client, method, path), method, path, {}, {})
    await client.close()
    assert server.seen == []


async def test_a_permit_is_for_the_writes_of_its_plan_and_for_its_client_alone(server: RoughServer) -> None:
    client, other = connect(server.url), connect(server.url)
    path = f"{SCHEDULES}/daily"
    given = permit(client, "PATCH", path)
    for sender, method, place in (
        (other, "PATCH", path),
        (client, "DELETE", path),
        (client, "PATCH", f"{SCHEDULES}/weekly"),
        (client, "patch", path),
    ):
        with pytest.raises(WriteRefused, match="it is not in the plan that was permitted"):
            await sender.write(given, method, place, {}, {})
    for params in ({}, {"dryRun": ""}):
        with pytest.raises(WriteRefused, match="only a dry run was permitted"):
            await client.write(replace(given, dry_run=True), "PATCH", path, params, {})
    await client.close()
    await other.close()
    assert server.seen == []


async def test_with_read_only_on_one_may_still_look_and_ask_what_is_allowed(server: RoughServer) -> None:
    async def allow(request: web.Request) -> web.StreamResponse:
        return web.json_response({"status": {"allowed": True}})

    server.other["POST", REVIEW] = allow
    client = connect(server.url, read_only=True)
    await client.request("GET", SCHEDULES)
    response = await client.request("POST", REVIEW, body={"spec": {}})
    await client.close()
    assert response.status == 200
    assert [method for method, _, _ in server.seen] == ["GET", "POST"]


@pytest.mark.sweep
async def test_a_hundred_and_thirty_watches_run_at_once_on_one_context(server: RoughServer) -> None:
    await server.put("daily")
    client = connect(server.url)
    params = {"watch": "true", "resourceVersion": str(server.version)}
    async with AsyncExitStack() as stack:
        watches = [await stack.enter_async_context(client.stream(SCHEDULES, params, 30)) for _ in range(130)]
        assert server.watching == 130
        await client.request("GET", SCHEDULES)
        await server.put("news")
        lines = await asyncio.gather(*(anext(watch) for watch in watches))
    await client.close()
    assert all(b"news" in line for line in lines)


async def test_what_the_api_server_says_no_to_is_told_in_its_own_words(server: RoughServer) -> None:
    server.list_faults.append(answer(429, "TooManyRequests", "slow down", retry_after=3))
    client = connect(server.url)
    with pytest.raises(ApiError) as caught:
        await client.request("GET", SCHEDULES)
    await client.close()
    assert (caught.value.status, caught.value.reason, caught.value.retry_after) == (429, "TooManyRequests", 3.0)
    assert "slow down" in str(caught.value)


async def test_a_proxys_error_page_is_no_status_and_shows_no_markup(server: RoughServer) -> None:
    async def page(request: web.Request) -> web.StreamResponse:
        return web.Response(status=502, text="<html>\n<h1>Bad gateway</h1></html>", content_type="text/html")

    server.list_faults.append(page)
    client = connect(server.url)
    with pytest.raises(ApiError) as caught:
        await client.request("GET", SCHEDULES)
    await client.close()
    assert str(caught.value) == "The API server answered 502 Bad Gateway"


async def test_a_refused_connection_is_one_line() -> None:
    with socket.socket() as taken_but_silent:
        taken_but_silent.bind(("127.0.0.1", 0))
        client = connect(f"http://127.0.0.1:{taken_but_silent.getsockname()[1]}")
        with pytest.raises(Unreachable) as caught:
            await client.request("GET", SCHEDULES)
        await client.close()
    line = str(caught.value)
    assert "\n" not in line
    assert "connection refused" in line


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 70, "under_score..", "ex ample"])
async def test_a_host_that_cannot_be_is_one_line(host: str) -> None:
    client = connect(f"https://{host}:6443")
    with pytest.raises(Unreachable) as caught:
        await client.request("GET", SCHEDULES)
    await client.close()
    assert str(caught.value).startswith(f"https://{host}:6443 cannot be reached: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("number", "told"), [(113, "no route to host"), (0, "[errno 0] odd"), (-2, "[errno -2] odd")])
def test_a_number_that_is_not_the_system_s_is_told_in_its_own_words(number: int, told: str) -> None:
    key = ConnectionKey("k", 443, False, False, None, None, None)
    assert explain("https://k", ClientConnectorError(key, OSError(number, "odd"))).why == told


async def test_credentials_that_are_not_taken_are_signed_out_after_one_more_try(server: RoughServer) -> None:
    server.list_faults.extend([answer(401, "Unauthorized")] * 3)
    client = connect(server.url, identity=AuthInfo(token="old"))
    with pytest.raises(Unauthenticated) as caught:
        await client.request("GET", SCHEDULES)
    await client.close()
    assert "credentials of rough" in str(caught.value)
    assert "old" not in str(caught.value).replace("again", "")


async def test_the_servers_time_is_learned_from_its_answers(server: RoughServer) -> None:
    client = connect(server.url)
    assert client.skew is None
    await client.request("GET", SCHEDULES)
    await client.close()
    assert client.skew is not None
    assert abs(client.skew) < timedelta(seconds=60)


@pytest.mark.parametrize(
    "header",
    [
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "Fri, 31 Dec 9999 12:00:00 GMT",
        "Thu, 01 Jan 1970 00:00:00 GMT",
        "Mon, 16 Nov 99999999999999999999 04:24:42 GMT",
        "Mon, 16 Nov 2026 04:24:42 +99999999",
        "",
    ],
)
def test_a_date_that_is_nobody_s_clock_moves_no_time(header: str) -> None:
    known = ClockSkew()
    sent = datetime(2026, 11, 15, 3, 0, 0, tzinfo=UTC)
    known.learn(header, sent, sent)
    assert known.at(sent) is None
    known.learn("Sun, 15 Nov 2026 04:00:00 GMT", sent, sent)
    known.learn(header, sent, sent)
    found = known.at(sent)
    assert found is not None
    assert abs(found - timedelta(hours=1)) <= timedelta(seconds=1)


def test_many_answers_tell_the_skew_much_finer_than_one() -> None:
    true_skew = timedelta(minutes=-7, milliseconds=-380)
    known = ClockSkew()
    sent = datetime(2026, 11, 15, 3, 0, 0, tzinfo=UTC)
    for step in range(40):
        sent += timedelta(milliseconds=137 + step)
        server = (sent + timedelta(milliseconds=5) + true_skew).replace(microsecond=0)
        known.learn(server.strftime("%a, %d %b %Y %H:%M:%S GMT"), sent, sent + timedelta(milliseconds=10))
    found = known.at(sent)
    assert found is not None
    assert abs(found - true_skew) < timedelta(milliseconds=50)


def test_a_clock_that_is_set_while_we_run_is_noticed() -> None:
    known = ClockSkew()
    sent = datetime(2026, 11, 15, 3, 0, 0, tzinfo=UTC)
    known.learn("Sun, 15 Nov 2026 03:00:00 GMT", sent, sent)
    for _ in range(3):
        known.learn("Sun, 15 Nov 2026 04:00:00 GMT", sent, sent)
    found = known.at(sent)
    assert found is not None
    assert found > timedelta(minutes=59)


def test_a_step_of_our_own_clock_does_not_move_the_server_s_between_two_answers() -> None:
    ticks = 100.0
    known = ClockSkew(lambda: ticks)
    sent = datetime(2026, 11, 15, 3, 0, 0, tzinfo=UTC)
    known.learn("Sun, 15 Nov 2026 03:00:00 GMT", sent, sent)
    for step in (timedelta(hours=1), timedelta(hours=-1), timedelta(days=400)):
        ticks = 160.0
        now = sent + timedelta(minutes=1) + step
        found = known.at(now)
        assert found is not None
        assert abs(now + found - datetime(2026, 11, 15, 3, 1, 0, 500_000, tzinfo=UTC)) < timedelta(seconds=1)
    later = sent + timedelta(hours=2, minutes=1)
    known.learn("Sun, 15 Nov 2026 03:01:00 GMT", later, later)
    found = known.at(later)
    assert found is not None
    assert abs(found + timedelta(hours=2)) < timedelta(seconds=2)


def test_looking_at_kubeconfigs_loads_no_library_that_connects() -> None:
    rooms = ("connection.client_factory", "watching.cluster_watcher", "watching.reflector", "access.find_velero")
    modules = ", ".join(f"foretop_core.kube.{name}" for name in rooms)
    code = f"import {modules}, sys; print({{'aiohttp', 'kubernetes', 'python_socks'}} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def test_a_second_watch_waits_for_the_library_that_the_first_is_loading() -> None:
    code = """
import asyncio, sys
from foretop_core.kube.connection.config import ContextConfig
from foretop_core.kube.connection.aiohttp_pool import import_in_background

async def start_two() -> bool:
    config = ContextConfig("c", "https://c")
    first = asyncio.create_task(import_in_background(config))
    while "foretop_core.kube.connection.aborting_connector" not in sys.modules:
        await asyncio.sleep(0)
    await import_in_background(config)
    ready = hasattr(sys.modules["foretop_core.kube.connection.aborting_connector"], "AbortingConnector")
    await first
    return ready

print(asyncio.run(start_two()))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "True"


async def test_a_request_whose_pool_is_replaced_while_a_name_is_looked_up_fails_and_is_not_cancelled(
    server: RoughServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A watch that nobody has cancelled must not end as if somebody had: nobody would start it again."""
    asked, answers, look_up = threading.Event(), threading.Event(), socket.getaddrinfo

    def slowly(*arguments: Any, **options: Any) -> Any:
        asked.set()
        answers.wait()
        return look_up(*arguments, **options)

    monkeypatch.setattr("socket.getaddrinfo", slowly)
    client = connect(server.url.replace("127.0.0.1", "localhost"))
    first = asyncio.ensure_future(client.request("GET", SCHEDULES))
    await asyncio.to_thread(asked.wait)
    client._auth.config = replace(client.config, request_timeout=30.0)
    second = asyncio.ensure_future(client.request("GET", SCHEDULES))
    with pytest.raises(Unreachable, match="its connections were closed meanwhile"):
        await first
    answers.set()
    await asyncio.wait([second])
    await client.close()
