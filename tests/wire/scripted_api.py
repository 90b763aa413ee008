"""An API server that answers what a test gives it, for what the box does not do: refusals, gaps, other clocks."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from aiohttp import web

from foretop_core.clock import Clock, SystemClock
from foretop_core.kube.connection.auth import Authenticator
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.config import AuthInfo, ContextConfig
from foretop_core.kube.connection.exec_plugin import ExecPlugins
from foretop_core.models.kinds import Kind
from tests.wire.faulty_server import status
from tests.wire.test_auth import _listening

ALL_RULES = [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}]


class Answering(Protocol):
    """What answers requests."""

    async def handle(self, request: web.Request) -> web.StreamResponse: ...


@dataclass
class ScriptedApi:
    """Answers by path: an object, or the code of a refusal; what has no answer is not found."""

    answers: dict[str, Any] = field(default_factory=dict)
    may: Callable[[Mapping[str, str]], bool] = lambda wanted: True
    """Whether the attributes of an access review are allowed."""
    rules: Callable[[str], list[dict[str, list[str]]]] = lambda namespace: ALL_RULES
    """The rules of a namespace."""
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Method and path with its query, without those of reviews."""
    reviewed: list[dict[str, Any]] = field(default_factory=list)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            return await self._review(request)
        self.asked.append(f"{request.method} {request.path_qs}")
        found = self.answers.get(request.path_qs, self.answers.get(request.path, 404))
        if isinstance(found, int):
            return status(found, "Refused", "refused by the test")
        return web.json_response(found, headers=self.headers)

    async def _review(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.reviewed.append(body)
        refused = self.answers.get(request.path)
        if isinstance(refused, int):
            return status(refused, "Refused", "refused by the test")
        if refused is not None:
            return web.json_response(refused)
        if body["kind"] == "SelfSubjectRulesReview":
            return web.json_response({"status": {"resourceRules": self.rules(body["spec"]["namespace"])}})
        return web.json_response({"status": {"allowed": self.may(body["spec"]["resourceAttributes"])}})


def served(kinds: Iterable[Kind]) -> dict[str, object]:
    """The answers of discovery for these kinds."""
    answers: dict[str, dict[str, list[dict[str, str]]]] = {}
    for kind in kinds:
        group = answers.setdefault(f"/apis/{kind.group}", {"versions": []})
        if (version := {"version": kind.version}) not in group["versions"]:
            group["versions"].append(version)
        version_path = f"/apis/{kind.group}/{kind.version}"
        answers.setdefault(version_path, {"resources": []})["resources"].append({"name": kind.plural})
    return {**answers}


def listed(kind: Kind, *items: dict[str, Any]) -> dict[str, object]:
    """A whole list of a kind."""
    return {"kind": f"{kind.name}List", "metadata": {"resourceVersion": "1"}, "items": list(items)}


@asynccontextmanager
async def client_of(
    api: Answering,
    clock: Clock | None = None,
    tls: ssl.SSLContext | None = None,
    **config: Any,
) -> AsyncIterator[ApiClient]:
    """A client of this server; what else is given goes into the configuration of its context."""
    clock = clock or SystemClock()
    async with _listening(api.handle, tls) as url:
        context = ContextConfig("scripted", url, identity=AuthInfo(token="secret"), **config)
        client = ApiClient(Authenticator(context, lambda: context, ExecPlugins(clock, {}), clock), clock)
        try:
            yield client
        finally:
            await client.close()
