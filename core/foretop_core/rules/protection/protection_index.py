"""The protection of every namespace of a cluster, kept by namespace: a changed object touches only its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from typing import Protocol, TypeAlias, TypeVar

from msgspec import structs

from foretop_core.cron import CronError, CronSchedule, Dialect
from foretop_core.models import (
    Backup,
    BackupRepository,
    BackupSpec,
    BackupStorageLocation,
    DeleteBackupRequest,
    Namespace,
    NonAdminBackup,
    Resource,
    Restore,
    Schedule,
)
from foretop_core.models.velero import DRILL_LABEL, EXCLUDE_LABEL
from foretop_core.rules.cron_dialects import expression
from foretop_core.rules.forecast import invalid, next_run
from foretop_core.rules.phases import USABLE
from foretop_core.rules.protection.copies import (
    NO_COPIES,
    CopyGroup,
    DrillOutcome,
    Place,
    drills_of,
    group_key,
    is_copy,
    is_later,
    is_of_storage,
    nab_copies,
)
from foretop_core.rules.protection.coverage import (
    Coverage,
    Extent,
    NamespaceFilter,
    content_coverage,
    resource_policy,
    volume_method,
)
from foretop_core.rules.protection.filter_uses import FilterUses
from foretop_core.rules.protection.namespace_protection import (
    NamespaceCover,
    NamespaceProtection,
    SharedProtection,
    best_method,
    parted,
    widest,
)

DialectOf: TypeAlias = Callable[[Schedule], Dialect | None]


class ReadPolicy(Protocol):
    """A resource policy that was read: what it leaves of a template, and when it was written last."""

    @property
    def written(self) -> datetime: ...

    def coverage(self, spec: BackupSpec, /) -> Coverage:
        """How much of any namespace a template takes under it."""


VolumePolicies: TypeAlias = Mapping[tuple[str, str], ReadPolicy]
"""By server and name, the resource policies that have nothing but policies of volumes, and when each was written."""
R = TypeVar("R", bound=Resource)
_Name: TypeAlias = tuple[str, str]
_Touched: TypeAlias = list[Iterable[str]]
"""Lists of namespaces, put together only where somebody asks for them: a backup may take them all."""
_ALL = ("*",)
NO_POLICIES: VolumePolicies = {}
NONE_REFUSED: Mapping[_Name, str] = {}
_NAMESPACE_LABELS = frozenset({DRILL_LABEL, EXCLUDE_LABEL})


class ProtectionIndex:
    """The protection of one cluster; `apply` takes a change in and names the namespaces that it touches.

    A namespace has a place where it exists, or where a backup names it. What a backup of all namespaces had of one
    that is gone since cannot be told without its list of resources.
    """

    def __init__(
        self,
        dialect_of: DialectOf,
        namespaces: Iterable[str] | None,
        created: Mapping[str, datetime | None] | None = None,
        volume_policies: VolumePolicies = NO_POLICIES,
        refused: Mapping[_Name, str] = NONE_REFUSED,
    ) -> None:
        self._dialect_of, self._volume_policies, self._refused = dialect_of, volume_policies, refused
        self._existing = None if namespaces is None else set(namespaces)
        self._uses = FilterUses(self._existing or ())
        self._created = dict(created or {})
        """When the namespaces that were seen were made."""
        self._named: Counter[str] = Counter()
        self._groups: dict[Hashable, CopyGroup] = {}
        self._copies: dict[_Name, tuple[Hashable, CopyGroup]] = {}
        self._to_delete: dict[_Name, set[str]] = {}
        """By the name of a backup, the requests by which Velero has still to delete it: nobody can count on it."""
        self._withheld: dict[_Name, Backup] = {}
        """Those of them that would be copies."""
        self._drilled: dict[str, dict[_Name, DrillOutcome]] = {}
        self._nabs: dict[str, dict[str, NonAdminBackup]] = {}
        self._newest_nabs: dict[str, NonAdminBackup] = {}
        self._rows: dict[str, NamespaceProtection | None] = {}
        """Those that were asked for since something last changed in them: each failed NAB asks for its namespace's."""
        self._repositories: dict[str, dict[_Name, BackupRepository]] = {}
        self._storage: dict[_Name, BackupStorageLocation] = {}
        self._restores: dict[_Name, dict[_Name, Restore]] = {}
        self._restored: dict[_Name, NamespaceFilter] = {}
        self._labelled: dict[str, str] = {}
        """The namespaces with the label of a drill, each with its id."""
        self._excluded: set[str] = set()
        """The namespaces with the label by which every backup leaves them out."""
        self._drilled_into: Counter[tuple[str, str]] = Counter()
        """By the id of a drill and a namespace, how many restores of that drill go into it."""

    @property
    def names(self) -> tuple[str, ...]:
        return self._uses.names

    def row(self, namespace: str) -> NamespaceProtection | None:
        """None where nothing is known of such a namespace."""
        if namespace not in self._rows:
            self._rows[namespace] = self._new_row(namespace) if self._is_known(namespace) else None
        return self._rows[namespace]

    def _new_row(self, namespace: str) -> NamespaceProtection:
        shared = self._shared(namespace)
        made, newest = self._nabs.get(namespace, {}), self._newest_nab(namespace)
        copies = shared.copies if shared.copies.total or not made else nab_copies(made.values())
        unusable, reachable, lost = self._unavailable(copies.places), True, NO_COPIES
        if unusable and len(unusable) == len(copies.places):
            reachable, lost = False, copies
        elif unusable and shared.copies.total:
            copies, lost = parted(shared, frozenset(unusable))
        exists = None if self._existing is None else namespace in self._existing
        # No run makes a copy of a namespace that is gone, whatever names it.
        next_cover, is_next_refused = self._next_cover(() if exists is False else shared.covers)
        drills = self._drilled.get(namespace)
        coverage, volumes = shared.coverage, shared.volumes
        if newest is not None:
            coverage = widest((coverage, content_coverage(newest.spec.backup_spec)))
            volumes = best_method((*((volumes,) if volumes else ()), volume_method(newest.spec.backup_spec)))
        return NamespaceProtection(
            namespace,
            exists,
            shared.covers,
            copies,
            len(made),
            newest,
            tuple(sorted(set(unusable.values()))),
            lost,
            reachable,
            tuple(self._repositories.get(namespace, {}).values()),
            self._unready(namespace, copies.places | lost.places, shared.covers),
            shared.restored,
            max(drills.values(), key=lambda one: one.at) if drills else None,
            coverage,
            volumes,
            next_cover,
            is_next_refused,
            self._created.get(namespace),
        )

    def _shared(self, namespace: str) -> SharedProtection:
        """As a label on a namespace makes it: Velero adds its name to what each template excludes."""
        shared = self._uses.shared(namespace)
        if not self._excluded:
            return shared
        covers = () if namespace in self._excluded else tuple(self._as_refused(cover) for cover in shared.covers)
        if covers == shared.covers:
            return shared
        accepted = [cover for cover in covers if not cover.is_refused]
        return structs.replace(
            shared,
            covers=covers,
            coverage=widest(cover.coverage for cover in accepted),
            volumes=best_method(cover.volumes for cover in accepted),
        )

    def _as_refused(self, cover: NamespaceCover) -> NamespaceCover:
        """A template that names one of those has it in both of its lists."""
        if self._excluded.isdisjoint(cover.schedule.spec.template.included_namespaces):
            return cover
        return structs.replace(cover, is_refused=True, is_active=False, next_run=None)

    def apply(self, before: Resource | None, after: Resource | None) -> set[str]:
        """The namespaces whose protection may be other than before."""
        touched = {name for names in self._change(before, after) for name in names}
        for name in touched:
            self._rows.pop(name, None)
        return touched

    def load(self, items: Iterable[Resource]) -> None:
        """Takes in objects that were not known before."""
        for item in items:
            self._change(None, item)

    def load_backups(self, backups: Iterable[Backup]) -> None:
        """Takes in backups that were not known before, tens of thousands at once; restores come later."""
        copies = self._copies
        by_spec: dict[tuple[str, int, bool], tuple[Hashable, CopyGroup]] = {}
        """Equal specs of many backups are one object, as the store keeps them."""
        for backup in backups:
            meta = backup.metadata
            if not is_copy(backup):
                continue
            place = (meta.namespace, id(backup.spec), self._policy_of_then(backup) is not None)
            if _name(backup) in self._to_delete:
                self._backup(None, backup)
                continue
            held = by_spec.get(place)
            if held is None:
                self._backup(None, backup)
                by_spec[place] = copies[meta.namespace, meta.name]
                continue
            held[1].add(backup)
            copies[meta.namespace, meta.name] = held
            if meta.annotations:
                self._note_drills(None, backup)

    def load_nabs(self, nabs: Iterable[NonAdminBackup]) -> None:
        """Takes in NABs that were not known before, tens of thousands at once."""
        held = self._nabs
        for nab in nabs:
            meta = nab.metadata
            if nab.velero.name:
                held.setdefault(meta.namespace, {})[meta.name] = nab
        if self._existing is None:
            for place in held:
                self._keep(place)

    def _change(self, before: Resource | None, after: Resource | None) -> _Touched:
        match after if after is not None else before:
            case Backup():
                return self._backup(_typed(before, Backup), _typed(after, Backup))
            case DeleteBackupRequest() as request:
                return self._deletion(request, is_open=after is not None and request.phase != "Processed")
            case Schedule():
                return self._schedule(_typed(before, Schedule), _typed(after, Schedule))
            case Restore():
                return self._restore(_typed(before, Restore), _typed(after, Restore))
            case NonAdminBackup() as nab:
                return self._nab(nab, gone=after is None)
            case Namespace() as namespace:
                return self._namespace(namespace, gone=after is None)
            case BackupRepository() as repository:
                return self._repository(_typed(before, BackupRepository), repository, gone=after is None)
            case BackupStorageLocation() as location:
                return self._location(_typed(before, BackupStorageLocation), location, gone=after is None)
            case _:
                return []

    # What changes

    def _backup(self, before: Backup | None, after: Backup | None) -> _Touched:
        touched: _Touched = []
        held = self._copies.pop(_name(before), None) if before is not None else None
        if before is not None:
            self._withheld.pop(_name(before), None)
        stays = after is not None and is_copy(after)
        if stays and after is not None and _name(after) in self._to_delete:
            self._withheld[_name(after)] = after
            stays = False
        is_same = held is not None and after is not None and held[0] == self._key_of(after)
        if held is not None and before is not None and after is not None and stays and is_same:
            self._copies[_name(after)] = held
            held[1].renew(before, after)
            self._uses.renew(held[1].filter)
            touched.append(self._uses.names_of(held[1].filter))
        else:
            if held is not None and before is not None:
                touched.append(tuple(self._uses.names_of(held[1].filter)))
                self._change_group(*held, before, None)
            if after is not None and stays:
                key, group = self._group_of(after)
                self._copies[_name(after)] = (key, group)
                self._change_group(key, group, None, after)
                touched.append(self._uses.names_of(group.filter))
        touched += self._note_drills(before, after)
        source = after or before
        for restore in tuple(self._restores.get(_name(source), {}).values()) if source is not None else ():
            touched += self._place_restore(restore)
        return touched

    def _deletion(self, request: DeleteBackupRequest, *, is_open: bool) -> _Touched:
        """Its backup is a copy until its deletion is requested, and again where Velero could not delete it."""
        name = (request.namespace, request.spec.backup_name)
        requests = self._to_delete.setdefault(name, set())
        (requests.add if is_open else requests.discard)(request.name)
        if not requests:
            del self._to_delete[name]
        held = self._copies.get(name)
        backup = held[1].backups[request.spec.backup_name] if held is not None else self._withheld.get(name)
        return [] if backup is None or bool(requests) is (held is None) else self._backup(backup, backup)

    def _change_group(self, key: Hashable, group: CopyGroup, before: Backup | None, after: Backup | None) -> None:
        if before is not None:
            group.remove(before)
        if after is not None:
            group.add(after)
        if group.backups and key in self._groups:
            self._uses.renew(group.filter)
            return
        use = self._uses.of(group.filter)
        if group.backups:
            use.groups[key] = self._groups[key] = group
            self._name(group.filter, 1)
        elif self._groups.pop(key, None) is not None:
            del use.groups[key]
            self._name(group.filter, -1)
        self._uses.settle(group.filter)

    def _group_of(self, backup: Backup) -> tuple[Hashable, CopyGroup]:
        key = self._key_of(backup)
        group = self._groups.get(key)
        if group is None:
            group = CopyGroup(self._filter_of(backup.spec), _coverage(backup.spec, self._policy_of_then(backup)))
        return key, group

    def _key_of(self, backup: Backup) -> Hashable:
        return group_key(backup, has_known_policy=self._policy_of_then(backup) is not None)

    def _policy_of_then(self, backup: Backup) -> ReadPolicy | None:
        """Its policy, where that is the one that was read; of another cluster's backup nothing tells it."""
        if not backup.spec.resource_policy or is_of_storage(backup):
            return None
        policy = self._volume_policies.get((backup.namespace, resource_policy(backup.spec)))
        return None if policy is None or is_later(policy.written, backup) else policy

    def _note_drills(self, before: Backup | None, after: Backup | None) -> _Touched:
        touched: _Touched = []
        if before is not None and before.metadata.annotations:
            for namespace in drills_of(before):
                self._drilled.get(namespace, {}).pop(_name(before), None)
                touched.append((namespace,))
        if after is not None:
            for namespace, outcome in drills_of(after).items():
                self._drilled.setdefault(namespace, {})[_name(after)] = outcome
                touched.append((namespace,))
        return touched

    def _schedule(self, before: Schedule | None, after: Schedule | None) -> _Touched:
        touched: _Touched = []
        if before is not None:
            wanted = self._filter_of(before.spec.template)
            touched.append(tuple(self._uses.names_of(wanted)))
            if self._uses.of(wanted).covers.pop(_name(before), None) is not None:
                self._name_covered(wanted, -1)
            self._uses.settle(wanted)
        if after is not None:
            wanted = self._filter_of(after.spec.template)
            covers = self._uses.of(wanted).covers
            if _name(after) not in covers:
                self._name_covered(wanted, 1)
            covers[_name(after)] = self._cover(after)
            self._uses.settle(wanted)
            touched.append(self._uses.names_of(wanted))
        return touched

    def _name_covered(self, wanted: NamespaceFilter, by: int) -> None:
        """Add the namespaces that a schedule names: they are all there is to show where the cluster's are not seen."""
        if self._existing is None:
            self._name(wanted, by)

    def _cover(self, schedule: Schedule) -> NamespaceCover:
        template = schedule.spec.template
        dialect = self._dialect_of(schedule)
        parsed = expression(schedule.spec.schedule, dialect) if dialect is not None else None
        usable = dialect is not None and not isinstance(parsed, CronError) and not invalid(schedule, dialect)
        runs = parsed if usable and isinstance(parsed, CronSchedule) and not parsed.never_fires else None
        return NamespaceCover(
            schedule,
            self._coming_coverage(schedule),
            volume_method(template),
            runs,
            next_run(schedule, dialect) if usable and dialect is not None else None,
            runs is not None and not schedule.spec.paused,
            not usable if dialect is not None else schedule.is_refused,
        )

    def _coming_coverage(self, schedule: Schedule) -> Coverage:
        template = schedule.spec.template
        found = _coverage(template, self._volume_policies.get((schedule.namespace, resource_policy(template))))
        refused = self._refused.get(_name(schedule))
        if refused and found.extent is Extent.UNKNOWN:
            return Coverage(Extent.UNKNOWN, f"Velero refuses it: {refused}")
        return found

    def _restore(self, before: Restore | None, after: Restore | None) -> _Touched:
        touched: _Touched = [*self._drill_restore(before, -1), *self._drill_restore(after, 1)]
        if before is not None:
            self._restores.get(_source(before), {}).pop(_name(before), None)
            touched += self._displace_restore(before)
        if after is not None and after.phase in USABLE and not after.label(DRILL_LABEL):
            self._restores.setdefault(_source(after), {})[_name(after)] = after
            touched += self._place_restore(after)
        return touched

    def _place_restore(self, restore: Restore) -> _Touched:
        """Under the namespaces that it took from its backup, as far as that can be told."""
        touched = self._displace_restore(restore)
        if (wanted := self._restored_from(restore)) is None:
            return touched
        self._uses.of(wanted).restores[_name(restore)] = restore
        self._uses.settle(wanted)
        self._restored[_name(restore)] = wanted
        return [*touched, self._uses.names_of(wanted)]

    def _displace_restore(self, restore: Restore) -> _Touched:
        wanted = self._restored.pop(_name(restore), None)
        if wanted is None:
            return []
        touched: _Touched = [tuple(self._uses.names_of(wanted))]
        self._uses.of(wanted).restores.pop(_name(restore), None)
        self._uses.settle(wanted)
        return touched

    def _restored_from(self, restore: Restore) -> NamespaceFilter | None:
        spec = restore.spec
        if spec.included_namespaces and spec.included_namespaces != _ALL:
            return self._uses.filter(spec.included_namespaces, spec.excluded_namespaces)
        held = self._copies.get(_source(restore))
        if held is None:
            return None
        had = held[1].filter
        return self._uses.filter(had.included, tuple(sorted({*had.excluded, *spec.excluded_namespaces})))

    def _nab(self, nab: NonAdminBackup, *, gone: bool) -> _Touched:
        """Count a NAB that has a backup at Velero."""
        place = nab.namespace
        own, newest = self._nabs.setdefault(place, {}), self._newest_nabs.get(place)
        if gone or not nab.velero.name:
            own.pop(nab.name, None)
            if newest is not None and newest.name == nab.name:
                del self._newest_nabs[place]
        else:
            own[nab.name] = nab
            if newest is not None and (newest.name == nab.name or _nab_order(nab) > _nab_order(newest)):
                self._newest_nabs[place] = nab
        if self._existing is None:
            self._keep(place)
        return [(place,)]

    def _newest_nab(self, namespace: str) -> NonAdminBackup | None:
        """Looked for when a row is made: of thousands that go one by one, each would be the newest in its turn."""
        held = self._nabs.get(namespace)
        if held and namespace not in self._newest_nabs:
            self._newest_nabs[namespace] = max(held.values(), key=_nab_order)
        return self._newest_nabs.get(namespace)

    def _namespace(self, namespace: Namespace, *, gone: bool) -> _Touched:
        """Leave out a drill's namespace. Anybody may set a label: a restore of that drill must go there too.

        Its restore goes before it does, so that what is already being deleted needs no restore any more.
        """
        name, drill = namespace.name, "" if gone else namespace.label(DRILL_LABEL)
        leaves = bool(drill) and namespace.metadata.deletion_timestamp is not None
        self._labelled.pop(name, None)
        self._created.pop(name, None)
        if not gone:
            self._created[name] = namespace.created
        if drill and not leaves:
            self._labelled[name] = drill
        touched: Iterable[str] = (name,)
        is_excluded = not gone and namespace.label(EXCLUDE_LABEL) == "true"
        if is_excluded is not (name in self._excluded):
            (self._excluded.add if is_excluded else self._excluded.discard)(name)
            touched = (name, *self._uses.names)
        self._exist(name, not (gone or leaves or self._drilled_into[drill, name]))
        return [touched]

    def _exist(self, name: str, exists: bool) -> None:
        if self._existing is not None:
            (self._existing.add if exists else self._existing.discard)(name)
            self._keep(name)

    def _drill_restore(self, restore: Restore | None, by: int) -> _Touched:
        """The namespaces that a restore of a drill goes into, where they say themselves that they are of it."""
        drill = restore.label(DRILL_LABEL) if restore is not None and restore.metadata.labels else ""
        if restore is None or not drill:
            return []
        touched: _Touched = []
        for name in set(restore.spec.namespace_mapping.values()):
            self._drilled_into[drill, name] += by
            if not self._drilled_into[drill, name]:
                del self._drilled_into[drill, name]
            if self._labelled.get(name) == drill:
                self._exist(name, not self._drilled_into[drill, name])
                touched.append((name,))
        return touched

    def _repository(self, before: BackupRepository | None, repository: BackupRepository, *, gone: bool) -> _Touched:
        names = {repository.spec.volume_namespace}
        if before is not None:
            names.add(before.spec.volume_namespace)
            self._repositories.get(before.spec.volume_namespace, {}).pop(_name(before), None)
        if not gone:
            self._repositories.setdefault(repository.spec.volume_namespace, {})[_name(repository)] = repository
        return [names]

    def _location(
        self, before: BackupStorageLocation | None, location: BackupStorageLocation, *, gone: bool
    ) -> _Touched:
        """Velero writes to it every minute: only where it can be used now, or not any more, is something other."""
        if gone:
            self._storage.pop(_name(location), None)
        else:
            self._storage[_name(location)] = location
        same = before is not None and _use_of(before) == _use_of(location)
        return [] if same and not gone else [self._uses.names]

    # Names and filters

    def _is_known(self, namespace: str) -> bool:
        if self._existing is not None and namespace in self._existing:
            return True
        return self._named[namespace] > 0 or (self._existing is None and bool(self._nabs.get(namespace)))

    def _keep(self, name: str) -> None:
        """In the table for as long as something is known of it."""
        self._uses.keep_name(name, is_known=self._is_known(name))

    def _name(self, wanted: NamespaceFilter, by: int) -> None:
        for name in wanted.named:
            self._named[name] += by
            self._keep(name)

    def _filter_of(self, spec: BackupSpec) -> NamespaceFilter:
        return self._uses.filter(spec.included_namespaces, spec.excluded_namespaces)

    def _unavailable(self, places: Iterable[Place]) -> dict[Place, str]:
        """The names of the locations that Velero cannot use, by place."""
        found = {}
        for place in places:
            location = self._location_of(place)
            if location is None and self._storage:
                found[place] = place[1] or "default"
            elif location is not None and location.phase == "Unavailable":
                found[place] = location.name
        return found

    def _next_cover(self, covers: Iterable[NamespaceCover]) -> tuple[NamespaceCover | None, bool]:
        """The schedule whose run comes next, one that Velero refuses only where it refuses all, and whether it does."""
        found: tuple[bool, datetime, NamespaceCover] | None = None
        for cover in covers:
            if not cover.is_active or cover.next_run is None:
                continue
            place = (cover.schedule.namespace, cover.schedule.spec.template.storage_location)
            location = self._location_of(place)
            is_refused = bool(place[1] and self._storage) if location is None else bool(location.refuses)
            is_refused = is_refused or _name(cover.schedule) in self._refused
            if found is None or (is_refused, cover.next_run) < found[:2]:
                found = is_refused, cover.next_run, cover
        return (None, False) if found is None else (found[2], found[0])

    def _location_of(self, place: Place) -> BackupStorageLocation | None:
        return self._storage.get(place) if place[1] else self._default_location(place[0])

    def _unready(
        self, namespace: str, places: Iterable[Place], covers: Iterable[NamespaceCover]
    ) -> tuple[BackupRepository, ...]:
        found = [one for one in self._repositories.get(namespace, {}).values() if one.is_unready]
        if not found:
            return ()
        homes = ((cover.schedule.namespace, cover.schedule.spec.template.storage_location) for cover in covers)
        used = {(home, name or self._default_name(home)) for home, name in (*places, *homes)}
        return tuple(one for one in found if (one.namespace, one.spec.backup_storage_location) in used)

    def _default_name(self, namespace: str) -> str:
        location = self._default_location(namespace)
        return location.name if location is not None else "default"

    def _default_location(self, namespace: str) -> BackupStorageLocation | None:
        mine = [one for one in self._storage.values() if one.namespace == namespace]
        chosen = [one for one in mine if one.spec.default] or [one for one in mine if one.name == "default"]
        return chosen[0] if chosen else None


