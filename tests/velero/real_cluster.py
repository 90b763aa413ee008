"""A real cluster with a real Velero."""

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
from foretop_core.rules.cron_dialects import read_release
from foretop_demo.controllers.variants import has_queue
from tests.demo.recording_replay import ObservedChange
from tests.real.cluster import RealCluster
from tests.velero.build import NEWEST, VeleroKit
from tests.velero.object_storage import LoopbackS3
from tests.velero.velero_cluster import BUCKET, TEAMS, VELERO_NAMESPACE, Raw, ServerFlags
from tests.velero.velero_server import RealVelero, command_line
from tests.velero.watch_events import WatchEvent, WatchEvents

_PAUSE = 0.05
_GO_UNITS = ((3600, "h"), (60, "m"), (1, "s"))


@dataclass(frozen=True, slots=True)
class UserAction:
    """Something a person did: to one object, or (name "") to the whole server or its storage."""

    at: datetime
    what: str
    kind: str = ""
    name: str = ""


class RealVeleroCluster:
    """One API server, one object storage, one Velero at a time; `clear` empties it for the next story."""

    def __init__(self, kit: VeleroKit) -> None:
        self.kit = kit
        self._folder = Path(tempfile.mkdtemp(prefix="foretop-velero-"))
        self.api_server = RealCluster(kit.cluster)
        self.storage = LoopbackS3(kit.python_with_storage, self._folder)
        self._velero: RealVelero | None = None
        self._watches: WatchEvents | None = None
        self.actions: list[UserAction] = []
        self.release = NEWEST
        self._running = NEWEST

    def __enter__(self) -> Self:
        try:
            self.api_server.__enter__()
            self.storage.start()
            self._velero = RealVelero(
                self.kit.plugins, self.api_server.kubeconfig("admin", VELERO_NAMESPACE), self._folder, self.storage.url
            )
            self.storage.create_bucket(BUCKET)
            for team in TEAMS:
                self._ensure_namespace(team)
                content = {"metadata": {"name": "settings"}, "data": {"team": team}}
                self.api_server.admin.post(f"/api/v1/namespaces/{team}/configmaps", content).expect(201)
            self._create_storage_location()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._stop_watching()
        if self._velero is not None:
            self._velero.kill()
        self.storage.close()
        self.api_server.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def clear(self) -> None:
        """End Velero and take away all that it and the stories have made."""
        self.release = NEWEST
        self.velero.kill()
        self.velero.forget_log()
        self.storage.unfreeze()
        self._stop_watching()
        self.api_server.empty_namespace(VELERO_NAMESPACE)
        self.storage.delete_buckets()
        self.storage.create_bucket(BUCKET)
        self._ensure_namespace(VELERO_NAMESPACE)
        self._create_storage_location()

    def _stop_watching(self) -> None:
        watches, self._watches = self._watches, None
        if watches is not None:
            watches.close()

    @property
    def changes(self) -> list[ObservedChange]:
        return [(entry.plural, entry.change, entry.body) for entry in self.events]

    @property
    def events(self) -> list[WatchEvent]:
        assert self._watches is not None
        return list(self._watches.events)

    @property
    def velero(self) -> RealVelero:
        assert self._velero is not None
        return self._velero

    def now(self) -> datetime:
        return datetime.now(UTC)

    def wait(self, seconds: float) -> None:
        time.sleep(max(0.0, seconds))

    def wait_until(self, condition: Callable[[], object], limit: float = 120.0) -> None:
        end = time.monotonic() + limit
        while not condition():
            assert time.monotonic() < end, f"waited {limit:.0f} s without success; {self._state()}"
            time.sleep(_PAUSE)

    def start(self, flags: ServerFlags) -> None:
        """Start a release, and say so in the cluster as its Deployment would."""
        version = flags.version or self.release
        words = [
            *([f"--concurrent-backups={flags.concurrent_backups}"] if has_queue(read_release(version)) else []),
            f"--schedule-skip-immediately={'true' if flags.skip_immediately else 'false'}",
            f"--garbage-collection-frequency={go_duration(flags.collects_every)}",
            *flags.more,
        ]
        self._show_deployment(version, words)
        self._record("start")
        self._running = version
        self.velero.start(self.kit.servers[version], words)

    def kill(self) -> None:
        self._record("kill")
        self.velero.kill()

    def create(self, kind: str, name: str, spec: Raw, **meta: Any) -> Raw:
        body = {
            "apiVersion": _kind(kind).api_version,
            "kind": kind,
            "metadata": {"name": name, "namespace": VELERO_NAMESPACE, **meta},
            "spec": spec,
        }
        self._record("create", kind, name)
        made: Raw = self.api_server.admin.post(_path(kind), body).expect(201)
        return made

    def patch(self, kind: str, name: str, change: Raw) -> None:
        self._record("patch", kind, name)
        self.api_server.admin.patch(f"{_path(kind)}/{name}", change).expect(200)

    def delete(self, kind: str, name: str) -> None:
        self._record("delete", kind, name)
        self.api_server.admin.delete(f"{_path(kind)}/{name}").expect(200, 202)

    def find(self, kind: str, name: str) -> Raw | None:
        answer = self.api_server.admin.get(f"{_path(kind)}/{name}")
        found: Raw | None = None if answer.status == 404 else answer.expect(200)
        return found

    def list_all(self, kind: str) -> list[Raw]:
        return list(self.api_server.admin.get(_path(kind)).expect(200)["items"])

    def freeze_storage(self) -> None:
        self._record("freeze storage")
        self.storage.freeze()

    def unfreeze_storage(self) -> None:
        self._record("unfreeze storage")
        self.storage.unfreeze()

    def delete_bucket(self) -> None:
        self._record("delete bucket")
        self.storage.delete_buckets()

    def create_bucket(self) -> None:
        self._record("create bucket")
        self.storage.create_bucket(BUCKET)

    def velero_command(self, *arguments: str) -> str:
        """What the `velero` of the running release prints."""
        return command_line(
            self.kit.servers[self._running], self.api_server.kubeconfig("admin", VELERO_NAMESPACE), *arguments
        )

    def _record(self, what: str, kind: str = "", name: str = "") -> None:
        self.actions.append(UserAction(self.now(), what, kind, name))

    def _create_storage_location(self) -> None:
        config = {"region": "us-east-1", "s3Url": self.storage.url, "s3ForcePathStyle": "true"}
        spec = {"provider": "aws", "objectStorage": {"bucket": BUCKET}, "default": True, "config": config}
        body = {"apiVersion": "velero.io/v1", "kind": "BackupStorageLocation", "metadata": {"name": "default"}}
        path = _path("BackupStorageLocation")
        self.api_server.admin.post(path, {**body, "spec": spec}).expect(201)
        self._watches = WatchEvents(self.api_server, VELERO_NAMESPACE)
        self.actions = []

    def _ensure_namespace(self, name: str) -> None:
        if self.api_server.admin.get(f"/api/v1/namespaces/{name}").status == 404:
            self.api_server.create_namespace(name)

    def _show_deployment(self, version: str, flags: list[str]) -> None:
        """What foretop reads release and flags from; nothing in this cluster makes pods of it."""
        path = f"/apis/apps/v1/namespaces/{VELERO_NAMESPACE}/deployments"
        label = {"component": "velero", "deploy": "velero"}
        container = {"name": "velero", "image": f"velero/velero:v{version}", "args": ["server", *flags]}
        template = {"metadata": {"labels": label}, "spec": {"containers": [container]}}
        body = {
            "metadata": {"name": "velero", "labels": label},
            "spec": {"selector": {"matchLabels": label}, "template": template},
        }
        if self.api_server.admin.get(f"{path}/velero").status == 200:
            self.api_server.admin.delete(f"{path}/velero").expect(200)
        self.api_server.admin.post(path, body).expect(201)

    def _state(self) -> str:
        phases = {
            f"{kind} {item['metadata']['name']}": (item.get("status") or {}).get("phase")
            for kind in ("Schedule", "Backup", "Restore", "BackupStorageLocation")
            for item in self.list_all(kind)
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
    return f"/apis/{_kind(kind).api_version}/namespaces/{VELERO_NAMESPACE}/{_kind(kind).plural}"
