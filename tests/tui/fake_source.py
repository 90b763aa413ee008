"""A store filled by hand, in the place of a session: the moment that the sketches of the screens show."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from foretop_core.clock import ManualClock
from foretop_core.dashboard.session_protocol import WritableCluster
from foretop_core.errors import ForetopError
from foretop_core.kube.watching.watch_sink import EventType, FirstRows, WatchHealth, WatchScope, WatchState
from foretop_core.models import (
    Backup,
    BackupStorageLocation,
    Deployment,
    NonAdminBackup,
    NonAdminRestore,
    Resource,
    Restore,
    Schedule,
    from_builtins,
)
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, NAR, RESTORE, SCHEDULE, STORAGE, Kind
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.triage import Thresholds
from foretop_core.store import Store
from tests.objects import NOW

CONTEXT = "prod-eu"
_KINDS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, NAR, DEPLOYMENT)


class FilledSource:
    """Fits where the screen wants a session; its clock moves when a test moves it."""

    def __init__(self, objects: list[Resource], contexts: tuple[str, ...] = (CONTEXT,), at: datetime = NOW) -> None:
        self.store = Store()
        self.contexts = contexts
        self.namespaces: tuple[str, ...] = ()
        self.retries = 0
        self.first_rows = FirstRows()
        self.clusters: Mapping[str, WritableCluster] = {}
        self.thresholds = Thresholds()
        self.running = False
        self.manual = ManualClock(at)
        self._versions = 100
        for context in contexts:
            for kind in _KINDS:
                self.store.sink(WatchScope(context, kind), self.manual).health(WatchHealth(WatchState.LIVE, at))
            self.store.fill(context, objects, self.manual)

    def clock(self, _context: str) -> ManualClock:
        return self.manual

    def skew(self, _context: str) -> timedelta | None:
        return None

    def start(self, first: frozenset[str] = frozenset()) -> None:
        self.running = True

    def to_be_shown(self) -> tuple[FirstRows, ...]:
        return (self.first_rows,) if self.first_rows.is_to_be_shown else ()

    async def stop(self) -> None:
        self.running = False

    def retry_now(self) -> None:
        self.retries += 1

    async def other_contexts(self) -> tuple[str, ...]:
        return ()

    async def add_context(self, name: str) -> None:
        raise ForetopError(f"Context {name!r} does not exist")

    def watch_events(self, context: str, uid: str, namespace: str) -> None:
        """There is no cluster that could send any."""

    def watch_namespace(self, namespace: str) -> None:
        """Everything is in the store already."""

    def watch_on_demand(self, kinds: frozenset[str]) -> None:
        """Everything is in the store already."""

    async def fetch_object(self, ref: ObjectRef) -> Mapping[str, Any]:
        raise ForetopError(f"{ref} is not in a cluster")

    def can_sign_in(self, context: str) -> bool:
        return False

    def sign_in(self, context: str) -> None:
        raise AssertionError("nobody can sign in here")

    def fare(self, kind: Kind, state: WatchState, error: str = "", contexts: tuple[str, ...] = ()) -> None:
        """The watches of this kind are so from 40 seconds ago on."""
        since, again = self.manual.now() - timedelta(seconds=40), self.manual.now() + timedelta(seconds=8)
        for context in contexts or self.contexts:
            health = WatchHealth(
                state, since, error, again if state in (WatchState.STALE, WatchState.SIGNED_OUT) else None
            )
            self.store.sink(WatchScope(context, kind), self.manual).health(health)

    def change(self, kind: Kind, changed: dict[str, Any], context: str = CONTEXT, what: EventType = "MODIFIED") -> None:
        """An event of the watch of this kind."""
        self._versions += 1
        changed["metadata"]["resourceVersion"] = str(self._versions)
        sink = self.store.sink(WatchScope(context, kind), self.manual)
        sink.apply(what, from_builtins(kind.model, changed))

    def key(self, kind: Kind, namespace: str, name: str) -> ObjectRef:
        return ObjectRef(self.contexts[0], kind.name, namespace, name)


def meta(name: str, namespace: str = "velero", created: str = "2026-11-01T00:00:00Z", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": namespace,
        "uid": f"{namespace}-{name}",
        "resourceVersion": "1",
        "creationTimestamp": created,
        **more,
    }


def _schedule(name: str, cron: str, last: str = "", *, paused: bool = False, **more: Any) -> Schedule:
    who: dict[str, Any] = {"f:spec": {"f:paused": {}}}
    managed = [{"manager": "maria", "time": "2026-11-12T02:14:00Z", "fieldsV1": who}] if paused else []
    spec = {"schedule": cron, "paused": paused, **more}
    status = {"phase": "Enabled", **({"lastBackup": last} if last else {})}
    return from_builtins(Schedule, {"metadata": meta(name, managedFields=managed), "spec": spec, "status": status})


def backup_dict(
    name: str, phase: str, start: str = "", end: str = "", *, of: str = "", created: str = "", **more: Any
) -> dict[str, Any]:
    labels = {"velero.io/schedule-name": of} if of else {}
    notes, spec = more.pop("notes", {}), more.pop("spec", {})
    labels |= more.pop("labels", {})
    times = {"startTimestamp": start, "completionTimestamp": end}
    return {
        "metadata": meta(name, created=created or start or "2026-11-15T02:40:03Z", labels=labels, annotations=notes),
        "spec": {"storageLocation": "s3-eu", **spec},
        "status": {"phase": phase, **{k: v for k, v in times.items() if v}, **more},
    }


def _backup(*args: Any, **more: Any) -> Backup:
    return from_builtins(Backup, backup_dict(*args, **more))


def _progress(done: int, total: int) -> dict[str, int]:
    return {"itemsBackedUp": done, "totalItems": total}


def _hourly() -> list[Resource]:
    runs: list[Resource] = [
        _backup(
            f"etcd-hourly-20261114{hour:02d}0003",
            "PartiallyFailed" if hour == 22 else "Completed",
            f"2026-11-14T{hour:02d}:00:03Z",
            f"2026-11-14T{hour:02d}:12:10Z",
            of="etcd-hourly",
            errors=3 if hour == 22 else 0,
            expiration=f"2026-12-14T{hour:02d}:00:03Z",
        )
        for hour in range(16, 24)
    ]
    return [
        *runs,
        _backup(
            "etcd-hourly-20261115010003",
            "InProgress",
            "2026-11-15T01:00:03Z",
            of="etcd-hourly",
            progress=_progress(1204, 9880),
            spec={"includedNamespaces": ["etcd"]},
        ),
    ]


def _queue() -> list[Resource]:
    orders = "team-pay-orders-db-0d0b7b2c-6a0e-4c0b-9d54-6f3a6f1f2a11"
    ledger = "team-pay-ledger-c95bc62d-1f0e-4f5a-8f0e-27a4d2b9b1aa"
    return [
        _backup(
            "mongo-nightly-20261115023003",
            "InProgress",
            "2026-11-15T02:30:03Z",
            of="mongo-nightly",
            progress=_progress(740, 1000),
            spec={"includedNamespaces": ["mongo"]},
        ),
        _tenants(orders, "InProgress", "orders-db", "u-orders", "2026-11-15T02:37:10Z", _progress(610, 1000)),
        _tenants(ledger, "Queued", "ledger", "u-ledger", "", None, 1),
        _backup(
            "sales-hourly-20261115024003",
            "Queued",
            of="sales-hourly",
            queuePosition=2,
            spec={"includedNamespaces": ["sales"]},
        ),
        _nab("team-pay", "orders-db", "Created", orders, "u-orders", "InProgress", "2026-11-15T02:37:00Z"),
        _nab("team-pay", "ledger", "Created", ledger, "u-ledger", "Queued", "2026-11-15T02:38:00Z", 1),
        from_builtins(
            NonAdminBackup,
            {
                "metadata": meta("features", "team-ml", "2026-11-15T02:29:00Z"),
                "status": {
                    "phase": "BackingOff",
                    "conditions": [
                        _condition("Accepted", "False", "InvalidBackupSpec", "excludedNamespaces is not allowed")
                    ],
                },
            },
        ),
        from_builtins(
            NonAdminRestore,
            {
                "metadata": meta("cms", "team-web", "2026-11-15T01:40:00Z"),
                "spec": {"restoreSpec": {"backupName": "cms-old"}},
                "status": {"phase": "New"},
            },
        ),
    ]


def _tenants(
    name: str, phase: str, nab: str, uuid: str, start: str, progress: dict[str, int] | None, position: int = 0
) -> Backup:
    notes = {"openshift.io/oadp-nab-origin-name": nab, "openshift.io/oadp-nab-origin-namespace": "team-pay"}
    more: dict[str, Any] = {"progress": progress} if progress else {}
    if position:
        more["queuePosition"] = position
    return _backup(
        name,
        phase,
        start,
        created="2026-11-15T02:38:00Z",
        labels={"openshift.io/oadp-nab-origin-nacuuid": uuid},
        notes=notes,
        spec={"includedNamespaces": ["team-pay"]},
        **more,
    )


def _condition(kind: str, status: str, reason: str, message: str) -> dict[str, str]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": "2026-11-15T02:38:01Z",
    }


def _nab(
    namespace: str, name: str, phase: str, velero: str, uuid: str, run: str, created: str, reported: int = 0
) -> NonAdminBackup:
    return from_builtins(
        NonAdminBackup,
        {
            "metadata": meta(name, namespace, created),
            "status": {
                "phase": phase,
                "conditions": [
                    _condition("Accepted", "True", "BackupAccepted", "backup accepted"),
                    _condition("Queued", "True", "BackupScheduled", "Created Velero Backup object"),
                ],
                "veleroBackup": {"name": velero, "namespace": "velero", "nacuuid": uuid, "status": {"phase": run}},
                "queueInfo": {"estimatedQueuePosition": reported},
            },
        },
    )


def _location(name: str, phase: str, synced: str, *, default: bool = False, message: str = "") -> Resource:
    return from_builtins(
        BackupStorageLocation,
        {
            "metadata": meta(name),
            "spec": {"provider": "aws", "default": default, "objectStorage": {"bucket": f"{name}-bucket"}},
            "status": {
                "phase": phase,
                "message": message,
                "lastValidationTime": "2026-11-15T02:41:03Z",
                "lastSyncedTime": synced,
            },
        },
    )


def _server() -> Resource:
    container = {
        "name": "velero",
        "image": "velero/velero:v1.18.3",
        "command": ["/velero"],
        "args": ["server", "--concurrent-backups=3"],
    }
    spec = {"template": {"spec": {"containers": [container]}}}
    return from_builtins(Deployment, {"metadata": meta("velero"), "spec": spec})


def troubled() -> list[Resource]:
    """The night of the sketches."""
    done = {"itemsRestored": 212, "totalItems": 212}
    restore = {
        "metadata": meta("cms-back", created="2026-11-15T01:10:40Z"),
        "spec": {"backupName": "etcd-hourly-20261114230003"},
        "status": {
            "phase": "Completed",
            "warnings": 2,
            "startTimestamp": "2026-11-15T01:10:44Z",
            "completionTimestamp": "2026-11-15T01:12:00Z",
            "progress": done,
        },
    }
    return [
        _server(),
        _location("s3-eu", "Available", "2026-11-15T02:41:03Z", default=True),
        _location("s3-us", "Unavailable", "2026-11-15T00:41:03Z", message="access denied"),
        _schedule("etcd-hourly", "0 * * * *", "2026-11-15T01:00:03Z"),
        _schedule("mongo-nightly", "30 2 * * *", "2026-11-15T02:30:03Z"),
        _schedule("sales-hourly", "40 * * * *", "2026-11-15T02:40:03Z"),
        _schedule("cassandra", "*/30 * * * *", "2026-11-12T02:00:03Z", paused=True),
        _schedule("reports", "0 6 * * 1", "2026-11-09T06:00:03Z", paused=True, skipImmediately=True),
        _schedule("broken", "0 0 * * 8"),
        from_builtins(Restore, restore),
        *_hourly(),
        *_queue(),
    ]


def calm() -> list[Resource]:
    """Nothing is wrong."""
    return [
        _server(),
        _location("s3-eu", "Available", "2026-11-15T02:41:03Z", default=True),
        _schedule("etcd-hourly", "0 * * * *", "2026-11-15T02:00:03Z"),
        _backup(
            "etcd-hourly-20261115020003",
            "Completed",
            "2026-11-15T02:00:03Z",
            "2026-11-15T02:10:03Z",
            of="etcd-hourly",
            expiration="2026-12-15T02:00:03Z",
        ),
    ]
