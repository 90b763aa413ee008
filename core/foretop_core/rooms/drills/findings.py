"""Findings about what drills have left behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from foretop_core.models.kinds import NAMESPACE
from foretop_core.rooms.drills.leftovers import (
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

LEFT_OVER, UNPROVEN = "drill-left-over", "drill-unproven"


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
