"""Background tasks and indexes of the store that raise at random: in the end rows equal the server's.

Until then nothing says that it is live and is not.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from foretop_core.clock import ManualClock
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.kube.connection.client_factory import connect
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.watching.cluster_watcher import ClusterWatcher
from foretop_core.kube.watching.reflector import Reflector
from foretop_core.kube.watching.retry import WatchTimings
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models import from_builtins
from foretop_core.models.kinds import BACKUP, DEFINITION, NAB, NAR, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.wire import Resource
from foretop_core.rules.build_snapshot import BACKUP_DEFINITION
from foretop_core.rules.indexes import CountIndex, Index, PeriodIndex, SubsetIndex
from foretop_core.session import Session
from foretop_core.store.change_history import BeatTracker, ChangeHistory, SlotTracker
from foretop_core.store.store import StoreSink
from foretop_demo.local_api_server import LocalApiServer
from foretop_demo.status import ApiError
from tests.objects import NOW
from tests.tui.fake_source import FilledSource
from trials.chaos.real_faults import SPECS, made_object, painted, phase_of

WRITES = 150
_PATIENCE = 60.0
_TIMING = WatchTimings(first_delay=0.005, longest_delay=0.05, ask_again=0.05)
_KINDS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, NAR)
_COMPARED = (*_KINDS, DEFINITION)
"""And the definition of backups, from which the rows of the queue learn whether the server has one."""
_NAMES = tuple(f"object-{number}" for number in range(8))
_PHASES = ("New", "Queued", "InProgress", "Completed", "Failed")
_RAISING: tuple[tuple[type, str], ...] = (
    (Index, "move"),
    (SubsetIndex, "move"),
    (PeriodIndex, "move"),
    (CountIndex, "move"),
    (ChangeHistory, "note"),
    (SlotTracker, "note"),
    (BeatTracker, "note"),
    (StoreSink, "apply"),
    (StoreSink, "page"),
    (StoreSink, "replace_end"),
    (Reflector, "_take"),
    (Reflector, "_list_page"),
    (Reflector, "_watch_beside_list"),
    (ClusterWatcher, "_reach"),
    (ClusterWatcher, "follow_movements"),
    (Session, "_look_at_crashed"),
)


class _Raised(Exception):
    """On purpose."""


class Mischief:
    """Makes each of the functions raise now and then, for as long as it is on."""

    def __init__(self, dice: random.Random, patch: pytest.MonkeyPatch) -> None:
        self.is_on = False
        self.raised = 0
        self._dice = dice
        for owner, name in _RAISING:
            patch.setattr(owner, name, self._failing(getattr(owner, name)))

    def _failing(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*arguments: Any, **options: Any) -> Any:
            if self.is_on and self._dice.random() < 0.03:
                self.raised += 1
                raise _Raised("on purpose")
            return plain(*arguments, **options)

        return failing


def try_tasks(seed: int) -> list[str]:
    """What was lost in one run."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        mischief = Mischief(dice, patch)
        try:
            lost = asyncio.run(_live(dice, Path(folder), mischief, patch))
        except Exception as problem:
            lost = [f"{type(problem).__name__}: {problem}"]
    if not mischief.raised:
        lost.append("nothing raised")
    return [f"seed {seed}: {one}" for one in lost]


async def _live(dice: random.Random, folder: Path, mischief: Mischief, patch: pytest.MonkeyPatch) -> list[str]:
    lost: list[str] = []
    async with LocalApiServer(clock=ManualClock(NOW)) as box:
        path = box.kubeconfig(folder / "kubeconfig")
        connections = connect(ConnectionOptions(kubeconfig=str(path)), {}, ManualClock(NOW), True)
        session = Session(connections, clock=ManualClock(NOW), timing=_TIMING)
        state = DashboardState(session, time.monotonic)
        rows = [spec.rows(state) for spec in SPECS]
        plain = ClusterWatcher._tell_failed

        def told(self: ClusterWatcher, scope: Any, problem: Exception, delay: float) -> None:
            plain(self, scope, problem, delay)
            found = session.store.health.of(scope)
            if found is None or found.state is not WatchState.STALE:
                lost.append(f"{scope.kind.plural} is {found and found.state.value} although its task has failed")

        patch.setattr(ClusterWatcher, "_tell_failed", told)
        mischief.is_on = True
        session.start()
        try:
            for _ in range(3):
                mischief.is_on = True
                for _ in range(WRITES // 3):
                    _write(dice, box)
                    await asyncio.sleep(dice.choice((0.0, 0.0, 0.002)))
                    for one in rows:
                        one.pump()
                mischief.is_on = False
                # What an index could not take in is tried again with the next list or change of the object.
                for key in tuple(session.store.unreadable):
                    _touch(box, key.kind, key.namespace, key.name)
                lost += await _until_equal(box, session, state, rows)
        finally:
            await session.stop()
    return lost


async def _until_equal(
    box: LocalApiServer, session: Session, state: DashboardState, rows: list[TableModel]
) -> list[str]:
    wrong = "nothing was looked at"
    try:
        async with asyncio.timeout(_PATIENCE):
            while wrong:
                await asyncio.sleep(0.02)
                for key in tuple(session.store.unreadable):
                    _touch(box, key.kind, key.namespace, key.name)
                wrong = _difference(box, session, state, rows)
    except TimeoutError:
        return [wrong]
    return []


def _difference(box: LocalApiServer, session: Session, state: DashboardState, rows: list[TableModel]) -> str:
    (context,) = session.contexts
    fresh: list[Resource] = []
    for kind in _COMPARED:
        listed = (from_builtins(kind.model, body) for body in box.storage.list(box.storage.kind(kind.name)))
        served = [item for item in listed if kind is not DEFINITION or item.name == BACKUP_DEFINITION]
        fresh += served
        held = {
            (key.namespace, key.name): item.metadata.resource_version
            for key, item in session.store.items(context, kind.name)
        }
        if held != {(item.namespace, item.name): item.metadata.resource_version for item in served}:
            return f"the store differs in {kind.plural}"
    unwell = [
        f"{scope.kind.plural} {health.state.value}: {health.error}"
        for scope, health in session.store.health.watches()
        if health.state not in (WatchState.LIVE, WatchState.NOT_INSTALLED)
    ]
    if unwell:
        return "; ".join(unwell)
    state.begin_frame()
    other = DashboardState(FilledSource(fresh, (context,), state.clock(context)), time.monotonic)
    for spec, live in zip(SPECS, rows, strict=True):
        if painted(live) != painted(spec.rows(other)):
            return f"rows of {spec.id} differ"
    return ""


def _write(dice: random.Random, box: LocalApiServer) -> None:
    kind, name = dice.choice(_KINDS), dice.choice(_NAMES)
    stored = box.storage.kind(kind.name)
    found = box.storage.find(stored, "default", name)
    if found is None:
        box.storage.create(stored, made_object(kind, name), "default")
    elif dice.random() < 0.2:
        box.storage.delete(stored, "default", name)
    else:
        box.storage.patch_status(stored, "default", name, {"phase": phase_of(kind, dice.choice(_PHASES))})


def _touch(box: LocalApiServer, kind: str, namespace: str, name: str) -> None:
    try:
        stored = box.storage.kind(kind)
        box.storage.patch(stored, namespace, name, {"metadata": {"labels": {"touched": str(box.storage.version)}}})
    except (ApiError, KeyError):
        return
