"""The pane of a pod of Velero."""

from __future__ import annotations

from foretop.bindings import ROOM_ACTIONS, key_name
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD
from foretop_core.models import Pod
from foretop_core.models.kinds import POD
from foretop_core.rules import humanize
from foretop_core.rules.velero_pods import (
    PodHealth,
    last_exit,
    pod_health,
    pod_role,
    pod_state,
    restarts,
    why_not_ready,
)
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.pods import pod_mark


def pod_pane(pod: Pod, render: RenderContext) -> tuple[Paragraph, ...]:
    role, health = pod_role(pod), pod_health(pod)
    head = Paragraph((span(pod.name, bold=True), span(": "), span(pod_state(pod), pod_mark(pod).tone)))
    node = f" on {pod.spec.node_name}" if pod.spec.node_name else ", not on a node yet"
    since = f", since {render.time(pod.created, pod)}" if pod.created else ""
    paragraphs = [head, paragraph(f"{role.value if role else 'pod'}{node}{since}", label="Role")]
    ended = last_exit(pod)
    if ended is not None:
        when = f" at {render.time(ended.at, pod)}" if ended.at else ""
        paragraphs.append(
            paragraph(
                f"{ended.container} ended with exit code {ended.code} ({ended.reason or 'no reason given'}){when}; "
                f"{humanize.count(restarts(pod), 'restart')}",
                Tone.WARN,
                label="Last",
            )
        )
    if why := why_not_ready(pod):
        paragraphs.append(paragraph(why, Tone.BAD if health is PodHealth.FAILING else Tone.PLAIN, label="Says"))
    paragraphs += [
        Paragraph((Span(key_name(room.action.id), BOLD), span(f" {room.told}")), label="Do")
        for room in ROOM_ACTIONS
        if room.told and POD.name in room.kinds
    ]
    return tuple(paragraphs)
