"""The table of Velero's pods: server, node agents, operators and data movers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from foretop_core.models import Pod
from foretop_core.models.kinds import POD
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.velero_pods import (
    PodHealth,
    PodRole,
    last_exit,
    pod_health,
    pod_role,
    pod_state,
    ready_containers,
    restarts,
)
from foretop_core.store import Store
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, StatusLabel, Tone
from foretop_core.tables.engine.view import Cell, Column, View, aged, plain
from foretop_core.tables.text import times

_MARKS = {
    PodHealth.READY: StatusGlyph.HEALTHY,
    PodHealth.STARTING: StatusGlyph.WAITING,
    PodHealth.NOT_READY: StatusGlyph.LOOK,
    PodHealth.FAILING: StatusGlyph.BROKEN,
    PodHealth.ENDED: StatusGlyph.UNSET,
}
_ROLES = tuple(PodRole)


class PodsView(View[Pod]):
    name = "pods"
    kinds = watched = frozenset({POD.name})
    order = "role"
    rank = ("status", "restarts", "ready", "role", "node", "age")
    least: ClassVar[Mapping[str, int]] = {"name": 20, "restarts": 4}
    fields = (*View.fields, "role", "node")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> Pod | None:
        return resource if isinstance(resource, Pod) and pod_role(resource) is not None else None

    def resource(self, entry: Pod) -> Pod:
        return entry

    def details(self, entry: Pod) -> Mapping[str, str]:
        return {"role": _role(entry), "node": entry.spec.node_name}

    def phase(self, entry: Pod) -> str:
        return pod_state(entry)

    def mark(self, entry: Pod, render: RenderContext) -> StatusGlyph:
        return pod_mark(entry)

    def standing(self, entry: Pod) -> StatusLabel | None:
        health = pod_health(entry)
        return None if health in (PodHealth.READY, PodHealth.ENDED) else (_MARKS[health], health.value)

    def item(self, entry: Pod, render: RenderContext) -> Item:
        ready, total = ready_containers(entry)
        ended = last_exit(entry)
        return {
            **identity(render.snapshot.context, entry),
            "role": _role(entry),
            "phase": entry.phase or None,
            "status": pod_state(entry),
            "readyContainers": ready,
            "containers": total,
            "restarts": restarts(entry),
            "lastExit": {"reason": ended.reason, "code": ended.code, "at": rfc3339(ended.at)} if ended else None,
            "node": entry.spec.node_name or None,
            "created": rfc3339(entry.created),
        }


def pod_mark(pod: Pod) -> StatusGlyph:
    return _MARKS[pod_health(pod)]


def _role(pod: Pod) -> str:
    role = pod_role(pod)
    return role.value if role is not None else ""


def _by_role(pod: Pod) -> tuple[int, str]:
    role = pod_role(pod)
    return _ROLES.index(role) if role is not None else len(_ROLES), pod.name


def _restarts(pod: Pod, render: RenderContext) -> Cell:
    number, ended = restarts(pod), last_exit(pod)
    since = f", {times.age(ended.at, render.now)} ago" if number and ended is not None and ended.at is not None else ""
    return Cell(f"{number}{since}", Tone.WARN if number else Tone.DIM, (str(number),))


_COLUMNS: tuple[Column[Pod], ...] = (
    plain("namespace", "NAMESPACE", lambda pod: pod.namespace, wide=True),
    plain("name", "POD", lambda pod: pod.name, from_middle=True),
    Column("role", "ROLE", lambda pod, _: _role(pod), _by_role),
    Column("ready", "READY", lambda pod, _: "/".join(map(str, ready_containers(pod))), ready_containers, right=True),
    plain("status", "STATUS", lambda pod: Cell(pod_state(pod), pod_mark(pod).muted)),
    Column("restarts", "RESTARTS", _restarts, restarts),
    plain("node", "NODE", lambda pod: pod.spec.node_name),
    aged("age", "AGE", lambda pod: pod.created),
)
