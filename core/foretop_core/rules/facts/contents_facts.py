"""The contents of a backup by namespace: its volumes by its volume info, its objects by its list of resources."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import msgspec

from foretop_core.rules import humanize
from foretop_core.rules.results import ResourceList, Results
from foretop_core.rules.volumes.evidence import KnownVolumes, ToldVolume, VolumeFate, VolumeInfo, whole_size
from foretop_core.rules.volumes.volume_info import told_line

__all__ = [
    "FetchedFiles",
    "NamespaceContents",
    "ToldVolume",
    "VolumeFate",
    "backup_contents",
    "contents_total",
    "namespace_of",
    "objects_by_namespace",
    "told_line",
]

_MOST_KINDS = 6


class FetchedFiles(msgspec.Struct, frozen=True):
    """The files of a run that were asked for together."""

    results: Results
    resources: ResourceList | None = None
    """None where it was not asked for, or could not be had."""
    volumes: KnownVolumes | None = None
    lacking: tuple[str, ...] = ()
    """Why each of those that could not be had is missing."""


class NamespaceContents(msgspec.Struct, frozen=True):
    """The contents of one namespace; "" is what belongs to none."""

    namespace: str
    volumes: tuple[ToldVolume, ...] = ()
    kinds: tuple[tuple[str, int], ...] = ()
    """Kinds with how many objects, the most first."""

    @property
    def objects(self) -> int:
        return sum(number for _, number in self.kinds)

    @property
    def taken(self) -> tuple[ToldVolume, ...]:
        return tuple(one for one in self.volumes if one.fate is VolumeFate.TAKEN)

    @property
    def size(self) -> int | None:
        """The bytes of its volumes; None where those of one are not known, or where it has none."""
        return whole_size([one.size for one in self.taken]) if len(self.taken) == len(self.volumes) else None

    @property
    def volumes_text(self) -> str:
        """`2 of 3 volumes, 80 GB`; "" where it has none."""
        if not self.volumes:
            return ""
        size = whole_size([one.size for one in self.taken])
        bytes_text = f", {humanize.size(size)}" if size is not None else ""
        return f"{len(self.taken)} of {humanize.count(len(self.volumes), 'volume')}{bytes_text}"

    def kinds_text(self) -> str:
        """`12 objects: 4 Pod, 3 Secret and 2 more kinds`; "" where there are none."""
        if not self.kinds:
            return ""
        named = [f"{number} {kind}" for kind, number in self.kinds[:_MOST_KINDS]]
        left = len(self.kinds) - _MOST_KINDS
        more = f" and {humanize.count(left, 'more kind')}" if left > 0 else ""
        return f"{humanize.count(self.objects, 'object')}: {', '.join(named)}{more}"


def backup_contents(info: VolumeInfo | None, resources: ResourceList | None) -> tuple[NamespaceContents, ...]:
    """By namespace, in the order of their names; what belongs to none comes first."""
    volumes: defaultdict[str, list[ToldVolume]] = defaultdict(list)
    for volume in info.volumes if info is not None else ():
        volumes[volume.namespace].append(volume)
    kinds = objects_by_namespace(resources) if resources is not None else {}
    return tuple(
        NamespaceContents(name, tuple(volumes.get(name, ())), tuple(kinds.get(name, Counter()).most_common()))
        for name in sorted({*volumes, *kinds})
    )


def objects_by_namespace(resources: ResourceList) -> dict[str, Counter[str]]:
    """How many objects of each kind every namespace has; kinds by their names alone."""
    found: dict[str, Counter[str]] = {}
    for kind in resources.kinds:
        word = kind.kind.rpartition("/")[2]
        for name in kind.names:
            found.setdefault(namespace_of(name), Counter())[word] += 1
    return found


def namespace_of(name: str) -> str:
    """`shop` of `shop/web`; "" of an object that belongs to no namespace."""
    return name.partition("/")[0] if "/" in name else ""


def contents_total(contents: Iterable[NamespaceContents]) -> NamespaceContents:
    """All namespaces together, under no name."""
    volumes: list[ToldVolume] = []
    kinds: Counter[str] = Counter()
    for one in contents:
        volumes += one.volumes
        kinds.update(dict(one.kinds))
    return NamespaceContents("", tuple(volumes), tuple(kinds.most_common()))
