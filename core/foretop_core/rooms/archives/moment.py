"""The moment at which an archive was made: its "now", which is never the clock of whoever reads it.

It is the time of capture in a name, else the newest time at which something was done; what is planned does not count.
A time that lies more than a day after all others, or a name that contradicts them, is a wrong clock: it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import msgspec

from foretop_core.errors import BadInput
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import FIRST_YEAR, LAST_YEAR
from foretop_core.rooms.archives.members import Notes

_NAMED = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)T(\d\d)[-:](\d\d)[-:](\d\d)Z")
_DONE = re.compile(
    rb'"(?:creationTimestamp|time|startTimestamp|completionTimestamp|lastTransitionTime|lastValidationTime|'
    rb"lastSyncedTime|lastBackup|lastSkipped|processedTimestamp|lastMaintenanceTime|firstTimestamp|lastTimestamp|"
    rb'eventTime|startedAt|finishedAt|startTime|completionTime|lastScheduleTime|lastSuccessfulTime)"\s*:\s*'
    rb'"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"'
)
_APART = timedelta(days=1)
_SILENT = timedelta(days=60)
"""A cluster in which nothing was done for so long before the archive was made is one whose name is wrong."""


class Moments:
    """The times of an archive, gathered member by member: those in names, and of each object its newest."""

    def __init__(self) -> None:
        self._named: set[datetime] = set()
        self._done: dict[datetime, list[str]] = {}

    def note_name(self, name: str) -> None:
        for parts in _NAMED.findall(name):
            try:
                self._named.add(datetime(*map(int, parts), tzinfo=UTC))  # type: ignore[misc, arg-type]
            except ValueError:
                continue

    def note_object(self, kind: Kind, key: tuple[str, str], raw: bytes) -> None:
        moments = [moment for text in set(_DONE.findall(raw)) if (moment := _moment(text.decode())) is not None]
        if moments:
            self._done.setdefault(max(moments), []).append(f"{kind.name} {'/'.join(filter(None, key))}")

    def now(self, name: str, notes: Notes) -> datetime:
        """Raises BadInput where nothing tells a time."""
        self.note_name(name)
        fitting = {at for at in self._named if self._fits(at)}
        for at in sorted(self._named - fitting):
            notes.add("A time in a name is left out, for nothing was done near it", f"{at:%Y-%m-%dT%H:%M:%SZ}")
        ordered = sorted(self._done, reverse=True)
        if fitting:
            latest = max(fitting) + _APART
            # What was done while the archive was being made belongs to it.
            last = max([*fitting, *(done for done in ordered if done <= latest)])
        elif ordered:
            near = (at for at, before in zip(ordered, [*ordered[1:], None], strict=True) if self._is_near(at, before))
            last = next(near, ordered[0])
        else:
            raise BadInput(f"Nothing in {name} says when it was made", "its objects have no times")
        for done in ordered:
            if done > last:
                where = f"{done:%Y-%m-%dT%H:%M:%SZ} ({self._done[done][0]})"
                notes.add("A time more than a day after all others is left out", where)
        return last

    def _fits(self, named: datetime) -> bool:
        return not self._done or any(-_APART <= named - done <= _SILENT for done in self._done)

    def _is_near(self, at: datetime, before: datetime | None) -> bool:
        """True if something else was done within a day before."""
        return len(self._done[at]) > 1 or (before is not None and at - before <= _APART)


def time_of(
    documents: Iterable[tuple[Kind, Mapping[str, object]]], name: str
) -> tuple[datetime | None, tuple[str, ...]]:
    """The moment at which a file of manifests was made, and what is to be said of it; None where they have no times."""
    moments, notes = Moments(), Notes()
    for kind, document in documents:
        meta = document.get("metadata")
        if isinstance(meta, Mapping):
            with suppress(TypeError, ValueError, RecursionError):
                key = str(meta.get("namespace") or ""), str(meta.get("name") or "")
                moments.note_object(kind, key, msgspec.json.encode(document))
    try:
        now = moments.now(name, notes)
    except BadInput:
        return None, ()
    return now, notes.lines()


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if FIRST_YEAR <= moment.year <= LAST_YEAR else None
