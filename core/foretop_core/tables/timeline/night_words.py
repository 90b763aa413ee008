"""The night in words, for the screen and for commands: how full it gets, who waits longest, when all is done, what is
lost, and the chosen lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from operator import itemgetter

import msgspec

from foretop_core.rules import humanize
from foretop_core.rules.facts.run_facts import OwnerKind
from foretop_core.rules.facts.schedule_facts import ALWAYS_DUE
from foretop_core.rules.night.night import Fate, ForeseenRun, Night
from foretop_core.rules.night.outlook import (
    ANSWERS,
    TENANTS_ONLY,
    WindowOutlook,
    done_of_all,
    fate_counts,
    most_at_work,
    most_waiting,
    names_of,
    no_known_end,
    nothing_runs,
    skipped_words,
    still_open,
    wait_of,
)
from foretop_core.rules.night.ranges import SURE, latest
from foretop_core.rules.night.server_model import PAUSED
from foretop_core.rules.night.window import Window
from foretop_core.rules.sentences import render
from foretop_core.tables.engine.status_glyphs import Tone
from foretop_core.tables.text import times
from foretop_core.tables.timeline.night_chart import LaneSign
from foretop_core.tables.timeline.night_lanes import ServerNight
from foretop_core.tables.timeline.time_axis import MINUTE, TimeAxis

_MOST_NAMED = 2
_MOST_LISTED = 8
_NOT_MADE = (Fate.LOST, Fate.REFUSED, Fate.UNKNOWN)


class Phrase(msgspec.Struct, frozen=True):
    """A piece of a line in one tone."""

    text: str
    tone: Tone = Tone.PLAIN
    is_sign: bool = False
    """A sign of foretop's own, which stays; in the text of others it is spelt out."""


class WordLine(msgspec.Struct, frozen=True):
    """A line of the words: its label, what it says, and how much it matters where there is no room for all."""

    label: str
    phrases: tuple[Phrase, ...]
    weight: int = 0


def night_words(
    shown: ServerNight,
    now: datetime,
    zone: tzinfo,
    window: Window | None = None,
) -> tuple[WordLine, ...]:
    """In their order on the screen; a line without a label goes on with the one above it."""
    if shown.night.unknown:
        sentence = Phrase(f"Nothing can be foreseen: {render(shown.night.unknown, now, zone)}.", Tone.BAD)
        backs = (
            # The answer of the bridge call is told whole, also where there is no room for the later moments.
            WordLine("If back", (Phrase(render(back, now, zone)),), 3 if place else 4)
            for place, back in enumerate(shown.night.if_back)
        )
        return (WordLine("Night", (sentence,), 9), *backs)
    lines = (
        *_peak(shown, now, zone),
        *_longest_wait(shown),
        *((_done_by(shown.in_window(window), now, zone),) if window else _done(shown, now, zone)),
        _window(shown, now, zone, window),
        *_runs_of(shown, _NOT_MADE),
        _always_due(shown.night.always_due),
        _paused(shown.night.paused),
        _if_ended(shown.night, now, zone),
    )
    return tuple(line for line in lines if line is not None)


def printed_words(shown: ServerNight, now: datetime, zone: tzinfo, window: Window | None = None) -> Iterator[str]:
    """The same for a command, with what the calendar draws beside them."""
    lines = night_words(shown, now, zone, window)
    if not shown.night.unknown:
        before = shown.by_six(zone) if window is None else shown.in_window(window)
        is_end_told = window is None and any(line.label == "Done" for line in lines)
        lines = (*lines, *_drawn(shown, now, zone, None if is_end_told else before))
    for line in joined(lines):
        yield f"{line.label:10}{''.join(phrase.text for phrase in line.phrases if not phrase.is_sign)}"


def _drawn(shown: ServerNight, now: datetime, zone: tzinfo, before: WindowOutlook | None) -> Iterator[WordLine]:
    """Late runs, the end of all where that is later than the one that was told, and what is not among the runs."""
    night = shown.night
    yield from _runs_of(shown, (Fate.LATE,))
    last = before.last_before if before is not None else None
    if night.done is not None and before is not None and (last is None or night.done.likely > last.likely):
        end = f"{clock(night.done.likely, now, zone)}{_sure_by(shown.outlook.done_by, night.done.likely, now, zone)}"
        yield WordLine("In all", (Phrase(f"{done_of_all(shown.outlook, _MOST_NAMED)} by {end}"),))
    if night.bounded:
        too_many = f"runs, not all of them played: {humanize.join(night.bounded, _MOST_LISTED)}"
        yield WordLine("Too many", (Phrase(too_many),))
    if night.left_out:
        names = [f"{name} ({why})" for name, why in sorted(night.left_out.items())]
        yield WordLine("Left out", (Phrase(humanize.join(names, _MOST_LISTED)),))


