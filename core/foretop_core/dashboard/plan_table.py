"""The table of a plan for many objects, and of the choices for one: dialogs and the command line show the same rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec
from msgspec.structs import replace

from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.foreign_text import without_signs
from foretop_core.models import Backup
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.pause_facts import MOST_MISSED, PauseEffect, UnpauseEffect, unpause_effect
from foretop_core.rules.facts.run_facts import DataProgress, QueueItem, QueueLine, usual_length
from foretop_core.rules.facts.schedule_facts import Choice, ScheduleFacts
from foretop_core.rules.phases import WAITING
from foretop_core.rules.sentences import until_estimate
from foretop_core.tables.engine.drawings import Piece
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.resources.runs import share_cell
from foretop_core.tables.text import times
from foretop_core.tables.text.terminal_text import clean, cut, cut_end, pad, width
from foretop_core.tables.timeline.night_words import end_words
from foretop_core.tables.timeline.time_axis import axis_over
from foretop_core.tables.timeline.time_axis import labels as axis_labels

GAP = "  "
_CHOICES = (Choice.SKIP, Choice.DO_NOT_SKIP, Choice.LEAVE)
_LEAST_AXIS = timedelta(hours=1)
_NAME = 24
_LONGEST_NAME = 40

Lines = Callable[[str, str, Sequence[Backup]], QueueLine]
"""The line of a server, by context and namespace, with planned backups as if they were made now."""


class PlanColumn(msgspec.Struct, frozen=True):
    """A column; one without a width takes what is left."""

    title: str
    cells: int = 0
    right: bool = False
    is_wide: bool = False
    """It is left out where there is little room."""


class PlanTable(msgspec.Struct, frozen=True):
    """One sentence with the consequence in numbers, and a row for each object."""

    sentence: tuple[Piece, ...]
    columns: tuple[PlanColumn, ...]
    rows: tuple[tuple[Piece, ...], ...]
    order: str = ""
    """`running first, then most misses`."""

    def head(self, cells: int, *, wide: bool = True) -> str:
        shown = self._shown(wide)
        return GAP.join(
            pad(cut_end(column.title, size), size, right=column.right)
            for (_, column), size in zip(shown, self._widths(cells, wide), strict=True)
        )

    def line(self, at: int, cells: int, *, wide: bool = True) -> tuple[Piece, ...]:
        """One row in so many cells; the first column loses the middle of its text, the others their end."""
        pieces: list[Piece] = []
        for (place, column), size in zip(self._shown(wide), self._widths(cells, wide), strict=True):
            piece = self.rows[at][place]
            text = (cut_end if place else cut)(clean(piece.text), size)
            pieces.append(Piece(f"{GAP if pieces else ''}{pad(text, size, right=column.right)}", piece.tone))
        return tuple(pieces)

    def lines(self, cells: int) -> list[str]:
        """All of it as text, for the command line."""
        rows = ("".join(piece.text for piece in self.line(index, cells)).rstrip() for index in range(len(self.rows)))
        return [self.head(cells).rstrip(), *rows]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.sentence)

    def _shown(self, wide: bool) -> list[tuple[int, PlanColumn]]:
        return [(place, column) for place, column in enumerate(self.columns) if wide or not column.is_wide]

    def _widths(self, cells: int, wide: bool) -> list[int]:
        """The first column gives way before any other; one that would be cut gets the cells that no other needs."""
        shown = [column for _, column in self._shown(wide)]
        used = sum(column.cells for column in shown) + len(GAP) * (len(shown) - 1)
        free = max(4, cells - used)
        sizes = [column.cells or free for column in shown]
        if used > cells:
            sizes[0] = max(8, sizes[0] - (used - cells))
        needs = [
            max(map(len, (column.title, *(row[nth].text for row in self.rows)))) for nth, column in self._shown(wide)
        ]
        if all(need <= size for need, size in zip(needs, sizes, strict=True)):
            return sizes
        sizes = [min(need, size) for need, size in zip(needs, sizes, strict=True)]
        for index, need in enumerate(needs):
            spare = max(0, cells - sum(sizes) - len(GAP) * (len(shown) - 1))
            sizes[index] += min(need - sizes[index], spare)
        return sizes


def plan_table(plan: Plan, lines: Lines) -> PlanTable:
    """The table of a plan, by what its steps lead to."""
    pauses = [(step, step.effect) for step in plan.steps if isinstance(step.effect, PauseEffect)]
    if pauses:
        return _pause_table(pauses, plan.at, lines)
    unpauses = [(step, step.effect) for step in plan.steps if isinstance(step.effect, UnpauseEffect)]
    if unpauses:
        return _unpause_table(unpauses, plan.at, lines)
    return _plain_table(plan.steps)


def _plain_table(steps: Sequence[PlanStep]) -> PlanTable:
    """One forecast for all is the sentence, and the rows say what else differs; else each row has its own."""
    forecasts = {step.forecast_and_progress for step in steps}
    common = common_changes(steps)
    alike = len(forecasts) == 1
    rows: tuple[tuple[Piece, ...], ...] = tuple(
        (
            Piece(_name(step.target, steps)),
            Piece(
                ", ".join(change for change in step.changes if change not in common)
                if alike
                else step.forecast_and_progress
            ),
        )
        for step in steps
    )
    size = min(_LONGEST_NAME, max((width(clean(row[0].text)) for row in rows), default=_NAME))
    columns: tuple[PlanColumn, ...] = (
        PlanColumn("NAME", max(_NAME, size)),
        PlanColumn("CHANGE" if alike else "RESULT"),
    )
    if all(not row[1].text for row in rows):
        columns, rows = columns[:1], tuple(row[:1] for row in rows)
    text = next(iter(forecasts)) if alike else ""
    return PlanTable((Piece(f"Each: {text}"),) if text else (), columns, rows)


def common_changes(steps: Sequence[PlanStep]) -> tuple[str, ...]:
    """The changes that all of the steps make."""
    others = [frozenset(step.changes) for step in steps[1:]]
    return tuple(change for change in steps[0].changes if all(change in changes for changes in others)) if steps else ()


def _name(target: ObjectRef, steps: Sequence[PlanStep]) -> str:
    """With the cluster and the namespace where those of the others differ."""
    several_contexts = len({step.target.context for step in steps}) > 1
    several_spaces = len({step.target.namespace for step in steps}) > 1
    place = (target.context if several_contexts else "", target.namespace if several_spaces else "", target.name)
    return "/".join(part for part in place if part)


# Pausing

_PAUSE = (
    PlanColumn("NAME", _NAME),
    PlanColumn("MISSES", 6, right=True),
    PlanColumn("FIRST MISSED", 12, right=True),
    PlanColumn("RUNNING NOW", 21),
    PlanColumn("COPY BY THEN", 16, is_wide=True),
)


_CHANGE = (
    *_PAUSE[:1],
    PlanColumn("END WAS", 12, right=True),
    *_PAUSE[1:3],
    replace(_PAUSE[3], is_wide=True),
    _PAUSE[4],
)
"""Where some are paused already: 80 columns have no room for the end that they had and for what runs."""


def _pause_table(pauses: Sequence[tuple[PlanStep, PauseEffect]], now: datetime, lines: Lines) -> PlanTable:
    def rank(one: tuple[PlanStep, PauseEffect]) -> tuple[int, int, str]:
        step, effect = one
        runs = 2 if effect.unfinished is None else effect.unfinished.phase in WAITING
        return runs, -effect.misses, step.target.name

    ordered = sorted(pauses, key=rank)
    steps = [step for step, _ in ordered]
    changes = any(effect.is_change for _, effect in pauses)
    rows = tuple(
        (
            Piece(_name(step.target, steps)),
            *((_end_was(effect, now),) if changes else ()),
            Piece(_misses(effect.misses), Tone.PLAIN if effect.misses else Tone.DIM),
            Piece(_first_missed(effect, now)),
            _running(effect.unfinished, effect.data, lines(*_server(step), ()), now)
            if effect.unfinished is not None
            else Piece(""),
            _copy_by_then(effect),
        )
        for step, effect in ordered
    )
    pieces = (*_pause_sentence([effect for _, effect in pauses], now), *_others(pauses))
    return PlanTable(pieces, _CHANGE if changes else _PAUSE, rows, "running, then most misses")


def _end_was(effect: PauseEffect, now: datetime) -> Piece:
    if not effect.is_change:
        return Piece("not paused", Tone.DIM)
    return Piece(_clock(effect.was, now) if effect.was is not None else "none")


def _pause_sentence(effects: Sequence[PauseEffect], now: datetime) -> tuple[Piece, ...]:
    if all(effect.keeps_end for effect in effects):
        return (Piece("Only the reason changes."),)
    misses = sum(effect.misses for effect in effects)
    over = "over " if any(effect.misses >= MOST_MISSED for effect in effects) else ""
    last = max(effects, key=lambda effect: effect.until)
    ends = {effect.until.replace(second=0, microsecond=0) for effect in effects}
    latest = " at the latest" if len(ends) > 1 else ""
    a_day = "by this time tomorrow" if last.is_change else "in 24 hours"
    end = a_day if last.is_open else f"until {humanize.minute(last.until, now)}{latest}"
    number = (
        f"{over}{humanize.count(misses, 'run')} {'is' if misses == 1 else 'are'} missed"
        if misses
        else f"{'no' if last.is_open else 'No'} run is missed"
    )
    open_end = "No end given: " if last.is_open else ""
    unfinished = [effect.unfinished for effect in effects if effect.unfinished is not None]
    running = sum(backup.phase not in WAITING for backup in unfinished)
    changed = sum(effect.is_change for effect in effects)
    who, whose = ("1 is", "its") if changed == 1 else (f"{changed} are", "their")
    both = f"{who} paused already: only {whose} reason and end change. "
    lead = both if 0 < changed < len(effects) else ""
    pieces = [Piece(f"{lead}{open_end}"), Piece(number, Tone.BRIGHT), Piece(f" {end}. ")]
    parts = [(running, "running", Tone.RUNNING), (len(unfinished) - running, "waiting", Tone.WAITING)]
    counts = [Piece(f"{count} {word}", tone) for count, word, tone in parts if count]
    if not counts:
        pieces.append(Piece(f"No backup of {'this schedule' if len(effects) == 1 else 'these schedules'} is running."))
    else:
        verb = "goes" if len(unfinished) == 1 else "go"
        noun = "backups" if max(running, len(unfinished) - running) > 1 else "backup"
        between = [piece for count in counts[1:] for piece in (Piece(" and "), count)]
        pieces += [counts[0], *between, Piece(f" {noun} {verb} on.")]
    return tuple(pieces)


def _others(pauses: Sequence[tuple[PlanStep, PauseEffect]]) -> list[Piece]:
    """Whose backups go on at a server whose schedules are all paused then."""
    counted = Counter(_server(step) for step, effect in pauses if not effect.is_change)
    sentences = dict.fromkeys(
        effect.others
        for step, effect in pauses
        if effect.others and not effect.is_change and effect.unpaused == counted[_server(step)]
    )
    return [Piece(f" {humanize.capitalized(text)}.", Tone.WARN) for text in sentences]


def _server(step: PlanStep) -> tuple[str, str]:
    return step.target.context, step.target.namespace


def _misses(count: int) -> str:
    return f"{MOST_MISSED}+" if count >= MOST_MISSED else str(count)


def _running(run: Backup, data: DataProgress, line: QueueLine, now: datetime) -> Piece:
    """`◐ 12%, ends 02:53`, with the progress that the queue shows, or `○ waits, 6th`."""
    item = line.item(run)
    if run.phase in WAITING:
        place = line.waiting_place(run)
        behind = f", {humanize.ordinal(place)}" if place else ""
        return Piece(f"{StatusGlyph.WAITING.value} waits{behind}", Tone.WAITING)
    end = end_words(item.expected_end if item is not None else None, now, now.tzinfo or UTC)
    lines = [share_cell(run, data).text, f"ends {end}" if end else ""]
    return Piece(f"{StatusGlyph.RUNNING.value} {', '.join(filter(None, lines)) or 'running'}", Tone.RUNNING)


def _copy_by_then(effect: PauseEffect) -> Piece:
    if effect.copy_age is None:
        return Piece("no copy", Tone.WARN)
    if effect.interval is None:
        return Piece(f"{_coarse(effect.copy_age)} old", Tone.DIM)
    if effect.is_late:
        return Piece(f"{_coarse(effect.copy_age)}, {_coarse(effect.interval)} promised", Tone.BAD)
    return Piece("in time", Tone.GOOD)


def _coarse(length: timedelta) -> str:
    """One unit: `2h`."""
    seconds = max(0, int(length.total_seconds()))
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _first_missed(effect: PauseEffect, now: datetime) -> str:
    """`03:27` today, else with the day; a run that is due is lost only now, where no pause has lost it already."""
    moment = effect.first_missed
    if moment is None:
        return ""
    return "due now" if moment <= now and not effect.is_change else _clock(moment, now)


def _clock(at: datetime, now: datetime) -> str:
    local = at.astimezone(now.tzinfo)
    return f"{local:%H:%M}" if local.date() == now.date() else f"{local.day} {local:%b %H:%M}"


# Unpausing

_UNPAUSE = (
    PlanColumn("NAME", _NAME),
    PlanColumn("DUE SINCE", 12, right=True),
    PlanColumn("MISSED", 6, right=True),
    PlanColumn("BACKUP NOW", 13),
    PlanColumn("NEXT RUN", 14),
)
_CHOICE = (
    PlanColumn("CHOICE", 24),
    PlanColumn("BACKUP NOW", 16),
    PlanColumn("NEXT RUN", 15),
    PlanColumn("NEWEST COPY"),
)


def _unpause_table(unpauses: Sequence[tuple[PlanStep, UnpauseEffect]], now: datetime, lines: Lines) -> PlanTable:
    def rank(one: tuple[PlanStep, UnpauseEffect]) -> tuple[bool, bool, int, str]:
        step, effect = one
        return not effect.forecast.at_once, effect.due_since is None, -effect.forecast.missed, step.target.name

    ordered = sorted(unpauses, key=rank)
    steps = [step for step, _ in ordered]
    made: defaultdict[tuple[str, str], list[Backup]] = defaultdict(list)
    for step, effect in unpauses:
        if effect.made is not None:
            made[_server(step)].append(effect.made)
    # All of them at once: each waits for those that are made before it.
    starts = {where: lines(*where, together) for where, together in made.items()}
    rows = tuple(
        (
            Piece(_name(step.target, steps)),
            Piece(_clock(effect.due_since, now) if effect.due_since is not None else ""),
            Piece(_misses(effect.forecast.missed) if effect.due_since is not None else ""),
            _backup_now(effect, starts.get(_server(step)), now),
            Piece(_next_run(effect, now)),
        )
        for step, effect in ordered
    )
    sentence = _unpause_sentence(unpauses)
    return PlanTable(sentence, _UNPAUSE, rows, "backups now first, then most missed")


def _unpause_sentence(unpauses: Sequence[tuple[PlanStep, UnpauseEffect]]) -> tuple[Piece, ...]:
    """Counts schedules, and each once: one of them may have missed many runs."""
    effects = [effect for _, effect in unpauses]
    now = sum(effect.forecast.at_once and not effect.forecast.refusal for effect in effects)
    refused = sum(effect.forecast.at_once and bool(effect.forecast.refusal) for effect in effects)
    due = [effect for effect in effects if effect.due_since is not None]
    skipped = sum(effect.forecast.skips and not effect.forecast.at_once for effect in due)
    following = len(due) - now - refused - skipped
    idle = [effect.forecast for effect in effects if effect.due_since is None]
    moved = sum(forecast.moves for forecast in idle)
    later = sum(effect.forecast.skips_later for effect in effects)
    rest_of_idle = sum(forecast.skips for forecast in idle) - moved
    notes = (
        f"nothing to skip{f' of {rest_of_idle}' if moved else ''}" if rest_of_idle else "",
        f"{moved} {'starts its' if moved == 1 else 'start their'} delay again" if moved else "",
    )
    also = f" ({', '.join(filter(None, notes))})" if any(notes) else ""
    parts = [
        f"{skipped} {'skips' if skipped == 1 else 'skip'} what is due" if skipped else "",
        f"{following} {'follows' if following == 1 else 'follow'} a running backup" if following > 0 else "",
        f"{refused} {'is' if refused == 1 else 'are'} refused" if refused else "",
        f"{len(idle)} not due{also}" if idle else "",
        f"{later} {'skips its' if later == 1 else 'skip their'} next run too if it falls due first" if later else "",
    ]
    first = (
        f"{humanize.count(now, 'backup')} {'is' if now == 1 else 'are'} created now"
        if now
        else "No backup is created now"
    )
    rest = "; ".join(filter(None, parts))
    return Piece(first, Tone.BRIGHT), Piece(f"; {rest}." if rest else ".")


def paused_sentence(facts: ScheduleFacts) -> tuple[Piece, ...]:
    """`‖ Paused for 2 hours by maria (CHG-4711); 2 runs missed since 01:20Z.`"""
    pause = facts.pause
    if pause is None:
        return ()
    length = f" for {humanize.duration(facts.now - pause.since)}" if pause.since is not None else ""
    why = f" ({without_signs(pause.why)})" if pause.why else ""
    until = f", meant until {humanize.minute(pause.until, facts.now)}" if pause.until is not None else ""
    effect = unpause_effect(facts, Choice.DO_NOT_SKIP)
    missed = effect.forecast.missed
    since = f" since {humanize.minute(effect.due_since, facts.now)}" if effect.due_since is not None else ""
    text = f"; {humanize.count(missed, 'run')} missed{since}." if missed else "; no run missed."
    who = f" {without_signs(pause.who)}" if pause.who else ""
    return Piece("‖ ", Tone.PAUSED), Piece(f"Paused{length}{who}{why}{until}{text}")


def offered_choices(schedules: Sequence[ScheduleFacts]) -> tuple[Choice, ...]:
    """In order; to leave the field alone takes the place of what all of them do by it."""
    own = {facts.own_choice for facts in schedules}
    as_set = own.pop() if len(own) == 1 else Choice.LEAVE
    if as_set is Choice.LEAVE:
        return _CHOICES
    return tuple(Choice.LEAVE if choice is as_set else choice for choice in _CHOICES if choice is not Choice.LEAVE)


def unpause_choices(facts: ScheduleFacts, lines: Lines, choices: Sequence[Choice], labels: Sequence[str]) -> PlanTable:
    """A row for each choice of unpausing one schedule."""
    effects, line = _effects(facts, lines, choices)
    rows = tuple(
        (
            Piece(label),
            _backup_now(effect, line, facts.now),
            Piece(_next_run(effect, facts.now)),
            _newest_copy(effect, line, facts.now),
        )
        for effect, label in zip(effects, labels, strict=True)
    )
    return PlanTable((), _CHOICE, rows)


def choice_axis(
    facts: ScheduleFacts, lines: Lines, choices: Sequence[Choice], labels: Sequence[str], cells: int
) -> list[tuple[Piece, ...]]:
    """The choices on one time axis: the wait and the run of a backup now, then the next run; [] where none runs."""
    effects, line = _effects(facts, lines, choices)
    usual = usual_length(facts.runs) or timedelta()
    drawn = [_stretches(effect, _made_now(effect, line), facts.now, usual) for effect in effects]
    last = max((stretch.end for each in drawn for stretch in each), default=None)
    if last is None:
        return []
    zone = facts.now.tzinfo or UTC
    before = len(GAP) + _CHOICE[0].cells + len(GAP)
    horizon = max(_LEAST_AXIS, (last - facts.now) * 1.15)
    axis = axis_over(facts.now, horizon, max(1, cells - before - 1), zone)
    hours = [(cell, label) for cell, label in axis_labels(axis, zone) if cell > len("now")]
    head = "now"
    for cell, label in hours:
        if cell + 1 + len(label) <= axis.cells:
            head = f"{head:<{cell + 1}}{label}"
    pieces: list[tuple[Piece, ...]] = [(Piece(" " * before), Piece("now", Tone.BRIGHT), Piece(head[3:], Tone.DIM))]
    for label, stretches in zip(labels, drawn, strict=True):
        signs = [Piece(" ")] * axis.cells
        for cell, _ in hours:
            signs[cell] = Piece("┊", Tone.FAINT)
        for stretch in stretches:
            first = max(0, axis.cell_of(stretch.start))
            for cell in range(first, max(first + 1, axis.cell_of(stretch.end))):
                signs[cell] = stretch.sign
        name = pad(cut_end(clean(label), _CHOICE[0].cells), _CHOICE[0].cells)
        pieces.append((Piece(f"{GAP}{name}{GAP}"), Piece("│", Tone.BRIGHT), *signs))
    return pieces


class _Stretch(msgspec.Struct, frozen=True):
    """A part of a time axis, and the sign of each of its cells."""

    start: datetime
    end: datetime
    sign: Piece


def _stretches(effect: UnpauseEffect, made: QueueItem | None, now: datetime, usual: timedelta) -> list[_Stretch]:
    """Nothing of a Velero that is silent or whose storage hangs: when it goes on is not known."""
    forecast, stretches = effect.forecast, []
    if forecast.silence or forecast.creates_only:
        return []
    lost = Piece("×", Tone.BAD)
    if forecast.at_once and forecast.refusal:
        stretches.append(_Stretch(now, now, lost))
    elif made is not None and made.expected_start is not None:
        start = max(now, made.expected_start)
        if not made.starts_at_once(now):
            stretches.append(_Stretch(now, start, Piece("░", Tone.WAITING)))
        stretches.append(_Stretch(start, made.expected_end or start, Piece("▆", Tone.RUNNING)))
    following = forecast.starts or forecast.next_run
    if following is not None and following > now:
        sign = lost if forecast.refusal else Piece("▆", Tone.DIM)
        stretches.append(_Stretch(following, following + (timedelta() if forecast.refusal else usual), sign))
    return stretches


def _effects(
    facts: ScheduleFacts, lines: Lines, choices: Sequence[Choice]
) -> tuple[list[UnpauseEffect], QueueLine | None]:
    """The effect of each choice, and the queue with the backup that is made at once in it."""
    effects = [unpause_effect(facts, choice) for choice in choices]
    made = next((effect.made for effect in effects if effect.made is not None), None)
    return effects, lines(facts.snapshot.context, facts.schedule.namespace, [made]) if made is not None else None


def _made_now(effect: UnpauseEffect, line: QueueLine | None) -> QueueItem | None:
    """The place in the queue of the backup that is created at once."""
    return line.item(effect.made) if line is not None and effect.made is not None else None


def _backup_now(effect: UnpauseEffect, line: QueueLine | None, now: datetime) -> Piece:
    forecast = effect.forecast
    if forecast.at_once:
        if forecast.refusal:
            return Piece("yes, refused", Tone.BAD)
        if forecast.creates_only:
            return Piece("yes, but stalls", Tone.BAD)
        if forecast.silence:
            return Piece("when it is up", Tone.WARN)
        made = _made_now(effect, line)
        if made is None or made.starts_at_once(now):
            return Piece("yes", Tone.RUNNING)
        start = made.expected_start
        length = f" {times.short(until_estimate(start, now))}" if start is not None else ""
        return Piece(f"yes, waits{length}", Tone.RUNNING)
    if effect.due_since is not None and not forecast.skips and forecast.next_run is None:
        return Piece("not known", Tone.WARN)
    if effect.due_since is not None and not forecast.skips:
        return Piece("after running", Tone.WAITING)
    return Piece("no")


def _next_run(effect: UnpauseEffect, now: datetime) -> str:
    run = effect.forecast.starts or effect.forecast.next_run
    if run is None:
        return "none" if effect.forecast.predictable else "not known"
    if run <= now:
        return "due"
    is_today = run.astimezone(now.tzinfo).date() == now.date()
    return f"{_clock(run, now)} in {times.countdown(run - now)}" if is_today else _clock(run, now)


def _newest_copy(effect: UnpauseEffect, line: QueueLine | None, now: datetime) -> Piece:
    """The age that the newest copy reaches, or the moment that it will be of: an age is a warning."""
    if effect.forecast.at_once and not (effect.forecast.refusal or effect.forecast.silence):
        made = _made_now(effect, line)
        if made is None or made.expected_start is None:
            return Piece("not known")
        return Piece(f"from {_clock(max(made.expected_start, now), now)}", Tone.GOOD)
    if effect.newest_good is None:
        return Piece("none yet", Tone.WARN)
    return Piece(f"up to {times.short(effect.copy_age)}" if effect.copy_age else "", Tone.WARN)


# What is written

_OWN_MARKS = "annotation foretop.io/"


def written(changes: Iterable[str]) -> str:
    """The changes in one line; the annotations of foretop's own are counted where there are several."""
    all_changes = list(changes)
    marks = [change for change in all_changes if change.startswith(_OWN_MARKS)]
    if len(marks) < 2:
        return ", ".join(all_changes)
    removed = sum(" removed (was " in mark for mark in marks)
    rest = ", ".join(change for change in all_changes if change not in marks)
    parts = [
        f"{len(marks) - removed} annotations" if len(marks) > removed else "",
        f"removes {removed} annotations of the window" if removed else "",
    ]
    return " and ".join([*([rest] if rest else []), *filter(None, parts)])
