"""The plan of a run, before any object is looked at: all that decides beside its template, and what it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cached_property

import msgspec

from foretop_core.models import BackupSpec, Pod
from foretop_core.models.builtin_kinds import ConfigMap, StorageClass, VolumeSnapshotClass
from foretop_core.models.velero import VolumeSnapshotLocation
from foretop_core.rules.cron_dialects.releases import Release
from foretop_core.rules.protection.coverage import (
    Coverage,
    Extent,
    NamespaceFilter,
    content_coverage,
    lost_patterns,
    namespace_filter,
    reads_nothing,
    refused_because,
    resource_policy,
)
from foretop_core.rules.volumes.evidence import VolumeFlags
from foretop_core.rules.volumes.policies import (
    NO_POLICIES,
    PolicyNotRead,
    PolicyRefusal,
    ResourcePolicies,
    has_since,
    read_policies,
)
from foretop_core.rules.volumes.run_filters import RunFilters

_FIRST_FORETOLD = Release(1, 15, 0)
"""Earlier releases put the objects of a run together in another way."""
_LAST_FORETOLD = Release(1, 18, 3)
_WITH_PATTERNS = Release(1, 18, 0)
"""Earlier releases look for a namespace whose name is the pattern."""
_NO_NAMESPACE = ""
"""What Velero takes for the name of none."""
COPIED, NOT_COPIED = "backup.velero.io/backup-volumes", "backup.velero.io/backup-volumes-excludes"
NAMES_VOLUMES = (COPIED, NOT_COPIED)
"""The annotations of a pod that name its volumes whose files are copied, and those whose files are not."""


class Deciders(msgspec.Struct, frozen=True, dict=True):
    """All that decides beside a template, of one Velero server.

    None is what was not read; `unread` has the reasons, by what it is.
    """

    namespace: str = "velero"
    release: Release | None = None
    flags: VolumeFlags | None = None
    config_maps: Mapping[str, ConfigMap | None] = msgspec.field(default_factory=dict)
    """By name; None where there is none of that name. One that was not read is not in it."""
    locations: tuple[VolumeSnapshotLocation, ...] | None = None
    storage_classes: Mapping[str, StorageClass] | None = None
    snapshot_classes: tuple[VolumeSnapshotClass, ...] | None = None
    agent_nodes: frozenset[str] | None = None
    """The nodes on which a node agent runs."""
    has_ready_agent: bool = True
    """False where no node agent is ready, of those that were read."""
    pods: Mapping[str, tuple[Pod, ...]] | None = None
    """By namespace, those that mount claims."""
    excluded_namespaces: tuple[str, ...] = ()
    """Those with the label by which every backup leaves them out."""
    unread: Mapping[str, str] = msgspec.field(default_factory=dict)

    def why_unread(self, what: str) -> str:
        return self.unread.get(what) or f"{what} were not read"

    @cached_property
    def is_foretold(self) -> bool | None:
        """True if it is known how this release takes volumes; None where the release is not known."""
        if self.release is None:
            return None
        line = (self.release.major, self.release.minor)
        if line != (_LAST_FORETOLD.major, _LAST_FORETOLD.minor):
            return (_FIRST_FORETOLD.major, _FIRST_FORETOLD.minor) <= line < (_LAST_FORETOLD.major, _LAST_FORETOLD.minor)
        return None if self.release.patch is None else self.release.patch <= (_LAST_FORETOLD.patch or 0)


class RunPlan(msgspec.Struct, frozen=True):
    """All that is known of a run before any object is looked at: whether it is refused, and what it takes."""

    spec: BackupSpec
    filters: RunFilters
    refused: str = ""
    """Why Velero refuses it, in its own words; "" where it does not."""
    nothing: str = ""
    """Why it takes nothing at all, and is Completed all the same; "" where it does not."""
    unknown: str = ""
    """What was not read, and may have it refused or leave things out."""
    of_run: ResourcePolicies = NO_POLICIES
    """Those of the template alone, without those of the server."""
    has_policies: bool = False
    lost_patterns: str = ""
    """Why its patterns take no namespace; "" where they do."""
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)
    locations: tuple[VolumeSnapshotLocation, ...] | None = None


def run_plan(
    spec: BackupSpec, deciders: Deciders, run: str = "", annotations: Mapping[str, str] | None = None
) -> RunPlan:
    """The plan of a run by the name of `run`, which Velero's words for some refusals have in them."""
    read = _policies(spec, deciders, run)
    refused = refused_because(spec) or _invalid_pattern(spec, deciders.release) or _names_excluded(spec, deciders)
    of_run = read if isinstance(read, ResourcePolicies) else NO_POLICIES
    unknown = read if isinstance(read, str) else ""
    if not refused and isinstance(read, PolicyRefusal):
        refused = read.why
    both = _server_policies(deciders)
    if isinstance(both, PolicyRefusal) and not refused:
        refused = both.why
    elif isinstance(both, str):
        unknown = unknown or both
    server = both if isinstance(both, ResourcePolicies) else NO_POLICIES
    policies = msgspec.structs.replace(of_run, volumes=(*of_run.volumes, *server.volumes))
    refused = refused or _lists_beside_policies(spec, of_run)
    locations, refused_location = _locations(spec, deciders)
    refused = refused or refused_location
    return RunPlan(
        spec,
        RunFilters(spec, _namespaces(spec, deciders), policies, _takes_all(spec, deciders)),
        refused,
        reads_nothing(spec, deciders.release),
        unknown,
        of_run,
        bool(resource_policy(spec)) or isinstance(both, ResourcePolicies),
        lost_patterns(spec, deciders.release),
        annotations or {},
        locations,
    )


