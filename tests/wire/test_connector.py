"""Connections over TLS that end early, to a server that never says goodbye."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import trustme

from foretop_core.clock import SystemClock
from foretop_core.kube.connection.aborting_connector import ThreadedResolver
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.config import ContextConfig
from foretop_core.kube.connection.exec_plugin import ExecPlugins

AUTHORITY = trustme.CA()
EVENT = b'{"type":"BOOKMARK"}\n'
WATCH = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(EVENT), EVENT)
PATIENCE = 25.0


class Sulking:
    """Takes one request, says what it is told to, and from then on only looks whether the line is still up."""

    def __init__(self, says: bytes) -> None:
        self._says = says
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        AUTHORITY.issue_cert("127.0.0.1").configure_cert(self._context)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.asked, self.line_is_down = threading.Event(), threading.Event()

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._listener.getsockname()[1]}"

    @contextmanager
    def serving(self) -> Iterator[None]:
        self._thread.start()
        try:
            yield
        finally:
            self._thread.join(PATIENCE)
            self._listener.close()

    def _serve(self) -> None:
        plain, _ = self._listener.accept()
        with self._context.wrap_socket(plain, server_side=True) as secure:
            secure.recv(65536)
            secure.sendall(self._says)
            self.asked.set()
            # Past the TLS layer, which would answer the client's goodbye.
            with socket.socket(fileno=os.dup(secure.fileno())) as below, suppress(ConnectionError):
                while below.recv(65536):
                    pass
        self.line_is_down.set()


def client_of(server: Sulking) -> ApiClient:
    config = ContextConfig("tls", server.url, ca=AUTHORITY.cert_pem.bytes().decode())
    clock = SystemClock()
    return ApiClient(Authenticator(config, lambda: config, ExecPlugins(clock, {}), clock), clock)


async def test_closing_cuts_the_line_of_a_watch_that_was_left() -> None:
    server = Sulking(WATCH)
    client = client_of(server)
    with server.serving():
        async with client.stream("/watch", {}, PATIENCE) as lines:
            assert await anext(lines) == EVENT.strip()
        await client.close()
        assert await asyncio.to_thread(server.line_is_down.wait, PATIENCE)


async def test_closing_cuts_the_line_of_a_request_that_was_given_up() -> None:
    server = Sulking(b"")
    client = client_of(server)
    with server.serving():
        request = asyncio.create_task(client.request("GET", "/version"))
        assert await asyncio.to_thread(server.asked.wait, PATIENCE)
        request.cancel()
        await asyncio.wait([request])
        await client.close()
        assert await asyncio.to_thread(server.line_is_down.wait, PATIENCE)


async def test_a_name_that_is_looked_up_keeps_the_port_it_was_asked_with() -> None:
    asked = await ThreadedResolver().resolve("127.0.0.1", 6443)
    assert {(found["host"], found["port"]) for found in asked} == {("127.0.0.1", 6443)}
    without = await ThreadedResolver().resolve("127.0.0.1")
    assert {(found["host"], found["port"]) for found in without} == {("127.0.0.1", 0)}
