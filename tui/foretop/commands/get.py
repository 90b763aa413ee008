"""`foretop get`: the rows of the screen on the command line, once or as they change."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem
from msgspec.structs import replace

from foretop.commands.connection import connection_options
from foretop.commands.finding_sentences import FindingSentences
from foretop.commands.help_examples import example
from foretop.commands.live_session import running_session, wait_synced
from foretop.commands.output import emit, say, table, warn, without_controls
from foretop.commands.view_rows import FindingRows, PrintedTable, ResourceRows, RowChange, row_changes
from foretop_core.errors import BadInput, ForetopError, nearest
from foretop_core.kube.connection.config import SessionOptions
from foretop_core.models.kinds import DEPLOYMENT, KINDS, ON_DEMAND, SCHEDULE, STORAGE, Kind, by_name
from foretop_core.models.wire import ObjectRef
from foretop_core.pages import GET_TABLES
from foretop_core.rules import humanize
from foretop_core.session import WATCHED, Session
from foretop_core.tables.engine.json_items import Item, as_list
from foretop_core.tables.engine.jsonpath import JsonPath, parse_jsonpath, parse_relaxed
from foretop_core.tables.engine.selectors import FieldSelector, parse_field_selector
from foretop_core.tables.engine.view import Row, TableView, View, table_view
from foretop_core.tables.text.terminal_text import clean, pad, width

_LEAST, _GAP = 6, 3
"""The widths of kubectl's tables."""


class CustomColumns(msgspec.Struct, frozen=True):
    """Headers, and the path that fills each."""

    columns: tuple[tuple[str, JsonPath], ...]

    def lines(self, items: Iterable[Mapping[str, Any]], *, headers: bool = True) -> list[str]:
        rows = [[clean(_cell(path.values(item))) for _, path in self.columns] for item in items]
        return kubectl_table([*([[title for title, _ in self.columns]] if headers else []), *rows])


def parse_columns(spec: str) -> CustomColumns:
    """Understands the columns, or says in one line what is wrong with them."""
    found = []
    for part in _split(spec):
        title, colon, path = part.partition(":")
        if not title or not colon or not path:
            raise BadInput(f"custom-columns {spec!r} cannot be used", f"{part!r} is not HEADER:PATH")
        found.append((title, parse_relaxed(path)))
    return CustomColumns(tuple(found))


def kubectl_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns as wide as kubectl draws them; the last one is not padded."""
    if not rows:
        return []
    widths = [max(_LEAST, max(width(row[at]) for row in rows) + _GAP) for at in range(len(rows[0]))]
    return ["".join(pad(cell, cells) for cell, cells in zip(row[:-1], widths, strict=False)) + row[-1] for row in rows]


def _split(spec: str) -> list[str]:
    """At the commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in spec:
        depth += {"[": 1, "]": -1}.get(sign, 0)
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _cell(values: Sequence[Any]) -> str:
    known = [value for value in values if value is not None]
    return ",".join(_go_text(value) for value in known) if known else "<none>"


