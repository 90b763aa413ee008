"""The state shared by all pages: the store, the time of each cluster, its render context, and the findings."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import chain
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from foretop_core.actions.step_builders import owner_warning
from foretop_core.config.settings import DEFAULT_SETTINGS
from foretop_core.dashboard.background_reads import BackgroundReads
from foretop_core.dashboard.related_objects import object_of
from foretop_core.dashboard.session_protocol import ClusterSession
from foretop_core.errors import let_through
from foretop_core.kube.watching.watch_sink import UNSEEN, WatchHealth, WatchScope, WatchState
from foretop_core.logs import logger
from foretop_core.models import DataMovement
from foretop_core.models.kinds import NAB, NAMESPACE, NAR, REPOSITORY
from foretop_core.models.wire import ObjectRef, Resource, UnreadableObject, as_json, is_earlier
from foretop_core.rules.facts.pause_facts import PauseSummary, pause_summary
from foretop_core.rules.night.night import likely_night
from foretop_core.rules.night.outlook import next_waits
from foretop_core.rules.own_failures import Failure, problem_text
from foretop_core.rules.snapshot import ClusterSnapshot, VisibilityGap
from foretop_core.rules.triage import (
    Debounced,
    Finding,
    Severity,
    Thresholds,
    Triage,
    aggregated,
    debounce,
    failure_finding,
    rank,
    triage,
    ungathered,
    with_acknowledgements,
)
from foretop_core.rules.triage.guarded import Rule
from foretop_core.rules.undone import UndoneChange, put_back, undone_finding
from foretop_core.store import ContextHealth, Store
from foretop_core.store.background_reader import BackgroundReader, Beside
from foretop_core.tables.engine.render_context import NextWaits, RenderContext, RenderContextFactory
from foretop_core.tables.engine.view_scope import ViewScope
from foretop_core.tables.resources.protection import ProtectionRow, protection_row
from foretop_core.tables.resources.visibility_findings import (
    is_visibility_finding,
    unreadable_findings,
    visibility_findings,
)
from foretop_core.tables.text.times import TimeZoneSetting

T = TypeVar("T")
_log = logger(__name__)
_MOST = 50
_FORGOTTEN_AFTER = timedelta(minutes=10)
"""A failure at no object, such as an action's, is old news then."""


class FailureLog:
    """A failure at an object stays until the object changes; `revision` moves when there is a new one."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[tuple[str, ObjectRef | None], tuple[Failure, Resource | None, datetime]] = {}
        self.revision = 0

    def note(self, what: str, context: str, subject: ObjectRef | None, problem: BaseException, at: datetime) -> Failure:
        failure = Failure(context, what, subject, problem_text(problem))
        known = self._kept.pop((what, subject), None)
        self._kept[what, subject] = (failure, self._store.get(subject) if subject else None, at)
        if known is None or known[0] != failure:
            self.revision += 1
            _log.error("%s", failure, exc_info=problem)
        while len(self._kept) > _MOST:
            del self._kept[next(iter(self._kept))]
        return failure

    def of(self, context: str, now: datetime) -> tuple[Failure, ...]:
        """The failures that still count in one cluster."""
        for place, (failure, item, at) in list(self._kept.items()):
            changed = item is not None and failure.subject is not None and self._store.get(failure.subject) is not item
            if changed or (item is None and now - at > _FORGOTTEN_AFTER):
                del self._kept[place]
        return tuple(failure for failure, _, _ in self._kept.values() if failure.context == context)


_LOOK_AGAIN = timedelta(seconds=10)
_SOONEST = timedelta(seconds=1)
_SHARE, _IDLE_SHARE = 40, 300
"""Judging everything takes its time in a large cluster: it gets a fortieth of it at most, and where nothing
changed and only time has passed, much less."""


_AWAITED = 10.0
"""Seconds in which a write of one's own is waited for: its watch may be broken, or there is none."""
_PATIENCE = 20.0
"""Seconds after which what has come in is judged, however much is still to come."""
_NEVER = (datetime.min.replace(tzinfo=UTC), (-1, -1))


