"""Random volumes, templates and policies on a real Velero: what foretop says before each run and after it."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import os
import random
import re
import tarfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from foretop.commands.live_session import wait_synced
from foretop.commands.write_command import CommandSession, open_session
from foretop_core.actions.run_files import volumes_of
from foretop_core.kube.connection.config import ConnectionOptions, SessionOptions
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAMESPACE, SCHEDULE, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.namespace_facts import ProtectionJudge, ProtectionLimits, ProtectionState
from foretop_core.rules.facts.volume_facts import KINDS_OF_VOLUMES
from foretop_core.rules.protection.coverage import Coverage, Extent
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.velero.build import NEWEST, WITHOUT_QUEUE
from tests.velero.loopback_cloud import REGION, LoopbackEC2
from tests.velero.namespace_controller import NamespaceController
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import wait_until_available
from tests.velero.velero_cluster import BUCKET, VELERO_NAMESPACE, ServerFlags, StorySteps
from tests.velero.volume_stand_ins import StandIns, installed_snapshots
from tests.velero.volume_world import NAMESPACES, VolumeWorld, policy_name, random_templates, server_policies

SEED = int(os.environ.get("SEED", "1"))
RUNS = int(os.environ.get("RUNS", "0"))
"""0 for as many as fit into a minute or two."""
ENDED = ("Completed", "PartiallyFailed", "Failed", "FailedValidation")
_NEVER = "0 0 29 2 *"
_FOUND = re.compile(r"resources/([^/]+)/namespaces/([^/]+)/([^/]+)\.json")
_KINDS = {"persistentvolumeclaims": "PersistentVolumeClaim", "pods": "Pod", "configmaps": "ConfigMap"}


@dataclass(slots=True)
class Held:
    """All that a backup holds of the world, by its archive, the cloud and the stand-ins."""

    phase: str
    objects: Mapping[str, set[tuple[str, str]]] = field(default_factory=dict)
    data: set[tuple[str, str]] = field(default_factory=set)
    """Namespace and claim."""
    errors: str = ""

    @property
    def told(self) -> str:
        return f"it is {self.phase}, with the data of {sorted(self.data)}; {self.errors}"


@dataclass(slots=True)
class Tally:
    """Statements by what they are about, and the wrong ones in words."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def count(self, what: str, *, is_right: bool = True, why: str = "") -> None:
        self.counts[what] += 1
        if not is_right:
            self.counts[f"{what} (wrong)"] += 1
            self.wrong.append(f"{what}: {why}")


