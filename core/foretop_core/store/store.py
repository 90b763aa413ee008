"""The objects of all clusters by key, and the feed of their changes; a watch writes here, or a file read instead."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec.structs import replace

from foretop_core.clock import Clock
from foretop_core.kube.watching.watch_sink import EventType, WatchHealth, WatchScope, WatchState
from foretop_core.logs import logger
from foretop_core.models import Deployment, Namespace
from foretop_core.models.kinds import (
    BACKUP,
    CLAIM,
    DATA_UPLOAD,
    DELETE_REQUEST,
    DEPLOYMENT,
    NAB,
    NAMESPACE,
    POD_VOLUME_BACKUP,
    REPOSITORY,
    RESTORE,
    SCHEDULE,
    STORAGE,
    VOLUME,
    Kind,
    kind_of,
)
from foretop_core.models.wire import ObjectRef, Resource, UnreadableObject, is_earlier, is_older, unreadable_object
from foretop_core.rules.build_snapshot import servers_of, snapshot_of
from foretop_core.rules.cron_dialects import NONE_GIVEN, GivenVersions
from foretop_core.rules.indexes import Indexes
from foretop_core.rules.lookups import Lookups
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.protection.protection_index import ProtectionIndex, protection_index
from foretop_core.rules.queue.node_limits import NodeAgentLimits
from foretop_core.rules.snapshot import ClusterSnapshot, KeptExpectations, KeptIndexes, KeptNights, VisibilityGap
from foretop_core.rules.volumes.evidence import KnownVolumes, VolumesSeen
from foretop_core.store.change_history import ChangeHistory, Observations
from foretop_core.store.health import WatchHealthRegistry, visibility_gaps

if TYPE_CHECKING:
    from foretop_core.rules.volumes.run_plan import Deciders

R = TypeVar("R", bound=Resource)
_log = logger(__name__)
MOST_AT_ONCE = 500
"""So many objects are looked at on the event loop: it takes some milliseconds."""
MOST_VOLUME_INFOS, MOST_KNOWN_VOLUMES = 64, 50_000
"""So many volume infos of a cluster are remembered, with so many volumes before the newest."""
_OF_VOLUMES = (CLAIM, VOLUME, POD_VOLUME_BACKUP, DATA_UPLOAD, DEPLOYMENT)
"""The kinds without which it is not known what becomes of volumes."""
_PROTECTION_KINDS = frozenset(
    kind.name for kind in (NAMESPACE, BACKUP, DELETE_REQUEST, SCHEDULE, RESTORE, NAB, REPOSITORY, STORAGE)
)


class Change(msgspec.Struct, frozen=True):
    """An object before and after everything that happened to it between two drains."""

    before: Resource | None
    after: Resource | None


class Subscription:
    """The pending changes of one subscriber, who drains them at its own pace; at most one for each key."""

    def __init__(self, kinds: Collection[str] | None, wake: Callable[[], None] | None) -> None:
        self._kinds = None if kinds is None else frozenset(kinds)
        self._wake = wake
        self._pending: dict[ObjectRef, Change] = {}

    def __len__(self) -> int:
        return len(self._pending)

    def drain(self) -> dict[ObjectRef, Change]:
        """Everything since the last call, in the order in which the keys first changed."""
        drained, self._pending = self._pending, {}
        return drained

    def push(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        if self._kinds is not None and key.kind not in self._kinds:
            return
        earlier = self._pending.pop(key, None)
        first = before if earlier is None else earlier.before
        if first is None and after is None:
            return
        self._pending[key] = Change(first, after)
        if self._wake is not None and len(self._pending) == 1 and earlier is None:
            self._wake()


class Feed:
    """Delivers every change to every subscriber."""

    def __init__(self) -> None:
        self._subscriptions: list[Subscription] = []

    def subscribe(self, kinds: Collection[str] | None = None, wake: Callable[[], None] | None = None) -> Subscription:
        """Changes of these kinds from now on; `wake` is called when the first one arrives."""
        subscription = Subscription(kinds, wake)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        self._subscriptions.remove(subscription)

    def publish(self, key: ObjectRef, before: Resource | None, after: Resource | None) -> None:
        for subscription in self._subscriptions:
            subscription.push(key, before, after)


class ProtectionCache:
    """One index for each cluster.

    It is made anew where servers read expressions otherwise, namespaces come in sight, or policies are others.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._changes: Subscription | None = None
        self._held: dict[str, tuple[object, ProtectionIndex]] = {}

    def of(self, snapshot: ClusterSnapshot) -> ProtectionIndex:
        """As of this snapshot, which must be the store's last one."""
        self._keep_up()
        basis = (snapshot.verdicts, snapshot.namespaces is not None, snapshot.volume_policies, snapshot.invalid_runs)
        held = self._held.get(snapshot.context)
        if held is None or held[0] != basis:
            held = self._held[snapshot.context] = (basis, protection_index(snapshot))
        return held[1]

    def _keep_up(self) -> None:
        if self._changes is None:
            self._changes = self._feed.subscribe(_PROTECTION_KINDS)
        for key, change in self._changes.drain().items():
            held = self._held.get(key.context)
            if held is None:
                continue
            try:
                held[1].apply(_readable(change.before), _readable(change.after))
            except Exception:
                _log.exception("the protection index cannot take %s in", key)
                # One that cannot be taken in costs a look at all, and not the truth of the rest.
                del self._held[key.context]


