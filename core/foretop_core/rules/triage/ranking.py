"""In which order findings are looked at: the worst first, and what another one explains under that."""

from __future__ import annotations

from enum import IntEnum

from foretop_core.rules.sentences import Sentence, sort_key
from foretop_core.rules.triage.finding import Finding, Severity


class BlastRadius(IntEnum):
    """Whom a fault strikes: all that one server does, whatever goes to one place, one schedule, one tenant."""

    SERVER = 0
    STORAGE = 1
    BACKUPS = 2
    TENANT = 3


_GRAVEST = {severity: place for place, severity in enumerate(Severity)}
_LAST = float("inf")

RankKey = tuple[tuple[bool, int, int, float, str, str], ...]


def reach(finding: Finding) -> BlastRadius:
    code = finding.code
    if code.startswith("velero-") or code == "queue-stalled":
        return BlastRadius.SERVER
    if finding.subject.kind.startswith("NonAdmin"):
        return BlastRadius.TENANT
    return BlastRadius.STORAGE if finding.subject.kind == "BackupStorageLocation" else BlastRadius.BACKUPS


def rank(finding: Finding) -> RankKey:
    """Sorts findings. Severity counts before reach, so that a note about a server stands under every fault; of
    faults alike the one that strikes more comes first, then the newer one, which is the one to look into. Of those
    that have no beginning, the one that names the earlier moment.
    What has a cause stands directly under it, and lends the cause its gravity. What is known comes last, unless it
    explains something that is not."""
    above = rank(finding.because) if finding.because is not None else ()
    since = -finding.since.timestamp() if finding.since else _LAST
    is_coming = finding.since is None and isinstance(finding.what, Sentence)
    own = f"{finding.code} {sort_key(finding.what)}" if is_coming else finding.id
    known = finding.acknowledged is not None and not finding.explains_open
    gravity = _GRAVEST[finding.weight or finding.severity]
    return *above, (known, gravity, reach(finding), since, finding.context, own)
