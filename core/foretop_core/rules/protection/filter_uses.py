"""The namespace filters of backups, schedules and restores, and what the namespaces that each of them takes share."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable
from operator import itemgetter

import msgspec

from foretop_core.models import Restore
from foretop_core.rules.protection.copies import CopyGroup, merged
from foretop_core.rules.protection.coverage import Extent, NamespaceFilter, head_of
from foretop_core.rules.protection.namespace_protection import (
    NamespaceCover,
    SharedProtection,
    best_method,
    widest,
)

_NO_FILTERS: dict[NamespaceFilter, None] = {}
_LONGEST_NAME = 63


class _ByBeginning:
    """Filters by how the entries of one of their lists begin: a name is compared with those that may take it."""

    def __init__(self) -> None:
        self._by_head: dict[str, dict[NamespaceFilter, None]] = {}

    def add(self, wanted: NamespaceFilter, entries: Iterable[str]) -> None:
        for head in _heads(entries):
            self._by_head.setdefault(head, {})[wanted] = None

    def remove(self, wanted: NamespaceFilter, entries: Iterable[str]) -> None:
        for head in _heads(entries):
            held = self._by_head[head]
            del held[wanted]
            if not held:
                del self._by_head[head]

    def candidates(self, name: str) -> dict[NamespaceFilter, None]:
        found: dict[NamespaceFilter, None] = {}
        for end in range(min(len(name), _LONGEST_NAME) + 1):
            found.update(self._by_head.get(name[:end], _NO_FILTERS))
        return found


def _heads(entries: Iterable[str]) -> set[str]:
    return {head_of(entry)[:_LONGEST_NAME] for entry in entries}


class FilterTable:
    """A name costs a look at the filters with an entry that begins as it does, a filter a look at such names.

    Of a filter that takes every name but some, only those that it leaves out are kept: most clusters have thousands
    of names, and most filters of this sort leave out a few.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._of_name: dict[str, dict[NamespaceFilter, None]] = {}
        self._taken: dict[NamespaceFilter, list[str]] = {}
        self._left_out: dict[NamespaceFilter, set[str]] = {}
        self._general: tuple[NamespaceFilter, ...] = ()
        """Those that take every name but some."""
        self._general_but: dict[str, set[NamespaceFilter]] = {}
        """By name, those of them that leave it out."""
        self._by_included, self._general_by_excluded = _ByBeginning(), _ByBeginning()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def filters_of(self, name: str) -> tuple[NamespaceFilter, ...]:
        if not self._has(name):
            return ()
        but = self._general_but.get(name)
        general = (
            tuple([namespace_filter for namespace_filter in self._general if namespace_filter not in but])
            if but
            else self._general
        )
        own = self._of_name.get(name)
        return (*general, *own) if own else general

    def names_of(self, wanted: NamespaceFilter) -> Iterable[str]:
        """Looked for when they are asked for one by one: of those that take almost all, nobody may want to know."""
        without = self._left_out.get(wanted)
        if without is None:
            return self._taken.get(wanted, [])
        return (name for name in self._names if name not in without) if without else self._names

    def add(self, wanted: NamespaceFilter) -> None:
        if wanted in self._taken or wanted in self._left_out:
            return
        if wanted.takes_all_others:
            self._general = (*self._general, wanted)
            self._left_out[wanted] = found = wanted.left_out(self._names)
            self._general_by_excluded.add(wanted, wanted.excluded)
            for name in found:
                self._general_but.setdefault(name, set()).add(wanted)
            return
        self._taken[wanted] = taken = wanted.among(self._names)
        self._by_included.add(wanted, wanted.included)
        for name in taken:
            self._of_name.setdefault(name, {})[wanted] = None

    def remove(self, wanted: NamespaceFilter) -> None:
        if wanted in self._left_out:
            self._general = tuple(
                [namespace_filter for namespace_filter in self._general if namespace_filter is not wanted]
            )
            for name in self._left_out.pop(wanted):
                self._general_but[name].discard(wanted)
            self._general_by_excluded.remove(wanted, wanted.excluded)
        elif wanted in self._taken:
            for name in self._taken.pop(wanted):
                self._of_name[name].pop(wanted, None)
            self._by_included.remove(wanted, wanted.included)

    def add_name(self, name: str) -> None:
        if self._has(name):
            return
        insort(self._names, name)
        for namespace_filter in self._by_included.candidates(name):
            if namespace_filter.takes(name):
                self._taken[namespace_filter].append(name)
                self._of_name.setdefault(name, {})[namespace_filter] = None
        for namespace_filter in self._general_by_excluded.candidates(name):
            if namespace_filter.leaves_out(name):
                self._left_out[namespace_filter].add(name)
                self._general_but.setdefault(name, set()).add(namespace_filter)

    def remove_name(self, name: str) -> None:
        if not self._has(name):
            return
        del self._names[bisect_left(self._names, name)]
        for namespace_filter in self._of_name.pop(name, _NO_FILTERS):
            self._taken[namespace_filter].remove(name)
        for namespace_filter in self._general_but.pop(name, ()):
            self._left_out[namespace_filter].discard(name)

    def _has(self, name: str) -> bool:
        index = bisect_left(self._names, name)
        return index < len(self._names) and self._names[index] == name


