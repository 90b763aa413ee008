"""Coverage of a namespace by a backup template: all, a part, or nothing, read as Velero reads it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Any

import msgspec

from foretop_core.models import BackupSpec
from foretop_core.rules import humanize
from foretop_core.rules.cron_dialects.releases import Release

_WILD = frozenset("*?[{")
_WITH_PATTERNS = (1, 18)
"""Earlier releases look for a namespace whose name is the pattern."""
_EVERYTHING = "*"
_REMEMBERED = 4096
_LONGEST_PATTERN = 1024
"""Characters; a longer one is taken as it is, for to read a megabyte of stars and brackets takes minutes."""
_MADE_AGAIN = frozenset(
    {
        "backuprepositories",
        "backups",
        "endpoints",
        "endpointslices",
        "events",
        "leases",
        "nonadminbackups",
        "nonadminbackupstoragelocations",
        "nonadminrestores",
        "resticrepositories",
        "restores",
        "volumesnapshots",
    }
)
"""Left out without a loss: the cluster makes them itself, or they are about backups; OADP excludes some of them."""
_THEIR_GROUPS = frozenset(
    {
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "oadp.openshift.io",
        "snapshot.storage.k8s.io",
        "velero.io",
    }
)
"""Where a group is named: other groups have backups and restores of their own."""
_CLUSTER_SCOPED = frozenset(
    {
        "apiservices",
        "certificatesigningrequests",
        "clusterrolebindings",
        "clusterroles",
        "csidrivers",
        "csinodes",
        "customresourcedefinitions",
        "ingressclasses",
        "mutatingwebhookconfigurations",
        "namespaces",
        "nodes",
        "persistentvolumes",
        "priorityclasses",
        "runtimeclasses",
        "securitycontextconstraints",
        "storageclasses",
        "validatingwebhookconfigurations",
        "virtualmachineclusterinstancetypes",
        "virtualmachineclusterpreferences",
        "volumeattachments",
        "volumesnapshotclasses",
        "volumesnapshotcontents",
    }
)
_VOLUMES = frozenset({"persistentvolumes", "persistentvolume", "pv"})
_CLAIMS = frozenset({"persistentvolumeclaims", "persistentvolumeclaim"})
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SIGNS_AS_LETTERS = str.maketrans("*?[]", "xxxx")
_MOST_STARS_IN_BRACES = 3
_CLOSED_SETS = re.compile(r"[^\[\]]*(\[[^\]]+\][^\[\]]*)*")
_SELECTOR_WORDS = {"Exists": "{}", "DoesNotExist": "!{}"}


class Extent(StrEnum):
    """How much of a namespace is taken."""

    ALL = "all"
    UNKNOWN = "not known"
    """Something that was not read decides; it may be all, a part or nothing."""
    PART = "part"
    NONE = "none"


class Coverage(msgspec.Struct, frozen=True):
    """How much is taken, and in words what limits it."""

    extent: Extent
    limits: str = ""

    def __str__(self) -> str:
        return f"{self.extent.value}: {self.limits}" if self.limits else self.extent.value


_ALL = Coverage(Extent.ALL)
_NOT_INCLUDED = Coverage(Extent.NONE, "not among its namespaces")
_EXCLUDED = Coverage(Extent.NONE, "excluded by name")


class VolumeMethod(StrEnum):
    """How the data of a namespace's volumes gets into a backup; a method where it takes every one of them."""

    SNAPSHOT = "snapshot"
    DATA_MOVER = "data mover"
    FILE_SYSTEM = "file system"
    PART = "part"
    NOT_KNOWN = "not known"
    NONE = "none"


class NamespaceFilter(msgspec.Struct, frozen=True, eq=False):
    """The namespaces of a backup or restore by its two lists; nothing included means all.

    It is compared by identity, because thousands of sets and dicts hold it.
    """

    included: tuple[str, ...]
    excluded: tuple[str, ...]

    def takes(self, name: str) -> bool:
        return _fits(name, self.included or (_EVERYTHING,)) and not _fits(name, self.excluded)

    @property
    def takes_all_others(self) -> bool:
        """True if it takes every namespace that it does not exclude."""
        return not self.included or _EVERYTHING in self.included

    def leaves_out(self, name: str) -> bool:
        return _fits(name, self.excluded)

    def left_out(self, names: Sequence[str]) -> set[str]:
        """The names that it excludes, out of names in order."""
        return {name for entry in self.excluded for name in _among(entry, names)}

    def among(self, names: Sequence[str]) -> list[str]:
        """The names that it takes, out of names in order."""
        found: dict[str, None] = {}
        for entry in self.included or (_EVERYTHING,):
            found.update(dict.fromkeys(_among(entry, names)))
        for name in self.left_out(names):
            found.pop(name, None)
        return list(found)

    @property
    def has_patterns(self) -> bool:
        return any(map(_is_pattern, self.included))

    @property
    def named(self) -> tuple[str, ...]:
        """The names that are given as they are; those may be gone from the cluster, or not be there yet."""
        return tuple(name for name in self.included if not _is_pattern(name) and not _fits(name, self.excluded))


