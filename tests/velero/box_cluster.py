"""The simulated cluster of the box; its clock is stepped, so a minute costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from foretop_demo.change_log import Change
from foretop_demo.controllers import Flags
from foretop_demo.kinds import Kind
from tests.demo.controller_box import ControllerBox
from tests.demo.recording_replay import ObservedChange
from tests.velero.velero_cluster import BUCKET, TEAMS, VELERO_NAMESPACE, Raw, ServerFlags

_STEP = 0.1


class BoxVeleroCluster:
    """A box whose clock begins where the real cluster's began."""

    def __init__(self, begin: datetime, release: str) -> None:
        self.release = release
        self._box = ControllerBox(begin, Flags(), namespaces=(VELERO_NAMESPACE, *TEAMS))
        self._box.add_location()
        self._changes: list[ObservedChange] = []
        self._box.storage.subscribe(self._on_change)

    @property
    def changes(self) -> list[ObservedChange]:
        return list(self._changes)

    def now(self) -> datetime:
        return self._box.manual.now()

    def wait(self, seconds: float) -> None:
        self._box.pass_time(seconds)

    def wait_until(self, condition: Callable[[], object], limit: float = 120.0) -> None:
        end = self.now() + timedelta(seconds=limit)
        while not condition():
            assert self.now() < end, f"waited {limit:.0f} s without success"
            self.wait(_STEP)

    def start(self, flags: ServerFlags) -> None:
        self._box.velero.flags = Flags(
            VELERO_NAMESPACE,
            flags.skip_immediately,
            flags.concurrent_backups,
            flags.version or self.release,
            collects_every=flags.collects_every,
        )
        self._box.velero.start()

    def kill(self) -> None:
        self._box.velero.kill()

    def create(self, kind: str, name: str, spec: Raw, **meta: Any) -> Raw:
        return self._box.create(kind, VELERO_NAMESPACE, name, spec, **meta)

    def patch(self, kind: str, name: str, change: Raw) -> None:
        self._box.patch(kind, VELERO_NAMESPACE, name, change)

    def delete(self, kind: str, name: str) -> None:
        self._box.delete(kind, VELERO_NAMESPACE, name)

    def find(self, kind: str, name: str) -> Raw | None:
        return self._box.find(kind, VELERO_NAMESPACE, name)

    def list_all(self, kind: str) -> list[Raw]:
        return self._box.all(kind)

    def freeze_storage(self) -> None:
        self._box.buckets.stop()

    def unfreeze_storage(self) -> None:
        self._box.buckets.answer()

    def delete_bucket(self) -> None:
        self._box.buckets.drop(BUCKET)

    def create_bucket(self) -> None:
        self._box.buckets.make(BUCKET)

    def _on_change(self, kind: Kind, change: Change) -> None:
        if kind.group == "velero.io":
            self._changes.append((kind.plural, change.type.value, change.body))