def planned_coverage(plan: RunPlan, namespace: str) -> Coverage:
    """How much of a namespace the next run takes, with its policies."""
    spec = plan.spec
    if plan.refused:
        return Coverage(Extent.NONE, f"Velero refuses it: {plan.refused}")
    if plan.nothing:
        return Coverage(Extent.NONE, plan.nothing)
    if plan.unknown:
        found = content_coverage(spec)
        return found if found.extent is Extent.NONE else Coverage(Extent.UNKNOWN, plan.unknown)
    if not plan.filters.namespaces.takes(namespace):
        is_by_pattern = bool(plan.lost_patterns) and namespace_filter(spec).takes(namespace)
        return Coverage(Extent.NONE, plan.lost_patterns if is_by_pattern else "not among its namespaces")
    return policy_coverage(spec, plan.of_run, namespace)


def policy_coverage(spec: BackupSpec, policies: ResourcePolicies, namespace: str) -> Coverage:
    """How much of a namespace is taken by lists, selectors and policies that were read."""
    lists = RunFilters(spec, namespace_filter(spec), policies).combined_lists()
    without_policy = msgspec.structs.replace(
        spec,
        resource_policy={},
        **({} if lists is None else {"included_namespace_scoped_resources": lists[0]}),
        **({} if lists is None else {"excluded_namespace_scoped_resources": lists[1]}),
    )
    filters = policies.filters_of(namespace)
    if filters is None:
        return content_coverage(without_policy)
    own_lists = msgspec.structs.replace(without_policy, label_selector=None, or_label_selectors=())
    by_lists = content_coverage(own_lists)
    catch_all = next((one for one in filters if one.is_catch_all), None)
    if by_lists.extent is Extent.NONE or (catch_all is not None and all(one.is_whole for one in filters)):
        return by_lists
    if catch_all is not None:
        return Coverage(Extent.PART, "only objects that its namespacedFilterPolicies name")
    kinds = [kind for one in filters for kind in one.kinds]
    return Coverage(Extent.PART, f"only {', '.join(dict.fromkeys(kinds))}, by its namespacedFilterPolicies")


def _policies(spec: BackupSpec, deciders: Deciders, run: str) -> ResourcePolicies | PolicyRefusal | str:
    """The policies of the template; a text says why they are not known."""
    name = resource_policy(spec)
    if not name:
        return NO_POLICIES
    if name not in deciders.config_maps:
        return deciders.unread.get("ConfigMaps") or f"its resource policy {name} was not read"
    held = deciders.config_maps[name]
    where = f"{deciders.namespace}/{name}"
    if held is None:
        why = f'fail to get ResourcePolicies {where} ConfigMap{_because(deciders)}ConfigMap "{name}" not found'
        return PolicyRefusal("get", f"invalid resource policies: {why}")
    read = read_policies(held, deciders.release)
    if isinstance(read, PolicyNotRead):
        return read.why
    if isinstance(read, PolicyRefusal):
        steps = {"read": "read the ResourcePolicies from", "validate": "validate ResourcePolicies in"}
        of_run = f"ConfigMap {deciders.namespace}/{run or name}"
        return PolicyRefusal(
            read.step, f"invalid resource policies: fail to {steps[read.step]} {of_run}{_because(deciders)}{read.why}"
        )
    return read


class KnownPolicy(msgspec.Struct, frozen=True):
    """A resource policy as its release reads it, and when it was written last."""

    name: str
    policies: ResourcePolicies
    written: datetime

    def coverage(self, spec: BackupSpec) -> Coverage:
        """The coverage of any namespace: not known where the policy tells one from another."""
        found = policy_coverage(spec, msgspec.structs.replace(self.policies, by_namespace=()), "")
        if found.extent is Extent.NONE or not self.policies.by_namespace:
            return found
        return Coverage(Extent.UNKNOWN, f"its resource policy {self.name} takes other kinds of each namespace")


def known_policies(deciders: Deciders, release: Release | None) -> Iterator[KnownPolicy]:
    """The policies that this release reads and accepts."""
    for name, held in deciders.config_maps.items():
        if held is None or (written := held.changed) is None:
            continue
        read = read_policies(held, release)
        if isinstance(read, ResourcePolicies):
            yield KnownPolicy(name, read, written)