def namespace_filter(spec: BackupSpec) -> NamespaceFilter:
    return NamespaceFilter(spec.included_namespaces, spec.excluded_namespaces)


def template_coverage(spec: BackupSpec, namespace: str) -> Coverage:
    """The coverage of one namespace by this template."""
    if (content := content_coverage(spec)).extent is Extent.NONE:
        return content
    if _fits(namespace, spec.excluded_namespaces):
        return _EXCLUDED
    return content if namespace_filter(spec).takes(namespace) else _NOT_INCLUDED


def content_coverage(spec: BackupSpec) -> Coverage:
    """The coverage of any namespace that the template takes, by the template alone."""
    if refusal := refused_because(spec):
        return Coverage(Extent.NONE, f"Velero refuses it: {refusal}")
    if not all(map(_selector, _selectors(spec))):
        return Coverage(Extent.NONE, "Velero cannot list with an empty label selector")
    included, excluded = _namespaced_lists(spec)
    if _EVERYTHING in excluded:
        return Coverage(Extent.NONE, "all resources are excluded")
    only = () if not included or _EVERYTHING in included else tuple(_namespaced(included, excluded))
    if included and _EVERYTHING not in included and not only:
        return Coverage(Extent.NONE, f"only {humanize.join(included)}, which are in no namespace")
    if policy := resource_policy(spec):
        return Coverage(Extent.UNKNOWN, f"its resource policy {policy} was not read")
    without = () if only else tuple(name for name in _namespaced(excluded) if not _is_made_again(name))
    return _described(only, without, selector_text(spec))


def cluster_scoped_text(spec: BackupSpec) -> str:
    """Which resources outside of namespaces come along."""
    if spec.include_cluster_resources is not None:
        return "all" if spec.include_cluster_resources else "none"
    if _EVERYTHING in spec.excluded_cluster_scoped_resources:
        return "none"
    if _EVERYTHING in spec.included_cluster_scoped_resources:
        return "all"
    if spec.included_cluster_scoped_resources:
        return f"only {humanize.join(spec.included_cluster_scoped_resources)}"
    filtered = spec.included_resources or _has_new_filters(spec)
    everywhere = not spec.included_namespaces or spec.included_namespaces == (_EVERYTHING,)
    return "all" if everywhere and not spec.excluded_namespaces and not filtered else "its own"


def resource_policy(spec: BackupSpec) -> str:
    """The ConfigMap with its resource policies, "" for none; Velero ignores a reference to any other kind."""
    kind, name = spec.resource_policy.get("kind"), spec.resource_policy.get("name")
    return str(name) if name and isinstance(kind, str) and kind.lower() == "configmap" else ""


def volume_method(spec: BackupSpec) -> VolumeMethod:
    """How its volumes are taken: a template alone tells only where they are not.

    A claim's class, its pods' annotations and the server decide about all others.
    """
    if content_coverage(spec).extent is Extent.NONE or not _takes_resource(spec, _CLAIMS):
        return VolumeMethod.NONE
    return VolumeMethod.NOT_KNOWN


def leaves_out_volumes(spec: BackupSpec) -> bool:
    """True if no PersistentVolume comes along, by its lists alone; snapshots of plugins are made of those."""
    if spec.include_cluster_resources is False:
        return True
    excluded = {name.partition(".")[0] for name in (*spec.excluded_resources, *spec.excluded_cluster_scoped_resources)}
    return not excluded.isdisjoint({*_VOLUMES, _EVERYTHING})


def is_without_volumes(spec: BackupSpec) -> bool:
    """True if it takes no volume of its own accord: a pod can still ask for its own by an annotation."""
    return spec.snapshot_volumes is False and not copies_files(spec)


def copies_files(spec: BackupSpec) -> bool:
    """True if it copies the files of volumes of its own accord, or its policy may."""
    by_default = spec.default_volumes_to_fs_backup or spec.default_volumes_to_restic
    return bool(by_default or resource_policy(spec))


def volume_choices(spec: BackupSpec) -> Hashable:
    """All of a template that decides which volumes are taken, and how; timeouts and such do not."""
    return (
        spec.snapshot_volumes,
        spec.snapshot_move_data,
        spec.default_volumes_to_fs_backup or spec.default_volumes_to_restic,
        resource_policy(spec),
        spec.volume_snapshot_locations,
        leaves_out_volumes(spec),
    )


