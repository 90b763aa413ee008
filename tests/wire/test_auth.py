"""Credentials that change while foretop runs."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
import stat
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from aiohttp import web

from foretop_core.clock import Clock, ManualClock, SystemClock
from foretop_core.config.protection import server_address
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.config import AuthInfo, ContextConfig, ExecConfig, Impersonation
from foretop_core.kube.connection.connection_errors import Unauthenticated, Unreachable
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from tests.wire.raw_server import raw_server

NOW = datetime(2026, 11, 15, 3, 0, tzinfo=UTC)
AUTHORITY, STRANGER = trustme.CA(), trustme.CA()
PEOPLE = {who: AUTHORITY.issue_cert(f"{who}@example.test", common_name=who) for who in ("alice", "bob")}
SERVERS = {
    "server": AUTHORITY.issue_cert("127.0.0.1"),
    "elsewhere": AUTHORITY.issue_cert("api.example.test"),
    "expired": AUTHORITY.issue_cert("127.0.0.1", not_after=datetime(2021, 1, 1, tzinfo=UTC)),
}


@asynccontextmanager
async def guarded(accepted: set[str], seen: list[web.Request]) -> AsyncIterator[str]:
    """A server that lets in certain Authorization headers."""

    async def handle(request: web.Request) -> web.Response:
        seen.append(request)
        allowed = request.headers.get("Authorization", "") in accepted
        return web.json_response({}, status=200 if allowed else 401)

    async with _listening(handle) as url:
        yield url


@asynccontextmanager
async def trusted(certificate: str, seen: list[str]) -> AsyncIterator[str]:
    """A TLS server that wants a client certificate and notes whose came."""

    async def handle(request: web.Request) -> web.Response:
        assert request.transport is not None
        subject = request.transport.get_extra_info("peercert")["subject"]
        seen.append(next(value for ((name, value),) in subject if name == "commonName"))
        return web.json_response({})

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    AUTHORITY.configure_trust(context)
    SERVERS[certificate].configure_cert(context)
    context.verify_mode = ssl.CERT_REQUIRED
    async with _listening(handle, context) as url:
        yield url


@asynccontextmanager
async def _listening(handle: object, context: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", handle)  # type: ignore[arg-type]
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{port}"
    finally:
        await _cut_handshakes()
        await runner.cleanup()


async def _cut_handshakes() -> None:
    """Closes connections whose TLS handshake is under way: they are known to the event loop alone, which forgets them.

    A client that gives up, or does not trust the server, leaves one where the loop is slower than the client. One that
    is accepted in the moment in which the server closes is never closed at all, so those that wait are accepted before.
    """
    loop = asyncio.get_running_loop()

    async def run_what_is_ready() -> None:
        is_busy = True
        while is_busy:
            await asyncio.sleep(0)
            is_busy = bool(loop._ready)  # type: ignore[attr-defined]

    await run_what_is_ready()
    for task in asyncio.all_tasks():
        if getattr(task.get_coro(), "__name__", "") == "_accept_connection2":
            task.cancel()
    await run_what_is_ready()


def client_for(config: ContextConfig, reloads: list[ContextConfig], clock: Clock | None = None) -> ApiClient:
    clock = clock or SystemClock()
    auth = Authenticator(config, lambda: reloads[-1], ExecPlugins(clock, os.environ), clock)
    return ApiClient(auth, clock)


def pem(who: str) -> tuple[bytes, bytes]:
    return PEOPLE[who].cert_chain_pems[0].bytes(), PEOPLE[who].private_key_pem.bytes()


def certified(url: str, who: str, authority: trustme.CA = AUTHORITY) -> ContextConfig:
    certificate, key = pem(who)
    identity = AuthInfo(certificate=certificate, key=key)
    return ContextConfig("tls", url, ca=authority.cert_pem.bytes().decode(), identity=identity)


async def test_a_401_makes_foretop_read_the_kubeconfig_again() -> None:
    async with guarded({"Bearer new"}, []) as url:
        old = ContextConfig("prod", url, identity=AuthInfo(token="old"))
        client = client_for(old, [replace(old, identity=AuthInfo(token="new"))])
        assert (await client.request("GET", "/version")).status == 200
        await client.close()


async def test_a_kubeconfig_that_is_read_again_may_lead_to_another_cluster() -> None:
    async with guarded({"Bearer new"}, []) as url, guarded({"Bearer new"}, []) as other:
        old = ContextConfig("prod", url, identity=AuthInfo(token="old"))
        client = client_for(old, [replace(old, server=other, identity=AuthInfo(token="new"))])
        assert client.identity.address == server_address(url)
        await client.request("GET", "/version")
        assert client.identity.address == server_address(other)
        await client.close()


async def test_a_token_file_that_rotates_is_read_again(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("one\n")
    clock = ManualClock(NOW)
    accepted = {"Bearer one"}
    seen: list[web.Request] = []
    async with guarded(accepted, seen) as url:
        config = ContextConfig("pod", url, identity=AuthInfo(token_file=str(token)))
        client = client_for(config, [config], clock)
        await client.request("GET", "/version")
        token.write_text("two\n")
        clock.advance(timedelta(minutes=2))
        accepted.add("Bearer two")
        await client.request("GET", "/version")
        token.write_text("three\n")
        accepted.clear()
        accepted.add("Bearer three")
        await client.request("GET", "/version")
        await client.close()
    assert [request.headers["Authorization"] for request in seen] == [
        "Bearer one",
        "Bearer two",
        "Bearer two",
        "Bearer three",
    ]


async def test_a_plugin_is_run_again_when_its_token_is_refused(tmp_path: Path) -> None:
    script = tmp_path / "login"
    head = '{"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"'
    script.write_text(f"#!/bin/sh\necho x >> {tmp_path}/n\necho '{head}'t$(wc -l < {tmp_path}/n | tr -d ' ')'\"}}}}'\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    async with guarded({"Bearer t2"}, []) as url:
        config = ContextConfig("exec", url, identity=AuthInfo(plugin=ExecConfig(str(script))))
        client = client_for(config, [config])
        assert (await client.request("GET", "/version")).status == 200
        await client.close()


async def test_acting_as_somebody_else_is_told_to_the_server() -> None:
    seen: list[web.Request] = []
    async with guarded({"Bearer t"}, seen) as url:
        acting = Impersonation("alice", ("devs", "ops"))
        config = ContextConfig("c", url, identity=AuthInfo(token="t"), impersonation=acting)
        client = client_for(config, [config])
        await client.request("GET", "/version")
        await client.close()
    assert seen[0].headers["Impersonate-User"] == "alice"
    assert seen[0].headers.getall("Impersonate-Group") == ["devs", "ops"]


async def test_a_client_certificate_is_shown_to_the_server() -> None:
    seen: list[str] = []
    async with trusted("server", seen) as url:
        config = certified(url, "alice")
        client = client_for(config, [config])
        await client.request("GET", "/version")
        await client.close()
    assert seen == ["alice"]


def test_a_kill_leaves_no_key_behind(tmp_path: Path) -> None:
    code = """
