"""When Velero looked at its schedules and what it decided, by its own log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

SUBMITTED, NOT_DUE = "Schedule is due, going to submit backup.", "Schedule is not due, skipping"
_LOOK = "enqueueing resources ..."
_LINE = re.compile(r'time="([^"]+)" level=\w+ msg="([^"]*)"(.*)')
_SCHEDULE = re.compile(r"\bschedule=[^/\s]+/(\S+)")


@dataclass(frozen=True, slots=True)
class Decision:
    """What Velero decided about one schedule."""

    at: datetime
    schedule: str
    message: str


@dataclass(frozen=True, slots=True)
class VeleroLog:
    """The lines of a log at level debug that concern schedules, in whole seconds."""

    looks: Sequence[datetime] = ()
    decisions: Sequence[Decision] = ()

    def of(self, schedule: str) -> list[Decision]:
        return [decision for decision in self.decisions if decision.schedule == schedule]


def read_log(text: str) -> VeleroLog:
    looks, decisions = [], []
    for line in text.splitlines():
        if not any(words in line for words in (_LOOK, SUBMITTED, NOT_DUE)) or not (found := _LINE.match(line)):
            continue
        at, message, fields = datetime.fromisoformat(found[1]), found[2], found[3]
        if message == _LOOK and "controller=schedule" in fields.split():
            looks.append(at)
        elif message in (SUBMITTED, NOT_DUE) and (schedule := _SCHEDULE.search(fields)):
            decisions.append(Decision(at, schedule[1], message))
    return VeleroLog(looks, decisions)
