"""The decision on a Velero server's cron dialect: the evidence, strongest first, and what remains open."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from foretop_core.cron import Dialect
from foretop_core.rules.cron_dialects.readings import Reading, readings
from foretop_core.rules.cron_dialects.releases import ALL_DIALECTS, Release


class Evidence(msgspec.Struct, frozen=True):
    """A fact that restricts the possible dialects of a server."""

    dialects: tuple[Dialect, ...]
    reason: str
    """A phrase that fits after "because of": `the image tag v1.18.2`."""
    release: Release | None = None


class DialectVerdict(msgspec.Struct, frozen=True):
    """The cron dialects that one server may have, and the evidence."""

    candidates: tuple[Dialect, ...] = ALL_DIALECTS
    """The remaining dialects, oldest first; never empty."""
    reasons: tuple[str, ...] = ()
    """The evidence that ruled out the others, in order."""
    release: Release | None = None
    contradictions: tuple[str, ...] = ()
    """Weaker evidence that disagrees: of an older server, or of a version that was given wrongly."""

    @property
    def is_certain(self) -> bool:
        return len(self.candidates) == 1

    def dialect_for(self, text: str) -> Dialect | None:
        """The dialect in which to read an expression; None if the remaining ones read it differently."""
        found = self.readings(text)
        return found[0].dialect if len(found) == 1 else None

    def readings(self, text: str) -> tuple[Reading, ...]:
        """The remaining readings, oldest first."""
        return readings(text, self.candidates)


def decide(evidence: Iterable[Evidence]) -> DialectVerdict:
    """Narrow the dialects down by the evidence; evidence that contradicts stronger evidence is set aside."""
    candidates: tuple[Dialect, ...] = ALL_DIALECTS
    reasons: list[str] = []
    contradictions: list[str] = []
    release: Release | None = None
    for piece in evidence:
        remaining = tuple(dialect for dialect in candidates if dialect in piece.dialects)
        if not remaining:
            contradictions.append(piece.reason)
            continue
        release = release or piece.release
        if remaining != candidates:
            candidates = remaining
            reasons.append(piece.reason)
    return DialectVerdict(candidates, tuple(reasons), release, tuple(contradictions))
