"""The check before a plan is sent: read-only mode, then permissions. The plan checks the state of the objects."""

from __future__ import annotations

from foretop_core.actions.action_catalog import ActionRecord
from foretop_core.actions.plans import VERBS, Plan
from foretop_core.errors import ForetopError
from foretop_core.kube.access.access_reviewer import AccessReviewer, permission
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.models.kinds import Kind, kind_of_ref

_ASKED_BY_NAME = 10


class ActionRefused(ForetopError):
    """The action was refused, and nothing was sent."""


async def guard_plan(plan: Plan, client: ApiClient, access: AccessReviewer) -> None:
    """Raises ActionRefused with the reason and what to do; asks for exactly the writes of the plan, where they go."""
    hold_read_only(plan.intent, client)
    groups: dict[tuple[str, Kind, str], list[str]] = {}
    for step in plan.steps:
        place = (VERBS[step.write.method], kind_of_ref(step.target), step.target.namespace)
        groups.setdefault(place, []).append(step.target.name)
    for (verb, kind, namespace), names in groups.items():
        if not await _may(access, verb, kind, namespace, [] if verb == "create" else names):
            what = f"{verb} on {api_paths.title(kind)} in {namespace} is not allowed"
            raise ActionRefused(f"Cannot {plan.intent.title.lower()}", what, "ask for a role with this permission")


def hold_read_only(intent: ActionRecord, client: ApiClient) -> None:
    if client.read_only:
        raise ActionRefused(f"Cannot {intent.title.lower()}", "read-only is on", "start foretop without it")


async def _may(access: AccessReviewer, verb: str, kind: Kind, namespace: str, names: list[str]) -> bool:
    """A role may be for some names only: where one of the first few is allowed, the attempt tells about the others."""
    for name in ("", *names[:_ASKED_BY_NAME]):
        if (await access.verdict(permission(verb, kind, namespace, name))).allowed:
            return True
    return False
