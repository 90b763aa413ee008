"""The means by which the screen acts: plans for several clusters, the executor of each, the watch for undone writes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial

import msgspec

from foretop_core.actions.action_record import ActionRecord
from foretop_core.actions.journal import Journal, default_path
from foretop_core.actions.plan_executor import PlanExecutor, Result, login, whoami
from foretop_core.actions.planners.downloads import Run
from foretop_core.actions.plans import Plan, Planner, PlanStep, Refusal
from foretop_core.actions.run_logs import RunLog
from foretop_core.config.protection import NO_PROTECTION, Protection
from foretop_core.config.settings import DEFAULT_SETTINGS
from foretop_core.dashboard.session_protocol import ClusterSession
from foretop_core.dashboard.undone_watch import undone_entry, watch_for_undoing
from foretop_core.errors import ActionRefused, ForetopError
from foretop_core.kube.connection.client import ApiClient
from foretop_core.logs import logger
from foretop_core.models import Backup, NonAdmin, Resource
from foretop_core.models.wire import ObjectRef, UnreadableObject
from foretop_core.rules.facts.namespace_facts import ProtectionLimits
from foretop_core.rules.facts.run_facts import QueueLine, queue_line
from foretop_core.rules.own_failures import failure_line
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.undone import UndoneChange

_MOST_CHARACTERS = 64_000_000
"""Of all logs together; the oldest go first, and one that is longer is fetched again when it is wanted again."""


class SessionDownloads:
    """Consent to create DownloadRequests, cluster by cluster, and the logs that have come."""

    def __init__(self) -> None:
        self._agreed: dict[str, frozenset[str]] = {}
        self._logs: dict[ObjectRef, tuple[object, RunLog]] = {}

    def agree(self, context: str, confirmed: frozenset[str] = frozenset()) -> None:
        """From now on DownloadRequests are created in this cluster without asking, by the names that were typed."""
        self._agreed[context] = confirmed

    def is_agreed(self, context: str, wanted: str) -> bool:
        """True if they are, also where this name is to be typed: a cluster may have become protected since."""
        return context in self._agreed and (not wanted or wanted in self._agreed[context])

    def confirmed(self, context: str) -> frozenset[str]:
        return self._agreed.get(context, frozenset())

    def keep_log(self, key: ObjectRef, item: Run | NonAdmin, log: RunLog) -> None:
        """A partial log is not kept: more of it may come."""
        if log.partial:
            return
        self._logs.pop(key, None)
        self._logs[key] = (_version(item), log)
        while sum(kept.size for _, kept in self._logs.values()) > _MOST_CHARACTERS:
            del self._logs[next(iter(self._logs))]

    def log(self, key: ObjectRef, item: Run | NonAdmin | None) -> RunLog | None:
        """The log that was fetched before, unless the object has changed since."""
        kept = self._logs.get(key)
        return kept[1] if kept is not None and item is not None and kept[0] == _version(item) else None


def _version(item: Run | NonAdmin) -> object:
    status = (item.state, item.velero.status) if isinstance(item, NonAdmin) else item.status
    return item.metadata.uid, status


_log = logger(__name__)

_LINE_HOLDS = timedelta(minutes=1)


class TrackedPlan(msgspec.Struct, frozen=True):
    """A plan of the screen; each step knows the row that it was asked for."""

    plan: Plan
    origins: tuple[ObjectRef, ...] = ()

    def origin(self, step: PlanStep) -> ObjectRef | None:
        return next((key for key, mine in zip(self.origins, self.plan.steps, strict=False) if mine is step), None)


class ActionService:
    """Nothing here decides: what is planned, asked and sent is the business of `foretop_core.actions`."""

    def __init__(
        self,
        source: ClusterSession,
        environ: Mapping[str, str],
        tell_undone: Callable[[UndoneChange], None] | None = None,
        tell_sending: Callable[[], None] | None = None,
        tell_done: Callable[[Result], None] | None = None,
        tell_failed: Callable[[str, ObjectRef, Exception], object] | None = None,
    ) -> None:
        """`tell_undone` hears of every write that somebody undoes within five minutes, `tell_sending` before the
        first of a plan, `tell_done` of every write, `tell_failed` of a watch that has failed."""
        self.source = source
        self._tell_undone = tell_undone
        self._tell_sending = tell_sending
        self._tell_done = tell_done
        self._tell_failed = tell_failed
        self._watched: dict[ObjectRef, asyncio.Task[None]] = {}
        self.undone: dict[ObjectRef, UndoneChange] = {}
        """What was put back since it was last written here."""
        self.unwatched: dict[ObjectRef, str] = {}
        """Objects that are not watched for that any more, and why."""
        self._environ = environ
        self._clusters = source.clusters
        self._users: dict[str, str] = {}
        self._confirmed: frozenset[str] = frozenset()
        self._queue_lines: dict[tuple[str, str], tuple[ClusterSnapshot, tuple[str, ...], datetime, QueueLine]] = {}
        self.downloads = SessionDownloads()
        self.zone: tzinfo = UTC
        self.gap = ProtectionLimits().gap
        self.shifts: tuple[Sequence[str], tzinfo] = (DEFAULT_SETTINGS.shift_ends, UTC)
        """The times of day at which shifts end, and their zone."""

    def reach(self, context: str) -> bool:
        return context in self._clusters

    def snapshot(self, context: str) -> ClusterSnapshot:
        return self.source.store.snapshot(context)

    def queue_line(self, context: str, namespace: str, planned: Sequence[Backup] = ()) -> QueueLine:
        """The line of a server, with the planned backups as if they were made now.

        It is worked out again when its objects, the planned backups or the minute have changed.
        """
        snapshot, now = self.snapshot(context), self.now(context)
        kept, asked = self._queue_lines.get((context, namespace)), tuple(run.name for run in planned)
        if kept is None or kept[0] is not snapshot or kept[1] != asked or now - kept[2] >= _LINE_HOLDS:
            line = queue_line(snapshot, namespace, now, planned=planned)
            kept = self._queue_lines[context, namespace] = (snapshot, asked, now, line)
        return kept[3]

    def basis(self, contexts: Sequence[str]) -> object:
        """All that plans are made of: while it is the same, so are they."""
        store = self.source.store
        clusters = [(store.revision(name), self.now(name).replace(second=0, microsecond=0)) for name in contexts]
        return store.health.revision, clusters, self.protections(contexts), set(self.undone), set(self.unwatched)

    def now(self, context: str) -> datetime:
        """In the reader's zone, which the sentences of a plan are written in."""
        return self.source.clock(context).now().astimezone(self.zone)

    def item(self, key: ObjectRef) -> Resource | None:
        resource = self.source.store.get(key)
        return None if isinstance(resource, UnreadableObject) else resource

    def is_read_only(self, contexts: Sequence[str]) -> bool:
        return any(protection.read_only for protection in self.protections(contexts))

    def protections(self, contexts: Sequence[str]) -> tuple[Protection, ...]:
        """The protection of each of these contexts, as far as they are reached and have any."""
        reached = [name for name in dict.fromkeys(contexts) if name in self._clusters]
        protections = [self._clusters[name].client.protection for name in reached]
        return tuple(protection for protection in protections if protection != NO_PROTECTION)

    def with_confirmed(self, names: Iterable[str]) -> ActionService:
        """The same service for writes that a person has confirmed by these names, and for no others."""
        service = copy(self)
        service._confirmed = frozenset(names)
        return service

    def client(self, context: str) -> ApiClient:
        return self._clusters[context].client

    def plan(self, record: ActionRecord, planner: Planner, keys: Sequence[ObjectRef]) -> TrackedPlan:
        """Plans the writes of the action for each of these objects as the store shows them now."""
        steps: list[PlanStep] = []
        origins: list[ObjectRef] = []
        refused: list[Refusal] = []
        warnings: dict[str, None] = {}
        moment = self.now(keys[0].context)
        parts: dict[str | ObjectRef, dict[ObjectRef, Resource]] = {}
        for key in keys:
            item = self.item(key)
            if item is None:
                refused.append(Refusal(key, "it no longer exists"))
            else:
                parts.setdefault(key.context if record.planned_together else key, {})[key] = item
        for part in parts.values():
            context = next(iter(part)).context
            now = moment if context == keys[0].context else self.now(context)
            made = planner(self.snapshot(context), list(part.values()), now)
            steps += made.steps
            origins += part if record.planned_together else list(part) * len(made.steps)
            refused += made.refused
            warnings |= dict.fromkeys(made.warnings)
        return TrackedPlan(Plan(record, moment, tuple(steps), tuple(refused), tuple(warnings)), tuple(origins))

    def plan_beside(self, record: ActionRecord, planner: Planner, contexts: Iterable[str]) -> TrackedPlan:
        """Plans writes in these clusters that are asked of no object: what is new, or written beside it."""
        plans = [planner(self.snapshot(name), (), self.now(name)) for name in contexts]
        steps = tuple(step for plan in plans for step in plan.steps)
        refused = tuple(refusal for plan in plans for refusal in plan.refused)
        warnings = tuple(warning for plan in plans for warning in plan.warnings)
        return TrackedPlan(Plan(record, plans[0].at, steps, refused, warnings))

    async def refusal(self, plan: Plan, *, confirmed: bool = False) -> str:
        """The reason against sending it: read-only, or a right that is missing; "" where there is none.

        Of what a person has `confirmed`, also that a name is wanted by now that they were not asked for.
        """
        for context in plan.contexts:
            try:
                executor = self.executor(context)
                await (executor.permit if confirmed else executor.guard)(plan.part(context))
            except ActionRefused as problem:
                return str(problem)
            except ForetopError as problem:
                return f"Cannot check your permissions in {context}: {problem}"
        return ""

    def note_sending(self, plan: Plan) -> None:
        """Writes of one's own are on their way: what they change, nobody else puts back.

        They end the watches of earlier ones now, for the change may be seen long before its answer counts.
        """
        if self._tell_sending is not None:
            self._tell_sending()
        for step in plan.steps:
            self._end_watch(step.target)

    def _end_watch(self, target: ObjectRef) -> None:
        if (watch := self._watched.pop(target, None)) is not None:
            watch.cancel()

    def note_done(self, result: Result) -> None:
        """A write was made: it is watched until it is undone or five minutes have passed."""
        target = result.step.target
        if self._tell_done is not None:
            self._tell_done(result)
        self._end_watch(target)
        self.undone.pop(target, None)
        self.unwatched.pop(target, None)
        if self._tell_undone is not None:
            task = self._watched[target] = asyncio.create_task(self._watch_for_undoing(result))
            task.add_done_callback(lambda done: self._forget(target, done))

    def _forget(self, target: ObjectRef, task: asyncio.Task[None]) -> None:
        if self._watched.get(target) is task:
            del self._watched[target]

    async def _watch_for_undoing(self, result: Result) -> None:
        target = result.step.target
        try:
            await self._look_for_undoing(result)
        except Exception as problem:
            _log.exception("the watch for who undoes a write to %s failed", target)
            self.unwatched[target] = failure_line(problem)
            if self._tell_failed is not None:
                self._tell_failed("watching for who undoes a write", target, problem)

    async def _look_for_undoing(self, result: Result) -> None:
        change = await watch_for_undoing(self.source, result)
        if change is None or self._tell_undone is None:
            return
        self.undone[change.target] = change
        self._tell_undone(change)
        with contextlib.suppress(ForetopError):
            await Journal(default_path(self._environ)).append_in_thread(undone_entry(change))

    def executor(self, context: str) -> PlanExecutor:
        cluster = self._clusters[context]
        return PlanExecutor(
            cluster.client,
            cluster.access,
            self.source.clock(context),
            Journal(default_path(self._environ)),
            self.user(context),
            partial(self.snapshot, context),
            confirmed=self._confirmed,
        )

    def user(self, context: str) -> str:
        """The user who acts there, as far as it has been asked."""
        return self._users.get(context) or login(self._environ)

    def knows_user(self, context: str) -> bool:
        return context in self._users

    async def learn_user(self, context: str) -> None:
        if context not in self._users:
            self._users[context] = await whoami(self._clusters[context].client, self._environ)
