"""The factories of the pages behind the tabs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from foretop.bindings import ACTIONS, check_letters
from foretop.pages.detail_page import DetailPage
from foretop.pages.page import Page
from foretop.pages.page_host import PageHost
from foretop.pages.tab_registry import DETAIL
from foretop.pages.table_page import TablePage
from foretop.pages.table_spec import TableSpec
from foretop.panes.movement_pane import movement_pane, repository_pane
from foretop.panes.nonadmin_pane import nonadmin_pane
from foretop.panes.pod_pane import pod_pane
from foretop.panes.protection_pane import protection_pane
from foretop.panes.queue_pane import queue_pane
from foretop.panes.runs_pane import backup_pane, restore_pane
from foretop.panes.schedule_pane import schedule_pane
from foretop.panes.storage_pane import place_pane
from foretop.panes.triage_pane import calm, finding_pane
from foretop.widgets.column_layout import ColumnPriorities, sort_keys
from foretop.widgets.paragraphs import Line, Paragraph, paragraph, span
from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import CONTEXT, StoreTableModel, TableModel
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.engine.view import Column, UnreadableRow, View
from foretop_core.tables.resources import findings
from foretop_core.tables.resources.movements import MovementsView
from foretop_core.tables.resources.nonadmin import NonAdminView
from foretop_core.tables.resources.pods import PodsView
from foretop_core.tables.resources.protection import ProtectionView
from foretop_core.tables.resources.queue import QueueView
from foretop_core.tables.resources.repositories import RepositoriesView
from foretop_core.tables.resources.runs import BackupsView, RestoresView
from foretop_core.tables.resources.schedules import SchedulesView
from foretop_core.tables.resources.storage import StorageView

# Deferred imports: a page is loaded when it is first opened.

PageFactory = Callable[[str, DisplayOptions, PageHost], Page]


def _table(spec: TableSpec) -> PageFactory:
    return lambda page_id, display_options, host: TablePage(page_id, spec, display_options, host)


def _calendar(page_id: str, display_options: DisplayOptions, host: PageHost) -> Page:
    """Brings the time axis and all schedules' runs with it, which the first page need not wait for."""
    from foretop.pages.calendar_page import CalendarPage

    return CalendarPage(page_id, display_options, host)


def _primer(page_id: str, display_options: DisplayOptions, host: PageHost) -> Page:
    """Brings a second cron library with it, which the first page need not wait for."""
    from foretop.pages.primer_page import PrimerPage

    return PrimerPage(page_id, display_options, host)


def _live(
    view: type[View[Any]],
    pane: Callable[[Any, RenderContext], tuple[Paragraph, ...]],
    rank: tuple[str, ...],
    none: str,
    least: Mapping[str, int] | None = None,
    narrow: Mapping[str, int] | None = None,
    least_with_pane: int = 12,
) -> TableSpec:
    def tell(rows: TableModel, key: ObjectRef, state: DashboardState) -> tuple[Paragraph, ...]:
        entry = rows.entry(key) if isinstance(rows, StoreTableModel) else None
        if entry is None:
            return ()
        if isinstance(entry, UnreadableRow):
            return (paragraph(f"{key.namespace}/{key.name} cannot be read: {entry.problem}", Tone.BAD),)
        return pane(entry, state.render_context(key.context))

    def empty(_state: DashboardState) -> list[Line]:
        return [(span(none, Tone.DIM),)]

    return TableSpec(
        lambda state: StoreTableModel(state, view()),
        tell,
        view.kinds,
        ColumnPriorities(rank, least=least or {}, narrow=narrow or {}),
        empty,
        least_with_pane,
    )


def _finding(rows: TableModel, key: ObjectRef, state: DashboardState) -> tuple[Paragraph, ...]:
    found = rows.table.get(key)
    return () if found is None else finding_pane(found, state.render_context_of(found))


_ANY_LINES = 0
"""For a page whose rows say too little without the pane."""

