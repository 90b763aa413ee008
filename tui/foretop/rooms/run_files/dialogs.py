"""Logs and lists, full screen: of a backup or restore, of what is in it, and of a pod."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input, Label

from foretop.bindings import key_name
from foretop.dialogs.help_screen import LogHelpScreen
from foretop.rooms.run_files.download_screen import DownloadScreen, DownloadState, ResultsDownload
from foretop.rooms.run_files.log_lines import LogLines
from foretop.widgets.line_widgets import StyledLine, key_line
from foretop.widgets.paragraphs import Span, paragraph
from foretop.widgets.prompt import Prompt
from foretop_core.actions.planners.downloads import (
    LOGS,
    NONADMIN_LOGS,
    NONADMIN_RESULTS,
    RESOURCES,
    RESULTS,
    RunFile,
)
from foretop_core.actions.run_files import FileUnavailable, resources_of
from foretop_core.actions.run_logs import RunLog, container_log, log_file_name, log_of
from foretop_core.background import in_thread
from foretop_core.dashboard.action_service import ActionService
from foretop_core.errors import ForetopError
from foretop_core.models import Backup, Pod, Restore
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.velero_pods import main_container, restarts
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text.terminal_text import width

if TYPE_CHECKING:
    from foretop.dialogs.dialog_registry import Viewer


class LogViewer(DownloadScreen):
    """The window of a log; where the full log is unavailable, it shows the part that Velero's pod has."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "step_back", show=False),
        Binding("slash", "search", show=False),
        Binding("n", "next(1)", show=False),
        Binding("N", "next(-1)", show=False),
        Binding("ctrl+z", "errors_only", show=False),
        Binding("w", "wrap", show=False),
        Binding("ctrl+s", "save", show=False),
        Binding("question_mark", "help", show=False),
    ]
    file = RunFile.LOG
    seeks = "search; n and N go from match to match"
    """What is typed behind `/` does: in the field, in the help, and its first word at the bottom."""

    def __init__(self, service: ActionService, key: ObjectRef) -> None:
        super().__init__(service, key)
        self.fetched: RunLog | None = None

    def body(self) -> ComposeResult:
        yield LogLines()
        with Horizontal(classes="prompt"):
            yield Label("/", markup=False)
            yield Prompt(placeholder=self.seeks, id="search")

    def begin(self) -> None:
        """A log that was fetched before is shown at once."""
        kept = self.service.downloads.log(self.key, self._item())
        if kept is None:
            super().begin()
            return
        self.fetched, self.download_state = kept, DownloadState.SHOWN
        self.got()

    async def get(self) -> None:
        item = self.item()
        fetched = await log_of(self.executor, item, progress=self.came)
        self.fetched = await (await fetched.with_levels()).with_brief_lines()
        self.service.downloads.keep_log(self.key, item, self.fetched)

    def got(self) -> None:
        assert self.fetched is not None
        if self.fetched.partial:
            text = f"Partial, from the log of the Velero pod. Full log unavailable: {self.fetched.why}"
            self.said = [paragraph(text, Tone.WARN)]
        lines = self.query_one(LogLines)
        lines.show(self.fetched.brief_lines or self.fetched.lines, self.fetched.levels)
        if lines.errors and isinstance(self._item(), Backup | Restore):
            results = key_name("results")
            self.said.append(paragraph(f"What failed, item by item, is in the results: q, then {results}.", Tone.DIM))
        self.draw()
        lines.focus()
        lines.when_sized(self.open_view)

    def open_view(self) -> None:
        """Opens at the first error: what went wrong is why a log is read."""
        lines = self.query_one(LogLines)
        lines.wrap_if_narrow()
        lines.next_error(1)

    def draw(self) -> None:
        super().draw()
        self.query_one(LogLines).display = self.download_state is DownloadState.SHOWN
        self.call_after_refresh(self.show_foot)

    @on(LogLines.Moved)
    def show_foot(self) -> None:
        if self.download_state is not DownloadState.SHOWN:
            super().show_foot()
            return
        lines = self.query_one(LogLines)
        noun = "error" if lines.errors_only else "line"
        where = f"{lines.last_visible:,} of {humanize.count(lines.visible_count, noun)}"
        if not lines.errors_only and lines.errors:
            where += f", {humanize.count(len(lines.errors), 'error')}"
        keys = [("/", self.seeks.partition(";")[0])]
        if self._is_searched:
            where += f", {len(lines.matches):,} matches"
        if self._is_searched or lines.errors:
            keys.append(("n N", "next"))
        keys += [*self.more_keys(), ("w", "cut" if lines.wraps else "wrap"), ("q", "close")]
        if lines.errors:
            keys.append(("ctrl+z", "all lines" if lines.errors_only else "errors"))
        keys += [
            ("?", "help"),
            *self.rarer_keys(),
            ("ctrl+s", "save"),
            ("right" if lines.wraps else "left right", "aside"),
        ]
        room = self.size.width - width(where) - 2
        self.query_one("#fetch-foot", StyledLine).show([Span(f" {where} "), *key_line(keys, room)])

    def action_help(self) -> None:
        if self.download_state is DownloadState.SHOWN:
            noun = self.file.noun
            ways_out = (
                ("?", "this help"),
                ("esc", f"end the search, then close the {noun}"),
                ("q", f"close the {noun}"),
            )
            self.app.push_screen(LogHelpScreen(noun, (("/", self.seeks), *_LOG_KEYS, *self.own_keys, *ways_out)))

    @on(events.ScreenSuspend)
    def _window_opened(self) -> None:
        """Its keys do not work below a window."""
        self.query_one("#fetch-foot", StyledLine).show(key_line((("esc", "close"),), self.size.width))

    @on(events.ScreenResume)
    def _window_closed(self) -> None:
        if self.query("#fetch-foot"):
            self.show_foot()

    own_keys: ClassVar[tuple[tuple[str, str], ...]] = ()
    """The keys that only this log has, for the help."""

    def more_keys(self) -> list[tuple[str, str]]:
        """The keys that this log has besides."""
        return []

    def rarer_keys(self) -> list[tuple[str, str]]:
        """The keys that are told where there is room."""
        return []

    def action_search(self) -> None:
        if self.download_state is DownloadState.SHOWN:
            self.add_class("-searching")
            self.query_one("#search", Prompt).focus()

    @property
    def _is_searched(self) -> bool:
        return bool(self.query_one("#search", Prompt).value)

    def action_next(self, by: int) -> None:
        """From match to match; without a search from error to error."""
        lines = self.query_one(LogLines)
        if self._is_searched:
            lines.next_match(by)
        elif self._has_errors():
            lines.next_error(by)

    def action_errors_only(self) -> None:
        if self._has_errors():
            self.query_one(LogLines).toggle_errors_only()

    def _has_errors(self) -> bool:
        """Says so where a log has none."""
        has_errors = bool(self.query_one(LogLines).errors)
        if self.download_state is DownloadState.SHOWN and not has_errors:
            self.show_notice(f"No errors in this {self.file.noun}")
        return has_errors

    def action_wrap(self) -> None:
        self.query_one(LogLines).toggle_wrap()

    @on(Input.Changed, "#search")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.seek(event.value)

    def seek(self, text: str) -> None:
        """Goes by what was typed so far."""
        self.query_one(LogLines).search(text)

    @on(Input.Submitted, "#search")
    def _kept(self, event: Input.Submitted) -> None:
        event.stop()
        self.query_one(LogLines).focus()

    @on(Prompt.Dropped)
    def _dropped(self, event: Prompt.Dropped) -> None:
        if self.has_class("-searching"):
            event.stop()
            event.prevent_default()
            self._end_search()

    def action_step_back(self) -> None:
        """Out of the search, then out of the log."""
        if self.has_class("-searching"):
            self._end_search()
        else:
            self.action_leave()

    def _end_search(self) -> None:
        self.query_one("#search", Prompt).value = ""
        self.remove_class("-searching")
        self.query_one(LogLines).focus()

    @on(Prompt.Passed)
    def _passed(self, event: Prompt.Passed) -> None:
        event.stop()
        self.query_one(LogLines).focus()

    @property
    def saved_as(self) -> str:
        """The name of the file that it is saved to, without its ending."""
        return self.key.name

    async def action_save(self) -> None:
        if self.fetched is None:
            return
        path = Path.cwd() / log_file_name(self.saved_as)
        try:
            await in_thread(partial(self.fetched.save, path))
        except ForetopError as problem:
            self.app.notify(f"Not saved: {problem}", severity="error")
        else:
            self.app.notify(f"{len(self.fetched.lines):,} lines saved to {path}")


