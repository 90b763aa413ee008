"""Which of many namespace filters take which of many namespaces, kept up to date name by name and filter by filter."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from foretop_core.rules.protection.coverage import NamespaceFilter

_NO_FILTERS: dict[NamespaceFilter, None] = {}


class FilterTable:
    """A name costs a look at every different filter, a filter a look at the names that begin as it does.

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

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def filters_of(self, name: str) -> tuple[NamespaceFilter, ...]:
        if not self._has(name):
            return ()
        but = self._general_but.get(name)
        general = tuple([one for one in self._general if one not in but]) if but else self._general
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
            for name in found:
                self._general_but.setdefault(name, set()).add(wanted)
            return
        self._taken[wanted] = taken = wanted.among(self._names)
        for name in taken:
            self._of_name.setdefault(name, {})[wanted] = None

    def remove(self, wanted: NamespaceFilter) -> None:
        if wanted in self._left_out:
            self._general = tuple([one for one in self._general if one is not wanted])
            for name in self._left_out.pop(wanted):
                self._general_but[name].discard(wanted)
        for name in self._taken.pop(wanted, ()):
            self._of_name[name].pop(wanted, None)

    def add_name(self, name: str) -> None:
        if self._has(name):
            return
        insort(self._names, name)
        for wanted, taken in self._taken.items():
            if wanted.takes(name):
                taken.append(name)
                self._of_name.setdefault(name, {})[wanted] = None
        for wanted, without in self._left_out.items():
            if wanted.leaves_out(name):
                without.add(name)
                self._general_but.setdefault(name, set()).add(wanted)

    def remove_name(self, name: str) -> None:
        if not self._has(name):
            return
        del self._names[bisect_left(self._names, name)]
        for wanted in self._of_name.pop(name, _NO_FILTERS):
            self._taken[wanted].remove(name)
        for wanted in self._general_but.pop(name, ()):
            self._left_out[wanted].discard(name)

    def _has(self, name: str) -> bool:
        at = bisect_left(self._names, name)
        return at < len(self._names) and self._names[at] == name
