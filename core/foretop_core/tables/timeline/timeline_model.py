"""Which lanes the calendar has, in order and narrowed, kept up to date change by change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from foretop_core.cron import Dialect
from foretop_core.models import Backup, BackupStorageLocation, DataMovement, Resource, Schedule
from foretop_core.models.kinds import (
    BACKUP,
    DATA_UPLOAD,
    NAB,
    POD_VOLUME_BACKUP,
    PRESCALED,
    SCHEDULE,
    STORAGE,
    VERSION_KINDS,
)
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.cron_dialects import Reading
from foretop_core.rules.facts.run_facts import OwnerKind
from foretop_core.rules.night.night import ForeseenRun
from foretop_core.rules.night.past_runs import PastRun
from foretop_core.rules.snapshot import Verdicts
from foretop_core.store import Store
from foretop_core.tables.engine.filter import Filter, parse_filter
from foretop_core.tables.engine.view_scope import ViewScope
from foretop_core.tables.timeline.lanes import LANES, TimelineItem, timeline_item
from foretop_core.tables.timeline.night_lanes import (
    LaneGroup,
    LaneStanding,
    Server,
    ServerNight,
    is_shared,
    lane_standing,
)

_NEVER = datetime.max.replace(tzinfo=UTC)
_FORESEEN_FROM = (BACKUP.name, STORAGE.name, POD_VOLUME_BACKUP.name, DATA_UPLOAD.name)
"""Besides the lanes themselves."""


class TimelineModel:
    """The lanes of all clusters, kept up to date change by change."""

    fields = ("context", "namespace", "name", "cron", "paused")

    def __init__(self, store: Store, contexts: Sequence[str]) -> None:
        self._store = store
        self._contexts = frozenset(contexts)
        self._feed = store.feed.subscribe((*LANES, *VERSION_KINDS, *_FORESEEN_FROM))
        self._verdicts = self._known_verdicts()
        self._items: dict[ObjectRef, TimelineItem] = {}
        self._shared: dict[ObjectRef, TimelineItem] = {}
        """The lanes of all NABs, and of all backups by hand, of each server."""
        self._standings: dict[ObjectRef, LaneStanding] = {}
        self.nights: dict[Server, ServerNight] = {}
        """Foreseen for a day, with the ranges of many courses."""
        self.weeks: dict[Server, ServerNight] = {}
        """Foreseen for a week, by the likely course alone."""
        self.changes: Counter[Server] = Counter()
        """How often something has changed that the night of a server is foreseen from."""
        self.plans: Counter[Server] = Counter()
        """How often somebody has changed when schedules of a server run: a night of another plan answers nothing."""
        self._soonest: datetime | None = None
        self._now: datetime | None = None
        self._wanted = Filter()
        self._focus = ViewScope()
        self.order: list[ObjectRef] = []
        """The lanes that fit the filter: what runs, what comes next, what is done for the night, what never runs."""
        self.revision = 0
        """Moves whenever a lane has come, gone or changed what it is drawn from."""
        for context in contexts:
            for key, item in self._planned(context):
                self._put(key, item)
        self._arrange()

    def servers(self) -> tuple[Server, ...]:
        """Every Velero whose night can be foreseen."""
        return tuple(
            (context, namespace)
            for context in sorted(self._contexts)
            for namespace in self._store.snapshot(context).velero_namespaces
        )

    def server_of(self, key: ObjectRef | None) -> Server | None:
        """The Velero of a lane; of one that has none, the first of its cluster."""
        servers = self.servers()
        if key is not None and key.kind != PRESCALED.name:
            return (key.context, key.namespace)
        return next((server for server in servers if key is None or server[0] == key.context), None)

    def night_of(self, key: ObjectRef | None, *, of_week: bool = False) -> ServerNight | None:
        """The night of a lane's server; where its week is asked for, that as soon as it is foreseen."""
        server = self.server_of(key)
        if server is None:
            return None
        return self.weeks.get(server, self.nights.get(server)) if of_week else self.nights.get(server)

    def is_outdated(self, night: ServerNight | None) -> bool:
        """True if it was played from another plan: before a pause, a resume, an edit."""
        return night is not None and night.plan != self.plans[night.server]

    def take_week(self, week: ServerNight) -> None:
        """Another week of a server is foreseen."""
        self.weeks[week.server] = week
        self.revision += 1

    def take(self, night: ServerNight) -> None:
        """Another night of a server is foreseen."""
        self.nights[night.server] = night
        before = [key for key in self._shared if (key.context, key.namespace) == night.server]
        for key in before:
            del self._shared[key]
        for key in night.shared_lanes:
            self._shared[key] = TimelineItem(key, "", Dialect.ROBFIG)
        self.revision += 1
        self._arrange()

    def close(self) -> None:
        """Takes in no more changes."""
        self._store.feed.unsubscribe(self._feed)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, key: ObjectRef) -> TimelineItem:
        return self._shared[key] if is_shared(key) else self._items[key]

    def standing(self, key: ObjectRef) -> LaneStanding:
        return self._standings[key]

    def called(self, key: ObjectRef) -> str:
        """The name of a lane; one that several share says how many of them there are tonight."""
        if not is_shared(key):
            return key.name
        number = self.nights[key.context, key.namespace].runs_tonight(key)
        return f"non-admin, {number} nab" if key.kind == NAB.name else f"by hand, {number}"

    def subject(self, key: ObjectRef) -> ObjectRef | None:
        """The object that a lane stands for: of those that share one, the run at work, the next, or the last."""
        if not is_shared(key):
            return key
        run = self.nights[key.context, key.namespace].next_run(key)
        if run is None:
            return None
        if run.owner.kind is OwnerKind.NAB:
            return ObjectRef(key.context, NAB.name, run.owner.namespace, run.owner.name)
        return ObjectRef(key.context, BACKUP.name, key.namespace, run.name)

    def place(self, key: ObjectRef, near: int = 0) -> int | None:
        """The place in the order; it is looked for near a place first."""
        if 0 <= near < len(self.order) and self.order[near] == key:
            return near
        return self.order.index(key) if key in self._standings and self._fits(key) else None

    @property
    def items(self) -> Iterable[TimelineItem]:
        return self._items.values()

    @property
    def filter_text(self) -> str:
        return self._wanted.source

    def narrow(self, text: str) -> None:
        """Shows the lanes that fit; a filter that cannot be read is refused, and the old one stays."""
        self._wanted = parse_filter(text, self.fields, typing=True)
        self._arrange()

    def look_at(self, focus: ViewScope) -> None:
        """Shows the lanes of one namespace or cluster only."""
        if focus != self._focus:
            self._focus = focus
            self._arrange()

    def pump(self, now: datetime | None = None) -> None:
        """Takes in what changed since, and which runs have passed."""
        changed = [self._put(key, item) for key, item in self._changes()]
        first, self._now = self._now is None and now is not None, now
        if any(changed):
            self.revision += 1
        if any(changed) or first or (now is not None and self._soonest is not None and self._soonest < now):
            self._arrange()

    def _planned(self, context: str) -> Iterator[tuple[ObjectRef, TimelineItem | None]]:
        for kind in LANES:
            for key, resource in self._store.items(context, kind):
                yield key, timeline_item(key, resource, self._readings)

    def _changes(self) -> Iterator[tuple[ObjectRef, TimelineItem | None]]:
        """The changes; every lane of a cluster where it has become known how its server reads expressions."""
        drained = self._feed.drain()
        before, self._verdicts = self._verdicts, self._known_verdicts() if drained else self._verdicts
        for context in self._contexts:
            if before[context] != self._verdicts[context]:
                yield from self._planned(context)
                self.changes.update(server for server in self.servers() if server[0] == context)
        for key, change in drained.items():
            if key.kind in LANES:
                yield key, timeline_item(key, change.after, self._readings)
            if key.kind != PRESCALED.name and _is_news(change.before, change.after):
                self.changes[key.context, key.namespace] += 1
            if key.kind == SCHEDULE.name and _plan_of(change.before) != _plan_of(change.after):
                self.plans[key.context, key.namespace] += 1

    def _known_verdicts(self) -> dict[str, Verdicts]:
        return {context: self._store.snapshot(context).verdicts for context in self._contexts}

    def _readings(self, context: str, schedule: Schedule) -> tuple[Reading, ...]:
        return self._store.snapshot(context).readings(schedule)

    def _put(self, key: ObjectRef, item: TimelineItem | None) -> bool:
        if key.context not in self._contexts or item == self._items.get(key):
            return False
        if item is None:
            del self._items[key]
        else:
            self._items[key] = item
        return True

    def _arrange(self) -> None:
        now = self._now
        self._standings = {key: self._stand(item) for key, item in (*self._items.items(), *self._shared.items())}
        fitting = [key for key in self._standings if self._fits(key)]
        self.order = sorted(fitting, key=self._rank)
        coming = (standing.at for standing in self._standings.values() if standing.group is not LaneGroup.RUNNING)
        self._soonest = min(
            (moment for moment in coming if moment is not None and now is not None and moment >= now), default=None
        )

    def _stand(self, item: TimelineItem) -> LaneStanding:
        key, now = item.key, self._now
        night = self.nights.get((key.context, key.namespace))
        if now is None or item.problem:
            return LaneStanding(LaneGroup.NEVER)
        if night is None:
            return lane_standing(item, (), (), now)
        return lane_standing(item, night.foreseen.get(key, ()), night.ended.get(key, ()), now)

    def _rank(self, key: ObjectRef) -> tuple[int, datetime, str, str, str, str]:
        standing = self._standings[key]
        return standing.group, standing.at or _NEVER, key.name, key.namespace, key.context, key.kind

    def _fits(self, key: ObjectRef) -> bool:
        if not self._focus.keeps(*key[:3]) and not self._has_tenant(key):
            return False
        return not self._wanted or self._wanted(_Sides(self[key], self._store, self._sharers(key)))

    def _has_tenant(self, key: ObjectRef) -> bool:
        """True if the namespace that is looked at has made a backup of the NABs' lane."""
        if key.kind != NAB.name or self._focus.context not in ("", key.context):
            return False
        return any(run.owner.namespace == self._focus.namespace for run in self._runs(key))

    def _runs(self, key: ObjectRef) -> tuple[ForeseenRun | PastRun, ...]:
        night = self.nights.get((key.context, key.namespace))
        return (*night.foreseen.get(key, ()), *night.ended.get(key, ())) if night is not None else ()

    def _sharers(self, key: ObjectRef) -> str:
        """The backups of a lane that several share, so that a tenant is found; "" of a lane with a name."""
        runs = self._runs(key) if is_shared(key) else ()
        return " ".join(f"{run.owner.namespace}/{run.owner.name or run.name}" for run in runs)


