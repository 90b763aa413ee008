"""Keys that open a dialog: the objects that the action applies to, and why it may be disabled."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from foretop.bindings import RESUME, ROOM_ACTIONS, WRITE_ACTIONS, Handler, key_name, page_key
from foretop.dialogs.action_targets import ActionTargets
from foretop.dialogs.base_modal import choose
from foretop.main_screen.action_host import ActionHost
from foretop.main_screen.object_actions import newest_copy, run_under_cursor
from foretop.pages.table_page import TablePage
from foretop.pages.triage_selection import finding_under_cursor, findings_chosen
from foretop_core.actions.action_catalog import BY_ID, RECORDS
from foretop_core.actions.action_record import ActionRecord, AskedOf
from foretop_core.actions.planners.acknowledging import ACKNOWLEDGE, record_for
from foretop_core.actions.planners.downloads import LOGS, RESULTS
from foretop_core.actions.planners.pausing import CHANGE_PAUSE, PAUSE, UNPAUSE
from foretop_core.actions.planners.restores import RESTORE_FROM
from foretop_core.actions.planners.schedule_edits import EDIT_SCHEDULE
from foretop_core.dashboard.related_objects import related_to_finding
from foretop_core.models import Backup, Deployment, Restore, Schedule
from foretop_core.models.kinds import DEPLOYMENT, NAMESPACE, SCHEDULE
from foretop_core.models.movement import label_value
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import PAGES
from foretop_core.rules import humanize
from foretop_core.rules.facts.pause_facts import PauseWindow, pause_windows, window_lines
from foretop_core.rules.sentences import names_key
from foretop_core.rules.triage import ungathered
from foretop_core.rules.triage.finding import PAUSED_OVERDUE, WINDOW_OPEN, WINDOW_OVERRUN
from foretop_core.rules.undone import UndoneChange
from foretop_core.rules.velero_deployment import server
from foretop_core.tables.resources.findings import key_of

if TYPE_CHECKING:
    from foretop.widgets.table import Table
    from foretop_core.actions.plan_executor import Result
    from foretop_core.dashboard.action_service import ActionService
    from foretop_core.dashboard.state import DashboardState
    from foretop_core.rules.facts.contents_facts import FetchedFiles

# Deferred imports: dialogs and actions are loaded with the first one that is opened.

_ABOUT_PAUSES = frozenset({"velero-all-paused", PAUSED_OVERDUE, WINDOW_OPEN, WINDOW_OVERRUN})


class WriteActions:
    """The write actions of the main screen: which are enabled, why one is not, and the dialog of each."""

    def __init__(self, host: ActionHost) -> None:
        self.host = host
        self._service: ActionService | None = None
        self._marked: Table | None = None
        """The table whose marked rows the last dialog is about."""
        self._handlers: Mapping[str, Handler] = {
            RESUME: self._resume,
            **{action.id: partial(self._ask, BY_ID[action.id]) for action in WRITE_ACTIONS if action.id != RESUME},
        }

    def handlers(self) -> Mapping[str, Handler]:
        return self._handlers

    def not_of_archive(self) -> frozenset[str]:
        """All that write, and those that fetch or show a file of the run under the cursor that is not in it."""
        changing = {name for name in self._handlers if name == RESUME or not BY_ID[name].fetches}
        key, state = run_under_cursor(self.host), self.host.state
        run = state.store.get(key) if state is not None and key is not None else None
        if state is None or key is None or not isinstance(run, Backup | Restore):
            return frozenset(changing)
        client = state.source.clusters[key.context].client
        results = {RESULTS.id, *(room.action.id for room in ROOM_ACTIONS if room.of_run)}
        lacks_log, lacks_results = not client.keeps(run, is_log=True), not client.keeps(run, is_log=False)
        return frozenset({*changing, *([LOGS.id] if lacks_log else ()), *(results if lacks_results else ())})

    @property
    def is_of_archive(self) -> bool:
        """True if no cluster is looked at: nothing can be written where each is an archive."""
        state = self.host.state
        if state is None:
            return False
        looked_at = (state.focus.context,) if state.focus.context else state.contexts
        return bool(looked_at) and all(state.origins((context,)) for context in looked_at)

    def offers(self, action_id: str) -> bool:
        if self.host.state is None or not self.host.state.source.clusters:
            return False
        if action_id == RESUME:
            return bool(self._windows())
        record = BY_ID[action_id]
        if record.page and self.host.current != record.page:
            return False
        if record.asked_of is AskedOf.FINDING:
            findings = findings_chosen(self.host.page)
            return bool(findings) and record_for(findings) is record
        if record.asked_of is not AskedOf.CHOSEN:
            return record.asked_of is AskedOf.NEW or bool(self._server().keys)
        if record.only_in_results and not (self.host.page is not None and self.host.page.has_list):
            return False
        if not record.key or not self._can(record):
            return not record.key and self._can(record)
        rivals = (other for other in WRITE_ACTIONS if other.id != RESUME and BY_ID[other.id].key == record.key)
        return next((action.id for action in rivals if self._can(BY_ID[action.id])), "") == action_id

    def disabled_reason(self, action_id: str) -> str:
        """Why a key that a person may well press here does nothing; "" where there is nothing to explain."""
        state, page = self.host.state, self.host.page
        if state is None or page is None or not state.source.clusters:
            return ""
        if action_id == RESUME and not all_windows(state):
            return why_no_window(state)
        if action_id == RESUME:
            return "Resume a pause window: this finding is about none, :windows lists them"
        record = BY_ID.get(action_id)
        if record is None:
            return ""
        if record.asked_of is AskedOf.FINDING:
            return f"{record.title}: only findings, on the page {record.page}"
        if record is EDIT_SCHEDULE and run_under_cursor(self.host) is not None:
            others = (room.action for room in ROOM_ACTIONS if room.of_run)
            return next((f"{action.short.capitalize()} are on {key_name(action.id)}" for action in others), "")
        if record is not UNPAUSE:
            return self._why_not_here(record)
        if self._can(record):
            return ""
        if isinstance(page, TablePage) and page.table.marked:
            return "" if self.host.current != "schedules" else "None of the marked schedules is paused"
        key = page.subject()
        item = state.store.get(key) if key is not None else None
        if not isinstance(item, Schedule):
            return self._why_not_here(record)
        return f"{item.name} is not paused"

    def _why_not_here(self, record: ActionRecord) -> str:
        """The reason by the action on its key that is for the kind under the cursor; else the kinds that it is for."""
        page = self.host.page
        key = page.subject_of(record.id) if page is not None else None
        rivals = [other for other in RECORDS if other is record or (record.key and other.key == record.key)]
        mine = [other for other in rivals if key is not None and any(kind.name == key.kind for kind in other.kinds)]
        if isinstance(page, TablePage) and len(page.table.marked) > 1 and mine and not mine[0].many:
            return f"{mine[0].title}: only one at a time, {len(page.table.marked)} are marked"
        if key is not None and key.kind == NAMESPACE.name and record.key == RESTORE_FROM.key:
            if self.host.state is None or newest_copy(self.host.state, key) is None:
                return f"Restore {key.name}: {self._why_no_copy(key)}"
            return f"You may not read the copies of {key.name}: restore it with a NonAdminRestore of its NAB"
        if key is not None and mine and (why := self._why_not(mine[0], key)):
            return f"{mine[0].title}: {why}"
        if mine and mine[0].only_in_results and page is not None and page.why_no_list:
            return f"{mine[0].title}: {page.why_no_list}"
        if mine and mine[0].page:
            return _on_its_page(mine[0])
        if record.only_in_results:
            return ""  # the action that leads there has the same key, and says it
        shown = PAGES[self.host.current].home_of if key is None and self.host.current in PAGES else ()
        here = [other for other in rivals if any(kind.name in shown for kind in other.kinds)]
        if here:
            return f"{here[0].title}: no row is selected"
        if record.page:
            return _on_its_page(record)
        kinds = list(dict.fromkeys(kind.name for other in rivals for kind in other.kinds))
        return f"{record.title}: only for {humanize.join(kinds, 4)}"

    def _ask(self, record: ActionRecord) -> None:
        self._open(record, self._wanted(record))

    def about(self, action_id: str) -> tuple[ObjectRef, ...]:
        """The objects that the dialog would be about."""
        if action_id == RESUME:
            return tuple(key for context, window in self._windows_of_row() for key in _keys(context, window))
        return self._wanted(BY_ID[action_id]).keys

    # Of what it is asked

    def _wanted(self, record: ActionRecord) -> ActionTargets:
        if record.asked_of is AskedOf.NEW:
            return self._home()
        if record.asked_of is AskedOf.FINDING:
            return self._findings(record)
        return self._server() if record.asked_of is AskedOf.SERVER else self._chosen(record)

    def _findings(self, record: ActionRecord) -> ActionTargets:
        """The chosen findings that the key is for: open ones to acknowledge, else all that are known."""
        findings = tuple(
            finding
            for finding in findings_chosen(self.host.page)
            if (finding.acknowledged is None) == (record is ACKNOWLEDGE)
        )
        return ActionTargets(tuple(key_of(finding) for finding in findings), findings=findings)

    def _can(self, record: ActionRecord) -> bool:
        """Asked for every key at every change: it looks no further than it must."""
        page = self.host.page
        if isinstance(page, TablePage) and page.rows is not None and page.table.marked:
            subject = page.rows.subject
            if not record.many and len(page.table.marked) > 1:
                return False
            return any((key := subject(row)) is not None and self._fits(record, key) for row in page.table.marked)
        return bool(self._under_cursor(record))

    def _chosen(self, record: ActionRecord) -> ActionTargets:
        """The marked rows, or what the cursor is on; only what the record can be asked of."""
        page = self.host.page
        if page is None:
            return ActionTargets()
        if isinstance(page, TablePage) and page.rows is not None and page.table.marked:
            rows = page.rows
            fitting = [
                (row, key)
                for row in page.table.marked
                if (key := rows.subject(row)) is not None and self._takes(record, key)
            ]
            hidden = sum(row not in rows.table for row, _ in fitting)
            keys = tuple(dict.fromkeys(key for _, key in fitting))
            return ActionTargets(keys, hidden, True, self._skipped(record))
        subject = page.subject()
        if subject is None or subject.kind != NAMESPACE.name:
            return ActionTargets(self._under_cursor(record), typed=page.typed())
        return ActionTargets(self._under_cursor(record), namespace=subject.name)

    def _skipped(self, record: ActionRecord) -> tuple[tuple[str, int], ...]:
        """Why the action cannot be asked of marked objects, and of how many for each reason."""
        page = self.host.page
        if not isinstance(page, TablePage) or page.rows is None:
            return ()
        keys = dict.fromkeys(key for row in page.table.marked if (key := page.rows.subject(row)) is not None)
        refs = (key for key in keys if not self._takes(record, key))
        return tuple(Counter(self._why_not(record, key) for key in refs).items())

    def _under_cursor(self, record: ActionRecord) -> tuple[ObjectRef, ...]:
        """The object, or where it only reads the run under the cursor of its page; what a finding names besides, where
        that is one object and no other, and likewise of an object whose finding names the key.

        A finding about a server or its queue names many: nobody can tell which of them a key would be about. One
        about paused schedules is about all of them.
        """
        page, state = self.host.page, self.host.state
        if page is None or state is None:
            return ()
        key = page.subject_of(record.id)
        for ref in (key, page.run_under_cursor() if record.fetches else None):
            if ref is not None and self._fits(record, ref):
                return (ref,)
        if key is not None and record is RESTORE_FROM and (copy := newest_copy(state, key)) is not None:
            return (copy,) if self._fits(record, copy) else ()
        finding = finding_under_cursor(page)
        if finding is None and key is not None:
            finding = next((other for other in state.findings_about(key) if names_key(other.remedy, record.id)), None)
        if finding is None or (key is None and finding.code not in _ABOUT_PAUSES):
            return ()
        fitting = tuple(other for other in related_to_finding(finding) if self._fits(record, other))
        all_meant = record in (UNPAUSE, CHANGE_PAUSE) and finding.code in _ABOUT_PAUSES
        return fitting if len(fitting) == 1 or all_meant else ()

    def _why_no_copy(self, key: ObjectRef) -> str:
        row = self.host.state.protection(key) if self.host.state is not None else None
        lost = row.protection.unavailable if row is not None and not row.protection.reachable else ()
        return f"all its copies are in {humanize.join(lost)}, which Velero cannot use" if lost else "it has no copy"

    def _fits(self, record: ActionRecord, key: ObjectRef) -> bool:
        return not self._why_not(record, key)

    def _takes(self, record: ActionRecord, key: ObjectRef) -> bool:
        """True if it is about a marked object: a pause of several changes that of those which are paused already."""
        return self._fits(record, key) or (record is PAUSE and self._fits(CHANGE_PAUSE, key))

    def _why_not(self, record: ActionRecord, key: ObjectRef) -> str:
        """Why the action cannot be asked of this object; "" where it can."""
        state = self.host.state
        if state is None or key.context not in state.source.clusters:
            return "its cluster is not connected"
        if not any(kind.name == key.kind for kind in record.kinds):
            return "it is of another kind"
        if record.tries_copies:
            return self._why_no_trial(record, key)
        item = state.store.get(key)
        if item is None:
            return "it no longer exists"
        movements = state.store.indexes.movements_by_backup
        why = record.applies(item, lambda: bool(movements.keys(key.context, key.namespace, label_value(key.name))))
        code, missing = record.only_with
        findings = ungathered((*state.findings, *state.acknowledged)) if code and not why else ()
        return why or ("" if any(finding.code == code and finding.subject == key for finding in findings) else missing)

    def _why_no_trial(self, record: ActionRecord, key: ObjectRef) -> str:
        """The reason against trying a copy of a namespace, which may be deleted: its newest copy decides."""
        state = self.host.state
        assert state is not None
        if state.store.snapshot(key.context).namespaces is None:
            return record.tries_copies
        copy = newest_copy(state, key)
        if copy is None:
            return self._why_no_copy(key)
        return "" if state.store.get(copy) is not None else "you may not read its copies"

    # Dialogs

    def _home(self) -> ActionTargets:
        """The place of a new schedule: beside the one under the cursor, else where a Velero is."""
        state = self.host.state
        assert state is not None
        key = self.host.page.subject() if self.host.page else None
        context = key.context if key else next(iter(state.source.clusters))
        spaces = state.store.snapshot(context).velero_namespaces
        namespace = key.namespace if key else spaces[0] if spaces else "velero"
        return ActionTargets((ObjectRef(context, SCHEDULE.name, namespace, ""),))

    def _server(self) -> ActionTargets:
        """The Velero that the schedule under the cursor belongs to."""
        state = self.host.state
        key = self.host.page.subject() if self.host.page else None
        if state is None or key is None or key.context not in state.source.clusters:
            return ActionTargets()
        return ActionTargets(
            tuple(
                ObjectRef(key.context, DEPLOYMENT.name, deployment.namespace, deployment.name)
                for deployment in state.store.all(key.context, Deployment)
                if deployment.namespace == key.namespace and server(deployment) is not None
            )[:1]
        )

    @property
    def service(self) -> ActionService:
        # With the first dialog and not with the first page, which would wait for all that writing takes.
        from foretop_core.dashboard.action_service import ActionService

        assert self.host.state is not None
        if self._service is None or self._service.source is not self.host.state.source:
            self._service = ActionService(
                self.host.state.source,
                os.environ,
                self._tell_undone,
                self._end_marks,
                self._tell_done,
                self._tell_failed,
            )
        return self._service

    def _tell_failed(self, what: str, target: ObjectRef, problem: Exception) -> None:
        """In a toast, and among the findings."""
        if self.host.state is not None:
            # Not at the object: it changes soon after a write, and a failure at it would be forgotten then.
            failure = self.host.state.note_failure(f"{what} to {target.name}", None, problem)
            self.host.app.notify(str(failure), severity="error")

    def _tell_undone(self, undone: UndoneChange) -> None:
        """In a toast, and for a while among the findings."""
        if self.host.state is not None:
            self.host.state.note_undone(undone)
            when = humanize.time(undone.at, self.host.state.clock(undone.target.context), self.host.state.zone)
            text = f"{undone.target}: {undone.brief} at {when}"
            self.host.app.notify(text, severity="warning")

    def _tell_done(self, result: Result) -> None:
        if self.host.state is not None:
            self.host.state.note_write(result.step.target, result.made.resource_version)

    def _end_marks(self) -> None:
        """Marks end when what they were for is sent: the next key would be about them again."""
        if self._marked is not None:
            self._marked.clear_marks()

    def _open(self, record: ActionRecord, chosen: ActionTargets) -> None:
        # With the first dialog: all of them come with this, and no page needs one to be drawn.
        from foretop.dialogs.dialog_registry import make_dialog

        assert self.host.state is not None
        page = self.host.page
        self._marked = page.table if isinstance(page, TablePage) and (chosen.marked or chosen.findings) else None
        self.service.zone = self.host.state.zone_of(chosen.keys[0])
        self.service.gap = self.host.state.thresholds.gap
        self.service.shifts = self.host.state.shift_ends, self.host.state.zone
        self.host.app.push_screen(make_dialog(self.service, record, chosen, self._keep_results))

    def _keep_results(self, key: ObjectRef, files: FetchedFiles) -> None:
        """For the page that they were asked for on, if it is still there."""
        if (page := self.host.page) is not None:
            page.keep_results(key, files)

    def _windows(self) -> list[tuple[str, PauseWindow]]:
        """The windows that can be resumed here: all, but beside a finding about a schedule those of that alone."""
        state = self.host.state
        if state is None:
            return []
        finding = finding_under_cursor(self.host.page)
        is_of_schedule = finding is not None and finding.subject.kind == SCHEDULE.name
        return self._windows_of_row() or ([] if is_of_schedule else all_windows(state))

    def _windows_of_row(self) -> list[tuple[str, PauseWindow]]:
        """The windows that the schedule or the finding under the cursor is about."""
        state, page = self.host.state, self.host.page
        if state is None:
            return []
        finding, subject = finding_under_cursor(page), page.subject() if page is not None else None
        named = {*(related_to_finding(finding) if finding is not None else ()), subject}
        windows = [entry for entry in all_windows(state) if named.intersection(_keys(*entry))]
        if finding is None or finding.code not in (WINDOW_OPEN, WINDOW_OVERRUN):
            return windows
        # What was given a later end stays paused.
        return [(context, _part(context, window, named)) for context, window in windows]

    def _resume(self) -> None:
        """Resumes the window that paused the schedule under the cursor; where that is none, a person chooses one."""
        state, offered = self.host.state, self._windows()
        if len(offered) == 1:
            self.resume(*offered[0])
        elif offered and state is not None:
            labels = window_labels(state, offered)
            choose(self.host.app, "Resume which window", labels, lambda place: self.resume(*offered[place]))

    def resume(self, context: str, window: PauseWindow) -> None:
        self._open(UNPAUSE, ActionTargets(_keys(context, window), window=window.name))

    def change(self, context: str, window: PauseWindow) -> None:
        """Changes the reason or the end of a whole window, of what is still paused by foretop."""
        keys = tuple(key for key in _keys(context, window) if self._fits(CHANGE_PAUSE, key))
        if keys:
            self._open(CHANGE_PAUSE, ActionTargets(keys))

    @property
    def is_about_window(self) -> bool:
        """True if the row under the cursor is of a pause window, or a finding, which may be about all of them."""
        return self.host.current == "triage" or bool(self._windows_of_row())


def window_labels(state: DashboardState, windows: Iterable[tuple[str, PauseWindow]]) -> list[str]:
    """Two lines for each."""
    texts = (window_lines(window, state.now(context), state.zone) for context, window in windows)
    return [f"{head}\n        {why}" for head, why in texts]


def all_windows(state: DashboardState) -> list[tuple[str, PauseWindow]]:
    """The pause windows, each with its cluster."""
    contexts = state.source.clusters or state.contexts
    return [(context, window) for context in contexts for window in pause_windows(state.store.all(context, Schedule))]


def why_no_window(state: DashboardState) -> str:
    """Names those who have paused something though, and the key that unpauses it."""
    paused = [
        pause
        for context in state.contexts
        for item in state.store.all(context, Schedule)
        if (pause := state.render_context(context).schedule(item).pause) is not None
    ]
    if not paused:
        return "No schedule is paused"
    by = Counter(pause.who or "by somebody" for pause in paused).most_common(2)
    who = ", ".join(f"{count} {whom}" for whom, count in by)
    return f"No pause of foretop: {who}; {key_name(UNPAUSE.id)} on page {page_key('schedules')} unpauses"


def _keys(context: str, window: PauseWindow) -> tuple[ObjectRef, ...]:
    return tuple(ObjectRef(context, SCHEDULE.name, item.namespace, item.name) for item in window.schedules)


def _part(context: str, window: PauseWindow, named: Collection[ObjectRef | None]) -> PauseWindow:
    kept = zip(window.schedules, _keys(context, window), strict=True)
    return replace(window, schedules=tuple(item for item, key in kept if key in named))


def _on_its_page(record: ActionRecord) -> str:
    """The answer of a key that only another page offers."""
    return f"{record.title}: on the page {record.page}"