class ResourceListViewer(LogViewer):
    """The window of the list: it is searched, wrapped and saved as a log is."""

    file = RunFile.RESOURCES

    def begin(self) -> None:
        """No list is kept: it is fetched in a moment."""
        super(LogViewer, self).begin()

    async def get(self) -> None:
        item = self.item()
        if not isinstance(item, Backup | Restore):
            raise FileUnavailable(f"{item.name} has no {self.file.noun}", "Velero's own backup has it")
        resources = await resources_of(self.executor, item, progress=self.came)
        self.fetched = RunLog(resources.lines())

    @property
    def saved_as(self) -> str:
        return f"{self.key.name}-resources"


class PodLogViewer(LogViewer):
    """Reads it from the API server: nothing is written, so nothing is asked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "previous", show=False),
        Binding("ctrl+r", "reload", show=False),
    ]

    own_keys = (("p", "the run before the last restart, or this one"), ("ctrl+r", "load it again"))

    def __init__(self, service: ActionService, key: ObjectRef) -> None:
        super().__init__(service, key)
        self._previous = False
        self._is_open = False

    def begin(self) -> None:
        pod = self._pod()
        waits = pod is not None and any(status.state.running is None for status in pod.status.container_statuses)
        self._previous = waits and pod is not None and restarts(pod) > 0
        self._fetch()

    def _pod(self) -> Pod | None:
        resource = self.service.item(self.key)
        return resource if isinstance(resource, Pod) else None

    async def get(self) -> None:
        pod = self._pod()
        if pod is None:
            raise ForetopError(f"{self.key.name} has no log", "it no longer exists")
        client = self.service.client(self.key.context)
        container = main_container(pod)
        lines = await container_log(client, self.key.namespace, self.key.name, container, previous=self._previous)
        self.fetched = await RunLog(lines).with_levels()

    def got(self) -> None:
        self.said = [paragraph(_BEFORE, Tone.WARN)] if self._previous else []
        super().got()

    def open_view(self) -> None:
        """Whole where it fits; else from its end, for the newest lines are those that are wanted.

        One that is loaded again stays wrapped or cut, as the person wants it.
        """
        lines = self.query_one(LogLines)
        if not self._is_open:
            lines.wrap_where_it_fits()
            lines.wrap_if_narrow()
        self._is_open = True
        lines.to_end()

    def more_keys(self) -> list[tuple[str, str]]:
        pod = self._pod()
        is_restarted = pod is not None and restarts(pod) > 0
        return [("p", "this run" if self._previous else "previous run")] if is_restarted else []

    def rarer_keys(self) -> list[tuple[str, str]]:
        return [("ctrl+r", "reload")]

    def action_previous(self) -> None:
        self._previous = not self._previous
        self._fetch()

    def action_reload(self) -> None:
        self._fetch()


_BEFORE = "The run before the last restart."
_LOG_KEYS = (
    ("n N", "next and previous error; while a search is kept, its matches"),
    ("ctrl+z", "only the errors, or all lines"),
    ("w", "wrap long lines, or cut them"),
    ("left right", "move sideways in lines that are cut"),
    ("up down j k", "move; page up and down; g and G go to the ends"),
    ("ctrl+s", "save it to a file in the folder that foretop was started in"),
)


def _only_shown(window: type[LogViewer]) -> Viewer:
    """Its file is kept by nobody else."""
    return lambda service, key, keep: window(service, key)


VIEWERS: Mapping[str, Viewer] = {
    LOGS.id: _only_shown(LogViewer),
    NONADMIN_LOGS.id: _only_shown(LogViewer),
    RESOURCES.id: _only_shown(ResourceListViewer),
    RESULTS.id: ResultsDownload,
    NONADMIN_RESULTS.id: ResultsDownload,
}
"""By the action that fetches a file, its window."""
