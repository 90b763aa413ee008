"""What keeps a waiting backup or restore from starting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import assert_never

from core.models import Backup
from core.rules import phases
from core.rules.queue.claims import Ahead, claim
from core.rules.queue.positions import Run


class HoldKind(Enum):
    SLOT = auto()
    NAMESPACE = auto()
    TURN = auto()


@dataclass(frozen=True, slots=True)
class Hold:
    """The nearest ahead that must go first, and why."""

    kind: HoldKind
    by: tuple[Run, ...]
    namespaces: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = ", ".join(run.name for run in self.by)
        match self.kind:
            case HoldKind.SLOT:
                return f"waits for a slot, taken by {names}"
            case HoldKind.TURN:
                return f"waits for its turn behind {names}"
            case HoldKind.NAMESPACE:
                shared = ", ".join("all" if name == "*" else name for name in self.namespaces)
                return f"waits for {names}: same namespace {shared}"
        assert_never(self.kind)


@dataclass(slots=True)
class Holds:
    """By place in the line: the hold of each one that cannot start, and whom it meets in a namespace."""

    of: dict[int, Hold] = field(default_factory=dict)
    meets: dict[int, tuple[int, ...]] = field(default_factory=dict)


def find_holds(line: Sequence[Run], slots: int, *, by_namespace: bool) -> Holds:
    """Free slots go to the first in line that meet nobody ahead; finishing backups are in nobody's way."""
    found, ahead = Holds(), Ahead()
    holders = [at for at, run in enumerate(line) if run.phase in phases.HOLDS_SLOT]
    for at in holders if by_namespace else ():
        _add(ahead, line[at], at)
    free, before = slots - len(holders), None
    for at, run in enumerate(line):
        if run.phase not in phases.WAITING:
            continue
        meets = _add(ahead, run, at) if by_namespace else {}
        found.meets[at] = tuple(meets)
        if meets:
            shared = tuple(sorted({name for names in meets.values() for name in names}))
            found.of[at] = Hold(HoldKind.NAMESPACE, tuple(line[who] for who in meets), shared)
            continue
        if free <= 0 and before is None:
            found.of[at] = Hold(HoldKind.SLOT, tuple(line[who] for who in holders))
        elif free <= 0 and before is not None:
            found.of[at] = Hold(HoldKind.TURN, (line[before],))
        free, before = free - 1, at
    return found


def _add(ahead: Ahead, run: Run, at: int) -> dict[int, tuple[str, ...]]:
    """Restores have no say over namespaces: Velero works them one by one."""
    if not isinstance(run, Backup):
        return {}
    wanted = claim(run)
    meets = ahead.meets(wanted)
    ahead.add(wanted, at)
    return meets