def _because(deciders: Deciders) -> str:
    release = deciders.release
    is_old = release is not None and (release.major, release.minor, release.patch or 0) < (1, 18, 3)
    return " with error " if is_old else ": "


def _server_policies(deciders: Deciders) -> ResourcePolicies | PolicyRefusal | str | None:
    """The policies that the server adds to all of its runs; None for none, a text where they are not known."""
    if deciders.flags is None:
        return None
    name = deciders.flags.volume_policies
    if not name:
        return None
    where = f"{deciders.namespace}/{name}"
    if name not in deciders.config_maps:
        return deciders.unread.get("ConfigMaps") or f"the server's volume policies {name} were not read"
    held = deciders.config_maps[name]
    what = "global backup volume policies"
    if held is None:
        why = f'fail to get {what} ConfigMap {where}: ConfigMap "{name}" not found'
        return PolicyRefusal("get", f"invalid resource policies: {why}")
    read = read_policies(held, deciders.release)
    if isinstance(read, PolicyNotRead):
        return read.why
    if isinstance(read, PolicyRefusal):
        steps = {"read": f"read {what} from", "validate": f"validate {what} in"}
        return PolicyRefusal(
            read.step, f"invalid resource policies: fail to {steps[read.step]} ConfigMap {where}: {read.why}"
        )
    return ResourcePolicies(read.volumes)


def _lists_beside_policies(spec: BackupSpec, policies: ResourcePolicies) -> str:
    if not (spec.included_resources or spec.excluded_resources or spec.include_cluster_resources is not None):
        return ""
    old = "include-resources, exclude-resources and include-cluster-resources are old filter parameters.\n"
    if policies.lists is not None:
        return f"{old}They cannot be used with include-exclude policies."
    if policies.by_namespace or policies.cluster_scoped is not None:
        return f"{old}They cannot be used with namespace-scoped or fine-grained global filter policies."
    return ""


def _names_excluded(spec: BackupSpec, deciders: Deciders) -> str:
    both = [name for name in deciders.excluded_namespaces if name in spec.included_namespaces]
    return f"excludes list cannot contain an item in the includes list: {both[0]}" if both else ""


def _invalid_pattern(spec: BackupSpec, release: Release | None) -> str:
    """A namespace with a sign that releases without patterns do not take."""
    if has_since(release, _WITH_PATTERNS) is not False:
        return ""
    names = (*spec.included_namespaces, *spec.excluded_namespaces)
    wrong = next((name for name in names if any(sign in name for sign in "?[]{}")), "")
    return f"{wrong} is not a valid namespace" if wrong else ""


def _namespaces(spec: BackupSpec, deciders: Deciders) -> NamespaceFilter:
    included = spec.included_namespaces
    if lost_patterns(spec, deciders.release):
        included = tuple(name for name in included if "*" not in name) or (_NO_NAMESPACE,)
    return NamespaceFilter(included, (*spec.excluded_namespaces, *deciders.excluded_namespaces))


def _takes_all(spec: BackupSpec, deciders: Deciders) -> bool:
    if spec.excluded_namespaces or deciders.excluded_namespaces:
        return False
    return spec.included_namespaces in ((), ("*",))


def _locations(spec: BackupSpec, deciders: Deciders) -> tuple[tuple[VolumeSnapshotLocation, ...] | None, str]:
    """The snapshot locations of a run, one for each provider, and why Velero refuses it because of them."""
    known = deciders.locations
    if known is None:
        return None, ""
    by_name = {location.name: location for location in known}
    chosen: dict[str, VolumeSnapshotLocation] = {}
    for name in spec.volume_snapshot_locations:
        location = by_name.get(name)
        if location is None:
            return None, (
                f"a VolumeSnapshotLocation CRD for the location {name} with the name specified in the backup spec "
                "needs to be created before this snapshot can be executed"
            )
        held = chosen.setdefault(location.spec.provider, location)
        if held.name != name:
            return None, (
                f"more than one VolumeSnapshotLocation name specified for provider {location.spec.provider}: {name}; "
                f"unexpected name was {held.name}"
            )
    by_provider: dict[str, list[VolumeSnapshotLocation]] = {}
    for location in known:
        by_provider.setdefault(location.spec.provider, []).append(location)
    for provider, locations in by_provider.items():
        if provider in chosen:
            continue
        if len(locations) == 1:
            chosen[provider] = locations[0]
            continue
        if deciders.flags is None:
            return None, ""
        default = deciders.flags.snapshot_locations.get(provider, "")
        if not default:
            return None, (
                f"provider {provider} has more than one possible volume snapshot location, and none were specified "
                "explicitly or as a default"
            )
        found = by_name.get(default)
        if found is None:
            return None, f"error getting volume snapshot location named {default}"
        chosen[provider] = found
    return tuple(chosen.values()), ""
