"""The night in a few numbers: how full it gets, who waits longest, what is late or lost, what falls into a window."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from enum import StrEnum
from itertools import groupby
from operator import itemgetter

import msgspec

from foretop_core.rules import humanize
from foretop_core.rules.night.night import Fate, ForeseenRun, Night
from foretop_core.rules.night.ranges import range_over
from foretop_core.rules.night.window import Window
from foretop_core.rules.queue.owners import OwnerKind, going_on
from foretop_core.rules.queue.queue_items import Range

_MINUTE = timedelta(minutes=1)
LEAST_WAIT = _MINUTE
"""Velero itself takes some seconds from a submission to a start: that does not count as waiting."""
_DAY = timedelta(days=1)
_SIX, _HALF_HOUR = timedelta(hours=6), timedelta(minutes=30)
_NIGHT = timedelta(hours=12)
"""It begins so long before six."""
_SELDOM = 4
"""Runs of a schedule in a day: those of one with more are never done."""
_MOST_NAMED = 8
ANSWERS = {"": "yes", "not all": "not all", "likely": "likely", "not known": "not known", "not": "no"}
"""By the verdict on a window, whether all is done when it begins."""
TENANTS_ONLY = "all are tenants' backups, not yet requested: a guess from recent ones"
"""Each draw has them at other times, so none is told."""


class Missing(StrEnum):
    """Why a backup of a schedule is not made."""

    LOST = "lost"
    REFUSED = "refused"
    INVALID = "invalid"
    PAUSED = "paused"


class Peak(msgspec.Struct, frozen=True):
    """The largest number at one time, from the first moment of a stretch to its end."""

    count: int
    begins: datetime
    ends: datetime
    to_come: int = 0
    """How many of them are backups that tenants have not asked for yet."""
    has_to_come: bool = False
    """Whether there are such backups at any time of the stretch."""

    @property
    def to_come_words(self) -> str:
        """Says what they are; "" where none is counted."""
        if not self.to_come:
            return ""
        what = "is a tenant's backup" if self.to_come == 1 else "are tenants' backups"
        who = f"{self.to_come}" if self.to_come < self.count else "it" if self.count == 1 else "all"
        return f"{who} {what}, not yet requested"


class ScheduleOutlook(msgspec.Struct, frozen=True):
    """The coming runs of one schedule, in the order of their due moments."""

    name: str
    runs: tuple[ForeseenRun, ...]

    @property
    def next(self) -> ForeseenRun | None:
        """The next one that is made."""
        return next((run for run in self.runs if run.fate is not Fate.LOST), None)

    def count(self, fate: Fate) -> int:
        """How many are likely to end so; of the lost ones those that are lost in the average course."""
        if fate is Fate.LOST:
            return round(sum(run.share_lost for run in self.runs if run.fate is not Fate.REFUSED))
        return sum(run.fate is fate for run in self.runs)


class LastEnd(msgspec.Struct, frozen=True):
    """The end of the last of some runs: likely, and when all of them have ended in nine of ten courses."""

    run: ForeseenRun
    likely: datetime
    by: datetime | None
    """None without draws, and where more than one course in ten has no end."""


class Outlook(msgspec.Struct, frozen=True):
    """The coming hours of one server, as an operator asks about them."""

    night: Night
    schedules: tuple[ScheduleOutlook, ...]
    at_work: Peak | None
    """Of several stretches the one in which most wait."""
    waiting: Peak | None
    longest_wait: ForeseenRun | None
    night_done: LastEnd | None = None
    """The end of the runs before six that are not made all day long; None where it is the end of all."""

    @property
    def has_tenants_only(self) -> bool:
        """True if nothing is there or due, and all that is played are backups that tenants have not asked for yet."""
        return bool(self.night.typical) and all(span.is_to_come for span in self.night.typical)

    @property
    def done(self) -> Range | None:
        """When all is done."""
        return self.night.done

    @property
    def done_by(self) -> datetime | None:
        """When all is done in nine of ten courses; None without draws, and where more than one in ten has no end."""
        return self.done.by if self.done is not None and self.night.draws else None

    @property
    def night_end(self) -> tuple[datetime, datetime | None] | None:
        """When the night is done, likely and in nine of ten courses: its own runs, or all where it has no others."""
        if self.night_done is not None:
            return self.night_done.likely, self.night_done.by
        return None if self.done is None else (self.done.likely, self.done_by)

    @property
    def loses_runs(self) -> bool:
        return any(schedule.count(Fate.LOST) for schedule in self.schedules)

    @property
    def missing(self) -> tuple[Missing, ...]:
        """The reasons for which backups of its schedules are not made."""
        counts = {
            Missing.LOST: self.loses_runs,
            Missing.REFUSED: bool(self.refused),
            Missing.INVALID: bool(self.night.invalid),
            Missing.PAUSED: bool(self.night.paused),
        }
        return tuple(reason for reason, is_missing in counts.items() if is_missing)

    @property
    def is_unsure(self) -> bool:
        """True if nothing is foreseen, or of some schedule or run not even whether it is made."""
        left_out = self.night.left_out.keys() - {*self.night.invalid, *self.night.paused}
        return bool(self.night.unknown or left_out) or any(run.fate is Fate.UNKNOWN for run in self.night.runs)

    @property
    def lost(self) -> tuple[ForeseenRun, ...]:
        """The runs that are lost in the likely course."""
        return self._with(Fate.LOST)

    @property
    def refused(self) -> tuple[ForeseenRun, ...]:
        return self._with(Fate.REFUSED)

    def _with(self, fate: Fate) -> tuple[ForeseenRun, ...]:
        return tuple(run for run in self.night.runs if run.fate is fate)


class WindowOutlook(msgspec.Struct, frozen=True):
    """Runs at work in a window: `sure` by their likely start and end, `perhaps` in one of ten courses or more."""

    begins: datetime
    ends: datetime
    sure: tuple[ForeseenRun, ...] = ()
    perhaps: tuple[ForeseenRun, ...] = ()
    at_work: tuple[ForeseenRun, ...] = ()
    """Of the runs before it, those that are still at work when it begins."""
    waiting: tuple[ForeseenRun, ...] = ()
    """Of the runs before it, those that still wait when it begins."""
    perhaps_open: tuple[ForeseenRun, ...] = ()
    """Of the runs before it, those that are likely to have ended, and may not have."""
    last_before: LastEnd | None = None
    """The end of the last run that was made before it begins."""
    skipped: tuple[str, ...] = ()
    """Of the night's schedules those that make no backup in it: their run was skipped."""
    missing: tuple[str, ...] = ()
    """`offsite-copy refused`, `etl lost`: the runs due before it that are not made."""
    going_on: tuple[str, ...] = ()
    """The schedules that are made all day long, and so after the last end too: that end is none of theirs."""

    @property
    def runs(self) -> tuple[ForeseenRun, ...]:
        return (*self.sure, *self.perhaps)

    @property
    def without_end(self) -> tuple[str, ...]:
        """Whose runs before it have no known end."""
        return tuple(names_of(run for run in self.perhaps_open if run.has_no_known_end))

    @property
    def has_runs_before(self) -> bool:
        return self.last_before is not None or bool(self.without_end)

    @property
    def verdict(self) -> str:
        """Says whether the runs before it are done then: `not`, `not known`, `not all`, `likely`, or "" for yes."""
        if self.at_work or self.waiting or (self.last_before is not None and self.last_before.likely > self.begins):
            return "not"
        if self.without_end:
            return "not known"
        if self.missing:
            return "not all"
        last = self.last_before
        is_sure = not self.perhaps_open and (last is None or last.by is None or last.by <= self.begins)
        return "" if is_sure else "likely"

    @property
    def is_free(self) -> bool:
        return not self.sure and not self.perhaps