def most_telling(lines: Sequence[WordLine], room: int) -> tuple[WordLine, ...]:
    """As many as there is room for, those that matter most, in their order."""
    kept = sorted(range(len(lines)), key=lambda place: (-lines[place].weight, place))[:room]
    return tuple(lines[place] for place in sorted(kept))


def _peak(shown: ServerNight, now: datetime, zone: tzinfo) -> tuple[WordLine, ...]:
    night, peak, waiting = shown.night, shown.outlook.at_work, shown.outlook.waiting
    if peak is None and not night.runs and nothing_runs(shown.outlook, zone):
        return ()
    if peak is None:
        why = "not known: nobody can tell when the open runs end" if night.runs else "no backup is to come"
        return (WordLine("Peak", (Phrase(why, Tone.DIM),), 3),)
    at_once = f"{most_at_work(shown.outlook)} slot{'' if night.slots == 1 else 's'}"
    if shown.outlook.has_tenants_only:
        queue = f", up to {waiting.count} waiting" if waiting is not None else ""
        guess = WordLine("", (Phrase(TENANTS_ONLY, Tone.DIM),), 3)
        return (WordLine("Peak", (Phrase(f"{at_once}{queue}"),), 3), guess)
    span = _span(peak.begins, peak.ends, now, zone)
    is_full = peak.count >= night.slots and waiting is not None
    is_told_below = waiting is not None and waiting.to_come > 0
    tenants = " with tenants" if peak.has_to_come and not is_told_below else ""
    phrase = Phrase(f"{at_once} {span}{tenants}", Tone.WARN if is_full else Tone.PLAIN)
    if waiting is None:
        return (WordLine("Peak", (phrase, Phrase(", nobody waits longer than a minute", Tone.DIM)), 3),)
    first = WordLine("Peak", (phrase, Phrase(f", {waiting.count} waiting at {clock(waiting.begins, now, zone)}")), 3)
    return (first, WordLine("", (Phrase(waiting.to_come_words),), 3)) if waiting.to_come else (first,)


def _longest_wait(shown: ServerNight) -> tuple[WordLine, ...]:
    run = shown.outlook.longest_wait
    wait = None if run is None else wait_of(run)
    if run is None or wait is None:
        return ()
    phrase = Phrase(f"{run.called}, {humanize.duration(to_minutes(wait))}", Tone.BRIGHT)
    first = WordLine("Waits", (Phrase("longest "), phrase), 2)
    reason = _reason(shown.night, run, wait)
    return (first, WordLine("", (Phrase(reason),))) if reason else (first,)


def joined(lines: Sequence[WordLine]) -> tuple[WordLine, ...]:
    """Each line with the ones that go on with it in one."""
    merged: list[WordLine] = []
    for place, line in enumerate(lines):
        if line.label or not merged:
            merged.append(line)
        else:
            first = merged[-1]
            goes_on = Phrase("; " if lines[place - 1].label == "" else ": ")
            merged[-1] = WordLine(first.label, (*first.phrases, goes_on, *line.phrases), first.weight)
    return tuple(merged)


def _holders(night: Night, waiting: ForeseenRun) -> list[tuple[timedelta, ForeseenRun]]:
    """The runs that hold slots while another waits, and for how long of that time."""
    begins, ends = waiting.submitted, waiting.start.likely if waiting.start else None
    if begins is None or ends is None or ends - begins < MINUTE:
        return []
    overlaps = (
        (min(run.end.likely, ends) - max(run.start.likely, begins), run)
        for run in night.runs
        if run is not waiting and run.start is not None and run.end is not None
    )
    return [overlap for overlap in overlaps if overlap[0] > timedelta()]


def _reason(night: Night, waiting: ForeseenRun, wait: timedelta) -> str:
    """Names all who are before it; "" where they do not make up the wait."""
    holders = _holders(night, waiting)
    if not holders or sum((overlap for overlap, _ in holders), timedelta()) <= wait - MINUTE:
        return ""
    run = holders[0][1]
    if len(holders) > 1 or run.start is None or run.end is None:
        return f"behind {humanize.join(names_of(run for _, run in holders), _MOST_NAMED)}"
    return f"{run.called} holds a slot for {times.short(run.end.likely - run.start.likely)}"


