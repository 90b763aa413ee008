"""A minimal Kubernetes client for the test harness; foretop's own client is what is tested."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3

CONNECTIONS = 16


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the API server."""

    status: int
    body: Any
    headers: dict[str, str]

    def expect(self, *statuses: int) -> Any:
        """The body, if the status is one of those expected."""
        if self.status not in statuses:
            raise AssertionError(f"HTTP {self.status} instead of {statuses}: {json.dumps(self.body)[:500]}")
        return self.body


class Api:
    """One user's client of the API server; may be used by several threads at once."""

    def __init__(self, url: str, ca: Path, token: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._pool = urllib3.PoolManager(ca_certs=str(ca), maxsize=CONNECTIONS, retries=False, timeout=120.0)

    def request(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Answer:
        """Send one request; a connection error is raised as urllib3's."""
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({"Content-Type": kind} if data is not None else {})
        response = self._pool.request(method, self._url + path, body=data, headers=headers)
        return Answer(response.status, _decoded(response.data), dict(response.headers))

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def post(self, path: str, body: object) -> Answer:
        return self.request("POST", path, body)

    def put(self, path: str, body: object) -> Answer:
        return self.request("PUT", path, body)

    def patch(self, path: str, body: object) -> Answer:
        """A merge patch."""
        return self.request("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path: str) -> Answer:
        return self.request("DELETE", path)

    def close(self) -> None:
        self._pool.clear()


def _decoded(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode(errors="replace")
