"""The pool of connections: what it trusts, what it says of trouble, and how it ends."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
import socket
import ssl
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from aiohttp.client_reqrep import ConnectionKey

from foretop_core.clock import ManualClock, SystemClock
from foretop_core.errors import BadInput
from foretop_core.kube.connection.aborting_connector import SocksRefused
from foretop_core.kube.connection.aiohttp_pool import (
    RESERVED,
    ConnectionBudget,
    connection_budget,
    explain,
    import_in_background,
    load_certificate,
    make_pool,
)
from foretop_core.kube.connection.auth import Credentials
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions, ContextConfig
from foretop_core.kube.connection.connection_errors import NotConnected, Unauthenticated, Unreachable
from tests.wire.test_auth import AUTHORITY, client_for, pem
from tests.wire.test_kubeconfig import two_files
from tests.wire.test_limits import server_that

KEY = ConnectionKey("k", 443, True, True, None, None, None)
CERTIFICATE_TROUBLE = [
    ("certificate has expired", "its certificate has expired"),
    ("certificate is not yet valid", "its certificate is not valid yet"),
    ("Hostname mismatch, certificate is not valid for 'k'.", "Hostname mismatch, certificate is not valid for 'k'"),
    ("IP address mismatch, certificate is not valid for '1'.", "IP address mismatch, certificate is not valid for '1'"),
    ("self-signed certificate", "self-signed certificate: the CA is not the one in the kubeconfig"),
]


def certificate_error(reason: str) -> aiohttp.ClientConnectorCertificateError:
    problem = ssl.SSLCertVerificationError(1, "verify failed")
    problem.verify_message = reason
    return aiohttp.ClientConnectorCertificateError(KEY, problem)


@pytest.mark.parametrize(("reason", "told"), CERTIFICATE_TROUBLE)
def test_each_trouble_with_a_certificate_says_what_it_is(reason: str, told: str) -> None:
    found = explain("https://k", certificate_error(reason))
    assert (type(found), found.what, found.why) == (NotConnected, "https://k is not trusted", told)
    assert bool(found.hint)


def test_a_certificate_error_without_words_of_its_own_is_told_as_it_is() -> None:
    found = explain("https://k", aiohttp.ClientConnectorCertificateError(KEY, ValueError("odd")))
    assert found.why == "odd: the CA is not the one in the kubeconfig"


TROUBLES: list[tuple[Exception, type[Unreachable], str]] = [
    (aiohttp.ClientConnectorSSLError(KEY, OSError(1, "wrong version")), NotConnected, "TLS: wrong version"),
    (aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "x")), NotConnected, "its name cannot be resolved"),
    (aiohttp.ClientProxyConnectionError(KEY, OSError(111, "x")), NotConnected, "the proxy does not answer"),
    (SocksRefused("not allowed"), NotConnected, "the SOCKS proxy answered: not allowed"),
    (aiohttp.ClientConnectorError(KEY, OSError(errno.EMFILE, "x")), NotConnected, "too many open files"),
    (aiohttp.ClientConnectorError(KEY, OSError(errno.ENFILE, "x")), NotConnected, "too many open files"),
    (aiohttp.ClientConnectorError(KEY, OSError(errno.EPERM, "x")), NotConnected, "operation not permitted"),
    (aiohttp.ClientConnectorError(KEY, OSError("In words")), NotConnected, "In words"),
    (TimeoutError(), Unreachable, "no answer in time"),
    (aiohttp.InvalidURL("x"), Unreachable, "its address is malformed"),
    (ValueError("odd"), Unreachable, "odd"),
    (ValueError(), Unreachable, "ValueError"),
]


@pytest.mark.parametrize(("problem", "kind", "why"), TROUBLES)
def test_each_trouble_of_the_transport_is_told_in_its_own_words(
    problem: Exception, kind: type[Unreachable], why: str
) -> None:
    found = explain("https://k", problem)
    assert (type(found), found.what, found.why) == (kind, "https://k cannot be reached", why)


CUT = [
    aiohttp.ServerDisconnectedError(),
    aiohttp.ClientPayloadError(),
    aiohttp.ClientOSError(errno.ECONNRESET, "Connection reset by peer"),
    BrokenPipeError(),
]


@pytest.mark.parametrize("problem", CUT)
def test_a_connection_that_was_cut_is_told_as_that(problem: Exception) -> None:
    assert str(explain("https://k", problem)) == "The connection to https://k was cut"


async def trust_of(config: ContextConfig) -> Any:
    async with await make_pool(config, Credentials()) as pool:
        assert isinstance(pool.connector, aiohttp.TCPConnector)
        return pool.connector._ssl


async def test_plain_http_needs_no_trust_unless_its_proxy_does() -> None:
    assert await trust_of(ContextConfig("c", "http://k")) is True
    assert await trust_of(ContextConfig("c", "http://k", proxy="http://p:1")) is True
    for config in (ContextConfig("c", "http://k", proxy="https://p:1"), ContextConfig("c", "https://k")):
        assert isinstance(await trust_of(config), ssl.SSLContext)


async def test_only_the_given_authority_is_trusted_or_the_system_s_or_anybody() -> None:
    given = await trust_of(ContextConfig("c", "https://k", ca=AUTHORITY.cert_pem.bytes().decode()))
    assert len(given.get_ca_certs()) == 1
    assert (given.verify_mode, given.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert not given.verify_flags & ssl.VERIFY_X509_STRICT
    anybody = await trust_of(ContextConfig("c", "https://k", insecure=True))
    assert (anybody.verify_mode, anybody.check_hostname) == (ssl.CERT_NONE, False)
    with pytest.raises(BadInput, match="The certificate-authority of c cannot be used: it is not a PEM certificate"):
        await trust_of(ContextConfig("c", "https://k", ca="hello"))


def test_a_certificate_is_loaded_from_memory() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    certificate, key = pem("alice")
    load_certificate(context, "c", Credentials("", certificate, key))
    for wrong in ((certificate, b""), (b"hello", key), (certificate, pem("bob")[1])):
        with pytest.raises(Unauthenticated, match="The client certificate of c cannot be used"):
            load_certificate(context, "c", Credentials("", *wrong))


async def test_nothing_is_complained_of_when_connections_end_in_any_way() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.path == "/reset":
            assert request.transport is not None
            line = request.transport.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.transport.abort()
        return web.json_response({})

    async with server_that(handle) as server:
        config = ContextConfig("c", server.url)
        client = client_for(config, [config])
        for _ in range(3):
            await client.request("GET", "/x")
        with pytest.raises(Unreachable, match="was cut"):
            await client.request("GET", "/reset")
        await asyncio.gather(*(client.request("GET", "/x") for _ in range(3)))
        await client.close()
        await client.close()
    await asyncio.sleep(0)
    assert complaints == []


@contextmanager
def open_files(limit: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_small_share_is_divided_and_none_of_it_is_left_over() -> None:
    for descriptors, contexts, share in ((96, 1, (8, 20, 4)), (144, 2, (10, 25, 5)), (256, 1, (32, 152, 8))):
        assert connection_budget(contexts, descriptors) == ConnectionBudget(*share)
        assert sum(share) * contexts == descriptors - RESERVED
    assert connection_budget(1, resource.RLIM_INFINITY) == connection_budget(1, 10**6) == ConnectionBudget()
    assert connection_budget(50, 64) == connection_budget(1, 64) == ConnectionBudget(2, 5, 1)


def test_a_context_that_is_opened_later_gets_the_share_of_one_more(tmp_path: Path) -> None:
    first, second = two_files(tmp_path)
    environ = {"KUBECONFIG": os.pathsep.join((str(first), str(second)))}
    with open_files(200):
        made = connect(ConnectionOptions(), environ, SystemClock(), read_only=False)
        assert made.clients["one"].budget == connection_budget(1, 200)
        assert made.open_more("two").budget == connection_budget(2, 200)
    assert made.known() == ("one", "both", "two")


async def test_a_clock_that_a_test_or_a_demo_moves_is_not_one_that_was_set() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response({})

    clock = ManualClock(datetime(2026, 11, 15, 3, 0, tzinfo=UTC))
    async with server_that(handle) as server:
        (client,) = connect(ConnectionOptions(server=server.url), {}, clock, read_only=False).clients.values()
        await client.request("GET", "/version")
        await client.close()
    known = client.skew
    assert known is not None
    clock.advance(timedelta(hours=1))
    assert client.skew == known


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no files in memory alone")
def test_a_key_is_not_written_to_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    load_certificate(ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), "c", Credentials("", *pem("alice")))


async def test_a_proxy_of_the_environment_is_no_business_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.json_response({})

    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with server_that(handle) as server:
        config = ContextConfig("c", server.url)
        client = client_for(config, [config])
        assert (await client.request("GET", "/x")).status == 200
        await client.close()


@pytest.mark.parametrize(("proxy", "wanted"), [("", "plain_library"), ("socks5://p:1", "socks_library")])
async def test_the_library_that_a_proxy_needs_is_loaded(
    proxy: str, wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for constant, name in (("_CONNECTOR", "plain_library"), ("_SOCKS_CONNECTOR", "socks_library")):
        (tmp_path / f"{name}.py").write_text("last = True\n")
        monkeypatch.setattr(f"foretop_core.kube.connection.aiohttp_pool.{constant}", (name, "last"))
    monkeypatch.syspath_prepend(str(tmp_path))
    await import_in_background(ContextConfig("c", "https://k", proxy=proxy))
    loaded = {name: sys.modules.pop(name, None) for name in ("plain_library", "socks_library")}
    assert [name for name, module in loaded.items() if module] == [wanted]
