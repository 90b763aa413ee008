"""A drill under way: restore, comparison, note and deletion, and the quotas that may prevent it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.actions.plan_executor import Outcome, PlanExecutor, Result
from foretop_core.actions.planners.downloads import RunFile
from foretop_core.actions.plans import Plan, Planner, PlanStep, Refusal
from foretop_core.actions.run_files import run_file
from foretop_core.errors import ActionRefused, ForetopError
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models import Backup, Resource, Restore, decode
from foretop_core.models.kinds import CONFIG_MAP, RESOURCE_QUOTA, kind_of_ref
from foretop_core.models.velero import DRILL_LABEL
from foretop_core.models.wire import Metadata, ObjectRef
from foretop_core.rooms.drills.leftovers import (
    DELETED_IN_ORDER,
    JOBS,
    DrillRecord,
    DrillReport,
    LeftDrill,
    LeftObject,
    Proof,
    compared,
    deletion_line,
    ended_jobs,
    labelled_objects,
    left_drills,
    proof_of,
    read_resource_list,
    read_restored_list,
)
from foretop_core.rooms.drills.planners import (
    DrillRequest,
    MadeObject,
    drill_records,
    find_backup,
    plan_cleanup,
    plan_note,
)
from foretop_core.rules import humanize
from foretop_core.rules.phases import ENDED
from foretop_core.rules.protection.copies import DrillOutcome
from foretop_core.rules.schedule_history import run_length
from foretop_core.rules.snapshot import ClusterSnapshot

_STORAGE = "requests.storage"


class ResourceQuota(msgspec.Struct):
    """A quota with what it allows and what it counts."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    status: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)

    @property
    def used(self) -> dict[str, Any]:
        return self.status.get("used", {})

    def __str__(self) -> str:
        hard = self.status.get("hard", {})
        parts = [f"{name} {self.used.get(name, '0')} of {most}" for name, most in hard.items()]
        return f"{self.metadata.name} ({', '.join(parts) or 'not counted yet'})"


class _QuotaList(msgspec.Struct):
    items: list[ResourceQuota] | None = None


async def quotas_of(client: ApiClient, namespace: str) -> list[ResourceQuota]:
    """None of them where they may not be read."""
    try:
        answer = await client.request("GET", api_paths.collection(RESOURCE_QUOTA, namespace))
        return answer.read(_QuotaList).items or []
    except ForetopError:
        return []


def quota_sentence(namespace: str, quotas: list[ResourceQuota]) -> str:
    """A sentence on what the quotas of the namespace mean for its drill; "" where it has none.

    A drill restores neither quotas nor limit ranges, and starts no pod: only volumes take room.
    """
    if not quotas:
        return ""
    names = humanize.join([quota.metadata.name for quota in quotas])
    lead = f"The quota {names} of {namespace} is" if len(quotas) == 1 else f"The quotas {names} of {namespace} are"
    taken = next((used for quota in quotas if (used := quota.used.get(_STORAGE))), "")
    room = f"; its volumes take up to {taken} of storage once more" if taken else ""
    return f"{lead} not restored and cannot stop the drill{room}."


def prevention(namespace: str, quotas: list[ResourceQuota]) -> str:
    """The quota that may have kept something from being restored in a drill; "" for nothing."""
    if not quotas:
        return ""
    return f"{namespace} got a quota that may have prevented it: {humanize.join([str(quota) for quota in quotas])}"


_EACH = 0.25
_GONE_WITHIN = 120.0
"""Seconds. Velero's finalizer holds a restore, and the content of a namespace holds the namespace."""


