"""The reasons why a waiting backup or restore cannot start."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import assert_never

import msgspec

from foretop_core.models import Backup, Restore
from foretop_core.rules import phases
from foretop_core.rules.queue.namespace_claims import NamespaceIndex, claim
from foretop_core.rules.queue.positions import Run


class BlockerKind(Enum):
    SLOT = auto()
    NAMESPACE = auto()
    TURN = auto()


class Blocker(msgspec.Struct, frozen=True, gc=False):
    """The nearest runs ahead that must go first, and why."""

    kind: BlockerKind
    by: tuple[Run, ...]
    namespaces: tuple[str, ...] = ()

    @property
    def is_of_restores(self) -> bool:
        """True of restores, which Velero works off one after the other, beside the slots of backups."""
        return any(isinstance(run, Restore) for run in self.by)

    def __str__(self) -> str:
        names = ", ".join(run.name for run in self.by)
        if self.is_of_restores:
            return f"waits for its turn, after {names}"
        match self.kind:
            case BlockerKind.SLOT:
                return f"waits for a slot, taken by {names}"
            case BlockerKind.TURN:
                return f"waits for a slot, behind {names}"
            case BlockerKind.NAMESPACE:
                return f"waits for {names}: {self.shared}"
        assert_never(self.kind)

    @property
    def shared(self) -> str:
        """The namespaces that they share."""
        if "*" in self.namespaces:
            return "both take every namespace"
        return f"same namespace{'s' if len(self.namespaces) > 1 else ''} {', '.join(self.namespaces)}"


class Blockers(msgspec.Struct):
    """By position in the queue: the blocker of each run that cannot start, and the runs that share its namespaces."""

    of: dict[int, Blocker] = msgspec.field(default_factory=dict)
    meets: dict[int, tuple[int, ...]] = msgspec.field(default_factory=dict)


def find_blockers(line: Sequence[Run], slots: int, *, by_namespace: bool) -> Blockers:
    """Free slots go to the first runs without a conflict ahead; finishing backups block nobody."""
    holders = [index for index, run in enumerate(line) if run.phase in phases.HOLDS_SLOT]
    waiting = [index for index, run in enumerate(line) if run.phase in phases.WAITING]
    conflicts = _conflicts(line, holders, waiting) if by_namespace else {}
    blockers = Blockers(meets={index: tuple(conflicts.get(index, ())) for index in waiting})
    free, before = slots - len(holders), None
    for index in waiting:
        meets = conflicts.get(index)
        if meets:
            shared = tuple(sorted({name for names in meets.values() for name in names}))
            blockers.of[index] = Blocker(BlockerKind.NAMESPACE, tuple(line[who] for who in meets), shared)
            continue
        if free <= 0:
            blockers.of[index] = (
                Blocker(BlockerKind.SLOT, tuple(line[who] for who in holders))
                if before is None
                else Blocker(BlockerKind.TURN, (line[before],))
            )
        free, before = free - 1, index
    return blockers


def _conflicts(
    line: Sequence[Run], holders: Sequence[int], waiting: Sequence[int]
) -> dict[int, dict[int, tuple[str, ...]]]:
    """For each waiting run, the runs ahead that share a namespace, and which; restores claim none."""
    ahead, meetings = NamespaceIndex(), dict[int, dict[int, tuple[str, ...]]]()
    for index in holders:
        run = line[index]
        if isinstance(run, Backup):
            ahead.add_running(claim(run), index)
    for index in waiting:
        run = line[index]
        if isinstance(run, Backup):
            claimed = claim(run)
            meetings[index] = ahead.meets(claimed)
            ahead.add_waiting(claimed, index)
    return meetings
