"""The panes of where backups are kept: locations, the tenants' own, their requests, repositories."""

from __future__ import annotations

from foretop.bindings import key_name
from foretop.widgets.paragraphs import Paragraph, Span, lead, paragraph, span
from foretop.widgets.styles import BOLD
from foretop_core.actions.planners.nonadmin import DECIDE_STORAGE
from foretop_core.foreign_text import named
from foretop_core.models import BackupRepository, BackupStorageLocation, NonAdminBackupStorageLocationRequest
from foretop_core.rules import humanize
from foretop_core.rules.facts.storage_facts import credential_text, unready_repository, where_text
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.repositories import repository_mark
from foretop_core.tables.resources.storage import StorageRow, location_facts, old_news, storage_mark


def place_pane(place: StorageRow, render: RenderContext) -> tuple[Paragraph, ...]:
    item = place.resource
    if isinstance(item, BackupRepository):
        return repository_pane(item, render)
    tone = storage_mark(place, render).tone
    if isinstance(item, BackupStorageLocation):
        return _storage_pane(item, tone, render)
    lines = [lead(f"{named(place.phase) if place.phase else 'Not picked up yet'}.", tone)]
    if place.message:
        lines.append(paragraph(place.message, label="Says"))
    if place.bucket or place.provider:
        bucket = f"bucket {place.bucket}" if place.bucket else ""
        lines.append(paragraph(" ".join(filter(None, (place.provider, bucket))), label="Where"))
    if place.checked:
        lines.append(paragraph(f"checked {render.time(place.checked, item)}", label="Status"))
    if isinstance(item, NonAdminBackupStorageLocationRequest) and place.phase == "Pending":
        lines.append(Paragraph((Span(key_name(DECIDE_STORAGE.id), BOLD), span(" approves or rejects it")), label="Do"))
    return tuple(lines)


def _storage_pane(place: BackupStorageLocation, tone: Tone, render: RenderContext) -> tuple[Paragraph, ...]:
    """Its state comes first; its name is the title of the pane, and of its own page."""
    status = place.status
    facts = location_facts(place, render)
    old = old_news(facts)
    why = f" {facts.fault.sentence}" if facts.fault is not None else ""
    lines = [lead(f"{status.phase or 'Not checked yet'}{f', but {old}' if old else ''}.{why}", tone)]
    if status.message:
        lines.append(paragraph(status.message, label="Says"))
    lines.append(paragraph(where_text(place.spec), label="Where"))
    lines.append(paragraph(credential_text(place.spec), label="Access"))
    checked = render.time(status.last_validation_time, place) if status.last_validation_time else "never"
    synced = render.time(status.last_synced_time, place) if status.last_synced_time else "never"
    lines.append(paragraph(f"checked {checked}, synced {synced}", label="Status"))
    running = f", {facts.running:,} being written" if facts.running else ""
    lines.append(paragraph(f"{humanize.count(facts.backups, 'backup')} kept there{running}", label="Holds"))
    lines.append(paragraph(facts.volumes.text, Tone.DIM if facts.volumes.unknown else Tone.PLAIN, label="Volumes"))
    users = f"{humanize.count(len(facts.schedules), 'schedule')}: {humanize.join(facts.schedules, 6)}"
    lines.append(paragraph(users if facts.schedules else "no schedule", label="Used by"))
    return tuple(lines)


def repository_pane(repository: BackupRepository, render: RenderContext) -> tuple[Paragraph, ...]:
    """Its state comes first; its name is the title of the pane, and of its own page."""
    spec, status = repository.spec, repository.status
    tone = repository_mark(repository).tone
    phase, failed = repository.phase or "New", repository.failed_maintenance
    lines = [lead(f"{phase}, but its latest maintenance failed." if failed else f"{phase}.", tone)]
    if repository.is_unready:
        lines.append(paragraph(unready_repository(repository), Tone.BAD, label="Why"))
    elif status.message:
        lines.append(paragraph(status.message, label="Says"))
    if failed:
        lines.append(paragraph(failed, Tone.WARN, label="Failed"))
    kind = spec.repository_type or "repository"
    text = f"{kind}: volumes of {spec.volume_namespace} in {spec.backup_storage_location}"
    lines.append(paragraph(text, label="Holds"))
    kept = render.time(status.last_maintenance_time, repository) if status.last_maintenance_time else "never"
    lines.append(paragraph(f"maintained {kept}", label="When"))
    return tuple(lines)
