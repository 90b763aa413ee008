"""The table of what Velero works on, and of what waits, in its order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, assert_never

from foretop_core.models import Backup, Restore
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules.facts.run_facts import Run, RunFacts, RunState, has_ended, order, owner_of
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET
from foretop_core.rules.phases import HOLDS_SLOT
from foretop_core.store import Store
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import RESTORE_GLYPH, StatusGlyph, run_mark
from foretop_core.tables.engine.view import Column, View, plain
from foretop_core.tables.resources.json_items import Item, identity, queue_item
from foretop_core.tables.resources.runs import FROM, PHASE, percent, run_progress, run_progress_tone
from foretop_core.tables.text import times

_RUNS = "▶"
_BAR, _SHORT_BAR = 10, 3


class QueueView(View[Run]):
    name = "queue"
    kinds = watched = frozenset({BACKUP.name, RESTORE.name})
    context_kinds = frozenset({DEPLOYMENT.name, SCHEDULE.name, STORAGE.name})
    order = "position"
    rank = ("position", "phase", "when", "items", "from", "waits")
    least: ClassVar[Mapping[str, int]] = {"name": 20, "from": 8, "when": 11, "waits": 16, "items": 10}
    narrow: ClassVar[Mapping[str, int]] = {"position": 4, "when": 11, "name": 14}
    in_groups = False
    fields = (*View.fields, "owner")

    def __init__(self) -> None:
        self.columns = _COLUMNS

    def entry(self, store: Store, key: ObjectRef, resource: Resource) -> Run | None:
        return resource if isinstance(resource, Backup | Restore) and not has_ended(resource) else None

    def resource(self, entry: Run) -> Run:
        return entry

    def details(self, entry: Run) -> Mapping[str, str]:
        return {"owner": str(owner_of(entry))}

    def searched(self, entry: Run) -> Iterable[str]:
        return str(owner_of(entry)), percent(entry)

    def phase(self, entry: Run) -> str:
        return entry.phase or "New"

    def mark(self, entry: Run, render: RenderContext) -> StatusGlyph:
        return run_mark(entry.phase)

    def item(self, entry: Run, render: RenderContext) -> Item:
        facts = render.facts(entry)
        if facts.item is not None:
            return queue_item(render.snapshot.context, facts, facts.item, render.now)
        nothing = dict.fromkeys(("position", "waitingPosition", "owner", "blockedBy", "expectedStart"))
        return {**identity(render.snapshot.context, entry), "phase": entry.phase or None, **nothing}


def _position(run: Run, render: RenderContext) -> str:
    """Those at work have a sign, those that wait their place among them."""
    return str(render.facts(run).waiting_place or _RUNS)


def _name(run: Run) -> str:
    return f"{RESTORE_GLYPH} {run.name}" if isinstance(run, Restore) else run.name


def _end_alone(run: Run, render: RenderContext) -> tuple[str, ...]:
    """Where there is no room for how long it has run, or its server has been silent, as well."""
    short = run_eta(run, render)
    first, _, last = short.partition(" ")
    if "→" in short:
        return (last, last.removeprefix("→ ")) if "after" in last else (last,)
    return (last,) if last == "finishing" else (first,) if first in ("silent", "down", "stalled") else ()


def _share(run: Run) -> float | None:
    progress = run.status.progress
    return progress.done / progress.total_items if progress and progress.total_items else None


def _kind_first(run: Run) -> tuple[str, bool, tuple[object, ...]]:
    """Server by server, its backups before its restores."""
    return run.namespace, isinstance(run, Restore), order(run)


def run_eta(run: Run, render: RenderContext) -> str:
    """`~02:46`, `5m → 02:46`, `5m → after 03:37`, `stalled 18m`; "" for a run that has ended."""
    facts = render.facts(run)
    held = times.short(facts.held_for) if facts.held_for is not None else ""
    match facts.state:
        case RunState.ENDED:
            return ""
        case RunState.NOT_KNOWN:
            return NOT_KNOWN_YET
        case RunState.SERVER_SILENT:
            return f"{facts.server.word} {held}"
        case RunState.STORAGE_HANGS | RunState.STALLED:
            return f"stalled {held}"
        case RunState.REFUSED:
            return "refused"
        case RunState.WAITS:
            return _starts(facts, render)
        case RunState.WAITS_FOR_VOLUME:
            return _after_volume(facts, held, render)
        case RunState.RUNS:
            return _ends(facts, render)
    assert_never(facts.state)


def _starts(facts: RunFacts, render: RenderContext) -> str:
    at, item = facts.expected_start, facts.item
    if at is None:
        return "not known"
    held = " held" if item is not None and item.is_held_by_namespace else ""
    return f"~{render.estimate(at, facts.run)}{held}"


def _after_volume(facts: RunFacts, held: str, render: RenderContext) -> str:
    """A run whose other volumes move does not wait: only one of its volumes does."""
    so_far = _so_far(facts)
    if facts.not_before is not None:
        return f"{so_far}→ after {render.estimate(facts.not_before, facts.run)}"
    return f"{so_far}→ ?" if facts.data.moving else f"waits {held}"


def _ends(facts: RunFacts, render: RenderContext) -> str:
    """How long it has run, and until when it should."""
    so_far, at = _so_far(facts), facts.expected_end
    if at is not None:
        guess = "?" if facts.item is not None and facts.item.is_guess else ""
        return f"{so_far}→ {render.estimate(at, facts.run)}{guess}"
    return f"{so_far}finishing" if facts.run.phase not in HOLDS_SLOT else f"{so_far}→ ?"


def _so_far(facts: RunFacts) -> str:
    length = facts.item.running_for if facts.item is not None else None
    return f"{times.short(length)} " if length is not None else ""


_COLUMNS: tuple[Column[Run], ...] = (
    Column("position", "POS", _position, _kind_first, right=True),
    plain("namespace", "NAMESPACE", lambda run: run.namespace, wide=True),
    Column("name", "BACKUP/RESTORE", lambda run, _: _name(run), lambda run: run.name, from_middle=True),
    FROM,
    PHASE,
    Column(
        "items",
        "PROGRESS",
        lambda run, render: run_progress(run, render, _BAR),
        _share,
        run_progress_tone,
        right=True,
        briefs=lambda run, render: (run_progress(run, render, _SHORT_BAR),),
        cells=10,
        alike=True,
    ),
    Column("when", "STARTS/ENDS", run_eta, _kind_first, briefs=_end_alone, ticks=True),
    Column("waits", "WAITS FOR", lambda run, render: render.facts(run).waits_for, _kind_first),
)