def misread_patterns(spec: BackupSpec, namespace: str, release: Release | None) -> str:
    """Why a release takes nothing of a namespace, though the patterns of the template do; "" where it does."""
    return reads_nothing(spec, release) or (
        "" if namespace in spec.included_namespaces else lost_patterns(spec, release)
    )


def lost_patterns(spec: BackupSpec, release: Release | None) -> str:
    """Why a release takes none of the patterns that are included; "" where it does, or there are none."""
    lost = [name for name in spec.included_namespaces if _EVERYTHING in name and name != _EVERYTHING]
    if not lost or release is None or (release.major, release.minor) >= _WITH_PATTERNS:
        return ""
    return f"Velero {release} takes no patterns in includedNamespaces: it looks for a namespace {lost[0]}"


def reads_nothing(spec: BackupSpec, release: Release | None) -> str:
    """Why a release takes nothing at all; "" where it does."""
    is_first = release is not None and (release.major, release.minor, release.patch) == (*_WITH_PATTERNS, 0)
    has_patterns = any(sign in name for name in spec.excluded_namespaces for sign in "*?[")
    if not is_first or spec.included_namespaces or not has_patterns:
        return ""
    return "Velero 1.18.0 takes nothing where excludedNamespaces has a pattern and includedNamespaces is empty"


def refused_because(spec: BackupSpec) -> str:
    """Why Velero makes no backup of this template; "" where its lists and selectors are valid."""
    old = bool(spec.included_resources or spec.excluded_resources or spec.include_cluster_resources is not None)
    if old and _has_new_filters(spec):
        return "old and scoped resource filters together"
    if spec.label_selector is not None and spec.or_label_selectors:
        return "labelSelector and orLabelSelectors together"
    for entry in (*spec.included_namespaces, *spec.excluded_namespaces):
        if not _is_valid_namespace(entry):
            return f"{entry} is not a valid namespace"
    pairs = (
        (spec.included_namespaces, spec.excluded_namespaces),
        (spec.included_resources, spec.excluded_resources),
    )
    scoped = (
        (spec.included_namespace_scoped_resources, spec.excluded_namespace_scoped_resources),
        (spec.included_cluster_scoped_resources, spec.excluded_cluster_scoped_resources),
    )
    for included, excluded in pairs:
        if refusal := _refused_lists(included, excluded):
            return refusal
        if _EVERYTHING in excluded:
            return "* is excluded"
    for included, excluded in scoped:
        if refusal := _refused_lists(included, excluded) or _refused_star(included, excluded):
            return refusal
    return ""


def _refused_lists(included: Sequence[str], excluded: Sequence[str]) -> str:
    if _EVERYTHING in included and set(included) != {_EVERYTHING}:
        return "* beside other names"
    both = [name for name in included if name in excluded]
    return f"{both[0]} is both included and excluded" if both else ""


def _refused_star(included: Sequence[str], excluded: Sequence[str]) -> str:
    """The scoped lists may exclude everything, but then nothing may stand beside it."""
    if _EVERYTHING not in excluded or (set(excluded) == {_EVERYTHING} and not included):
        return ""
    return "* is excluded beside other names"


def selector_text(spec: BackupSpec) -> str:
    """The labels that it asks for, as kubectl writes them; "" where it asks for none."""
    return " or ".join(map(_selector, _selectors(spec)))


def _selectors(spec: BackupSpec) -> Sequence[Mapping[str, Any]]:
    return spec.or_label_selectors if spec.label_selector is None else (spec.label_selector,)


def _described(only: Sequence[str], without: Sequence[str], labels: str) -> Coverage:
    if not only and not without and not labels:
        return _ALL
    parts = []
    if only or labels:
        what = humanize.join(tuple(only)) if only else "objects"
        parts.append(f"only {what}{f' with {labels}' if labels else ''}")
    if without:
        parts.append(f"without {humanize.join(tuple(without))}")
    return Coverage(Extent.PART, ", ".join(parts))


def _selector(selector: Mapping[str, Any]) -> str:
    labels = selector.get("matchLabels")
    parts = [f"{key}={value}" for key, value in labels.items()] if isinstance(labels, Mapping) else []
    rules = selector.get("matchExpressions")
    for rule in rules if isinstance(rules, list | tuple) else ():
        if isinstance(rule, Mapping):
            parts.append(_requirement(rule))
    return ",".join(parts)


