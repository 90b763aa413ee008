"""The objects of a backup by namespace and kind, and what differs between two copies, or a copy and the cluster."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

import msgspec

from foretop_core.rules import humanize
from foretop_core.rules.facts.contents_facts import namespace_of
from foretop_core.rules.results import ResourceList

_MOST_NAMES = 50
"""Of one kind in one namespace that are told in a line."""
Listed = Mapping[tuple[str, str], frozenset[str]]
"""By namespace, "" for none, and kind, such as `apps/Deployment`, the names of its objects."""


Sides = tuple[str, str]
"""The copy that is looked into, and what it is compared with."""
NOW = "the cluster now"


class Difference(msgspec.Struct, frozen=True):
    """The objects of one kind in one namespace that only one side has."""

    namespace: str
    kind: str
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


def group_and_kind(kind: str) -> str:
    """`apps/Deployment` of `apps/v1/Deployment`, `Pod` of `v1/Pod`: the version may be another in another copy."""
    *before, name = kind.split("/")
    return f"{before[0]}/{name}" if len(before) > 1 else name


def listed(resources: ResourceList, wanted: Collection[str] = (), text: str = "") -> Listed:
    """Only of the wanted namespaces, where some are named; with a text only objects whose kind or name has it."""
    sought = text.casefold()
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for kind in resources.kinds:
        word = group_and_kind(kind.kind)
        for whole in kind.names:
            namespace = namespace_of(whole)
            name = whole.removeprefix(f"{namespace}/") if namespace else whole
            if (not wanted or namespace in wanted) and (sought in word.casefold() or sought in name.casefold()):
                found[namespace, word].add(name)
    return {key: frozenset(found[key]) for key in sorted(found)}


class Inside(msgspec.Struct, frozen=True):
    """The objects of a copy, and what differs; None where that was not asked for, or could not be had."""

    objects: Listed | None = None
    differing: tuple[Difference, ...] | None = None
    sides: Sides = ("this copy", "the other")
    is_doubtful: bool = False
    """Not all that is listed is in it: some of it failed."""


def copies_differ(
    mine: ResourceList, theirs: ResourceList, wanted: Collection[str] = (), text: str = ""
) -> tuple[Difference, ...]:
    """Added is what only the other copy has, gone what only the first one has."""
    return differences(listed(mine, wanted, text), listed(theirs, wanted, text))


def differences(before: Listed, now: Listed) -> tuple[Difference, ...]:
    """In the order of namespaces and kinds; none where both have the same."""
    return tuple(
        Difference(*key, tuple(sorted(new - old)), tuple(sorted(old - new)))
        for key in sorted({*before, *now})
        if (old := before.get(key, frozenset())) != (new := now.get(key, frozenset()))
    )


def object_lines(found: Listed, most: int) -> Iterator[str]:
    """A heading for each namespace, and a line for each kind with its names."""
    heading = None
    for (namespace, kind), names in found.items():
        if namespace != heading:
            heading = namespace
            yield f"  {namespace or 'cluster-scoped'}"
        yield f"    {kind} ({len(names):,}): {humanize.join(tuple(sorted(names)), most)}"


def difference_lines(found: tuple[Difference, ...], sides: Sides, most: int) -> Iterator[str]:
    """A line for each kind of the objects that only the first side has, then of those that only the other has."""
    mine, other = sides
    for side, names_of in ((mine, operator.attrgetter("gone")), (other, operator.attrgetter("added"))):
        only = [(one, names) for one in found if (names := names_of(one))]
        if only:
            yield f"Only in {side}:"
        for one, names in only:
            place = f"{one.namespace or 'cluster-scoped'} {one.kind}"
            yield f"  {place} ({len(names):,}): {humanize.join(names, most)}"


def inside_lines(inside: Inside) -> Iterator[str]:
    """The lines of each that was asked for, under its heading."""
    if inside.objects is not None:
        yield "Objects:"
        yield from object_lines(inside.objects, _MOST_NAMES)
        if not inside.objects:
            yield "  none"
    if inside.differing is not None:
        if inside.objects is not None:
            yield ""
        yield from difference_lines(inside.differing, inside.sides, _MOST_NAMES)
        if not inside.differing:
            yield "Both have the same objects."
    if inside.is_doubtful:
        yield ""
        yield "Velero lists objects too whose backup failed: see its results."
