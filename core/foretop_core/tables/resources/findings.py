"""The table of what is wrong; its rows come from triage and not from the store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import ClassVar

import msgspec

from foretop_core.models.kinds import KINDS
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.sentences import render as render_text
from foretop_core.rules.sentences import sort_key
from foretop_core.rules.triage import Acknowledgement, Finding, Severity
from foretop_core.rules.triage.ranking import rank
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.engine.render_context import RenderContext
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone, severity_mark
from foretop_core.tables.engine.view import Cell, Column, TableView, plain
from foretop_core.tables.text import times

_WORDS = {
    "BackupRepository": "repository",
    "BackupStorageLocation": "storage",
    "NonAdminBackupStorageLocationRequest": "request",
    "PreScaledCronJob": "prescaled",
}
_MANY = {
    "ns": "namespaces",
    "prescaled": "prescaled jobs",
    "repository": "repositories",
    "storage": "storage locations",
}
"""Words that take more than an s where there are several."""
_NOBODY = {"velero-": "velero", "window-": "window"}
"""What a finding is about that has no object, by how its code begins; the rest are about a queue."""
_NEW = timedelta(minutes=10)
_STATES_OF_SERVER = ("down:", "silent:")
_SHORT = {kind.name: kind.short[0] for kind in KINDS if kind.short}


def key_of(finding: Finding) -> ObjectRef:
    """A finding is known by its id, for one object can have several."""
    return ObjectRef(finding.context, "findings", finding.subject.namespace, finding.id)


class FindingFacets(msgspec.Struct, frozen=True):
    """The sides of a finding that a filter asks for; with the render context also what its cells say."""

    finding: Finding
    render: RenderContext | None = None

    def text(self) -> str:
        finding = self.finding
        what = self.render.text(finding.what) if self.render else sort_key(finding.what)
        words = (
            finding.context,
            finding.code,
            finding.severity.value,
            subject_text(finding),
            finding.subject.kind,
            what,
        )
        return " ".join(words).lower()

    def contains(self, word: str) -> bool:
        return word in self.text()

    def field(self, name: str) -> str:
        match name:
            case "context" | "code":
                return str(getattr(self.finding, name))
            case "severity":
                return self.finding.severity.value
            case "namespace" | "name" | "kind":
                return str(getattr(self.finding.subject, name))
            case _:
                return FINDINGS.column(name).text(self.finding, self.render) if self.render else ""

    def labels(self) -> Mapping[str, str]:
        return {}


def kind_word(kind: str) -> str:
    """`schedule`, `nab`, `storage`: how a kind is called before a name."""
    return _WORDS.get(kind) or _SHORT.get(kind) or kind.lower()


def subject_text(finding: Finding) -> str:
    """`schedule velero/etcd-hourly`; the server and its queue have no name."""
    subject = finding.subject
    nobody = next((word for prefix, word in _NOBODY.items() if finding.code.startswith(prefix)), "queue")
    word = kind_word(subject.kind) or nobody
    if finding.members:
        words = dict.fromkeys(kind_word(member.subject.kind) or nobody for member in finding.members)
        return f"{len(finding.members)} {' and '.join(_MANY.get(word, f'{word}s') for word in words)}"
    place = finding.called or "/".join(part for part in (subject.namespace, subject.name) if part)
    return f"{word} {place}".strip()


def subject_and_what(finding: Finding, what: str) -> str:
    """`schedule velero/etcd: its last run failed`; a server that is down or silent has a sentence of its own."""
    if finding.code.startswith("velero-") and not finding.members and what.startswith(_STATES_OF_SERVER):
        return f"Velero in {finding.subject.namespace} is {what}"
    return f"{subject_text(finding)}: {what}"


def finding_item(finding: Finding, now: datetime) -> Item:
    """In UTC, whatever a screen shows."""
    return {
        "context": finding.context,
        "kind": finding.subject.kind,
        "namespace": finding.subject.namespace,
        "name": finding.subject.name,
        "subject": subject_text(finding),
        "id": finding.id,
        "code": finding.code,
        "severity": finding.severity.value,
        "since": rfc3339(finding.since),
        "toldUntil": rfc3339(finding.told_until),
        "what": render_text(finding.what, now),
        "evidence": render_text(finding.evidence, now),
        "hits": render_text(finding.hits, now),
        "raw": finding.raw,
        "remedy": render_text(finding.remedy, now),
        "related": [
            {"kind": subject.kind, "namespace": subject.namespace, "name": subject.name} for subject in finding.related
        ],
        "because": finding.because.id if finding.because else None,
        "acknowledged": _acknowledgement_item(finding.acknowledged),
    }


def _acknowledgement_item(found: Acknowledgement | None) -> Item | None:
    """`until` is null where it holds until the finding changes."""
    if found is None:
        return None
    return {
        "by": found.by,
        "at": rfc3339(found.at),
        "until": rfc3339(found.until),
        "reason": found.reason,
    }


def _since(finding: Finding, render: RenderContext) -> Cell:
    """A new error is bright: it is what is read first."""
    is_new = finding.since is not None and render.now - finding.since < _NEW and finding.acknowledged is None
    tone = Tone.BRIGHT if is_new and finding.severity is Severity.ERROR else Tone.PLAIN
    return Cell(times.age(finding.since, render.now), tone)


def _severity(finding: Finding) -> Cell:
    tone = Tone.DIM if finding.acknowledged is not None else severity_mark(finding.severity).tone
    return Cell(finding.severity.value, tone)


COLUMNS: tuple[Column[Finding], ...] = (
    Column("severity", "SEVERITY", lambda found, _: _severity(found), rank, falls=True),
    Column("since", "SINCE", _since, lambda found: found.since, right=True, falls=True, cells=6, ticks=True),
    Column("subject", "SUBJECT", lambda found, _: subject_text(found), subject_text, from_middle=True, cells=40),
    plain("namespace", "NAMESPACE", lambda found: found.subject.home, wide=True, cells=16, most=16),
    Column("what", "WHAT", lambda found, render: render.text(found.what), lambda found: sort_key(found.what), cells=32),
)


class FindingsView(TableView[Finding]):
    """The table of Triage."""

    name = "findings"
    order = "severity"
    rank = ("since", "what", "severity")
    least: ClassVar[Mapping[str, int]] = {"what": 30}
    narrow: ClassVar[Mapping[str, int]] = {"what": 16, "subject": 16}
    fields = ("context", "namespace", "name", "kind", "severity", "code")
    with_velero = True

    def __init__(self) -> None:
        self.columns = COLUMNS

    def mark(self, entry: Finding, render: RenderContext) -> StatusGlyph:
        return StatusGlyph.TRUE if entry.acknowledged is not None else severity_mark(entry.severity)

    def item(self, entry: Finding, render: RenderContext) -> Item:
        return finding_item(entry, render.now)


FINDINGS = FindingsView()
