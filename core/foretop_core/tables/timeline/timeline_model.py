"""Which lanes the calendar has, in order and narrowed, kept up to date change by change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

import msgspec

from foretop_core.models import Schedule
from foretop_core.models.kinds import VERSION_KINDS
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.cron_dialects import Reading
from foretop_core.rules.snapshot import Verdicts
from foretop_core.store import Store
from foretop_core.tables.engine.filter import Filter, parse_filter
from foretop_core.tables.engine.view_scope import ViewScope
from foretop_core.tables.timeline.lanes import LANES, TimelineItem, next_runs, timeline_item

_NEVER = datetime.max.replace(tzinfo=UTC)


class TimelineModel:
    """The lanes of all clusters, kept up to date change by change."""

    fields = ("context", "namespace", "name", "cron", "paused")

    def __init__(self, store: Store, contexts: Sequence[str]) -> None:
        self._store = store
        self._contexts = frozenset(contexts)
        self._feed = store.feed.subscribe((*LANES, *VERSION_KINDS))
        self._verdicts = self._known_verdicts()
        self._items: dict[ObjectRef, TimelineItem] = {}
        self._runs: dict[ObjectRef, datetime] = {}
        self._soonest: datetime | None = None
        self._now: datetime | None = None
        self._wanted = Filter()
        self._focus = ViewScope()
        self.order: list[ObjectRef] = []
        """The lanes that fit the filter: what starts next comes first, then what is paused or never runs, by name."""
        self.revision = 0
        """Moves whenever a lane has come, gone or changed what it is drawn from."""
        for context in contexts:
            for key, item in self._planned(context):
                self._put(key, item)
        self._arrange()

    def close(self) -> None:
        """Takes in no more changes."""
        self._store.feed.unsubscribe(self._feed)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, key: ObjectRef) -> TimelineItem:
        return self._items[key]

    def place(self, key: ObjectRef, near: int = 0) -> int | None:
        """Where in the order it stands; it is looked for near a place first."""
        if 0 <= near < len(self.order) and self.order[near] == key:
            return near
        return self.order.index(key) if key in self._items and self._fits(key) else None

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
        """What has changed; every lane of a cluster where it has become known how its server reads expressions."""
        drained = self._feed.drain()
        before, self._verdicts = self._verdicts, self._known_verdicts() if drained else self._verdicts
        for context in self._contexts:
            if before[context] != self._verdicts[context]:
                yield from self._planned(context)
        for key, change in drained.items():
            if key.kind in LANES:
                yield key, timeline_item(key, change.after, self._readings)

    def _known_verdicts(self) -> dict[str, Verdicts]:
        return {context: self._store.snapshot(context).verdicts for context in self._contexts}

    def _readings(self, context: str, schedule: Schedule) -> tuple[Reading, ...]:
        return self._store.snapshot(context).readings(schedule)

    def _put(self, key: ObjectRef, item: TimelineItem | None) -> bool:
        if key.context not in self._contexts or item == self._items.get(key):
            return False
        self._runs.pop(key, None)
        if item is None:
            del self._items[key]
        else:
            self._items[key] = item
        return True

    def _arrange(self) -> None:
        fitting = [key for key in self._items if self._fits(key)]
        self.order = sorted(fitting, key=lambda key: (self._next(key), key.name, key.namespace, key.context, key.kind))
        self._soonest = min((run for key in fitting if (run := self._runs.get(key))), default=None)

    def _next(self, key: ObjectRef) -> datetime:
        """Worked out once for each run: thousands of lanes are put in order anew whenever one has started."""
        item, now = self._items[key], self._now
        if now is None or not item.starts:
            return _NEVER
        run = self._runs.get(key)
        if run is None or run < now:
            found = next_runs(item, now, 1)
            if not found:
                self._runs.pop(key, None)
                return _NEVER
            run = self._runs[key] = found[0]
        return run

    def _fits(self, key: ObjectRef) -> bool:
        if not self._focus.keeps(*key[:3]):
            return False
        return not self._wanted or self._wanted(_Sides(self._items[key], self._store))


class _Sides(msgspec.Struct, frozen=True):
    """What a filter looks at."""

    item: TimelineItem
    store: Store

    def text(self) -> str:
        context, _, namespace, name = self.item.key
        return f"{context} {namespace} {name} {self.item.expression}".lower()

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