class ProtectionSource(Protocol):
    """The input of the protection: the objects of one cluster at one moment."""

    @property
    def backups(self) -> tuple[Backup, ...]: ...

    @property
    def delete_requests(self) -> tuple[DeleteBackupRequest, ...]: ...

    @property
    def storage(self) -> tuple[BackupStorageLocation, ...]: ...

    @property
    def schedules(self) -> tuple[Schedule, ...]: ...

    @property
    def restores(self) -> tuple[Restore, ...]: ...

    @property
    def nabs(self) -> tuple[NonAdminBackup, ...]: ...

    @property
    def repositories(self) -> tuple[BackupRepository, ...]: ...

    @property
    def namespaces(self) -> tuple[Namespace, ...] | None:
        """None where they were not seen."""

    @property
    def volume_policies(self) -> VolumePolicies: ...

    @property
    def invalid_runs(self) -> Mapping[_Name, str]: ...

    def dialect(self, schedule: Schedule, /) -> Dialect | None: ...


def protection_index(snapshot: ProtectionSource) -> ProtectionIndex:
    """The protection of a whole cluster as of one snapshot."""
    known = snapshot.namespaces
    labelled = [item for item in known or () if not item.metadata.labels.keys().isdisjoint(_NAMESPACE_LABELS)]
    names = None if known is None else {item.name for item in known}.difference(item.name for item in labelled)
    created = {item.name: item.created for item in known or ()}
    index = ProtectionIndex(snapshot.dialect, names, created, snapshot.volume_policies, snapshot.invalid_runs)
    everything: tuple[Iterable[Resource], ...] = (
        snapshot.storage,
        snapshot.schedules,
        snapshot.restores,
        labelled,
        snapshot.repositories,
    )
    index.load(snapshot.delete_requests)
    index.load_backups(snapshot.backups)
    for items in everything:
        index.load(items)
    index.load_nabs(snapshot.nabs)
    return index


def _coverage(spec: BackupSpec, policy: ReadPolicy | None) -> Coverage:
    return content_coverage(spec) if policy is None else policy.coverage(spec)


def _use_of(location: BackupStorageLocation) -> Hashable:
    """All of a location that a row is made from."""
    return location.phase, location.refuses, location.spec.default


def _nab_order(nab: NonAdminBackup) -> tuple[bool, datetime | None, str]:
    meta = nab.metadata
    return meta.creation_timestamp is not None, meta.creation_timestamp, meta.name


def _source(restore: Restore) -> _Name:
    return restore.namespace, restore.spec.backup_name


def _name(item: Resource) -> _Name:
    return item.namespace, item.name


def _typed(item: Resource | None, model: type[R]) -> R | None:
    return item if isinstance(item, model) else None
