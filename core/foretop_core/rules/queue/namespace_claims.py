"""The namespaces that a backup claims, and the backups ahead of it that claim the same."""

from __future__ import annotations

from collections import defaultdict
from fnmatch import fnmatchcase

import msgspec

from foretop_core.models import Backup

_WILD = frozenset("*?[{")


class Claim(msgspec.Struct, frozen=True):
    """The namespaces of one backup: the included names and patterns, without the excluded ones."""

    names: frozenset[str]
    patterns: tuple[str, ...]
    excluded: tuple[str, ...]

    def takes(self, name: str) -> bool:
        if name in self.names:
            return True
        return any(_fits(name, entry) for entry in self.patterns) and not _left_out(name, self.excluded)

    @property
    def takes_everything(self) -> bool:
        return "*" in self.patterns and not self.excluded


def claim(backup: Backup) -> Claim:
    """The claim of a backup; without included namespaces it claims all."""
    spec = backup.spec
    included = spec.included_namespaces or ("*",)
    return Claim(
        names=frozenset(
            name for name in included if not _is_pattern(name) and not _left_out(name, spec.excluded_namespaces)
        ),
        patterns=tuple(sorted({entry for entry in included if _is_pattern(entry)})),
        excluded=tuple(sorted(set(spec.excluded_namespaces))),
    )


def shared_namespaces(one: Claim, other: Claim) -> tuple[str, ...]:
    """The namespaces, or a pattern for them, that both claim; empty if there are none.

    Two patterns count as overlapping unless they cannot: the cluster's namespaces are not known here.
    """
    shared = {name for name in one.names if other.takes(name)} | {name for name in other.names if one.takes(name)}
    if shared:
        return tuple(sorted(shared))
    for mine in one.patterns:
        for theirs in other.patterns:
            if mine in other.excluded or theirs in one.excluded:
                continue
            if _may_overlap(mine, theirs):
                return (theirs if mine == "*" else mine,)
    return ()


class NamespaceIndex:
    """The backups ahead, indexed so that those with a shared namespace are found cheaply.

    Of the waiting ones, only the last to claim a namespace is kept: it already waits for those before it.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, list[int]] = {}
        self._by_pattern: dict[Claim, list[int]] = {}

    def meets(self, wanted: Claim) -> dict[int, tuple[str, ...]]:
        """The runs that must go first, by position in the queue, with the shared namespaces."""
        found: defaultdict[int, set[str]] = defaultdict(set)
        for name in self._taken_by(wanted):
            for who in self._by_name[name]:
                found[who].add(name)
        for other, takers in self._by_pattern.items():
            shared = shared_namespaces(wanted, other)
            for who in takers if shared else ():
                found[who].update(shared)
        return {who: tuple(sorted(found[who])) for who in sorted(found)}

    def add_running(self, taken: Claim, who: int) -> None:
        """Add a running backup; running backups wait for nobody, so each of them counts."""
        for name in taken.names:
            self._by_name.setdefault(name, []).append(who)
        if taken.patterns:
            self._by_pattern.setdefault(taken, []).append(who)

    def add_waiting(self, taken: Claim, who: int) -> None:
        if taken.takes_everything:
            self._by_pattern.clear()
        for name in self._taken_by(taken):
            del self._by_name[name]
        self._by_name.update((name, [who]) for name in taken.names)
        if taken.patterns:
            self._by_pattern[taken] = [who]

    def _taken_by(self, wanted: Claim) -> list[str]:
        if wanted.patterns:
            return [name for name in self._by_name if wanted.takes(name)]
        return [name for name in wanted.names if name in self._by_name]


def _is_pattern(entry: str) -> bool:
    return not _WILD.isdisjoint(entry)


def _fits(name: str, pattern: str) -> bool:
    """True if a pattern matches a name; braces match anything, so that no start is promised too early."""
    head, brace, _ = pattern.partition("{")
    return pattern == "*" or fnmatchcase(name, head + "*" if brace else pattern)


def _left_out(name: str, excluded: tuple[str, ...]) -> bool:
    return any(name == entry or ("{" not in entry and fnmatchcase(name, entry)) for entry in excluded)


def _may_overlap(one: str, other: str) -> bool:
    mine, theirs = _fixed_part(one), _fixed_part(other)
    return mine.startswith(theirs) or theirs.startswith(mine)


def _fixed_part(pattern: str) -> str:
    return next((pattern[:at] for at, letter in enumerate(pattern) if letter in _WILD), pattern)