def _done_by(kept: WindowOutlook, now: datetime, zone: tzinfo, *, is_six: bool = False) -> WordLine:
    """Tells whether the runs before a window are done when it begins."""
    last, still = kept.last_before, still_open(kept)
    is_unknown = kept.verdict == "not known"
    verdict = ANSWERS[kept.verdict] if is_six else f"{kept.verdict} by {clock(kept.begins, now, zone)}".lstrip()
    phrases = [Phrase(f"{kept.begins.astimezone(zone):%Z}: ", Tone.DIM)] if is_six else []
    skipped = skipped_words(kept)
    phrases.append(Phrase(verdict, Tone.WARN if still or skipped or kept.missing else Tone.GOOD))
    if is_unknown:
        phrases.append(Phrase(f": {no_known_end(kept)}", Tone.WARN))
    if skipped:
        phrases.append(Phrase(f", {'but' if kept.verdict in ('', 'likely') else 'and'} {skipped}", Tone.WARN))
    if last is not None:
        # Of several that are open then, the one that is the reason.
        who = f" ({last.run.called})" if len(names_of((*kept.at_work, *kept.waiting))) > 1 else ""
        what = "the others end" if is_unknown else "ends"
        end = f"{what} {clock(last.likely, now, zone)}{who}{_sure_by(last.by, last.likely, now, zone)}"
        phrases.append(Phrase(f"{';' if skipped or is_unknown else ',' if is_six else ':'} {end}"))
    if still and not is_unknown:
        phrases.append(Phrase(f"; {still}"))
    phrases += [Phrase(f"; {words}", Tone.BAD) for words in kept.missing]
    if kept.going_on:
        all_day = kept.going_on if len(kept.going_on) <= _MOST_NAMED else (f"{len(kept.going_on)} schedules",)
        go_on = "goes on" if len(kept.going_on) == 1 else "go on"
        phrases.append(Phrase(f"; {humanize.join(all_day)} {go_on} all day", Tone.DIM))
    matters = skipped or is_unknown or kept.missing or (still and not is_six)
    return WordLine("By 06:00" if is_six else "Done", tuple(phrases), 6 if matters else 4)


def _done(shown: ServerNight, now: datetime, zone: tzinfo) -> Iterator[WordLine]:
    """Tells whether the night's runs are done by six: without a window that is what is asked; else when all is done."""
    outlook = shown.outlook
    idle = nothing_runs(outlook, zone)
    if idle:
        yield _nothing_runs(idle, outlook.night.resumed, now, zone)
    six = shown.by_six(zone)
    if outlook.night_end is None and (idle or not six.has_runs_before):
        return
    if six.skipped and not six.has_runs_before and not idle:
        of_zone = Phrase(f"{now.astimezone(zone):%Z}: ", Tone.DIM)
        yield WordLine("By 06:00", (of_zone, Phrase(f"no more runs; {skipped_words(six)}", Tone.WARN)), 6)
    if outlook.night_end is not None and (idle or not six.has_runs_before or not outlook.schedules):
        likely, by = outlook.night_end
        what = done_of_all(outlook, _MOST_NAMED)
        sure = Phrase(_sure_by(by, likely, now, zone))
        yield WordLine("Done", (Phrase(f"{what} by "), Phrase(clock(likely, now, zone), Tone.BRIGHT), sure), 4)
        return
    line = _done_by(six, now, zone, is_six=True)
    paused = len(outlook.night.paused)
    none = f"; {paused:,} {PAUSED} make{'s' if paused == 1 else ''} none"
    yield msgspec.structs.replace(line, phrases=(*line.phrases, Phrase(none, Tone.WARN))) if paused else line


def _nothing_runs(told: str, ends: datetime | None, now: datetime, zone: tzinfo) -> WordLine:
    # The minute that the header has too: an end is no estimate, and not rounded.
    planned = f"; planned end {clock(ends.replace(second=0), now, zone)}" if ends is not None else ""
    six = Phrase(f"{now.astimezone(zone):%Z}: ", Tone.DIM)
    return WordLine("By 06:00", (six, Phrase(told, Tone.WARN), Phrase(planned)), 6)


def _sure_by(by: datetime | None, likely: datetime, now: datetime, zone: tzinfo) -> str:
    """Follows a likely moment; where both are the same on the screen, it stands there once."""
    if by is None:
        return ""
    end = clock(by, now, zone)
    return f", {SURE}" if end == clock(likely, now, zone) else f", {SURE} by {end}"


