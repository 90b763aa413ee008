"""A drill under way: what it made, how its restore goes, what came of it, and what an earlier one left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from foretop_core.actions.drill_quotas import prevention, quotas_of
from foretop_core.actions.drills import DrillRequest, MadeObject, find_backup, is_of_drill, plan_cleanup, plan_note
from foretop_core.actions.plan_executor import PlanExecutor
from foretop_core.actions.plan_sender import Outcome
from foretop_core.actions.plans import Plan, Planner, PlanStep
from foretop_core.actions.run_files import RunFile, run_file
from foretop_core.errors import ForetopError
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models import Backup, Restore, decode
from foretop_core.models.kinds import CONFIG_MAP, NAMESPACE, RESTORE, kind_of_ref
from foretop_core.models.wire import Metadata, ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.phases import ENDED
from foretop_core.rules.protection.copies import DrillOutcome
from foretop_core.rules.protection.drill_report import (
    JOBS,
    DrillReport,
    compared,
    ended_jobs,
    read_resource_list,
    read_restored_list,
)
from foretop_core.rules.protection.protection_index import DRILL_LABEL
from foretop_core.rules.snapshot import ClusterSnapshot

_EACH = 0.25
_GONE_WITHIN = 120.0
"""Seconds. Velero's finalizer holds a restore, and the content of a namespace holds the namespace."""
_DELETED_IN_ORDER = (RESTORE.name, CONFIG_MAP.name, NAMESPACE.name)


class _Found(msgspec.Struct):
    metadata: Metadata = msgspec.field(default_factory=Metadata)


class _FoundList(msgspec.Struct):
    items: list[_Found] | None = None


class DrillResult(msgspec.Struct, frozen=True):
    """What came of a drill, and how long its restore took."""

    report: DrillReport
    took: timedelta
    not_noted: str = ""
    """Why the outcome is not on the Backup; "" where it is, or where there is nothing to note."""

    def sentence(self, namespace: str, backup: str) -> str:
        """The outcome in one line."""
        if self.report.failed:
            return f"Drill of {namespace} failed: {self.report.failed}"
        return f"{namespace} came back from {backup} in {humanize.duration(self.took)}"


