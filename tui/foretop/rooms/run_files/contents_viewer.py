"""The window into a backup: its objects by namespace and kind, and what differs from another copy, or from now."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import nlargest
from typing import ClassVar

import msgspec
from msgspec.structs import replace
from textual import work
from textual.binding import Binding, BindingType

from foretop.dialogs.search_modal import SearchPicker
from foretop.rooms.run_files.dialogs import LogViewer
from foretop.rooms.run_files.download_screen import DownloadState
from foretop.rooms.run_files.log_lines import LogLines
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span
from foretop.widgets.styles import DIM
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.run_files import FileUnavailable, resources_of
from foretop_core.actions.run_logs import RunLog
from foretop_core.background import in_thread
from foretop_core.dashboard.action_service import ActionService
from foretop_core.errors import ForetopError
from foretop_core.logs import logger
from foretop_core.models import Backup
from foretop_core.models.wire import ObjectRef
from foretop_core.rooms.run_files.live_objects import NO_SECRETS, differs_now, live_objects
from foretop_core.rooms.run_files.objects import NOW, Difference, Inside, copies_differ, inside_lines, listed
from foretop_core.rules.facts.contents_facts import namespace_of
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.phases import FAULTY, USABLE
from foretop_core.rules.results import ResourceList
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.tables.engine.status_glyphs import Tone

_log = logger(__name__)
_MOST_COPIES = 1_000
"""The newest, to choose from: the list is narrowed with every key."""


class Other(msgspec.Struct, frozen=True):
    """The other side of a comparison: another copy, or what a namespace has now."""

    label: str
    copy: Backup | None = None
    namespace: str = ""


class Compared(msgspec.Struct, frozen=True):
    """The other side as it was read."""

    other: Other
    differing: Callable[[str], tuple[Difference, ...]]
    """By the text of the filter."""
    notes: tuple[str, ...] = ()
    """What was not compared."""


def others(snapshot: ClusterSnapshot, backup: Backup, resources: ResourceList) -> tuple[Other, ...]:
    """The copy before of its schedule, the namespaces in it as they are now, then the copies of its server."""
    before = snapshot.copy_before(backup)
    spaces = sorted({namespace_of(name) for kind in resources.kinds for name in kind.names} - {""})
    mine = (backup.namespace, backup.name)
    copies = (
        one
        for one in snapshot.backups
        if one.namespace == backup.namespace
        and one.phase in USABLE
        and one.started is not None
        and (one.namespace, one.name) != mine
        and one is not before
    )

    def rank(one: Backup) -> tuple[bool, float, str]:
        is_akin = bool(backup.schedule_name) and one.schedule_name == backup.schedule_name
        return is_akin, one.started.timestamp() if one.started is not None else 0.0, one.name

    return (
        *((Other(f"the copy before: {before.name}", before),) if before is not None else ()),
        *(Other(f"namespace {space} as it is now", namespace=space) for space in spaces),
        *(Other(one.name, one) for one in nlargest(_MOST_COPIES, copies, key=rank)),
    )


class ContentsViewer(LogViewer):
    """Lists its objects, and after a key what differs; escape leads back step by step."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("V", "versus", show=False),
    ]
    file = RunFile.RESOURCES
    seeks = "filter; only objects whose kind or name has it"
    own_keys = (("V", "what differs from the copy before, another one, or a namespace as it is now"),)

    def __init__(self, service: ActionService, key: ObjectRef) -> None:
        super().__init__(service, key)
        self._resources = ResourceList()
        self._compared: Compared | None = None
        self._is_reading = False
        self._text = ""

    def begin(self) -> None:
        """No list is kept: it is fetched in a moment."""
        super(LogViewer, self).begin()

    def _backup(self) -> Backup:
        item = self.item()
        if not isinstance(item, Backup):
            raise FileUnavailable(f"{item.name} has no {self.file.noun}", "Velero's own backup has it")
        return item

    async def get(self) -> None:
        self._resources = await resources_of(self.executor, self._backup(), progress=self.came)
        self.fetched = await in_thread(self._lines)

    def open_view(self) -> None:
        """Wrapped: the names of a kind are one line."""
        lines = self.query_one(LogLines)
        if not lines.wraps:
            lines.toggle_wrap()

    def more_keys(self) -> list[tuple[str, str]]:
        return [("V", "compare")]

    @property
    def saved_as(self) -> str:
        return f"{self.key.name}-contents"

    # Its lines

    def _lines(self) -> RunLog:
        """As `foretop taken` prints them; in a thread, for there may be many."""
        text, compared = self._text, self._compared
        inside = Inside(is_doubtful=self._backup().phase in FAULTY)
        if compared is None:
            return RunLog(tuple(inside_lines(replace(inside, objects=listed(self._resources, text=text)))))
        notes = ("", *compared.notes) if compared.notes else ()
        sides = self.key.name, compared.other.copy.name if compared.other.copy is not None else NOW
        lines = inside_lines(replace(inside, differing=compared.differing(text), sides=sides))
        return RunLog((*lines, *notes))

    def seek(self, text: str) -> None:
        self._text = text
        self._list()

    @work(exclusive=True, group="lines")
    async def _list(self) -> None:
        made = await in_thread(self._lines)
        self.fetched = made
        lines = self.query_one(LogLines)
        lines.show(made.lines)
        lines.action_by(-lines.rows)
        lines.search(self._text)
        self.draw()

    # What differs

    @work(exclusive=True, group="compare")
    async def action_versus(self) -> None:
        """Asks what to compare with, reads it, and shows what differs."""
        if self.download_state is not DownloadState.SHOWN:
            return
        try:
            snapshot, backup = self.executor.snapshot(), self._backup()
            choices = await in_thread(partial(others, snapshot, backup, self._resources))
            title = f"Compare {self.key.name} with"
            place = await self.app.push_screen_wait(SearchPicker(title, [one.label for one in choices]))
            if place is not None:
                self._compared = await self._read(choices[place])
                self._is_reading = False
                self._list()
            self._say()
        except Exception as problem:
            self._is_reading = False
            if not isinstance(problem, ForetopError):
                _log.exception("comparing %s failed", self.key)
            self.said = [paragraph(failure_line(problem), Tone.BAD)]
            self.draw()

    def _say(self) -> None:
        """Tells above the lines what they are compared with."""
        label = self._compared.other.label if self._compared is not None else ""
        self.said = [Paragraph((span(f"Compared with {label}"), Span("; esc ends it", DIM)))] if label else []
        self.draw()

    async def _read(self, other: Other) -> Compared:
        mine = self._resources
        if other.copy is not None:
            self._tell(self.progress(0, 0))
            theirs = await resources_of(
                self.executor, other.copy, progress=lambda done, total: self._tell(self.progress(done, total))
            )
            return Compared(other, lambda text: copies_differ(mine, theirs, text=text))
        wanted = (other.namespace,)
        kinds = [kind.kind for kind in mine.kinds]
        client = self.service.client(self.key.context)
        live = await live_objects(client, wanted, kinds, lambda text: self._tell(Paragraph((span(text),))))
        notes = (NO_SECRETS, *live.not_compared())
        return Compared(other, lambda text: differs_now(mine, live, wanted, text), notes)

    def _tell(self, what: Paragraph) -> None:
        self._is_reading = True
        self.said = [Paragraph((*what.spans, Span("; esc stops it", DIM)))]
        self.draw()

    def action_step_back(self) -> None:
        """Out of the filter, of what is being read, of the comparison, then out of the window."""
        if self.has_class("-searching"):
            self._end_search()
        elif self._is_reading or self._compared is not None:
            self.workers.cancel_group(self, "compare")
            if not self._is_reading:
                self._compared = None
                self._list()
            self._is_reading = False
            self._say()
        else:
            self.action_leave()
