"""The pods of a Velero server and its node agents, as they are while the server runs and after it has crashed."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time

SERVER = "velero-7d9c6b5f8d-x2k4q"
_AGENTS = (
    ("node-agent-4w8zt", "worker-1"),
    ("node-agent-9kq2m", "worker-2"),
    ("node-agent-tr7vd", "worker-3"),
    ("node-agent-x8p5c", "worker-4"),
)
_CONFIG = "node-agent-config"
_CRASHES = 5


def put_pods(storage: InProcessApi, home: str, image: str, since: datetime) -> None:
    """A server pod and a node agent on each node, ready since then."""
    labels = {"app.kubernetes.io/name": "velero", "deploy": "velero", "component": "velero"}
    _put(storage, home, SERVER, labels, _spec("velero", image, "worker-1"), since)
    for name, node in _AGENTS:
        _put(storage, home, name, {"name": "node-agent", "role": "node-agent"}, _spec("node-agent", image, node), since)


def put_node_agents(storage: InProcessApi, home: str, image: str, since: datetime, config: str = "") -> None:
    """The DaemonSet of the node agents, and the ConfigMap that it names where they have one."""
    args = ["node-agent", "server"]
    if config:
        args.append(f"--node-agent-configmap={_CONFIG}")
        _store(storage, "ConfigMap", home, _CONFIG, since, {"data": {"config.json": config}})
    labels = {"name": "node-agent", "role": "node-agent"}
    container = {"name": "node-agent", "image": image, "command": ["/velero"], "args": args}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    _store(storage, "DaemonSet", home, "node-agent", since, {"spec": spec})


def crash_server(storage: InProcessApi, home: str, at: datetime, message: str) -> None:
    """The server's container has ended again and again, and the kubelet waits before it starts it the next time."""
    ended = {
        "reason": "Error",
        "exitCode": 1,
        "message": message,
        "startedAt": wire_time(at - timedelta(seconds=4)),
        "finishedAt": wire_time(at),
    }
    waits = {"reason": "CrashLoopBackOff", "message": "back-off 2m40s restarting failed container=velero"}
    status = _container("velero", ready=False, restarts=_CRASHES, state={"waiting": waits}, last={"terminated": ended})
    change = {"phase": "Running", "containerStatuses": [status]}
    storage.patch_status(storage.kind("Pod"), home, SERVER, change)


def _put(storage: InProcessApi, home: str, name: str, labels: dict[str, str], spec: Json, since: datetime) -> None:
    running = {"running": {"startedAt": wire_time(since)}}
    container = spec["containers"][0]["name"]
    status = {
        "phase": "Running",
        "startTime": wire_time(since),
        "containerStatuses": [_container(container, ready=True, restarts=0, state=running)],
    }
    _store(storage, "Pod", home, name, since, {"spec": spec, "status": status}, labels)


def _store(
    storage: InProcessApi,
    kind_name: str,
    home: str,
    name: str,
    since: datetime,
    body: Json,
    labels: dict[str, str] | None = None,
) -> None:
    """Stores an object with a uid of its own: the uids of all that is made later stay what they were."""
    kind = storage.kind(kind_name)
    meta: Json = {
        "name": name,
        "namespace": home,
        "uid": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{home}/{name}")),
        "creationTimestamp": wire_time(since),
    }
    if labels:
        meta["labels"] = labels
    whole = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **body}
    storage.object_store.put(kind, (home, name), whole)


def _spec(container: str, image: str, node: str) -> Json:
    return {"nodeName": node, "containers": [{"name": container, "image": image}]}


def _container(name: str, *, ready: bool, restarts: int, state: Json, last: Json | None = None) -> Json:
    return {"name": name, "ready": ready, "restartCount": restarts, "state": state, "lastState": last or {}}
