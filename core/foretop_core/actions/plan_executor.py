"""The one executor of the screen and the command line: guards a plan, sends its writes object by object, and knows
exactly what was done and what was not. What changed under way is planned again."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec.structs import replace

from foretop_core.actions.guard import guard_plan, permit_plan, write_path
from foretop_core.actions.journal import CHANGED, NOT_SENT, SENDING, Journal, JournalEntry
from foretop_core.actions.plans import Plan, Planner, PlanStep, replace_object
from foretop_core.actions.write_answer import (
    ChangeNotShown,
    WriteEvidence,
    check_answer,
    judge_write,
    keep_looking,
    read_object,
    verify_write,
)
from foretop_core.clock import Clock
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import JSON, MERGE_PATCH, ApiClient, WritePermit
from foretop_core.kube.connection.connection_errors import ApiError, BrokenOff, NotConnected, Unreachable
from foretop_core.logs import logger
from foretop_core.models import BackupSpec, Resource, decode
from foretop_core.models.kinds import kind_of_ref
from foretop_core.models.wire import Metadata, ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.humanize import rfc3339
from foretop_core.rules.pauses import OWN_MANAGER
from foretop_core.rules.snapshot import ClusterSnapshot

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


SOMEBODY = "somebody"
_SELF_REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


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

    @property
    def made(self) -> Metadata:
        """The metadata of the object in the answer; empty where the object is gone, or the answer was lost."""
        try:
            return decode(Resource, self.answer).metadata if self.answer else Metadata()
        except ForetopError:
            return Metadata()


class PlanExecutor(msgspec.Struct, frozen=True):
    """Acts for one person on one cluster."""

    client: ApiClient
    access: AccessReviewer
    clock: Clock
    journal: Journal
    user: str
    snapshot: Callable[[], ClusterSnapshot]
    """The context as it is now."""
    patience: float = PATIENCE
    look_for: float = LOOK_FOR
    confirmed: frozenset[str] = frozenset()
    """The names of protected contexts that a person has typed or given."""

    async def guard(self, plan: Plan) -> None:
        """Raises Refused with the reason where read-only or a missing right stands against it."""
        await guard_plan(plan, self.client, self.access)

    async def permit(self, plan: Plan, dry_run: bool = False) -> WritePermit:
        """Raises ActionRefused where a name is to be confirmed as well that was not."""
        return await permit_plan(plan, self.client, self.access, self.confirmed, dry_run)

    async def carry_out(self, plan: Plan, planner: Planner, dry_run: bool = False) -> AsyncIterator[Result]:
        """Sends the plan; `planner` is asked again for an object that somebody else wrote meanwhile.

        Without the guard's permit nothing is sent, and each step is told why. A step that fails does not stop the
        others, one that changed is handed back, never forced. Where the API server stays away, the rest is not sent.
        While it is being found out what became of a step whose answer was lost, the next ones are sent; the results
        come in the order of the plan.
        """
        try:
            permit = await self.permit(plan, dry_run)
        except ForetopError as problem:
            for step in plan.steps:
                yield Result(step, Outcome.NOT_SENT, str(problem))
            return
        if not dry_run and not self.client.read_only:
            await self.journal.check_in_thread()
        gone = ""
        ahead: deque[asyncio.Future[Result]] = deque()
        try:
            for step in plan.steps:
                if gone:
                    ahead.append(_known(Result(step, Outcome.NOT_SENT, gone)))
                else:
                    writing = _StepWrite(self, permit, plan, planner, step)
                    try:
                        answered = await writing.send()
                    except asyncio.CancelledError:
                        await writing.note(Result(step, Outcome.UNKNOWN, "interrupted while it was being sent"))
                        raise
                    future, gone = await writing.settle(answered)
                    ahead.append(future)
                while ahead and ahead[0].done():
                    yield ahead.popleft().result()
            while ahead:
                yield await ahead[0]
                ahead.popleft()
        finally:
            for unknown in ahead:
                unknown.cancel()
            await asyncio.gather(*ahead, return_exceptions=True)


class _Answered(msgspec.Struct, frozen=True):
    """The result of a request, as far as its answer tells."""

    result: Result
    gone: str = ""
    """Why the server is given up, where it is."""


class _Lost(msgspec.Struct, frozen=True):
    """The request left, and its answer does not tell what came of it."""

    problem: ForetopError


class _StepWrite:
    """One step on its way: in the journal before it is sent, and again with what came of it."""

    def __init__(
        self, executor: PlanExecutor, permit: WritePermit, plan: Plan, planner: Planner, step: PlanStep
    ) -> None:
        self.executor = executor
        self.permit = permit
        self.plan = plan
        self.planner = planner
        self.agreed = self.current = step
        self._id = secrets.token_hex(8)
        self._written: PlanStep | None = None
        self._also = ""
        """What is sent beside the plan."""

    async def send(self) -> _Answered | _Lost:
        """Sends it until an answer counts, or none comes."""
        step, refusal = self.agreed, ""
        if (changed := await self._source_changed()) is not None:
            return changed
        for _ in range(MOST_TRIES):
            try:
                await self._intend()
            except ForetopError as problem:
                return _Answered(Result(step, Outcome.NOT_SENT, str(problem)))
            try:
                response = await self.executor.client.write(self.permit, *_request(self.current, self.permit.dry_run))
                check_answer(self.current, response.body)
            except ApiError as problem:
                refusal = _in_words(problem)
                wait = _USUAL_WAIT if problem.retry_after is None else problem.retry_after
                if problem.status == 429 and wait <= self.executor.patience:
                    await asyncio.sleep(wait)
                elif not problem.is_status or not 400 <= problem.status < 500:
                    return _Lost(problem)
                elif _is_conflict(problem) and step.write.method != "POST":
                    if (changed := await self._plan_again()) is not None:
                        return changed
                elif problem.status == 404 and step.write.method == "DELETE":
                    # Also where the transport has repeated a delete whose first answer was lost.
                    return _Answered(Result(step, Outcome.DONE, "it was already deleted"))
                else:
                    return _Answered(Result(step, Outcome.FAILED, refusal, problem.status))
            except (Unreachable, Unreadable) as problem:
                return _Lost(problem)
            except ForetopError as problem:
                return _Answered(Result(step, Outcome.NOT_SENT, str(problem)))
            except Exception as problem:  # whatever it is, the write may have been made
                _log.exception("sending %s %s failed", step.write.method, step.target)
                return _Lost(ForetopError("Internal error in foretop", f"{type(problem).__name__}: {problem}"))
            else:
                moved = "" if self.current.forecast == step.forecast else "its status changed in the meantime"
                news = "; ".join(filter(None, (self._also, moved)))
                return _Answered(Result(step, Outcome.DONE, news, answer=response.body))
        return _Answered(Result(step, Outcome.NOT_SENT, f"refused {MOST_TRIES} times in a row: {refusal}"))

    async def settle(self, answered: _Answered | _Lost) -> tuple[asyncio.Future[Result], str]:
        """The result, which may take a while to be known, and why the server is given up, where it is.

        Where no answer came, or none that counts, the object itself tells, and nothing is sent twice unasked.
        """
        if isinstance(answered, _Answered):
            return _known(await self.note(answered.result)), answered.gone
        step, problem = self.agreed, answered.problem
        try:
            evidence = await verify_write(self.executor.client, self.current, self.executor.patience)
        except asyncio.CancelledError:
            await self.note(Result(step, Outcome.UNKNOWN, str(problem)))
            raise
        gone = "" if evidence.answered else str(problem)
        if isinstance(problem, NotConnected):
            return _known(await self.note(Result(step, Outcome.NOT_SENT, str(problem)))), gone
        return asyncio.ensure_future(self._find_out(problem, evidence)), gone

    async def _source_changed(self) -> _Answered | None:
        """A new object names another: the server takes it whatever has become of that one, so it is looked at first."""
        step = self.agreed
        if step.source is None or not step.source.uid:
            return None
        target = step.source.target
        try:
            body = await self._read(target)
            resource = None if body is None else decode(kind_of_ref(target).model, body)
        except ApiError as problem:
            return None if problem.status == 403 else _Answered(Result(step, Outcome.NOT_SENT, str(problem)))
        except ForetopError as problem:
            return self._not_sent(problem)
        if resource is None:
            return _Answered(Result(step, Outcome.CHANGED, f"{target} was deleted in the meantime"))
        if resource.metadata.uid != step.source.uid:
            return _Answered(Result(step, Outcome.CHANGED, f"{target} was deleted and created again in the meantime"))
        if step.source.repeated and body is not None:
            self._repeat_unknown(step.source.repeated, msgspec.json.decode(body))
        return None

    def _repeat_unknown(self, path: tuple[str, ...], held: Any) -> None:
        """Fields of a newer Velero go along: what is repeated without them is another backup."""
        for name in path:
            held = held.get(name) if isinstance(held, Mapping) else None
        body = self.current.write.body
        known = BackupSpec.__struct_encode_fields__
        more = {key: value for key, value in (held or {}).items() if key not in known and value is not None}
        if more:
            write = replace(self.current.write, body={**body, "spec": {**more, **body["spec"]}})
            self.current = replace(self.current, write=write)
            self._also = f"with {humanize.join(sorted(more))} as well, which foretop does not know"

    async def _plan_again(self) -> _Answered | None:
        """The same step for the object as it is now is sent next; where it comes to another one, it is handed back.

        It is judged as of the moment of the plan, so that only what somebody has written can make a difference.
        """
        agreed, target = self.agreed, self.current.target
        try:
            body = await self._read(target)
            item = None if body is None else decode(kind_of_ref(target).model, body)
            fresh, why = None, ""
            if item is not None:
                snapshot = replace_object(self.executor.snapshot(), kind_of_ref(target), item)
                made = self.planner(snapshot, [item], self.plan.at)
                fresh = next((step for step in made.steps if step.target == target), None)
                why = next((f" ({refusal.why})" for refusal in made.refused if refusal.target == target), "")
        except ForetopError as problem:
            return self._not_sent(problem)
        if fresh is not None and fresh.same_as(agreed):
            self.current = fresh
            return None
        again = fresh is not None and fresh.uid != agreed.uid
        how = "deleted and created again" if again else "modified by someone else"
        return _Answered(Result(agreed, Outcome.CHANGED, f"{how} in the meantime{why}", again=fresh))

    async def _read(self, target: ObjectRef) -> bytes | None:
        """The object as the server has it now; None where there is none."""
        kind = kind_of_ref(target)
        try:
            answer = await self.executor.client.request("GET", api_paths.item(kind, target.namespace, target.name))
        except ApiError as problem:
            if problem.status == 404 and problem.is_status:
                return None
            raise
        return answer.body

    def _not_sent(self, problem: ForetopError) -> _Answered:
        gone = str(problem) if isinstance(problem, Unreachable) else ""
        return _Answered(Result(self.agreed, Outcome.NOT_SENT, str(problem)), gone)

    async def _find_out(self, problem: ForetopError, found: WriteEvidence) -> Result:
        """Failed only after a while in which the write has not shown: a request can outlive its connection.

        What was answered as a success has not failed: who answered may hand it on later. A rehearsal makes nothing.
        """
        step, executor = self.agreed, self.executor
        try:
            if found is WriteEvidence.NOT_DONE and not self.permit.dry_run:
                found = await keep_looking(executor.client, self.current, executor.patience, executor.look_for)
            answer = await self._made() if found is WriteEvidence.DONE else b""
        except asyncio.CancelledError:
            await self.note(Result(step, Outcome.UNKNOWN, str(problem)))
            raise
        if found is WriteEvidence.DONE:
            return await self.note(Result(step, Outcome.DONE, answer=answer))
        has_failed = found is WriteEvidence.NOT_DONE and (self.permit.dry_run or not _is_success(problem))
        return await self.note(Result(step, Outcome.FAILED if has_failed else Outcome.UNKNOWN, str(problem)))

    async def _made(self) -> bytes:
        """Finds what a drill has made where the answer was lost: its id, which nobody else knows, is on the object.

        Nothing where the object cannot be read; of other new objects nobody needs the uid.
        """
        step, target = self.current, self.current.target
        if step.write.method != "POST" or not step.drill:
            return b""
        try:
            path = api_paths.item(kind_of_ref(target), target.namespace, target.name)
            body = (await self.executor.client.request("GET", path)).body
            made = read_object(step, body)
        except ForetopError:
            return b""
        return body if judge_write(step, made) is WriteEvidence.DONE else b""

    # The journal

    async def _intend(self) -> None:
        """Raises where it cannot be written down: it is not sent then."""
        if self._is_unnoted or self._written is self.current:
            return
        await self.executor.journal.append_in_thread(self._entry(SENDING))
        self._written = self.current

    async def note(self, result: Result) -> Result:
        """The write is done or refused by now: a journal that fails is told, and takes nothing back."""
        if self._written is None:
            return result
        outcome = f"{result.outcome.value}: {result.error}" if result.error else result.outcome.value
        _log.info("%s %s: %s", result.step.write.method, result.step.target, outcome)
        try:
            made = result.made.uid if self.current.write.method == "POST" else ""
            await self.executor.journal.append_in_thread(self._entry(outcome, made))
        except ForetopError as problem:
            return replace(result, error="; ".join(filter(None, (result.error, str(problem)))))
        return result

    @property
    def _is_unnoted(self) -> bool:
        """A rehearsal is not in the journal, nor what read-only holds back."""
        return self.permit.dry_run or self.executor.client.read_only

    def _entry(self, result: str, made: str = "") -> JournalEntry:
        """`made` is the uid of what the step has created."""
        step, target = self.current, self.current.target
        return JournalEntry(
            at=rfc3339(self.executor.clock.now()) or "",
            user=self.executor.user,
            context=target.context,
            kind=target.kind,
            namespace=target.namespace,
            name=target.name,
            method=step.write.method,
            before=step.write.before,
            patch=step.write.body,
            result=result,
            id=self._id,
            uid=made or step.uid,
            drill=step.drill,
        )


def _request(step: PlanStep, dry_run: bool) -> tuple[str, str, dict[str, str], dict[str, Any], str]:
    """Method, path, parameters, body and content type of a step's write."""
    write, path = step.write, write_path(step)
    dry = {"dryRun": "All"} if dry_run else {}
    if write.method == "DELETE":
        return write.method, path, dry, write.body, JSON
    # Without Strict a release that lacks a field drops it without a word: an unpause would lose its skip.
    managed = {"fieldManager": OWN_MANAGER, "fieldValidation": "Strict", **dry}
    if write.method == "POST":
        return write.method, path, managed, write.body, JSON
    return write.method, path, managed, write.body, MERGE_PATCH if write.form == "merge" else STRATEGIC_PATCH


