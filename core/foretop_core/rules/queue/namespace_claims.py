"""The namespaces that a backup claims, and the backups ahead of it that claim the same."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import islice

import msgspec

from foretop_core.models import Backup

_WILD = frozenset("*?[{")
_LONGEST_NAME = 63
_FEW = 8
"""Names and patterns of a claim that is kept, so that those that are kept stay small."""
_MOST_COMPARED = 20_000
"""Pairs; where more patterns than that may overlap, each is compared with the nearest ones ahead of it only."""
_NEAREST = 20


class Claim(msgspec.Struct, frozen=True, gc=False):
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
    included, excluded = backup.spec.included_namespaces or ("*",), backup.spec.excluded_namespaces
    few = len(included) + len(excluded) <= _FEW
    return _shared_claim(included, excluded) if few else _claimed(included, excluded)


def _claimed(included: tuple[str, ...], excluded: tuple[str, ...]) -> Claim:
    return Claim(
        names=frozenset(name for name in included if not _is_pattern(name) and not _left_out(name, excluded)),
        patterns=tuple(sorted({entry for entry in included if _is_pattern(entry)})),
        excluded=tuple(sorted(set(excluded))),
    )


@lru_cache(1024)
def _shared_claim(included: tuple[str, ...], excluded: tuple[str, ...]) -> Claim:
    """One for all backups that name the same: a tenant's may be very many."""
    return _claimed(included, excluded)


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


class PatternClaims:
    """Claims with patterns by how these begin: one is compared with those that may overlap, not with all."""

    def __init__(self) -> None:
        self._claims: dict[Claim, None] = {}
        self._by_head: dict[str, dict[Claim, None]] = {}
        self._heads: list[str] = []
        self._left = _MOST_COMPARED

    def add(self, taken: Claim) -> None:
        """The last one to be added is the nearest."""
        if not taken.patterns:
            return
        self._claims.pop(taken, None)
        self._claims[taken] = None
        for head in _heads_of(taken):
            if head not in self._by_head:
                insort(self._heads, head)
            self._by_head.setdefault(head, {})[taken] = None

    def clear(self) -> None:
        self._claims.clear()
        self._by_head.clear()
        self._heads.clear()

    def meeting(self, wanted: Claim) -> Iterator[tuple[Claim, tuple[str, ...]]]:
        """Find the claims that share a namespace with this one, and what they share."""
        candidates = self._candidates(wanted) if self._left > 0 else [*islice(reversed(self._claims), _NEAREST)]
        self._left -= len(candidates)
        for other in candidates:
            if shared := shared_namespaces(wanted, other):
                yield other, shared

    def _candidates(self, wanted: Claim) -> list[Claim]:
        candidates: dict[Claim, None] = {}
        for head in _heads_of(wanted):
            for end in range(len(head) + 1):
                candidates.update(self._by_head.get(head[:end], {}))
        for pattern in wanted.patterns:
            for longer in _beginning_with(self._heads, _head(pattern)):
                candidates.update(self._by_head[longer])
        return list(candidates)


class NamespaceIndex:
    """The backups ahead, indexed so that those with a shared namespace are found cheaply.

    Of the waiting ones, only the last to claim a namespace is kept: it already waits for those before it.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, list[int]] = {}
        self._names: list[str] = []
        self._by_pattern: dict[Claim, list[int]] = {}
        self._patterns = PatternClaims()

    def meets(self, wanted: Claim) -> dict[int, tuple[str, ...]]:
        """The runs that must go first, by position in the queue, with the shared namespaces."""
        names_of: defaultdict[int, set[str]] = defaultdict(set)
        for name in self._taken_by(wanted):
            for who in self._by_name[name]:
                names_of[who].add(name)
        for other, shared in self._patterns.meeting(wanted):
            for who in self._by_pattern[other]:
                names_of[who].update(shared)
        return {who: tuple(sorted(names_of[who])) for who in sorted(names_of)}

    def add_running(self, taken: Claim, who: int) -> None:
        """Add a running backup; running backups wait for nobody, so each of them counts."""
        for name in taken.names:
            self._add_name(name, [*self._by_name.get(name, ()), who])
        if taken.patterns:
            self._by_pattern.setdefault(taken, []).append(who)
            self._patterns.add(taken)

    def add_waiting(self, taken: Claim, who: int) -> None:
        if taken.takes_everything:
            self._by_pattern.clear()
            self._patterns.clear()
        if taken.patterns:
            for name in self._taken_by(taken):
                del self._by_name[name]
                del self._names[bisect_left(self._names, name)]
        for name in taken.names:
            self._add_name(name, [who])
        if taken.patterns:
            self._by_pattern[taken] = [who]
            self._patterns.add(taken)

    def _add_name(self, name: str, takers: list[int]) -> None:
        if name not in self._by_name:
            insort(self._names, name)
        self._by_name[name] = takers

    def _taken_by(self, wanted: Claim) -> list[str]:
        own = [name for name in wanted.names if name in self._by_name]
        for pattern in wanted.patterns:
            own += [name for name in _beginning_with(self._names, _head(pattern)) if wanted.takes(name)]
        return list(dict.fromkeys(own))


def _beginning_with(names: list[str], head: str) -> list[str]:
    """Out of names in order."""
    return names[bisect_left(names, head) : bisect_left(names, f"{head}\U0010ffff")]


def _heads_of(taken: Claim) -> list[str]:
    """How the namespaces of a claim begin, as far as that is known."""
    return [*(name[:_LONGEST_NAME] for name in taken.names), *map(_head, taken.patterns)]


def _head(pattern: str) -> str:
    return _fixed_part(pattern)[:_LONGEST_NAME]


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
    return next((pattern[:index] for index, letter in enumerate(pattern) if letter in _WILD), pattern)