class _AwaitedWrite(NamedTuple):
    """A write of one's own that no look has seen yet."""

    version: str
    was_there: bool
    until: float

    def is_shown(self, item: Resource | None) -> bool:
        """True if the object has come in as of this version, or is gone."""
        if item is None:
            return self.was_there or not self.version
        shown = item.metadata.resource_version
        return shown == self.version or is_earlier(self.version, shown)


class _Gathered(NamedTuple):
    """The findings of one cluster as lines of a screen, and by their subjects, parted by whether they are known."""

    findings: tuple[Finding, ...] = ()
    acknowledged: tuple[Finding, ...] = ()
    about: Mapping[ObjectRef, Sequence[Finding]] = {}  # never written to
    known_about: Mapping[ObjectRef, Sequence[Finding]] = {}  # never written to
    has_open: bool = False
    """Some are not known, be they lines or need no action."""


_NOTHING_GATHERED = _Gathered()


class _Judgement(NamedTuple):
    """The outcome of one look at a cluster, and the seconds of a processor that it took."""

    triage: Triage
    settled: Debounced
    gathered: _Gathered
    waits: NextWaits
    pauses: PauseSummary
    took: float


class DashboardState:
    """One beat of the pump sees one moment: everything drawn in it is of the same second."""

    def __init__(
        self,
        source: ClusterSession,
        ticks: Callable[[], float],
        reads: BackgroundReads | None = None,
        beside: Beside | None = None,
        thresholds: Thresholds | None = None,
    ) -> None:
        """`reads` are what rooms read of this machine; `beside` keeps long work out of the way of a frame."""
        self.source = source
        self.contexts = source.contexts
        self.zoning = TimeZoneSetting()
        self.focus = ViewScope()
        self.thresholds = thresholds or Thresholds()
        self.shift_ends = DEFAULT_SETTINGS.shift_ends
        self.findings: tuple[Finding, ...] = ()
        """The findings that are not acknowledged."""
        self.acknowledged: tuple[Finding, ...] = ()
        """Those that are known, each with its acknowledgement."""
        self.unseen: tuple[VisibilityGap, ...] = ()
        self.ended_movements: dict[ObjectRef, tuple[DataMovement, ...]] = {}
        """By backup or restore that has ended, its data movements, once they were listed: they are not watched."""
        self.findings_revision = 0
        """The revision of the findings: higher whenever a new look at the clusters found something else."""
        self._others: _Gathered = _Gathered()
        """The findings that no look at a cluster has made: of what is not seen, not judged, or was undone."""
        self._severities: tuple[object, dict[str, Mapping[Severity, int]]] = (None, {})
        self._ticks = ticks
        self._reads = reads
        self._beside = beside
        self._readers: dict[str, BackgroundReader] = {}
        self._judgements: deque[tuple[str, Callable[[], _Judgement]]] = deque()
        """Those that were made beside the event loop, and are not taken up yet."""
        self._judging: set[str] = set()
        """The clusters that are being judged there."""
        self._undone: tuple[UndoneChange, ...] = ()
        self._blind: frozenset[str] = frozenset()
        """The ids of the last findings about what is not visible."""
        self._context_factories = {context: self._factory(context) for context in source.contexts}
        self._render_contexts: dict[str, tuple[int, RenderContext]] = {}
        self._clocks: dict[str, datetime] = {}
        self._places: tuple[int, tuple[str, ...]] = (-1, ())
        self._healths: dict[str, tuple[int, ContextHealth]] = {}
        """By cluster, as of a revision of its watches."""
        self._settled: dict[str, Debounced] = {}
        self._lines: dict[str, _Gathered] = {}
        self._replaced: list[tuple[str, tuple[object, ...]]] = []
        """What the last judgements of clusters are made of that others have replaced: pages may still show it."""
        self._snapshots: dict[str, ClusterSnapshot] = {}
        """Of each cluster the one that was judged last."""
        self._pauses: dict[str, PauseSummary] = {}
        self._failed_rules: dict[str, tuple[Failure, ...]] = {}
        self._failed_judging: dict[str, tuple[Failure, ...]] = {}
        self._log = FailureLog(source.store)
        self._gathered = 0
        self._first_look = set(source.contexts)
        self._judged: dict[str, tuple[datetime, tuple[int, int]]] = {}
        self._began = self._took = 0.0
        self._awaited: dict[ObjectRef, _AwaitedWrite] = {}
        """The writes of one's own that no look has seen yet: the version of each, and until when it is waited for."""
        self._opened = ticks()

    def take_contexts(self) -> None:
        """The session watches another context from now on."""
        new = [context for context in self.source.contexts if context not in self._context_factories]
        self._context_factories |= {context: self._factory(context) for context in new}
        self._first_look.update(new)
        self._opened = self._ticks()
        self.contexts = self.source.contexts

    def _factory(self, context: str) -> RenderContextFactory:
        if self._beside is not None:
            self._readers[context] = BackgroundReader(self.store, context, self._beside)
        return RenderContextFactory(self.store, context, self._readers.get(context))

    async def read(self, context: str, work: Callable[[ClusterSnapshot], T]) -> T:
        """Tells what comes of work over all objects of a cluster: where they are many, done beside the event loop."""
        reader = self._readers.get(context)
        if reader is None or not reader.is_large:
            return work(self.store.snapshot(context))
        return await reader.read(work)

    async def read_beside(self, context: str, work: Callable[[ClusterSnapshot], T]) -> T:
        """The same beside the event loop, however few there are."""
        reader = self._readers.get(context)
        return await reader.read(work) if reader is not None else work(self.store.snapshot(context))

    @property
    def store(self) -> Store:
        return self.source.store

    @property
    def zone(self) -> tzinfo:
        """The zone of times that belong to no object."""
        return self.zoning.zone

    def begin_frame(self) -> None:
        """A new moment begins."""
        self._clocks.clear()
        self._render_contexts.clear()

    def clock(self, context: str = "") -> datetime:
        """The time of a cluster, or of the first one."""
        where = context or self.contexts[0]
        if where not in self._clocks:
            self._clocks[where] = self.source.clock(where).now()
        return self._clocks[where]

    def now(self, context: str = "") -> datetime:
        """The moment that the facts of a cluster are of: they stand still while nothing comes in.

        Without a context it is that of the first one that is not lost.
        """
        where = context or next((name for name in self.contexts if self.health(name).lost_at is None), self.contexts[0])
        lost = self.health(where).lost_at
        return self.clock(where) if lost is None else min(lost, self.clock(where))

    def health(self, context: str) -> ContextHealth:
        revision = self.store.health.revision_of(context)
        if context not in self._healths or self._healths[context][0] != revision:
            self._healths[context] = revision, self.store.health.context(context)
        return self._healths[context][1]

    def signed_out(self) -> tuple[str, ...]:
        """The clusters that wait for a person to sign in, and whose plugin can ask one."""
        waiting = (name for name in self.contexts if self.health(name).state is WatchState.SIGNED_OUT)
        return tuple(name for name in waiting if self.source.can_sign_in(name))

    def places(self) -> tuple[str, ...]:
        """The namespaces whose tenants are looked at, as far as rights reach; none means all of them."""
        if self.source.namespaces:
            return self.source.namespaces
        if self._places[0] != self.store.health.revision:
            self._places = (self.store.health.revision, _places(self.store.health.watches()))
        return self._places[1]

    def is_stale(self, key: ObjectRef) -> bool:
        """Nothing new comes in of this object."""
        health = self.health(key.context)
        return health.lost_at is not None or key.kind in health.stale

    def render_context(self, context: str) -> RenderContext:
        """The same one while a frame is drawn; a key that comes between two gets the objects as they are by then.

        What the store keeps change by change is for them alone: for older ones it would be worked out from all objects.
        """
        revision = self.store.revision(context)
        held = self._render_contexts.get(context)
        if held is None or held[0] != revision:
            made = self._context_factories[context].render_context(self.now(context), self.zoning, self.thresholds)
            held = self._render_contexts[context] = revision, made
        return held[1]

    def protection(self, key: ObjectRef) -> ProtectionRow | None:
        """The protection of a namespace, which may be deleted; None where nothing is known of it."""
        return protection_row(self.store, key, self.store.snapshot(key.context).protection)

    def zone_of(self, key: ObjectRef | None) -> tzinfo:
        """In which zone the times of an object are told."""
        return self.zone if key is None else self.render_context(key.context).zone_of(self.store.get(key))

    def render_context_of(self, finding: Finding) -> RenderContext:
        """In the zone of its subject; what stands still tells its own age all the same."""
        render = self.render_context(finding.context)
        if is_visibility_finding(finding):
            return replace(render, now=self.clock(finding.context))
        zone = self.zone_of(object_of(finding))
        return render if zone is self.zone else replace(render, zoning=replace(self.zoning, zone=zone))

    def findings_about(self, key: ObjectRef) -> Sequence[Finding]:
        """The findings whose subject is this object, the acknowledged ones last."""
        others, judged = self._others, self._lines.get(key.context, _NOTHING_GATHERED)
        return (
            *others.about.get(key, ()),
            *judged.about.get(key, ()),
            *others.known_about.get(key, ()),
            *judged.known_about.get(key, ()),
        )

    def findings_to_fix(self, key: ObjectRef) -> Sequence[Finding]:
        """The findings whose remedies help an object: of a namespace first those about repositories not ready."""
        row = self.protection(key) if key.kind == NAMESPACE.name else None
        unready = row.protection.unready if row is not None else ()
        causes = (ObjectRef(key.context, REPOSITORY.name, one.namespace, one.name) for one in unready)
        return (*(one for cause in causes for one in self.findings_about(cause)), *self.findings_about(key))

    def pauses(self, context: str) -> PauseSummary:
        """The paused and the overdue schedules of a cluster, as of the last look at it."""
        return self._pauses.get(context, PauseSummary())

    def severities(self, context: str = "") -> Mapping[Severity, int]:
        """How many of each, in the namespace and the cluster that are looked at, or in one cluster of them."""
        basis = self.findings_revision, self.focus
        if self._severities[0] != basis:
            self._severities = basis, {}
        counts = self._severities[1].get(context)
        if counts is None:
            shown = ungathered(self.findings) if self.focus.namespace else self.findings
            among = (one for one in shown if one.context == context) if context else shown
            found = (one for one in among if self.focus.keeps(one.context, one.subject.kind, one.subject.home))
            counted = Counter(one.severity for one in found)
            counts = self._severities[1][context] = {grade: counted[grade] for grade in Severity}
        return counts

    def judge(self, *, at_once: bool = False) -> None:
        """Looks for what is wrong, where something changed or time has passed."""
        # The clock of an archive goes as a person wants it: that is no jump.
        watched = [context for context in self.contexts if not self.origins((context,))]
        looked = {context: self.store.look(context, self.clock(context)) for context in watched}
        # What is of a lost cluster stands still, whatever the clock does.
        jumped = {context for context in watched if looked[context] and self.health(context).lost_at is None}
        self._let_go()
        is_new = bool(self._judgements)
        while self._judgements:
            context, judgement = self._judgements.popleft()
            self._judging.discard(context)
            self._took = self._take_safely(context, judgement)
        # However long the rules take, and rest after it: that a cluster is lost is told in that second.
        blind = frozenset(finding.id for finding in self._visibility())
        if is_new or (self._gathered, self._blind) != (self._log.revision, blind):
            self._blind = blind
            self._gather()
        began = self._ticks()
        changed = any(self._judged.get(context, _NEVER)[1] != self._version(context) for context in self.contexts)
        is_awaited = any(began < one.until for one in self._awaited.values())
        rest = max(
            _SOONEST.total_seconds() / 2, 0.0 if is_awaited else self._took * (_SHARE if changed else _IDLE_SHARE)
        )
        at_rest = began < self._began + rest and not at_once
        # Whatever rests: the first look at a cluster, of which nothing is known before, a jump of its clock, after
        # which nothing is known any more, and the end of a window.
        first = {
            context for context in self.contexts if not self.was_judged(context) and not self._is_coming_in(context)
        }
        soon = first.union(jumped, (context for context in self.contexts if self._has_window_ended(context)))
        idle = (context for context in self.contexts if context not in self._judging)
        due = [context for context in idle if context in soon or (not at_rest and (at_once or self._is_due(context)))]
        for context in due:
            self._take_safely(context, partial(self._judge, context))
        if due:
            if not self._judging.issuperset(due):
                self._gather()
            self._began, self._took = began, self._ticks() - began
            for target, write in list(self._awaited.items()):
                if write.until <= began or (target.context in due and write.is_shown(self.store.get(target))):
                    del self._awaited[target]

    def _let_go(self) -> None:
        for context, things in self._replaced:
            if context in self._readers:
                self._readers[context].let_go(things)
        self._replaced.clear()

    def note_write(self, target: ObjectRef, version: str) -> None:
        """A write of one's own was made: no look rests until one has seen it. What is deleted has no version."""
        was_there = self.store.get(target) is not None
        self._awaited[target] = _AwaitedWrite(version, was_there, self._ticks() + _AWAITED)

    @property
    def has_judged(self) -> bool:
        """True if every cluster was judged once; before that nothing is known to be well."""
        return all(map(self.was_judged, self.contexts))

    def was_judged(self, context: str) -> bool:
        return context in self._settled or context in self._failed_judging

    @property
    def has_loaded(self) -> bool:
        """True if all that comes in with the first lists was judged; what is found after that is new."""
        return not self._first_look

    @property
    def version(self) -> tuple[object, ...]:
        """Moves whenever there is something new to draw, the passing of time not counted."""
        return self.findings_revision, *(self._version(context) for context in self.contexts)

    def _version(self, context: str) -> tuple[int, int]:
        return self.store.revision(context), self.store.health.revision_of(context)

    def _is_due(self, context: str) -> bool:
        if context not in self._judged:
            return True
        at, version = self._judged[context]
        passed = abs(self.clock(context) - at)
        # The clock of an archive stands still.
        is_soon = timedelta() < passed < _SOONEST
        return passed >= _LOOK_AGAIN or (not is_soon and version != self._version(context))

    def origins(self, contexts: Iterable[str]) -> tuple[str, ...]:
        """The archives in the place of these clusters, each with its date; none for clusters."""
        clients = (self.source.clusters[name].client for name in contexts if name in self.source.clusters)
        return tuple(dict.fromkeys(client.origin for client in clients if client.origin))

    @property
    def moves_in_time(self) -> bool:
        """True where recordings are shown, which can be taken to another moment."""
        return any(cluster.client.moves_in_time for cluster in self.source.clusters.values())

    @property
    def is_moving(self) -> bool:
        """True while they are on their way there."""
        return any(cluster.client.is_moving for cluster in self.source.clusters.values())

    def _has_window_ended(self, context: str) -> bool:
        """True if a window of paused schedules is over since the last look: who relies on it is told in that second."""
        windows, (looked, _) = self.pauses(context).windows, self._judged.get(context, _NEVER)
        until = windows[0].pause.until if windows else None
        return until is not None and looked <= until < self.now(context)

    def note_failure(self, what: str, subject: ObjectRef | None, problem: BaseException) -> Failure:
        """A row, a pane or an action failed: Triage lists it from the next look on."""
        context = subject.context if subject is not None and subject.context in self.contexts else self.contexts[0]
        return self._log.note(what, context, subject, problem, self.clock(context))

    def failures(self, context: str) -> tuple[Failure, ...]:
        """The failures to judge or show something in one cluster."""
        judging = (*self._failed_judging.get(context, ()), *self._failed_rules.get(context, ()))
        return (*judging, *self._log.of(context, self.clock(context)))

    def _take_safely(self, context: str, judge: Callable[[], _Judgement | None]) -> float:
        """Takes up a judgement; a failure leaves the other clusters alone, its last findings stay, and it is named."""
        try:
            judgement = judge()
            if judgement is not None:
                self._take(context, judgement)
        except Exception as problem:
            let_through(problem)
            failed = (Failure(context, "judging", None, problem_text(problem)),)
            if failed != self._failed_judging.get(context):
                _log.error("judging %s failed", context, exc_info=problem)
            self._failed_judging[context] = failed
            return 0.0
        if judgement is not None:
            self._failed_judging.pop(context, None)
            return judgement.took
        return 0.0

    def _judge(self, context: str) -> _Judgement | None:
        """None where it is made beside the event loop, or too little has come in for one."""
        now = self.now(context)
        self._judged[context] = (self.clock(context), self._version(context))
        if self._is_coming_in(context):
            return None
        snapshot = self._snapshots[context] = self.store.snapshot(context)
        # What comes in with the first list has not just begun: it is shown at once, as is any moment of an archive.
        is_at_once = context in self._first_look or bool(self.origins((context,)))
        held = None if is_at_once else self._settled.get(context)
        more_rules = self._reads.rules(snapshot) if self._reads is not None else ()
        look = partial(
            _look,
            now=now,
            clock=self.clock(context),
            limits=self.thresholds,
            held=held,
            lines=self._lines.get(context, _NOTHING_GATHERED),
            more_rules=more_rules,
        )
        reader = self._readers.get(context)
        if reader is None or not reader.is_large:
            return look(snapshot)
        self._judging.add(context)
        reader.do(look, lambda outcome: self._judgements.append((context, outcome)))
        return None

    def _take(self, context: str, judgement: _Judgement) -> None:
        for failure in set(judgement.triage.failures).difference(self._failed_rules.get(context, ())):
            _log.error("%s", failure)
        self._failed_rules[context] = judgement.triage.failures
        self._context_factories[context].waits = judgement.waits
        settled, gathered = self._settled.get(context), self._lines.get(context, _NOTHING_GATHERED)
        before = () if settled is None else (settled.shown, settled.held_since, settled.gone_since)
        self._replaced.append((context, (*before, *gathered, judgement.triage.findings)))
        self._settled[context], self._pauses[context] = judgement.settled, judgement.pauses
        self._lines[context] = judgement.gathered
        if self.health(context).state is not WatchState.SYNCING:
            self._first_look.discard(context)

    def _is_coming_in(self, context: str) -> bool:
        """Half of the objects makes wrong findings: a NAB whose Backup is on the next page is not lost."""
        if context not in self._first_look or self._ticks() - self._opened > _PATIENCE:
            return False
        return self.health(context).state is WatchState.SYNCING

    def note_undone(self, undone: UndoneChange) -> None:
        """Triage lists it for as long as it lasts."""
        self._undone = (*self._undone, undone)
        self._gather()

    def _undone_findings(self) -> tuple[Finding, ...]:
        self._undone = tuple(filter(self._is_still_undone, self._undone))
        latest = {one.target: one for one in self._undone}
        found = []
        for one in latest.values():
            item = self._object(one.target)
            found.append(undone_finding(one, owner_warning(item) if item is not None else ""))
        return tuple(found)

    def _is_still_undone(self, undone: UndoneChange) -> bool:
        """True if the object still is what it was put back to, and that is as recent as a failure that is listed."""
        item = self._object(undone.target)
        if item is None or self.clock(undone.target.context) - undone.at >= self.thresholds.recent_failure:
            return False
        return not undone.fields or bool(put_back(undone.fields, as_json(item)))

    def _gather(self) -> None:
        self._gathered = self._log.revision
        judged = [self._lines.get(context, _NOTHING_GATHERED) for context in self.contexts]
        not_judged = self._not_judged()
        undone = self._undone_findings()
        blind = self._not_seen(some=bool(any(one.has_open for one in judged) or not_judged or undone))
        others, known_others = _parted((*blind, *not_judged, *undone), self._judged_snapshot, self.clock)
        self._others = _Gathered((), (), _by_subject(others), _by_subject(known_others))
        shown = (*others, *_merged([one.findings for one in judged]))
        acknowledged = (*known_others, *_merged([one.acknowledged for one in judged]))
        unseen = tuple(gap for context in self.contexts for gap in self._unseen(context))
        if (shown, acknowledged, unseen) != (self.findings, self.acknowledged, self.unseen):
            self.findings, self.acknowledged, self.unseen = shown, acknowledged, unseen
            self.findings_revision += 1

    def _judged_snapshot(self, context: str) -> ClusterSnapshot:
        return self._snapshots.get(context, ClusterSnapshot(context))

    def _object(self, key: ObjectRef) -> Resource | None:
        found = self.store.get(key)
        return None if isinstance(found, UnreadableObject) else found

    def _unseen(self, context: str) -> tuple[VisibilityGap, ...]:
        if context in self._failed_judging:
            return tuple(failure.gap for failure in self._failed_judging[context])
        return self.store.snapshot(context).unseen

    def _not_judged(self) -> tuple[Finding, ...]:
        """Shown at once and for as long as it lasts: without it, fewer findings would look like health."""
        return tuple(
            finding
            for context in self.contexts
            for finding in (
                *(failure_finding(failure) for failure in self.failures(context)),
                *unreadable_findings(context, self.store.unreadable),
            )
        )

    def _visibility(self) -> Iterator[Finding]:
        for context in self.contexts:
            seen_before = self.store.revision(context) > 0
            yield from visibility_findings(context, self.health(context), self.clock(context), seen_before=seen_before)

    def _not_seen(self, *, some: bool) -> tuple[Finding, ...]:
        """Stands among the findings; where there are none, the calm page tells at length what was not seen."""
        blind = tuple(self._visibility())
        all_lost = all(self.health(context).lost_at is not None for context in self.contexts)
        grave = any(finding.severity is not Severity.NOTE for finding in blind)
        return blind if some or (grave and not all_lost) else ()