class _FoundList(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


class DrillResult(msgspec.Struct, frozen=True):
    """The result of a drill, and how long its restore took."""

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
        """Sends the plan step by step, and stops at the first that fails; returns why it did, "" where none did.

        What the journal does not have in the end is made, and stops the drill too: nobody could delete it later.
        """
        for step in plan.steps:
            part = Plan(plan.record, plan.at, (step,))
            try:
                (result,) = [result async for result in self.executor.carry_out(part, _unchanged(part))]
            except ForetopError as problem:
                return f"{step.target} was not created: {problem}"
            if result.outcome is not Outcome.DONE:
                return f"{step.target} {_not_made(result.outcome)}: {result.error or result.outcome.value}"
            if result.answer:
                self.made.append(decode(MadeObject, result.answer))
            if result.error:
                return f"{step.target} was created, and the drill stopped: {result.error}"
        return ""

    async def wait(self, limit: timedelta, tell: Callable[[str], None]) -> str:
        """Until the restore has ended; returns why it did not, "" where it did."""
        text = ""
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
            if restore is not None and (news := _progress(restore)) != text:
                text = news
                tell(news)
            await asyncio.sleep(_EACH)
        return f"it did not end within {int(limit.total_seconds() // 60)} minutes"

    async def report(self, problem: str) -> DrillReport:
        """Counts what came, by kind; without Velero's lists the comparison is missing, and that is said."""
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
        drill_report = compared(expected, restored, self.request.kinds, phase, problem, ended)
        if not any(count.is_short for count in drill_report.counts):
            return drill_report
        prevented = prevention(self.request.into, await quotas_of(self.executor.client, self.request.into))
        return replace(drill_report, problem="; ".join(filter(None, (problem, prevented))))

    @property
    def took(self) -> timedelta:
        """From the start of the restore to its end, as Velero wrote them."""
        restore = self._restore(self.executor.snapshot())
        return (run_length(restore) if restore is not None else None) or timedelta()

    async def _note(self, outcome: DrillOutcome) -> str:
        """On the Backup, where it is still there; the journal has it either way."""
        snapshot = self.executor.snapshot()
        backup = find_backup(snapshot, self.backup)
        if backup is None:
            return ""

        def planned(_snapshot: ClusterSnapshot, items: Iterable[Backup], _at: datetime) -> Plan:
            return plan_note(snapshot, next(iter(items)), self.request, outcome, outcome.at)

        plan = planned(snapshot, [backup], outcome.at)
        failed = [
            result async for result in self.executor.carry_out(plan, planned) if result.outcome is not Outcome.DONE
        ]
        return failed[0].error if failed else ""

    def _restore(self, snapshot: ClusterSnapshot) -> Restore | None:
        key = (self.backup.namespace, self.request.into)
        return next((item for item in snapshot.restores if (item.namespace, item.name) == key), None)

    def _lost(self, snapshot: ClusterSnapshot) -> str:
        if find_backup(snapshot, self.backup) is None:
            return f"the backup {self.backup.name} was deleted meanwhile"
        location = snapshot.location(self.backup.namespace, self.backup.spec.storage_location)
        if location is None or location.phase == "Unavailable":
            return f"the storage location {self.backup.spec.storage_location or 'default'} is no longer available"
        return ""


async def require_journal(executor: PlanExecutor, namespace: str) -> None:
    """Raises ActionRefused before the first write: without a journal nothing of the drill could be deleted again."""
    try:
        await executor.journal.check_in_thread()
        await _records(executor)
    except ForetopError as problem:
        why = f"{problem.what}: {problem.why}" if problem.why else problem.what
        raise ActionRefused(f"Cannot drill {namespace}", why, problem.hint) from None


async def leftovers(executor: PlanExecutor) -> tuple[LeftDrill, ...]:
    """All that carries the label of a drill, with what the journal proves of it; raises where that cannot be read."""
    snapshot = executor.snapshot()
    records = await _records(executor)
    objects = list(labelled_objects(snapshot))
    noted = {record.target.namespace for record in records if record.target.kind == CONFIG_MAP.name}
    for namespace in sorted(noted.union(snapshot.velero_namespaces)):
        async for item in _labelled(executor, api_paths.collection(CONFIG_MAP, namespace)):
            objects.append((ObjectRef(snapshot.context, CONFIG_MAP.name, item.namespace, item.name), item))
    return left_drills(objects, records, executor.clock.now())


async def _records(executor: PlanExecutor) -> tuple[DrillRecord, ...]:
    return drill_records(await executor.journal.read_in_thread())


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


async def plan_deletion(executor: PlanExecutor, wanted: Iterable[MadeObject | LeftObject]) -> Plan:
    """Deletes what of these is still there and is proven, the restore first; what is not proven is refused.

    What is being deleted already, or is gone, needs no request.
    """
    context, records = executor.snapshot().context, await _records(executor)
    objects, refused = [], []
    for target, uid in sorted(
        (_identity(context, item) for item in wanted), key=lambda one: DELETED_IN_ORDER.index(one[0].kind)
    ):
        now = await _now(executor, target, uid)
        if now is None or now.metadata.deletion_timestamp is not None:
            continue
        proof, _ = proof_of(target, now.metadata.uid, now.label(DRILL_LABEL), records)
        if proof is Proof.OWN:
            objects.append(now)
        else:
            refused.append(unproven(target, proof))
    return replace(plan_cleanup(context, objects, executor.clock.now()), refused=tuple(refused))


def unproven(target: ObjectRef, proof: Proof) -> Refusal:
    """Why an object is left alone, with the line by which a person deletes it."""
    return Refusal(target, f"{proof.value}; it is left alone, delete it with: {deletion_line(target)}")


def _identity(context: str, item: MadeObject | LeftObject) -> tuple[ObjectRef, str]:
    if isinstance(item, LeftObject):
        return item.target, item.uid
    return ObjectRef(context, item.kind, item.namespace, item.name), item.metadata.uid


def deletion_planner(plan: Plan) -> Planner:
    """For what somebody else wrote meanwhile: it is deleted only while it has the label of its drill."""
    drills = {step.target: step.drill for step in plan.steps}

    def again(snapshot: ClusterSnapshot, items: Iterable[Resource], now: datetime) -> Plan:
        fresh = plan_cleanup(snapshot.context, items, now)
        return replace(fresh, steps=tuple(step for step in fresh.steps if drills.get(step.target) == step.drill))

    return again


async def delete_made(
    executor: PlanExecutor, plan: Plan, tell: Callable[[Result], None] | None = None, dry_run: bool = False
) -> list[str]:
    """Deletes, and waits until all is gone: returns what is still there and why, in one line each."""
    failed, accepted = [], []
    async for result in executor.carry_out(plan, deletion_planner(plan), dry_run):
        if tell is not None:
            tell(result)
        if result.outcome is Outcome.DONE:
            accepted.append(result.step)
        else:
            failed.append(f"{result.step.target} is still there: {result.error or result.outcome.value}")
    return failed + (await _still_there(executor, accepted) if not dry_run else [])


async def _still_there(executor: PlanExecutor, deleted: list[PlanStep]) -> list[str]:
    """An accepted deletion is not yet a gone object: a finalizer, or the content of a namespace, may hold it."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _GONE_WITHIN
    while True:
        looks = [(step.target, await _now(executor, step.target, step.uid)) for step in deleted]
        remaining = [(target, now) for target, now in looks if now is not None]
        if not remaining or loop.time() >= end:
            return [f"{target} is still being deleted{_held_by(now)}" for target, now in remaining]
        await asyncio.sleep(_EACH)


def _held_by(item: MadeObject) -> str:
    finalizers = item.metadata.finalizers
    return f": held by {humanize.join(finalizers)}" if finalizers else ""


async def _labelled(executor: PlanExecutor, path: str) -> AsyncIterator[Resource]:
    """One that cannot be read costs itself only; where they may not be listed, there are none to tell of."""
    try:
        answer = await executor.client.request("GET", path, {"labelSelector": DRILL_LABEL})
        raws = answer.read(_FoundList).items or []
    except ForetopError:
        return
    for raw in raws:
        with suppress(ForetopError):
            item = decode(Resource, raw)
            if item.label(DRILL_LABEL) and item.metadata.deletion_timestamp is None:
                yield item


def _not_made(outcome: Outcome) -> str:
    return "may have been created" if outcome is Outcome.UNKNOWN else "was not created"


def _unchanged(plan: Plan) -> Planner:
    """New objects depend on nothing that could have changed."""
    return lambda _snapshot, _items, _at: plan


def _progress(restore: Restore) -> str:
    items = restore.status.progress
    counted = f", {items.done:,} of {items.total_items:,} items" if items is not None else ""
    return f"{restore.phase or 'New'}{counted}"
