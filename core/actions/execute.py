"""Sends the writes of a plan, object by object, and knows exactly what was done and what was not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from core.actions.journal import Entry, Journal
from core.actions.plans import Plan, Step
from core.clock import Clock
from core.errors import ForetopError
from core.kube import paths
from core.kube.client import MERGE_PATCH, ApiClient, Response
from core.kube.failures import ApiError, Unreachable
from core.rules.words import rfc3339

MOST_TRIES = 5
"""Velero writes the same object; that often in a row it does not."""


class Outcome(StrEnum):
    DONE = "done"
    FAILED = "failed"
    CHANGED = "changed"
    """The object changed under way in a manner that changes the plan: ask again."""
    UNKNOWN = "unknown"
    """The request left, and no answer came."""


@dataclass(frozen=True, slots=True)
class Result:
    step: Step
    outcome: Outcome
    error: str = ""
    again: Step | None = None
    """What would be done now, where the plan changed."""
    answer: bytes = b""


Replan = Callable[[Step], Awaitable[Step | None]]
"""Reads the object afresh and plans the same wish again; None where it can no longer be granted."""


@dataclass(frozen=True, slots=True)
class Executor:
    """One person's hand in one cluster."""

    client: ApiClient
    journal: Journal
    clock: Clock
    user: str
    dry_run: bool = False
    """Ask the server to check every write and make none."""

    async def run(self, plan: Plan, replan: Replan) -> AsyncIterator[Result]:
        """A step that fails does not stop the others; one that changed is handed back, never forced."""
        for step in plan.steps:
            yield await self._carry_out(step, replan)

    async def _carry_out(self, step: Step, replan: Replan) -> Result:
        current = step
        for _ in range(MOST_TRIES):
            try:
                response = await self._send(current)
            except ApiError as problem:
                if problem.status != 409 or step.write.method != "PATCH":
                    return self._noted(current, Result(step, Outcome.FAILED, str(problem)))
                fresh = await replan(current)
                if fresh is None or not fresh.same_as(step):
                    return Result(step, Outcome.CHANGED, "it was changed by somebody else meanwhile", fresh)
                current = fresh
            except Unreachable as problem:
                return self._noted(current, Result(step, Outcome.UNKNOWN, str(problem)))
            except ForetopError as problem:
                return Result(step, Outcome.FAILED, str(problem))
            else:
                return self._noted(current, Result(step, Outcome.DONE, answer=response.body))
        return Result(step, Outcome.FAILED, f"it was changed by somebody else {MOST_TRIES} times in a row")

    async def _send(self, step: Step) -> Response:
        target, write = step.target, step.write
        params = {"fieldManager": "foretop", **({"dryRun": "All"} if self.dry_run else {})}
        if write.method == "POST":
            return await self.client.request(
                "POST", paths.collection(target.kind, target.namespace), params, write.body
            )
        path = paths.item(target.kind, target.namespace, target.name)
        if write.method == "DELETE":
            return await self.client.request(
                "DELETE", path, {k: v for k, v in params.items() if k == "dryRun"}, write.body
            )
        return await self.client.request("PATCH", path, params, write.body, MERGE_PATCH)

    def _noted(self, step: Step, result: Result) -> Result:
        if not self.dry_run:
            self.journal.append(self._entry(step, result))
        return result

    def _entry(self, step: Step, result: Result) -> Entry:
        target = step.target
        return Entry(
            at=rfc3339(self.clock.now()) or "",
            user=self.user,
            context=target.context,
            kind=target.kind.name,
            namespace=target.namespace,
            name=target.name,
            method=step.write.method,
            before=step.write.before,
            patch=step.write.body,
            result=result.outcome.value if not result.error else f"{result.outcome.value}: {result.error}",
        )
