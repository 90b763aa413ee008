"""All that foretop shows of one situation: pages, panes, details, dialogs, the header, every report and JSON."""

from __future__ import annotations

import io
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import UTC, timedelta
from functools import cached_property
from tempfile import NamedTemporaryFile
from typing import Any

import click
import msgspec
from click.testing import CliRunner

from foretop.commands import forecast, next_runs, report
from foretop.dialogs.pause_dialogs import choice_summary
from foretop.main_screen.status_line_text import status
from foretop.panes.calendar_pane import lane_pane
from foretop.panes.detail_sections import describe
from foretop.panes.nonadmin_pane import nonadmin_pane
from foretop.panes.protection_pane import protection_pane
from foretop.panes.runs_pane import backup_pane, queue_pane, restore_pane
from foretop.panes.schedule_pane import schedule_pane
from foretop.panes.storage_pane import place_pane
from foretop.panes.triage_pane import calm, finding_pane
from foretop.panes.volumes_section import movement_pane
from foretop.widgets.paragraphs import Paragraph
from foretop_core.actions.planners.backups import plan_back_up_now
from foretop_core.actions.planners.pausing import plan_unpause
from foretop_core.dashboard.findings_table import FindingsTableModel
from foretop_core.dashboard.handover import Handover, handover_text
from foretop_core.dashboard.plan_table import unpause_choices
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, Restore, Schedule, from_builtins
from foretop_core.models.kinds import BACKUP, KINDS, SCHEDULE
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import PAGES
from foretop_core.rules.cron_dialects import GivenVersions
from foretop_core.rules.facts.run_facts import QueueLine, queue_line
from foretop_core.rules.facts.schedule_facts import Choice, schedule_facts
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.night.night import night
from foretop_core.store import Store
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.night_words import lane_words
from foretop_core.tables.timeline.timeline_model import TimelineModel
from tests.agreement.situations import Situation
from tests.tui.fake_source import FilledSource

CONTEXT = ""
"""A file has no context; with the same one the dashboard's findings have the same ids."""
MOST_PANES = 12
"""So many objects of a page have their pane and detail looked at, at random."""
_PANES: Mapping[str, Any] = {
    "schedules": schedule_pane,
    "queue": queue_pane,
    "nonadmin": nonadmin_pane,
    "protection": protection_pane,
    "backups": backup_pane,
    "storage": place_pane,
    "movements": movement_pane,
}


class UnpauseDialog(msgspec.Struct, frozen=True):
    """What the dialog says of unpausing one schedule with one choice, and what `Back up now` says of it."""

    summary: str
    step: str
    backup_now: str
    by_hand: str