def _window(shown: ServerNight, now: datetime, zone: tzinfo, window: Window | None) -> WordLine | None:
    """The runs at work in the stretch that is to be kept free."""
    if window is None:
        return None
    kept = shown.in_window(window)
    span = f"{_span(kept.begins, kept.ends, now, zone)} "
    if kept.is_free:
        return WordLine("Window", (Phrase(span), Phrase("is free", Tone.GOOD)), 2)
    names = names_of(kept.sure or kept.perhaps)
    verdict = "is not free: " if kept.sure else "perhaps not free: "
    return WordLine("Window", (Phrase(span), Phrase(verdict, Tone.WARN), Phrase(humanize.join(names))), 5)


def _runs_of(shown: ServerNight, fates: Sequence[Fate]) -> Iterator[WordLine]:
    """How many runs of which schedules are lost, refused, late or not known, each with the reason."""
    for fate in fates:
        sign, tone = (LaneSign.UNKNOWN, Tone.WARN) if fate is Fate.UNKNOWN else (LaneSign.LOST, Tone.BAD)
        counted = sorted(fate_counts(shown.outlook, fate), key=lambda one: -one[1])
        phrases: list[Phrase] = []
        for name, number in counted[:_MOST_NAMED]:
            phrases += [
                Phrase(", " if phrases else ""),
                Phrase(f"{sign.value} ", tone, is_sign=True),
                Phrase(f"{number} of {name}"),
            ]
        if len(counted) > _MOST_NAMED:
            phrases.append(Phrase(f" and of {len(counted) - _MOST_NAMED:,} more"))
        if phrases:
            # Each that is refused has a reason of its own.
            reasons = dict.fromkeys(f"{run.reason}" for run in shown.outlook.refused if run.reason)
            why = "; ".join(reasons) if fate is Fate.REFUSED else fate.reason
            yield WordLine(fate.value.capitalize(), (*phrases, Phrase(f": {why}")), 5)


def _always_due(names: Sequence[str]) -> WordLine | None:
    if not names:
        return None
    return WordLine(
        "Always", (Phrase(f"{humanize.join(list(names), _MOST_LISTED)}: "), Phrase(ALWAYS_DUE, Tone.BAD)), 5
    )


def _paused(names: Sequence[str]) -> WordLine | None:
    if not names:
        return None
    # Nothing resumes by itself: whatever end is planned, they are played as paused.
    text = f"{humanize.count(len(names), 'schedule')}, all night: {humanize.join(list(names))}"
    return WordLine("Paused", (Phrase(f"{LaneSign.PAUSED.value} ", Tone.PAUSED, is_sign=True), Phrase(text)), 1)


def _if_ended(night: Night, now: datetime, zone: tzinfo) -> WordLine | None:
    text = render(night.if_resumed, now, zone)
    return WordLine("If ended", (Phrase(text),), 3) if text else None


class LaneWords(msgspec.Struct, frozen=True):
    """The next run of a lane, told: when it is due, starts and ends, and with whom it runs."""

    run: str
    """The NAB or backup, where a lane has those of several."""
    due: str
    due_since: datetime | None
    """Its time, where that is past and the run was not made yet."""
    starts: str
    is_running: bool
    """It has started."""
    wait: str
    ends: str
    by: str
    fate: str
    company: str


def lane_words(shown: ServerNight, runs: Sequence[ForeseenRun], now: datetime, zone: tzinfo) -> LaneWords | None:
    """Words on the run at work, else on the next one; None where there is none."""
    run = next((candidate for candidate in runs if candidate.is_running), None) or next(iter(runs), None)
    if run is None:
        return None
    wait = wait_of(run)
    is_wait = wait is not None and wait >= MINUTE and not run.is_running
    return LaneWords(
        run="" if run.owner.kind is OwnerKind.SCHEDULE else run.called,
        due=clock(run.due, now, zone) if run.due else "",
        due_since=run.due if run.due is not None and run.due < now else None,
        starts=_starts(run, now, zone),
        is_running=run.is_running,
        wait=times.short(to_minutes(wait)) if wait is not None and is_wait else "",
        ends=end_words(run.end.likely if run.end is not None else None, now, zone),
        by=clock(by, now, zone) if run.end and shown.night.draws and (by := latest(run.end)) > now else "",
        fate="" if run.fate is Fate.MADE else _fate(run, now, zone),
        company=_company(shown.night, run),
    )


