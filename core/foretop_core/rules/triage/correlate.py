"""One cause, one finding: what another finding explains is told there and not again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from foretop_core.models.kinds import STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.sentences import sentence
from foretop_core.rules.triage.finding import Finding, Severity
from foretop_core.rules.triage.ranking import rank

_BY_SILENCE = frozenset(
    {
        "schedule-overdue",
        "storage-not-synced",
        "queue-stalled",
        "backup-stuck",
        "backup-not-starting",
        "protection-gap",
    }
)
_NOUNS = {STORAGE.name: "storage location"}
_BY_WINDOW = frozenset({"schedule-paused-long"})
_GAP_EXPLAINED_BY = (
    "schedule-invalid",
    "schedule-stopped",
    "schedule-overdue",
    "schedule-failing",
    "schedule-location-missing",
    "schedule-location-read-only",
    "schedule-paused-long",
)


_BY_SCHEDULE = frozenset({"namespace-late", "namespace-partial"})
"""Of a namespace, and told by a finding about the schedule that promises its copies, where there is one. That the last
copy of a namespace expires is told always: nothing that is said of a schedule says it."""


def correlated(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """A window explains what it paused, but not that a last good backup expires meanwhile; a server without a
    pulse explains all that stands still in its namespace."""
    found = _gaps(_told_in("velero-all-paused", _BY_WINDOW, _by_schedule(list(findings))))
    return tuple(_told_in("velero-no-pulse", _BY_SILENCE, found))


def link_causes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding with the one about the object that it blames, and that one with its own cause before it."""
    everyone = list(findings)
    about: dict[ObjectRef, Finding] = {}
    for finding in sorted(everyone, key=rank, reverse=True):
        about[finding.subject] = finding
    chains = {finding.id: _causes(finding, about) for finding in everyone}
    gravest = {finding.id: finding.severity for finding in everyone}
    for finding in everyone:
        for cause in chains[finding.id]:
            gravest[cause.id] = min(gravest[cause.id], finding.severity, key=list(Severity).index)
    return tuple(_chained(finding, chains[finding.id], gravest) for finding in everyone)


def _causes(finding: Finding, about: Mapping[ObjectRef, Finding]) -> list[Finding]:
    """What explains it, the nearest first; two that blame each other explain nothing."""
    found: list[Finding] = []
    blamed = finding.blames
    while blamed is not None and (cause := about.get(blamed)) is not None and cause not in (finding, *found):
        found.append(cause)
        blamed = cause.blames
    return found


def _chained(finding: Finding, causes: Sequence[Finding], gravest: Mapping[str, Severity]) -> Finding:
    above = None
    for one in (*reversed(causes), finding):
        above = replace(one, because=above, weight=gravest[one.id])
    assert above is not None
    return above


def _told_in(cause: str, consequences: frozenset[str], findings: list[Finding]) -> list[Finding]:
    """What one finding about a server explains in its namespace is told there."""
    places = {finding.subject.namespace for finding in findings if finding.code == cause}
    swallowed: defaultdict[str, list[Finding]] = defaultdict(list)
    kept = []
    for finding in findings:
        if finding.code in consequences and finding.subject.namespace in places:
            swallowed[finding.subject.namespace].append(finding)
        else:
            kept.append(finding)
    return [
        _with_consequences(finding, swallowed[finding.subject.namespace]) if finding.code == cause else finding
        for finding in kept
    ]


def _with_consequences(finding: Finding, consequences: list[Finding]) -> Finding:
    if not consequences:
        return finding
    subjects = list(dict.fromkeys(each.subject for each in consequences))
    return replace(
        finding,
        evidence=sentence(finding.evidence, f" It explains the findings about {_of(subjects)}."),
        related=tuple(dict.fromkeys([*finding.related, *subjects])),
    )


def _of(subjects: list[ObjectRef]) -> str:
    """`3 schedules, 1 location and the queue`: by kind, so that the numbers are those of the objects to go to."""
    kinds = Counter(_NOUNS.get(one.kind, one.kind.lower()) for one in subjects if one.name)
    queue = ["the queue"] if any(not one.name for one in subjects) else []
    return humanize.join([*(humanize.count(number, noun) for noun, number in kinds.items()), *queue], 6)


def _by_schedule(findings: list[Finding]) -> list[Finding]:
    """A schedule that makes no good backups is told once, and not again for each of its namespaces."""
    told = {finding.subject for finding in findings if finding.code in ("protection-gap", *_GAP_EXPLAINED_BY)}
    return [one for one in findings if one.code not in _BY_SCHEDULE or told.isdisjoint(one.related)]


def _gaps(findings: list[Finding]) -> list[Finding]:
    """A gap in protection belongs to the finding that tells why its schedule makes no good backups."""
    reasons: dict[ObjectRef, str] = {}
    for code in reversed(_GAP_EXPLAINED_BY):
        reasons |= {finding.subject: finding.id for finding in findings if finding.code == code}
    gaps = {
        reasons[finding.subject]: finding
        for finding in findings
        if finding.code == "protection-gap" and finding.subject in reasons
    }
    told = {gap.id for gap in gaps.values()}
    return [
        replace(finding, evidence=sentence(finding.evidence, " ", gap.evidence))
        if (gap := gaps.get(finding.id))
        else finding
        for finding in findings
        if finding.id not in told
    ]