def _readable(item: Resource | None) -> Resource | None:
    return None if isinstance(item, UnreadableObject) else item


def _basis_of(snapshot: ClusterSnapshot) -> tuple[tuple[VisibilityGap, ...], bool, VolumesSeen]:
    return snapshot.unseen, snapshot.namespaces is not None, snapshot.volumes_seen


class Store:
    """Typed, frozen objects, their indexes, their changes, and the health of every watch."""

    def __init__(self, given_versions: GivenVersions = NONE_GIVEN, *, keeps_last_hour: bool = True) -> None:
        self.indexes = Indexes()
        self.feed = Feed()
        self._protection = ProtectionCache(self.feed)
        self._keeps_last_hour = keeps_last_hour
        self._observed = Observations(keeps_last_hour=keeps_last_hour)
        self.health = WatchHealthRegistry(notify=self._notify)
        self._listeners: list[Callable[[], None]] = []
        self._given_versions = given_versions
        self._snapshots: dict[str, tuple[tuple[int, int], ClusterSnapshot]] = {}
        self._tables: dict[tuple[str, str], dict[ObjectRef, Resource]] = {}
        self._listed: dict[tuple[str, str], tuple[Resource, ...]] = {}
        self._revisions: Counter[str] = Counter()
        self._unreadable: dict[ObjectRef, UnreadableObject] = {}
        self._sinks: dict[WatchScope, StoreSink] = {}
        self._holders: dict[ObjectRef, int] = {}
        self._deciding: dict[str, dict[str, Deciders]] = {}
        self._node_limits: dict[str, dict[str, NodeAgentLimits]] = {}
        self._known_volumes: dict[str, dict[tuple[str, str], KnownVolumes]] = {}
        self._nights: dict[str, KeptNights] = {}
        self._expected: dict[str, KeptExpectations] = {}

    @property
    def history(self) -> ChangeHistory:
        return self._observed.history

    def first_observations(self, items: Iterable[tuple[ObjectRef, Resource]], at: datetime) -> Observations:
        """The observations after a first list of these objects."""
        observations = Observations(keeps_last_hour=self._keeps_last_hour)
        for key, item in items:
            observations.note(key, None, item, at, listed=True)
        return observations

    def use_observations(self, observations: Observations) -> None:
        """Takes these in the place of what was seen to happen so far."""
        self._observed = observations
        for context in self.contexts():
            self._revisions[context] += 1
        self._notify()

    @property
    def size(self) -> int:
        """The number of readable objects of all clusters."""
        return sum(map(len, self._tables.values()))

    def get(self, key: ObjectRef) -> Resource | None:
        """The object, or the placeholder of an unreadable one."""
        table = self._tables.get(key[:2])
        found = None if table is None else table.get(key)
        return self._unreadable.get(key) if found is None else found

    def find(self, model: type[R], context: str, namespace: str, name: str) -> R | None:
        found = self.get(ObjectRef(context, kind_of(model).name, namespace, name))
        return found if isinstance(found, model) else None

    def all(self, context: str, model: type[R]) -> tuple[R, ...]:
        """Every readable object of one kind in one cluster; rebuilt once for each change of that kind."""
        table_key = (context, kind_of(model).name)
        listed = self._listed.get(table_key)
        if listed is None:
            listed = self._listed[table_key] = tuple(self._tables.get(table_key, {}).values())
        return listed  # type: ignore[return-value]  # a table holds its kind's model and nothing else

    def items(self, context: str, kind: str) -> Iterator[tuple[ObjectRef, Resource]]:
        """Every row of one kind: the readable objects, then the unreadable ones."""
        yield from self._tables.get((context, kind), {}).items()
        for key, stand_in in self._unreadable.items():
            if key[:2] == (context, kind):
                yield key, stand_in

    def keys(self, context: str, kind: str) -> tuple[ObjectRef, ...]:
        """The keys of every row of one kind, without a look at each object that can be read."""
        unreadable = (key for key in self._unreadable if key[:2] == (context, kind))
        return (*self._tables.get((context, kind), ()), *unreadable)

    def objects(self, context: str) -> Iterator[tuple[ObjectRef, Resource]]:
        """Every object of one cluster, the placeholders of unreadable ones too."""
        for (where, _), table in self._tables.items():
            if where == context:
                yield from table.items()
        yield from (one for one in self._unreadable.items() if one[0].context == context)

    @property
    def unreadable(self) -> Mapping[ObjectRef, UnreadableObject]:
        return self._unreadable

    def revision(self, context: str) -> int:
        """A number that changes with every change of an object of that cluster."""
        return self._revisions[context]

    def snapshot(self, context: str) -> ClusterSnapshot:
        """The input of the rules; the same value as long as nothing has changed."""
        version = (self.revision(context), self.health.revision_of(context))
        held = self._snapshots.get(context)
        if held is not None and held[0] == version:
            return held[1]
        unseen = visibility_gaps(context, self.health)
        listed = self.health.is_listed(context, NAMESPACE) and bool(self.all(context, Namespace))
        volumes = self._volumes_seen(context)
        known = (unseen, listed, volumes)
        if held is not None and (held[0][0], *_basis_of(held[1])) == (version[0], *known):
            snapshot = held[1]
        else:
            snapshot = self._new_snapshot(context, *known)
        self._snapshots[context] = (version, snapshot)
        return snapshot

    def _volumes_seen(self, context: str) -> VolumesSeen:
        """One movement that cannot be read may be that of any volume of its server."""
        unreadable = [key for key in self._unreadable if key.context == context]
        moved = [self.health.listed_in(context, kind) for kind in (POD_VOLUME_BACKUP, DATA_UPLOAD)]
        odd = {key.namespace for key in unreadable if key.kind in (POD_VOLUME_BACKUP.name, DATA_UPLOAD.name)}
        return VolumesSeen(
            self.health.listed_in(context, CLAIM),
            frozenset(key.namespace for key in unreadable if key.kind == CLAIM.name),
            frozenset.intersection(*moved) - odd - ({""} if odd else set()),
            {kind.name: right for kind in _OF_VOLUMES if (right := self.health.missing_right(context, kind))},
        )

    def _new_snapshot(
        self, context: str, unseen: tuple[VisibilityGap, ...], listed: bool, volumes: VolumesSeen
    ) -> ClusterSnapshot:
        def every(model: type[R], /) -> tuple[R, ...]:
            return self.all(context, model)

        seen = self._observed.of(context, servers_of(every(Deployment)))
        given = self._given_versions.of(context)
        made = snapshot_of(context, every, unseen, seen, given, namespaces_seen=listed, volumes_seen=volumes)
        revision = self.revision(context)
        lookups = Lookups(context, self.indexes, self.get)
        nights = self._nights.setdefault(context, {})
        expected = self._expected.setdefault(context, {})
        live = KeptIndexes(lookups, self._protection.of, lambda: self.revision(context) == revision, nights, expected)
        return replace(
            made,
            live=live,
            node_limits=self._node_limits.get(context, {}),
            deciding=self._deciding.get(context, {}),
            known_volumes=self._known_volumes.get(context, {}),
        )

    def look(self, context: str, now: datetime) -> bool:
        """Called again and again while somebody looks: a clock that jumps meanwhile starts judgements of time anew.

        True where it has. Before anything has come in, the time of a cluster is that of this machine: its first answer
        makes no jump.
        """
        has_jumped = bool(self.revision(context)) and self._observed.look(context, now)
        if has_jumped:
            self._revisions[context] += 1
        return has_jumped

    def note_node_limits(self, context: str, namespace: str, found: NodeAgentLimits) -> None:
        """Takes in how many volumes the node agents of a server move at once."""
        known = self._node_limits.get(context, {})
        if known.get(namespace) != found:
            self._node_limits[context] = {**known, namespace: found}
            self._revisions[context] += 1
            self._notify()

    def note_deciding(self, context: str, namespace: str, found: Deciders) -> None:
        """Takes in what decides about volumes in the runs of a server; what is told of those may be another."""
        known = self._deciding.get(context, {})
        if known.get(namespace) == found:
            return
        self._deciding[context] = {**known, namespace: found}
        self._revisions[context] += 1
        for kind in (SCHEDULE, STORAGE):
            for key, item in self.items(context, kind.name):
                if key.namespace == namespace:
                    self.feed.publish(key, item, item)
        self._notify()

    def note_volumes(self, key: ObjectRef, found: KnownVolumes) -> None:
        """Takes in the volume info of a backup, until it is deleted; of too many the one that came first goes."""
        backup = self.get(key)
        if backup is None or backup.metadata.uid != found.uid:
            return
        place = key.namespace, key.name
        known = {where: one for where, one in self._known_volumes.get(key.context, {}).items() if where != place}
        while (
            len(known) >= MOST_VOLUME_INFOS or sum(len(one.info.volumes) for one in known.values()) > MOST_KNOWN_VOLUMES
        ):
            del known[next(iter(known))]
        self._known_volumes[key.context] = {**known, place: found}
        self._revisions[key.context] += 1
        # What is told of the backup, and of the namespaces in it, may be another.
        self.feed.publish(key, backup, backup)
        self._notify()

    def _forget_volumes(self, key: ObjectRef) -> None:
        known = self._known_volumes.get(key.context, {})
        if (key.namespace, key.name) in known:
            self._known_volumes[key.context] = {
                where: one for where, one in known.items() if where != (key.namespace, key.name)
            }

    def contexts(self) -> tuple[str, ...]:
        """The clusters that a watch or a file has reported."""
        return tuple(dict.fromkeys(scope.context for scope in self._sinks))

    def sink(self, scope: WatchScope, clock: Clock) -> StoreSink:
        """The sink of one watch; the clock is that of its cluster."""
        if scope not in self._sinks:
            self._sinks[scope] = StoreSink(self, scope, clock)
        return self._sinks[scope]

    def drop(self, scope: WatchScope) -> None:
        """End a watch for good: what only it held is removed."""
        if sink := self._sinks.pop(scope, None):
            sink.release_all()
        self.health.forget(scope)

    def fill(self, context: str, resources: Iterable[Resource], clock: Clock) -> None:
        """Add objects from a file, in place of a watch of each of their kinds."""
        by_kind: dict[Kind, list[Resource]] = {}
        for resource in resources:
            by_kind.setdefault(kind_of(type(resource)), []).append(resource)
        for kind, members in by_kind.items():
            sink = self.sink(WatchScope(context, kind), clock)
            sink.replace_begin()
            sink.page(members)
            sink.replace_end()
            sink.health(WatchHealth(WatchState.LIVE, clock.now()))

    def hold(self, key: ObjectRef) -> None:
        """Count one more watch that sees this object; of those of one watch, which are nearly all, none is kept."""
        if self.get(key) is not None:
            self._holders[key] = self._holders.get(key, 1) + 1

    def release(self, key: ObjectRef, at: datetime, *, seen: bool = False) -> None:
        """Count one watch fewer; the object is removed with the last one, which may have `seen` that it was deleted."""
        left = self._holders.pop(key, 1) - 1
        if left > 1:
            self._holders[key] = left
        elif not left:
            self.put(key, None, at, listed=not seen)

    def put(self, key: ObjectRef, after: Resource | None, at: datetime, *, listed: bool = False) -> None:
        """The only method that changes an object; one that comes with a list may have changed long ago."""
        before = self.get(key)
        if after is before or (after is not None and before is not None and _same(before, after)):
            return
        table_key = key[:2]
        self._listed.pop(table_key, None)
        self._revisions[key.context] += 1
        table = self._tables.setdefault(table_key, {})
        if isinstance(after, UnreadableObject):
            table.pop(key, None)
            self._unreadable[key] = after
        else:
            self._unreadable.pop(key, None)
            if after is None:
                table.pop(key, None)
            else:
                table[key] = after
        if key.kind == BACKUP.name and (
            after is None or (before is not None and before.metadata.uid != after.metadata.uid)
        ):
            self._forget_volumes(key)
        try:
            self.indexes.move(key, before, after)
        except Exception as problem:
            self.indexes.discard(key, before, after)
            after = self._set_aside(key, after, problem)
        try:
            self._observed.note(key, before, after, at, listed=listed)
        except Exception as problem:
            self.indexes.discard(key, after, None)
            after = self._set_aside(key, after, problem)
        self.feed.publish(key, before, after)
        self._notify()

    def _set_aside(self, key: ObjectRef, after: Resource | None, problem: Exception) -> Resource | None:
        """The stand-in of an object that cannot be taken in, which is in no index by now.

        Table, indexes and feed stay equal; the next list, or the next change of the object, tries again.
        """
        _log.error("%s cannot be taken in", key, exc_info=problem)
        if after is None:
            return None
        self._tables[key[:2]].pop(key, None)
        version = after.metadata.resource_version
        stand_in = unreadable_object(key.namespace, key.name, failure_line(problem), version)
        self._unreadable[key] = stand_in
        return stand_in

    def listen(self, wake: Callable[[], None]) -> None:
        """Call this at every change of an object or of a watch's health, for as long as the store lives."""
        self._listeners.append(wake)

    def _notify(self) -> None:
        for wake in self._listeners:
            wake()