def _starts(run: ForeseenRun, now: datetime, zone: tzinfo) -> str:
    """The minute of its start: an estimate is rounded, that of a run at work is cut as on every other page."""
    if run.start is None or run.fate is Fate.REFUSED:
        return ""
    start = run.start.likely
    return clock(start.replace(second=0, microsecond=0) if run.is_running else start, now, zone)


def _fate(run: ForeseenRun, now: datetime, zone: tzinfo) -> str:
    why = render(run.reason, now, zone)
    return f"{run.fate.words}: {why}" if why else run.fate.words


def _company(night: Night, run: ForeseenRun) -> str:
    """The runs at work when it starts, or that start in the same minute; of one at work, those beside it now."""
    if run.start is None or run.fate is Fate.REFUSED:
        return ""
    start = max(run.start.likely, night.now) if run.is_running else run.start.likely
    # By name: one at work is told with another end than the night has.
    same = (run.owner, run.name, run.due)
    others = [
        other for other in night.runs if (other.owner, other.name, other.due) != same and _is_at_work(other, start)
    ]
    tenants = sum(span.is_to_come and span.start <= start < span.released for span in night.typical)
    names = [other.called for other in others] + (["an expected tenant backup"] if tenants == 1 else [])
    names += [f"{tenants} expected tenant backups"] if tenants > 1 else []
    if not names:
        before = [] if run.is_running else _holders(night, run)
        return f"no other run, after {max(before, key=itemgetter(0))[1].called}" if before else "no other run"
    used = tenants + sum(not holder.is_finishing for holder in (run, *others))
    return f"{humanize.join(names)}{': all slots taken' if used >= night.slots else ''}"


def _is_at_work(run: ForeseenRun, at: datetime) -> bool:
    """True if it has started by this minute and not ended; one without a known end goes on."""
    if run.start is None or run.fate is Fate.REFUSED or run.start.likely - at >= MINUTE:
        return False
    return run.end is None or at < run.end.likely


class DayWords(msgspec.Struct, frozen=True):
    """A day in two words: the most that wait at once, and when all that had to wait have ended."""

    waiting: int = 0
    done: datetime | None = None


def day_words(shown: ServerNight, axis: TimeAxis) -> DayWords:
    waited = [
        run.end.likely
        for run in shown.night.runs
        if run.end is not None and (wait_of(run) or timedelta()) >= MINUTE and axis.holds(run.due or shown.night.now)
    ]
    return DayWords(most_waiting(shown.night, axis.start, axis.end), max(waited, default=None))


def week_words(shown: ServerNight, now: datetime, zone: tzinfo) -> tuple[WordLine, ...]:
    """The week in words."""
    if shown.night.unknown:
        return night_words(shown, now, zone)
    busiest = Counter(
        (run.due or shown.night.now).astimezone(zone).strftime("%A")
        for run in shown.night.runs
        if (wait_of(run) or timedelta()) >= MINUTE
    ).most_common(1)
    waits = list(_longest_wait(shown))
    if waits and busiest:
        day, number = busiest[0]
        waits.append(WordLine("", (Phrase(f"most wait on {day}: {humanize.count(number, 'run')}"),), 1))
    return (*_peak(shown, now, zone), *waits, *_runs_of(shown, _NOT_MADE))


def clock(at: datetime, now: datetime, zone: tzinfo) -> str:
    """`04:29`, rounded to the minute, with the day where it is not today or the night that follows."""
    local = (at + timedelta(seconds=30)).astimezone(zone)
    time = f"{local:%H:%M}"
    return time if abs(local - now) < timedelta(hours=20) else f"{local:%a} {time}"


def end_words(end: datetime | None, now: datetime, zone: tzinfo) -> str:
    """When a run ends: `04:29`, `soon` where it was expected to have ended by now, "" where nobody can tell."""
    return "" if end is None else "soon" if end <= now else clock(end, now, zone)


def _span(begins: datetime, ends: datetime, now: datetime, zone: tzinfo) -> str:
    """`06:00–07:30`; the day of the end stands before both where they have it in common, and a minute stands alone."""
    first, last = clock(begins, now, zone), clock(ends, now, zone)
    day, _, hour = last.rpartition(" ")
    plain = first.rpartition(" ")[2]
    if day and begins.astimezone(zone).date() == ends.astimezone(zone).date():
        first, last = f"{day} {plain}", hour
    return first if plain == hour and ends - begins <= MINUTE else f"{first}–{last}"


def to_minutes(length: timedelta) -> timedelta:
    return max(MINUTE, round(length / MINUTE) * MINUTE)
