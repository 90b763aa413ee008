"""The setup of a scenario: its storage, its object storage, its servers, and helpers to create objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from random import Random

import msgspec

from foretop_core.cron import CronError
from foretop_core.models import Backup, NonAdminBackup, from_builtins
from foretop_core.models.kinds import NAB
from foretop_core.models.nonadmin import NAB_NAMESPACE_ANNOTATION
from foretop_core.models.velero import SCHEDULE_LABEL
from foretop_core.rules.cron_dialects import NEWEST_KNOWN, expression
from foretop_demo.controllers.downloads import FileServer
from foretop_demo.controllers.engine import Engine, Process
from foretop_demo.controllers.movements import LoadConcurrency
from foretop_demo.controllers.nonadmin import NonAdminController
from foretop_demo.controllers.object_storage import ObjectStorage
from foretop_demo.controllers.prescaled_cronjobs import PrescalerController
from foretop_demo.controllers.simulated_runs import SeededWork, SimulatedRun
from foretop_demo.controllers.tenant_storage import TenantStorageController
from foretop_demo.controllers.velero import Flags, VeleroServer
from foretop_demo.kinds import Json
from foretop_demo.reconcile import Behaviour
from foretop_demo.reconcile.writes import wire_time
from foretop_demo.scenarios.history_seeder import HistorySeeder
from foretop_demo.scenarios.velero_pods import put_node_agents, put_pods
from foretop_demo.status import ApiError

HOME = "openshift-adp"
_IMAGE = "velero/velero:v{}"


class ScenarioOptions(msgspec.Struct, frozen=True):
    """The options of the person who starts the box; None leaves the choice to the scenario."""

    seed: int = 1
    skip_immediately: bool | None = None
    concurrent_backups: int | None = None
    behaviour: Behaviour = Behaviour.RELEASED
    velero_version: str = NEWEST_KNOWN


class ScenarioBuilder:
    """The setup of scenarios. `start` is when the box opens; its clock is a little earlier during the setup."""

    def __init__(self, engine: Engine, start: datetime, options: ScenarioOptions, file_server: FileServer) -> None:
        self.engine = engine
        self.start = start
        self.options = options
        self.buckets = ObjectStorage()
        self.history = HistorySeeder(engine.storage, self.buckets, options.seed)
        self.random = Random(f"{options.seed}/stage")
        self.work: dict[str, SimulatedRun] = {}
        self.workload = SeededWork(options.seed, self.work)
        self._file_server = file_server

    @property
    def now(self) -> datetime:
        return self.engine.clock.now()

    def namespace(self, *names: str) -> None:
        for name in names:
            self.history.put("Namespace", _namespace(name), self.start - timedelta(days=90))

    def velero(
        self, concurrent: int = 1, skip: bool = False, home: str = HOME, load: LoadConcurrency | None = None
    ) -> VeleroServer:
        """A server with its Deployment and its node agents; it does nothing until it is started."""
        options = self.options
        flags = Flags(
            namespace=home,
            skip_immediately=skip if options.skip_immediately is None else options.skip_immediately,
            concurrent_backups=options.concurrent_backups or concurrent,
            version=options.velero_version,
            behaviour=options.behaviour,
            load=load or LoadConcurrency(),
        )
        self.history.put("Deployment", _deployment(flags), self.start - timedelta(days=60))
        image, since = _IMAGE.format(flags.version), self.start - timedelta(days=12)
        put_pods(self.engine.storage, home, image, since)
        put_node_agents(self.engine.storage, home, image, since, load.config() if load is not None else "")
        return VeleroServer(self.engine, flags, self.buckets, self.workload, self._file_server)

    def prescaler(self) -> PrescalerController:
        return PrescalerController(self.engine)

    def tenant_storage(self, home: str = HOME) -> TenantStorageController:
        return TenantStorageController(self.engine, home, self.options.seed)

    def non_admin(self, home: str = HOME) -> NonAdminController:
        return NonAdminController(self.engine, home, self.options.behaviour, self.options.seed)

    def location(self, name: str = "default", bucket: str = "backups", home: str = HOME, there: bool = True) -> None:
        """A storage location that was just validated and synced; without `there` its bucket does not exist."""
        if there:
            self.buckets.make(bucket)
        spec: Json = {"provider": "aws", "objectStorage": {"bucket": bucket}, "config": {"region": "eu-central-1"}}
        spec["credential"] = {"name": "cloud-credentials", "key": "cloud"}
        if name == "default":
            spec["default"] = True
        at = wire_time(self.now - timedelta(seconds=60))
        status = {"phase": "Available", "lastValidationTime": at, "lastSyncedTime": at}
        meta = {"name": name, "namespace": home}
        body = {"metadata": meta, "spec": spec, "status": status}
        self.history.put("BackupStorageLocation", body, self.start - timedelta(days=60))

    def schedule(
        self,
        name: str,
        cron: str,
        namespaces: Sequence[str],
        runs: int = 10,
        ttl: timedelta = timedelta(days=30),
        paused_since: datetime | None = None,
        outcomes: str = "",
        location: str = "default",
        home: str = HOME,
        skip: bool | None = False,
        **more: object,
    ) -> None:
        """A schedule with its namespaces and last runs; `outcomes` are of the newest (P partially failed, F failed).

        One without runs is as old as its pause: Velero would have made some.
        """
        self.namespace(*namespaces)
        template: Json = {"includedNamespaces": list(namespaces), "ttl": f"{int(ttl.total_seconds() // 3600)}h0m0s"}
        if location != "default":
            template["storageLocation"] = location
        until = paused_since or self.now
        previous_runs = self._runs_before(cron, until, runs)
        for run, outcome in zip(
            previous_runs,
            outcomes.rjust(len(previous_runs), ".")[-len(previous_runs) :] if previous_runs else "",
            strict=True,
        ):
            spec = {key: value for key, value in template.items() if key != "ttl"}
            taken = self._work_of(f"{name}-{run:%Y%m%d%H%M%S}", home, labels={SCHEDULE_LABEL: name})
            work = _ended_as(taken, outcome)
            self.history.scheduled_backup(home, name, run, work, spec, ttl)
        made = previous_runs[0] - timedelta(days=35) if previous_runs else until
        spec = {"schedule": cron, "template": template, **more}
        if skip is not None:
            spec["skipImmediately"] = skip
        status: Json = {"phase": "Enabled"} | ({"lastBackup": wire_time(previous_runs[-1])} if previous_runs else {})
        meta: Json = {"name": name, "namespace": home}
        if paused_since is not None:
            spec["paused"] = True
            meta["managedFields"] = [_paused_by("maria", paused_since)]
        self.history.put("Schedule", {"metadata": meta, "spec": spec, "status": status}, made)

    def create(self, kind: str, namespace: str, name: str, spec: Json, **meta: object) -> bool:
        """Create an object as a user would, by the API's rules; False if the API refuses."""
        body: Json = {"metadata": {"name": name, "namespace": namespace, **meta}, "spec": spec}
        return self._try(lambda: self.engine.storage.create(self.engine.storage.kind(kind), body, manager="kubectl"))

    def patch(self, kind: str, namespace: str, name: str, change: Json) -> bool:
        served = self.engine.storage.kind(kind)
        return self._try(lambda: self.engine.storage.patch(served, namespace, name, change, "kubectl"))

    def adopt(self, kind: str, namespace: str, name: str, meta: Json, spec: Json) -> None:
        """Write what its owner has made of an object before the box opens; its backups have copies of its marks."""
        storage = self.engine.storage
        held = storage.get(storage.kind(kind), namespace, name)
        made = datetime.fromisoformat(held["metadata"]["creationTimestamp"])
        kept = {**held["metadata"], **meta}
        self.history.put(kind, {**held, "metadata": kept, "spec": {**held["spec"], **spec}}, made)
        for backup in storage.list(storage.kind("Backup")):
            labels = backup["metadata"].get("labels") or {}
            if labels.get(SCHEDULE_LABEL) == name:
                whole = {**backup["metadata"], "labels": {**(meta.get("labels") or {}), **labels}}
                if meta.get("annotations"):
                    whole["annotations"] = {**(whole.get("annotations") or {}), **meta["annotations"]}
                started = datetime.fromisoformat(whole["creationTimestamp"])
                self.history.put("Backup", {**backup, "metadata": whole}, started)

    def delete(self, kind: str, namespace: str, name: str) -> bool:
        return self._try(lambda: self.engine.storage.delete(self.engine.storage.kind(kind), namespace, name))

    def create_at(self, when: datetime, kind: str, namespace: str, name: str, spec: Json) -> None:
        self.at(when, partial(self.create, kind, namespace, name, spec))

    def patch_at(self, when: datetime, kind: str, namespace: str, name: str, change: Json) -> None:
        self.at(when, partial(self.patch, kind, namespace, name, change))

    def delete_at(self, when: datetime, kind: str, namespace: str, name: str) -> None:
        self.at(when, partial(self.delete, kind, namespace, name))

    def lose_backup_at(self, when: datetime, namespace: str, name: str, home: str = HOME) -> None:
        """Delete the Velero Backup of a NAB and its data, as if by accident: no sync brings it back."""
        found = self.engine.cache.get(NAB, (namespace, name), NonAdminBackup)
        assert found is not None, f"NAB {namespace}/{name} does not exist"
        self.at(when, partial(self.buckets.forget, found.velero.name))
        self.delete_at(when, "Backup", home, found.velero.name)

    def set_status(self, kind: str, namespace: str, name: str, status: Json) -> None:
        self.engine.storage.patch_status(self.engine.storage.kind(kind), namespace, name, status)

    def start_process(self, process: Process) -> None:
        """Start an activity that goes on as long as the box is open."""
        self.engine.process_group().start(process)

    def at(self, when: datetime, action: Callable[[], object]) -> None:
        self.engine.process_group().at(when, action)

    @staticmethod
    def _try(write: Callable[[], object]) -> bool:
        try:
            write()
        except ApiError:
            return False
        return True

    def _runs_before(self, cron: str, until: datetime, count: int) -> list[datetime]:
        """The last times before `until` at which Velero started a run; none if it refuses the schedule."""
        schedule = expression(cron, Flags(version=self.options.velero_version).dialect)
        if isinstance(schedule, CronError):
            return []
        second = self.start.second
        found: list[datetime] = []
        moment = until
        while len(found) < count and (run := schedule.previous(moment)) is not None:
            taken = run + timedelta(seconds=(second - run.second) % 60 or 60)
            if taken < until:
                found.append(taken)
            moment = run
        return list(islice(reversed(found), count))

    def past_nab(
        self,
        namespace: str,
        name: str,
        started: datetime,
        outcome: str = ".",
        home: str = HOME,
        asked: datetime | None = None,
    ) -> Json:
        """A finished NAB, which took about as long as the others of its team; it waited from `asked` on."""
        return self.history.nab(
            home, namespace, name, started, _ended_as(self._nab_work(namespace, name, home), outcome), asked
        )

    def nab_length(self, namespace: str, name: str, home: str = HOME) -> timedelta:
        """How long the backup of such a NAB takes."""
        return self._nab_work(namespace, name, home).length

    def _nab_work(self, namespace: str, name: str, home: str) -> SimulatedRun:
        return self._work_of(name, home, annotations={NAB_NAMESPACE_ANNOTATION: namespace})

    def _work_of(self, name: str, home: str, **meta: object) -> SimulatedRun:
        body = {"metadata": {"name": name, "namespace": home, **meta}}
        return self.workload.of(from_builtins(Backup, body))


