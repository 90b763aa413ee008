"""Velero's backup queue in the box: positions, and which backup may start next."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.models import Backup, Resource
from foretop_core.models.kinds import BACKUP
from foretop_core.rules.phases import WAITING
from foretop_core.rules.queue.positions import order
from foretop_core.rules.queue.queue_items import find_blockers
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import ProcessGroup

_HOP = timedelta(milliseconds=5)
_EVERYBODY: Key = ("", "")


class QueueController:
    """Sets Queued with the next free position, then ReadyToStart once a slot is free and no namespace conflicts.

    It looks again when a backup joins, when one is no longer InProgress, and once a minute: behind one that was
    refused, which never is InProgress, the others wait for the next of these.
    """

    def __init__(self, group: ProcessGroup, client: ControllerClient, namespace: str, concurrency: int) -> None:
        self._group = group
        self._client = client
        self._namespace = namespace
        self._concurrency = concurrency
        group.listen(BACKUP, self._on_change)

    def start(self) -> None:
        """Take up what was waiting when the server last stopped, oldest first."""
        for backup in sorted(self._line(), key=order):
            if backup.phase in ("", "New"):
                self._enqueue((backup.namespace, backup.name))
        self.look_again()

    def look_again(self) -> None:
        """The once-a-minute pass."""
        self._fill_slots(_EVERYBODY)

    def _on_change(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if key[0] != self._namespace:
            return
        joined = _was(new, "Queued") and not _was(old, "Queued")
        freed = _was(old, "InProgress") and not _was(new, "InProgress")
        if _was(new, "", "New"):
            self._group.enqueue(self._enqueue, key, _HOP)
        elif joined or freed:
            self._group.enqueue(self._fill_slots, _EVERYBODY, _HOP)

    def _line(self) -> list[Backup]:
        return self._group.cache.under(BACKUP, "line", self._namespace, Backup)

    def _enqueue(self, key: Key) -> None:
        backup = self._group.cache.get(BACKUP, key, Backup)
        if backup is None or backup.phase not in ("", "New"):
            return
        last = max((entry.status.queue_position or 0 for entry in self._line()), default=0)
        self._client.patch(BACKUP, key, {"status": {"phase": "Queued", "queuePosition": last + 1}})

    def _fill_slots(self, _: Key) -> None:
        """Give free slots to the first backups without a conflict ahead; after each one the others move up."""
        while (chosen := self._next()) is not None:
            self._client.patch(BACKUP, (chosen.namespace, chosen.name), _READY)
            for place, backup in enumerate(self._queued(), start=1):
                if backup.status.queue_position != place:
                    self._client.patch(BACKUP, (backup.namespace, backup.name), {"status": {"queuePosition": place}})

    def _next(self) -> Backup | None:
        line = [entry for entry in sorted(self._line(), key=order) if entry.phase not in ("", "New")]
        held = find_blockers(line, self._concurrency, by_namespace=True).of
        return next((entry for at, entry in enumerate(line) if entry.phase in WAITING and at not in held), None)

    def _queued(self) -> list[Backup]:
        return sorted((entry for entry in self._line() if entry.phase == "Queued"), key=order)


_READY = {"status": {"phase": "ReadyToStart", "queuePosition": None}}


def _was(item: Resource | None, *phases: str) -> bool:
    return isinstance(item, Backup) and item.phase in phases
