"""Faults between foretop and a real API server while objects change; after each quiet moment nothing may differ."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import msgspec
import urllib3

from foretop.panes.page_records import TABLE_PAGES
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, DEFINITION, NAB, NAR, RESTORE, SCHEDULE, STORAGE, Kind
from foretop_core.models.wire import Resource, decode
from foretop_core.rules.build_snapshot import BACKUP_DEFINITION
from foretop_core.session import Session
from foretop_core.tables.engine import render_context
from tests.real.cluster import RealCluster
from tests.tui.fake_source import FilledSource
from trials.chaos.fault_proxy import (
    Break,
    FaultProxy,
    expired_line,
    half_answer,
    half_gzip,
    hang_up,
    login_page,
    other_json,
    redirect,
    refuse,
)

PATIENCE = 600.0
TIMING = WatchTimings(watch=(3, 6), first_delay=0.05, longest_delay=0.5, ask_again=0.5, list_after_cut=2.0)
WRITTEN: tuple[Kind, ...] = (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, NAR)
SPECS = tuple(TABLE_PAGES[name] for name in ("schedules", "nonadmin", "queue", "backups", "restores", "storage"))
_NAMES = tuple(f"object-{number}" for number in range(12))
_PHASES = ("New", "Queued", "InProgress", "Completed", "Failed")
_MOST_ROWS = 1_000
Versions = dict[tuple[str, str, str], str]


class SteppedClock:
    """This machine's clock, which somebody sets."""

    def __init__(self) -> None:
        self.step = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.step


@dataclass(slots=True)
class FaultOutcome:
    """What became of some faults."""

    tried: Counter[str] = field(default_factory=Counter)
    quiet: int = 0
    writes: int = 0
    slowest: tuple[float, str] = (0.0, "")
    """The longest time until all was equal again, and after which faults."""
    lost: list[str] = field(default_factory=list)


