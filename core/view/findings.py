"""The table of what is wrong; its rows come from triage and not from the store."""

from __future__ import annotations

from core.models.kinds import KINDS
from core.rules.triage import Finding, Severity
from core.store import Key
from core.view import times
from core.view.columns import Cell, Column, Row
from core.view.filter import Facets
from core.view.items import Item, finding_item
from core.view.marks import Mark, Tone
from core.view.scene import Scene
from core.view.table import Table
from core.view.text import clean

FIELDS = ("context", "namespace", "name", "kind", "severity", "code")
_MARKS = {Severity.ERROR: Mark.BROKEN, Severity.WARNING: Mark.LOOK, Severity.NOTE: Mark.WAITING}
_WORDS = {"BackupStorageLocation": "storage"}
_SHORT = {kind.name: kind.short[0] for kind in KINDS if kind.short}
_GRAVEST = tuple(Severity)


def key_of(finding: Finding) -> Key:
    """A finding is known by its id, for one object can have several."""
    return Key(finding.context, "findings", finding.subject.namespace, finding.id)


def gravest_first(finding: Finding) -> tuple[int, float, str]:
    since = finding.since.timestamp() if finding.since else float("inf")
    return _GRAVEST.index(finding.severity), since, finding.id


def new_table() -> Table[Finding]:
    return Table(gravest_first)


def facets(finding: Finding) -> Facets:
    subject = finding.subject
    fields = {
        "context": finding.context,
        "namespace": subject.namespace,
        "name": subject.name,
        "kind": subject.kind,
        "severity": finding.severity.value,
        "code": finding.code,
    }
    return Facets(f"{' '.join(fields.values())} {finding.what} {subject_text(finding)}".lower(), fields, {})


def subject_text(finding: Finding) -> str:
    """`schedule velero/etcd-hourly`; the queue itself has no name."""
    subject = finding.subject
    word = _WORDS.get(subject.kind) or _SHORT.get(subject.kind) or subject.kind.lower() or "queue"
    place = "/".join(part for part in (subject.namespace, subject.name) if part)
    return f"{word} {place}".strip()


def paint(finding: Finding, scene: Scene) -> Row:
    mark = _MARKS[finding.severity]
    cells = (Cell(clean(column.text(finding, scene)), column.tone(finding, scene)) for column in COLUMNS)
    return Row(key_of(finding), mark, tuple(cells))


def item(finding: Finding) -> Item:
    return finding_item(finding)


def _tone(finding: Finding, _: Scene) -> Tone:
    return _MARKS[finding.severity].tone


COLUMNS: tuple[Column[Finding], ...] = (
    Column("severity", "SEVERITY", lambda found, _: found.severity.value, gravest_first, _tone),
    Column(
        "since",
        "SINCE",
        lambda found, scene: times.age(found.since, scene.now),
        lambda found: found.since,
        right=True,
    ),
    Column("subject", "SUBJECT", lambda found, _: subject_text(found), subject_text, from_middle=True),
    Column("what", "WHAT", lambda found, _: found.what, lambda found: found.what),
)
