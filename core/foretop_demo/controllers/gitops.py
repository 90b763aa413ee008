"""A GitOps controller in the box: it keeps schedules as they are in Git, and puts back what others change."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.models.kinds import SCHEDULE
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Engine
from foretop_demo.kinds import Json
from foretop_demo.status import ApiError

MANAGER = "argocd-controller"
_HEALS_AFTER = timedelta(seconds=4)


class GitOpsController:
    """Heals the fields that Git has; what Git does not mention it leaves alone. A deleted schedule is made again."""

    def __init__(self, engine: Engine, home: str) -> None:
        self._engine = engine
        self._home = home
        self._group = engine.process_group()
        self._client = ControllerClient(engine.storage, MANAGER)
        self._git: dict[Key, Json] = {}

    def keep(self, name: str, manifest: Json) -> None:
        """A schedule that is in Git: metadata and spec."""
        self._git[self._home, name] = manifest

    def start(self) -> None:
        self._group.listen(SCHEDULE, lambda key, old, new: self._look_at(key))
        for key in self._git:
            self._look_at(key)

    def _look_at(self, key: Key) -> None:
        if key in self._git:
            self._group.enqueue(self._heal, key, _HEALS_AFTER)

    def _heal(self, key: Key) -> None:
        wanted, storage = self._git[key], self._engine.storage
        try:
            held = storage.get(storage.kind(SCHEDULE.name), *key)
        except ApiError:
            self._client.create(SCHEDULE.name, {"metadata": wanted["metadata"], "spec": wanted["spec"]})
            return
        changed = {name: value for name, value in wanted["spec"].items() if held["spec"].get(name) != value}
        if changed:
            self._client.patch_raw(SCHEDULE.name, key, {"spec": changed})