def _is_news(before: Resource | None, after: Resource | None) -> bool:
    """True if a change makes another night: progress and the checks of a storage location do not."""
    match before, after:
        case Backup(), Backup():
            return _moments(before) != _moments(after)
        case DataMovement(), DataMovement():
            return before.stage != after.stage
        case BackupStorageLocation(), BackupStorageLocation():
            return before.status.phase != after.status.phase or before.spec != after.spec
        case _:
            return True


def _plan_of(schedule: Resource | None) -> tuple[object, ...]:
    """All that people write of a schedule; its annotations have the end of a pause."""
    return (schedule.spec, schedule.metadata.annotations) if isinstance(schedule, Schedule) else ()


def _moments(run: Backup) -> tuple[object, ...]:
    return run.phase, run.status.start_timestamp, run.status.completion_timestamp


class _Sides(msgspec.Struct, frozen=True):
    """The texts that a filter looks at."""

    item: TimelineItem
    store: Store
    sharers: str

    def text(self) -> str:
        context, _, namespace, name = self.item.key
        shared = "non-admin nab" if self.item.key.kind == NAB.name else "by hand"
        return f"{context} {namespace} {name or shared} {self.item.expression} {self.sharers}".lower()

    def contains(self, word: str) -> bool:
        return word in self.text()

    def field(self, name: str) -> str:
        context, _, namespace, own = self.item.key
        paused = "true" if self.item.paused else "false"
        sides = {"context": context, "namespace": namespace, "name": own, "cron": self.item.expression}
        return {**sides, "paused": paused}.get(name, "")

    def labels(self) -> Mapping[str, str]:
        resource = self.store.get(self.item.key)
        return resource.metadata.labels if resource is not None else {}
