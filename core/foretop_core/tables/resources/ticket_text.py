"""A finding as plain text for a ticket: where, what, since when, what shows it, what to do, and how to look."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime

from foretop_core.foreign_text import without_signs
from foretop_core.models.kinds import BACKUP, NAB, NABSL, NABSL_REQUEST, NAR, RESTORE, SCHEDULE, STORAGE, Kind
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.sentences import render
from foretop_core.rules.triage import Finding
from foretop_core.rules.triage.acknowledging import acknowledgement_text
from foretop_core.tables.resources.findings import subject_and_what, subject_text

DESCRIBED: Mapping[str, Kind] = {
    "schedule": SCHEDULE,
    "backup": BACKUP,
    "restore": RESTORE,
    "nab": NAB,
    "nar": NAR,
    "bsl": STORAGE,
    "nabsl": NABSL,
    "storage-request": NABSL_REQUEST,
}
"""What `foretop describe` describes, by the word that is typed."""
_LABEL = 10


def ticket_text(finding: Finding, now: datetime) -> str:
    """Times in UTC, because whoever reads a ticket may be in another zone."""
    cause = finding.because if finding.because is not None and not finding.because.members else None
    since = f"{rfc3339(finding.since)} ({humanize.duration(now - finding.since)})" if finding.since else ""
    lines = (
        ("Cluster", finding.context),
        ("Object", subject_text(finding)),
        ("Finding", f"{finding.severity}: {render(finding.what, now)}"),
        ("Since", since),
        ("Known", render(acknowledgement_text(finding.acknowledged), now) if finding.acknowledged else ""),
        ("Cause", f"{subject_and_what(cause, render(cause.what, now))}" if cause is not None else ""),
        ("Evidence", render(finding.evidence, now)),
        ("Hits", render(finding.hits, now)),
        ("Raw", without_signs(finding.raw)),
        ("Do", render(finding.remedy, now)),
        ("Command", _command(finding)),
        *(("Also" if place else "These", _member(member)) for place, member in enumerate(finding.members)),
        ("As of", rfc3339(now) or ""),
    )
    return "\n".join(f"{f'{label}:':<{_LABEL}}{text}" for label, text in lines if text)


def _member(finding: Finding) -> str:
    since = rfc3339(finding.since)
    return f"{subject_text(finding)}, since {since}" if since else subject_text(finding)


def _command(finding: Finding) -> str:
    """The command that shows the object as it is now; for no object, or for many, that of the findings."""
    subject = finding.subject
    word = next((word for word, kind in DESCRIBED.items() if kind.name == subject.kind and subject.name), "")
    what = ("describe", word, f"{subject.namespace}/{subject.name}") if word else ("get", "findings")
    return shlex.join(("foretop", *what, "--context", finding.context))
