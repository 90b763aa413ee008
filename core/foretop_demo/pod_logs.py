"""The logs of the box's pods: what the Velero server and the node agents wrote about the objects that are there."""

from __future__ import annotations

from collections.abc import Iterator

from foretop_demo.in_process_api import InProcessApi
from foretop_demo.kinds import Json
from foretop_demo.status import bad_request

_MOVEMENTS = ("PodVolumeBackup", "DataUpload", "PodVolumeRestore", "DataDownload")


def pod_log(storage: InProcessApi, pod: Json, container: str, *, previous: bool, tail: int) -> str:
    """The log of a container, or of its run before the last restart."""
    names = [one["name"] for one in pod["spec"]["containers"]]
    name = container or names[0]
    if name not in names:
        raise bad_request(f"container {name} is not valid for pod {pod['metadata']['name']}")
    status: Json = next((one for one in pod.get("status", {}).get("containerStatuses", ()) if one["name"] == name), {})
    ended = status.get("lastState", {}).get("terminated")
    if previous and ended is None:
        message = f'previous terminated container "{name}" in pod "{pod["metadata"]["name"]}" not found'
        raise bad_request(message)
    running = status.get("state", {}).get("running")
    lines = list(_life(storage, pod, name)) if running and not previous else []
    begun = (ended or {}).get("startedAt") if previous or not running else running["startedAt"]
    start = [f'time="{begun}" level=info msg="setting log-level to INFO" logSource="pkg/cmd/server/server.go"']
    if ended is not None and (previous or not running):
        lines.append(f'time="{ended["finishedAt"]}" level=fatal msg="{ended.get("message", "")}"')
    shown = [*start, *lines]
    return "".join(f"{line}\n" for line in (shown[-tail:] if tail else shown))


def _life(storage: InProcessApi, pod: Json, name: str) -> Iterator[str]:
    home = pod["metadata"]["namespace"]
    lines = _server_lines(storage, home) if name == "velero" else _agent_lines(storage, home, pod["spec"]["nodeName"])
    yield from (f'time="{at}" {rest}' for at, rest in sorted(lines))


def _server_lines(storage: InProcessApi, home: str) -> Iterator[tuple[str, str]]:
    for kind in ("Backup", "Restore"):
        noun = kind.lower()
        for item in storage.list(storage.kind(kind), home):
            status = item.get("status", {})
            about = f"{noun}={home}/{item['metadata']['name']}"
            if at := status.get("startTimestamp"):
                yield at, f'level=info msg="Setting up {noun} log" {about}'
            if (at := status.get("completionTimestamp")) and (errors := status.get("errors")):
                yield at, f'level=error msg="{kind} has {errors} errors" {about}'
            if at:
                yield at, f'level=info msg="{kind} completed" phase={status.get("phase", "")} {about}'
    for place in storage.list(storage.kind("BackupStorageLocation"), home):
        status = place.get("status", {})
        if status.get("phase") == "Unavailable" and (at := status.get("lastValidationTime")):
            about = f"backup-storage-location={home}/{place['metadata']['name']}"
            yield at, f'level=error msg="Current BackupStorageLocation is unavailable" {about}'


def _agent_lines(storage: InProcessApi, home: str, node: str) -> Iterator[tuple[str, str]]:
    for kind in _MOVEMENTS:
        for item in storage.list(storage.kind(kind), home):
            status = item.get("status", {})
            if node not in (status.get("node"), item["spec"].get("node")):
                continue
            about = f"{kind.lower()}={home}/{item['metadata']['name']}"
            if at := status.get("startTimestamp"):
                yield at, f'level=info msg="{kind} starts moving data" {about}'
            if at := status.get("completionTimestamp"):
                level = "error" if status.get("phase") == "Failed" else "info"
                yield at, f'level={level} msg="{kind} ended" phase={status.get("phase", "")} {about}'
