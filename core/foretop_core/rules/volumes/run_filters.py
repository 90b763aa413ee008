"""Which objects a run takes: the lists of its template and its resource policies, put together as Velero does."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from foretop_core.models import BackupSpec, Resource
from foretop_core.models.velero import EXCLUDE_LABEL
from foretop_core.rules.label_selectors import selects
from foretop_core.rules.protection.coverage import NamespaceFilter, fits_entry
from foretop_core.rules.volumes.policies import NO_POLICIES, ResourceFilter, ResourcePolicies

CLAIMS, PODS, VOLUMES = "persistentvolumeclaims", "pods", "persistentvolumes"
_SHORT = {"pvc": CLAIMS, "po": PODS, "pv": VOLUMES}
_SINGULAR = {"persistentvolumeclaim": CLAIMS, "pod": PODS, "persistentvolume": VOLUMES}
_EVERYTHING = "*"


class _Lists(msgspec.Struct, frozen=True):
    included: tuple[str, ...]
    excluded: tuple[str, ...]

    def excludes(self, kind: str) -> bool:
        return any(fits_entry(kind, entry) for entry in self.excluded)

    def includes(self, kind: str) -> bool:
        return any(fits_entry(kind, entry) for entry in self.included)

    def takes(self, kind: str) -> bool:
        return not self.excludes(kind) and (not self.included or self.includes(kind))

    def with_policy(self, included: Iterable[str], excluded: Iterable[str]) -> _Lists:
        """The lists of a policy add what those of the template say nothing of."""
        out, into = list(self.excluded), list(self.included)
        for names, found in ((excluded, out), (included, into)):
            for kind in map(kind_of, names):
                if not any(fits_entry(kind, entry) for entry in (*out, *into)):
                    found.append(kind)
        return _Lists(tuple(into), tuple(out))


class RunFilters(msgspec.Struct, frozen=True):
    """The objects that one run takes, of the kinds that decide what becomes of volumes."""

    spec: BackupSpec
    namespaces: NamespaceFilter
    policies: ResourcePolicies = NO_POLICIES
    is_of_all_namespaces: bool = False
    """True if it takes every namespace, and leaves out none."""

    def takes_claims(self) -> bool:
        return self._namespaced.takes(CLAIMS)

    def takes_pods(self) -> bool:
        return self._namespaced.takes(PODS)

    def lists_volumes(self) -> bool:
        """True if it takes PersistentVolumes of its own accord, whatever leads to them."""
        spec = self.spec
        if not _has_old_lists(spec):
            cluster = self._cluster
            return bool(cluster.included) and cluster.takes(VOLUMES)
        if spec.include_cluster_resources is False:
            return False
        if spec.include_cluster_resources is None and not self.is_of_all_namespaces:
            return False
        return self._namespaced.takes(VOLUMES)

    def refuses_volumes(self) -> bool:
        """True if it leaves out even a PersistentVolume that a claim leads to."""
        spec = self.spec
        if not _has_old_lists(spec):
            return self._cluster.excludes(VOLUMES)
        if self._namespaced.excludes(VOLUMES) or spec.include_cluster_resources is False:
            return True
        return spec.include_cluster_resources is None and not self._namespaced.takes(VOLUMES)

    def lists(self, item: Resource, kind: str) -> bool:
        """True if a claim or pod is taken of its own accord."""
        chosen = self._filter_of(item.namespace, kind)
        if chosen is None and self.policies.filters_of(item.namespace) is not None:
            return False
        selectors = chosen.selectors if chosen is not None else _selectors(self.spec)
        return self.admits(item, kind) and _is_selected(item, selectors)

    def admits(self, item: Resource, kind: str) -> bool:
        """True if a claim or pod is taken where another object leads to it: selectors do not count then."""
        if item.label(EXCLUDE_LABEL) == "true" or item.metadata.deletion_timestamp is not None:
            return False
        if not self.namespaces.takes(item.namespace):
            return False
        if not (self.takes_claims() if kind == CLAIMS else self.takes_pods()):
            return False
        chosen = self._filter_of(item.namespace, kind)
        return chosen is None or chosen.takes_name(item.name)

    def lists_volume(self, item: Resource) -> bool:
        """True if a PersistentVolume is taken of its own accord."""
        if not self.lists_volumes() or not self.admits_volume(item):
            return False
        chosen = self._cluster_filter
        return _is_selected(item, chosen.selectors if chosen is not None else _selectors(self.spec))

    def admits_volume(self, item: Resource) -> bool:
        """True if a PersistentVolume is taken where a claim leads to it."""
        if item.label(EXCLUDE_LABEL) == "true" or item.metadata.deletion_timestamp is not None:
            return False
        chosen = self._cluster_filter
        return not self.refuses_volumes() and (chosen is None or chosen.takes_name(item.name))

    def combined_lists(self) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """The included and excluded kinds of namespaces with those of its policies; None where these have no lists."""
        lists = self._namespaced
        return None if self.policies.lists is None else (lists.included, lists.excluded)

    @property
    def _cluster_filter(self) -> ResourceFilter | None:
        return _of_kind(self.policies.cluster_scoped or (), VOLUMES)

    def _filter_of(self, namespace: str, kind: str) -> ResourceFilter | None:
        filters = self.policies.filters_of(namespace)
        if filters is None:
            return None
        return _of_kind(filters, kind) or next((one for one in filters if one.is_catch_all), None)

    @property
    def _namespaced(self) -> _Lists:
        spec = self.spec
        if _has_old_lists(spec):
            return _lists(spec.included_resources, spec.excluded_resources)
        lists = _scoped(spec.included_namespace_scoped_resources, spec.excluded_namespace_scoped_resources, {VOLUMES})
        more = self.policies.lists
        return lists if more is None else lists.with_policy(more.included_namespaced, more.excluded_namespaced)

    @property
    def _cluster(self) -> _Lists:
        spec = self.spec
        lists = _scoped(spec.included_cluster_scoped_resources, spec.excluded_cluster_scoped_resources, {CLAIMS, PODS})
        more = self.policies.lists
        return lists if more is None else lists.with_policy(more.included_cluster, more.excluded_cluster)


def kind_of(name: str) -> str:
    """A kind as the server calls it, of those that matter here; any other name as it is."""
    return _SHORT.get(name) or _SINGULAR.get(name.lower()) or (name.lower() if name.lower() in _NAMES else name)


_NAMES = frozenset({CLAIMS, PODS, VOLUMES})


def _lists(included: Sequence[str], excluded: Sequence[str]) -> _Lists:
    return _Lists(tuple(map(kind_of, included)), tuple(map(kind_of, excluded)))


def _scoped(included: Sequence[str], excluded: Sequence[str], others: Container[str]) -> _Lists:
    """Kinds of the other scope do not count: a list of nothing else is an empty one."""
    lists = _lists(included, excluded)
    return _Lists(
        tuple(kind for kind in lists.included if kind not in others),
        tuple(kind for kind in lists.excluded if kind not in others),
    )


def _has_old_lists(spec: BackupSpec) -> bool:
    return bool(spec.included_resources or spec.excluded_resources or spec.include_cluster_resources is not None)


def _of_kind(filters: Iterable[ResourceFilter], kind: str) -> ResourceFilter | None:
    """The last one that names a kind counts."""
    found = [one for one in filters if not one.is_catch_all and kind in map(kind_of, one.kinds)]
    return found[-1] if found else None


def _selectors(spec: BackupSpec) -> tuple[Mapping[str, Any], ...]:
    return tuple(spec.or_label_selectors) if spec.label_selector is None else (spec.label_selector,)


def _is_selected(item: Resource, selectors: Sequence[Mapping[str, Any]]) -> bool:
    return not selectors or any(selects(selector, item.metadata.labels) for selector in selectors)
