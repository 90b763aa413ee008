"""Notes that nobody can act on, told once for all instead of once for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from foretop_core.models.wire import ObjectRef
from foretop_core.rules.sentences import listed, sentence
from foretop_core.rules.triage.finding import QUEUE, Finding, Severity

_GATHERED = "position-off"


def aggregated(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """For a screen: the places in the queue that are reported wrongly are one note of each server."""
    kept: list[Finding] = []
    off: defaultdict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        if finding.code == _GATHERED and finding.related:
            off[finding.context, finding.related[0].namespace].append(finding)
        else:
            kept.append(finding)
    for (context, namespace), notes in off.items():
        kept.append(notes[0] if len(notes) == 1 else _together(context, namespace, notes))
    return tuple(kept)


def _together(context: str, namespace: str, notes: list[Finding]) -> Finding:
    told = [sentence(f"{note.subject.namespace}/{note.subject.name} ", note.what) for note in notes]
    return Finding(
        _GATHERED,
        Severity.NOTE,
        ObjectRef(context, QUEUE, namespace, ""),
        None,
        f"{len(notes)} tenants' backups or restores report a wrong queue position",
        sentence(listed(told), ". The controller estimates the position and mostly updates it when a backup ends."),
        "Trust the queue, not the estimate. No action is needed.",
        tuple(note.subject for note in notes),
    )
