"""The namespace filters of backups, schedules and restores, and what the namespaces that each of them takes share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from operator import itemgetter

import msgspec

from foretop_core.models import Restore
from foretop_core.rules.protection.copies import merged
from foretop_core.rules.protection.copy_group import CopyGroup
from foretop_core.rules.protection.coverage import Extent, NamespaceFilter
from foretop_core.rules.protection.namespace_filter_index import FilterTable
from foretop_core.rules.protection.namespace_protection import (
    NamespaceCover,
    SharedProtection,
    best_method,
    widest,
)


class FilterUse(msgspec.Struct):
    """Who has a filter."""

    groups: dict[Hashable, CopyGroup] = msgspec.field(default_factory=dict)
    covers: dict[tuple[str, str], NamespaceCover] = msgspec.field(default_factory=dict)
    restores: dict[tuple[str, str], Restore] = msgspec.field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.groups or self.covers or self.restores)


class FilterUses:
    """Who has which filter.

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
        found = self._filters.get((included, excluded))
        if found is None:
            found = self._filters[included, excluded] = NamespaceFilter(included, excluded)
        return found

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
        held = self._shared.get(filters)
        if held is None:
            held = self._shared[filters] = self._put_together(filters)
            for wanted in filters:
                self._shared_with.setdefault(wanted, set()).add(filters)
        return held

    def _forget_shared(self, filters: Iterable[NamespaceFilter]) -> None:
        if not self._shared:
            return
        for wanted in filters:
            for together in self._shared_with.pop(wanted, ()):
                self._shared.pop(together, None)

    def _put_together(self, filters: tuple[NamespaceFilter, ...]) -> SharedProtection:
        uses = [self._uses[wanted] for wanted in filters]
        named = [held for use in uses for held in use.covers.items() if held[1].coverage.extent is not Extent.NONE]
        covers = tuple([cover for _, cover in sorted(named, key=itemgetter(0))])
        accepted = [cover for cover in covers if not cover.is_refused]
        ended = [
            restore.status.completion_timestamp
            for use in uses
            for restore in use.restores.values()
            if restore.status.completion_timestamp is not None
        ]
        return SharedProtection(
            covers,
            merged(group.summary for use in uses for group in use.groups.values()),
            max(ended, default=None),
            widest(cover.coverage for cover in accepted),
            best_method(cover.volumes for cover in accepted),
            min([one.next_run for one in covers if one.is_active and one.next_run is not None], default=None),
            any(cover.is_active for cover in covers),
        )