class FaultRun:
    """One foretop before one cluster, with a proxy in between that breaks what a seed says."""

    def __init__(
        self,
        cluster: RealCluster,
        proxy: FaultProxy,
        seed: int,
        outcome: FaultOutcome,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._say = say
        self._cluster = cluster
        self._proxy = proxy
        self._dice = random.Random(seed)
        self._seed = seed
        self._outcome = outcome
        self._clock = SteppedClock()
        self._saved = False
        kubeconfig = cluster.kubeconfig_by(proxy.url, "admin")
        connections = connect(ConnectionOptions(kubeconfig=str(kubeconfig)), {}, self._clock, read_only=True)
        self.session = Session(connections, clock=self._clock, timing=TIMING)
        (self._context,) = self.session.contexts
        self._state = DashboardState(self.session, time.monotonic)
        self._rows = [spec.rows(self._state) for spec in SPECS]
        self._faults: dict[str, Callable[[], Awaitable[None]]] = {
            "cut": self._cut,
            "stall": self._stall,
            "delay": self._delay,
            "drip": self._drip,
            "TLS broken off": self._break_handshakes,
            "401": self._answers(refuse(401, "Unauthorized")),
            "403": self._answers(refuse(403, "Forbidden")),
            "410": self._answers(refuse(410, "Expired")),
            "429": self._answers(refuse(429, "TooManyRequests", retry_after=1)),
            "500": self._answers(refuse(500, "InternalError")),
            "503": self._answers(refuse(503, "ServiceUnavailable")),
            "login page": self._answers(login_page),
            "redirect": self._answers(redirect),
            "other JSON": self._answers(other_json),
            "truncated gzip": self._answers(half_gzip),
            "half an answer": self._answers(half_answer),
            "hung up": self._answers(hang_up),
            "410 inside a watch": self._inject(expired_line()),
            "noise inside a watch": self._inject(b'{"type":"ADDED","object":{]'),
            "compaction": self._compact,
            "our clock stepped": self._step_clock,
            "server's clock stepped": self._step_server_clock,
        }
        self._heavy: dict[str, Callable[[], Awaitable[None]]] = {
            "API server killed": self._kill_apiserver,
            "etcd killed": self._kill_etcd,
            "etcd restored": self._restore_etcd,
        }

    async def run(self, faults: int, heavy: int) -> None:
        """So many faults, so many of which end or restore a server, in an order of the seed."""
        order = [self._dice.choice(list(self._faults)) for _ in range(faults - heavy)]
        kinds = list(self._heavy)
        for number in range(heavy):
            order.insert(self._dice.randint(0, len(order)), kinds[number % len(kinds)])
        await self.run_named(order)

    async def run_named(self, order: list[str]) -> None:
        """These faults, with a quiet moment now and then and after each server that was ended."""
        # A screen shows forecasts of the queue that are up to twenty seconds old: here they are those of the moment.
        with patch.multiple(render_context, REFRESH=timedelta(), PLAYED_AGAIN=timedelta()):
            self.session.start()
            try:
                await self._write(30)
                await self._settle(["start"])
                since: list[str] = []
                for name in order:
                    await self._write(self._dice.randint(1, 3))
                    await (self._faults | self._heavy)[name]()
                    self._outcome.tried[name] += 1
                    since.append(name)
                    if self._outcome.tried.total() % 50 == 0:
                        self._say(f"  {self._outcome.tried.total()} faults, {len(self._outcome.lost)} lost")
                    if name in self._heavy or self._dice.random() < 0.2:
                        await self._settle(since)
                        since = []
                await self._settle(since)
            finally:
                await self.session.stop()
                await asyncio.to_thread(self._clear)

    def _clear(self) -> None:
        """Leaves the cluster to others as it was."""
        for kind, item in self._fresh():
            if item.name in _NAMES:
                self._cluster.admin.delete(api_paths.item(kind, item.namespace, item.name))

    # Faults

    async def _cut(self) -> None:
        self._proxy.cut()

    async def _stall(self) -> None:
        self._proxy.stall()
        await self._busy()
        self._proxy.heal()

    async def _delay(self) -> None:
        self._proxy.delay = self._dice.uniform(0.01, 0.2)
        await self._busy()

    async def _drip(self) -> None:
        self._proxy.drips = True
        await self._busy()

    async def _break_handshakes(self) -> None:
        self._proxy.broken_handshakes = self._dice.randint(1, 20)
        self._proxy.cut()
        await self._busy()

    def _answers(self, one: Break) -> Callable[[], Awaitable[None]]:
        async def fault() -> None:
            """The next requests come when the open watches end."""
            self._proxy.answers.extend([one] * self._dice.choice((1, 1, 2, 5, 20, 60)))
            self._proxy.cut()
            await self._busy()

        return fault

    def _inject(self, line: bytes) -> Callable[[], Awaitable[None]]:
        async def fault() -> None:
            await self._proxy.inject(line)

        return fault

    async def _compact(self) -> None:
        await asyncio.to_thread(self._cluster.compact)
        self._proxy.cut()

    async def _step_clock(self) -> None:
        self._clock.step += timedelta(seconds=self._dice.choice((-7200, -3600, -61, 59, 3600, 7200)))
        await self._busy()

    async def _step_server_clock(self) -> None:
        self._proxy.server_clock += timedelta(seconds=self._dice.choice((-3600, -61, 59, 3600)))
        await self._busy()

    async def _kill_apiserver(self) -> None:
        await asyncio.to_thread(self._cluster.kill_apiserver)
        await asyncio.to_thread(self._cluster.start_apiserver)

    async def _kill_etcd(self) -> None:
        """The data of this moment is what a later restore goes back to."""
        await asyncio.to_thread(self._cluster.save_etcd)
        self._saved = True

    async def _restore_etcd(self) -> None:
        """Versions go back; sometimes they have come as far again before foretop is let in."""
        if not self._saved:
            await self._kill_etcd()
        await self._write(self._dice.randint(1, 20))
        await asyncio.to_thread(self._cluster.restore_etcd)
        if self._dice.random() < 0.5:
            self._proxy.stall()
            await self._write(self._dice.randint(1, 40))

    # Writers

    async def _busy(self) -> None:
        """A moment in which objects change."""
        await self._write(self._dice.randint(0, 3))
        await asyncio.sleep(self._dice.uniform(0.0, 0.3))

    async def _write(self, times: int) -> None:
        for _ in range(times):
            kind = self._dice.choice(WRITTEN)
            namespace = self._dice.choice(("team-a", "team-b")) if kind in (NAB, NAR) else "velero"
            name, what = self._dice.choice(_NAMES), self._dice.random()
            await asyncio.to_thread(self._write_one, kind, namespace, name, what, self._dice.choice(_PHASES))

    def _write_one(self, kind: Kind, namespace: str, name: str, what: float, phase: str) -> None:
        """Creates, changes or removes; a server that is down is left alone."""
        admin, path = self._cluster.admin, api_paths.item(kind, namespace, name)
        try:
            if what < 0.2:
                admin.delete(path)
            elif admin.get(path).status == 404:
                admin.post(api_paths.collection(kind, namespace), made_object(kind, name)).expect(201, 409)
            else:
                admin.patch(path, {"metadata": {"labels": {"turn": f"{what:.6f}"[2:]}}}).expect(200, 404)
                to = f"{path}/status" if kind.status_subresource else path
                admin.patch(to, {"status": {"phase": phase_of(kind, phase)}}).expect(200, 404)
        except urllib3.exceptions.HTTPError:
            return
        self._outcome.writes += 1

    # Quiet moments

    async def _settle(self, since: list[str]) -> None:
        """Nothing is broken and nobody writes: the store and the rows must become those of a fresh list."""
        self._proxy.heal()
        self._outcome.quiet += 1
        began = time.monotonic()
        fresh = await asyncio.to_thread(self._fresh)
        versions = {(kind.name, item.namespace, item.name): item.metadata.resource_version for kind, item in fresh}
        definition = await asyncio.to_thread(self._definition)
        while difference := self._difference(versions, [definition, *(item for _, item in fresh)]):
            if time.monotonic() - began > PATIENCE:
                self._outcome.lost.append(f"seed {self._seed}, after {', '.join(since)}: {difference}")
                self._say(self._outcome.lost[-1])
                return
            await asyncio.sleep(0.02)
        self._outcome.slowest = max(self._outcome.slowest, (time.monotonic() - began, ", ".join(since)))

    def _fresh(self) -> list[tuple[Kind, Resource]]:
        found: list[tuple[Kind, Resource]] = []
        for kind in WRITTEN:
            listed: dict[str, Any] = self._cluster.admin.get(api_paths.collection(kind)).expect(200)
            found += [(kind, decode(kind.model, msgspec.json.encode(item))) for item in listed["items"]]
        return found

    def _definition(self) -> Resource:
        """That of backups, from which the rows of the queue learn whether the server has one."""
        found = self._cluster.admin.get(api_paths.item(DEFINITION, "", BACKUP_DEFINITION)).expect(200)
        return decode(DEFINITION.model, msgspec.json.encode(found))

    def _difference(self, versions: Versions, fresh: list[Resource]) -> str:
        """What is not as it should be, in a line; nothing where all is."""
        store = self.session.store
        held = {
            (key.kind, key.namespace, key.name): found.metadata.resource_version
            for kind in WRITTEN
            for key, found in store.items(self._context, kind.name)
        }
        unwell = [
            f"{scope.kind.plural} {health.state.value} {health.error}"
            for scope, health in store.health.watches()
            if health.state not in (WatchState.LIVE, WatchState.NOT_INSTALLED)
        ]
        if held != versions:
            wrong = sorted(key for key in held.keys() | versions.keys() if held.get(key) != versions.get(key))
            return f"store differs in {wrong[:3]}; {'; '.join(unwell) or 'and says live'}"
        if unwell:
            return "; ".join(unwell)
        return self._rows_differ(fresh)

    def _rows_differ(self, fresh: list[Resource]) -> str:
        self._state.begin_frame()
        source = FilledSource(fresh, (self._context,), self._state.clock(self._context))
        state = DashboardState(source, time.monotonic)
        for spec, live in zip(SPECS, self._rows, strict=True):
            if painted(live) != painted(spec.rows(state)):
                return f"rows of {spec.id} differ"
        return ""


def painted(rows: TableModel) -> dict[object, tuple[object, ...]]:
    rows.pump()
    rows.renew()
    return {row.key: (row.mark, row.cells, row.faded) for row in rows.paint(0, _MOST_ROWS)}


def made_object(kind: Kind, name: str) -> dict[str, object]:
    specs: dict[str, dict[str, object]] = {
        SCHEDULE.name: {"schedule": "0 1 * * *", "template": {}},
        RESTORE.name: {"backupName": "object-1"},
        STORAGE.name: {"provider": "aws", "objectStorage": {"bucket": "some"}},
        NAB.name: {"backupSpec": {}},
        NAR.name: {"restoreSpec": {"backupName": "object-1"}},
    }
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": name},
        "spec": specs.get(kind.name, {}),
    }


def phase_of(kind: Kind, phase: str) -> str:
    match kind:
        case _ if kind is SCHEDULE:
            return "Enabled"
        case _ if kind is STORAGE:
            return "Available" if phase == "Completed" else "Unavailable"
        case _ if kind in (NAB, NAR):
            return "Created" if phase == "Completed" else "New"
        case _ if kind is RESTORE and phase == "Queued":
            return "New"
    return phase


@asynccontextmanager
async def proxied(cluster: RealCluster) -> AsyncIterator[FaultProxy]:
    """A proxy before the cluster, with a certificate of its authority."""
    async with FaultProxy(cluster.url, cluster.ca, cluster.serving_certificate()).serving() as proxy:
        yield proxy


async def try_real_faults(
    cluster: RealCluster, faults: int, heavy: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> FaultOutcome:
    outcome = FaultOutcome()
    async with proxied(cluster) as proxy:
        await FaultRun(cluster, proxy, seed, outcome, say).run(faults, heavy)
    return outcome