def _look(
    snapshot: ClusterSnapshot,
    now: datetime,
    clock: datetime,
    limits: Thresholds,
    held: Debounced | None,
    lines: _Gathered,
    more_rules: Sequence[Rule],
) -> _Judgement:
    began = time.thread_time()
    found = triage(snapshot, now, limits, more_rules=more_rules)
    settled, waits = debounce(held, found.findings, now, limits), _next_waits(snapshot, now)
    pauses = pause_summary(snapshot, now, limits.overdue)
    gathered = _gathered(settled.shown.values(), snapshot, clock, lines)
    return _Judgement(found, settled, gathered, waits, pauses, time.thread_time() - began)


def _gathered(findings: Iterable[Finding], snapshot: ClusterSnapshot, clock: datetime, before: _Gathered) -> _Gathered:
    """Lines that are as before are those before, so that whoever compares them need not look at what they gather."""
    open_ones, known = _parted(findings, lambda _: snapshot, lambda _: clock)
    lines, acknowledged = aggregated(open_ones), aggregated(known)
    return _Gathered(
        before.findings if lines == before.findings else lines,
        before.acknowledged if acknowledged == before.acknowledged else acknowledged,
        _by_subject(ungathered(lines)),
        _by_subject(ungathered(acknowledged)),
        bool(open_ones),
    )


