"""Stand-ins for those who take volumes for Velero: its node agents, and the controller of CSI snapshots."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tests.real.cluster import RealCluster
from tests.velero.velero_cluster import VELERO_NAMESPACE
from tests.velero.volume_world import DRIVER

_PAUSE = 0.2
_MOVEMENTS = tuple(
    f"/apis/velero.io/{version}/namespaces/{VELERO_NAMESPACE}/{plural}"
    for version, plural in (("v1", "podvolumebackups"), ("v2alpha1", "datauploads"))
)
_BEGINS = ("", "New")
_SNAPSHOTS = "/apis/snapshot.storage.k8s.io/v1"
_BYTES = 1 << 30


class StandIns:
    """They work until the `with` ends; `fails` tells of a namespace and claim whether its movement is to fail."""

    def __init__(self, api_server: RealCluster, fails: Callable[[str, str], bool], *, makes_snapshots: bool) -> None:
        self._api = api_server.api("admin")
        self._fails = fails
        self._makes_snapshots = makes_snapshots
        self.moved: set[tuple[str, str, str]] = set()
        """Backup, namespace and claim of each movement that was ended well."""
        self.snapshotted: set[tuple[str, str, str]] = set()
        """The same of each CSI snapshot that was made."""
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join(60)
        self._api.close()

    def _work(self) -> None:
        while not self._ends.wait(_PAUSE):
            for path in _MOVEMENTS:
                for movement in self._api.get(path).expect(200)["items"]:
                    if (movement.get("status") or {}).get("phase", "") in _BEGINS:
                        self._end_movement(path, movement)
            if self._makes_snapshots:
                for snapshot in self._api.get(f"{_SNAPSHOTS}/volumesnapshots").expect(200)["items"]:
                    if "status" not in snapshot and "persistentVolumeClaimName" in snapshot["spec"]["source"]:
                        self._make_content(snapshot)

    def _end_movement(self, path: str, movement: Mapping[str, Any]) -> None:
        meta, spec, now = movement["metadata"], movement["spec"], _now()
        upload = "sourcePVC" in spec
        namespace = spec["sourceNamespace"] if upload else spec["pod"]["namespace"]
        claim = spec["sourcePVC"] if upload else meta["annotations"]["velero.io/pvc-name"]
        fails = self._fails(namespace, claim)
        status = {
            "phase": "Failed" if fails else "Completed",
            "startTimestamp": now,
            "completionTimestamp": now,
            **({"message": "no space left"} if fails else {"snapshotID": "a1", "progress": _progress()}),
        }
        place = f"{path}/{meta['name']}"
        answer = self._api.patch(place, {"status": status}).expect(200)
        if answer["status"].get("phase") != status["phase"]:
            self._api.patch(f"{place}/status", {"status": status}).expect(200)
        if not fails:
            self.moved.add((meta["labels"]["velero.io/backup-name"], namespace, claim))

    def _make_content(self, snapshot: Mapping[str, Any]) -> None:
        meta, spec = snapshot["metadata"], snapshot["spec"]
        name, namespace, source = meta["name"], meta["namespace"], spec["source"]["persistentVolumeClaimName"]
        core = f"/api/v1/namespaces/{namespace}/persistentvolumeclaims/{source}"
        volume = self._api.get(core).expect(200)["spec"]["volumeName"]
        csi = self._api.get(f"/api/v1/persistentvolumes/{volume}").expect(200)["spec"].get("csi")
        if csi is None:
            return
        content = f"snapcontent-{meta['uid']}"
        reference = {"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot"}
        body = {
            "apiVersion": "snapshot.storage.k8s.io/v1",
            "kind": "VolumeSnapshotContent",
            "metadata": {"name": content},
            "spec": {
                "deletionPolicy": "Retain",
                "driver": csi["driver"],
                "source": {"volumeHandle": csi["volumeHandle"]},
                "volumeSnapshotClassName": spec.get("volumeSnapshotClassName"),
                "volumeSnapshotRef": {**reference, "name": name, "namespace": namespace, "uid": meta["uid"]},
            },
        }
        self._api.post(f"{_SNAPSHOTS}/volumesnapshotcontents", body).expect(201, 409)
        made = {"readyToUse": True, "restoreSize": _BYTES}
        ready = {"status": {**made, "snapshotHandle": f"h-{meta['uid']}", "creationTime": 1}}
        self._api.patch(f"{_SNAPSHOTS}/volumesnapshotcontents/{content}/status", ready).expect(200)
        place = f"{_SNAPSHOTS}/namespaces/{namespace}/volumesnapshots/{name}/status"
        status = {"boundVolumeSnapshotContentName": content, **made, "restoreSize": "1Gi", "creationTime": _now()}
        self._api.patch(place, {"status": status}).expect(200, 404)
        self.snapshotted.add(((meta.get("labels") or {}).get("velero.io/backup-name", ""), namespace, source))


@contextmanager
def installed_snapshots(api_server: RealCluster, definitions: Sequence[Path]) -> Iterator[None]:
    """CSI snapshots by these definitions, with a class for one of two drivers."""
    crds = [yaml.safe_load(path.read_text()) for path in definitions]
    for crd in crds:
        api_server.install(crd)
    snapshot_class = {
        "apiVersion": "snapshot.storage.k8s.io/v1",
        "kind": "VolumeSnapshotClass",
        "metadata": {"name": "example", "labels": {"velero.io/csi-volumesnapshot-class": ""}},
        "driver": DRIVER,
        "deletionPolicy": "Retain",
    }
    api_server.admin.post(f"{_SNAPSHOTS}/volumesnapshotclasses", snapshot_class).expect(201)
    try:
        yield
    finally:
        for crd in crds:
            name = crd["metadata"]["name"]
            for item in api_server.admin.get(f"{_SNAPSHOTS}/{crd['spec']['names']['plural']}").expect(200)["items"]:
                namespace = item["metadata"].get("namespace")
                place = f"/namespaces/{namespace}" if namespace else ""
                path = f"{_SNAPSHOTS}{place}/{crd['spec']['names']['plural']}/{item['metadata']['name']}"
                api_server.admin.patch(path, {"metadata": {"finalizers": None}}).expect(200, 404)
            api_server.uninstall(name)


def _progress() -> Mapping[str, int]:
    return {"totalBytes": _BYTES, "bytesDone": _BYTES}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