def _go_text(value: Any) -> str:
    """As Go prints a value: `map[a:1 b:2]`, `[x y]`, `true`."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return str(value).lower()
        case dict():
            return f"map[{' '.join(f'{key}:{_go_text(held)}' for key, held in sorted(value.items()))}]"
        case list():
            return f"[{' '.join(map(_go_text, value))}]"
        case _:
            return str(value)


_PLAIN = ("text", "wide", "json", "yaml", "name")
_WITH_VALUE = ("jsonpath", "custom-columns")
_REFUSED = ("go-template", "go-template-file", "jsonpath-as-json", "jsonpath-file", "custom-columns-file", "kyaml")


class OutputForm(msgspec.Struct, frozen=True):
    """One form, with its template or columns where it has any."""

    name: str = "text"
    template: JsonPath | None = None
    columns: CustomColumns | None = None


class OutputFormType(click.ParamType[OutputForm]):
    """`-o FORM`: what kubectl has and foretop does not is refused by its name."""

    name = "form"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> OutputForm:
        if isinstance(value, OutputForm):
            return value
        form, _, rest = str(value).partition("=")
        if form == "jsonpath" and not rest:
            raise click.BadParameter("jsonpath needs a template, such as jsonpath={.items[*].name}", ctx, param)
        if form == "jsonpath":
            return OutputForm(form, template=parse_jsonpath(rest))
        if form == "custom-columns":
            return OutputForm(form, columns=parse_columns(rest))
        if value in _PLAIN:
            return OutputForm(value)
        known = ", ".join((*_PLAIN, *(f"{one}=…" for one in _WITH_VALUE)))
        if form in _REFUSED:
            raise click.BadParameter(f"{form} is not supported; the forms are {known}", ctx, param)
        closest = nearest(form, (*_PLAIN, *_WITH_VALUE))
        raise click.BadParameter(f"{form!r} is not a form{closest}", ctx, param)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        forms = (*_PLAIN, *(f"{one}=" for one in _WITH_VALUE))
        return [CompletionItem(form) for form in forms if form.startswith(incomplete)]


class SortOrder(msgspec.Struct, frozen=True):
    """`--sort-by PATH`: a field of the items, the smallest first, those without it last."""

    path: JsonPath

    @classmethod
    def read(cls, text: str) -> SortOrder:
        return cls(parse_relaxed(text))

    def check(self, items: Sequence[Mapping[str, Any]]) -> None:
        if items and not any(self.path.values(item) for item in items):
            known = ", ".join(sorted(name for name, value in items[0].items() if not isinstance(value, dict | list)))
            raise click.UsageError(f"--sort-by: no item has the field {self.path.source}; the fields are {known}")

    def sort_key(self, item: Mapping[str, Any]) -> tuple[Any, ...]:
        """The sort key of an item: numbers before texts, so that any two can be compared."""
        found = next((value for value in self.path.values(item) if value is not None), None)
        if found is None:
            return (2,)
        return (0, found) if isinstance(found, int | float) else (1, str(found))


def object_names(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """`schedule.velero.io/daily`, as kubectl takes it; what is about no object of the API is left out."""
    found = []
    for item in items:
        kind = by_name(item["kind"])
        if kind is not None and item["name"]:
            group = f".{kind.group}" if kind.group else ""
            found.append(f"{kind.name.lower()}{group}/{item['name']}")
    return list(dict.fromkeys(found))


_ON_DEMAND = frozenset(kind.name for kind in ON_DEMAND)
_WITH_SERVERS = (SCHEDULE, STORAGE, DEPLOYMENT)
"""The kinds that show in which namespaces Velero servers are."""


class PrintedRows(msgspec.Struct, frozen=True):
    """Which rows are printed, in which order and form."""

    form: OutputForm
    headers: bool
    fields: FieldSelector
    order: SortOrder | None

    def items(self, source: PrintedTable) -> dict[ObjectRef, Item]:
        found = source.items()
        for item in found.values():
            self.fields.check(item)
            break
        kept = {key: item for key, item in found.items() if self.fields.keeps(item)}
        if self.order is None:
            return kept
        self.order.check(list(kept.values()))
        sort_key = self.order.sort_key
        return dict(sorted(kept.items(), key=lambda pair: sort_key(pair[1])))


@click.command(
    "get",
    epilog=example("foretop get backups --field-selector phase=Failed -o custom-columns=NAME:.name,WHY:.failureReason"),
)
@click.argument("what", type=click.Choice([*GET_TABLES]))
@click.argument("wanted", nargs=-1, metavar="[FILTER]...")
@connection_options
@click.option(
    "-o",
    "--output",
    "form",
    type=OutputFormType(),
    default="text",
    show_default=True,
    metavar="FORM",
    help="text, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=HEADER:PATH,…",
)
@click.option("-w", "--watch", is_flag=True, help="Watch for changes; with -o json, one event per line.")
@click.option("-l", "--selector", "labels", metavar="LABELS", help="Only objects with these labels.")
@click.option("--field-selector", metavar="FIELD=VALUE", help="Only rows whose field has this value; also !=.")
@click.option("--sort-by", metavar="PATH", help="Sort by a field of -o json, such as .name.")
@click.option("--no-headers", is_flag=True, help="Print no line of column titles.")
@click.option("--plain", is_flag=True, help="With findings: one sentence each, and with --watch one for each change.")
def command(
    what: str,
    wanted: tuple[str, ...],
    session_options: SessionOptions,
    form: OutputForm,
    watch: bool,
    labels: str | None,
    field_selector: str | None,
    sort_by: str | None,
    no_headers: bool,
    plain: bool,
) -> int:
    """The rows of a view, such as schedules, backups, nab, queue, storage, pods, movements or findings.

    FILTER is what the screen takes: text, !text, phase:Failed, -f fuzzy (put -- before it). Paths, templates and
    field selectors read the fields that -o json prints.
    """
    page, only = GET_TABLES[what]
    if watch and form.name not in ("text", "wide", "json"):
        raise click.UsageError("--watch goes with text, wide and json")
    if plain and (page.id != "triage" or form.name != "text"):
        raise click.UsageError("--plain goes with findings, as text")
    if watch and sort_by:
        raise click.UsageError("--watch prints changes as they come; omit --sort-by")
    chosen = PrintedRows(
        form,
        not no_headers,
        parse_field_selector(field_selector or ""),
        SortOrder.read(sort_by) if sort_by else None,
    )
    text = " ".join([*wanted, *([f"-l '{labels}'"] if labels else [])])
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
            await _watch(source, chosen, plain)
            return 0
        _, bad = await wait_synced(session)
        bad += _namespaces_unseen(session) if view.name == "protection" else []
        warn(bad)
        await source.refresh()
        # A deleted namespace has a row of its own where copies of it are left.
        if view.name != "protection" or not source.items():
            _refuse_missing(session)
        _print(source, chosen, session, plain)
        return 1 if bad else 0


def _namespaces_unseen(session: Session) -> list[ForetopError]:
    """Warns where namespaces may not be listed: one without any backup is in no row then."""
    why = "you are not allowed to list and watch namespaces"
    return [
        ForetopError(f"Not all namespaces of {context} are shown", why)
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
    if view.watched & _ON_DEMAND:
        return _WITH_SERVERS
    return tuple(kind for kind in KINDS if kind.name in view.watched | view.context_kinds and kind in WATCHED)


async def _watch(source: PrintedTable, chosen: PrintedRows, plain: bool) -> None:
    sentences = FindingSentences()
    async for changes in row_changes(source):
        kept = [change for change in changes if chosen.fields.keeps(change.item)]
        if plain:
            for _, line in sentences.of(kept):
                say(line)
        else:
            _tell(kept, source, chosen.form.name)
        sys.stdout.flush()


def _tell(changes: Iterable[RowChange], source: PrintedTable, form: str) -> None:
    if form == "json":
        for change in changes:
            event = {"type": change.type, "object": change.item}
            sys.stdout.write(without_controls(json.dumps(event, separators=(",", ":"), ensure_ascii=False)) + "\n")
        return
    painted = {row.key: row for row in source.rows()}
    for change in changes:
        row = painted.get(change.key)
        cells = [cell.text for cell in row.cells] if row else [change.item["namespace"], change.item["name"]]
        say("  ".join([change.type.ljust(8), *cells]))


def _print(source: PrintedTable, chosen: PrintedRows, session: Session, plain: bool) -> None:
    items = chosen.items(source)
    form = chosen.form
    if plain:
        for _, line in FindingSentences().of([RowChange("ADDED", key, item) for key, item in items.items()]):
            say(line)
        if not items:
            say(source.empty)
    elif form.name in ("json", "yaml"):
        emit(as_list(items.values()), form.name)
    elif form.name == "name":
        for name in object_names(list(items.values())):
            say(name)
    elif form.template is not None:
        click.echo(without_controls(form.template.render(as_list(items.values()))), nl=False)
    elif form.columns is not None:
        for line in form.columns.lines(items.values(), headers=chosen.headers):
            say(line)
    else:
        rows = {row.key: row for row in source.rows()}
        _print_table(source, [rows[key] for key in items if key in rows], chosen, len(session.contexts) > 1)


def _print_table(source: PrintedTable, rows: list[Row], chosen: PrintedRows, several: bool) -> None:
    wide = chosen.form.name == "wide"
    shown = [at for at, (_, only_wide) in enumerate(source.titles) if wide or not only_wide]
    head = [*(["CONTEXT"] if several else []), *(source.titles[at][0] for at in shown)]
    lines = [[*([row.key.context] if several else []), *(row.cells[at].text for at in shown)] for row in rows]
    if lines:
        table(head, lines, indent="", headers=chosen.headers)
    elif chosen.fields.requirements:
        say("No resources found.")
    else:
        say(source.empty)
