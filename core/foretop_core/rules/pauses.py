"""Pauses of schedules: by whom, why and until when, as far as the schedule itself tells.

A window is what one person paused together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

import msgspec
from msgspec.structs import replace

from foretop_core.foreign_text import without_signs
from foretop_core.models import Schedule
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Text, render, sentence

ANNOTATIONS = "foretop.io/"
PAUSED_BY = f"{ANNOTATIONS}paused-by"
PAUSED_AT = f"{ANNOTATIONS}paused-at"
PAUSED_WHY = f"{ANNOTATIONS}paused-reason"
PAUSED_UNTIL = f"{ANNOTATIONS}paused-until"
PAUSED_BATCH = f"{ANNOTATIONS}paused-batch"
MARKS = (PAUSED_BY, PAUSED_AT, PAUSED_WHY, PAUSED_UNTIL, PAUSED_BATCH)
OWN_MANAGER = "foretop"
_PROGRAM = re.compile(r"(?:foretop|kubectl|oc|velero|helm|argocd|flux|kustomize|manager)\b.*|.*-(?:controller|manager)")


class PauseInfo(msgspec.Struct, frozen=True):
    """`who` reads on after "paused": `by maria`, `with kubectl-patch`, or nothing."""

    since: datetime | None
    who: str = ""
    why: str = ""
    until: datetime | None = None


def noted_author(schedule: Schedule) -> str:
    """The person in the note that foretop leaves on what it pauses, or on a pause of others; "" where there is none.

    What others pause after the moment that it names is theirs.
    """
    field, noted = schedule.paused_field_set, noted_pause(schedule)
    is_own = field is None or field.manager in ("", OWN_MANAGER)
    is_of_it = field is not None and field.time is not None and noted is not None and noted >= field.time
    return schedule.annotation(PAUSED_BY) if is_own or is_of_it else ""


def noted_pause(schedule: Schedule) -> datetime | None:
    """When foretop last paused it, by the note on it, which stays while a copy that was owed then is owed."""
    return _time(schedule.annotation(PAUSED_AT))


def pause_info(schedule: Schedule) -> PauseInfo:
    """The API server knows the program that wrote; the person stands in the note that foretop leaves."""
    field = schedule.paused_field_set
    since, program = (field.time, field.manager) if field else (None, "")
    if person := noted_author(schedule):
        why, until = schedule.annotation(PAUSED_WHY), _time(schedule.annotation(PAUSED_UNTIL))
        noted = noted_pause(schedule)
        # A later write of foretop to another field moves the field's time, and not the note's.
        began = min(filter(None, (since, noted)), default=None)
        others = f"{written_with(program)}, noted " if program not in ("", OWN_MANAGER) else ""
        return PauseInfo(began, f"{others}by {person}", why, until)
    return PauseInfo(since, written_with(program)) if program else PauseInfo(since)


def written_with(program: str) -> str:
    """`with kubectl-edit`, or `by maria` where the name is no program's."""
    return f"{'with' if _PROGRAM.fullmatch(program) else 'by'} {program}"


def _time(text: str) -> datetime | None:
    """None for what a person has made of the note."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo and FIRST_YEAR <= moment.year <= LAST_YEAR else None


_MOST_PAUSES = 3


class PauseWindow(msgspec.Struct, frozen=True):
    """The schedules that one window paused and that are still paused."""

    id: str
    schedules: tuple[Schedule, ...]

    @property
    def name(self) -> str:
        """The name that a person gives it: its reason, or else the schedules that it paused."""
        return self.pause.why or f"of {humanize.join([schedule.name for schedule in self.schedules], 2)}"

    @property
    def pause(self) -> PauseInfo:
        """The pause with its author, reason and end: one request wrote the same on all of them, one after the other.

        Where the end of some was changed since, the one that ends first.
        """
        pauses = self._pauses
        ends = {pause.until: pause for pause in reversed(pauses) if pause.until is not None}
        return ends[min(ends)] if ends else pauses[0]

    @property
    def told(self) -> Text:
        """Since when it is paused, by whom, why and until when."""
        return sentence(self.since, pause_reason(self.pause))

    @property
    def since(self) -> Text:
        return _since_first(self._pauses)

    @property
    def _pauses(self) -> list[PauseInfo]:
        return [pause_info(schedule) for schedule in self.schedules]

    def overrun(self, now: datetime) -> timedelta | None:
        """How long ago it should have ended; None where it has time left, or no end."""
        until = self.pause.until
        return now - until if until is not None and now > until else None

    def note(self, now: datetime) -> Text:
        late = self.overrun(now)
        return sentence(self.told, sentence(", overrun by ", late) if late is not None else "")


def pause_windows(schedules: Iterable[Schedule]) -> tuple[PauseWindow, ...]:
    """The windows of one cluster's schedules, in the order of their ids."""
    by_window: dict[str, list[Schedule]] = {}
    for schedule in schedules:
        if schedule.spec.paused and (window := schedule.annotation(PAUSED_BATCH)):
            by_window.setdefault(window, []).append(schedule)
    return tuple(
        PauseWindow(window, tuple(sorted(items, key=lambda item: (item.namespace, item.name))))
        for window, items in sorted(by_window.items())
    )