class DrillRun(msgspec.Struct):
    """One drill in one cluster; whatever fails is told in one line, and what was made stays known."""

    executor: PlanExecutor
    backup: Backup
    request: DrillRequest
    made: list[MadeObject] = msgspec.field(default_factory=list)

    async def carry_out(self, plan: Plan, limit: timedelta, tell: Callable[[str], None]) -> DrillResult:
        """Makes what is planned, waits for the restore, compares, and notes the outcome on the Backup."""
        if problem := await self.make(plan):
            return DrillResult(DrillReport((), (), "", problem), timedelta())
        report = await self.report(await self.wait(limit, tell))
        took = self.took
        return DrillResult(report, took, await self._note(DrillOutcome(self.executor.clock.now(), took, report.failed)))

    async def make(self, plan: Plan) -> str:
        """Sends the plan step by step, and stops at the first that fails; returns why it did, "" where none did."""
        for step in plan.steps:
            part = Plan(plan.intent, plan.at, (step,))
            async for result in self.executor.carry_out(part, _unchanged(part)):
                if result.outcome is not Outcome.DONE:
                    return f"{step.target} was not created: {result.error or result.outcome.value}"
                self.made.append(await self._as_made(step, result.answer))
        return ""

    async def wait(self, limit: timedelta, tell: Callable[[str], None]) -> str:
        """Until the restore has ended; returns why it did not, "" where it did."""
        told = ""
        loop = asyncio.get_running_loop()
        end = loop.time() + limit.total_seconds()
        while loop.time() < end:
            snapshot = self.executor.snapshot()
            restore = self._restore(snapshot)
            if restore is not None and restore.phase in ENDED:
                failed = "; ".join(restore.status.validation_errors) or restore.status.failure_reason
                return (self._lost(snapshot) or failed) if failed else ""
            if problem := self._lost(snapshot):
                return problem
            if restore is not None and (news := _progress(restore)) != told:
                told = news
                tell(news)
            await asyncio.sleep(_EACH)
        return f"it did not end within {int(limit.total_seconds() // 60)} minutes"

    async def report(self, problem: str) -> DrillReport:
        """What came, counted by kind; without Velero's lists the comparison is missing, and that is said."""
        restore = self._restore(self.executor.snapshot())
        phase = restore.phase if restore is not None else ""
        if self._lost(self.executor.snapshot()):
            return DrillReport((), (), phase, problem)
        restored: dict[str, int] = {}
        expected: dict[str, int] = {}
        ended = 0
        try:
            body = await run_file(self.executor, self.backup, RunFile.RESOURCES, None, None)
            expected = dict(read_resource_list(body, self.request.namespace))
            if restore is not None:
                body = await run_file(self.executor, restore, RunFile.RESOURCES, None, None)
                restored = dict(read_restored_list(body, (self.request.namespace, self.request.into)))
                if restored.get(JOBS, 0) < expected.get(JOBS, 0):
                    ended = ended_jobs(await run_file(self.executor, restore, RunFile.LOG, None, None))
        except ForetopError as failure:
            problem = "; ".join(filter(None, (problem, f"not compared: {failure}")))
        found = compared(expected, restored, self.request.kinds, phase, problem, ended)
        if not any(one.is_short for one in found.counts):
            return found
        prevented = prevention(self.request.into, await quotas_of(self.executor.client, self.request.into))
        return replace(found, problem="; ".join(filter(None, (problem, prevented))))

    @property
    def took(self) -> timedelta:
        """From the start of the restore to its end, as Velero wrote them."""
        restore = self._restore(self.executor.snapshot())
        begun = restore.status.start_timestamp if restore is not None else None
        ended = restore.status.completion_timestamp if restore is not None else None
        return ended - begun if begun is not None and ended is not None else timedelta()

    async def _note(self, outcome: DrillOutcome) -> str:
        """On the Backup, where it is still there; the journal has it either way."""
        snapshot = self.executor.snapshot()
        known = find_backup(snapshot, self.backup)
        if known is None:
            return ""
        space = self.request.namespace

        def planned(_snapshot: ClusterSnapshot, items: Iterable[Backup], _at: datetime) -> Plan:
            return plan_note(snapshot, next(iter(items)), space, outcome, outcome.at)

        plan = planned(snapshot, [known], outcome.at)
        failed = [one async for one in self.executor.carry_out(plan, planned) if one.outcome is not Outcome.DONE]
        return failed[0].error if failed else ""

    def _restore(self, snapshot: ClusterSnapshot) -> Restore | None:
        wanted = (self.backup.namespace, self.request.into)
        return next((item for item in snapshot.restores if (item.namespace, item.name) == wanted), None)

    def _lost(self, snapshot: ClusterSnapshot) -> str:
        if find_backup(snapshot, self.backup) is None:
            return f"the backup {self.backup.name} was deleted meanwhile"
        location = snapshot.location(self.backup.namespace, self.backup.spec.storage_location)
        if location is None or location.phase == "Unavailable":
            return f"the storage location {self.backup.spec.storage_location or 'default'} is no longer available"
        return ""

    async def _as_made(self, step: PlanStep, answer: bytes) -> MadeObject:
        if not answer:
            path = api_paths.item(kind_of_ref(step.target), step.target.namespace, step.target.name)
            answer = (await self.executor.client.request("GET", path)).body
        return decode(MadeObject, answer)


