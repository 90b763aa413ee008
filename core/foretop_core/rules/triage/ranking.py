"""One cause, one finding: findings gathered, put under what explains them, and in order, the worst first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from enum import IntEnum

from msgspec.structs import replace

from foretop_core.models.kinds import BACKUP, NAB, NAMESPACE, NAR, PRESCALED, RESTORE, STORAGE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.sentences import Key, Sentence, Text, listed, sentence, sort_key
from foretop_core.rules.triage.finding import Finding, Severity


class BlastRadius(IntEnum):
    """Whom a fault strikes: all that one server does, whatever goes to one place, one schedule, one tenant, one job."""

    SERVER = 0
    STORAGE = 1
    BACKUPS = 2
    TENANT = 3
    WARM_UP = 4


_GRAVEST = {severity: place for place, severity in enumerate(Severity)}
_LAST = float("inf")

RankKey = tuple[tuple[bool, int, int, float, float, str, str], ...]


def strikes_server(code: str) -> bool:
    """True if all runs of a Velero suffer from it."""
    return code.startswith("velero-") or code == "queue-stalled"


def reach(finding: Finding) -> BlastRadius:
    if strikes_server(finding.code):
        return BlastRadius.SERVER
    if finding.subject.kind == PRESCALED.name:
        return BlastRadius.WARM_UP
    if finding.subject.kind.startswith("NonAdmin"):
        return BlastRadius.TENANT
    return BlastRadius.STORAGE if finding.subject.kind == "BackupStorageLocation" else BlastRadius.BACKUPS


def rank(finding: Finding) -> RankKey:
    """Sorts findings. Severity counts before reach, so that a note about a server stands under every fault; of
    faults alike the one that strikes more comes first, then the namespace that is late by most of its promises, then
    the newer one, which is the one to look into; of those without a beginning, the one that names the earlier moment.
    What has a cause stands directly under it, and lends the cause its gravity. What is known comes last, unless it
    explains something that is not."""
    above = rank(finding.because) if finding.because is not None else ()
    since = -finding.since.timestamp() if finding.since else _LAST
    is_coming = finding.since is None and isinstance(finding.evidence, Sentence)
    own = f"{finding.code} {sort_key(finding.evidence)}" if is_coming else finding.id
    is_known = finding.acknowledged is not None and not finding.explains_open
    gravity = _GRAVEST[finding.weight or finding.severity]
    return *above, (is_known, gravity, reach(finding), -finding.times_late, since, finding.context, own)


_MANY = frozenset(kind.name for kind in (BACKUP, RESTORE, NAB, NAR, NAMESPACE))
"""There are thousands of these; a schedule or a location is a matter of its own."""
_FEWEST = 4
GroupKey = tuple[str, str, str, Severity, str, str, tuple[str, str, datetime | None] | None]


def aggregated(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """For a screen, worst first: runs with the same text are one line; what needs no action is left out."""
    kept: list[Finding] = []
    alike: defaultdict[GroupKey, list[Finding]] = defaultdict(list)
    for finding in (needed for needed in findings if needed.needs_action):
        if (kind := _kind(finding)) is not None:
            alike[kind].append(finding)
        else:
            kept.append(finding)
    for members in alike.values():
        kept += [_gathered(sorted(members, key=rank))] if len(members) >= _FEWEST else members
    return tuple(sorted(kept, key=rank))


def opened(finding: Finding) -> tuple[Finding, ...]:
    """The findings that the line gathers, each standing under it."""
    return tuple(replace(member, because=finding) for member in finding.members)


def ungathered(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One by one, to be counted or searched."""
    for finding in findings:
        yield from finding.members or (finding,)


def _kind(finding: Finding) -> GroupKey | None:
    """The key that it shares with others; None where it stands for itself."""
    if finding.subject.kind not in _MANY or not (finding.group or isinstance(finding.what, str)):
        return None
    under = finding.because.id if finding.because is not None else ""
    acknowledgement = finding.acknowledged
    alike = (acknowledgement.by, acknowledgement.reason, acknowledgement.until) if acknowledgement is not None else None
    kind = "" if finding.group else finding.subject.kind
    return finding.context, under, finding.code, finding.severity, kind, finding.group or str(finding.what), alike