def _ended_as(work: SimulatedRun, outcome: str) -> SimulatedRun:
    match outcome:
        case "P":
            return SimulatedRun(work.length, work.items, errors=3, warnings=1)
        case "F":
            return SimulatedRun(work.duration / 3, work.items, failure="error uploading backup: request timed out")
        case "w":
            return SimulatedRun(work.length, work.items, warnings=2)
        case _:
            return SimulatedRun(work.length, work.items)


def _namespace(name: str) -> Json:
    labels = {"kubernetes.io/metadata.name": name}
    meta = {"name": name, "labels": labels}
    return {"metadata": meta, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def _paused_by(manager: str, at: datetime) -> Json:
    fields: Json = {"f:spec": {"f:paused": {}}}
    return {
        "manager": manager,
        "operation": "Update",
        "apiVersion": "velero.io/v1",
        "time": wire_time(at),
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }


def _deployment(flags: Flags) -> Json:
    args = ["server"]
    if flags.queued:
        args.append(f"--concurrent-backups={flags.concurrent_backups}")
    if flags.skip_immediately:
        args.append("--schedule-skip-immediately")
    container = {"name": "velero", "image": _IMAGE.format(flags.version), "command": ["/velero"], "args": args}
    labels = {"app.kubernetes.io/name": "velero"}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    status = {"replicas": 1, "readyReplicas": 1}
    meta = {"name": "velero", "namespace": flags.namespace, "labels": labels}
    return {"metadata": meta, "spec": spec, "status": status}