import asyncio, os, signal, sys
from pathlib import Path
from foretop_core.kube.connection.auth import Credentials
from foretop_core.kube.connection.config import ContextConfig
from foretop_core.kube.connection.aiohttp_pool import make_pool

async def connect_and_die():
    crt, key = (Path(name).read_bytes() for name in sys.argv[1:])
    await make_pool(ContextConfig("c", "https://127.0.0.1:1"), Credentials("", crt, key))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(connect_and_die())
"""
    given, temporary = tmp_path / "given", tmp_path / "temporary"
    given.mkdir()
    temporary.mkdir()
    for name, content in zip(("crt", "key"), pem("alice"), strict=True):
        (given / name).write_bytes(content)
    ran = subprocess.run(
        [sys.executable, "-c", code, given / "crt", given / "key"],
        env={**os.environ, "TMPDIR": str(temporary)},
        check=False,
    )
    assert ran.returncode == -signal.SIGKILL
    assert list(temporary.iterdir()) == []


async def test_a_plugins_certificate_is_renewed_when_it_expires(tmp_path: Path) -> None:
    def answer(who: str) -> str:
        certificate, key = pem(who)
        status = {
            "clientCertificateData": certificate.decode(),
            "clientKeyData": key.decode(),
            "expirationTimestamp": "2026-11-15T03:10:00Z",
        }
        return json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "status": status})

    (tmp_path / "answer").write_text(answer("alice"))
    identity = AuthInfo(plugin=ExecConfig("cat", (str(tmp_path / "answer"),)))
    clock = ManualClock(NOW)
    seen: list[str] = []
    async with trusted("server", seen) as url:
        config = ContextConfig("tls", url, ca=AUTHORITY.cert_pem.bytes().decode(), identity=identity)
        client = client_for(config, [config], clock)
        await client.request("GET", "/version")
        (tmp_path / "answer").write_text(answer("bob"))
        clock.advance(timedelta(minutes=11))
        await client.request("GET", "/version")
        await client.close()
    assert seen == ["alice", "bob"]


async def test_a_key_that_does_not_fit_is_one_line() -> None:
    config = certified("https://127.0.0.1:1", "alice")
    broken = replace(config, identity=replace(config.identity, key=pem("bob")[1]))
    client = client_for(broken, [broken])
    with pytest.raises(Unauthenticated, match="do not match"):
        await client.request("GET", "/version")


async def test_the_systems_authorities_are_read_only_where_they_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that does not fit is tried again by every watch: to read them each time took a third of a core."""
    read: list[object] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda self, purpose: read.append(purpose))
    asking = replace(certified("https://127.0.0.1:1", "alice"), ca="")
    broken = replace(asking, identity=replace(asking.identity, key=pem("bob")[1]))
    for config in (broken, replace(asking, insecure=True), asking):
        assert read == []
        client = client_for(config, [config])
        with pytest.raises(Unauthenticated if config is broken else Unreachable):
            await client.request("GET", "/version")
        await client.close()
    assert len(read) == 1