def _gathered(members: list[Finding]) -> Finding:
    """As old as the oldest of them; `members` are in order, the newest first."""
    newest = members[0]
    texts = [
        sentence(_name(finding.subject), sentence(" at ", finding.since) if finding.since is not None else "")
        for finding in members
    ]
    return replace(
        newest,
        subject=ObjectRef(newest.context, newest.subject.kind, "", ""),
        since=min((finding.since for finding in members if finding.since is not None), default=None),
        evidence=sentence(f"There are {len(members)} of these, the newest first: ", listed(texts), "."),
        remedy=_shared_remedy(members),
        related=tuple(finding.subject for finding in members),
        what=newest.group or newest.what,
        cause=newest.group or str(newest.what),
        raw="",
        hits="",
        blames=None,
        weight=None,
        members=tuple(members),
    )


def _shared_remedy(members: Sequence[Finding]) -> Text:
    """The remedy of all of them; where each has one of its own, that of the first, by name."""
    first, *others = members
    if all(finding.remedy == first.remedy for finding in others):
        return first.remedy
    rest = f" The other {len(others):,} have their own"
    return sentence(f"For {_name(first.subject)}: ", first.remedy, rest, Key("open"), ".")


def _name(subject: ObjectRef) -> str:
    return f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name


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
"""Of a namespace, and told by a finding as grave about the schedule that promises its copies, where there is one. What
blames a silent server stands under that, as many as are late. That the last copy of a namespace expires is told always:
nothing that is said of a schedule says it."""


def correlated(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """A pause of all explains that each of them is paused for long, but not that a last good backup expires meanwhile;
    a server without a pulse explains all that stands still in its namespace."""
    without_members = _by_schedule(_gaps(_without_members(list(findings))))
    return tuple(_told_in("velero-no-pulse", _BY_SILENCE, without_members))


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
    """The findings that explain it, the nearest first; two that blame each other explain nothing."""
    findings: list[Finding] = []
    blamed = finding.blames
    while blamed is not None and (cause := about.get(blamed)) is not None and cause not in (finding, *findings):
        findings.append(cause)
        blamed = cause.blames
    return findings


def _chained(finding: Finding, causes: Sequence[Finding], gravest: Mapping[str, Severity]) -> Finding:
    above = None
    for link in (*reversed(causes), finding):
        above = replace(link, because=above, weight=gravest[link.id])
    assert above is not None
    return above


def _without_members(findings: list[Finding]) -> list[Finding]:
    """Leave out the long pauses that the finding about all paused schedules counts."""
    counted = {ref for finding in findings if finding.code == "velero-all-paused" for ref in finding.related}
    return [finding for finding in findings if finding.code != "schedule-paused-long" or finding.subject not in counted]


def _told_in(cause: str, consequences: frozenset[str], findings: list[Finding]) -> list[Finding]:
    """Move what a finding about a server explains in its namespace into that finding."""
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
    # A silent server tells itself what waits for it: only a few of that are findings of their own.
    refs = subjects if finding.code != "velero-no-pulse" else []
    return replace(
        finding,
        hits=sentence(finding.hits, " " if finding.hits else "", f"It holds up {_of(refs)}.") if refs else finding.hits,
        related=tuple(dict.fromkeys([*finding.related, *subjects])),
    )


def _of(subjects: list[ObjectRef]) -> str:
    """`3 schedules and 1 location`: by kind, so that the numbers are those of the objects to go to."""
    kinds = Counter(_NOUNS.get(ref.kind, ref.kind.lower()) for ref in subjects)
    return humanize.join([humanize.count(number, noun) for noun, number in kinds.items()], 6)


def _by_schedule(findings: list[Finding]) -> list[Finding]:
    """A schedule that makes no good backups is told once, and not again for each of its namespaces."""
    gravest: dict[ObjectRef, int] = {}
    for finding in findings:
        if finding.code in ("protection-gap", *_GAP_EXPLAINED_BY):
            gravity = _GRAVEST[finding.severity]
            gravest[finding.subject] = min(gravest.get(finding.subject, gravity), gravity)
    return [
        finding
        for finding in findings
        if finding.code not in _BY_SCHEDULE
        or finding.blames
        or all(gravest.get(subject, len(_GRAVEST)) > _GRAVEST[finding.severity] for subject in finding.related)
    ]


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
    lines = {gap.id for gap in gaps.values()}
    return [
        replace(finding, evidence=sentence(finding.evidence, " ", gap.evidence))
        if (gap := gaps.get(finding.id))
        else finding
        for finding in findings
        if finding.id not in lines
    ]
