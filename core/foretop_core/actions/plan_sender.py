"""Sends the writes of a plan, object by object, and knows exactly what was done and what was not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from foretop_core.actions.journal import Journal, JournalEntry
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.verify_write import WriteEvidence, verify_write
from foretop_core.clock import Clock
from foretop_core.errors import ForetopError
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import JSON, MERGE_PATCH, ApiClient, Response
from foretop_core.kube.connection.failures import ApiError, NotConnected, Unreachable
from foretop_core.models.kinds import kind_of_ref
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.pauses import OWN_MANAGER

MOST_TRIES = 5
"""Velero writes the same object; that often in a row it does not."""
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATIENCE = 10.0
"""Seconds in which a lost API server may come back before the rest of a plan is left."""


class Outcome(StrEnum):
    DONE = "done"
    FAILED = "failed"
    CHANGED = "changed"
    """The object changed under way in a manner that changes the plan: ask again."""
    NOT_SENT = "not sent"
    """Nothing left for the server: this one can be repeated."""
    UNKNOWN = "unknown"
    """The request left, no answer came, and the object could not be looked at afterwards."""


@dataclass(frozen=True, slots=True)
class Result:
    step: PlanStep
    outcome: Outcome
    error: str = ""
    status: int = 0
    """What the API server answered, where it refused."""
    again: PlanStep | None = None
    """What would be done now, where the plan changed."""
    answer: bytes = b""


Replan = Callable[[PlanStep], Awaitable[PlanStep | None]]
"""Reads the object afresh and plans the same wish again; None where it can no longer be granted."""


@dataclass(frozen=True, slots=True)
class PlanSender:
    """Sends the steps of a plan and judges what came of each."""

    client: ApiClient
    journal: Journal
    clock: Clock
    user: str
    dry_run: bool = False
    """Ask the server to check every write and make none."""
    patience: float = PATIENCE

    async def run(self, plan: Plan, replan: Replan) -> AsyncIterator[Result]:
        """A step that fails does not stop the others, one that changed is handed back, never forced.

        Where the API server stays away, the rest is not sent.
        """
        if not self.dry_run and not self.client.read_only:
            self.journal.check()
        gone = ""
        for step in plan.steps:
            if gone:
                yield Result(step, Outcome.NOT_SENT, gone)
                continue
            result, gone = await self._carry_out(step, replan)
            yield result

    async def _carry_out(self, step: PlanStep, replan: Replan) -> tuple[Result, str]:
        """The result, and why the server is given up, where it is."""
        current, refusal = step, ""
        for _ in range(MOST_TRIES):
            try:
                response = await self._send(current)
            except ApiError as problem:
                refusal = _in_words(problem)
                if problem.status >= 500:
                    return await self._lost(current, problem)
                if problem.status == 429 and (problem.retry_after or 0.0) <= self.patience:
                    await asyncio.sleep(1.0 if problem.retry_after is None else problem.retry_after)
                elif problem.status == 409 and step.write.method != "POST":
                    fresh = await self._planned_again(step, current, replan)
                    if not isinstance(fresh, PlanStep):
                        return fresh
                    current = fresh
                elif problem.status == 404 and step.write.method == "DELETE":
                    # Also where the transport has repeated a delete whose first answer was lost.
                    return self._noted(current, Result(step, Outcome.DONE, "it was already deleted")), ""
                else:
                    return self._noted(current, Result(step, Outcome.FAILED, refusal, problem.status)), ""
            except asyncio.CancelledError:
                self._noted(current, Result(step, Outcome.UNKNOWN, "interrupted while it was being sent"))
                raise
            except Unreachable as problem:
                return await self._lost(current, problem)
            except ForetopError as problem:
                return Result(step, Outcome.NOT_SENT, str(problem)), ""
            else:
                return self._noted(current, Result(step, Outcome.DONE, answer=response.body)), ""
        return Result(step, Outcome.NOT_SENT, f"refused {MOST_TRIES} times in a row: {refusal}"), ""

    async def _planned_again(
        self, agreed: PlanStep, current: PlanStep, replan: Replan
    ) -> PlanStep | tuple[Result, str]:
        """The same step for the object as it is now; where it is another one, it is handed back."""
        try:
            fresh = await replan(current)
        except ForetopError as problem:
            gone = str(problem) if isinstance(problem, Unreachable) else ""
            return Result(agreed, Outcome.NOT_SENT, str(problem)), gone
        if fresh is None or not fresh.same_as(agreed):
            return Result(agreed, Outcome.CHANGED, "modified by someone else in the meantime", 0, fresh), ""
        return fresh

    async def _lost(self, step: PlanStep, problem: ForetopError) -> tuple[Result, str]:
        """No answer came, or one that leaves it open: the object itself tells, and nothing is sent twice unasked."""
        found = await verify_write(self.client, step, self.patience)
        gone = "" if found.answered else str(problem)
        if isinstance(problem, NotConnected):
            return Result(step, Outcome.NOT_SENT, str(problem)), gone
        if found is WriteEvidence.DONE:
            return self._noted(step, Result(step, Outcome.DONE)), gone
        outcome = Outcome.FAILED if found is WriteEvidence.NOT_DONE else Outcome.UNKNOWN
        return self._noted(step, Result(step, outcome, str(problem))), gone

    async def _send(self, step: PlanStep) -> Response:
        target, write = step.target, step.write
        dry = {"dryRun": "All"} if self.dry_run else {}
        # Without Strict a release that lacks a field drops it without a word: an unpause would lose its skip.
        managed = {"fieldManager": OWN_MANAGER, "fieldValidation": "Strict", **dry}
        if write.method == "POST":
            path = api_paths.collection(kind_of_ref(target), target.namespace)
            return await self.client.request("POST", path, managed, write.body)
        path = api_paths.item(kind_of_ref(target), target.namespace, target.name)
        if write.method == "DELETE":
            return await self.client.request("DELETE", path, dry, write.body, JSON)
        form = MERGE_PATCH if write.form == "merge" else STRATEGIC_PATCH
        return await self.client.request("PATCH", path, managed, write.body, form)

    def _noted(self, step: PlanStep, result: Result) -> Result:
        """The write is done or refused by now: a journal that fails is told, and takes nothing back."""
        if self.dry_run:
            return result
        try:
            self.journal.append(self._entry(step, result))
        except ForetopError as problem:
            return replace(result, error="; ".join(filter(None, (result.error, str(problem)))))
        return result

    def _entry(self, step: PlanStep, result: Result) -> JournalEntry:
        target = step.target
        return JournalEntry(
            at=rfc3339(self.clock.now()) or "",
            user=self.user,
            context=target.context,
            kind=target.kind,
            namespace=target.namespace,
            name=target.name,
            method=step.write.method,
            before=step.write.before,
            patch=step.write.body,
            result=result.outcome.value if not result.error else f"{result.outcome.value}: {result.error}",
        )


def _in_words(problem: ApiError) -> str:
    if problem.status == 403:
        return f"{problem.message or problem} (ask for a role with this permission)"
    return problem.message or str(problem)