class Surfaces:
    """One dashboard and every command on one situation; each surface is drawn when it is first asked for."""

    def __init__(self, situation: Situation, chance: random.Random) -> None:
        self.situation = situation
        self.now = situation.now
        self._chance = chance
        source = FilledSource([], (CONTEXT,), situation.now)
        source.store = Store(GivenVersions({"": situation.version} if situation.version else {}))
        for kind in KINDS:
            source.store.sink(WatchScope(CONTEXT, kind), source.manual).health(
                WatchHealth(WatchState.LIVE, situation.now)
            )
        source.store.fill(CONTEXT, situation.objects, source.manual)
        self.state = DashboardState(source, lambda: 0.0)
        self.state.judge(at_once=True)
        self.state.begin_frame()
        self._models: dict[str, StoreTableModel] = {}
        self._rows: dict[str, dict[ObjectRef, dict[str, str]]] = {}
        self._items: dict[str, dict[ObjectRef, Mapping[str, Any]]] = {}
        self._panes: dict[str, dict[ObjectRef, str]] = {}

    def model(self, page: str) -> StoreTableModel:
        if page not in self._models:
            self._models[page] = StoreTableModel(self.state, PAGES[page].load_view()())
        return self._models[page]

    def rows(self, page: str) -> Mapping[ObjectRef, Mapping[str, str]]:
        """The cells of each row of a page by the name of their column, and its sign as `glyph`."""
        if page not in self._rows:
            model = self.model(page)
            names = [column.name for column in model.columns]
            self._rows[page] = {
                row.key: {"glyph": row.mark.value, **dict(zip(names, (cell.text for cell in row.cells), strict=True))}
                for row in model.paint(0, 100_000)
            }
        return self._rows[page]

    def items(self, page: str) -> Mapping[ObjectRef, Mapping[str, Any]]:
        """What `get -o json` prints of each row."""
        if page not in self._items:
            model = self.model(page)
            self._items[page] = {key: model.item(key) for key, _ in model.ordered()}
        return self._items[page]

    def made(self, key: ObjectRef) -> str:
        """When an object was made, as the API writes it; "" where nothing tells."""
        item = self.state.store.get(key)
        return rfc3339(item.created) or "" if item is not None else ""

    def panes(self, page: str) -> Mapping[ObjectRef, str]:
        """The pane below a page for some of its rows."""
        if page not in self._panes:
            model, render = self.model(page), self.state.render_context(CONTEXT)
            entries = [*model.ordered()]
            if page == "nonadmin":  # Most of them ended long ago, and there is little to say of those.
                queued = {key for key, row in self.rows(page).items() if row["queue"] != "–"}
                waiting = self._some([one for one in entries if one[0] in queued])
                entries = [*waiting, *self._some([one for one in entries if one[0] not in queued])]
            else:
                entries = self._some(entries)
            self._panes[page] = {key: text_of(self._pane(page, entry, render)) for key, entry in entries}
        return self._panes[page]

    def _pane(self, page: str, entry: Any, render: Any) -> Sequence[Paragraph]:
        if isinstance(entry, Restore) and page == "restores":
            return restore_pane(entry, render)
        return _PANES[page](entry, render)  # type: ignore[no-any-return]

    def described(self, page: str) -> Mapping[ObjectRef, str]:
        """What `foretop describe` prints of the rows whose pane was looked at."""
        found = {key: self.state.store.get(key) for key in self.panes(page)}
        return {
            key: text_of(describe(self.state, key, item, once=True)) for key, item in found.items() if item is not None
        }

    def _some(self, entries: list[Any]) -> list[Any]:
        return entries if len(entries) <= MOST_PANES else self._chance.sample(entries, MOST_PANES)

    @cached_property
    def findings(self) -> FindingsTableModel:
        model = FindingsTableModel(self.state)
        model.pump()
        return model

    @cached_property
    def triage_rows(self) -> Mapping[str, Mapping[str, str]]:
        """By the id of the finding."""
        names = [column.name for column in self.findings.columns]
        return {
            finding.id: {
                "glyph": row.mark.value,
                **dict(zip(names, (cell.text for cell in row.cells), strict=True)),
            }
            for (_, finding), row in zip(self.findings.ordered(), self.findings.paint(0, 100_000), strict=True)
        }

    @cached_property
    def triage_items(self) -> Mapping[str, Mapping[str, Any]]:
        return {finding.id: self.findings.item(key) for key, finding in self.findings.ordered()}

    @cached_property
    def triage_panes(self) -> Mapping[str, str]:
        return {
            finding.id: text_of(finding_pane(finding, self.state.render_context_of(finding)))
            for _, finding in self.findings.ordered()
        }

    @cached_property
    def severity_by_object(self) -> Mapping[ObjectRef, str]:
        """The gravest finding of Triage about each object, those in a line of many as well."""
        found: dict[ObjectRef, str] = {}
        for _, finding in self.findings.ordered():
            for one in finding.members or (finding,):
                found[one.subject] = min(found.get(one.subject, one.severity.value), one.severity.value)
        return found

    @cached_property
    def calm(self) -> str:
        """The all-clear of Triage; empty where something is wrong."""
        return "\n".join("".join(span.text for span in line) for line in calm(self.state))

    @cached_property
    def header(self) -> str:
        line, _ = status(self.state, DisplayOptions(), "all namespaces", 200)
        return "".join(span.text for span in line)

    @cached_property
    def handover(self) -> str:
        snapshot = self.state.store.snapshot(CONTEXT)
        told = Handover(((snapshot, self.now),), self.state.findings, self.state.acknowledged, self.state.unseen, ())
        return handover_text(told, UTC)

    @cached_property
    def lanes(self) -> Mapping[ObjectRef, str]:
        """The pane of each schedule on the calendar."""
        calendar = TimelineModel(self.state.store, (CONTEXT,))
        return {
            key: text_of(lane_pane(calendar[key], self.state))
            for key in self.rows("schedules")
            if key.kind == SCHEDULE.name
        }

    @cached_property
    def lane_ends(self) -> Mapping[ObjectRef, str]:
        """The end of each backup at work as its lane on the calendar tells it, by a night that is a minute old."""
        snapshot, render = self.state.store.snapshot(CONTEXT), self.state.render_context(CONTEXT)
        found: dict[ObjectRef, str] = {}
        for namespace in snapshot.velero_namespaces:
            shown = ServerNight(CONTEXT, night(snapshot, namespace, self.now - timedelta(minutes=1), draws=0))
            told = (run for key in shown.foreseen for run in shown.told_runs(key, render))
            for run in told:
                words = lane_words(shown, (run,), self.now, UTC) if run.is_running else None
                if words is not None and words.ends:
                    found[ObjectRef(CONTEXT, BACKUP.name, namespace, run.name)] = words.ends
        return found

    def _command(self, command: click.Command, *options: str) -> str:
        """What a command prints about a file with all objects of the situation."""
        version = ("--velero-version", self.situation.version) if self.situation.version else ()
        with NamedTemporaryFile(suffix=".json") as file:
            file.write(msgspec.json.encode({"kind": "List", "items": self.situation.manifests}))
            file.flush()
            done = CliRunner().invoke(command, ["-f", file.name, *version, *options])
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.stdout

    @cached_property
    def report(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = msgspec.json.decode(
            self._command(report.command, "--at", self.now.isoformat(), "-o", "json")
        )
        return found

    @cached_property
    def report_text(self) -> str:
        return printed(lambda: report.print_report({**self.report, "notSeen": []}, self.now))

    @cached_property
    def next_items(self) -> Mapping[tuple[str, str], Mapping[str, Any]]:
        """What `next -f` says of each schedule."""
        if not self.rows("schedules"):
            return {}
        said = self._command(next_runs.command, "--from", self.now.isoformat(), "--count", "4", "-o", "json")
        items = msgspec.json.decode(said)["items"]
        return {(item["namespace"], item["name"]): item for item in items if item["kind"] == SCHEDULE.name}

    @cached_property
    def foreseen(self) -> Sequence[Mapping[str, Any]]:
        """What `forecast -f` says of each server."""
        said = self._command(forecast.command, "--at", self.now.isoformat(), "--hours", "1", "-o", "json")
        found: Sequence[Mapping[str, Any]] = msgspec.json.decode(said)["servers"]
        return found

    @cached_property
    def dialogs(self) -> Mapping[ObjectRef, Mapping[Choice, UnpauseDialog]]:
        """The unpause dialog of each paused schedule, by choice."""
        snapshot = self.state.store.snapshot(CONTEXT)
        found: dict[ObjectRef, dict[Choice, UnpauseDialog]] = {}
        for schedule in self._some([item for item in snapshot.schedules if item.spec.paused]):
            facts = schedule_facts(snapshot, schedule, self.now)
            table = unpause_choices(facts, self._line, tuple(Choice), [choice.name for choice in Choice])
            cells = {row[0].text: row[1].text for row in table.rows}
            (by_hand,) = plan_back_up_now(snapshot, [schedule], self.now).steps
            told = {}
            for choice in Choice:
                (step,) = plan_unpause(snapshot, [schedule], choice, self.now).steps
                summary = choice_summary([facts], choice)
                told[choice] = UnpauseDialog(summary, step.forecast, cells[choice.name], by_hand.forecast)
            found[snapshot.ref(schedule)] = told
        return found

    def _line(self, context: str, namespace: str, planned: Sequence[Backup]) -> QueueLine:
        return queue_line(self.state.store.snapshot(context), namespace, self.now, planned=planned)

    def unpause_all(self, choice: Choice) -> str:
        """The line of a choice in the dialog that unpauses all that are paused."""
        snapshot = self.state.store.snapshot(CONTEXT)
        paused = [item for item in snapshot.schedules if item.spec.paused]
        return choice_summary([schedule_facts(snapshot, item, self.now) for item in paused], choice)

    @cached_property
    def back_up_now(self) -> tuple[ObjectRef, str, Surfaces] | None:
        """A backup that is made now from some schedule, what the dialog says of it, and all that is shown then.

        Under a name of its own: one that is named like a scheduled backup tells of a look of Velero that was none.
        """
        snapshot = self.state.store.snapshot(CONTEXT)
        if not snapshot.schedules:
            return None
        chosen: Schedule = self._chance.choice(snapshot.schedules)
        (step,) = plan_back_up_now(snapshot, [chosen], self.now, "by-hand").steps
        body = msgspec.json.decode(msgspec.json.encode(step.write.body))
        body["metadata"]["creationTimestamp"] = rfc3339(self.now)
        made = from_builtins(Backup, {part: body[part] for part in ("metadata", "spec")})
        then = msgspec.structs.replace(
            self.situation,
            objects=(*self.situation.objects, made),
            manifests=(*self.situation.manifests, body),
        )
        return snapshot.ref(made), step.forecast, Surfaces(then, self._chance)


def text_of(paragraphs: Iterable[Paragraph]) -> str:
    """A line for each paragraph, with its label."""
    return "\n".join(f"{one.label} {''.join(span.text for span in one.spans)}".strip() for one in paragraphs)


def printed(prints: Any) -> str:
    found = io.StringIO()
    with redirect_stdout(found):
        prints()
    return found.getvalue()
