"""A minimal client for the suite: raw requests and raw answers, for one user at a time."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import aiohttp

from foretop_core.kube.connection.aborting_connector import AbortingConnector

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json"

VELERO = "/apis/velero.io/v1"
OADP = "/apis/oadp.openshift.io/v1alpha1"
REVIEWS = "/apis/authorization.k8s.io/v1"

LAST = "zz-last-"

Body = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """The server under test. It has the users admin, viewer (Velero's kinds, read only), tenant (NABs of the namespace
    team-a) and nobody, and can drop its history on request.
    """

    url: str
    ca: Path | None
    tokens: Mapping[str, str]
    compact: Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Answer:
    code: int
    body: Any
    headers: Mapping[str, str]
    warnings: list[str]

    @property
    def names(self) -> list[str]:
        return [item["metadata"]["name"] for item in self.body["items"]]

    def expect(self, code: int) -> Any:
        assert self.code == code, (self.code, self.body)
        return self.body

    def refused(self, code: int, reason: str) -> str:
        """The message of a Status after a check of its code and reason."""
        assert (self.code, self.body["kind"], self.body["apiVersion"]) == (code, "Status", "v1"), self.body
        assert (self.body["status"], self.body["code"]) == ("Failure", code)
        assert self.body.get("reason", "") == reason, self.body
        return str(self.body["message"])


@dataclass(frozen=True)
class Api:
    """One user's client of the server under test, with a namespace for the test."""

    target: Target
    session: aiohttp.ClientSession
    namespace: str = ""
    token: str = ""

    def as_user(self, name: str) -> Api:
        return replace(self, token=self.target.tokens.get(name, name))

    @property
    def schedules(self) -> str:
        return f"{VELERO}/namespaces/{self.namespace}/schedules"

    @property
    def backups(self) -> str:
        return f"{VELERO}/namespaces/{self.namespace}/backups"

    @property
    def nabs(self) -> str:
        return f"{OADP}/namespaces/{self.namespace}/nonadminbackups"

    def _headers(self, accept: str, kind: str = "") -> dict[str, str]:
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if kind:
            headers["Content-Type"] = kind
        return headers

    async def request(
        self, method: str, path: str, body: Any = None, kind: str = JSON, accept: str = JSON, **query: str
    ) -> Answer:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        headers = self._headers(accept, kind if data is not None else "")
        url = self.target.url + path
        async with self.session.request(method, url, data=data, headers=headers, params=query) as answer:
            text = await answer.text()
            found = json.loads(text) if text.startswith(("{", "[")) else text
            return Answer(answer.status, found, answer.headers.copy(), answer.headers.getall("Warning", []))

    async def get(self, path: str, accept: str = JSON, **query: str) -> Answer:
        return await self.request("GET", path, accept=accept, **query)

    async def create(self, path: str, body: Any, **query: str) -> Answer:
        return await self.request("POST", path, body, **query)

    async def put(self, path: str, body: Any, **query: str) -> Answer:
        return await self.request("PUT", path, body, **query)

    async def merge(self, path: str, body: Any, **query: str) -> Answer:
        return await self.request("PATCH", path, body, MERGE, **query)

    async def delete(self, path: str, body: Any = None, **query: str) -> Answer:
        return await self.request("DELETE", path, body, **query)

    async def version_of(self, path: str) -> str:
        """The current resourceVersion of a list."""
        return str((await self.get(path, limit="1")).expect(200)["metadata"]["resourceVersion"])

    @asynccontextmanager
    async def watching(self, path: str, accept: str = JSON, **query: str) -> AsyncIterator[Watch]:
        """An open watch; the server has accepted it when this returns."""
        asked = {"watch": "1", "timeoutSeconds": "300", **query}
        url, headers = self.target.url + path, self._headers(accept)
        async with self.session.get(url, headers=headers, params=asked) as answer:
            assert answer.status == 200, await answer.text()
            yield Watch(answer)

    async def watched(self, path: str, **query: str) -> list[Body]:
        """All events of a watch up to now: a last backup is created to mark the end."""
        async with self.watching(path, **query) as watch:
            last = (await self.create(path, {**backup(""), "metadata": {"generateName": LAST}})).expect(201)
            events: list[Body] = []
            while not events or events[-1]["object"]["metadata"].get("name") != last["metadata"]["name"]:
                events.append(await watch.next())
        return [event for event in events if not event["object"]["metadata"].get("name", "").startswith(LAST)]


class Watch:
    """The events of a running watch, one by one."""

    def __init__(self, answer: aiohttp.ClientResponse) -> None:
        self._lines = answer.content

    async def next(self) -> Body:
        """The next event; the test fails if the server stays silent."""
        async with asyncio.timeout(120):
            line = await self._lines.readline()
        assert line, "the watch has ended"
        event: Body = json.loads(line)
        return event

    async def rest(self) -> list[Body]:
        return [json.loads(line) async for line in self._lines]


def brief(events: list[Body]) -> list[tuple[str, str]]:
    """Type and name of each event."""
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in events]


@asynccontextmanager
async def opened(target: Target) -> AsyncIterator[Api]:
    """The administrator's client of a server, with a new namespace."""
    context = ssl.create_default_context(cafile=str(target.ca)) if target.ca else None
    connector = AbortingConnector(ssl=context if context else True)
    agent = {"User-Agent": "conformance/1.0"}
    async with aiohttp.ClientSession(connector=connector, headers=agent) as session:
        admin = Api(target, session).as_user("admin")
        made = await admin.create("/api/v1/namespaces", {"metadata": {"generateName": "conformance-"}})
        yield replace(admin, namespace=made.expect(201)["metadata"]["name"])


def schedule(name: str, **spec: Any) -> Body:
    return {
        "apiVersion": "velero.io/v1",
        "kind": "Schedule",
        "metadata": {"name": name},
        "spec": {"schedule": "0 1 * * *", "template": {}, **spec},
    }


def backup(name: str, **labels: str) -> Body:
    meta: Body = {"name": name, **({"labels": labels} if labels else {})}
    return {"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": meta, "spec": {}}


def nab(name: str) -> Body:
    return {
        "apiVersion": "oadp.openshift.io/v1alpha1",
        "kind": "NonAdminBackup",
        "metadata": {"name": name},
        "spec": {"backupSpec": {}},
    }
