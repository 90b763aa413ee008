"""`foretop get`: the rows of the screen on the command line, once or as they change."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Collection, Iterable
from typing import Any

import click

from foretop.commands.connection import connection_options
from foretop.commands.live_session import running_session, wait_synced
from foretop.commands.output import emit, say, table, warn
from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import BESIDE_VELERO, KINDS, NAB, NAR, Kind
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.triage import Finding
from foretop_core.rules.triage.ranking import rank
from foretop_core.session import WATCHED, Session
from foretop_core.tables.engine.columns import Row, View
from foretop_core.tables.engine.filter import parse_filter
from foretop_core.tables.engine.live_table import LiveTable
from foretop_core.tables.engine.render_context import RenderContext, RenderContextFactory
from foretop_core.tables.engine.view_registry import VIEWS
from foretop_core.tables.resources import findings
from foretop_core.tables.resources.json_items import Item, as_list, finding_item

_TABLES: dict[str, tuple[str, frozenset[str] | None]] = {
    "schedules": ("schedules", None),
    "backups": ("backups", None),
    "restores": ("restores", None),
    "nab": ("nonadmin", frozenset({NAB.name})),
    "nar": ("nonadmin", frozenset({NAR.name})),
    "nonadmin": ("nonadmin", None),
    "queue": ("queue", None),
    "storage": ("storage", None),
    "findings": ("findings", None),
}
_SAME = {"schedule": "schedules", "backup": "backups", "restore": "restores", "bsl": "storage"}
_EACH = 0.1
"""Changes are told at most ten times a second, findings looked for as often as something changed or a second passed."""


@click.command("get")
@click.argument("what", type=click.Choice([*_TABLES, *_SAME]))
@click.argument("wanted", nargs=-1, metavar="[FILTER]...")
@connection_options
@click.option(
    "-o", "--output", "form", type=click.Choice(["text", "wide", "json", "yaml"]), default="text", show_default=True
)
@click.option("-w", "--watch", is_flag=True, help="Watch for changes; with -o json, one event per line.")
def command(what: str, wanted: tuple[str, ...], wishes: SessionOptions, form: str, watch: bool) -> int:
    """The rows of a view: schedules, backups, restores, nab, nar, queue, storage or findings.

    FILTER is what the screen takes: text, !text, phase:Failed, -l app=x (put -- before it), -f fuzzy.
    """
    name = _SAME.get(what, what)
    if watch and form == "yaml":
        raise click.UsageError("--watch goes with text, wide and json")
    return asyncio.run(_get(name, " ".join(wanted), wishes, form, watch))


async def _get(name: str, wanted: str, wishes: SessionOptions, form: str, watch: bool) -> int:
    view_name, only = _TABLES[name]
    kinds = WATCHED if view_name == "findings" else _needed(VIEWS[view_name])
    async with running_session(wishes, kinds) as session:
        source = (
            FindingRows(session, wanted) if view_name == "findings" else ResourceRows(session, view_name, wanted, only)
        )
        if watch:
            await _watch(session, source, form)
            return 0
        _, bad = await wait_synced(session)
        warn(bad)
        _refuse_missing(session)
        source.pump()
        if form in ("json", "yaml"):
            emit(as_list(source.items().values()), form)
        else:
            _print(source, form == "wide", len(session.contexts) > 1)
        return 1 if bad else 0


def _refuse_missing(session: Session) -> None:
    """Where no cluster has a namespace that was asked for, an empty table would look like an answer."""
    missing = [set(session.store.health.context(name).missing) for name in session.contexts]
    nowhere = sorted(set.intersection(*missing)) if missing else []
    if nowhere and set(nowhere) >= set(session.namespaces):
        raise BadInput(f"Namespace {humanize.join(nowhere)} does not exist")


def _needed(view: type[View[Any]]) -> tuple[Kind, ...]:
    """Only the kinds that the view tells of; rights for the others are not needed."""
    return tuple(kind for kind in KINDS if kind.name in view.watched | view.beside and kind in WATCHED)


class ResourceRows:
    """The rows of a view of the store."""

    def __init__(self, session: Session, name: str, wanted: str, only: frozenset[str] | None) -> None:
        self.changed = asyncio.Event()
        view = VIEWS[name]()
        self._live: LiveTable[Any] = LiveTable(view, session.store, session.contexts, self.changed.set)
        self._live.filter(wanted)
        self._only = only
        self._scene = _scenes(session)
        self.titles = [(column.title, column.wide) for column in view.columns]
        self._session = session
        self._kinds = {kind for kind in KINDS if kind.name in (only or view.kinds)}

    @property
    def empty(self) -> str:
        """What was not seen may be there all the same, and Velero's own objects are in no team's namespace."""
        gaps = _not_seen(self._session, {"", *(kind.name for kind in self._kinds)})
        if gaps:
            return f"Nothing visible. Not visible: {gaps}."
        places = ", ".join(self._session.namespaces)
        if places and self._kinds <= BESIDE_VELERO:
            return f"Nothing in {places}. Velero's objects are in its own namespace: name that one, or omit -n."
        return f"Nothing in {places}." if places else "No resources found."

    def pump(self) -> None:
        self._live.pump()

    def items(self) -> dict[ObjectRef, Item]:
        view = self._live.view
        return {
            key: view.describe(key, entry, self._scene(key.context))
            for key, (_, entry) in self._live.table.window(0, len(self._live.table))
            if self._only is None or key.kind in self._only
        }

    def rows(self) -> list[Row]:
        painted = self._live.paint(0, len(self._live.table), self._scene)
        return [row for row in painted if self._only is None or row.key.kind in self._only]


class FindingRows:
    """The findings of all contexts exactly as Triage shows them: debounced, aggregated, with what cannot be seen."""

    def __init__(self, session: Session, wanted: str) -> None:
        self.changed = asyncio.Event()
        self._session = session
        self._state = DashboardState(session, time.monotonic)
        self._feed = session.store.feed.subscribe(None, self.changed.set)
        self._wanted = parse_filter(wanted, findings.FIELDS)
        self.titles = [(column.title, column.wide) for column in findings.COLUMNS]

    def pump(self) -> None:
        self._feed.drain()
        self._state.beat()
        self._state.judge(at_once=True)

    @property
    def empty(self) -> str:
        """What was not seen never counts as healthy."""
        gaps = _not_seen(self._session)
        return f"No problems in what is visible. Not visible: {gaps}." if gaps else "No problems."

    def _shown(self) -> list[Finding]:
        scene = self._state.render_context_of
        wanted = [one for one in self._state.findings if self._wanted(findings.facets(one, scene(one)))]
        return sorted(wanted, key=rank)

    def items(self) -> dict[ObjectRef, Item]:
        scene = self._state.render_context_of
        return {findings.key_of(found): finding_item(found, scene(found).now) for found in self._shown()}

    def rows(self) -> list[Row]:
        return [findings.paint(found, self._state.render_context_of(found)) for found in self._shown()]


def _not_seen(session: Session, kinds: Collection[str] | None = None) -> str:
    unseen = [gap for context in session.contexts for gap in session.snapshot(context).unseen]
    shown = [gap for gap in unseen if kinds is None or gap.kind in kinds]
    return ", ".join(f"{gap.kind or gap.context} ({gap.reason})" for gap in shown)


def _scenes(session: Session) -> Callable[[str], RenderContext]:
    stages = {name: RenderContextFactory(session.store, name) for name in session.contexts}
    return lambda context: stages[context].render_context(session.clock(context).now())


async def _watch(session: Session, source: ResourceRows | FindingRows, form: str) -> None:
    """First all that is there, then what changes, until it is interrupted; a lost API server is waited out."""
    told: dict[ObjectRef, Item] = {}
    while True:
        source.pump()
        items = source.items()
        events = [
            *(("ADDED", key, item) for key, item in items.items() if key not in told),
            *(("MODIFIED", key, item) for key, item in items.items() if key in told and told[key] != item),
            *(("DELETED", key, item) for key, item in told.items() if key not in items),
        ]
        _tell(events, source, form)
        told = items
        source.changed.clear()
        await asyncio.wait({asyncio.ensure_future(source.changed.wait())}, timeout=1.0)
        await asyncio.sleep(_EACH)


def _tell(events: Iterable[tuple[str, ObjectRef, Item]], source: ResourceRows | FindingRows, form: str) -> None:
    if form == "json":
        for kind, _, item in events:
            sys.stdout.write(
                json.dumps({"type": kind, "object": item}, separators=(",", ":"), ensure_ascii=False) + "\n"
            )
    else:
        painted = {row.key: row for row in source.rows()}
        for kind, key, item in events:
            row = painted.get(key)
            cells = [cell.text for cell in row.cells] if row else [item["namespace"], item["name"]]
            say("  ".join([kind.ljust(8), *cells]))
    sys.stdout.flush()


def _print(source: ResourceRows | FindingRows, wide: bool, several: bool) -> None:
    rows = source.rows()
    shown = [at for at, (_, only_wide) in enumerate(source.titles) if wide or not only_wide]
    head = [*(["CONTEXT"] if several else []), *(source.titles[at][0] for at in shown)]
    lines = [[*([row.key.context] if several else []), *(row.cells[at].text for at in shown)] for row in rows]
    if lines:
        table(head, lines, indent="")
    else:
        say(source.empty)
