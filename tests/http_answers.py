"""A small HTTP server on loopback for tests of what foretop sends and asks; it says nothing itself."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import Any

Answer = Callable[[str, str, bytes], tuple[int, bytes]]
"""The status and body for a path, its authorization and what was posted."""


class _Server(HTTPServer):
    def handle_error(self, *_: Any) -> None:
        """A client may leave before its answer."""


@contextmanager
def answering(answer: Answer, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Its address, until the end of the block; with TLS where it has a context for it."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status, body = answer(self.path, self.headers.get("Authorization", ""), self._body())
            self.send_response(status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _body(self) -> bytes:
            return self.rfile.read(int(self.headers["Content-Length"]))

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

    with _Server(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextmanager
def echoing() -> Iterator[str]:
    """The address of one that sends back what it got, which is no answer of HTTP."""

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(self.request.recv(2**16))

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
