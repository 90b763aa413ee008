"""An S3 for a real Velero, which can stand still and lose its buckets."""

from __future__ import annotations

from pathlib import Path

import urllib3

from tests.real.server import Server, free_port


class LoopbackS3:
    """moto's server on loopback; it takes any credentials."""

    def __init__(self, python: Path, folder: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command = [python, "-I", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        self._server = Server(command, folder / "object-storage.log", self._is_ready)
        self._pool = urllib3.PoolManager(retries=False, timeout=60.0)
        self._frozen = False

    def start(self) -> None:
        self._server.start()

    def close(self) -> None:
        self._server.kill()
        self._pool.clear()

    def stop(self) -> None:
        """Stand still: every request hangs from now on."""
        self._server.freeze()
        self._frozen = True

    def answer(self) -> None:
        """Answer again, first those who wait."""
        if self._frozen:
            self._server.thaw()
        self._frozen = False

    def make(self, bucket: str) -> None:
        self._ask("PUT", f"/{bucket}", 200)

    def empty(self) -> None:
        """Take all buckets away, with all that is in them."""
        self._ask("POST", "/moto-api/reset", 200)

    def _ask(self, method: str, path: str, expected: int) -> bytes:
        response = self._pool.request(method, self.url + path)
        if response.status != expected:
            raise AssertionError(f"object storage answered {response.status} to {method} {path}: {response.data!r}")
        return response.data

    def _is_ready(self) -> bool:
        try:
            return self._pool.request("GET", self.url).status == 200
        except urllib3.exceptions.HTTPError:
            return False