def _parted(
    findings: Iterable[Finding], snapshot_of: Callable[[str], ClusterSnapshot], now_in: Callable[[str], datetime]
) -> tuple[list[Finding], list[Finding]]:
    """The findings that are not acknowledged, and those that are."""
    parts: tuple[list[Finding], list[Finding]] = ([], [])
    for finding in with_acknowledgements(findings, snapshot_of, now_in):
        parts[finding.acknowledged is not None].append(finding)
    return parts


def _by_subject(findings: Iterable[Finding]) -> Mapping[ObjectRef, Sequence[Finding]]:
    about: dict[ObjectRef, list[Finding]] = {}
    for finding in findings:
        about.setdefault(finding.subject, []).append(finding)
    return about


def _merged(lines: Sequence[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """The lines of several clusters, worst first."""
    some = [one for one in lines if one]
    return some[0] if len(some) == 1 else tuple(sorted(chain.from_iterable(some), key=rank))


def _next_waits(snapshot: ClusterSnapshot, now: datetime) -> NextWaits:
    """Taken from the night that the rules have just played; where that fails, Triage names it already."""
    try:
        return {
            namespace: next_waits(likely_night(snapshot, namespace, now))
            for namespace in snapshot.schedules_by_namespace
        }
    except Exception as problem:
        let_through(problem)
        return {}


def _places(watches: Iterable[tuple[WatchScope, WatchHealth]]) -> tuple[str, ...]:
    tenants = [(scope.namespace, health.state) for scope, health in watches if scope.kind in (NAB, NAR)]
    if any(not namespace for namespace, _ in tenants):
        return ()
    allowed = {namespace for namespace, state in tenants if state not in UNSEEN}
    return tuple(sorted(allowed or {namespace for namespace, _ in tenants}))