def schedule_outlooks(night: Night) -> tuple[ScheduleOutlook, ...]:
    """The runs that fall due, by schedule."""
    coming = sorted((run for run in night.runs if run.due is not None), key=lambda run: (run.owner.name, run.due))
    return tuple(ScheduleOutlook(name, tuple(runs)) for name, runs in groupby(coming, key=lambda run: run.owner.name))


def next_waits(night: Night) -> dict[str, tuple[datetime, timedelta]]:
    """By schedule, when its next run falls due, and how long that one is likely to wait for a slot."""
    return {
        schedule_outlook.name: (run.due.replace(microsecond=0), max(timedelta(), run.start.likely - run.submitted))
        for schedule_outlook in schedule_outlooks(night)
        if (run := schedule_outlook.runs[0]).fate not in (Fate.LOST, Fate.REFUSED)
        and run.due
        and run.submitted
        and run.start
    }


def outlook(night: Night, zone: tzinfo = UTC) -> Outlook:
    by_schedule = schedule_outlooks(night)
    waits = [run for run in night.runs if _wait(run) >= LEAST_WAIT and run.fate is not Fate.REFUSED]
    work = [(span.start, span.released, span.is_to_come) for span in night.typical]
    waiting = _peak(_waiting(night))
    return Outlook(
        night,
        by_schedule,
        _peak(work, waiting),
        waiting,
        max(waits, key=_wait, default=None),
        _night_done(night, by_schedule, zone),
    )


