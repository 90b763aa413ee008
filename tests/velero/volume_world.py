"""A cluster of awkward volumes for a real Velero: made from a seed, and taken away again."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from foretop_core.models.velero import EXCLUDE_LABEL
from tests.velero.loopback_cloud import REGION, ZONE, LoopbackEC2
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.velero_cluster import VELERO_NAMESPACE, Raw

NAMESPACES = ("vol-shop", "vol-shop-db", "vol-pay", "vol-pay-batch", "vol-logs")
DRIVER, OTHER_DRIVER, AWS_DRIVER = "csi.example", "csi.other", "ebs.csi.aws.com"
CLASSES = {"fast": DRIVER, "slow": OTHER_DRIVER}
AGENT_NODE, OTHER_NODE = "node-1", "node-2"
LABELS: tuple[Mapping[str, str], ...] = ({}, {"app": "db"}, {"app": "web", "tier": "gold"})
_SIZES = ("1Gi", "5Gi", "50Gi")
_COPIED, _NOT_COPIED = "backup.velero.io/backup-volumes", "backup.velero.io/backup-volumes-excludes"
_ZONES = {"topology.kubernetes.io/zone": ZONE, "topology.kubernetes.io/region": REGION}
_STORAGE = "/apis/storage.k8s.io/v1/storageclasses"
_PLURALS = {"PersistentVolumeClaim": "persistentvolumeclaims", "Pod": "pods", "ConfigMap": "configmaps"}


@dataclass(frozen=True, slots=True)
class WorldVolume:
    """One claim of the world."""

    namespace: str
    claim: str
    volume: str
    """"" for a claim that waits for its volume."""
    handle: str
    """The identity of the volume at its driver or cloud."""


@dataclass(slots=True)
class VolumeWorld:
    """The objects of five namespaces, with what they are for Velero."""

    cluster: RealVeleroCluster
    rng: random.Random
    uses_csi: bool = False
    has_ready_agent: bool = False
    """Its node agent runs in any case; data is moved only by one that is ready."""
    volumes: list[WorldVolume] = field(default_factory=list)
    _made: list[str] = field(default_factory=list)
    """The paths of all that was made, in order."""
    _excluded: set[str] = field(default_factory=set)

    def __enter__(self) -> Self:
        """Makes all of it; a controller of namespaces has to run until it is gone again."""
        for name, provisioner in CLASSES.items():
            self._post(_STORAGE, {"metadata": {"name": name}, "provisioner": provisioner})
        self._make_node_agent()
        for name in NAMESPACES:
            labels = dict(self.rng.choice(LABELS))
            if name == NAMESPACES[-1] and self.rng.random() < 0.5:
                labels[EXCLUDE_LABEL] = "true"
            self.cluster.api_server.admin.post(
                "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}
            ).expect(201)
            self._post(f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}})
            for number in range(self.rng.randint(1, 2)):
                self._post(_path(name, "ConfigMap"), {"metadata": self._meta(f"settings-{number}"), "data": {"a": "b"}})
            for number in range(self.rng.choice((0, 1, 2, 3, 3))):
                self._make_claim(name, f"data-{number}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        admin = self.cluster.api_server.admin
        namespaces = [f"/api/v1/namespaces/{name}" for name in NAMESPACES]
        of_cluster = [path for path in self._made if "/namespaces/" not in path]
        in_velero = [path for path in self._made if f"/namespaces/{VELERO_NAMESPACE}/" in path]
        for path in (*namespaces, *of_cluster, *in_velero):
            admin.delete(f"{path}?gracePeriodSeconds=0").expect(200, 202, 404)
        for path in of_cluster:
            admin.patch(path, {"metadata": {"finalizers": None}}).expect(200, 404)
        self.cluster.wait_until(lambda: all(admin.get(path).status == 404 for path in namespaces))

    def contents(self, namespace: str) -> set[tuple[str, str]]:
        """Kind and name of what was made in a namespace, without what a label leaves out of every backup."""
        start = f"/api/v1/namespaces/{namespace}/"
        paths = (path for path in self._made if path.startswith(start) and path not in self._excluded)
        made = (path.removeprefix(start).split("/") for path in paths)
        kinds = {plural: kind for kind, plural in _PLURALS.items()}
        return {(kinds[plural], name) for plural, name in made if plural in kinds}

    def make_policy(self, name: str, text: str) -> None:
        self._post(_path(VELERO_NAMESPACE, "ConfigMap"), {"metadata": {"name": name}, "data": {"p.yaml": text}})

    def _make_node_agent(self) -> None:
        meta = {"name": "node-agent-1", "namespace": VELERO_NAMESPACE, "labels": {"role": "node-agent"}}
        self._post(f"/api/v1/namespaces/{VELERO_NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}})
        self._make_pod(VELERO_NAMESPACE, meta, AGENT_NODE, "Running", [])
        if self.has_ready_agent:
            self._make_agent_ready(f"{_path(VELERO_NAMESPACE, 'Pod')}/{meta['name']}")

    def _make_agent_ready(self, pod: str) -> None:
        """Velero asks the DaemonSet."""
        own = {"role": "node-agent"}
        template = {"metadata": {"labels": own}, "spec": {"containers": [{"name": "main", "image": "example.test/a"}]}}
        spec = {"selector": {"matchLabels": own}, "template": template}
        agents = f"/apis/apps/v1/namespaces/{VELERO_NAMESPACE}/daemonsets"
        self._post(agents, {"metadata": {"name": "node-agent"}, "spec": spec})
        counts = {"numberReady": 1, "currentNumberScheduled": 1, "desiredNumberScheduled": 1, "numberMisscheduled": 0}
        self._set_status(f"{agents}/node-agent", counts)
        state = {"name": "main", "ready": True, "image": "a", "imageID": "a", "restartCount": 0}
        self._set_status(pod, {"containerStatuses": [state]})

    def _make_claim(self, namespace: str, name: str) -> None:
        rng, size = self.rng, self.rng.choice(_SIZES)
        storage_class = rng.choice(("fast", "fast", "slow", "gone", "", None))
        mode = "Block" if rng.random() < 0.1 else "Filesystem"
        volume = "" if rng.random() < 0.1 else f"pv-{namespace}-{name}"
        asked: Raw = {
            "accessModes": ["ReadWriteOnce"],
            "volumeMode": mode,
            "resources": {"requests": {"storage": size}},
            **({"storageClassName": storage_class} if storage_class is not None else {}),
        }
        claim = {"metadata": self._meta(name), "spec": {**asked, "volumeName": volume}}
        uid = self._post(_path(namespace, "PersistentVolumeClaim"), claim)["metadata"]["uid"]
        handle = self._make_volume(namespace, name, volume, uid, size, storage_class, mode) if volume else ""
        status: Raw = {"phase": "Bound" if volume else "Pending"}
        if volume:
            status |= {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}}
        self._set_status(f"{_path(namespace, 'PersistentVolumeClaim')}/{name}", status)
        self.volumes.append(WorldVolume(namespace, name, volume, handle))
        if rng.random() < 0.65:
            self._make_pod_of(namespace, name, mode)

    def _make_volume(
        self, namespace: str, claim: str, name: str, uid: str, size: str, storage_class: str | None, mode: str
    ) -> str:
        source, handle = self._source(name, storage_class)
        labels = dict(_ZONES) | ({EXCLUDE_LABEL: "true"} if self.rng.random() < 0.07 else {})
        owner = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim, "uid": uid}
        spec: Raw = {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "volumeMode": mode,
            "claimRef": owner,
            **({"storageClassName": storage_class} if storage_class else {}),
            **source,
        }
        self._post("/api/v1/persistentvolumes", {"metadata": {"name": name, "labels": labels}, "spec": spec})
        self._set_status(f"/api/v1/persistentvolumes/{name}", {"phase": "Bound"})
        return handle

    def _source(self, name: str, storage_class: str | None) -> tuple[Raw, str]:
        kinds = ("csi",) * 5 + ("ebs", "hostPath") if self.uses_csi else ("ebs", "ebs", "aws", "csi", "hostPath", "nfs")
        match self.rng.choice(kinds):
            case "ebs":
                volume = LoopbackEC2(self.cluster.storage.url).create_volume()
                return {"awsElasticBlockStore": {"volumeID": f"aws://{ZONE}/{volume}", "fsType": "ext4"}}, volume
            case "aws":
                volume = LoopbackEC2(self.cluster.storage.url).create_volume()
                return {"csi": {"driver": AWS_DRIVER, "volumeHandle": volume}}, volume
            case "hostPath":
                return {"hostPath": {"path": "/data"}}, ""
            case "nfs":
                return {"nfs": {"server": "10.0.0.1", "path": "/a"}}, ""
            case _:
                return {"csi": {"driver": CLASSES.get(storage_class or "", DRIVER), "volumeHandle": name}}, name

    def _make_pod_of(self, namespace: str, claim: str, mode: str) -> None:
        rng, meta = self.rng, self._meta(f"pod-{claim}")
        which = rng.choice((_COPIED, _NOT_COPIED, "", ""))
        if which:
            meta["annotations"] = {which: rng.choice(("vol", "other", "other,vol"))}
        node = rng.choice((AGENT_NODE, AGENT_NODE, OTHER_NODE))
        self._make_pod(namespace, meta, node, rng.choice(("Running", "Running", "Running", "Pending")), [claim], mode)

    def _make_pod(
        self, namespace: str, meta: Raw, node: str, phase: str, claims: list[str], mode: str = "Filesystem"
    ) -> None:
        container: Raw = {"name": "main", "image": "example.test/app"}
        if claims and self.rng.random() < 0.9:
            mount = {"name": "vol"}
            blocks = mode == "Block"
            container |= (
                {"volumeDevices": [{**mount, "devicePath": "/dev/d"}]}
                if blocks
                else {"volumeMounts": [{**mount, "mountPath": "/d"}]}
            )
        volumes = [{"name": "vol", "persistentVolumeClaim": {"claimName": claim}} for claim in claims]
        spec = {
            "containers": [container],
            "nodeName": node,
            "volumes": volumes,
            "automountServiceAccountToken": False,
        }
        self._post(_path(namespace, "Pod"), {"metadata": meta, "spec": spec})
        self._set_status(f"{_path(namespace, 'Pod')}/{meta['name']}", {"phase": phase})

    def _meta(self, name: str) -> Raw:
        labels = dict(self.rng.choice(LABELS))
        if self.rng.random() < 0.06:
            labels[EXCLUDE_LABEL] = "true"
        return {"name": name, "labels": labels}

    def _post(self, path: str, body: Raw) -> Raw:
        made: Raw = self.cluster.api_server.admin.post(path, body).expect(201)
        place = f"{path}/{made['metadata']['name']}"
        self._made.append(place)
        if EXCLUDE_LABEL in made["metadata"].get("labels", {}):
            self._excluded.add(place)
        return made

    def _set_status(self, path: str, status: Raw) -> None:
        self.cluster.api_server.admin.patch(f"{path}/status", {"status": status}).expect(200)


def _path(namespace: str, kind: str) -> str:
    return f"/api/v1/namespaces/{namespace}/{_PLURALS[kind]}"


@dataclass(frozen=True, slots=True)
class RandomTemplate:
    """A template, and the contents of the ConfigMap with its resource policies, None for no ConfigMap."""

    spec: Raw
    policies: Mapping[str, Any] | None


def random_templates(
    rng: random.Random, count: int, *, has_sections: bool, moves_data: bool = False
) -> Iterator[RandomTemplate]:
    """`has_sections`: the release knows all four sections of a resource policy; `moves_data`: most ask for that."""
    for number in range(count):
        spec = _random_spec(rng)
        if moves_data and (moves := rng.choice((None, True, True, False))) is not None:
            spec["snapshotMoveData"] = moves
        policies = None
        if rng.random() < 0.55:
            spec["resourcePolicy"] = {"kind": rng.choice(("configmap", "ConfigMap")), "name": policy_name(number)}
            policies = _random_policies(rng, has_sections) if rng.random() < 0.97 else None
        yield RandomTemplate(spec, policies)


def server_policies(rng: random.Random) -> Raw:
    """What a server adds to the policies of each run."""
    return {"version": "v1", "volumePolicies": [_volume_policy(rng) for _ in range(2)]}


def policy_name(number: int) -> str:
    return f"policy-{number}"


def _random_spec(rng: random.Random) -> Raw:
    spec: Raw = {"ttl": "1h0m0s"}
    form = rng.random()
    if form < 0.5:
        spec["includedNamespaces"] = rng.sample(NAMESPACES, rng.randint(1, 3))
    elif form < 0.75:
        spec["includedNamespaces"] = [rng.choice(("vol-*", "vol-shop*", "vol-pay?*", "*"))]
    if rng.random() < 0.15:
        spec["excludedNamespaces"] = [rng.choice((*NAMESPACES, "vol-*-db"))]
    spec |= rng.choice(_LISTS)(rng)
    spec |= _random_selector(rng)
    for flag in ("snapshotVolumes", "defaultVolumesToFsBackup"):
        if (value := rng.choice((None, None, None, True, False))) is not None:
            spec[flag] = value
    if rng.random() < 0.05:
        spec["volumeSnapshotLocations"] = [rng.choice(("default", "gone"))]
    return spec


_KINDS = ("persistentvolumeclaims", "pvc", "pods", "configmaps", "persistentvolumes", "pv", "*")
_LISTS: tuple[Any, ...] = (
    *[lambda rng: {}] * 6,
    lambda rng: {"includedResources": rng.sample(_KINDS, rng.randint(1, 4))},
    lambda rng: {"excludedResources": rng.sample(_KINDS[:-1], rng.randint(1, 2))},
    lambda rng: {"includeClusterResources": rng.random() < 0.5},
    lambda rng: {"includeClusterResources": rng.random() < 0.5, "excludedResources": [rng.choice(_KINDS[:-1])]},
    lambda rng: {"includedNamespaceScopedResources": rng.sample(_KINDS[:4], rng.randint(1, 3))},
    lambda rng: {"excludedNamespaceScopedResources": rng.sample(_KINDS[:4], 1)},
    lambda rng: {"includedClusterScopedResources": [rng.choice(("persistentvolumes", "storageclasses", "*"))]},
    lambda rng: {"excludedClusterScopedResources": [rng.choice(("persistentvolumes", "storageclasses", "*"))]},
)


def _random_selector(rng: random.Random) -> Raw:
    chance = rng.random()
    by_label = {"matchLabels": {"app": rng.choice(("db", "web"))}}
    by_rule = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["web"]}]}
    if chance < 0.08:
        return {"labelSelector": rng.choice((by_label, by_rule))}
    return {"orLabelSelectors": [by_label, {"matchLabels": {"tier": "gold"}}]} if chance < 0.13 else {}


def _random_policies(rng: random.Random, has_sections: bool) -> Raw:
    written: Raw = {"version": "v1" if rng.random() < 0.96 else "v2"}
    if rng.random() < 0.85:
        written["volumePolicies"] = [_volume_policy(rng) for _ in range(rng.randint(0, 3))]
    if rng.random() < 0.15:
        written["includeExcludePolicy"] = rng.choice(
            (
                {"excludedNamespaceScopedResources": ["pods"]},
                {"includedNamespaceScopedResources": ["persistentvolumeclaims"]},
                {"excludedClusterScopedResources": ["persistentvolumes"]},
                {"includedClusterScopedResources": ["persistentvolumes"]},
            )
        )
    if has_sections and rng.random() < 0.2:
        written["namespacedFilterPolicies"] = [
            {
                "namespaces": [rng.choice(("vol-shop", "vol-shop*", "vol-pay", "vol-*"))],
                "resourceFilters": [_resource_filter(rng) for _ in range(rng.choice((1, 1, 2)))],
            }
        ]
    if has_sections and rng.random() < 0.12:
        names = rng.choice(({}, {"names": ["pv-vol-shop-*"]}, {"excludedNames": ["*-data-0"]}))
        written["clusterScopedFilterPolicy"] = {"resourceFilters": [{"kinds": ["PersistentVolume"], **names}]}
    return written


def _resource_filter(rng: random.Random) -> Raw:
    kinds = rng.choice((["PersistentVolumeClaim"], ["pods"], ["ConfigMap"], ["persistentvolumeclaims", "pods"], []))
    found: Raw = {"kinds": kinds} if kinds else {}
    if rng.random() < 0.3:
        found["labelSelector"] = {"matchLabels": {"app": "db"}}
    if kinds and rng.random() < 0.25:
        found[rng.choice(("names", "excludedNames"))] = [rng.choice(("data-0", "data-*", "*-data-1"))]
    return found


_CONDITIONS: tuple[Raw, ...] = (
    {},
    {"storageClass": ["fast"]},
    {"storageClass": ["slow", "gone"]},
    {"capacity": "0,10Gi"},
    {"capacity": "10Gi,"},
    {"nfs": {}},
    {"csi": {}},
    {"csi": {"driver": DRIVER}},
    {"csi": {"driver": AWS_DRIVER}},
    {"volumeTypes": ["hostPath", "nfs"]},
    {"volumeTypes": ["awsElasticBlockStore"]},
    {"pvcLabels": {"app": "db"}},
    {"pvcLabels": {"app": "web", "tier": "gold"}},
    {"pvcPhase": ["Pending"]},
    {"pvcVolumeMode": "Block"},
    {"pvcAccessModes": ["ReadWriteOnce"]},
)


def _volume_policy(rng: random.Random) -> Raw:
    conditions: Raw = {}
    for one in rng.sample(_CONDITIONS, rng.choice((1, 1, 2))):
        conditions |= one
    return {"conditions": conditions, "action": {"type": rng.choice(("skip", "fs-backup", "snapshot", "custom"))}}
