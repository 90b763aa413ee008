"""The one guard of all writes: read-only, rights, production. The client sends nothing without its permit.

The plan is the preview of exactly what is permitted, and checks the state of the objects.
"""

from __future__ import annotations

from contextlib import suppress

from foretop_core.actions.plans import VERBS, Plan, PlanStep
from foretop_core.errors import ActionRefused
from foretop_core.kube.access.access_reviewer import AccessReviewer, permission
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient, WritePermit
from foretop_core.kube.connection.connection_errors import ApiError, Unreachable
from foretop_core.models.kinds import Kind, kind_of_ref

_ASKED_BY_NAME = 10


async def guard_plan(plan: Plan, client: ApiClient, access: AccessReviewer) -> None:
    """Raises ActionRefused with the reason and what to do; asks for exactly the writes of the plan, where they go."""
    await _check_read_only(plan, client)
    await _check_rights(plan, access)


async def permit_plan(
    plan: Plan, client: ApiClient, access: AccessReviewer, confirmed: frozenset[str], dry_run: bool
) -> WritePermit:
    """The permit for the writes of the plan; in production only with the name that a person has confirmed.

    Where nobody answers about rights the attempt tells: the API server holds them itself.
    """
    await _check_read_only(plan, client)
    if not dry_run:
        check_confirmed(client, confirmed)
    with suppress(ApiError, Unreachable):
        await _check_rights(plan, access)
    writes = frozenset((step.write.method, write_path(step)) for step in plan.steps)
    return WritePermit(client, writes, confirmed, dry_run)


async def _check_read_only(plan: Plan, client: ApiClient) -> None:
    """By the configuration and the cluster as they are now, not as they were when the plan was shown."""
    protection = await client.judge_afresh()
    if protection.read_only:
        why = f"read-only is on: {protection.read_only}"
        raise ActionRefused(f"Cannot {plan.record.title.lower()}", why, "see foretop config show")


async def _check_rights(plan: Plan, access: AccessReviewer) -> None:
    groups: dict[tuple[str, Kind, str], list[str]] = {}
    for step in plan.steps:
        place = (VERBS[step.write.method], kind_of_ref(step.target), step.target.namespace)
        groups.setdefault(place, []).append(step.target.name)
    for (verb, kind, namespace), names in groups.items():
        if not await _may(access, verb, kind, namespace, [] if verb == "create" else names):
            what = f"{verb} on {api_paths.title(kind)} in {namespace} is not allowed"
            raise ActionRefused(f"Cannot {plan.record.title.lower()}", what, "ask for a role with this permission")


def check_confirmed(client: ApiClient, confirmed: frozenset[str]) -> None:
    """Raises ActionRefused where a name is to be confirmed that was not."""
    protection = client.protection
    if protection.name and protection.name not in confirmed:
        hint = f"add --confirm-context {protection.name}"
        raise ActionRefused("Nothing was sent", protection.production, hint)


def write_path(step: PlanStep) -> str:
    """The path that a step of a plan is sent to."""
    kind, target = kind_of_ref(step.target), step.target
    if step.write.method == "POST":
        return api_paths.collection(kind, target.namespace)
    return api_paths.item(kind, target.namespace, target.name)


async def _may(access: AccessReviewer, verb: str, kind: Kind, namespace: str, names: list[str]) -> bool:
    """A role may be for some names only: where one of the first few is allowed, the attempt tells about the others."""
    for name in ("", *names[:_ASKED_BY_NAME]):
        if (await access.verdict(permission(verb, kind, namespace, name))).allowed:
            return True
    return False
