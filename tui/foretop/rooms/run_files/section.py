"""The section on the problems of a backup or restore: their counts at once, the list when it was fetched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

import msgspec

from foretop.bindings import key_name
from foretop.panes.page_records import DetailSection, SectionHost
from foretop.panes.volumes_section import movements_of, status_of
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import BOLD, style_of
from foretop_core.actions.planners.downloads import RESULTS, RunFile
from foretop_core.actions.run_files import refusal
from foretop_core.dashboard.action_service import ActionService
from foretop_core.dashboard.state import DashboardState
from foretop_core.models import Backup, DataMovement, NonAdmin, NonAdminBackup, NonAdminRestore, Resource, Restore
from foretop_core.models.kinds import BACKUP, HAVE_RESULTS
from foretop_core.models.nonadmin import VolumeCounts
from foretop_core.models.velero import RunStatus
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.phases import why_no_files
from foretop_core.rules.results import Problem, Results
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone, run_mark

if TYPE_CHECKING:
    from foretop_core.rules.facts.contents_facts import FetchedFiles

# Deferred imports: what a backup holds is told when it has been fetched.

_LOST = ("Failed", "Canceled")
_MOST_SHOWN = 2_000
_MOST_FETCHED = 20
"""Objects whose results are kept until foretop ends."""
_LISTED = "Every object in it: :resources fetches the list from storage."


class FetchedResults(msgspec.Struct, frozen=True):
    """Fetched results, when, and the status then; wrapped once, because lists can be long."""

    uid: str
    status: RunStatus
    at: datetime
    results: Results
    said: tuple[Paragraph, ...]


def keep(uid: str, status: RunStatus, at: datetime, files: FetchedFiles) -> FetchedResults:
    from foretop.rooms.run_files.contents_section import contents_paragraphs

    said = (*_listed(files.results), *contents_paragraphs(files))
    return FetchedResults(uid, status, at, files.results, said)


def why_no_list(status: RunStatus | None) -> str:
    """Why there is no list of results to fetch; "" where there is one."""
    if status is None or (why := why_no_files(status.phase)):
        return "it has no Velero object yet" if status is None else why
    if status.errors or status.warnings:
        return ""
    return "its errors were not counted" if _ended_uncounted(status) else "it has no errors and no warnings"


def _ended_uncounted(status: RunStatus) -> bool:
    """True for one that failed as a whole: its error is the reason, and Velero counts what happens to items."""
    return status.phase == "Failed" and not status.errors and not status.warnings


def has_files(status: RunStatus | None, *, is_backup: bool) -> bool:
    """True if there is something to fetch: the list of results, or what a backup holds."""
    if status is None:
        return False
    return not why_no_list(status) or (is_backup and not why_no_files(status.phase))


def known_results(state: DashboardState, key: ObjectRef, resource: Resource) -> Sequence[Paragraph]:
    """The results that can be told without fetching anything."""
    status = status_of(state, key, resource)
    if status is None:
        return [paragraph(_why_none(resource), Tone.DIM)]
    paragraphs = [_head(status)]
    if status.failure_reason:
        paragraphs.append(paragraph(status.failure_reason, Tone.BAD, label="Why"))
    paragraphs += [paragraph(reason, Tone.BAD, label="Why") for reason in status.validation_errors]
    return [*paragraphs, *_parts(status), *_volumes(state, key, resource)]


def fetching(
    status: RunStatus | None,
    kept: FetchedResults | None,
    refusal: str,
    now: datetime,
    zone: tzinfo,
    *,
    is_backup: bool,
) -> Sequence[Paragraph]:
    """Which key fetches the list and what that takes, or why there is none to fetch; then the list itself."""
    if status is None:
        return []
    if kept is not None:
        return [paragraph(""), _fetched(status, kept, now, zone), *kept.said]
    why = why_no_list(status)
    lines = [paragraph(""), *([paragraph(f"No list to fetch: {why}.", Tone.DIM)] if why else [])]
    if not has_files(status, is_backup=is_backup):
        return lines
    if refusal:
        what = "What it holds" if why else "The list"
        return [*lines, paragraph(f"{what} cannot be fetched. {refusal}", Tone.WARN)]
    return [*lines, _offer(is_list=not why, is_backup=is_backup)]


def _offer(*, is_list: bool, is_backup: bool) -> Paragraph:
    parts = ["the list, by namespace and resource"] if is_list else []
    parts += ["what the backup holds: its volumes and its objects"] if is_backup else []
    many = is_backup or not is_list
    where = "They are in object storage, so this creates " if many else "It is in object storage, so this creates a "
    return Paragraph(
        (
            Span(key_name(RESULTS.id), BOLD),
            span(f" fetches {', and '.join(parts)}. {where}"),
            span(f"DownloadRequest{'s: writes' if many else ': a write'}, so foretop asks first, once in a session. "),
            span(f"Velero removes {'them' if many else 'it'} after ten minutes."),
        )
    )


def _head(status: RunStatus) -> Paragraph:
    counts = [humanize.count(status.errors, "error"), humanize.count(status.warnings, "warning")]
    mark = run_mark(status.phase)
    ended = not why_no_files(status.phase) and not _ended_uncounted(status)
    text = f": {humanize.join(counts)}" if ended or status.errors or status.warnings else ""
    return Paragraph((Span(f"{mark.value} ", style_of(mark.tone)), span(status.phase or "New", bold=True), span(text)))


def _parts(status: RunStatus) -> list[Paragraph]:
    """Hooks and operations of plugins that failed; those that went well are not worth a line."""
    paragraphs: list[Paragraph] = []
    hooks = status.hook_status
    if hooks is not None and hooks.hooks_failed:
        paragraphs.append(
            paragraph(f"{hooks.hooks_failed} of {humanize.count(hooks.hooks_attempted, 'hook')} failed", Tone.BAD)
        )
    attempted, failed = status.item_operations
    if failed:
        paragraphs.append(
            paragraph(f"{failed} of {humanize.count(attempted, 'operation')} of plugins failed", Tone.BAD)
        )
    return paragraphs


def _volumes(state: DashboardState, key: ObjectRef, resource: Resource) -> list[Paragraph]:
    lost = [movement for movement in movements_of(state, key, resource) if movement.phase in _LOST]
    if lost:
        return [_lost(movement) for movement in lost]
    number = sum(counts.failed + counts.canceled for counts in _counted(resource) if counts is not None)
    return [paragraph(f"failed or canceled: {humanize.count(number, 'volume')}", Tone.BAD)] if number else []


def _lost(movement: DataMovement) -> Paragraph:
    name = span(f"volume {movement.volume or movement.name}  ", bold=True)
    why = movement.status.message or "no reason given"
    return Paragraph((name, span(f"{movement.phase}: ", Tone.BAD), span(why)), indent=2)


def _counted(resource: Resource) -> tuple[VolumeCounts | None, ...]:
    """The number of volumes, which is all that a tenant is told of them."""
    match resource:
        case NonAdminBackup():
            return resource.status.data_mover_data_uploads, resource.status.file_system_pod_volume_backups
        case NonAdminRestore():
            return resource.status.data_mover_data_downloads, resource.status.file_system_pod_volume_restores
        case _:
            return ()


def _why_none(resource: Resource) -> str:
    if isinstance(resource, NonAdmin):
        return "It has no Velero object yet, so it has no results."
    return "No results: only backups and restores have them."


def _fetched(status: RunStatus, kept: FetchedResults, now: datetime, zone: tzinfo) -> Paragraph:
    when = humanize.time(kept.at, now, zone)
    again = f"; {key_name(RESULTS.id)} fetches them again." if not why_no_files(status.phase) else "."
    if status != kept.status:
        text = f"It has changed since these were fetched at {when}{again}"
        return Paragraph((Span(f"{StatusGlyph.LOOK.value} ", style_of(StatusGlyph.LOOK.tone)), span(text, Tone.WARN)))
    listed = kept.results.error_count, kept.results.warning_count
    differs = ""
    if listed != (status.errors, status.warnings):
        counts = humanize.join([humanize.count(listed[0], "error"), humanize.count(listed[1], "warning")])
        differs = f" The list has {counts}, which differs from the status."
    return paragraph(f"Fetched at {when}{again}{differs}", Tone.DIM)


def _listed(results: Results) -> list[Paragraph]:
    """Errors before warnings; each namespace under its name, each resource with what was said of it."""
    paragraphs: list[Paragraph] = []
    shown = 0
    for mark, noun, groups, number in (
        (StatusGlyph.BROKEN, "error", results.errors, results.error_count),
        (StatusGlyph.LOOK, "warning", results.warnings, results.warning_count),
    ):
        if groups:
            head = Span(f"{mark.value} {humanize.count(number, noun)}", style_of(mark.tone) + BOLD)
            paragraphs += [paragraph(""), Paragraph((head,))]
        for group in groups:
            room = group.problems[: max(0, _MOST_SHOWN - shown)]
            shown += len(room)
            paragraphs += (
                [
                    Paragraph((span(f"  {group.title}", bold=True), span(f"  {group.count:,}", Tone.DIM))),
                    *(_problem(problem) for problem in room),
                ]
                if room
                else []
            )
    hidden = sum(len(group.problems) for group in (*results.errors, *results.warnings)) - shown
    if hidden:
        paragraphs.append(paragraph(f"and {hidden:,} more: the command foretop … results prints them all", Tone.DIM))
    return paragraphs


def _problem(problem: Problem) -> Paragraph:
    times = f" ({problem.times:,} times)" if problem.times > 1 else ""
    text = problem.message or "no message"
    lead = (span(f"    {problem.subject}  ", bold=True),) if problem.subject else (Span("    "),)
    return Paragraph((*lead, span(f"{text}{times}")), indent=6)


class FetchedList:
    """The list of results that a person fetches into the section."""

    def __init__(self, page: SectionHost) -> None:
        self._page = page
        self._fetched: dict[ObjectRef, FetchedResults] = {}
        """The results that were fetched in this session, the latest of them."""
        self._refusal = ""
        self._refusal_of: tuple[ObjectRef, RunStatus] | None = None
        """Of which object in which state it was asked whether its results may be fetched."""

    def forget(self) -> None:
        self._refusal, self._refusal_of = "", None

    def paragraphs(self, state: DashboardState, key: ObjectRef) -> Sequence[Paragraph]:
        status, is_backup = _status(state, key), key.kind == BACKUP.name
        if status is not None and has_files(status, is_backup=is_backup) and self._refusal_of != (key, status):
            self._refusal_of = (key, status)
            self._page.run_worker(self._ask_whether(state, key), group="results", exclusive=True)
        now, zone = state.now(key.context), state.zone_of(key)
        return fetching(status, self._kept(state, key), self._refusal, now, zone, is_backup=is_backup)

    async def _ask_whether(self, state: DashboardState, key: ObjectRef) -> None:
        """Asks whether the list may be fetched, so that it is told before a person tries."""
        text = await why_not_fetch(state, key)
        if key == self._page.key:
            self._refusal = text
            self._page.draw()

    def has_list(self, state: DashboardState, key: ObjectRef) -> bool:
        return has_files(_status(state, key), is_backup=key.kind == BACKUP.name)

    def lacks_list(self, state: DashboardState, key: ObjectRef) -> bool:
        return self.has_list(state, key) and self._kept(state, key) is None

    def why_no_list(self, state: DashboardState, key: ObjectRef) -> str:
        return why_no_list(_status(state, key))

    def keep(self, state: DashboardState, key: ObjectRef, files: FetchedFiles) -> None:
        if (status := _status(state, key)) is not None:
            self._fetched.pop(key, None)
            self._fetched[key] = keep(_uid(state, key), status, state.now(key.context), files)
            while len(self._fetched) > _MOST_FETCHED:
                del self._fetched[next(iter(self._fetched))]

    def _kept(self, state: DashboardState, key: ObjectRef) -> FetchedResults | None:
        """The results fetched of this object and not of another that had its name before."""
        results = self._fetched.get(key)
        return results if results is not None and results.uid == _uid(state, key) else None


def _uid(state: DashboardState, key: ObjectRef) -> str:
    resource = state.store.get(key)
    return resource.metadata.uid if resource is not None else ""


def _status(state: DashboardState, key: ObjectRef) -> RunStatus | None:
    return status_of(state, key, state.store.get(key))


async def why_not_fetch(state: DashboardState, key: ObjectRef) -> str:
    """The reason against fetching its results; "" where there is none."""
    service = ActionService(state.source, os.environ)
    item = service.item(key)
    if not service.reach(key.context):
        return "These objects are not from a cluster."
    if not isinstance(item, Backup | Restore | NonAdmin):
        return "It no longer exists."
    return await refusal(service.executor(key.context), item, RunFile.RESULTS)


def _has_status(state: DashboardState, key: ObjectRef, resource: Resource) -> bool:
    return status_of(state, key, resource) is not None


def _last_words(resource: Resource) -> Sequence[Paragraph]:
    if not isinstance(resource, Backup | Restore) or why_no_files(resource.phase):
        return ()
    return paragraph(""), paragraph("Resources", bold=True), paragraph(_LISTED, Tone.DIM)


SECTION = DetailSection(
    name="results",
    after="volumes",
    kinds=HAVE_RESULTS,
    known=known_results,
    has_more=_has_status,
    last_words=_last_words,
    fetched=FetchedList,
)
