"""Whether the cluster's definition of a kind has a field: by its published schema, and no where that is not shown."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from foretop_core.actions.unwatched_reads import serves_field
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import NAB
from tests.wire.faulty_server import RoughServer, serving, status
from tests.wire.watching import connect

FORCE = ("spec", "forceDeleteBackup")


def schema(kind: str, *fields: str, group: str = NAB.group) -> dict[str, Any]:
    spec = {"properties": {name: {"type": "boolean"} for name in fields}}
    mark = {"group": group, "version": NAB.version, "kind": kind}
    return {"properties": {"spec": spec, "odd": "text"}, "x-kubernetes-group-version-kind": ["odd", mark]}


@asynccontextmanager
async def api_with(answer: web.Response) -> AsyncIterator[ApiClient]:
    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.path == "/openapi/v3/apis/oadp.openshift.io/v1alpha1"
        return answer

    server = RoughServer()
    server.handle = handle  # type: ignore[method-assign]
    async with serving(server) as running:
        client = connect(running.url)
        try:
            yield client
        finally:
            await client.close()


@pytest.mark.parametrize(
    ("schemas", "path", "served"),
    [
        ({"a": schema("NonAdminRestore"), "b": schema(NAB.name, FORCE[1])}, FORCE, True),
        ({"a": schema(NAB.name, "deleteBackup"), "b": schema("NonAdminRestore", FORCE[1])}, FORCE, False),
        ({"a": schema(NAB.name, FORCE[1], group="example.org")}, FORCE, False),
        ({"a": schema(NAB.name, FORCE[1])}, ("spec",), True),
        ({"a": schema(NAB.name, FORCE[1])}, ("status", "phase"), False),
        ({"a": schema(NAB.name, FORCE[1])}, ("odd", "phase"), False),
        ({"a": {**schema(NAB.name), "properties": []}}, FORCE, False),
        ({"a": "text", "b": {"x-kubernetes-group-version-kind": 5}, "c": schema(NAB.name, FORCE[1])}, FORCE, True),
        ({}, FORCE, False),
    ],
)
async def test_a_field_is_served_where_the_schema_of_that_kind_has_it(
    schemas: dict[str, Any], path: tuple[str, ...], served: bool
) -> None:
    async with api_with(web.json_response({"components": {"schemas": schemas}})) as client:
        assert await serves_field(client, NAB, path) is served


@pytest.mark.parametrize(
    "answer",
    [
        web.json_response({}),
        web.json_response({"components": {}}),
        web.Response(text="<html>"),
        status(404, "NotFound"),
    ],
    ids=["empty", "no schemas", "no JSON", "not found"],
)
async def test_a_cluster_without_the_document_serves_no_field(answer: web.Response) -> None:
    async with api_with(answer) as client:
        assert await serves_field(client, NAB, FORCE) is False


async def test_a_document_that_may_not_be_read_serves_no_field() -> None:
    async with api_with(status(403, "Forbidden")) as client:
        assert await serves_field(client, NAB, FORCE) is False


async def test_an_error_of_the_server_is_not_taken_for_a_missing_field() -> None:
    async with api_with(status(400, "BadRequest")) as client:
        with pytest.raises(ApiError):
            await serves_field(client, NAB, FORCE)
