"""The volumes of a backup or restore on their way: node, phase, bytes and rate."""

from __future__ import annotations

from collections.abc import Sequence

from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import Backup, DataMovement, NonAdmin, NonAdminBackup, Resource, Restore
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone


def volumes(state: DashboardState, key: ObjectRef, resource: Resource) -> Sequence[Paragraph]:
    found = movements_of(state, key, resource)
    if not found:
        return [paragraph("No data movements; they are watched while a run is unfinished.", Tone.DIM)]
    render = state.render_context(key.context)
    return [_volume(movement, render) for movement in found]


def movements_of(state: DashboardState, key: ObjectRef, resource: Resource) -> list[DataMovement]:
    """Those that were seen of a backup or restore, or of the Velero object behind a tenant's."""
    index = state.store.indexes
    namespace, name, is_backup = _run_of(key, resource)
    source = index.movements_by_backup if is_backup else index.movements_by_restore
    found = source.get(key.context, namespace, name) if name else ()
    return sorted(found, key=lambda item: item.volume)


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


def _volume(movement: DataMovement, render: RenderContext) -> Paragraph:
    status, progress = movement.status, movement.status.progress
    node = f" on {movement.node}" if movement.node else ""
    share = f", {size(progress.bytes_done)}"
    if progress.total_bytes:
        share = f"{share} of {size(progress.total_bytes)} ({100 * progress.bytes_done // progress.total_bytes} %)"
    start = status.start_timestamp
    length = ((status.completion_timestamp or render.now) - start).total_seconds() if start else 0.0
    rate = f", {size(int(progress.bytes_done / length))}/s" if length >= 1 and progress.bytes_done else ""
    waits = ""
    if status.start_timestamp is None and movement.created is not None:
        waits = f", waiting for {humanize.duration(render.now - movement.created)}"
    tone = Tone.BAD if movement.phase in ("Failed", "Canceled") else Tone.PLAIN
    message = f": {status.message}" if status.message else ""
    return Paragraph(
        (
            span(movement.volume or movement.name, bold=True),
            span(f"  {movement.phase or 'New'}", tone),
            span(f"{node}{share}{rate}{waits}{message}"),
        ),
        indent=2,
    )


def size(number: int) -> str:
    """`3.1 GB`: as the operator's storage counts."""
    amount = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"