@dataclass(slots=True)
class Trial:
    """One world, its server, and the runs of its templates."""

    cluster: RealVeleroCluster
    world: VolumeWorld
    stand_ins: StandIns
    templates: list[Any]
    tally: Tally = field(default_factory=Tally)
    held: dict[str, Held] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return [f"run-{number}" for number in range(len(self.templates))]

    def write_schedules(self) -> None:
        for name, template, number in zip(self.names, self.templates, range(len(self.templates)), strict=True):
            if template.policies is not None:
                self.world.make_policy(policy_name(number), json.dumps(template.policies))
            self.cluster.create("Schedule", name, {"schedule": _NEVER, "template": template.spec, "paused": True})

    def run_backups(self) -> None:
        steps = StorySteps(self.cluster)
        for name, template in zip(self.names, self.templates, strict=True):
            self.cluster.create("Backup", name, template.spec, labels={"velero.io/schedule-name": name})
            steps.wait_for_phase("Backup", name, *ENDED)
            self.held[name] = self._held(name, steps.phase("Backup", name) or "")

    def _held(self, name: str, phase: str) -> Held:
        if phase == "FailedValidation":
            refused = self.cluster.find("Backup", name) or {}
            return Held(phase, errors="; ".join(refused["status"].get("validationErrors") or ()))
        archive = self.cluster.storage.read(f"{BUCKET}/backups/{name}/{name}.tar.gz")
        objects: dict[str, set[tuple[str, str]]] = {}
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            for path in files.getnames():
                if (found := _FOUND.fullmatch(path)) is not None and found[1] in _KINDS:
                    objects.setdefault(found[2], set()).add((_KINDS[found[1]], found[3]))
        taken = LoopbackEC2(self.cluster.storage.url).snapshotted(name)
        moved = {(place, claim) for run, place, claim in self.stand_ins.moved if run == name}
        by_csi = {(place, claim) for run, place, claim in self.stand_ins.snapshotted if run == name}
        native = {(one.namespace, one.claim) for one in self.world.volumes if one.volume in taken}
        results = json.loads(gzip.decompress(self.cluster.storage.read(f"{BUCKET}/backups/{name}/{name}-results.gz")))
        return Held(phase, objects, moved | by_csi | native, json.dumps(results)[:1500])

    def judge_before(self, snapshot: ClusterSnapshot) -> None:
        for name in self.names:
            schedule = _schedule(snapshot, name)
            plan, held = snapshot.next_run(schedule), self.held[name]
            is_refused = held.phase == "FailedValidation"
            self.tally.count(
                "before: refused or not",
                is_right=bool(plan.refused) == is_refused,
                why=f"{name} {plan.refused!r} {held.phase} {held.errors}",
            )
            self.tally.count("before: policies not known" if plan.unknown else "before: policies known")
            for namespace in NAMESPACES:
                self._judge_coverage(name, namespace, snapshot.next_coverage(schedule, namespace))
                found = snapshot.next_volumes(schedule, namespace)
                self._judge_volumes("before", name, namespace, found)

    def _judge_coverage(self, name: str, namespace: str, coverage: Coverage) -> None:
        held, there = self.held[name], self.world.contents(namespace)
        taken = held.objects.get(namespace, set())
        is_right = not taken if coverage.extent is Extent.NONE else coverage.extent is not Extent.ALL or there <= taken
        why = f"{name} {namespace} {self._spec(name)}: {coverage}, without {sorted(there - taken)}: {held.told}"
        self.tally.count(f"before: takes {coverage.extent.value}", is_right=is_right, why=why)

    def _judge_volumes(self, when: str, name: str, namespace: str, found: Any) -> None:
        held = self.held[name]
        for one in (*found.taken, *found.left_out, *found.open):
            claim = getattr(one, "name", one)
            has_data = (namespace, claim) in held.data
            what = "taken" if one in found.taken else "left out" if one in found.left_out else "not known"
            is_right = what == "not known" or has_data == (what == "taken")
            self.tally.count(
                f"{when}: {what}", is_right=is_right, why=f"{name} {namespace} {self._spec(name)}: {one} {held.told}"
            )
            if what == "not known":
                why = getattr(one, "why", found.unknown)
                self.tally.counts[f"    {when}: not known: {re.sub(r'[a-z-]+[/-][a-z0-9/-]+|[0-9]+', '…', why)}"] += 1

    def judge_after(self, at: CommandSession, when: str) -> None:
        for name in self.names:
            backup = next(one for one in at.snapshot.backups if one.name == name)
            if backup.phase not in ("Completed", "PartiallyFailed"):
                continue
            snapshot = _as_if_alone(at.snapshot, backup, _schedule(at.snapshot, name))
            for namespace in NAMESPACES:
                if namespace not in self.held[name].objects:
                    continue
                found = snapshot.volumes_in(backup, namespace)
                self._judge_volumes(when, name, namespace, found)
                self._judge_state(when, name, namespace, snapshot, at)

    def _judge_state(self, when: str, name: str, namespace: str, snapshot: ClusterSnapshot, at: CommandSession) -> None:
        held = self.held[name]
        row = snapshot.protection.row(namespace)
        assert row is not None
        state = ProtectionJudge(snapshot, at.now, ProtectionLimits()).facts(row).state
        evidence = snapshot.volumes_in(snapshot.backups[0], namespace)
        chosen = {one.name for one in evidence.chosen}
        data = {one.claim for one in self.world.volumes if one.namespace == namespace and one.volume}
        has_all = all((namespace, claim) in held.data for claim in data - chosen)
        has_objects = self.world.contents(namespace) <= held.objects.get(namespace, set())
        is_right = True
        if state is ProtectionState.PROTECTED:
            is_right = has_all and has_objects and held.phase == "Completed"
        elif state in (ProtectionState.VOLUMES_MISSING, ProtectionState.MANIFESTS_ONLY):
            is_right = not has_all
        self.tally.count(
            f"{when}: its namespace is {state.value}",
            is_right=is_right,
            why=f"{name} {namespace} {self._spec(name)}: {evidence} {held.told}",
        )

    def _spec(self, name: str) -> str:
        template = self.templates[self.names.index(name)]
        return f"{template.spec} {template.policies}"

    def report(self) -> str:
        return "\n".join(f"{count:6} {what}" for what, count in sorted(self.tally.counts.items()))


def _schedule(snapshot: ClusterSnapshot, name: str) -> Schedule:
    return next(one for one in snapshot.schedules if one.name == name)


