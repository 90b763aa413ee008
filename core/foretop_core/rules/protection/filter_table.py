"""Which of many namespace filters take which of many namespaces, kept up to date name by name and filter by filter."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from foretop_core.rules.protection.coverage import NamespaceFilter

_NO_FILTERS: dict[NamespaceFilter, None] = {}


class FilterTable:
    """A name costs a look at every different filter, a filter a look at the names that begin as it does."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(set(names))
        self._of_name: dict[str, dict[NamespaceFilter, None]] = {}
        self._taken: dict[NamespaceFilter, list[str]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._names)

    def filters_of(self, name: str) -> tuple[NamespaceFilter, ...]:
        return tuple(self._of_name.get(name, _NO_FILTERS))

    def names_of(self, wanted: NamespaceFilter) -> list[str]:
        return self._taken.get(wanted, [])

    def add(self, wanted: NamespaceFilter) -> None:
        if wanted in self._taken:
            return
        self._taken[wanted] = found = wanted.among(self._names)
        for name in found:
            self._of_name.setdefault(name, {})[wanted] = None

    def remove(self, wanted: NamespaceFilter) -> None:
        for name in self._taken.pop(wanted, ()):
            self._of_name[name].pop(wanted, None)

    def add_name(self, name: str) -> None:
        at = bisect_left(self._names, name)
        if at < len(self._names) and self._names[at] == name:
            return
        insort(self._names, name)
        for wanted, taken in self._taken.items():
            if wanted.takes(name):
                taken.append(name)
                self._of_name.setdefault(name, {})[wanted] = None

    def remove_name(self, name: str) -> None:
        at = bisect_left(self._names, name)
        if at == len(self._names) or self._names[at] != name:
            return
        del self._names[at]
        for wanted in self._of_name.pop(name, _NO_FILTERS):
            self._taken[wanted].remove(name)
