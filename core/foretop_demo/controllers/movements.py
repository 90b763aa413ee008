"""The volume transfers of a backup, as Velero's node agents do them."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable
from datetime import timedelta

import msgspec

from foretop_core.models import Backup, DataMovement, Resource
from foretop_core.models.kinds import BACKUP, DATA_UPLOAD, MOVEMENTS, POD_VOLUME_BACKUP, Kind
from foretop_core.models.velero import BACKUP_LABEL
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Process, ProcessGroup, WaitCondition
from foretop_demo.controllers.event_queue import Action
from foretop_demo.controllers.simulated_runs import GIGABYTE, VolumeTransfer
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time

_SHORT = timedelta(seconds=3)
_PREPARE_TIMEOUT = timedelta(minutes=30)
_STEPS = 12
_ENDED = frozenset({"Completed", "Failed", "Canceled"})


class NodeAgent:
    """One node, which transfers so many volumes at a time; the others wait."""

    def __init__(self, at_once: int) -> None:
        self._free = at_once
        self._waiting: deque[Action] = deque()

    def when_ready(self, resume: Action) -> None:
        if self._free > 0:
            self._free -= 1
            resume()
        else:
            self._waiting.append(resume)

    def release(self) -> None:
        self._free += 1
        if self._waiting:
            self.when_ready(self._waiting.popleft())


class NodeLimit(msgspec.Struct, frozen=True):
    """How many volumes the node of this name transfers at a time."""

    node: str
    number: int


class LoadConcurrency(msgspec.Struct, frozen=True):
    """How many volumes each node transfers at a time."""

    every_node: int = 1
    nodes: tuple[NodeLimit, ...] = ()

    def of(self, node: str) -> int:
        return min((one.number for one in self.nodes if one.node == node), default=self.every_node)

    def config(self) -> str:
        """The text of the ConfigMap that node agents read it from."""
        rules = [
            {"nodeSelector": {"matchLabels": {"kubernetes.io/hostname": one.node}}, "number": one.number}
            for one in self.nodes
        ]
        load = {"globalConfig": self.every_node, "perNodeConfig": rules}
        return msgspec.json.encode({"loadConcurrency": load}).decode()


class _MovementsEnded:
    """Ready once no movement of a kind is under way for a backup."""

    def __init__(self, movements: Movements, backup: Key, kind: Kind) -> None:
        self._movements, self._backup, self._kind = movements, backup, kind

    def when_ready(self, resume: Action) -> None:
        if self._movements.under_way(self._backup, self._kind):
            self._movements.waiting[self._backup].append(lambda: self.when_ready(resume))
        else:
            resume()


class Movements:
    """The PodVolumeBackups and DataUploads of the running backups."""

    def __init__(self, group: ProcessGroup, client: ControllerClient, load: LoadConcurrency) -> None:
        self._group = group
        self._client = client
        self._load = load
        self._nodes: dict[str, NodeAgent] = {}
        self.waiting: defaultdict[Key, list[Action]] = defaultdict(list)
        group.listen(BACKUP, self._delete_with_backup)

    def begin(self, backup: Key, moves: Iterable[VolumeTransfer]) -> None:
        for number, move in enumerate(moves):
            kind = POD_VOLUME_BACKUP if move.kind == POD_VOLUME_BACKUP.name else DATA_UPLOAD
            name = f"{backup[1]}-{move.volume}-{number}"
            if not self._client.create(kind.name, self._object(kind, backup, name, move)):
                self._group.start(self._move(kind, backup, (backup[0], name), move))

    def ended(self, backup: Key, kind: Kind) -> WaitCondition:
        return _MovementsEnded(self, backup, kind)

    def under_way(self, backup: Key, kind: Kind) -> bool:
        return any(item.phase not in _ENDED for item in self._of(backup, (kind,)))

    def failed(self, backup: Key) -> int:
        return sum(item.phase in ("Failed", "Canceled") for item in self._of(backup, MOVEMENTS))

    def _of(self, backup: Key, kinds: Iterable[Kind]) -> list[DataMovement]:
        cache = self._group.cache
        return [item for kind in kinds for item in cache.under(kind, "backup", backup[1], DataMovement)]

    def _move(self, kind: Kind, backup: Key, key: Key, move: VolumeTransfer) -> Process:
        yield _SHORT
        now = wire_time(self._group.now())
        accepted: Json = {"phase": "Accepted", "acceptedTimestamp": now}
        if kind is DATA_UPLOAD:
            accepted["acceptedByNode"] = move.node
        self._write(kind, key, accepted)
        if move.waits:
            yield _PREPARE_TIMEOUT
            self._end(kind, backup, key, "Failed", "timeout on preparing data movement")
            return
        node = self._nodes.setdefault(move.node, NodeAgent(self._load.of(move.node)))
        yield node
        yield from self._transfer(kind, backup, key, move)
        node.release()

    def _transfer(self, kind: Kind, backup: Key, key: Key, move: VolumeTransfer) -> Process:
        prepared: Json = {"phase": "Prepared"} | ({"node": move.node} if kind is DATA_UPLOAD else {})
        self._write(kind, key, prepared)
        yield _SHORT
        total = round(move.gigabytes * GIGABYTE)
        self._write(kind, key, {"phase": "InProgress", "startTimestamp": wire_time(self._group.now())})
        for step in range(1, _STEPS + 1):
            yield timedelta(minutes=move.minutes) / _STEPS
            current = self._group.cache.get(kind, key, kind.model)
            if not isinstance(current, DataMovement):
                return
            if current.spec.cancel:
                self._write(kind, key, {"phase": "Canceling"})
                yield _SHORT
                self._end(kind, backup, key, "Canceled", "found a data movement with the cancel flag set")
                return
            if move.fails and step > _STEPS // 2:
                self._end(kind, backup, key, "Failed", move.fails)
                return
            self._write(kind, key, {"progress": {"bytesDone": total * step // _STEPS, "totalBytes": total}})
        self._end(kind, backup, key, "Completed", "")

    def _end(self, kind: Kind, backup: Key, key: Key, phase: str, message: str) -> None:
        status: Json = {"phase": phase, "completionTimestamp": wire_time(self._group.now())}
        if message:
            status["message"] = message
        self._write(kind, key, status)
        for resume in self.waiting.pop(backup, ()):
            resume()

    def _write(self, kind: Kind, key: Key, status: Json) -> None:
        self._client.patch(kind, key, {"status": status})

    def _object(self, kind: Kind, backup: Key, name: str, move: VolumeTransfer) -> Json:
        owner = self._group.cache.get(BACKUP, backup, Backup)
        source = owner.spec.included_namespaces[0] if owner and owner.spec.included_namespaces else "default"
        location = (owner.spec.storage_location if owner else "") or "default"
        spec: Json = {"backupStorageLocation": location}
        if kind is POD_VOLUME_BACKUP:
            pod = {"kind": "Pod", "name": f"{move.volume}-0", "namespace": source}
            repository = f"s3:backups/kopia/{source}"
            spec |= {"node": move.node, "pod": pod, "volume": move.volume, "repoIdentifier": repository}
            spec["uploaderType"] = "kopia"
        else:
            spec |= {"operationTimeout": "10m0s", "snapshotType": "CSI", "sourceNamespace": source}
            spec["sourcePVC"] = move.volume
        meta: Json = {"name": name, "namespace": backup[0], "labels": {BACKUP_LABEL: backup[1]}}
        if kind is POD_VOLUME_BACKUP:
            meta["annotations"] = {"velero.io/pvc-name": move.volume}
        return {"metadata": meta, "spec": spec, "status": {"phase": "New"}}

    def _delete_with_backup(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        """Delete the movements of a deleted backup."""
        if new is None:
            for kind in MOVEMENTS:
                for item in self._group.cache.under(kind, "backup", key[1], DataMovement):
                    self._client.delete(kind.name, (item.namespace, item.name))
