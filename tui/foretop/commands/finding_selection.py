"""Which findings a command is about: ids of findings, or objects as KIND/NAME."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from foretop_core.errors import BadInput
from foretop_core.rules.triage import Finding
from foretop_core.tables.resources.ticket_text import DESCRIBED

_HINT = "run foretop get findings -o custom-columns=ID:.id,WHAT:.what"


def select_findings(findings: Sequence[Finding], names: Iterable[str]) -> tuple[Finding, ...]:
    """Of those found, the ones that are named, each once; a name that fits none is refused."""
    chosen: dict[str, Finding] = {}
    for name in names:
        fitting = [finding for finding in findings if name == finding.id or _is_about(finding, name)]
        if not fitting:
            raise BadInput(f"There is no finding {name}", "", _HINT)
        chosen |= {finding.id: finding for finding in fitting}
    return tuple(chosen.values())


def _is_about(finding: Finding, name: str) -> bool:
    """`schedule/daily`, `schedule/velero/daily`, and the kind as the API spells it."""
    kind, slash, rest = name.partition("/")
    if not slash or not rest:
        return False
    word = DESCRIBED.get(kind.lower())
    wanted = word.name if word is not None else kind
    subject = finding.subject
    if subject.kind.lower() != wanted.lower():
        return False
    return rest in (subject.name, f"{subject.namespace}/{subject.name}")
