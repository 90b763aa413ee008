"""The volumes of a backup or restore on their way, all and one by one: node, phase, bytes and rate."""

from __future__ import annotations

from collections.abc import Sequence

from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import Backup, DataMovement, NonAdmin, NonAdminBackup, Resource, Restore
from foretop_core.models.velero import RunStatus
from foretop_core.models.wire import ObjectRef, UnreadableObject
from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import rate, time_left
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.movements import how_moved
from foretop_core.tables.resources.nonadmin import NonAdminView


def status_of(state: DashboardState, key: ObjectRef, resource: Resource | UnreadableObject | None) -> RunStatus | None:
    """The status of the Velero object itself where it was seen, else a tenant's copy of it."""
    match resource:
        case Backup() | Restore():
            return resource.status
        case NonAdmin():
            entry = NonAdminView().entry(state.store, key, resource)
            run = entry.run if entry else None
            return run.status if run is not None else resource.velero.status
        case _:
            return None


def volumes(state: DashboardState, key: ObjectRef, resource: Resource) -> Sequence[Paragraph]:
    movements = movements_of(state, key, resource)
    if not movements:
        return [paragraph("No data movements.", Tone.DIM)]
    render = state.render_context(key.context)
    return [volume_line(movement, render) for movement in movements]


def movements_of(state: DashboardState, key: ObjectRef, resource: Resource) -> list[DataMovement]:
    """The movements that were seen of a backup or restore, or of the Velero object behind a tenant's."""
    index = state.store.indexes
    namespace, name, is_backup = _run_of(key, resource)
    source = index.movements_by_backup if is_backup else index.movements_by_restore
    movements = source.get(key.context, namespace, name) if name else ()
    return sorted(movements or state.ended_movements.get(key, ()), key=lambda item: item.volume)


def _run_of(key: ObjectRef, resource: Resource) -> tuple[str, str, bool]:
    match resource:
        case NonAdmin():
            return resource.velero.namespace, resource.velero.name, isinstance(resource, NonAdminBackup)
        case Backup():
            return key.namespace, key.name, True
        case Restore():
            return key.namespace, key.name, False
        case _:
            return "", "", True


def volume_line(movement: DataMovement, render: RenderContext) -> Paragraph:
    """Name, phase, node, share, rate and the time left of one volume, in a list of them."""
    name = span(f"{movement.volume or movement.name}  ", bold=True)
    return Paragraph((name, *_state(movement, render)), indent=2)


def _state(movement: DataMovement, render: RenderContext) -> tuple[Span, Span]:
    status, progress = movement.status, movement.status.progress
    node = f" on {movement.node}" if movement.node else ""
    share = f", {humanize.size(progress.bytes_done)}"
    if progress.total_bytes:
        share = (
            f"{share} of {humanize.size(progress.total_bytes)} ({100 * progress.bytes_done // progress.total_bytes} %)"
        )
    new = f", {humanize.size(status.incremental_bytes)} of it new" if status.incremental_bytes else ""
    speed, length = rate(movement, render.now), time_left(movement, render.now)
    at_rate = f", {humanize.size(int(speed))}/s" if speed is not None else ""
    to_go = f", about {humanize.duration(length)} left" if length is not None else ""
    waits = ""
    if status.start_timestamp is None and movement.created is not None:
        busy = render.snapshot.moved_before(movement)
        reason = f" while {busy}" if busy else ""
        waits = f", waiting for {humanize.duration(render.now - movement.created)}{reason}"
    tone = Tone.BAD if movement.phase in ("Failed", "Canceled") else Tone.PLAIN
    message = f": {status.message}" if status.message else ""
    phase = span(movement.phase or "New", tone, bold=tone is Tone.BAD)
    return phase, span(f"{node}{share}{new}{at_rate}{to_go}{waits}{message}")


def movement_pane(movement: DataMovement, render: RenderContext) -> tuple[Paragraph, ...]:
    """Its state comes first; its name is the title of the pane, and of its own page."""
    paragraphs = [Paragraph(_state(movement, render))]
    owner = f"backup {movement.backup_name}" if movement.backup_name else f"restore {movement.restore_name}"
    paragraphs.append(paragraph(f"{type(movement).__name__} ({how_moved(movement)})", label="How"))
    if movement.backup_name or movement.restore_name:
        paragraphs.append(paragraph(owner, label="For"))
    begun, ended = movement.status.start_timestamp, movement.status.completion_timestamp
    if begun is not None:
        end = f", ended {render.time(ended, movement)}" if ended is not None else ""
        paragraphs.append(paragraph(f"started {render.time(begun, movement)}{end}", label="When"))
    return tuple(paragraphs)
