"""The actions on the selected object of any page: open it, jump from it, copy its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from foretop.bindings import Handler, handlers_by_name
from foretop.dialogs.base_modal import choose
from foretop.main_screen.action_host import ActionHost
from foretop.pages.page import PageAddress
from foretop.pages.table_page import TablePage
from foretop.pages.triage_selection import (
    finding_under_cursor,
    place_of,
    shows_acknowledged,
    toggle_acknowledged,
    toggle_members,
)
from foretop_core.dashboard.related_objects import related, related_to_finding
from foretop_core.models import Backup, NonAdmin, Resource, Restore
from foretop_core.models.kinds import BACKUP, HAVE_RESULTS, NAMESPACE
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import DETAIL, PAGE_OF
from foretop_core.rules import humanize
from foretop_core.rules.phases import FAULTY
from foretop_core.rules.triage import ungathered
from foretop_core.tables.resources.findings import kind_word

if TYPE_CHECKING:
    from foretop_core.dashboard.state import DashboardState

# Deferred imports: what copies, and the text of a finding, is loaded when it is first asked for.

_HAVE_FAULTS = FAULTY - {"FailedValidation"}
"""Velero writes no results for what it refuses."""


def run_under_cursor(host: ActionHost) -> ObjectRef | None:
    """The backup or restore under the cursor, or the first that a finding names; a line of many means none.

    A NAB or NAR counts from when on it has its object at Velero; a namespace means its newest copy.
    """
    page, state = host.page, host.state
    if page is None or state is None:
        return None
    finding = finding_under_cursor(page)
    named = related_to_finding(finding) if finding is not None and not finding.members else ()
    subject = page.subject()
    copy = newest_copy(state, subject) if subject is not None else None
    keys = (page.run_under_cursor(), subject, copy, *(key for key in named if state.store.get(key) is not None))
    return next((key for key in keys if key is not None and _has_results(state.store.get(key), key)), None)


def newest_copy(state: DashboardState, key: ObjectRef) -> ObjectRef | None:
    """The Backup that a namespace would be brought back from; None where there is none in reach."""
    if key.kind != NAMESPACE.name or (row := state.protection(key)) is None:
        return None
    newest = row.protection.copies.usable if row.protection.reachable else None
    return ObjectRef(key.context, BACKUP.name, newest.namespace, newest.name) if newest is not None else None


def _has_results(item: Resource | None, key: ObjectRef) -> bool:
    is_without = item is None or (isinstance(item, NonAdmin) and not item.velero.name)
    return key.kind in HAVE_RESULTS and not is_without


class ObjectActions:
    """The handlers of those actions."""

    def __init__(self, host: ActionHost) -> None:
        self.host = host
        self._handlers = handlers_by_name(self)

    def handlers(self) -> Mapping[str, Handler]:
        return self._handlers

    def offers(self, action_id: str) -> bool:
        """By `can_<id>`; what has none needs an object under the cursor."""
        can: Callable[[], bool] | None = getattr(self, f"can_{action_id}", None)
        return can() if can is not None else self._subject() is not None

    def can_open(self) -> bool:
        return self.host.current != DETAIL and (self._subject() is not None or self._leads_on())

    def _leads_on(self) -> bool:
        """True if the finding under the cursor gathers others, names objects or has a page that shows it."""
        finding = finding_under_cursor(self.host.page)
        return finding is not None and bool(finding.members or self.targets() or place_of(finding, ()))

    def can_copy_finding(self) -> bool:
        return finding_under_cursor(self.host.page) is not None

    def can_copy_name(self) -> bool:
        return self._subject() is not None and finding_under_cursor(self.host.page) is None

    def can_jump(self) -> bool:
        return self._leads_elsewhere(self.targets(), self._subject())

    def can_describe(self) -> bool:
        """The page of an object knows itself which sections it has."""
        return self.host.current != DETAIL and self._subject() is not None

    can_yaml = can_describe

    def can_acknowledged(self) -> bool:
        """There are some to show, or they are shown and can be hidden again."""
        state, page = self.host.state, self.host.page
        return shows_acknowledged(page) or (
            state is not None and self.host.current == "triage" and bool(state.acknowledged)
        )

    def _subject(self) -> ObjectRef | None:
        return self.host.page.subject() if self.host.page is not None else None

    async def do_open(self) -> None:
        finding = finding_under_cursor(self.host.page)
        if toggle_members(self.host.page):
            self.host.pulse()
        elif finding is None or self._subject() is not None:
            await self._open("overview")
        elif (place := place_of(finding, self.targets())) is not None:
            await self.host.go(place)
        else:
            self.do_jump()

    async def do_yaml(self) -> None:
        await self._open("yaml")

    async def do_describe(self) -> None:
        await self._open("describe")

    def failed_runs(self) -> tuple[ObjectRef, ...]:
        """The run under the cursor, where it failed and left files that say why."""
        key, state = run_under_cursor(self.host), self.host.state
        item = state.store.get(key) if key is not None and state is not None else None
        status = item.status if isinstance(item, Backup | Restore) else None
        if isinstance(item, NonAdmin):
            status = item.velero.status
        return (key,) if key is not None and status is not None and status.phase in _HAVE_FAULTS else ()

    async def _open(self, section: str) -> None:
        key = self._subject()
        if key is not None:
            await self.host.show_object(key, section)

    def targets(self) -> tuple[ObjectRef, ...]:
        """The objects to which J leads from here: only those that are there."""
        page, state = self.host.page, self.host.state
        if page is None or state is None:
            return ()
        if (finding := finding_under_cursor(page)) is not None:
            return tuple(key for key in related_to_finding(finding) if state.store.get(key) is not None)
        key = page.subject()
        return related(state.store, key) if key is not None else ()

    def _leads_elsewhere(self, targets: tuple[ObjectRef, ...], subject: ObjectRef | None) -> bool:
        """Not where it only opens what enter opens."""
        return bool(targets) and (targets != (subject,) or targets[0].kind in PAGE_OF)

    def do_jump(self) -> None:
        targets = self.targets()
        if len(targets) == 1:
            self.host.run_worker(self._jump(targets[0]))
        elif targets:
            kinds = [kind_word(key.kind) for key in targets]
            size = max(map(len, kinds))
            labels = [f"{kind:<{size}}  {key.namespace}/{key.name}" for kind, key in zip(kinds, targets, strict=True)]

            def jump(place: int) -> None:
                self.host.run_worker(self._jump(targets[place]))

            choose(self.host.app, "Jump to", labels, jump)

    async def _jump(self, key: ObjectRef) -> None:
        """To its row where it has one, else to its detail."""
        page = PAGE_OF.get(key.kind)
        if page is None or self.host.current == DETAIL:
            await self.host.show_object(key)
            return
        await self.host.go(PageAddress(page, filter="", key=key, jumped=True))
        shown = self.host.page
        if isinstance(shown, TablePage) and shown.table.cursor != key:
            await self.host.show_object(key)

    def do_copy_finding(self) -> None:
        finding, state = finding_under_cursor(self.host.page), self.host.state
        if finding is not None and state is not None:
            # With the first copy: no page needs it to be drawn.
            from foretop_core.tables.resources.ticket_text import ticket_text

            self._copy(ticket_text(finding, state.render_context_of(finding).now))

    def do_acknowledged(self) -> None:
        state = self.host.state
        if state is None or (shown := toggle_acknowledged(self.host.page)) is None:
            return
        number = sum(1 for _ in ungathered(state.acknowledged))
        self.host.pulse()
        if not shown:
            self.host.app.notify("Acknowledged findings are hidden")
        else:
            self.host.app.notify(f"{humanize.count(number, 'acknowledged finding')} shown")

    def do_copy_name(self) -> None:
        if key := self._subject():
            self._copy(key.name)

    def do_copy_namespace(self) -> None:
        if key := self._subject():
            self._copy(key.namespace)

    def _copy(self, text: str) -> None:
        from foretop.terminal.clipboard import copy

        copy(self.host.app, text)
