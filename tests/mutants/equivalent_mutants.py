"""Changes that leave the program as it is, each with the reason. They are tried by nobody and count for nothing."""

from __future__ import annotations

from dataclasses import dataclass

from tests.mutants.mutations import Mutant


@dataclass(frozen=True, slots=True)
class SameProgram:
    """A change by file, line of source and what is changed in it."""

    path: str
    text: str
    change: str
    reason: str


SAME = (
    SameProgram(
        "core/foretop_core/cron/go_compat.py",
        "if value > _MAX_INT64 // 10 or longer > 2**63:",
        "> to >=",
        "decides about the 19th digit after the point, which no unit's nanoseconds show: tried for all units",
    ),
)


def is_same(mutant: Mutant) -> bool:
    return any((one.path, one.text, one.change) == (mutant.path, mutant.text, mutant.change) for one in SAME)