def _known(result: Result) -> asyncio.Future[Result]:
    future = asyncio.get_running_loop().create_future()
    future.set_result(result)
    return future


def _is_success(problem: ForetopError) -> bool:
    """True of an answer 2xx that is not the object: a login page, no body, an acceptance, a part of it."""
    if isinstance(problem, ApiError):
        return problem.status < 300
    return isinstance(problem, BrokenOff | Unreadable) and not isinstance(problem, ChangeNotShown)


def _is_conflict(problem: ApiError) -> bool:
    """The object is not as it was; to a patch for one that was made again, the uid is a field that cannot change."""
    return problem.status == 409 or (problem.status == 422 and "metadata.uid" in problem.message)


_INVALID = re.compile(r'^\S* ?"[^"]*" is invalid: *')
_REFUSED_PATCH = re.compile(r'^patch: Invalid value: (?:"(?:[^"\\]|\\.)*":\s*)?')
_UNKNOWN_FIELD = re.compile(r'(?:strict decoding error: )?unknown field "([^"]*)"')


def _in_words(problem: ApiError) -> str:
    """The reason alone: the object is named beside it, and what was sent is on the screen."""
    text = " ".join(problem.message.split())
    if problem.status == 403:
        return f"{text or problem} (ask for a role with this permission)"
    if problem.status == 422:
        text = _INVALID.sub("", text)
        text = _REFUSED_PATCH.sub("", text)
        text = _UNKNOWN_FIELD.sub(r"the server knows no field \1", text)
    return text or str(problem)


# Who acts


class _UserInfo(msgspec.Struct):
    username: str = ""


class _SelfStatus(msgspec.Struct, rename="camel"):
    user_info: _UserInfo = msgspec.field(default_factory=_UserInfo)


class _SelfReview(msgspec.Struct):
    status: _SelfStatus = msgspec.field(default_factory=_SelfStatus)


async def whoami(client: ApiClient, environ: Mapping[str, str]) -> str:
    """The one who acts, for journal and next shift: the login of this machine, and whom the cluster takes it for."""
    here = login(environ)
    account = "" if client.read_only else await _known_as(client)
    if not account or account == here:
        return here
    return account if here == SOMEBODY or here in account else f"{here} as {account}"


def login(environ: Mapping[str, str]) -> str:
    """The name on this machine: behind sudo that of the person, not of root."""
    return environ.get("SUDO_USER") or environ.get("LOGNAME") or environ.get("USER") or SOMEBODY


async def _known_as(client: ApiClient) -> str:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    try:
        answer = await client.request("POST", _SELF_REVIEW, body=body)
        return answer.read(_SelfReview).status.user_info.username
    except ForetopError:
        return ""