async def leftovers(executor: PlanExecutor) -> list[MadeObject]:
    """What drills that were cut off have left, as far as it carries their label; those still running are left alone."""
    snapshot = executor.snapshot()
    running = {item.label(DRILL_LABEL) for item in snapshot.restores if is_of_drill(item) and item.phase not in ENDED}
    found: list[MadeObject] = [
        MadeObject(metadata=_plain_meta(item.metadata), kind=RESTORE.name)
        for item in snapshot.restores
        if is_of_drill(item) and item.metadata.deletion_timestamp is None
    ]
    for namespace in snapshot.velero_namespaces:
        async for item in _labelled(executor, api_paths.collection(CONFIG_MAP, namespace)):
            found.append(MadeObject(metadata=item.metadata, kind=CONFIG_MAP.name))
    found += [
        MadeObject(metadata=_plain_meta(item.metadata), kind=NAMESPACE.name)
        for item in snapshot.namespaces or ()
        if is_of_drill(item) and item.metadata.deletion_timestamp is None
    ]
    return [item for item in found if item.label(DRILL_LABEL) not in running]


async def _now(executor: PlanExecutor, where: ObjectRef, uid: str) -> MadeObject | None:
    """The very object as it is now; None where it is gone, or where one with another uid has its name.

    Raises ForetopError where that cannot be told: what nobody can see is not gone.
    """
    try:
        path = api_paths.item(kind_of_ref(where), where.namespace, where.name)
        now = decode(MadeObject, (await executor.client.request("GET", path)).body)
    except ApiError as problem:
        if problem.status == 404 and problem.is_status:
            return None
        raise
    return now if now.metadata.uid == uid else None


async def plan_deletion(executor: PlanExecutor, made: list[MadeObject]) -> Plan:
    """Of all that is still there, the restore first; what is not labelled, or not the very object, is left alone.

    What is being deleted already needs no second request.
    """
    context = executor.snapshot().context
    found = []
    for item in sorted(made, key=lambda item: _DELETED_IN_ORDER.index(item.kind)):
        now = await _now(executor, ObjectRef(context, item.kind, item.namespace, item.name), item.metadata.uid)
        if now is not None and is_of_drill(now) and now.metadata.deletion_timestamp is None:
            found.append(now)
    return plan_cleanup(context, found, executor.clock.now())


async def delete_made(executor: PlanExecutor, plan: Plan) -> list[str]:
    """Deletes, and waits until all is gone: returns what is still there and why, in one line each."""

    def again(_snapshot: ClusterSnapshot, items: Iterable[MadeObject], now: datetime) -> Plan:
        return plan_cleanup(executor.snapshot().context, items, now)

    failed, accepted = [], []
    async for one in executor.carry_out(plan, again):
        if one.outcome is Outcome.DONE:
            accepted.append(one.step)
        else:
            failed.append(f"{one.step.target} is still there: {one.error or one.outcome.value}")
    return failed + await _still_there(executor, accepted)


async def _still_there(executor: PlanExecutor, deleted: list[PlanStep]) -> list[str]:
    """An accepted deletion is not yet a gone object: a finalizer, or the content of a namespace, may hold it."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _GONE_WITHIN
    while True:
        found = [(step.target, await _now(executor, step.target, step.uid)) for step in deleted]
        held = [(target, now) for target, now in found if now is not None]
        if not held or loop.time() >= end:
            return [f"{target} is still being deleted{_held_by(now)}" for target, now in held]
        await asyncio.sleep(_EACH)


def _held_by(item: MadeObject) -> str:
    finalizers = item.metadata.finalizers
    return f": held by {humanize.join(finalizers, 3)}" if finalizers else ""


async def _labelled(executor: PlanExecutor, path: str) -> AsyncIterator[_Found]:
    try:
        answer = await executor.client.request("GET", path, {"labelSelector": DRILL_LABEL})
        items = answer.read(_FoundList).items or []
    except ForetopError:
        return
    for item in items:
        yield item


def _unchanged(plan: Plan) -> Planner:
    """New objects depend on nothing that could have changed."""
    return lambda _snapshot, _items, _at: plan


def _plain_meta(meta: Metadata) -> Metadata:
    return Metadata(
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
        labels=meta.labels,
        creation_timestamp=meta.creation_timestamp,
    )


def _progress(restore: Restore) -> str:
    items = restore.status.progress
    counted = f", {items.done:,} of {items.total_items:,} items" if items is not None else ""
    return f"{restore.phase or 'New'}{counted}"
