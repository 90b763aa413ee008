"""Where a story happens: a cluster with one Velero, in the box or real, under the same hands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from tests.unit.minicluster.recording_replay import ObservedChange

Raw = dict[str, Any]
BUCKET = "backups"
HOME = "velero"
TEAMS = ("team-a", "team-b", "team-c")


@dataclass(frozen=True, slots=True)
class ServerFlags:
    """Which release of Velero is started, and how."""

    version: str = "1.18.3"
    concurrent_backups: int = 1
    skip_immediately: bool = False
    collects_every: timedelta = timedelta(hours=1)


class Place(Protocol):
    """People's hands in a cluster, and its time. Objects are in the namespace of Velero unless said otherwise."""

    told: list[ObservedChange]
    """What the watches of Velero's kinds have seen, oldest first."""

    def now(self) -> datetime: ...

    def wait(self, seconds: float) -> None: ...

    def until(self, is_so: Callable[[], object], limit: float = 120.0) -> None:
        """Wait until something is so; an AssertionError where it does not come."""

    def start(self, flags: ServerFlags) -> None: ...

    def kill(self) -> None: ...

    def create(self, kind: str, name: str, spec: Raw, **meta: Any) -> Raw: ...

    def patch(self, kind: str, name: str, change: Raw) -> None: ...

    def delete(self, kind: str, name: str) -> None: ...

    def find(self, kind: str, name: str) -> Raw | None: ...

    def all(self, kind: str) -> list[Raw]: ...

    def hold_storage(self) -> None:
        """Let every request to object storage hang."""

    def release_storage(self) -> None: ...

    def drop_bucket(self) -> None: ...

    def make_bucket(self) -> None: ...


class Hands:
    """What stories do again and again, in words of the field."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def until_second(self, second: int) -> None:
        """Wait for the next time that the clock shows this second."""
        now = self.place.now()
        ahead = (second - now.second) % 60 - now.microsecond / 1e6
        self.place.wait(ahead if ahead > 0 else ahead + 60)

    def schedule(self, name: str, cron: str, namespace: str = TEAMS[0], **spec: Any) -> None:
        template = {"includedNamespaces": [namespace], "ttl": "1h0m0s"}
        self.place.create("Schedule", name, {"schedule": cron, "template": template, **spec})

    def backup(self, name: str, namespace: str = TEAMS[0], **spec: Any) -> None:
        self.place.create("Backup", name, {"includedNamespaces": [namespace], "ttl": "1h0m0s", **spec})

    def change(self, name: str, **spec: Any) -> None:
        self.place.patch("Schedule", name, {"spec": spec})

    def phase(self, kind: str, name: str) -> str | None:
        found = self.place.find(kind, name)
        return None if found is None else (found.get("status") or {}).get("phase") or ""

    def until_phase(self, kind: str, name: str, *phases: str) -> None:
        self.place.until(lambda: self.phase(kind, name) in phases)

    def until_gone(self, kind: str, name: str) -> None:
        self.place.until(lambda: self.place.find(kind, name) is None)

    def until_idle(self) -> None:
        """Wait until no backup is open; a real queue may leave its slot free for a minute before each of them."""
        open_phases = ("", "New", "Queued", "ReadyToStart", "InProgress", "Finalizing")
        self.place.until(
            lambda: all((item.get("status") or {}).get("phase", "") not in open_phases for item in self.runs()),
            limit=400.0,
        )

    def runs(self, schedule: str = "") -> list[Raw]:
        """The backups, of one schedule or all."""
        label = "velero.io/schedule-name"
        return [
            item
            for item in self.place.all("Backup")
            if not schedule or (item["metadata"].get("labels") or {}).get(label) == schedule
        ]
