"""The plans of one person for one cluster: guarded, sent, and planned again where something changed under way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing

import msgspec

from foretop_core.actions.guard import guard_plan, permit_plan
from foretop_core.actions.journal import Journal
from foretop_core.actions.plan_sender import LOOK_FOR, PATIENCE, Outcome, PlanSender, Replan, Result
from foretop_core.actions.plans import Plan, Planner, PlanStep, replace_object
from foretop_core.clock import Clock
from foretop_core.errors import ForetopError
from foretop_core.kube.access.access_reviewer import AccessReviewer
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient, WritePermit
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models import decode
from foretop_core.models.kinds import kind_of_ref
from foretop_core.rules.snapshot import ClusterSnapshot

SOMEBODY = "somebody"
_SELF_REVIEW = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class _UserInfo(msgspec.Struct):
    username: str = ""


class _SelfStatus(msgspec.Struct, rename="camel"):
    user_info: _UserInfo = msgspec.field(default_factory=_UserInfo)


class _SelfReview(msgspec.Struct):
    status: _SelfStatus = msgspec.field(default_factory=_SelfStatus)


class PlanExecutor(msgspec.Struct, frozen=True):
    """What the screen and the command line act with."""

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

        Without the guard's permit nothing is sent, and each step is told why.
        """
        try:
            permit = await self.permit(plan, dry_run)
        except ForetopError as problem:
            for step in plan.steps:
                yield Result(step, Outcome.NOT_SENT, str(problem))
            return
        executor = PlanSender(
            self.client, permit, self.journal, self.clock, self.user, dry_run, self.patience, self.look_for
        )
        async with aclosing(executor.run(plan, self._replan(plan, planner))) as results:
            async for result in results:
                yield result

    def _replan(self, plan: Plan, planner: Planner) -> Replan:
        async def again(step: PlanStep) -> PlanStep | None:
            """Judged as of the moment of the plan, so that only what somebody has written can make a difference."""
            target, kind = step.target, kind_of_ref(step.target)
            try:
                answer = await self.client.request("GET", api_paths.item(kind, target.namespace, target.name))
            except ApiError as problem:
                if problem.status == 404 and problem.is_status:
                    return None
                raise
            fresh = decode(kind.model, answer.body)
            planned = planner(replace_object(self.snapshot(), kind, fresh), [fresh], plan.at)
            return next((one for one in planned.steps if one.target == target), None)

        return again


async def whoami(client: ApiClient, environ: Mapping[str, str]) -> str:
    """Who acts, for the journal and the next shift: the login of this machine, and whom the cluster takes it for."""
    here = login(environ)
    known = "" if client.read_only else await _known_as(client)
    if not known or known == here:
        return here
    return known if here == SOMEBODY or here in known else f"{here} as {known}"


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