def most_waiting(night: Night, begins: datetime, ends: datetime) -> int:
    """How many wait at one time in a stretch, from now on."""
    stretches = [(max(first, begins), min(last, ends), is_to_come) for first, last, is_to_come in _waiting(night)]
    peak = _peak(stretches)
    return 0 if peak is None else peak.count


def _waiting(night: Night) -> list[_Stretch]:
    return [
        (max(span.submitted, night.now), span.start, span.is_to_come)
        for span in night.typical
        if span.start - span.submitted >= LEAST_WAIT
    ]


def by_six(night: Night, schedules: Sequence[ScheduleOutlook], zone: tzinfo) -> WindowOutlook:
    """Tells of the night's own runs whether they are done at six: of those that are not made all day long.

    Of all runs where it has no others before six. One without a known end counts, whosever it is: its slot is taken.
    """
    six = Window(_SIX, _HALF_HOUR, zone)
    answer, going_on = window_outlook(_with_own_runs(night, schedules), six), tuple[str, ...]()
    if answer.last_before is None:
        answer = window_outlook(night, six)
    else:
        going_on = _going_on(night, schedules, answer.last_before.likely, answer.begins)
    missing = _missing(night, answer.begins, _often(night, schedules))
    skipped = _skipped(night, schedules, answer.begins)
    return msgspec.structs.replace(answer, skipped=skipped, missing=missing, going_on=going_on)


def _going_on(night: Night, schedules: Sequence[ScheduleOutlook], after: datetime, until: datetime) -> tuple[str, ...]:
    """The schedules made all day long, where one of them ends a run between the end of the night's own runs and six."""
    often = _often(night, schedules)
    ends = {
        one.name: [run.end.likely for run in one.runs if run.end is not None and run.end.likely < until]
        for one in schedules
        if one.name in often
    }
    goes_on = any(max(made, default=after) > after for made in ends.values())
    return tuple(name for name, made in ends.items() if made) if goes_on else ()


def _missing(night: Night, until: datetime, often: set[str]) -> tuple[str, ...]:
    """The runs due before a moment that are not made; of schedules that run all day long a lost one is soon made up."""
    due = [run for run in night.runs if (run.due or run.submitted or night.now) < until]
    names = {
        Missing.REFUSED: names_of(run for run in due if run.fate is Fate.REFUSED),
        Missing.LOST: names_of(run for run in due if run.fate is Fate.LOST and run.owner.name not in often),
        Missing.INVALID: list(night.invalid),
    }
    return tuple(f"{humanize.join(named, _MOST_NAMED)} {reason}" for reason, named in names.items() if named)


def _skipped(night: Night, schedules: Sequence[ScheduleOutlook], six: datetime) -> tuple[str, ...]:
    """The night's schedules whose run of this night was skipped, and that make no other one before six."""
    others = _often(night, schedules) | {
        schedule_outlook.name
        for schedule_outlook in schedules
        if any(run.due is not None and run.due < six for run in schedule_outlook.runs)
    }
    return tuple(
        name
        for name, runs in night.skipped.items()
        if name not in others and not runs.has_run_since and runs.due[-1] >= six - _NIGHT
    )


def skipped_words(window: WindowOutlook) -> str:
    """`ledger-nightly and hr-nightly make none: skipped`; "" where none was."""
    names = window.skipped
    return f"{humanize.join(names)} make{'s' if len(names) == 1 else ''} none: skipped" if names else ""


def done_by_six(one: Outlook, zone: tzinfo) -> str:
    """Answers in a word whether the night is done by six."""
    if nothing_runs(one, zone):
        return "no schedule runs"
    six = by_six(one.night, one.schedules, zone)
    return ANSWERS[six.verdict] if six.has_runs_before or six.missing else "no runs"


