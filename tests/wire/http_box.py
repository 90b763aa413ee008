"""A box that is spoken to over HTTP and whose time is stepped: what people do at a cluster, and what they see."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp

from foretop_demo import LocalApiServer
from foretop_demo.controllers import Flags, PrescalerController
from tests.demo.conformance.client import OADP, VELERO, Api, Target
from tests.demo.controller_box import ControllerBox

START = datetime(2026, 11, 15, 2, 30, 3, tzinfo=UTC)
TEAM = "team-a"
NABS = f"{OADP}/namespaces/{TEAM}/nonadminbackups"
NARS = f"{OADP}/namespaces/{TEAM}/nonadminrestores"
SCHEDULES = f"{VELERO}/namespaces/velero/schedules"
BACKUPS = f"{VELERO}/namespaces/velero/backups"
RESTORES = f"{VELERO}/namespaces/velero/restores"
REQUESTS = f"{VELERO}/namespaces/velero/deletebackuprequests"
PRESCALED = f"/apis/psc.cronprimer.local/v1alpha1/namespaces/{TEAM}/prescaledcronjobs"
CRON_JOBS = f"/apis/batch/v1/namespaces/{TEAM}/cronjobs"

Raw = dict[str, Any]


class Desk:
    """Requests go over the wire; `wait` lets the time of the box pass."""

    def __init__(self, api: Api, table: ControllerBox) -> None:
        self.api = api
        self.table = table

    def wait(self, seconds: float = 5.0) -> None:
        self.table.pass_time(seconds)

    async def post(self, path: str, name: str, spec: Raw) -> Raw:
        kind = next(kind for kind in self.table.storage.catalog if kind.plural == path.rpartition("/")[2])
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, "spec": spec}
        made: Raw = (await self.api.create(path, body)).expect(201)
        return made

    async def get(self, path: str) -> Raw:
        found: Raw = (await self.api.get(path)).expect(200)
        return found

    async def gone(self, path: str) -> bool:
        return (await self.api.get(path)).code == 404

    async def patch(self, path: str, change: Raw) -> None:
        (await self.api.merge(path, change)).expect(200)

    async def delete(self, path: str) -> None:
        (await self.api.delete(path)).expect(200)

    async def items(self, path: str) -> list[Raw]:
        found: list[Raw] = (await self.get(path))["items"]
        return found

    async def seen(self, path: str, name: str, since: Raw) -> list[Raw]:
        """The objects that a watch tells of after a first one, up to now; the last is DELETED where it is gone."""
        now = await self.api.get(f"{path}/{name}")
        last = now.body["metadata"]["resourceVersion"] if now.code == 200 else None
        told: list[Raw] = [since]
        asked = {"fieldSelector": f"metadata.name={name}", "resourceVersion": since["metadata"]["resourceVersion"]}
        async with self.api.watching(path, **asked) as watch:
            while told[-1]["metadata"]["resourceVersion"] != last:
                event = await watch.next()
                told.append(event["object"])
                if event["type"] == "DELETED" and last is None:
                    break
        return told


@asynccontextmanager
async def state(flags: Flags | None = None, start_velero: bool = True) -> AsyncIterator[Desk]:
    """A box with one storage location, Velero, the non-admin controller and the prescaler at work."""
    table = ControllerBox(START, flags)
    table.add_location()
    if start_velero:
        table.velero.start()
    table.non_admin.start()
    PrescalerController(table.engine).start()
    table.pass_time(1)
    async with (
        LocalApiServer(table.engine.clock, storage=table.storage) as box,
        aiohttp.ClientSession() as session,
    ):
        target = Target(box.url, None, {"admin": box.token()}, _nothing)
        yield Desk(Api(target, session, TEAM, box.token()), table)


async def _nothing() -> None:
    return None
