"""Resource policies: what a ConfigMap of Velero's namespace says of volumes and of the objects that a backup takes.

Read as a release of Velero reads it, which refuses a ConfigMap with a fault, and so every run that names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from foretop_core.models.builtin_kinds import ConfigMap, CsiSource, PersistentVolume, PersistentVolumeClaim
from foretop_core.rules import globs
from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.label_selectors import fault_of_selector, is_present
from foretop_core.rules.protection.coverage import fits_entry, head_of
from foretop_core.rules.volumes import typed_yaml
from foretop_core.rules.volumes.quantities import read_quantity
from foretop_core.rules.volumes.typed_yaml import (
    ANYTHING,
    TEXT,
    TEXT_MAP,
    TEXTS,
    FieldsShape,
    ListShape,
    NotRead,
    OddMap,
    RefusedYaml,
    Shape,
    go_type,
)

T = TypeVar("T")
_VERSION = "v1"
_REMEMBERED = 64
"""ConfigMaps, of which a snapshot has the same ones each time."""
_PACKAGE = "resourcepolicies"
_NO_QUANTITY = Fraction(0)


class VolumeAction(StrEnum):
    """The fate of a volume that a policy fits."""

    SKIP = "skip"
    FILE_COPY = "fs-backup"
    SNAPSHOT = "snapshot"
    CUSTOM = "custom"
    """A plugin of somebody else takes it; Velero does not."""


class PolicyRefusal(msgspec.Struct, frozen=True):
    """Velero refuses a ConfigMap: in which step (`get`, `read`, `validate`), and why, in its own words."""

    step: str
    why: str


class PolicyNotRead(msgspec.Struct, frozen=True):
    """Velero may read a ConfigMap, and foretop cannot; `why` begins with "its"."""

    why: str


class VolumeConditions(msgspec.Struct, frozen=True):
    """Conditions that all have to fit a volume; one that is empty fits each."""

    lower: Fraction = _NO_QUANTITY
    upper: Fraction = _NO_QUANTITY
    storage_classes: tuple[str, ...] = ()
    nfs: Mapping[str, str] | None = None
    csi_driver: str | None = None
    """None asks for no driver, "" for any."""
    csi_attributes: Mapping[str, str] | None = None
    volume_types: tuple[str, ...] = ()
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    phases: tuple[str, ...] = ()
    volume_mode: str = ""
    access_modes: tuple[str, ...] = ()

    def fit(self, volume: PersistentVolume | None, claim: PersistentVolumeClaim | None) -> bool:
        return self._fit_volume(volume) and self._fit_claim(claim)

    def _fit_volume(self, volume: PersistentVolume | None) -> bool:
        spec = volume.spec if volume is not None else None
        size = (read_quantity(spec.capacity.get("storage", "")) or _NO_QUANTITY) if spec is not None else _NO_QUANTITY
        if not self._is_in_range(size):
            return False
        if self.storage_classes and (
            spec is None or not spec.storage_class_name or spec.storage_class_name not in self.storage_classes
        ):
            return False
        if self.volume_types and (spec.source if spec is not None else "") not in self.volume_types:
            return False
        return self._fit_nfs(spec.nfs if spec is not None else None) and self._fit_csi(
            spec.csi if spec is not None else None
        )

    def _is_in_range(self, size: Fraction) -> bool:
        if not self.lower and size <= self.upper:
            return True
        if not self.upper and size >= self.lower:
            return True
        return bool(self.lower and self.upper) and self.lower <= size <= self.upper

    def _fit_nfs(self, source: Mapping[str, Any] | None) -> bool:
        if self.nfs is None:
            return True
        if source is None:
            return False
        return all(source.get(key) == value for key, value in self.nfs.items() if value)

    def _fit_csi(self, source: CsiSource | None) -> bool:
        if self.csi_driver is None:
            return True
        if source is None or (self.csi_driver and source.driver != self.csi_driver):
            return False
        if not self.csi_driver or not self.csi_attributes:
            return True
        attributes = source.volume_attributes
        return bool(attributes) and all(attributes.get(key, "") == value for key, value in self.csi_attributes.items())

    def _fit_claim(self, claim: PersistentVolumeClaim | None) -> bool:
        labels = claim.metadata.labels if claim is not None else {}
        phase = claim.phase if claim is not None else ""
        mode = claim.spec.volume_mode if claim is not None else ""
        modes = claim.spec.access_modes if claim is not None else ()
        if any(labels.get(key) != value for key, value in self.labels.items()):
            return False
        if self.phases and (not phase or phase not in self.phases):
            return False
        if self.volume_mode and mode != self.volume_mode:
            return False
        return not self.access_modes or (len(modes) == len(self.access_modes) and set(modes) == set(self.access_modes))


class VolumePolicy(msgspec.Struct, frozen=True):
    conditions: VolumeConditions
    action: VolumeAction


class ScopedLists(msgspec.Struct, frozen=True):
    """`includeExcludePolicy`: the four lists, which add to those of the template."""

    included_cluster: tuple[str, ...] = ()
    excluded_cluster: tuple[str, ...] = ()
    included_namespaced: tuple[str, ...] = ()
    excluded_namespaced: tuple[str, ...] = ()


class ResourceFilter(msgspec.Struct, frozen=True):
    """Kinds, and which objects of them are taken; no kinds means all that no other filter names."""

    kinds: tuple[str, ...] = ()
    selectors: tuple[Mapping[str, Any], ...] = ()
    """One of them has to fit; none means all objects."""
    names: tuple[str, ...] = ()
    excluded_names: tuple[str, ...] = ()

    @property
    def is_catch_all(self) -> bool:
        return not self.kinds or self.kinds == ("*",)

    @property
    def is_whole(self) -> bool:
        """True if it takes every object of its kinds."""
        return not (self.selectors or self.names or self.excluded_names)

    def takes_name(self, name: str) -> bool:
        if any(fits_entry(name, pattern) for pattern in self.excluded_names):
            return False
        return not self.names or "*" in self.names or any(fits_entry(name, pattern) for pattern in self.names)


class NamespaceFilters(msgspec.Struct, frozen=True):
    """The only kinds that are taken of some namespaces."""

    namespaces: tuple[str, ...]
    filters: tuple[ResourceFilter, ...]


class ResourcePolicies(msgspec.Struct, frozen=True):
    volumes: tuple[VolumePolicy, ...] = ()
    lists: ScopedLists | None = None
    by_namespace: tuple[NamespaceFilters, ...] = ()
    cluster_scoped: tuple[ResourceFilter, ...] | None = None

    def action(self, volume: PersistentVolume | None, claim: PersistentVolumeClaim | None) -> VolumeAction | None:
        """The action of the first policy that fits; None where none does."""
        return next((policy.action for policy in self.volumes if policy.conditions.fit(volume, claim)), None)

    def filters_of(self, namespace: str) -> tuple[ResourceFilter, ...] | None:
        """The filters of a namespace: by its name, or else by the first pattern; None where nothing narrows it."""
        for entry in self.by_namespace:
            if namespace in entry.namespaces:
                return entry.filters
        for entry in self.by_namespace:
            # Most patterns begin otherwise, and that is seen at a glance.
            likely = (
                name
                for name in entry.namespaces
                if any(sign in name for sign in "*?[") and namespace.startswith(head_of(name))
            )
            if any(fits_entry(namespace, name) for name in likely):
                return entry.filters
        return None


NO_POLICIES = ResourcePolicies()


def read_policies(
    config_map: ConfigMap, release: Release | None, *, is_restore: bool = False
) -> ResourcePolicies | PolicyRefusal | PolicyNotRead:
    """The policies that a release of Velero reads out of a ConfigMap; without one, what all of them read alike."""
    if len(config_map.data) != 1:
        return PolicyRefusal("read", f"illegal resource policies {config_map.namespace}/{config_map.name} configmap")
    text = next(iter(config_map.data.values()))
    return _read(text, release, is_restore)


@lru_cache(_REMEMBERED)
def _read(text: str, release: Release | None, is_restore: bool) -> ResourcePolicies | PolicyRefusal | PolicyNotRead:
    try:
        written = _decoded(text, release)
        try:
            return _checked(written, release, is_restore)
        except RefusedYaml as error:
            return PolicyRefusal("validate", str(error))
    except RefusedYaml as error:
        return PolicyRefusal("read", str(error))
    except NotRead as error:
        return PolicyNotRead(f"its resource policy was not understood: {error}")


def _decoded(text: str, release: Release | None) -> dict[str, Any]:
    try:
        found = typed_yaml.decode(text, _shape(release))
    except RefusedYaml as error:
        raise RefusedYaml(f"failed to decode yaml data into resource policies  {error}") from None
    conditions = _conditions_shape(release)
    for policy in found.get("volumePolicies", ()):
        _check_types(policy.get("conditions") or {}, conditions)
    for policy in found.get("volumePolicies", ()):
        policy["conditions"] = _conditions(policy.get("conditions") or {}, conditions)
    return found


def _check_types(conditions: Mapping[str, Any], shape: FieldsShape) -> None:
    """Velero looks at these three before it reads conditions, and tells a wrong type in words of its own."""
    if "pvcLabels" in shape.fields and "pvcLabels" in conditions:
        labels = conditions["pvcLabels"]
        if not isinstance(labels, dict) or isinstance(labels, OddMap):
            raise RefusedYaml(f"pvcLabels must be a map of string to string, got {go_type(labels)}")
    if "pvcVolumeMode" in shape.fields and "pvcVolumeMode" in conditions:
        mode = conditions["pvcVolumeMode"]
        if not isinstance(mode, str):
            raise RefusedYaml(f"pvcVolumeMode must be a string, got {go_type(mode)}")
    if "pvcAccessModes" in shape.fields and "pvcAccessModes" in conditions:
        modes = conditions["pvcAccessModes"]
        if not isinstance(modes, list):
            raise RefusedYaml(f"pvcAccessModes must be a list of strings, got {go_type(modes)}")
        for mode in modes:
            if not isinstance(mode, str):
                raise RefusedYaml(f"pvcAccessModes must be a list of strings, got element {go_type(mode)}")


def _conditions(written: Mapping[str, Any], shape: FieldsShape) -> VolumeConditions:
    try:
        found = typed_yaml.converted(dict(written), shape)
    except RefusedYaml as error:
        raise RefusedYaml(f"failed to decode volume conditions: {error}") from None
    lower, upper = _capacity(found.get("capacity") or ",")
    csi, nfs = found.get("csi"), found.get("nfs")
    return VolumeConditions(
        lower,
        upper,
        tuple(found.get("storageClass") or ()),
        nfs,
        None if csi is None else csi.get("driver") or "",
        None if csi is None else csi.get("volumeAttributes"),
        tuple(found.get("volumeTypes") or ()),
        found.get("pvcLabels") or {},
        tuple(found.get("pvcPhase") or ()),
        found.get("pvcVolumeMode") or "",
        tuple(found.get("pvcAccessModes") or ()),
    )


def _capacity(text: str) -> tuple[Fraction, Fraction]:
    parts = text.split(",")
    if len(parts) != 2:
        raise RefusedYaml(f"wrong format of Capacity {text}")
    lower, upper = map(_bound, parts)
    return lower, upper


def _bound(text: str) -> Fraction:
    if not text.strip():
        return _NO_QUANTITY
    quantity = read_quantity(text.strip())
    if quantity is None:
        if any(letter.isdigit() for letter in text) and len(text) > _LONGEST_QUANTITY:
            raise NotRead("it has a very long capacity")
        raise RefusedYaml(f"wrong format of Capacity {text} with err {_NO_NUMBER}")
    return quantity


def _checked(written: Mapping[str, Any], release: Release | None, is_restore: bool) -> ResourcePolicies:
    version = written.get("version", "")
    if version != _VERSION:
        raise RefusedYaml(f"incompatible version number {version} with supported version {_VERSION}")
    lists = written.get("includeExcludePolicy")
    if is_restore and written.get("volumePolicies"):
        raise RefusedYaml("volumePolicies are not supported for restore")
    if is_restore and lists is not None:
        raise RefusedYaml("includeExcludePolicy is not supported for restore")
    volumes = tuple(_volume_policy(policy, release) for policy in written.get("volumePolicies", ()))
    scoped = None if lists is None else _scoped_lists(lists)
    cluster = written.get("clusterScopedFilterPolicy")
    cluster_scoped = None if cluster is None else _cluster_scoped(cluster)
    return ResourcePolicies(volumes, scoped, _by_namespace(written.get("namespacedFilterPolicies", ())), cluster_scoped)


def _volume_policy(written: Mapping[str, Any], release: Release | None) -> VolumePolicy:
    kind = (written.get("action") or {}).get("type", "")
    if kind not in {action.value for action in VolumeAction}:
        raise RefusedYaml(f"invalid action type {kind}")
    action = VolumeAction(kind)
    known = has_since(release, _ACTIONS[action])
    if known is None:
        raise NotRead(f"the release of Velero decides whether it knows the action {kind}, and is not known")
    if not known:
        raise RefusedYaml(f"invalid action type {kind}")
    conditions: VolumeConditions = written["conditions"]
    if conditions.upper < conditions.lower and (not conditions.lower or conditions.upper):
        raise RefusedYaml("illegal values for capacity")
    if conditions.csi_driver == "" and conditions.csi_attributes is not None:
        raise RefusedYaml("csi driver should not be empty when filtering by volume attributes")
    return VolumePolicy(conditions, action)


def _scoped_lists(written: Mapping[str, Any]) -> ScopedLists:
    lists = ScopedLists(
        tuple(written.get("includedClusterScopedResources", ())),
        tuple(written.get("excludedClusterScopedResources", ())),
        tuple(written.get("includedNamespaceScopedResources", ())),
        tuple(written.get("excludedNamespaceScopedResources", ())),
    )
    for included, excluded in (
        (lists.included_cluster, lists.excluded_cluster),
        (lists.included_namespaced, lists.excluded_namespaced),
    ):
        if "*" in included or "*" in excluded:
            raise RefusedYaml("cannot use '*' in includes or excludes filters in the policy")
        if both := sorted(set(included) & set(excluded)):
            raise RefusedYaml(f"excludes list cannot contain an item in the includes list: {both[0]}")
    return lists


def _cluster_scoped(written: Mapping[str, Any]) -> tuple[ResourceFilter, ...]:
    filters = written.get("resourceFilters", ())
    if not filters:
        raise RefusedYaml(
            "clusterScopedFilterPolicy: resourceFilters cannot be empty; remove the policy block entirely if it is "
            "not needed"
        )
    where = "clusterScopedFilterPolicy"
    seen: dict[str, int] = {}
    found = []
    for place, entry in enumerate(filters):
        here = f"{where}.resourceFilters[{place}]"
        if _is_catch_all(entry):
            raise RefusedYaml(f"{here}: kinds must be specified (catch-all is not supported)")
        _check_kinds(entry, place, seen, where)
        found.append(_resource_filter(entry, here))
    return tuple(found)


def _by_namespace(written: Sequence[Mapping[str, Any]]) -> tuple[NamespaceFilters, ...]:
    places: dict[str, list[int]] = {}
    found = []
    for number, entry in enumerate(written):
        where = f"namespacedFilterPolicies[{number}]"
        namespaces, filters = entry.get("namespaces", ()), entry.get("resourceFilters", ())
        if not namespaces:
            raise RefusedYaml(f"{where}: at least one namespace must be specified")
        if not filters:
            raise RefusedYaml(f"{where}: at least one resourceFilter must be specified")
        for place, pattern in enumerate(namespaces):
            if fault := globs.namespace_fault(pattern):
                raise RefusedYaml(f"{where}.namespaces[{place}]: {fault}")
            places.setdefault(pattern, []).append(number)
        found.append(NamespaceFilters(tuple(namespaces), _namespace_filters(filters, where)))
    for pattern, numbers in places.items():
        if len(numbers) > 1:
            listed = " ".join(map(str, numbers))
            raise RefusedYaml(
                f"namespacedFilterPolicies: duplicate namespace pattern '{pattern}' found in policies [{listed}]"
            )
    for pattern in places:
        _check_read(pattern)
    return tuple(found)


def _namespace_filters(written: Sequence[Mapping[str, Any]], where: str) -> tuple[ResourceFilter, ...]:
    seen: dict[str, int] = {}
    has_catch_all = False
    found = []
    for place, entry in enumerate(written):
        here = f"{where}.resourceFilters[{place}]"
        if _is_catch_all(entry):
            if has_catch_all:
                raise RefusedYaml(f"{where}: only one catch-all resource filter is allowed")
            has_catch_all = True
            if entry.get("names") or entry.get("excludedNames"):
                raise RefusedYaml(f"{here}: names or excludedNames cannot be specified for catch-all filters")
        _check_kinds(entry, place, seen, where)
        found.append(_resource_filter(entry, here))
    return tuple(found)


def _is_catch_all(written: Mapping[str, Any]) -> bool:
    return ResourceFilter(tuple(written.get("kinds", ()))).is_catch_all


def _check_kinds(written: Mapping[str, Any], place: int, seen: dict[str, int], where: str) -> None:
    for kind in written.get("kinds", ()):
        if kind == "*" and where != "clusterScopedFilterPolicy":
            continue
        if kind in seen:
            raise RefusedYaml(
                f'{where}: kind "{kind}" appears in both resourceFilters[{seen[kind]}] and resourceFilters[{place}]'
            )
        seen[kind] = place


def _resource_filter(written: Mapping[str, Any], here: str) -> ResourceFilter:
    selector, others = written.get("labelSelector", {}), written.get("orLabelSelectors", ())
    if is_present(selector) and others:
        raise RefusedYaml(f"{here}: labelSelector and orLabelSelectors cannot co-exist")
    if fault := fault_of_selector(selector):
        raise RefusedYaml(f"{here}: invalid label selector: {fault}")
    for place, other in enumerate(others):
        if fault := fault_of_selector(other):
            raise RefusedYaml(f"{here}.orLabelSelectors[{place}]: invalid label selector: {fault}")
    names, excluded = tuple(written.get("names", ())), tuple(written.get("excludedNames", ()))
    for pattern in (*names, *excluded):
        _check_read(pattern)
    # One that asks for nothing is left out, as if it were not written.
    selectors = tuple(one for one in (selector, *others) if is_present(one))
    return ResourceFilter(tuple(written.get("kinds", ())), selectors, names, excluded)


def _check_read(pattern: str) -> None:
    if not globs.is_read(pattern):
        raise NotRead(f"the pattern {pattern[:60]!r} is none that foretop compares")


def has_since(release: Release | None, since: Release) -> bool | None:
    """True if a release has what came with another; None where the release is not known well enough."""
    if release is None:
        return True if since <= _OLDEST else None
    line, wanted = (release.major, release.minor), (since.major, since.minor)
    if line != wanted or not since.patch:
        return line >= wanted
    return None if release.patch is None else release.patch >= since.patch


_OLDEST = Release(1, 14, 0)
"""What came with it is taken for known where the release is not."""
_ACTIONS = {
    VolumeAction.SKIP: Release(1, 11, 0),
    VolumeAction.FILE_COPY: Release(1, 14, 0),
    VolumeAction.SNAPSHOT: Release(1, 14, 0),
    VolumeAction.CUSTOM: Release(1, 18, 1),
}
_SINCE = {
    "volumeAttributes": Release(1, 16, 0),
    "pvcLabels": Release(1, 16, 0),
    "includeExcludePolicy": Release(1, 17, 0),
    "pvcPhase": Release(1, 18, 0),
    "pvcVolumeMode": Release(1, 18, 3),
    "pvcAccessModes": Release(1, 18, 3),
    "clusterScopedFilterPolicy": Release(1, 18, 3),
    "namespacedFilterPolicies": Release(1, 18, 3),
}
"""The release that brought a field; all others are in every release that has resource policies."""
_NO_NUMBER = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_LONGEST_QUANTITY = 40


def _fields(go: str, release: Release | None, fields: Mapping[str, Shape]) -> FieldsShape:
    have = {name: has_since(release, _SINCE[name]) if name in _SINCE else True for name in fields}
    return FieldsShape(
        f"{_PACKAGE}.{go}",
        {name: shape for name, shape in fields.items() if have[name]},
        frozenset(name for name, known in have.items() if known is None),
    )


def _conditions_shape(release: Release | None) -> FieldsShape:
    return _fields(
        "volumeConditions",
        release,
        {
            "capacity": TEXT,
            "storageClass": TEXTS,
            "nfs": _fields("nFSVolumeSource", release, {"server": TEXT, "path": TEXT}),
            "csi": _fields("csiVolumeSource", release, {"driver": TEXT, "volumeAttributes": TEXT_MAP}),
            "volumeTypes": TEXTS,
            "pvcLabels": TEXT_MAP,
            "pvcPhase": TEXTS,
            "pvcVolumeMode": TEXT,
            "pvcAccessModes": TEXTS,
        },
    )


def _shape(release: Release | None) -> FieldsShape:
    requirement = _fields("PolicyLabelSelectorRequirement", release, {"key": TEXT, "operator": TEXT, "values": TEXTS})
    selector = _fields(
        "PolicyLabelSelector", release, {"matchLabels": TEXT_MAP, "matchExpressions": ListShape(requirement)}
    )
    resource_filter = _fields(
        "ResourceFilter",
        release,
        {
            "kinds": TEXTS,
            "labelSelector": selector,
            "orLabelSelectors": ListShape(selector),
            "names": TEXTS,
            "excludedNames": TEXTS,
        },
    )
    filters = ListShape(resource_filter)
    lists = dict.fromkeys(
        (
            "includedClusterScopedResources",
            "excludedClusterScopedResources",
            "includedNamespaceScopedResources",
            "excludedNamespaceScopedResources",
        ),
        TEXTS,
    )
    action = _fields("Action", release, {"type": TEXT, "parameters": ANYTHING})
    by_namespace = _fields("NamespacedFilterPolicy", release, {"namespaces": TEXTS, "resourceFilters": filters})
    return _fields(
        "ResourcePolicies",
        release,
        {
            "version": TEXT,
            "volumePolicies": ListShape(_fields("VolumePolicy", release, {"conditions": ANYTHING, "action": action})),
            "includeExcludePolicy": _fields("IncludeExcludePolicy", release, lists),
            "clusterScopedFilterPolicy": _fields("ClusterScopedFilterPolicy", release, {"resourceFilters": filters}),
            "namespacedFilterPolicies": ListShape(by_namespace),
        },
    )
