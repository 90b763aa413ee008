"""`foretop get`: the rows of the screen on the command line, once or as they change."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from foretop.commands.connection import connection_options, from_files
from foretop.commands.finding_sentences import FindingSentences, why_untold
from foretop.commands.help_examples import OwnOptionsFirst, example
from foretop.commands.live_session import running_session, wait_evidence, wait_synced
from foretop.commands.output import emit, say, say_signed, say_to, table, warn, without_controls
from foretop.commands.view_rows import FindingRows, PrintedTable, ResourceRows, RowChange, row_changes
from foretop_core.errors import BadInput, ForetopError
from foretop_core.foreign_text import redacted_values
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.late import Late
from foretop_core.models.kinds import DEPLOYMENT, KINDS, ON_DEMAND, SCHEDULE, STORAGE, Kind, by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import GET_TABLES
from foretop_core.room_finder import rooms
from foretop_core.rules import humanize
from foretop_core.session import WATCHED, Session
from foretop_core.tables.engine.json_items import Item, as_list
from foretop_core.tables.engine.view import Row, TableView, View, table_view

_FORMS = ("text", "wide", "json", "yaml", "name")
_ABSENT = object()
_OF_ROOMS: Mapping[str, str] = {
    word: rows for room in rooms("foretop") for word, rows in getattr(room, "GET", {}).items()
}
"""By what one types, the rows of a time that a room prints: a `PrintedTable` of session, filter and length."""
_USUAL_SINCE = timedelta(hours=1)


def sort_items(items: Mapping[ObjectRef, Item], path: str) -> dict[ObjectRef, Item]:
    """Sorted by a field such as `.name`, the smallest first, those without it last."""
    fields = path.strip("{} ").removeprefix(".").split(".")
    values = {key: _field(item, fields) for key, item in items.items()}
    if values and all(value is _ABSENT for value in values.values()):
        first = next(iter(items.values()))
        names = ", ".join(sorted(name for name, value in first.items() if not isinstance(value, dict | list)))
        raise click.UsageError(f"--sort-by: no item has the field {'.'.join(fields)}; the fields are {names}")
    return dict(sorted(items.items(), key=lambda pair: _sort_key(values[pair[0]])))


def _field(item: Any, fields: Sequence[str]) -> Any:
    for name in fields:
        item = item.get(name, _ABSENT) if isinstance(item, Mapping) else _ABSENT
    return item


def _sort_key(value: Any) -> tuple[Any, ...]:
    """Numbers before texts, so that any two can be compared."""
    if value is None or value is _ABSENT:
        return (2,)
    return (0, value) if isinstance(value, int | float) else (1, str(value))


def object_names(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """`schedule.velero.io/daily`, as kubectl takes it; what is about no object of the API is left out."""
    names = []
    for item in items:
        kind = by_name(item["kind"])
        if kind is not None and item["name"]:
            group = f".{kind.group}" if kind.group else ""
            names.append(f"{kind.name.lower()}{group}/{item['name']}")
    return list(dict.fromkeys(names))


_ON_DEMAND = frozenset(kind.name for kind in ON_DEMAND)
_WITH_SERVERS = (SCHEDULE, STORAGE, DEPLOYMENT)
"""The kinds that show in which namespaces Velero servers are."""


_NO_NAMESPACES = "you are not allowed to list and watch namespaces"


class PrintedRows(msgspec.Struct, frozen=True):
    """The order and form in which rows are printed."""

    form: str
    headers: bool
    sort_by: str | None


@click.command("get", cls=OwnOptionsFirst, epilog=example("foretop get backups phase:Failed --sort-by .started"))
@click.argument("what", type=click.Choice([*GET_TABLES, *_OF_ROOMS]))
@click.argument("wanted", nargs=-1, metavar="[FILTER]...")
@connection_options
@from_files
@click.option(
    "-o", "--output", "form", type=click.Choice(_FORMS), default="text", show_default=True, help="Output format."
)
@click.option("-w", "--watch", is_flag=True, help="Watch for changes; with -o json, one event per line.")
@click.option("-l", "--selector", "labels", metavar="LABELS", help="Only objects with these labels.")
@click.option("--sort-by", metavar="PATH", help="Sort by a field of -o json, such as .name.")
@click.option("--no-headers", is_flag=True, help="Print no line of column titles.")
@click.option("--since", metavar="DURATION", help="With changes: how far back, such as 30m; 1h if omitted.")
@click.option("--plain", is_flag=True, help="With findings: one sentence each, and with --watch one for each change.")
def command(
    what: str,
    wanted: tuple[str, ...],
    session_options: SessionOptions,
    form: str,
    watch: bool,
    labels: str | None,
    sort_by: str | None,
    no_headers: bool,
    since: str | None,
    plain: bool,
) -> int:
    """The rows of a view, such as schedules, backups, nab, queue, storage, pods, movements, findings or changes.

    FILTER is what the screen takes: text, !text, phase:Failed, -f fuzzy (put -- before it).
    """
    if since is not None and what not in _OF_ROOMS:
        raise click.UsageError("--since goes with changes")
    if watch and form not in ("text", "wide", "json"):
        raise click.UsageError("--watch goes with text, wide and json")
    page, only = GET_TABLES.get(what, (None, ""))
    if plain and (page is None or page.id != "triage" or form != "text"):
        raise click.UsageError("--plain goes with findings, as text")
    if watch and sort_by:
        raise click.UsageError("--watch prints changes as they come; omit --sort-by")
    chosen = PrintedRows(form, not no_headers, sort_by)
    text = " ".join([*wanted, *([f"-l '{labels}'"] if labels else [])])
    if page is None:
        length = humanize.read_duration(since) if since else _USUAL_SINCE
        if length is None:
            raise click.UsageError(f"--since {since!r} is not a duration such as 30m or 12h")
        return asyncio.run(
            _get_of_room(lambda session: Late(_OF_ROOMS[what])(session, text, length), session_options, chosen, watch)
        )
    return asyncio.run(
        _get(table_view(page), frozenset({only}) if only else None, text, session_options, chosen, watch, plain)
    )


async def _get(
    view: TableView[Any],
    only: frozenset[str] | None,
    wanted: str,
    session_options: SessionOptions,
    chosen: PrintedRows,
    watch: bool,
    plain: bool,
) -> int:
    watched = view.watched if isinstance(view, View) else frozenset()
    if view.with_velero:
        session_options = replace(session_options, with_velero=True)
    async with running_session(session_options, _needed(view)) as session:
        source = ResourceRows(session, view, wanted, only) if isinstance(view, View) else FindingRows(session, wanted)
        if on_demand := watched & _ON_DEMAND:
            await wait_synced(session)
            session.watch_on_demand(on_demand)
        if watch:
            await _watch(source, chosen, session, plain)
            return 0
        _, bad = await (wait_synced(session) if isinstance(view, View) else wait_evidence(session))
        bad += _namespaces_unseen(session) if view.name == "protection" else []
        warn(bad)
        source.pump()
        # A deleted namespace has a row of its own where copies of it are left.
        if view.name != "protection" or not source.items():
            _refuse_missing(session)
        _print(source, chosen, session, plain)
        return 1 if bad else 0


async def _get_of_room(
    make: Callable[[Session], PrintedTable], session_options: SessionOptions, chosen: PrintedRows, watch: bool
) -> int:
    async with running_session(replace(session_options, with_velero=True)) as session:
        source = make(session)
        if watch:
            await _watch(source, chosen, session, plain=False)
            return 0
        _, bad = await wait_synced(session)
        warn(bad)
        source.pump()
        _print(source, chosen, session, plain=False)
        for note in source.notes:
            say_to(note, err=True)
        return 1 if bad else 0


def _namespaces_unseen(session: Session) -> list[ForetopError]:
    """Warns where namespaces may not be listed: one without any backup is in no row then."""
    clients = session.connections.clients
    return [
        ForetopError(
            f"Not all namespaces of {context} are shown",
            "they are not in the archive" if clients[context].origin else _NO_NAMESPACES,
        )
        for context in session.contexts
        if session.snapshot(context).namespaces is None
    ]


def _refuse_missing(session: Session) -> None:
    """Refuses a namespace that no cluster has: an empty table would look like an answer."""
    missing = [set(session.store.health.context(name).missing) for name in session.contexts]
    nowhere = sorted(set.intersection(*missing)) if missing else []
    if nowhere and set(nowhere) >= set(session.namespaces):
        raise BadInput(f"Namespace {humanize.join(nowhere)} does not exist")


def _needed(view: TableView[Any]) -> tuple[Kind, ...]:
    """Only the kinds that the view tells of; rights for the others are not needed."""
    if not isinstance(view, View):
        return WATCHED
    if view.kinds & _ON_DEMAND:
        return _WITH_SERVERS
    named = view.watched | view.context_kinds
    # Where something is watched on demand, the servers must be found first.
    beside = _WITH_SERVERS if named & _ON_DEMAND else ()
    return tuple(kind for kind in KINDS if (kind.name in named or kind in beside) and kind in WATCHED)


async def _watch(source: PrintedTable, chosen: PrintedRows, session: Session, plain: bool) -> None:
    sentences = FindingSentences(why_untold(session))
    async for changes in row_changes(source):
        if plain:
            for _, line in sentences.of(changes):
                say(line)
        else:
            _tell(changes, source, chosen.form)
        sys.stdout.flush()


def _tell(changes: Iterable[RowChange], source: PrintedTable, form: str) -> None:
    if form == "json":
        for change in changes:
            event = {"type": change.type, "object": change.item}
            text = json.dumps(redacted_values(event), separators=(",", ":"), ensure_ascii=False)
            sys.stdout.write(without_controls(text) + "\n")
        return
    painted = {row.key: row for row in source.rows()}
    for change in changes:
        row = painted.get(change.key)
        cells = [cell.text for cell in row.cells] if row else [change.item["namespace"], change.item["name"]]
        say_signed("  ".join([change.type.ljust(8), *cells]))


def _print(source: PrintedTable, chosen: PrintedRows, session: Session, plain: bool) -> None:
    items = source.items()
    if chosen.sort_by is not None:
        items = sort_items(items, chosen.sort_by)
    if plain:
        for _, line in FindingSentences(why_untold(session)).of(
            [RowChange("ADDED", key, item) for key, item in items.items()]
        ):
            say(line)
        if not items:
            say(source.empty)
    elif chosen.form in ("json", "yaml"):
        emit(as_list(items.values()), chosen.form)
    elif chosen.form == "name":
        for name in object_names(list(items.values())):
            say(name)
    else:
        rows = {row.key: row for row in source.rows()}
        _print_table(source, [rows[key] for key in items if key in rows], chosen, len(session.contexts) > 1)


def _print_table(source: PrintedTable, rows: list[Row], chosen: PrintedRows, several: bool) -> None:
    wide = chosen.form == "wide"
    shown = [index for index, (_, only_wide) in enumerate(source.titles) if wide or not only_wide]
    head = [*(["CONTEXT"] if several else []), *(source.titles[index][0] for index in shown)]
    lines = [[*([row.key.context] if several else []), *(row.cells[index].text for index in shown)] for row in rows]
    if lines:
        table(head, lines, indent="", headers=chosen.headers, signed=frozenset(range(len(head))))
    else:
        say(source.empty)
