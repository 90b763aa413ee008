"""The table of what Velero works on, and of what waits, in its order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from foretop_core.models import Backup, Restore
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, RESTORE, SCHEDULE, STORAGE
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules import humanize, sentences
from foretop_core.rules.facts.run_facts import (
    LineSums,
    QueueItem,
    Run,
    RunFacts,
    RunState,
    has_ended,
    line_sums,
    order,
    owner_of,
    run_length,
    waited,
)
from foretop_core.rules.phases import FINISHING, HOLDS_SLOT, QUEUE_PHASES
from foretop_core.rules.phases import WAITING as WAITING_PHASES
from foretop_core.store import Store
from foretop_core.store.store import MOST_AT_ONCE
from foretop_core.tables.engine.drawings import Drawing, TimeBar
from foretop_core.tables.engine.json_items import Item, identity
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone, phase_tone, run_mark
from foretop_core.tables.engine.view import Cell, Column, View, plain
from foretop_core.tables.resources.runs import (
    FROM,
    PHASE,
    held_words,
    marked_name,
    name_cell,
    percent,
    progress_cell,
    share_done,
    took,
)
from foretop_core.tables.text import times

RUNNING, WAITING, RESTORES = "RUNNING", "WAITING", "RESTORES"
"""The sections of the queue."""
ENDED = "ENDED IN THE LAST HOUR"
_MOST_ENDED = 20
_WORTH_TELLING = timedelta(seconds=1)


class QueueView(View[Run]):
    name = "queue"
    kinds = watched = frozenset({BACKUP.name, RESTORE.name})
    context_kinds = frozenset({DEPLOYMENT.name, SCHEDULE.name, STORAGE.name})
    order = "position"
    rank = ("position", "at", "in", "items", "from", "waits", "phase", "when")
    least: ClassVar[Mapping[str, int]] = {"name": 23, "from": 5, "waits": 18, "items": 17}
    first: ClassVar[Mapping[str, int]] = {"items": 23}
    narrow: ClassVar[Mapping[str, int]] = {"position": 2, "at": 6, "name": 14}
    has_sections = True
    order_words = "in the order of Velero"
    starts_worst_first = False
    on_request = frozenset({"phase", "when"})
    is_of_velero = True
    mark_ticks = False
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

    def section(self, entry: Run) -> str:
        if isinstance(entry, Restore):
            return RESTORES
        return WAITING if entry.phase in WAITING_PHASES else RUNNING

    def section_words(self, title: str, entries: Sequence[Run], render: RenderContext) -> str:
        """`3 of 3 slots, the next is free about 02:30`: the minute that the row of that run says.

        Two columns tell the end of a run at work and the start of one that waits: which of them, the section says.
        """
        if title == RUNNING:
            return f"{_running_words(entries, render)}; IN, AT: end"
        sums = _sums(entries, render)
        if title == RESTORES:
            has_coming = sums is not None and sums.has_coming
            return f"{len(entries):,}, beside the slots; IN, AT: end{', ~ start' if has_coming else ''}"
        refused = 0 if sums is None else sums.refused
        has_others = refused < len(entries)
        parts = [f"{len(entries):,}", *([f"{refused:,} refused" if has_others else "all refused"] if refused else ())]
        if sums is not None and sums.waiting == len(entries):
            for verb, last in (("started", sums.start), ("done", sums.end)):
                if last is not None:
                    parts.append(f"{'the rest' if refused else 'all'} {verb} by {render.estimate(last, entries[0])}")
        return f"{', '.join(parts)}; IN, AT: start" if has_others else ", ".join(parts)

    def below(self, render: RenderContext) -> tuple[str, Sequence[Run]]:
        return ended_lately(render)

    def item(self, entry: Run, render: RenderContext) -> Item:
        facts = render.facts(entry)
        if facts.item is not None:
            return queue_item(render.snapshot.context, facts, facts.item, render.now)
        nothing = dict.fromkeys(("position", "waitingPosition", "owner", "blockedBy", "expectedStart"))
        return {**identity(render.snapshot.context, entry), "phase": entry.phase or None, **nothing}


def _sums(entries: Sequence[Run], render: RenderContext) -> LineSums | None:
    """The sums that the line tells of these runs together; None where it says nothing.

    Of many runs that are not all of the line, as a filter leaves them, only the number is told.
    """
    line = render.line(entries[0].namespace)
    if line.server.silent_for is not None or render.snapshot.is_loading:
        return None
    if len(entries) <= MOST_AT_ONCE:
        return line_sums(item for run in entries if (item := line.item(run)) is not None)
    of_all = line.sums[type(entries[0])]
    return of_all if len(entries) in (of_all.waiting, of_all.waiting + of_all.running + of_all.finishing) else None


def ended_lately(render: RenderContext) -> tuple[str, Sequence[Run]]:
    """The title above the runs that ended in the last hour, and as many of them as are shown."""
    ended = render.ended_lately
    return f"{ENDED}: {_ended_words(ended)}", ended[:_MOST_ENDED]


def _position(run: Run, render: RenderContext) -> Cell:
    """A sign for one at work, its place for one that waits; nothing where that is not known, or Velero never saw it."""
    facts = render.facts(run)
    waits = run.phase in WAITING_PHASES or run.phase in QUEUE_PHASES
    is_nowhere = has_ended(run) or facts.is_left_alone or (waits and not facts.waiting_place)
    return Cell("" if is_nowhere else str(facts.waiting_place or work_sign(type(run).__name__, run.phase)), Tone.DIM)


def work_sign(kind: str, phase: str) -> str:
    """`▶` for a run at work, `·` for a backup that has given its slot back and finishes, mostly by moving volumes."""
    return "·" if kind == BACKUP.name and phase in FINISHING else "▶"


def _kind_first(run: Run) -> tuple[str, bool, tuple[object, ...]]:
    """Server by server, its backups before its restores."""
    return run.namespace, isinstance(run, Restore), order(run)


def run_eta(run: Run, render: RenderContext) -> Cell:
    """`~02:46`, `5m → 02:46`, `5m → after 03:37`, `stalled 18m`; "" for a run that has ended.

    In brief the end without how long it has run, and the state of what does not get on.
    """
    facts = render.facts(run)
    match facts.state:
        case RunState.WAITS:
            moment, held = facts.expected_start, facts.item is not None and facts.item.is_held_by_namespace
            return Cell(
                f"~{render.estimate(moment, run)}{' held' if held else ''}" if moment is not None else "not known"
            )
        case RunState.WAITS_FOR_VOLUME:
            return _after_volume(facts, render)
        case RunState.RUNS:
            return _ends(facts, render)
        case _:
            words = held_words(facts)
            state, _, length = words.partition(" ")
            return Cell(words, briefs=(state,) if length and facts.held_for is not None else ())


def _after_volume(facts: RunFacts, render: RenderContext) -> Cell:
    """A run whose other volumes move does not wait: only one of its volumes does."""
    if facts.not_before is not None:
        moment = render.estimate(facts.not_before, facts.run)
        return _so_far(facts, f"→ after {moment}", f"after {moment}")
    if facts.data.moving:
        return _so_far(facts, "→ ?")
    return Cell(f"waits {times.short(facts.held_for) if facts.held_for is not None else ''}")


def _ends(facts: RunFacts, render: RenderContext) -> Cell:
    """How long it has run, and until when it should."""
    if facts.expected_end is not None:
        guess = "?" if facts.item is not None and facts.item.is_guess else ""
        return _so_far(facts, f"→ {render.estimate(facts.expected_end, facts.run)}{guess}")
    return _so_far(facts, "finishing" if facts.run.phase not in HOLDS_SLOT else "→ ?")


def _so_far(facts: RunFacts, end: str, *briefs: str) -> Cell:
    """The end after how long it has run; in brief the end alone."""
    length = facts.item.running_for if facts.item is not None else None
    if length is None:
        return Cell(end, briefs=(end.removeprefix("→ "),))
    return Cell(f"{times.short(length)} {end}", briefs=(end, *briefs))


def _ended_words(runs: Sequence[Run]) -> str:
    """`14 good, 1 not`, and the longest wait for a slot."""
    good = sum(run.phase == "Completed" for run in runs)
    bad = f", {len(runs) - good:,} not" if good < len(runs) else ""
    longest = max((length for run in runs if (length := waited(run)) is not None), default=timedelta())
    return f"{good:,} good{bad}{f', waited up to {times.took(longest)}' if longest >= _WORTH_TELLING else ''}"


def _running_words(runs: Sequence[Run], render: RenderContext) -> str:
    line = render.line(runs[0].namespace)
    slots = line.server.slots
    taken = sum(run.phase in HOLDS_SLOT for run in runs)
    text = f"{taken} of {humanize.count(slots, 'slot')}" if slots else humanize.count(len(runs), "backup")
    finish = sum(run.phase in FINISHING for run in runs) if slots else 0
    more = f", {finish:,} more finish{'es' if finish == 1 else ''} without a slot" if finish else ""
    ends = [end for run in runs if (end := render.facts(run).expected_end) is not None and run.phase in HOLDS_SLOT]
    if not slots or taken < slots or not ends:
        return f"{text}{more}"
    return f"{text}, the next is free about {render.estimate(min(ends), runs[0])}{more}"


def _in(run: Run, render: RenderContext) -> str:
    """How long until it starts, or until it ends where it has started; of one that has ended how long it took."""
    if has_ended(run):
        return took(run, render.now)
    facts = render.facts(run)
    moment = facts.expected_start if facts.state is RunState.WAITS else facts.expected_end
    return times.countdown(sentences.until_estimate(moment, render.now)) if moment is not None else ""


def _at(run: Run, render: RenderContext) -> Cell | str:
    """When that is: about, where it has yet to start."""
    if has_ended(run):
        ended = run.status.completion_timestamp
        return render.minute(ended, run) if ended is not None else ""
    facts = render.facts(run)
    if facts.state is RunState.WAITS:
        return f"~{render.estimate(facts.expected_start, run)}" if facts.expected_start is not None else "?"
    guess = "?" if facts.item is not None and facts.item.is_guess else ""
    text = f"{render.estimate(facts.expected_end, run)}{guess}" if facts.expected_end is not None else "?"
    return Cell(text, Tone.BRIGHT) if facts.state is RunState.RUNS else text


def _progress(run: Run, render: RenderContext) -> Cell:
    """How far it is; of one that waits its wait and its run on the axis of all; how it ended, where not well."""
    if has_ended(run):
        is_good = run.phase == "Completed"
        return Cell("" if is_good else run.phase, phase_tone(run.phase), drawing=_length_bar(run, render))
    facts = render.facts(run)
    if facts.state is not RunState.WAITS:
        return progress_cell(facts)
    axis, start, end = render.queue_axis(run.namespace), facts.expected_start, facts.expected_end
    if not axis or start is None or end is None:
        return Cell("")
    wait = max(start - render.now, timedelta())
    return Cell("", drawing=TimeBar(round(1000 * (wait / axis)), round(1000 * ((end - start) / axis))))


def _length_bar(run: Run, render: RenderContext) -> Drawing | None:
    """How long a good one took, against the longest that is shown; one that did not end well has its phase there."""
    if run.phase != "Completed" or not (length := run_length(run)):
        return None
    shown = (run_length(run) for run in render.ended_lately[:_MOST_ENDED] if run.phase == "Completed")
    longest = max((length for length in shown if length is not None), default=length)
    return TimeBar(0, round(1000 * (length / longest)), Tone.GOOD)


_COLUMNS: tuple[Column[Run], ...] = (
    Column("position", "#", _position, _kind_first, right=True, cells=2, signed=True),
    plain("namespace", "NAMESPACE", lambda run: run.namespace, wide=True),
    Column(
        "name",
        "BACKUP/RESTORE",
        lambda run, _: name_cell(marked_name(run)),
        lambda run: run.name,
        from_middle=True,
        signed=True,
    ),
    FROM,
    PHASE,
    Column(
        "items",
        "PROGRESS / WAIT",
        _progress,
        lambda run: share_done(run.status.progress),
        cells=36,
        most=36,
        ticks=True,
    ),
    Column("in", "IN", _in, _kind_first, right=True, cells=5, most=6, ticks=True),
    Column("at", "AT", _at, _kind_first, right=True, cells=6, most=7),
    Column("when", "STARTS/ENDS", run_eta, _kind_first, ticks=True),
    Column(
        "waits", "WAITS FOR", lambda run, render: "" if has_ended(run) else render.facts(run).waits_for, _kind_first
    ),
)


def queue_item(context: str, facts: RunFacts, entry: QueueItem, now: datetime) -> Item:
    """`waitingPosition` is its place among those that wait, as the table shows it.

    It is null for one at work, and for one that a silent server has never seen.
    """
    return {
        **identity(context, entry.run),
        "phase": entry.phase or None,
        "position": entry.place,
        "waitingPosition": facts.waiting_place or None,
        "queuePosition": entry.position,
        "owner": str(entry.owner),
        "blockedBy": [run.name for run in entry.blocked_by],
        "blockedWhy": str(entry.hold) if entry.hold else None,
        "startedAt": humanize.rfc3339(entry.run.status.start_timestamp),
        "expectedStart": humanize.rfc3339(facts.expected_start),
        "expectedEnd": humanize.rfc3339(facts.expected_end),
        "notBefore": humanize.rfc3339(facts.not_before),
        "note": sentences.render(entry.note, now) or None,
        "state": facts.state.name.lower(),
        "waitsFor": facts.waits_for or None,
        "refusal": entry.refusal or None,
    }
