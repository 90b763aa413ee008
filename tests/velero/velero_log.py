"""When Velero looked at its schedules and submitted their backups, by its own log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

_LINE = re.compile(r'time="([^"]+)" level=\w+ msg="([^"]*)"(.*)')
_LOOK = "enqueueing resources ..."
_SUBMITTED = "Schedule is due, going to submit backup."


@dataclass(frozen=True, slots=True)
class VeleroLog:
    """The lines of a log at level debug that concern schedules, in whole seconds."""

    looks: Sequence[datetime] = ()
    submissions: Sequence[tuple[str, datetime]] = ()

    def submitted(self, schedule: str) -> Iterator[datetime]:
        return (at for name, at in self.submissions if name == schedule)


def read_log(text: str) -> VeleroLog:
    looks, submissions = [], []
    for line in text.splitlines():
        if (_LOOK in line or _SUBMITTED in line) and (found := _LINE.match(line)):
            at, message, fields = datetime.fromisoformat(found[1]), found[2], found[3]
            if message == _LOOK and "controller=schedule" in fields.split():
                looks.append(at)
            elif message == _SUBMITTED and (name := re.search(r"schedule=\S+/(\S+)", fields)):
                submissions.append((name[1], at))
    return VeleroLog(looks, submissions)