def no_known_end(window: WindowOutlook) -> str:
    """`videos has no known end`."""
    names = window.without_end
    return f"{humanize.join(names)} {'has' if len(names) == 1 else 'have'} no known end"


def nothing_runs(one: Outlook, zone: tzinfo = UTC) -> str:
    """Says that no schedule makes a backup before six, because most are paused, and who does; "" where one does."""
    paused, six = len(one.night.paused), Window(_SIX, _HALF_HOUR, zone).after(one.night.now)[0]
    if paused <= len(one.schedules) or any(run.due and run.due < six for made in one.schedules for run in made.runs):
        return ""
    coming = {OwnerKind.NAB for span in one.night.typical if span.is_to_come and span.submitted < six}
    others = going_on({run.owner.kind for run in one.night.runs} | coming)
    what, and_others = ("no schedule", f"; {others}") if others else ("nothing", "")
    return f"{what} runs until resumed: {paused:,} {'is' if paused == 1 else 'are'} paused{and_others}"


def _often(night: Night, schedules: Iterable[ScheduleOutlook]) -> set[str]:
    """The schedules whose runs are made all day long."""
    most = max(_SELDOM, _SELDOM * ((night.until - night.now) / _DAY))
    return {schedule_outlook.name for schedule_outlook in schedules if len(schedule_outlook.runs) > most}


def _with_own_runs(night: Night, schedules: Iterable[ScheduleOutlook]) -> Night:
    often = _often(night, schedules)
    own = (
        run
        for run in night.runs
        if run.owner.kind is OwnerKind.SCHEDULE and (run.owner.name not in often or run.has_no_known_end)
    )
    return msgspec.structs.replace(night, runs=tuple(own))


def _night_done(night: Night, schedules: Sequence[ScheduleOutlook], zone: tzinfo) -> LastEnd | None:
    """The end of the night's own runs, as far as they are made before six; None where that is the end of all."""
    end = window_outlook(_with_own_runs(night, schedules), Window(_SIX, _HALF_HOUR, zone)).last_before
    return None if end is None or night.done is None or end.likely >= night.done.likely else end


def _last_end(night: Night, runs: Iterable[ForeseenRun]) -> LastEnd | None:
    ending = [(run.end.likely, run) for run in runs if run.end is not None]
    if not ending:
        return None
    likely, last = max(ending, key=itemgetter(0))
    # Course by course: that each is done in nine of ten does not say that all are, and of runs that start together,
    # in an order that nobody knows, each is likely to end in the middle of them.
    joint = range_over(night.now, map(max, zip(*(run.ends for _, run in ending), strict=True)))
    likely = likely if joint is None else max(likely, joint.likely)
    by = None if joint is None or joint.by is None else max(likely, joint.by)
    return LastEnd(last, likely, by)


def in_window(night: Night, begins: datetime, ends: datetime) -> tuple[ForeseenRun, ...]:
    """The runs that are at work in a window in one of ten courses or more, or may be; the surest first."""
    runs = [
        run
        for run in night.runs
        if run.fate not in (Fate.LOST, Fate.REFUSED)
        and (_earliest(run, night.now) < ends)
        and (run.end is None or run.end.most[1] > begins)
    ]
    return tuple(sorted(runs, key=lambda run: (not is_likely_in(run, begins, ends), _earliest(run, night.now))))


def _earliest(run: ForeseenRun, now: datetime) -> datetime:
    """Before this it is not at work."""
    return run.start.most[0] if run.start is not None else run.due or run.submitted or now


def window_outlook(night: Night, window: Window) -> WindowOutlook:
    """The runs at work the next time that a window comes."""
    begins, ends = window.after(night.now)
    runs = in_window(night, begins, ends)
    sure = tuple(run for run in runs if is_likely_in(run, begins, ends))
    moment = max(begins, night.now)
    before = [run for run in runs if (made := run.submitted or run.due) is not None and made < moment]
    at_work = tuple(run for run in before if run.start and run.end and run.start.likely < moment < run.end.likely)
    waiting = tuple(run for run in before if run.start and moment <= run.start.likely)
    return WindowOutlook(
        begins,
        ends,
        sure,
        runs[len(sure) :],
        at_work,
        waiting,
        tuple(run for run in before if run not in at_work and run not in waiting),
        _last_end(night, (run for run in night.runs if (run.submitted or run.due or night.now) < moment)),
        missing=_missing(night, begins, set()),
    )


