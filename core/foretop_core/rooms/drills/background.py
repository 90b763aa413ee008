"""Findings about what drills have left, by the journal: read only while something has the label of a drill."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from foretop_core.actions.journal import Journal, default_path
from foretop_core.errors import ForetopError
from foretop_core.models.kinds import NAMESPACE
from foretop_core.rooms.drills.leftovers import (
    LEFT_OVER,
    DrillRecord,
    LeftDrill,
    LeftObject,
    labelled_objects,
    left_drills,
)
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Key, Text, join_sentences, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import Finding, Severity, Thresholds
from foretop_core.rules.triage.guarded import Rule

# Deferred imports: the actions are loaded after the first rows.

_EACH = 5.0
"""Seconds between two readings; another foretop of the same person may have written."""


class DrillJournal:
    """The journal of one person; a screen reads it in a thread, because a file may take its time."""

    def __init__(self, environ: Mapping[str, str], *, waits: bool) -> None:
        """`waits` is for a command, which has nothing else to do meanwhile."""
        self._journal = Journal(default_path(environ))
        self._waits = waits
        self._held: Sequence[DrillRecord] | None = None
        self._next = 0.0
        self._reader: threading.Thread | None = None

    def rules(self, snapshot: ClusterSnapshot) -> tuple[Rule, ...]:
        """The rule by the records as they were read last; none before that, and where nothing has the label of a drill.

        A journal that cannot be read proves nothing.
        """
        if next(labelled_objects(snapshot), None) is None:
            return ()
        if time.monotonic() >= self._next and (self._reader is None or not self._reader.is_alive()):
            self._next = time.monotonic() + _EACH
            self._reader = threading.Thread(target=self._read, name="drill journal", daemon=True)
            self._reader.start()
            if self._waits:
                self._reader.join()
        return (left_over_drills(self._held),) if self._held is not None else ()

    def _read(self) -> None:
        from foretop_core.rooms.drills.planners import drill_records

        try:
            self._held = drill_records(self._journal.read())
        except ForetopError:
            self._held = ()


READ = DrillJournal


UNPROVEN = "drill-unproven"


def left_over_drills(records: Sequence[DrillRecord]) -> Rule:
    """The rule for what the journal, which has these records, proves; drills that are still going are not findings.

    Such a finding names no related object: a key on it would delete that one without a proof.
    """

    def drill_leftovers(snapshot: ClusterSnapshot, now: datetime, _limits: Thresholds) -> Iterator[Finding]:
        for drill in left_drills(labelled_objects(snapshot), records, now):
            if not drill.is_going:
                yield _left_over(drill) if drill.own else _unproven(drill)

    return drill_leftovers


def _left_over(drill: LeftDrill) -> Finding:
    own, subject = drill.own, _subject(drill.own)
    of = f" The drill restored {drill.source}." if drill.source else ""
    names = humanize.join([str(left_object.target) for left_object in own])
    when = sentence(" at ", subject.at) if subject.at is not None else ""
    made = sentence(f"foretop created {names}", when, f", by {subject.by}.{of}")
    return Finding(
        LEFT_OVER,
        Severity.WARNING,
        subject.target,
        subject.at,
        "left over from a drill",
        join_sentences((made, *_told(drill.unproven)), " "),
        sentence(
            "Delete what foretop created",
            Key("drill-cleanup"),
            f", or with: foretop drill --clean-up {subject.target.name}",
        ),
    )


def _unproven(drill: LeftDrill) -> Finding:
    subject = _subject(drill.objects)
    return Finding(
        UNPROVEN,
        Severity.NOTE,
        subject.target,
        subject.at,
        "labelled as a drill, unproven",
        join_sentences(tuple(_told(drill.objects)), " "),
        "Ask who created it. foretop leaves it alone; where nobody needs it, delete it with kubectl.",
    )


def _told(objects: Sequence[LeftObject]) -> Iterator[Text]:
    for left_object in objects:
        when = sentence(", created at ", left_object.at) if left_object.at is not None else ""
        yield sentence(
            str(left_object.target), when, f": {left_object.proof.value}. To delete it: {left_object.command}"
        )


def _subject(objects: Sequence[LeftObject]) -> LeftObject:
    """The namespace, where it is there: all else of a drill serves what is in it."""
    return next((left_object for left_object in objects if left_object.target.kind == NAMESPACE.name), objects[0])
