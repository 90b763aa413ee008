"""A real cluster with a real Velero as a place for stories."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from foretop_core.models import kinds
from tests.real.cluster import RealCluster
from tests.unit.minicluster.recording_replay import ObservedChange
from tests.velero.build import VeleroKit
from tests.velero.object_storage import LoopbackS3
from tests.velero.place import BUCKET, HOME, TEAMS, Raw, ServerFlags
from tests.velero.velero_server import RealVelero, command_line
from tests.velero.watch_log import Heard, WatchLog

_PAUSE = 0.05
_GO_UNITS = ((3600, "h"), (60, "m"), (1, "s"))


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that a person did: to one object, or (name "") to the whole server or its storage."""

    at: datetime
    what: str
    kind: str = ""
    name: str = ""


class RealPlace:
    """One cluster, one object storage, one Velero at a time; `clear` makes it new for the next story."""

    def __init__(self, kit: VeleroKit) -> None:
        self.kit = kit
        self._folder = Path(tempfile.mkdtemp(prefix="foretop-velero-"))
        self.cluster = RealCluster(kit.cluster)
        self.storage = LoopbackS3(kit.python_with_storage, self._folder)
        self._velero: RealVelero | None = None
        self._log: WatchLog | None = None
        self.deeds: list[Deed] = []
        self.flags = ServerFlags()

    def __enter__(self) -> Self:
        try:
            self.cluster.__enter__()
            self.storage.start()
            self._velero = RealVelero(self.kit.plugins, self.cluster.kubeconfig("admin", HOME), self._folder)
            self.storage.make(BUCKET)
            for team in TEAMS:
                self._ensure_namespace(team)
                content = {"metadata": {"name": "settings"}, "data": {"team": team}}
                self.cluster.admin.post(f"/api/v1/namespaces/{team}/configmaps", content).expect(201)
            self._furnish()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._stop_listening()
        if self._velero is not None:
            self._velero.kill()
        self.storage.close()
        self.cluster.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def clear(self) -> None:
        """End Velero and take away all that it and the stories have made."""
        self.velero.kill()
        self.storage.answer()
        self._stop_listening()
        self.cluster.empty_namespace(HOME)
        self.storage.empty()
        self.storage.make(BUCKET)
        self._ensure_namespace(HOME)
        self._furnish()

    def _stop_listening(self) -> None:
        log, self._log = self._log, None
        if log is not None:
            log.close()

    # The hands

    @property
    def told(self) -> list[ObservedChange]:
        return [(entry.plural, entry.change, entry.body) for entry in self.heard]

    @property
    def heard(self) -> list[Heard]:
        assert self._log is not None
        return list(self._log.heard)

    @property
    def velero(self) -> RealVelero:
        assert self._velero is not None
        return self._velero

    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))

    def until(self, is_so: Callable[[], object], limit: float = 120.0) -> None:
        end = time.monotonic() + limit
        while not is_so():
            assert time.monotonic() < end, f"waited {limit:.0f} s in vain; {self._state()}"
            time.sleep(_PAUSE)

    def start(self, flags: ServerFlags) -> None:
        """Start a release, and say so in the cluster as its Deployment would."""
        self.flags = flags
        words = [
            f"--concurrent-backups={flags.concurrent_backups}",
            f"--schedule-skip-immediately={'true' if flags.skip_immediately else 'false'}",
            f"--garbage-collection-frequency={go_duration(flags.collects_every)}",
        ]
        self._show_deployment(flags.version, words)
        self._did("start")
        self.velero.start(self.kit.servers[flags.version], words)

    def kill(self) -> None:
        self._did("kill")
        self.velero.kill()

    def create(self, kind: str, name: str, spec: Raw, **meta: Any) -> Raw:
        body = {
            "apiVersion": _kind(kind).api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": HOME, **meta},
            "spec": spec,
        }
        self._did("create", kind, name)
        made: Raw = self.cluster.admin.post(_path(kind), body).expect(201)
        return made

    def patch(self, kind: str, name: str, change: Raw) -> None:
        self._did("patch", kind, name)
        self.cluster.admin.patch(f"{_path(kind)}/{name}", change).expect(200)

    def delete(self, kind: str, name: str) -> None:
        self._did("delete", kind, name)
        self.cluster.admin.delete(f"{_path(kind)}/{name}").expect(200, 202)

    def find(self, kind: str, name: str) -> Raw | None:
        answer = self.cluster.admin.get(f"{_path(kind)}/{name}")
        found: Raw | None = None if answer.status == 404 else answer.expect(200)
        return found

    def all(self, kind: str) -> list[Raw]:
        return list(self.cluster.admin.get(_path(kind)).expect(200)["items"])

    def hold_storage(self) -> None:
        self._did("hold storage")
        self.storage.stop()

    def release_storage(self) -> None:
        self._did("release storage")
        self.storage.answer()

    def drop_bucket(self) -> None:
        self._did("drop bucket")
        self.storage.empty()

    def make_bucket(self) -> None:
        self._did("make bucket")
        self.storage.make(BUCKET)

    # Beside the stories

    def velero_command(self, *arguments: str) -> str:
        """What the `velero` of the running release prints."""
        return command_line(self.kit.servers[self.flags.version], self.cluster.kubeconfig("admin", HOME), *arguments)

    def _did(self, what: str, kind: str = "", name: str = "") -> None:
        self.deeds.append(Deed(self.now(), what, kind, name))

    def _furnish(self) -> None:
        config = {"region": "us-east-1", "s3Url": self.storage.url, "s3ForcePathStyle": "true"}
        spec = {"provider": "aws", "objectStorage": {"bucket": BUCKET}, "default": True, "config": config}
        body = {"apiVersion": "velero.io/v1", "kind": "BackupStorageLocation", "metadata": {"name": "default"}}
        path = _path("BackupStorageLocation")
        self.cluster.admin.post(path, {**body, "spec": spec}).expect(201)
        self._log = WatchLog(self.cluster, HOME)
        self.deeds = []

    def _ensure_namespace(self, name: str) -> None:
        if self.cluster.admin.get(f"/api/v1/namespaces/{name}").status == 404:
            self.cluster.create_namespace(name)

    def _show_deployment(self, version: str, flags: list[str]) -> None:
        """What foretop reads release and flags from; nothing in this cluster makes pods of it."""
        path = f"/apis/apps/v1/namespaces/{HOME}/deployments"
        label = {"component": "velero", "deploy": "velero"}
        container = {"name": "velero", "image": f"velero/velero:v{version}", "args": ["server", *flags]}
        template = {"metadata": {"labels": label}, "spec": {"containers": [container]}}
        body = {
            "metadata": {"name": "velero", "labels": label},
            "spec": {"selector": {"matchLabels": label}, "template": template},
        }
        if self.cluster.admin.get(f"{path}/velero").status == 200:
            self.cluster.admin.delete(f"{path}/velero").expect(200)
        self.cluster.admin.post(path, body).expect(201)

    def _state(self) -> str:
        phases = {
            f"{kind} {item['metadata']['name']}": (item.get("status") or {}).get("phase")
            for kind in ("Schedule", "Backup", "Restore", "BackupStorageLocation")
            for item in self.all(kind)
        }
        return f"{phases}; Velero's log ends:\n" + "\n".join(self.velero.log.read_text().splitlines()[-15:])


def go_duration(length: timedelta) -> str:
    left, text = int(length.total_seconds()), ""
    for unit, letter in _GO_UNITS:
        text += f"{left // unit}{letter}"
        left %= unit
    return text


def _kind(name: str) -> kinds.Kind:
    found = kinds.by_name(name)
    assert found is not None, name
    return found


def _path(kind: str) -> str:
    return f"/apis/{_kind(kind).api_version}/namespaces/{HOME}/{_kind(kind).plural}"
