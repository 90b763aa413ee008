"""The pods that belong to a Velero server, and how each of them is."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from enum import Enum

import msgspec

from foretop_core.models import Pod
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Text, sentence

_SERVER_LABELS = (
    ("deploy", "velero"),
    ("component", "velero"),
    ("name", "velero"),
    ("app.kubernetes.io/name", "velero"),
)
"""As velero install, OADP and the chart label the server's pod."""
_MOVERS = (
    "velero.io/data-upload",
    "velero.io/data-download",
    "velero.io/pod-volume-backup",
    "velero.io/pod-volume-restore",
)
_MAINTENANCE = "velero.io/repo-name"
_OPERATORS = frozenset({"controller-manager", "non-admin-controller"})
_FAILING = frozenset(
    {
        "CrashLoopBackOff",
        "ImagePullBackOff",
        "ErrImagePull",
        "InvalidImageName",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "OOMKilled",
        "Error",
        "Evicted",
    }
)


class PodRole(Enum):
    """The role of a pod for Velero; the value is the word that a person reads."""

    SERVER = "server"
    NODE_AGENT = "node-agent"
    OPERATOR = "operator"
    DATA_MOVER = "data mover"
    MAINTENANCE = "maintenance"


class PodHealth(Enum):
    READY = "ready"
    STARTING = "starting"
    NOT_READY = "not ready"
    FAILING = "failing"
    ENDED = "ended"


class LastExit(msgspec.Struct, frozen=True):
    """How a container ended the last time."""

    container: str
    reason: str
    code: int
    at: datetime | None
    message: str = ""


def pod_role(pod: Pod) -> PodRole | None:
    """None for a pod that is not of Velero, whatever else runs in its namespace."""
    containers = {container.name for container in pod.spec.containers}
    if "node-agent" in (pod.label("name"), pod.label("role")) or "node-agent" in containers:
        return PodRole.NODE_AGENT
    if any(pod.label(label) for label in _MOVERS):
        return PodRole.DATA_MOVER
    if pod.label(_MAINTENANCE):
        return PodRole.MAINTENANCE
    if "velero" in containers and any(pod.label(label) == value for label, value in _SERVER_LABELS):
        return PodRole.SERVER
    return PodRole.OPERATOR if pod.label("control-plane") in _OPERATORS else None


def pod_state(pod: Pod) -> str:
    """In the words of kubectl: what a container waits for or ended with, else the phase."""
    if pod.metadata.deletion_timestamp is not None:
        return "Terminating"
    for container in pod.status.container_statuses:
        state = container.state
        if state.waiting is not None and state.waiting.reason:
            return state.waiting.reason
        if state.terminated is not None and pod.phase != "Succeeded":
            return state.terminated.reason or f"ExitCode:{state.terminated.exit_code}"
    return pod.status.reason or pod.phase or "Pending"


def pod_health(pod: Pod) -> PodHealth:
    state = pod_state(pod)
    if state in _FAILING or pod.phase == "Failed":
        return PodHealth.FAILING
    if pod.phase == "Succeeded":
        return PodHealth.ENDED
    statuses = pod.status.container_statuses
    if pod.phase == "Running" and statuses and all(container.ready for container in statuses):
        return PodHealth.READY
    return PodHealth.STARTING if pod.phase in ("", "Pending") or state == "Terminating" else PodHealth.NOT_READY


def ready_containers(pod: Pod) -> tuple[int, int]:
    """How many containers are ready, of how many."""
    ready = sum(container.ready for container in pod.status.container_statuses)
    return ready, max(len(pod.spec.containers), len(pod.status.container_statuses))


def restarts(pod: Pod) -> int:
    return sum(container.restart_count for container in pod.status.container_statuses)


def last_exit(pod: Pod) -> LastExit | None:
    """The exit of the container that ended last."""
    exits = [
        LastExit(container.name, ended.reason, ended.exit_code, ended.finished_at, ended.message)
        for container in pod.status.container_statuses
        if (ended := container.state.terminated or container.last_state.terminated) is not None
    ]
    return max(exits, key=lambda one: one.at.timestamp() if one.at else 0.0, default=None)


def why_not_ready(pod: Pod) -> str:
    """The kubelet's reason; "" where it gives none."""
    waiting = (container.state.waiting for container in pod.status.container_statuses)
    lines = [
        container_waiting.message
        for container_waiting in waiting
        if container_waiting is not None and container_waiting.message
    ]
    return lines[0] if lines else pod.status.message


def server_pod(pods: Iterable[Pod], namespace: str) -> Pod | None:
    """The pod that runs the server of a namespace: one that is ready, else the newest; None where none was seen."""
    servers = [pod for pod in pods if pod.namespace == namespace and pod_role(pod) is PodRole.SERVER]
    alive = [pod for pod in servers if pod_health(pod) is not PodHealth.ENDED]
    return max(
        alive,
        key=lambda pod: (pod_health(pod) is PodHealth.READY, pod.created.timestamp() if pod.created else 0.0, pod.name),
        default=None,
    )


def server_started(pod: Pod) -> datetime | None:
    """When the server in its pod was last started; None while it does not run."""
    name = main_container(pod)
    running = [status.state.running for status in pod.status.container_statuses if status.name == name]
    return next((container_running.started_at for container_running in running if container_running is not None), None)


def failing_server(pods: Iterable[Pod], namespace: str) -> Pod | None:
    """The server's pod that fails, of those of one namespace; the newest where there are several."""
    failing = [
        pod
        for pod in pods
        if pod.namespace == namespace and pod_role(pod) is PodRole.SERVER and pod_health(pod) is PodHealth.FAILING
    ]
    return max(failing, key=lambda pod: (pod.created.timestamp() if pod.created else 0.0, pod.name), default=None)


def crash_text(pod: Pod) -> Text:
    """How a pod fails: its state, how often it was restarted, and how it last ended."""
    ended, count = last_exit(pod), restarts(pod)
    often = f", {humanize.count(count, 'restart')}" if count else ""
    last: Text = ""
    if ended is not None:
        reason = f" ({ended.reason})" if ended.reason else ""
        text = sentence(" at ", ended.at) if ended.at is not None else ""
        last = sentence(f"; {ended.container} ended with exit code {ended.code}{reason}", text)
    return sentence(f"Pod {pod.name} is in {pod_state(pod)}{often}", last, ".")


def last_words(pod: Pod) -> str:
    """The last line that a failing pod wrote, or the kubelet's reason; "" where neither says anything."""
    ended = last_exit(pod)
    text = ended.message if ended is not None and ended.message.strip() else why_not_ready(pod)
    return _last_line(text) if text.strip() else ""


def _last_line(text: str) -> str:
    """The last of several lines: the error that ended it."""
    return text.strip().splitlines()[-1].strip().rstrip(".")


def main_container(pod: Pod) -> str:
    """The container whose log tells about Velero; "" where the pod has only one or none is known."""
    names = [container.name for container in pod.spec.containers]
    usual = [name for name in ("velero", "node-agent", "manager") if name in names]
    return usual[0] if usual else (names[0] if names else "")
