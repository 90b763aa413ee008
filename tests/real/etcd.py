"""The etcd under the API server."""

from __future__ import annotations

import base64
import itertools
import shutil
from collections.abc import Iterable
from pathlib import Path

import urllib3

from tests.real.server_process import Server, free_port

_MOST_IN_ONE_TRANSACTION = 128


class Etcd:
    """One etcd with its data in a folder, on loopback."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        peer = f"http://127.0.0.1:{free_port()}"
        self._data = folder / "etcd"
        command: list[str | Path] = [
            binary,
            f"--data-dir={self._data}",
            f"--listen-client-urls={self.url}",
            f"--advertise-client-urls={self.url}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--log-level=warn",
            # Data must survive a killed process, but not a power cut.
            "--unsafe-no-fsync",
        ]
        self._server = Server(command, folder / "etcd.log", self._is_ready)

    @property
    def runs(self) -> bool:
        return self._server.runs

    def start(self) -> None:
        self._server.start()

    def kill(self) -> None:
        self._server.kill()

    def save(self, copy: Path) -> None:
        """Copy its data; it must not run meanwhile."""
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self._data, copy)

    def put_back(self, copy: Path) -> None:
        """Take up the data of that moment: revisions begin again from there; it must not run meanwhile."""
        shutil.rmtree(self._data)
        shutil.copytree(copy, self._data)

    def compact(self) -> None:
        """Drop every revision but the newest."""
        newest = self._ask("/v3/kv/range", {"key": _encoded(b"/")})["header"]["revision"]
        self._ask("/v3/kv/compaction", {"revision": newest, "physical": True})

    def put_all(self, values: Iterable[tuple[str, bytes]]) -> None:
        """Write many keys, as many in one transaction as etcd takes."""
        remaining = iter(values)
        while batch := list(itertools.islice(remaining, _MOST_IN_ONE_TRANSACTION)):
            puts = [{"requestPut": {"key": _encoded(key.encode()), "value": _encoded(value)}} for key, value in batch]
            self._ask("/v3/kv/txn", {"success": puts})

    def _ask(self, path: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
        with urllib3.PoolManager(retries=False, timeout=120.0) as pool:
            response = pool.request("POST", self.url + path, json=body)
            if response.status != 200:
                raise AssertionError(f"etcd answered {response.status} to {path}: {response.data.decode()}")
            answer: dict[str, dict[str, str]] = response.json()
            return answer

    def _is_ready(self) -> bool:
        try:
            with urllib3.PoolManager(retries=False, timeout=10.0) as pool:
                return pool.request("GET", f"{self.url}/health").status == 200
        except urllib3.exceptions.HTTPError:
            return False


def _encoded(value: bytes) -> str:
    return base64.b64encode(value).decode()
