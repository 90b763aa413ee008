"""The panes of where backups are kept: locations, the tenants' own, their requests, repositories."""

from __future__ import annotations

from foretop.bindings import key_name
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD
from foretop_core.actions.planners.nonadmin import DECIDE_STORAGE
from foretop_core.models import BackupRepository, BackupStorageLocation, NonAdminBackupStorageLocationRequest
from foretop_core.rules import humanize
from foretop_core.rules.facts.storage_facts import credential_text, where_text
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.resources.storage import StorageRow, location_facts, old_news


def place_pane(place: StorageRow, render: RenderContext) -> tuple[Paragraph, ...]:
    item = place.resource
    if isinstance(item, BackupStorageLocation):
        return storage_pane(item, render)
    said = [Paragraph((span(item.name, bold=True), span(f": {place.phase or 'not picked up yet'}")))]
    if place.message:
        said.append(paragraph(place.message, label="Says"))
    if place.bucket or place.provider:
        bucket = f"bucket {place.bucket}" if place.bucket else ""
        said.append(paragraph(" ".join(filter(None, (place.provider, bucket))), label="Where"))
    if place.checked:
        done = "maintained" if isinstance(item, BackupRepository) else "checked"
        said.append(paragraph(f"{done} {render.time(place.checked, item)}", label="Status"))
    if isinstance(item, NonAdminBackupStorageLocationRequest) and place.phase == "Pending":
        said.append(Paragraph((Span(key_name(DECIDE_STORAGE.id), BOLD), span(" approves or rejects it")), label="Do"))
    return tuple(said)


def storage_pane(place: BackupStorageLocation, render: RenderContext) -> tuple[Paragraph, ...]:
    status = place.status
    facts = location_facts(place, render)
    old = old_news(facts)
    doubt = span(f", but {old}" if old else "", Tone.WARN)
    head = Paragraph((span(place.name, bold=True), span(f": {status.phase or 'not checked yet'}"), doubt))
    said = [head]
    if status.message:
        said.append(paragraph(status.message, Tone.BAD, label="Says"))
    said.append(paragraph(where_text(place.spec), label="Where"))
    said.append(paragraph(credential_text(place.spec), label="Access"))
    checked = render.time(status.last_validation_time, place) if status.last_validation_time else "never"
    synced = render.time(status.last_synced_time, place) if status.last_synced_time else "never"
    said.append(paragraph(f"checked {checked}, synced {synced}", label="Status"))
    running = f", {facts.running:,} being written" if facts.running else ""
    said.append(paragraph(f"{humanize.count(facts.backups, 'backup')} kept there{running}", label="Holds"))
    users = f"{humanize.count(len(facts.schedules), 'schedule')}: {humanize.join(facts.schedules, 6)}"
    said.append(paragraph(users if facts.schedules else "no schedule", label="Used by"))
    return tuple(said)
