"""The box as a place for stories: its time is stepped, so a minute costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from foretop_core.minicluster.change_log import Change
from foretop_core.minicluster.controllers import Flags
from foretop_core.minicluster.kinds import Kind
from tests.unit.minicluster.controller_box import ControllerBox
from tests.unit.minicluster.recording_replay import ObservedChange
from tests.velero.place import BUCKET, HOME, TEAMS, Raw, ServerFlags

_STEP = 0.1


class BoxPlace:
    """A box whose clock begins where the real cluster's began."""

    def __init__(self, begin: datetime) -> None:
        self._table = ControllerBox(begin, Flags(), namespaces=(HOME, *TEAMS))
        self._table.add_location()
        self.told: list[ObservedChange] = []
        self._table.storage.subscribe(self._hear)

    def now(self) -> datetime:
        return self._table.manual.now()

    def wait(self, seconds: float) -> None:
        self._table.pass_time(seconds)

    def until(self, is_so: Callable[[], object], limit: float = 120.0) -> None:
        end = self.now() + timedelta(seconds=limit)
        while not is_so():
            assert self.now() < end, f"waited {limit:.0f} s in vain"
            self.wait(_STEP)

    def start(self, flags: ServerFlags) -> None:
        self._table.velero.flags = Flags(
            HOME,
            flags.skip_immediately,
            flags.concurrent_backups,
            flags.version,
            collects_every=flags.collects_every,
        )
        self._table.velero.start()

    def kill(self) -> None:
        self._table.velero.kill()

    def create(self, kind: str, name: str, spec: Raw, **meta: Any) -> Raw:
        return self._table.create(kind, HOME, name, spec, **meta)

    def patch(self, kind: str, name: str, change: Raw) -> None:
        self._table.patch(kind, HOME, name, change)

    def delete(self, kind: str, name: str) -> None:
        self._table.delete(kind, HOME, name)

    def find(self, kind: str, name: str) -> Raw | None:
        return self._table.find(kind, HOME, name)

    def all(self, kind: str) -> list[Raw]:
        return self._table.all(kind)

    def hold_storage(self) -> None:
        self._table.buckets.stop()

    def release_storage(self) -> None:
        self._table.buckets.answer()

    def drop_bucket(self) -> None:
        self._table.buckets.drop(BUCKET)

    def make_bucket(self) -> None:
        self._table.buckets.make(BUCKET)

    def _hear(self, kind: Kind, change: Change) -> None:
        if kind.group == "velero.io":
            self.told.append((kind.plural, change.type.value, change.body))
