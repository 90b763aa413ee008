"""Findings of one kind told once for all instead of once for each; the line opens to those that it gathers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec.structs import replace

from foretop_core.models.kinds import BACKUP, NAB, NAMESPACE, NAR, RESTORE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.sentences import Text, listed, sentence
from foretop_core.rules.triage.finding import Finding, Severity
from foretop_core.rules.triage.ranking import rank

_MANY = frozenset(kind.name for kind in (BACKUP, RESTORE, NAB, NAR, NAMESPACE))
"""There are thousands of these; a schedule or a location is a matter of its own."""
_FEWEST = 4
GroupKey = tuple[str, str, Severity, str, str, tuple[str, str, datetime | None] | None]


def aggregated(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """For a screen, worst first: runs of which the same is said are one line; what needs no action is left out."""
    kept: list[Finding] = []
    alike: defaultdict[GroupKey, list[Finding]] = defaultdict(list)
    for finding in (one for one in findings if one.needs_action):
        if (kind := _kind(finding)) is not None:
            alike[kind].append(finding)
        else:
            kept.append(finding)
    for members in alike.values():
        kept += [_gathered(sorted(members, key=rank))] if len(members) >= _FEWEST else members
    return tuple(sorted(kept, key=rank))


def opened(finding: Finding) -> tuple[Finding, ...]:
    """What the line gathers, each standing under it."""
    return tuple(replace(member, because=finding) for member in finding.members)


def ungathered(findings: Iterable[Finding]) -> Iterator[Finding]:
    """One by one, to be counted or searched."""
    for finding in findings:
        yield from finding.members or (finding,)


def _kind(finding: Finding) -> GroupKey | None:
    """What it has in common with others; None where it stands for itself."""
    if finding.subject.kind not in _MANY or finding.because is not None or not isinstance(finding.what, str):
        return None
    known = finding.acknowledged
    alike = (known.by, known.reason, known.until) if known is not None else None
    return finding.context, finding.code, finding.severity, finding.subject.kind, finding.what, alike


def _gathered(members: list[Finding]) -> Finding:
    """As old as the oldest of them; `members` are in order, the newest first."""
    newest = members[0]
    told = [sentence(_name(one.subject), _when(one.since)) for one in members]
    return replace(
        newest,
        subject=ObjectRef(newest.context, newest.subject.kind, "", ""),
        since=min((one.since for one in members if one.since is not None), default=None),
        evidence=sentence(f"There are {len(members)} of these, the newest first: ", listed(told), "."),
        related=tuple(one.subject for one in members),
        cause=str(newest.what),
        blames=None,
        weight=None,
        members=tuple(members),
    )


def _name(subject: ObjectRef) -> str:
    return f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name


def _when(since: datetime | None) -> Text:
    return sentence(" at ", since) if since is not None else ""