def ended_windows(schedules: Iterable[Schedule], now: datetime) -> tuple[PauseWindow, ...]:
    """The windows that should have ended, each with those of its schedules whose end has passed."""
    return pause_windows(item for item in schedules if _is_over(item, now))


def open_windows(schedules: Iterable[Schedule], now: datetime) -> tuple[PauseWindow, ...]:
    """The windows that have time left or no end, each with those of its schedules that do."""
    return pause_windows(item for item in schedules if not _is_over(item, now))


def _is_over(schedule: Schedule, now: datetime) -> bool:
    if not schedule.spec.paused:
        return False
    until = pause_info(schedule).until
    return until is not None and now > until


def first_pause(pauses: Iterable[PauseInfo]) -> datetime | None:
    """Since when several are paused: since the first of them was; each has its own time besides."""
    return min((pause.since for pause in pauses if pause.since is not None), default=None)


def _since_first(pauses: Sequence[PauseInfo]) -> Text:
    first, differ = first_pause(pauses), len({pause.since for pause in pauses}) > 1
    return sentence("since ", first, " (the first of them)" if differ else "") if first else "at an unknown time"


def pause_note(paused: PauseInfo) -> Text:
    """Since when one is paused, by whom, why, and until when that was meant to last."""
    return sentence(_since_first((paused,)), pause_reason(paused))


def pause_reason(paused: PauseInfo) -> Text:
    """By whom, why, and until when; reads on after since when."""
    who = f" {without_signs(paused.who)}" if paused.who else ""
    why = f": {without_signs(paused.why)}" if paused.why else ", no reason given"
    until = sentence("; meant until ", paused.until) if paused.until else ""
    return sentence(who, why, until)


def other_pauses(schedules: Iterable[Schedule]) -> Text:
    """A sentence on pauses outside of windows: by whom, why, since when, the largest group first; "" for none."""
    alike: dict[tuple[str, str, datetime | None], list[tuple[Schedule, PauseInfo]]] = {}
    for schedule in schedules:
        if not schedule.annotation(PAUSED_BATCH):
            info = pause_info(schedule)
            alike.setdefault((info.who, info.why, info.until), []).append((schedule, info))
    groups = sorted(alike.values(), key=len, reverse=True)
    if not groups:
        return ""
    rest = sum(len(group) for group in groups[_MOST_PAUSES:])
    parts = [part for group in groups[:_MOST_PAUSES] for part in ("; ", _paused_alike(group))][1:]
    return sentence(" Paused: ", *parts, f"; and {humanize.count(rest, 'other')}." if rest else ".")


def _paused_alike(group: list[tuple[Schedule, PauseInfo]]) -> Text:
    who = group[0][0].name if len(group) == 1 else humanize.count(len(group), "schedule")
    return sentence(f"{who} ", _since_first([info for _, info in group]), pause_reason(group[0][1]))


def window_lines(window: PauseWindow, now: datetime, zone: tzinfo) -> tuple[str, str]:
    """A window in a list: how many and until when, which must not be cut, then since when, by whom, why and which."""
    until, late = window.pause.until, window.overrun(now)
    end = sentence(", meant until ", until) if until is not None else ", no end given"
    many = f"{window.id}  {humanize.count(len(window.schedules), 'schedule')}"
    head = sentence(many, end, sentence(", overrun by ", late) if late is not None else "")
    names = humanize.join([schedule.name for schedule in window.schedules])
    detail = sentence(window.since, pause_reason(replace(window.pause, until=None)), f" ({names})")
    return render(head, now, zone), render(detail, now, zone)


def window_line(window: PauseWindow, now: datetime, zone: tzinfo = UTC) -> str:
    """A window as the next shift knows it: what, since when, by whom, why and until when."""
    names = humanize.join([schedule.name for schedule in window.schedules])
    many = humanize.count(len(window.schedules), "schedule")
    return f"{window.id}  {many} {render(window.note(now), now, zone)} ({names})"
