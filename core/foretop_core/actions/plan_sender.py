"""Sends the writes of a plan, object by object, and knows exactly what was done and what was not."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from foretop_core.actions.guard import write_path
from foretop_core.actions.journal import CHANGED, NOT_SENT, SENDING, Journal, JournalEntry
from foretop_core.actions.lost_response_check import WriteEvidence, judge_write, keep_looking, verify_write
from foretop_core.actions.plans import Plan, PlanStep
from foretop_core.actions.write_answer import check_answer, read_object
from foretop_core.clock import Clock
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import MERGE_PATCH, ApiClient, Response, WritePermit
from foretop_core.kube.connection.connection_errors import ApiError, NotConnected, Unreachable
from foretop_core.logs import logger
from foretop_core.models import Resource, decode
from foretop_core.models.kinds import kind_of_ref
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.pauses import OWN_MANAGER

_log = logger(__name__)
MOST_TRIES = 5
"""Velero writes the same object; that often in a row it does not."""
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATIENCE = 10.0
"""Seconds in which a lost API server may come back before the rest of a plan is left."""

_USUAL_WAIT = 1.0
"""Seconds before a busy server that names no time is asked again."""

LOOK_FOR = 10.0
"""Seconds in which a write whose answer was lost may still show before it counts as failed."""


class Outcome(StrEnum):
    DONE = "done"
    FAILED = "failed"
    CHANGED = CHANGED
    """The object changed under way in a manner that changes the plan: ask again."""
    NOT_SENT = NOT_SENT
    """Nothing left for the server: this one can be repeated."""
    UNKNOWN = "unknown"
    """The request left, no answer came that counts, and the object does not tell what became of it."""


class Result(msgspec.Struct, frozen=True):
    step: PlanStep
    outcome: Outcome
    error: str = ""
    status: int = 0
    """What the API server answered, where it refused."""
    again: PlanStep | None = None
    """What would be done now, where the plan changed."""
    answer: bytes = b""


Replan = Callable[[PlanStep], Awaitable[PlanStep | None]]
"""Reads the object afresh and plans the same action again; None where it is refused by then."""


class _Lost(msgspec.Struct, frozen=True):
    """The request left, and its answer does not tell what came of it."""

    problem: ForetopError


class PlanSender(msgspec.Struct, frozen=True):
    """Sends the steps of a plan and judges what came of each."""

    client: ApiClient
    permit: WritePermit
    journal: Journal
    clock: Clock
    user: str
    dry_run: bool = False
    """Ask the server to check every write and make none."""
    patience: float = PATIENCE
    look_for: float = LOOK_FOR

    async def run(self, plan: Plan, replan: Replan) -> AsyncGenerator[Result, None]:
        """A step that fails does not stop the others, one that changed is handed back, never forced.

        Where the API server stays away, the rest is not sent. While it is being found out what became of a step whose
        answer was lost, the next ones are sent; the results come in the order of the plan.
        """
        if not self.dry_run and not self.client.read_only:
            await self.journal.check_in_thread()
        gone = ""
        ahead: deque[asyncio.Future[Result]] = deque()
        try:
            for step in plan.steps:
                if gone:
                    finding_out = _known(Result(step, Outcome.NOT_SENT, gone))
                else:
                    finding_out, gone = await self._carry_out(step, replan)
                ahead.append(finding_out)
                while ahead and ahead[0].done():
                    yield ahead.popleft().result()
            while ahead:
                yield await ahead[0]
                ahead.popleft()
        finally:
            for unknown in ahead:
                unknown.cancel()
            await asyncio.gather(*ahead, return_exceptions=True)

    async def _carry_out(self, step: PlanStep, replan: Replan) -> tuple[asyncio.Future[Result], str]:
        """The result, which may take a while to be known, and why the server is given up, where it is."""
        sending = _Sending(self, step)
        try:
            found = await self._send_until_answered(sending, replan)
        except asyncio.CancelledError:
            await sending.note(Result(step, Outcome.UNKNOWN, "interrupted while it was being sent"))
            raise
        if isinstance(found, _Lost):
            return await self._lost(sending, found.problem)
        result, gone = found
        return _known(await sending.note(result)), gone

    async def _send_until_answered(self, sending: _Sending, replan: Replan) -> tuple[Result, str] | _Lost:
        step, refusal = sending.agreed, ""
        if (changed := await self._source_changed(step)) is not None:
            return changed
        for _ in range(MOST_TRIES):
            try:
                await sending.intend()
            except ForetopError as problem:
                return Result(step, Outcome.NOT_SENT, str(problem)), ""
            try:
                response = await self._send(sending.current)
                check_answer(sending.current, response.body)
            except ApiError as problem:
                refusal = _in_words(problem)
                wait = _USUAL_WAIT if problem.retry_after is None else problem.retry_after
                if problem.status == 429 and wait <= self.patience:
                    await asyncio.sleep(wait)
                elif not problem.is_status or not 400 <= problem.status < 500:
                    return _Lost(problem)
                elif _is_conflict(problem) and step.write.method != "POST":
                    fresh = await self._planned_again(step, sending.current, replan)
                    if not isinstance(fresh, PlanStep):
                        return fresh
                    sending.current = fresh
                elif problem.status == 404 and step.write.method == "DELETE":
                    # Also where the transport has repeated a delete whose first answer was lost.
                    return Result(step, Outcome.DONE, "it was already deleted"), ""
                else:
                    return Result(step, Outcome.FAILED, refusal, problem.status), ""
            except (Unreachable, Unreadable) as problem:
                return _Lost(problem)
            except ForetopError as problem:
                return Result(step, Outcome.NOT_SENT, str(problem)), ""
            except Exception as problem:  # whatever it is, the write may have been made
                _log.exception("sending %s %s failed", step.write.method, step.target)
                return _Lost(ForetopError("Internal error in foretop", f"{type(problem).__name__}: {problem}"))
            else:
                return Result(step, Outcome.DONE, answer=response.body), ""
        return Result(step, Outcome.NOT_SENT, f"refused {MOST_TRIES} times in a row: {refusal}"), ""

    async def _source_changed(self, step: PlanStep) -> tuple[Result, str] | None:
        """A new object names another: the server takes it whatever has become of that one, so it is looked at first."""
        if step.source is None or not step.source.uid:
            return None
        target = step.source.target
        try:
            answer = await self.client.request(
                "GET", api_paths.item(kind_of_ref(target), target.namespace, target.name)
            )
            found = decode(kind_of_ref(target).model, answer.body)
        except ApiError as problem:
            if problem.status == 404 and problem.is_status:
                return Result(step, Outcome.CHANGED, f"{target} was deleted in the meantime"), ""
            return None if problem.status == 403 else (Result(step, Outcome.NOT_SENT, str(problem)), "")
        except ForetopError as problem:
            gone = str(problem) if isinstance(problem, Unreachable) else ""
            return Result(step, Outcome.NOT_SENT, str(problem)), gone
        if found.metadata.uid == step.source.uid:
            return None
        return Result(step, Outcome.CHANGED, f"{target} was deleted and created again in the meantime"), ""

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
            again = fresh is not None and fresh.uid != agreed.uid
            how = "deleted and created again" if again else "modified by someone else"
            return Result(agreed, Outcome.CHANGED, f"{how} in the meantime", again=fresh), ""
        return fresh

    async def _lost(self, sending: _Sending, problem: ForetopError) -> tuple[asyncio.Future[Result], str]:
        """No answer came, or none that counts: the object itself tells, and nothing is sent twice unasked."""
        step = sending.agreed
        try:
            found = await verify_write(self.client, sending.current, self.patience)
        except asyncio.CancelledError:
            await sending.note(Result(step, Outcome.UNKNOWN, str(problem)))
            raise
        gone = "" if found.answered else str(problem)
        if isinstance(problem, NotConnected):
            return _known(await sending.note(Result(step, Outcome.NOT_SENT, str(problem)))), gone
        return asyncio.ensure_future(self._found_out(sending, problem, found)), gone

    async def _found_out(self, sending: _Sending, problem: ForetopError, found: WriteEvidence) -> Result:
        """Failed only after a while in which the write has not shown: a request can outlive its connection."""
        step = sending.agreed
        try:
            if found is WriteEvidence.NOT_DONE and not self.dry_run:
                found = await keep_looking(self.client, sending.current, self.patience, self.look_for)
            answer = await self._made(sending.current) if found is WriteEvidence.DONE else b""
        except asyncio.CancelledError:
            await sending.note(Result(step, Outcome.UNKNOWN, str(problem)))
            raise
        if found is WriteEvidence.DONE:
            return await sending.note(Result(step, Outcome.DONE, answer=answer))
        outcome = Outcome.FAILED if found is WriteEvidence.NOT_DONE else Outcome.UNKNOWN
        return await sending.note(Result(step, outcome, str(problem)))

    async def _made(self, step: PlanStep) -> bytes:
        """What a drill has made where the answer was lost: its id, which nobody else knows, is on the object.

        Nothing where the object cannot be read; of other new objects nobody needs the uid.
        """
        target = step.target
        if step.write.method != "POST" or not step.drill:
            return b""
        try:
            path = api_paths.item(kind_of_ref(target), target.namespace, target.name)
            body = (await self.client.request("GET", path)).body
            found = read_object(step, body)
        except ForetopError:
            return b""
        return body if judge_write(step, found) is WriteEvidence.DONE else b""

    async def _send(self, step: PlanStep) -> Response:
        write = step.write
        dry = {"dryRun": "All"} if self.dry_run else {}
        # Without Strict a release that lacks a field drops it without a word: an unpause would lose its skip.
        managed = {"fieldManager": OWN_MANAGER, "fieldValidation": "Strict", **dry}
        path = write_path(step)
        if write.method == "POST":
            return await self.client.write(self.permit, "POST", path, managed, write.body)
        if write.method == "DELETE":
            return await self.client.write(self.permit, "DELETE", path, dry, write.body)
        form = MERGE_PATCH if write.form == "merge" else STRATEGIC_PATCH
        return await self.client.write(self.permit, "PATCH", path, managed, write.body, form)

    def entry(self, step: PlanStep, number: str, result: str, made: str = "") -> JournalEntry:
        """`made` is the uid of what the step has created."""
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
            result=result,
            id=number,
            uid=made or step.uid,
            drill=step.drill,
        )


class _Sending:
    """One step on its way: in the journal before it is sent, and again with what came of it."""

    def __init__(self, sender: PlanSender, step: PlanStep) -> None:
        self.agreed = self.current = step
        self._sender = sender
        self._id = secrets.token_hex(8)
        self._written: PlanStep | None = None

    async def intend(self) -> None:
        """Raises where it cannot be written down: it is not sent then."""
        if self._silent or self._written is self.current:
            return
        await self._sender.journal.append_in_thread(self._sender.entry(self.current, self._id, SENDING))
        self._written = self.current

    async def note(self, result: Result) -> Result:
        """The write is done or refused by now: a journal that fails is told, and takes nothing back."""
        if self._written is None:
            return result
        told = f"{result.outcome.value}: {result.error}" if result.error else result.outcome.value
        _log.info("%s %s: %s", result.step.write.method, result.step.target, told)
        try:
            made = _uid_of(result.answer) if self.current.write.method == "POST" else ""
            await self._sender.journal.append_in_thread(self._sender.entry(self.current, self._id, told, made))
        except ForetopError as problem:
            return replace(result, error="; ".join(filter(None, (result.error, str(problem)))))
        return result

    @property
    def _silent(self) -> bool:
        """A rehearsal is not in the journal, nor what read-only holds back."""
        return self._sender.dry_run or self._sender.client.read_only


def _uid_of(answer: bytes) -> str:
    """Of an object that the server has answered with."""
    try:
        return decode(Resource, answer).metadata.uid if answer else ""
    except ForetopError:
        return ""


def _known(result: Result) -> asyncio.Future[Result]:
    found = asyncio.get_running_loop().create_future()
    found.set_result(result)
    return found


def _is_conflict(problem: ApiError) -> bool:
    """The object is not as it was; to a patch for one that was made again, the uid is a field that cannot change."""
    return problem.status == 409 or (problem.status == 422 and "metadata.uid" in problem.message)


def _in_words(problem: ApiError) -> str:
    if problem.status == 403:
        return f"{problem.message or problem} (ask for a role with this permission)"
    return problem.message or str(problem)
