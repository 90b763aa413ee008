"""The panes of a data movement and of a backup repository."""

from __future__ import annotations

from foretop.panes.volumes_section import volume_line
from foretop.widgets.paragraphs import Paragraph, paragraph, span
from foretop_core.models import BackupRepository, DataMovement
from foretop_core.rules.facts.storage_facts import unready_repository
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.movements import how_moved
from foretop_core.tables.resources.repositories import repository_mark


def movement_pane(movement: DataMovement, render: RenderContext) -> tuple[Paragraph, ...]:
    said = [volume_line(movement, render)]
    owner = f"backup {movement.backup_name}" if movement.backup_name else f"restore {movement.restore_name}"
    said.append(paragraph(f"{type(movement).__name__} ({how_moved(movement)})", label="How"))
    if movement.backup_name or movement.restore_name:
        said.append(paragraph(owner, label="For"))
    begun, ended = movement.status.start_timestamp, movement.status.completion_timestamp
    if begun is not None:
        end = f", ended {render.time(ended, movement)}" if ended is not None else ""
        said.append(paragraph(f"started {render.time(begun, movement)}{end}", label="When"))
    return tuple(said)


def repository_pane(repository: BackupRepository, render: RenderContext) -> tuple[Paragraph, ...]:
    spec, status = repository.spec, repository.status
    tone = repository_mark(repository).tone
    said = [Paragraph((span(repository.name, bold=True), span(": "), span(repository.phase or "New", tone)))]
    if repository.is_unready:
        said.append(paragraph(unready_repository(repository), Tone.BAD, label="Why"))
    elif status.message:
        said.append(paragraph(status.message, Tone.BAD, label="Says"))
    if failed := repository.failed_maintenance:
        said.append(paragraph(f"The latest maintenance failed: {failed}", Tone.WARN, label="Failed"))
    kind = spec.repository_type or "repository"
    text = f"{kind}: volumes of {spec.volume_namespace} in {spec.backup_storage_location}"
    said.append(paragraph(text, label="Holds"))
    kept = render.time(status.last_maintenance_time, repository) if status.last_maintenance_time else "never"
    said.append(paragraph(f"maintained {kept}", label="When"))
    return tuple(said)
