"""The cost of one change among a thousand rows and among fifty thousand, which should hardly differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial
from typing import Any

from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import Metadata
from foretop_core.tables.resources.runs import BackupsView
from tests.objects import NOW, backup
from tests.tui.fake_source import FilledSource
from trials.bench import Figure, seconds_per_call

FEW, MANY = 1_000, 50_000
_CHANGES = 200
_MICRO = 1e6
_SCREEN = 50


class Filled:
    """A store and a table of backups, and changes that move a row to another position."""

    def __init__(self, rows: int) -> None:
        source = FilledSource([], ("prod",))
        self.clock, self.store = source.manual, source.store
        self.sink = self.store.sink(WatchScope("prod", BACKUP), self.clock)
        self.rows = rows
        self.version = rows
        plain = backup(created="2026-11-01T00:00:00Z")
        self.sink.replace_begin()
        self.sink.page(self._made(plain, number) for number in range(rows))
        self.sink.replace_end()
        self.state = DashboardState(source, lambda: 0.0)
        self.model = StoreTableModel(self.state, BackupsView())
        self.state.render_context("prod")

    def _made(self, plain: Backup, number: int) -> Backup:
        meta = Metadata(
            name=f"b-{number:06}",
            namespace="velero",
            resource_version=str(number + 1),
            creation_timestamp=NOW - timedelta(minutes=number),
        )
        return Backup(metadata=meta, spec=plain.spec, status=plain.status)

    def change(self) -> None:
        self.version += 1
        number = (self.version * 7919) % self.rows
        held = self.store.find(Backup, "prod", "velero", f"b-{number:06}")
        if held is None:
            return
        meta = Metadata(
            name=held.name,
            namespace=held.namespace,
            resource_version=str(self.version),
            creation_timestamp=NOW - timedelta(seconds=self.version % 86_400),
        )
        self.sink.apply("MODIFIED", Backup(metadata=meta, spec=held.spec, status=held.status))
        self.model.pump()

    def change_and_paint(self) -> None:
        self.change()
        self.paint()

    def paint(self) -> None:
        self.state.begin_frame()
        self.model.paint(0, _SCREEN)


def measure() -> Iterable[Figure]:
    few, many = Filled(FEW), Filled(MANY)
    small, large = _changes(few), _changes(many)
    yield Figure("fill a store with 50,000 backups and show them", _milliseconds(lambda: Filled(MANY)), 3000, "ms")
    yield Figure("one change, 1,000 rows", small * _MICRO, 100, "µs")
    yield Figure("one change, 50,000 rows", large * _MICRO, 200, "µs")
    yield Figure("one change, 50,000 to 1,000 rows", large / small, 1.5, "times", "memory far apart: cache misses")
    yield Figure("paint a screen of 50,000 rows", _milliseconds(many.paint), 5, "ms")
    yield Figure("a change and a screen of 50,000 rows", _milliseconds(many.change_and_paint), 10, "ms")
    for name, text in (("text", "b-01"), ("field", "phase:Failed"), ("labels", "-l app=web,tier!=db")):
        yield Figure(f"filter 50,000 rows by {name}", _milliseconds(partial(many.model.narrow, text)), 250, "ms")
    many.model.narrow("")
    yield Figure("sort 50,000 rows", _milliseconds(lambda: many.model.sort("name", reverse=False)), 250, "ms")


def _changes(filled: Filled) -> float:
    def run() -> Any:
        for _ in range(_CHANGES):
            filled.change()

    return seconds_per_call(run, _CHANGES)


def _milliseconds(work: Callable[[], object]) -> float:
    return seconds_per_call(work, 1, rounds=3) * 1e3