class FilterUse(msgspec.Struct):
    """The users of one filter."""

    groups: dict[Hashable, CopyGroup] = msgspec.field(default_factory=dict)
    covers: dict[tuple[str, str], NamespaceCover] = msgspec.field(default_factory=dict)
    restores: dict[tuple[str, str], Restore] = msgspec.field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.groups or self.covers or self.restores)


class FilterUses:
    """The users of each filter.

    Namespaces that the same filters take share their protection, which is put together once for all of them.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._table = FilterTable(names)
        self._filters: dict[tuple[tuple[str, ...], tuple[str, ...]], NamespaceFilter] = {}
        self._uses: dict[NamespaceFilter, FilterUse] = {}
        self._shared: dict[tuple[NamespaceFilter, ...], SharedProtection] = {}
        self._shared_with: dict[NamespaceFilter, set[tuple[NamespaceFilter, ...]]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return self._table.names

    def names_of(self, wanted: NamespaceFilter) -> Iterable[str]:
        return self._table.names_of(wanted)

    def keep_name(self, name: str, *, is_known: bool) -> None:
        """In the table for as long as something is known of it."""
        before = self._table.filters_of(name)
        if is_known:
            self._table.add_name(name)
        else:
            self._table.remove_name(name)
        self._forget_shared((*before, *self._table.filters_of(name)))

    def filter(self, included: tuple[str, ...], excluded: tuple[str, ...]) -> NamespaceFilter:
        """One for each pair of lists."""
        namespace_filter = self._filters.get((included, excluded))
        if namespace_filter is None:
            namespace_filter = self._filters[included, excluded] = NamespaceFilter(included, excluded)
        return namespace_filter

    def of(self, wanted: NamespaceFilter) -> FilterUse:
        if wanted not in self._uses:
            self._uses[wanted] = FilterUse()
            self._table.add(wanted)
        return self._uses[wanted]

    def renew(self, wanted: NamespaceFilter) -> None:
        """After a change of what one that has it holds."""
        self._forget_shared((wanted,))

    def settle(self, wanted: NamespaceFilter) -> None:
        """After a change of who has it; one that nobody has is forgotten."""
        self._forget_shared((wanted,))
        if not self._uses[wanted]:
            del self._uses[wanted]
            self._filters.pop((wanted.included, wanted.excluded), None)
            self._table.remove(wanted)

    def shared(self, namespace: str) -> SharedProtection:
        filters = self._table.filters_of(namespace)
        protection = self._shared.get(filters)
        if protection is None:
            protection = self._shared[filters] = self._put_together(filters)
            for namespace_filter in filters:
                self._shared_with.setdefault(namespace_filter, set()).add(filters)
        return protection

    def _forget_shared(self, filters: Iterable[NamespaceFilter]) -> None:
        if not self._shared:
            return
        for namespace_filter in filters:
            for together in self._shared_with.pop(namespace_filter, ()):
                self._shared.pop(together, None)

    def _put_together(self, filters: tuple[NamespaceFilter, ...]) -> SharedProtection:
        uses = [self._uses[namespace_filter] for namespace_filter in filters]
        named = [held for use in uses for held in use.covers.items() if held[1].coverage.extent is not Extent.NONE]
        covers = tuple([cover for _, cover in sorted(named, key=itemgetter(0))])
        accepted = [cover for cover in covers if not cover.is_refused]
        ended = [
            restore.status.completion_timestamp
            for use in uses
            for restore in use.restores.values()
            if restore.status.completion_timestamp is not None
        ]
        groups = tuple([group.summary for use in uses for group in use.groups.values()])
        return SharedProtection(
            covers,
            merged(groups),
            groups,
            max(ended, default=None),
            widest(cover.coverage for cover in accepted),
            best_method(cover.volumes for cover in accepted),
        )