def is_likely_in(run: ForeseenRun, begins: datetime, ends: datetime) -> bool:
    """True if a run is at work in a window by its likely start and end."""
    return run.start is not None and run.end is not None and run.start.likely < ends and run.end.likely > begins


def wait_of(run: ForeseenRun) -> timedelta | None:
    """How long it waits in the queue, by its likely start; None where it does not start."""
    return None if run.start is None or run.submitted is None else max(timedelta(), run.start.likely - run.submitted)


def fate_counts(one: Outlook, fate: Fate) -> list[tuple[str, int]]:
    """The schedules with runs that are likely to end so, and how many."""
    return [(schedule.name, count) for schedule in one.schedules if (count := schedule.count(fate))]


def most_at_work(one: Outlook) -> str:
    """`3 of 3`; `3 now, then 2 of 2` with fewer slots than are in use: none of those at work is ended for that."""
    count, slots = one.at_work.count if one.at_work is not None else 0, one.night.slots
    return f"{count} of {slots}" if count <= slots else f"{count} now, then {slots} of {slots}"


def done_of_all(one: Outlook, most: int) -> str:
    """`all`, or `all but etl and 40 paused`: the subject of "is done by"; at most so many others are named.

    Those that are refused or lost are none of it, nor those that are left out.
    """
    left_out, paused = one.night.left_out, one.night.paused
    if left_out and not one.schedules:
        endless = one.night.without_end
        return f"what runs now but {humanize.join(endless, most)}" if endless else "what runs now"
    often = _often(one.night, one.schedules)
    not_made = names_of((*one.refused, *(run for run in one.lost if run.owner.name not in often)))
    others = tuple(dict.fromkeys((*one.night.without_end, *sorted(left_out.keys() - set(paused)), *not_made)))
    but = [*([humanize.join(others, most)] if others else []), *([f"{len(paused):,} paused"] if paused else [])]
    return f"all but {' and '.join(but)}" if but else "all"


def still_open(window: WindowOutlook) -> str:
    """`images at work, logs and wiki waiting`: the runs that are open when a window begins; "" where none is."""
    lines = [
        f"{humanize.join(names_of(runs))} {how}"
        for runs, how in ((window.at_work, "at work"), (window.waiting, "waiting"))
        if runs
    ]
    if not lines and window.perhaps_open:
        return f"perhaps not {humanize.join(names_of(window.perhaps_open))}"
    return ", ".join(lines)


def names_of(runs: Iterable[ForeseenRun]) -> list[str]:
    return list(dict.fromkeys(run.called for run in runs))


def _wait(run: ForeseenRun) -> timedelta:
    return wait_of(run) or timedelta()


_Stretch = tuple[datetime, datetime, bool]
"""From when to when, and whether it is that of a tenant to come."""


def _peak(spans: Sequence[_Stretch], busy: Peak | None = None) -> Peak | None:
    """A stretch of the largest number: the one that has most of `busy`, else the first.

    A slot that is handed over within a minute does not end it.
    """
    count = most = 0
    peaks: list[tuple[datetime, datetime]] = []
    begins: datetime | None = None
    for moment, step in sorted(
        move for begins, ends, _ in spans if ends > begins for move in ((ends, -1), (begins, 1))
    ):
        if count == most and begins is not None and step < 0:
            peaks.append((begins, moment))
            begins = None
        count += step
        if count > most:
            most, begins, peaks = count, moment, []
        elif count == most:
            begins = peaks.pop()[0] if moment - peaks[-1][1] <= _MINUTE else moment
    if not peaks:
        return None
    begins, ends = max(peaks, key=lambda one: _shared(one, busy))
    to_come = [(first, last) for first, last, is_to_come in spans if is_to_come and first < ends and begins < last]
    return Peak(most, begins, ends, sum(first <= begins for first, _ in to_come), bool(to_come))


def _shared(stretch: tuple[datetime, datetime], peak: Peak | None) -> timedelta:
    if peak is None:
        return timedelta()
    return max(timedelta(), min(stretch[1], peak.ends) - max(stretch[0], peak.begins))
