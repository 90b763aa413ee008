"""Whether a wish may be granted at all: read-only, rights, in that order; the state is the plan's business."""

from __future__ import annotations

from core.actions.intents import Intent
from core.errors import ForetopError
from core.kube import paths
from core.kube.access import Access, right
from core.kube.client import ApiClient


class Refused(ForetopError):
    """The wish was not granted, and nothing was sent."""


async def guard(intent: Intent, client: ApiClient, access: Access, namespace: str) -> None:
    """Raises Refused with the reason and what to do; returns where the wish may go on."""
    if client.read_only:
        raise Refused(f"Cannot {intent.title.lower()}", "read-only is on", "start foretop without it")
    for needed in intent.rights:
        verdict = await access.verdict(right(needed.verb, needed.kind, namespace))
        if not verdict.allowed:
            what = f"{needed.verb} on {paths.title(needed.kind)} in {namespace} is not allowed"
            raise Refused(f"Cannot {intent.title.lower()}", what, "ask for the role that has it")
