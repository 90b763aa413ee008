"""An S3 for a real Velero that can be frozen and can lose its buckets."""

from __future__ import annotations

from pathlib import Path

import urllib3

from tests.real.server_process import Server, free_port

_SIGNED = "AWS4-HMAC-SHA256 Credential=any/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=any"


class LoopbackS3:
    """moto's server on loopback; it takes any credentials."""

    def __init__(self, python: Path, folder: Path) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        command: list[str | Path] = [python, "-I", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
        self._server = Server(command, folder / "object-storage.log", self._is_ready)
        self._pool = urllib3.PoolManager(retries=False, timeout=60.0)
        self._frozen = False

    def start(self) -> None:
        self._server.start()

    def close(self) -> None:
        self._server.kill()
        self._pool.clear()

    def freeze(self) -> None:
        """Let every request hang from now on."""
        self._server.freeze()
        self._frozen = True

    def unfreeze(self) -> None:
        """Answer again, waiting requests first."""
        if self._frozen:
            self._server.thaw()
        self._frozen = False

    def create_bucket(self, bucket: str) -> None:
        self._ask("PUT", f"/{bucket}", 200)

    def delete_buckets(self) -> None:
        """Delete all buckets and their contents."""
        self._ask("POST", "/moto-api/reset", 200)

    def read(self, path: str) -> bytes:
        """One object, by its bucket and key."""
        return self._ask("GET", f"/{path}", 200)

    def _ask(self, method: str, path: str, expected: int) -> bytes:
        response = self._pool.request(method, self.url + path, headers={"Authorization": _SIGNED})
        if response.status != expected:
            raise AssertionError(f"object storage answered {response.status} to {method} {path}: {response.data!r}")
        return response.data

    def _is_ready(self) -> bool:
        try:
            return self._pool.request("GET", self.url).status == 200
        except urllib3.exceptions.HTTPError:
            return False