def _requirement(rule: Mapping[str, Any]) -> str:
    key, operator = str(rule.get("key", "")), str(rule.get("operator", ""))
    if operator in _SELECTOR_WORDS:
        return _SELECTOR_WORDS[operator].format(key)
    values = ", ".join(map(str, rule.get("values") or ()))
    return f"{key} {'notin' if operator == 'NotIn' else 'in'} ({values})"


def _has_new_filters(spec: BackupSpec) -> bool:
    return bool(
        spec.included_namespace_scoped_resources
        or spec.excluded_namespace_scoped_resources
        or spec.included_cluster_scoped_resources
        or spec.excluded_cluster_scoped_resources
    )


def _namespaced_lists(spec: BackupSpec) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The included and excluded resources in namespaces, by whichever filters are used."""
    if _has_new_filters(spec):
        return spec.included_namespace_scoped_resources, spec.excluded_namespace_scoped_resources
    return spec.included_resources, spec.excluded_resources


def _is_made_again(name: str) -> bool:
    kind, _, group = name.partition(".")
    return kind in _MADE_AGAIN and (not group or group in _THEIR_GROUPS)


def _namespaced(names: Iterable[str], without: Collection[str] = ()) -> Iterable[str]:
    return (name for name in names if name.partition(".")[0] not in _CLUSTER_SCOPED and name not in without)


def _takes_resource(spec: BackupSpec, names: frozenset[str]) -> bool:
    included, excluded = _namespaced_lists(spec)
    if names & set(excluded):
        return False
    return not included or _EVERYTHING in included or bool(names & set(included))


@lru_cache(maxsize=_REMEMBERED)
def _is_valid_namespace(entry: str) -> bool:
    """A name, or a pattern of the few signs that Velero takes; an empty one means no namespace."""
    if not entry:
        return True
    name = entry.translate(_SIGNS_AS_LETTERS)
    return bool(_NAMESPACE.fullmatch(name) and _CLOSED_SETS.fullmatch(entry)) and "**" not in entry


def _is_pattern(entry: str) -> bool:
    return len(entry) <= _LONGEST_PATTERN and not _WILD.isdisjoint(entry)


def head_of(entry: str) -> str:
    """How each name begins that fits an entry."""
    return re.split(r"[*?\[{]", entry, maxsplit=1)[0] if _is_pattern(entry) else entry


def _fits(name: str, entries: Iterable[str]) -> bool:
    return any(
        name == entry or entry == _EVERYTHING or (_is_pattern(entry) and _pattern(entry).fullmatch(name) is not None)
        for entry in entries
    )


def fits_entry(name: str, entry: str) -> bool:
    """True if a name or pattern takes a name."""
    return _fits(name, (entry,))


def _among(entry: str, names: Sequence[str]) -> Sequence[str]:
    """The names that fit, out of names in order; only those with the same beginning are compared."""
    if entry == _EVERYTHING:
        return names
    head = head_of(entry)
    start = bisect_left(names, head)
    if head == entry:
        return names[start : start + 1] if start < len(names) and names[start] == entry else ()
    stop = bisect_left(names, f"{head}\U0010ffff")
    compiled = _pattern(entry)
    return [name for name in names[start:stop] if compiled.fullmatch(name) is not None]


@lru_cache(maxsize=_REMEMBERED)
def _pattern(entry: str) -> re.Pattern[str]:
    """`*`, `?`, `[abc]`, `[!abc]` and `{a,b}`; one that cannot be read matches only itself."""
    try:
        if "{" not in entry:
            return re.compile(_linear(entry))
        return re.compile(_translated(entry) if entry.count("*") <= _MOST_STARS_IN_BRACES else re.escape(entry))
    except re.error:
        return re.compile(re.escape(entry))


def _linear(entry: str) -> str:
    """Between two stars the first place that fits is taken for good: else `*a*a*a` tries every way to cut a name."""
    first, *others = (_translated(part) for part in re.split(r"\*+(?![^\[]*\])", entry))
    if not others:
        return first
    return "".join((first, *(f"(?>.*?{part})" for part in others[:-1]), f".*{others[-1]}"))


def _translated(entry: str) -> str:
    out, depth, at = "", 0, 0
    while at < len(entry):
        letter = entry[at]
        if letter == "[" and (end := entry.find("]", at + 1)) > 0:
            inner = entry[at + 1 : end].replace("\\", "\\\\").replace("^", "\\^")
            out += f"[^{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
            at = end
        elif letter == "{":
            depth += 1
            out += "(?:"
        elif letter == "}" and depth:
            depth -= 1
            out += ")"
        elif letter == "," and depth:
            out += "|"
        else:
            out += {"*": ".*", "?": "."}.get(letter, re.escape(letter))
        at += 1
    return out