TRIAGE = TableSpec(
    FindingsTableModel,
    _finding,
    frozenset(),
    ColumnPriorities(("what", "since", "severity"), least={"what": 42}, narrow={"what": 16, "subject": 16}),
    calm,
    _ANY_LINES,
    shows_keys=True,
)
SCHEDULES = _live(
    SchedulesView,
    schedule_pane,
    ("next", "last", "cron", "runs", "skip", "meaning"),
    "No schedules.",
    {"last": 6, "cron": 12, "next": 12},
)
NONADMIN = _live(
    NonAdminView,
    nonadmin_pane,
    ("namespace", "velero", "phase", "queue", "age", "progress", "conditions"),
    "No non-admin backups or restores.",
    {"name": 20, "queue": 7},
    {"namespace": 8, "velero": 9, "name": 12},
)
QUEUE = _live(
    QueueView,
    queue_pane,
    ("position", "phase", "when", "items", "from", "waits"),
    "The queue is empty.",
    {"name": 20, "from": 8, "when": 11, "waits": 16, "items": 10},
    {"position": 4, "when": 11, "name": 14},
)
BACKUPS = _live(
    BackupsView,
    backup_pane,
    ("phase", "started", "errors", "warnings", "took", "expires", "from", "storage"),
    "No backups.",
    {"name": 22, "expires": 7, "storage": 8},
)
RESTORES = _live(
    RestoresView,
    restore_pane,
    ("phase", "backup", "started", "errors", "warnings", "items", "took", "from"),
    "No restores.",
    narrow={"phase": 11, "name": 20},
)
STORAGE_PAGE = _live(
    StorageView,
    place_pane,
    ("phase", "what", "checked", "synced", "default", "mode", "kind"),
    "No storage locations.",
    {"what": 16, "mode": 4},
    least_with_pane=_ANY_LINES,
)

PODS = _live(
    PodsView,
    pod_pane,
    ("status", "restarts", "ready", "role", "node", "age"),
    "No Velero pods.",
    {"name": 20, "restarts": 4},
)
MOVEMENTS = _live(
    MovementsView,
    movement_pane,
    ("phase", "progress", "left", "run", "rate", "node", "size"),
    "No data movements.",
    {"name": 14, "run": 16, "progress": 4},
)
REPOSITORIES = _live(
    RepositoriesView,
    repository_pane,
    ("phase", "volumes", "storage", "maintained", "type", "what"),
    "No backup repositories: Velero makes one for each namespace whose volumes it moves.",
    {"name": 20, "what": 16},
)

PROTECTION = _live(
    ProtectionView,
    protection_pane,
    ("state", "newest", "copies", "expires", "next", "by", "covers", "tried", "volumes", "storage", "repository"),
    "No namespaces with backups or schedules.",
    {"name": 16, "by": 12, "covers": 8, "tried": 8},
    {"name": 12},
)

PAGE_FACTORIES: Mapping[str, PageFactory] = {
    "triage": _table(TRIAGE),
    "schedules": _table(SCHEDULES),
    "nonadmin": _table(NONADMIN),
    "queue": _table(QUEUE),
    "calendar": _calendar,
    "primer": _primer,
    "backups": _table(BACKUPS),
    "restores": _table(RESTORES),
    "storage": _table(STORAGE_PAGE),
    "pods": _table(PODS),
    "movements": _table(MOVEMENTS),
    "repositories": _table(REPOSITORIES),
    "protection": _table(PROTECTION),
    DETAIL: DetailPage,
}
"""By the id of its tab, how a page is made."""

TABLE_COLUMNS: Mapping[str, Sequence[Column[Any]]] = {
    "triage": findings.COLUMNS,
    "schedules": SchedulesView().columns,
    "nonadmin": NonAdminView().columns,
    "queue": QueueView().columns,
    "backups": BackupsView().columns,
    "restores": RestoresView().columns,
    "storage": StorageView().columns,
    "pods": PodsView().columns,
    "movements": MovementsView().columns,
    "repositories": RepositoriesView().columns,
    "protection": ProtectionView().columns,
}
for _view, _columns in TABLE_COLUMNS.items():
    check_letters(ACTIONS, _view, sort_keys((CONTEXT, *_columns)))
    check_letters(ACTIONS, _view, sort_keys(_columns))
