"""A cluster with one Velero, simulated or real, as the stories use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from foretop_core.rules.cron_dialects import read_release
from foretop_demo.controllers.variants import has_queue
from tests.demo.recording_replay import ObservedChange

Raw = dict[str, Any]
BUCKET = "backups"
VELERO_NAMESPACE = "velero"
TEAMS = ("team-a", "team-b", "team-c")


@dataclass(frozen=True, slots=True)
class ServerFlags:
    """Which release of Velero is started, and how."""

    version: str = ""
    """The release that is started; "" for that of the story."""
    concurrent_backups: int = 1
    skip_immediately: bool = False
    collects_every: timedelta = timedelta(hours=1)
    more: tuple[str, ...] = ()
    """Flags of a real server beside these."""


class VeleroCluster(Protocol):
    """What people do to a cluster, and its clock. All objects are in the namespace of Velero."""

    @property
    def release(self) -> str:
        """The release of Velero that the story is about."""

    @property
    def changes(self) -> list[ObservedChange]:
        """What watches of Velero's kinds have seen, oldest first."""

    def now(self) -> datetime: ...

    def wait(self, seconds: float) -> None: ...

    def wait_until(self, condition: Callable[[], object], limit: float = 120.0) -> None:
        """Wait for a condition; raises AssertionError where it does not come within `limit` seconds."""

    def start(self, flags: ServerFlags) -> None: ...

    def kill(self) -> None: ...

    def create(self, kind: str, name: str, spec: Raw, **meta: Any) -> Raw: ...

    def patch(self, kind: str, name: str, change: Raw) -> None: ...

    def delete(self, kind: str, name: str) -> None: ...

    def find(self, kind: str, name: str) -> Raw | None: ...

    def list_all(self, kind: str) -> list[Raw]: ...

    def freeze_storage(self) -> None:
        """Let every request to object storage hang."""

    def unfreeze_storage(self) -> None: ...

    def delete_bucket(self) -> None: ...

    def create_bucket(self) -> None: ...


class StorySteps:
    """What stories do again and again: create, change, and wait for a phase."""

    def __init__(self, cluster: VeleroCluster) -> None:
        self.cluster = cluster

    def wait_for_second(self, second: int) -> None:
        """Wait for the next time that the clock shows this second."""
        now = self.cluster.now()
        ahead = (second - now.second) % 60 - now.microsecond / 1e6
        self.cluster.wait(ahead if ahead > 0 else ahead + 60)

    def schedule(self, name: str, cron: str, namespace: str = TEAMS[0], **spec: Any) -> None:
        template = {"includedNamespaces": [namespace], "ttl": "1h0m0s"}
        self.cluster.create("Schedule", name, {"schedule": cron, "template": template, **spec})

    def backup(self, name: str, namespace: str = TEAMS[0], **spec: Any) -> None:
        self.cluster.create("Backup", name, {"includedNamespaces": [namespace], "ttl": "1h0m0s", **spec})

    def change(self, name: str, **spec: Any) -> None:
        self.cluster.patch("Schedule", name, {"spec": spec})

    def phase(self, kind: str, name: str) -> str | None:
        found = self.cluster.find(kind, name)
        return None if found is None else (found.get("status") or {}).get("phase") or ""

    def wait_for_phase(self, kind: str, name: str, *phases: str) -> None:
        self.cluster.wait_until(lambda: self.phase(kind, name) in phases)

    def wait_until_gone(self, kind: str, name: str) -> None:
        self.cluster.wait_until(lambda: self.cluster.find(kind, name) is None)

    def wait_until_idle(self) -> None:
        """Wait until no backup is open; a real queue may leave its slot free for a minute before each of them."""
        open_phases = ("", "New", "Queued", "ReadyToStart", "InProgress", "Finalizing")
        self.cluster.wait_until(
            lambda: all((item.get("status") or {}).get("phase", "") not in open_phases for item in self.runs()),
            limit=400.0,
        )

    def wait_until_taken(self, name: str) -> None:
        """Wait until Velero has seen a new backup; without a queue one that waits looks as if it had not."""
        if has_queue(read_release(self.cluster.release)):
            self.wait_for_phase("Backup", name, "Queued", "ReadyToStart", "InProgress")

    def runs(self, schedule: str = "") -> list[Raw]:
        """The backups, of one schedule or all."""
        label = "velero.io/schedule-name"
        return [
            item
            for item in self.cluster.list_all("Backup")
            if not schedule or (item["metadata"].get("labels") or {}).get(label) == schedule
        ]