TRUST = [
    ("server", STRANGER, "the CA is not the one in the kubeconfig"),
    ("expired", AUTHORITY, "its certificate has expired"),
    ("elsewhere", AUTHORITY, "tls-server-name"),
]


@pytest.mark.parametrize(("certificate", "ca", "told"), TRUST)
async def test_a_server_that_is_not_trusted_is_one_line(certificate: str, ca: trustme.CA, told: str) -> None:
    async with trusted(certificate, []) as url:
        config = certified(url, "alice", ca)
        client = client_for(config, [config])
        with pytest.raises(Unreachable) as caught:
            await client.request("GET", "/version")
        await client.close()
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_tls_server_name_and_skipping_the_check_are_honoured() -> None:
    seen: list[str] = []
    async with trusted("elsewhere", seen) as url:
        named = replace(certified(url, "alice"), tls_server_name="api.example.test")
        trusting = replace(certified(url, "bob"), ca="", insecure=True)
        for config in (named, trusting):
            client = client_for(config, [config])
            await client.request("GET", "/version")
            await client.close()
    assert seen == ["alice", "bob"]


async def test_a_proxy_is_gone_through_with_tls_to_the_server_inside() -> None:
    seen: list[str] = []
    asked: list[bytes] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split()[1])
        host, port = head.split()[1].decode().split(":")
        inside_reader, inside_writer = await asyncio.open_connection(host, int(port))
        try:
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await asyncio.gather(_pump(reader, inside_writer), _pump(inside_reader, writer))
        finally:
            inside_writer.transport.abort()

    async with raw_server(tunnel) as port, trusted("elsewhere", seen) as url:
        plain = certified(url, "alice")
        config = replace(plain, proxy=f"http://127.0.0.1:{port}", tls_server_name="api.example.test")
        client = client_for(config, [config])
        await client.request("GET", "/version")
        await client.close()
    assert seen == ["alice"]
    assert asked == [url.removeprefix("https://").encode()]


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    writer.close()
