"""A finding of triage: a fault, its object, since when, the evidence and the remedy."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from foretop_core.models.wire import ObjectRef, Time
from foretop_core.room_finder import rooms
from foretop_core.rules.facts.namespace_facts import ProtectionLimits
from foretop_core.rules.sentences import Command, Key, Text
from foretop_core.rules.severity import Severity

if TYPE_CHECKING:
    from foretop_core.rules.night.window import Window

__all__ = ["QUEUE", "WHAT_CELLS", "Acknowledgement", "Finding", "Severity", "Thresholds", "brief"]
WHAT_CELLS = 32
_PLAIN_WORDS = re.compile(r"[\w ./,:'-]*", re.ASCII)
QUEUE = ""
"""The kind of a finding that is about no object, such as the queue itself."""
WINDOW_OPEN, WINDOW_OVERRUN = "window-open", "window-overrun"
PAUSED_OVERDUE = "velero-paused-overdue"
"""Codes of findings that the screen has keys for."""
SHOW_PODS, SHOW_QUEUE = Command(":pods", "foretop get pods"), Command(":queue", "foretop get queue")
"""Where remedies lead, on the screen and in a shell."""


def _keys_of_rooms(name: str) -> tuple[Key, ...]:
    """A room has such a key, and without it the remedy has none."""
    return tuple(getattr(room, name) for room in rooms("foretop_core") if hasattr(room, name))


CORRECT_WHAT_IT_NAMES = "Correct the template, or the ConfigMap or location that it names."
TRY = _keys_of_rooms("TRY")
"""Behind a change that is to be tried."""
READ_RESULTS, READ_LOGS = _keys_of_rooms("READ_RESULTS"), _keys_of_rooms("READ_LOGS")
"""Behind the results and the logs of a run."""


def brief(words: str, instead: str) -> str:
    """The words for a row where they have room in it, else others: what a cluster says can be of any length."""
    return words if len(words) <= WHAT_CELLS and _PLAIN_WORDS.fullmatch(words) else instead


class Acknowledgement(msgspec.Struct, frozen=True, gc=False, kw_only=True, rename="camel", omit_defaults=True):
    """A person's note on a known finding: why it may wait, and until when; as an entry of a ConfigMap has it."""

    finding: str
    """The id of the finding."""
    by: str
    at: Time
    severity: Severity
    statement: str
    """What the finding said: see `foretop_core.rules.triage.acknowledging.statement`."""
    reason: str
    until: Time | None = None
    """None for until the finding says something else."""


class Finding(msgspec.Struct, frozen=True, gc=False):
    code: str
    severity: Severity
    subject: ObjectRef
    since: datetime | None
    what: Text
    """A few plain words for the row, at most `WHAT_CELLS` wide; names of objects stand in the subject."""
    evidence: Text
    """The whole of it in sentences: what is wrong first, then what shows it."""
    remedy: Text
    """What to do; never what the evidence has said already."""
    related: tuple[ObjectRef, ...] = ()
    cause: str = ""
    """What tells it apart from another finding of the same code on the same subject."""
    blames: ObjectRef | None = None
    """The object whose own finding, where it has one, explains this one."""
    because: Finding | None = None
    """The finding that explains this one."""
    weight: Severity | None = None
    """How grave the gravest is of itself and what it explains."""
    members: tuple[Finding, ...] = ()
    """The findings of one kind that it stands for, worst and newest first."""
    needs_action: bool = True
    """False where it is only good to know: a screen that lists what to do leaves it out."""
    acknowledged: Acknowledgement | None = None
    """Who has said that it is known; None while nobody has."""
    explains_open: bool = False
    """It is known, and something that it explains is not: they are shown together."""
    hits: Text = ""
    """What it stops next, and what is out of reach because of it."""
    raw: str = ""
    """The error as Velero or the API server wrote it."""
    group: str = ""
    """The words for a line that gathers several of its rule, where each has words of its own."""
    told_until: datetime | None = None
    """From when on it is too old to be told, though nothing has mended it; None where it is told while it lasts."""
    times_late: float = 0.0
    """How many times its promise the copy of a namespace is late: of faults alike the greatest comes first."""
    called: str = ""
    """What a person calls the subject, where its own name says nothing."""

    @property
    def context(self) -> str:
        return self.subject.context

    @property
    def id(self) -> str:
        where = f"{self.subject.kind}/{self.subject.namespace}/{self.subject.name}"
        return f"{self.code}:{where}:{self.cause}" if self.cause else f"{self.code}:{where}"


class Thresholds(msgspec.Struct, frozen=True):
    """How long is too long; every rule takes its limits from here."""

    overdue: timedelta = timedelta(minutes=2)
    forgotten_pause: timedelta = timedelta(hours=24)
    nothing_moved: timedelta = timedelta(minutes=15)
    movement_waiting: timedelta = timedelta(minutes=15)
    ready_to_start: timedelta = timedelta(minutes=2)
    queue_idle: timedelta = timedelta(minutes=2)
    deleting: timedelta = timedelta(minutes=10)
    expired: timedelta = timedelta(hours=2)
    not_synced_periods: int = 5
    recent_failure: timedelta = timedelta(hours=24)
    recent_restart: timedelta = timedelta(hours=1)
    storage_request: timedelta = timedelta(minutes=10)
    position_off: timedelta = timedelta(seconds=10)
    expiring_soon: timedelta = timedelta(hours=24)
    gap: timedelta = timedelta(minutes=30)
    """A good backup younger than this is recent enough, however often its schedule runs."""
    most_collisions: int = 5
    fewest_paused: int = 3
    """From so many schedules on, all of them paused is told: that is a window, and not one schedule's own matter."""
    ignored_namespaces: tuple[str, ...] = ()
    """Patterns of further namespaces that need no backup."""
    every_volume: bool = False
    """A volume that somebody chose to leave out is missed too."""
    comes_after: timedelta = timedelta(seconds=5)
    """How long a finding must hold before it is shown; its rule has already waited where that matters."""
    goes_after: timedelta = timedelta(seconds=20)
    window: Window | None = None
    """A stretch of the day in which no backup should be at work."""

    @property
    def protection(self) -> ProtectionLimits:
        """The limits by which the copies of a namespace are judged."""
        return ProtectionLimits(self.gap, self.expiring_soon, self.ignored_namespaces, self.every_volume)
