"""The watch events of Velero's kinds from a real API server, each with the time at which it arrived."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import urllib3

from tests.real.cluster import RealCluster

KINDS = ("schedules", "backups", "restores", "deletebackuprequests", "downloadrequests", "backupstoragelocations")

_NO_READ_LIMIT = urllib3.Timeout(connect=60.0, read=None)
"""A kind may have no events for as long as a story lasts."""


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One change of one object, and when it arrived."""

    at: datetime
    plural: str
    change: str
    body: dict[str, Any]


class WatchEvents:
    """Watches from the moment it is made until it is closed, one connection for each kind."""

    def __init__(self, api_server: RealCluster, namespace: str) -> None:
        self.events: list[WatchEvent] = []
        self._pool = urllib3.PoolManager(
            ca_certs=str(api_server.ca), maxsize=len(KINDS), retries=False, timeout=_NO_READ_LIMIT
        )
        self._headers = {"Authorization": f"Bearer {api_server.token('admin')}"}
        self._responses: list[urllib3.BaseHTTPResponse] = []
        self._threads: list[threading.Thread] = []
        self._closing = False
        for plural in KINDS:
            path = f"/apis/velero.io/v1/namespaces/{namespace}/{plural}"
            version = api_server.admin.get(path).expect(200)["metadata"]["resourceVersion"]
            url = f"{api_server.url}{path}?watch=true&resourceVersion={version}&timeoutSeconds=7200"
            response = self._pool.request("GET", url, headers=self._headers, preload_content=False)
            assert response.status == 200, f"the watch of {plural} was answered {response.status}"
            self._responses.append(response)
            thread = threading.Thread(target=self._read, args=(plural, response), daemon=True)
            thread.start()
            self._threads.append(thread)

    def close(self) -> None:
        self._closing = True
        for response in self._responses:
            response.shutdown()
        for thread in self._threads:
            thread.join(10)
        self._pool.clear()

    def _read(self, plural: str, response: urllib3.BaseHTTPResponse) -> None:
        try:
            for line in _lines(response):
                event = json.loads(line)
                self.events.append(WatchEvent(datetime.now(UTC), plural, event["type"], event["object"]))
        except (urllib3.exceptions.HTTPError, OSError, ValueError):
            if not self._closing:
                raise


def _lines(response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
    held = b""
    for piece in response.stream(65536, decode_content=True):
        *whole, held = (held + piece).split(b"\n")
        yield from (line for line in whole if line)
