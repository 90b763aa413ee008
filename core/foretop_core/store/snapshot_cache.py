"""The store as the rules need it: one frozen snapshot for each cluster, rebuilt only after a change."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, TypeVar

from msgspec.structs import replace

from foretop_core.models import Deployment, Namespace, Resource
from foretop_core.models.kinds import NAMESPACE
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.build_snapshot import servers_of, snapshot_of
from foretop_core.rules.cron_dialects import NONE_GIVEN, GivenVersions
from foretop_core.rules.indexes import Indexes
from foretop_core.rules.lookups import Lookups
from foretop_core.rules.snapshot import (
    ClusterSnapshot,
    KeptIndexes,
    ObservedChanges,
    PhaseChange,
    VeleroInfo,
    VisibilityGap,
)
from foretop_core.store.change_history import ChangeHistory
from foretop_core.store.free_slot_tracker import SlotTracker
from foretop_core.store.health import WatchHealthRegistry
from foretop_core.store.protection_cache import ProtectionCache
from foretop_core.store.restart_detector import ActivityTracker, RestartDetector
from foretop_core.store.visibility_gaps import visibility_gaps

R = TypeVar("R", bound=Resource)
_PHASE_ORDER = {"": 0, "New": 0, "BackingOff": 1, "Created": 2, "Deleting": 3}
"""The order of a non-admin object's phases; a step to a smaller number is backwards."""


class SnapshotSource(Protocol):
    """The part of the store that a snapshot is made from."""

    history: ChangeHistory
    slots: SlotTracker
    restarts: RestartDetector
    activity: ActivityTracker
    health: WatchHealthRegistry
    indexes: Indexes
    protection: ProtectionCache

    def get(self, key: ObjectRef) -> Resource | None: ...

    def all(self, context: str, model: type[R]) -> tuple[R, ...]: ...

    def revision(self, context: str) -> int: ...


class SnapshotCache:
    """The last snapshot of each cluster."""

    def __init__(self, source: SnapshotSource, given_versions: GivenVersions = NONE_GIVEN) -> None:
        self._source = source
        self._given_versions = given_versions
        self._made: dict[str, tuple[tuple[int, int], ClusterSnapshot]] = {}

    def of(self, context: str) -> ClusterSnapshot:
        version = (self._source.revision(context), self._source.health.revision)
        held = self._made.get(context)
        if held is not None and held[0] == version:
            return held[1]
        blind = visibility_gaps(context, self._source.health)
        listed = self._source.health.is_listed(context, NAMESPACE) and bool(self._source.all(context, Namespace))
        known = (blind, listed)
        if held is not None and (held[0][0], held[1].unseen, held[1].namespaces is not None) == (version[0], *known):
            snapshot = held[1]
        else:
            snapshot = self._make(context, *known)
        self._made[context] = (version, snapshot)
        return snapshot

    def _make(self, context: str, blind: tuple[VisibilityGap, ...], listed: bool) -> ClusterSnapshot:
        def every(model: type[R], /) -> tuple[R, ...]:
            return self._source.all(context, model)

        seen = self._seen(context, servers_of(every(Deployment)))
        given = self._given_versions.of(context)
        made = snapshot_of(context, every, blind, seen, given, namespaces_seen=listed)
        revision = self._source.revision(context)
        source = self._source
        lookups = Lookups(context, source.indexes, source.get)
        live = KeptIndexes(lookups, source.protection.of, lambda: source.revision(context) == revision)
        return replace(made, live=live)

    def _seen(self, context: str, running: dict[str, VeleroInfo]) -> ObservedChanges:
        since: dict[ObjectRef, datetime] = {}
        back: dict[ObjectRef, PhaseChange] = {}
        for step in self._source.history.phases(context):
            since[step.key] = step.at
            if _PHASE_ORDER.get(step.after, len(_PHASE_ORDER)) < _PHASE_ORDER.get(step.before, 0):
                back[step.key] = PhaseChange(step.before, step.after, step.at)
        progress = list(self._source.history.all_progress(context))
        return ObservedChanges(
            phase_since=since,
            moved={key: record.since for key, record in progress},
            unmoved=frozenset(key for key, record in progress if not record.seen_moving),
            went_back=back,
            restarted=self._source.restarts.restarted(context),
            worked=self._source.activity.worked(context),
            syncs_off_beat=self._source.restarts.off_beat(context),
            free_slot_since=self._source.slots.free_since(context, lambda namespace: _slots(running.get(namespace))),
        )


def _slots(server: VeleroInfo | None) -> int:
    return server.concurrency if server and server.concurrency else 1