def _as_if_alone(snapshot: ClusterSnapshot, backup: Backup, schedule: Schedule) -> ClusterSnapshot:
    """The cluster as if this backup were the only one, and its schedule, which is not paused."""
    active = replace(schedule, spec=replace(schedule.spec, paused=False))
    return replace(snapshot, backups=(backup,), schedules=(active,), live=None)


@asynccontextmanager
async def _foretop(config: Path) -> AsyncIterator[CommandSession]:
    """A session that has seen all that decides about volumes."""
    options = SessionOptions(ConnectionOptions(kubeconfig=str(config)), with_velero=True)
    async with open_session(options, (SCHEDULE, BACKUP, STORAGE, DEPLOYMENT, NAMESPACE)) as at:
        at.session.watch_on_demand(KINDS_OF_VOLUMES)
        await wait_synced(at.session)
        yield at


async def _foretold(config: Path) -> ClusterSnapshot:
    async with _foretop(config) as at:
        return at.snapshot


async def _judge_after(trial: Trial, config: Path) -> None:
    """With the objects alone, then with the volume info of each backup."""
    async with _foretop(config) as at:
        trial.judge_after(at, "after")
        for backup in at.snapshot.backups:
            if backup.phase in ("Completed", "PartiallyFailed"):
                key = ObjectRef(at.context, BACKUP.name, backup.namespace, backup.name)
                at.session.store.note_volumes(key, await volumes_of(at.executor, backup))
        trial.judge_after(at, "with volume info")


def _create_snapshot_location(cluster: RealVeleroCluster) -> None:
    body = {
        "apiVersion": "velero.io/v1",
        "kind": "VolumeSnapshotLocation",
        "metadata": {"name": "default"},
        "spec": {"provider": "aws", "config": {"region": REGION}},
    }
    place = f"/apis/velero.io/v1/namespaces/{VELERO_NAMESPACE}/volumesnapshotlocations"
    cluster.api_server.admin.post(place, body).expect(201)


@dataclass(frozen=True, slots=True)
class Server:
    """A release and how it is started."""

    version: str
    runs: int = 40
    more: tuple[str, ...] = ()
    has_ready_agent: bool = False

    @property
    def uses_csi(self) -> bool:
        return "--features=EnableCSI" in self.more


_CSI, _MOVES, _OF_SERVER = "--features=EnableCSI", "--default-snapshot-move-data", "policies-of-the-server"
SERVERS = {
    "newest": Server(NEWEST),
    "without a queue": Server(WITHOUT_QUEUE),
    "csi": Server(NEWEST, 12, (_CSI,)),
    "csi, data is moved": Server(NEWEST, 12, (_CSI, _MOVES), has_ready_agent=True),
    "csi, no agent to move data": Server(NEWEST, 8, (_CSI, _MOVES)),
    "with defaults": Server(
        NEWEST, 16, ("--default-volumes-to-fs-backup", f"--global-backup-volume-policies-configmap={_OF_SERVER}")
    ),
}


@pytest.mark.seconds(120)
@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_what_is_said_of_the_volumes_of_random_templates_is_so(
    cluster: RealVeleroCluster, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    rng = random.Random(SEED)
    world = VolumeWorld(cluster, rng, uses_csi=server.uses_csi, has_ready_agent=server.has_ready_agent)
    failing = {(name, f"data-{number}") for name in NAMESPACES for number in range(3) if rng.random() < 0.15}
    config = cluster.api_server.kubeconfig("admin", VELERO_NAMESPACE)
    with (
        installed_snapshots(cluster.api_server, cluster.kit.snapshot_crds) if server.uses_csi else nullcontext(),
        NamespaceController(cluster.api_server),
        StandIns(
            cluster.api_server, lambda name, claim: (name, claim) in failing, makes_snapshots=server.uses_csi
        ) as stand_ins,
        world,
    ):
        _create_snapshot_location(cluster)
        has_sections, moves_data = server.version == NEWEST, _MOVES in server.more
        templates = list(random_templates(rng, RUNS or server.runs, has_sections=has_sections, moves_data=moves_data))
        trial = Trial(cluster, world, stand_ins, templates)
        world.make_policy(_OF_SERVER, json.dumps(server_policies(rng)))
        trial.write_schedules()
        cluster.start(ServerFlags(server.version, concurrent_backups=len(templates), more=server.more))
        wait_until_available(StorySteps(cluster))
        before = asyncio.run(_foretold(config))
        trial.run_backups()
        trial.judge_before(before)
        asyncio.run(_judge_after(trial, config))
        print(trial.report())
    assert not trial.tally.wrong, "\n".join(trial.tally.wrong)