def _same(before: Resource, after: Resource) -> bool:
    """True if nothing changed: the same version and, since a file or a restored etcd may keep it, the same content."""
    return before.metadata.resource_version == after.metadata.resource_version and before == after


REMEMBERED_DELETIONS = 1000


class StoreSink:
    """Remembers the keys that its watch has shown, so that a new list removes exactly what is missing from it."""

    def __init__(self, store: Store, scope: WatchScope, clock: Clock) -> None:
        self._store = store
        self._scope = scope
        self._clock = clock
        self._held: dict[ObjectRef, Resource] = {}
        self._listed: set[ObjectRef] | None = None
        self._early: dict[ObjectRef, Resource] = {}
        """The events of a watch beside the list that comes in."""
        self._deleted: OrderedDict[ObjectRef, Resource] = OrderedDict()
        self._lost = 0
        self._lost_before_list = 0
        self._lost_why = ""

    def replace_begin(self) -> None:
        self._listed, self._early = set(), {}
        self._lost_before_list = self._lost

    def page(self, objects: Iterable[Resource]) -> None:
        at = self._clock.now()
        for resource in objects:
            self._list(self._key(resource), resource, at)

    def replace_end(self, version: str = "") -> None:
        """Remove what the list lacks, except what came after its version: the watch that follows speaks of that."""
        at = self._clock.now()
        for key in self._held.keys() - (self._listed or set()):
            early = self._early.get(key)
            if early is None or not is_earlier(version, early.metadata.resource_version):
                self._lose(key, at, seen=True)
        self._listed, self._early = None, {}
        self._deleted.clear()
        self._count_lost(-self._lost_before_list, self._lost_why)

    def apply(self, event: EventType, resource: Resource) -> None:
        """Apply an event unless this watch has already delivered a later one for the same object."""
        key, at = self._key(resource), self._clock.now()
        if self._is_overtaken(key, resource):
            return
        if self._listed is not None:
            self._early[key] = resource
        if event == "DELETED":
            self._lose(key, at, seen=True)
            self._remember_deletion(key, resource)
        else:
            self._see(key, resource, at)

    def unreadable(self, namespace: str, name: str, problem: str, version: str = "") -> None:
        if not name:
            self._count_lost(1, problem)
            return
        key = ObjectRef(self._scope.context, self._scope.kind.name, namespace, name)
        stand_in, at = unreadable_object(namespace, name, problem, version), self._clock.now()
        if self._listed is not None:
            self._list(key, stand_in, at)
        elif not self._is_overtaken(key, stand_in):
            self._see(key, stand_in, at)

    def health(self, health: WatchHealth) -> None:
        self._store.health.report(self._scope, health)

    def release_all(self) -> None:
        at = self._clock.now()
        for key in tuple(self._held):
            self._lose(key, at)

    def _count_lost(self, more: int, why: str) -> None:
        """A whole list makes good what was lost before it."""
        self._lost += more
        self._lost_why = why if self._lost else ""
        self._store.health.report_lost(self._scope, self._lost, self._lost_why)

    def _key(self, resource: Resource) -> ObjectRef:
        meta = resource.metadata
        return ObjectRef(self._scope.context, self._scope.kind.name, meta.namespace, meta.name)

    def _is_overtaken(self, key: ObjectRef, resource: Resource) -> bool:
        known = self._held.get(key) or self._deleted.get(key)
        return known is not None and is_older(resource, known)

    def _list(self, key: ObjectRef, resource: Resource, at: datetime) -> None:
        """A list wins even if it is older than what was known before it: a cluster can be restored from a backup."""
        if self._listed is not None:
            self._listed.add(key)
        early = self._early.get(key)
        if early is not None and is_older(resource, early):
            return
        self._hold(key, resource)
        self._store.put(key, resource, at, listed=True)

    def _see(self, key: ObjectRef, resource: Resource, at: datetime) -> None:
        """Store an object, unless another watch that also covers it has delivered a newer version."""
        self._hold(key, resource)
        shown = self._store.get(key)
        if shown is None or not is_older(resource, shown):
            self._store.put(key, resource, at)

    def _hold(self, key: ObjectRef, resource: Resource) -> None:
        if key not in self._held:
            self._store.hold(key)
        self._held[key] = resource

    def _lose(self, key: ObjectRef, at: datetime, *, seen: bool = False) -> None:
        if self._held.pop(key, None) is not None:
            self._store.release(key, at, seen=seen)

    def _remember_deletion(self, key: ObjectRef, resource: Resource) -> None:
        """Remember a deletion, so that a late MODIFIED does not bring the object back; the next list clears it."""
        self._deleted[key] = resource
        self._deleted.move_to_end(key)
        if len(self._deleted) > REMEMBERED_DELETIONS:
            self._deleted.popitem(last=False)
