"""The check whether a write with a lost response was made. Reads the object; nothing is sent a second time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

from foretop_core.actions.plans import PlanStep
from foretop_core.errors import ForetopError
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.failures import ApiError
from foretop_core.models.kinds import kind_of_ref

_EACH = 0.5


class WriteEvidence(Enum):
    """What the object shows."""

    DONE = "done"
    NOT_DONE = "not done"
    NO_WORD = "no word"
    """The server answers, and what it shows fits both."""
    NO_ANSWER = "no answer"

    @property
    def answered(self) -> bool:
        return self is not WriteEvidence.NO_ANSWER


async def verify_write(client: ApiClient, step: PlanStep, patience: float) -> WriteEvidence:
    """Asks until the server answers or the patience, in seconds, is at its end."""
    try:
        async with asyncio.timeout(patience):
            while True:
                try:
                    return _judge(step, await _look(client, step))
                except ForetopError:
                    await asyncio.sleep(min(_EACH, patience / 4))
    except TimeoutError:
        return WriteEvidence.NO_ANSWER


async def _look(client: ApiClient, step: PlanStep) -> dict[str, Any] | None:
    """The object as it is; None where there is none."""
    target = step.target
    if not step.write.body.get("metadata", {}).get("generateName"):
        try:
            answer = await client.request("GET", api_paths.item(kind_of_ref(target), target.namespace, target.name))
        except ApiError as problem:
            if problem.status == 404:
                return None
            raise
        found: dict[str, Any] = msgspec.json.decode(answer.body)
        return found
    labels = step.write.body["metadata"].get("labels", {})
    wanted = ",".join(f"{key}={value}" for key, value in labels.items())
    answer = await client.request(
        "GET", api_paths.collection(kind_of_ref(target), target.namespace), {"labelSelector": wanted}
    )
    items = msgspec.json.decode(answer.body).get("items") or []
    return items[0] if items else None


def _judge(step: PlanStep, found: dict[str, Any] | None) -> WriteEvidence:
    body, meta = step.write.body, (found or {}).get("metadata", {})
    match step.write.method:
        case "POST":
            if found is None:
                return WriteEvidence.NOT_DONE
            return WriteEvidence.DONE if _shows(found.get("spec"), body.get("spec")) else WriteEvidence.NO_WORD
        case "DELETE":
            wanted = body.get("preconditions", {}).get("uid", "")
            if found is None or meta.get("uid") != wanted or meta.get("deletionTimestamp"):
                return WriteEvidence.DONE
            return WriteEvidence.NOT_DONE
        case "PATCH":
            if found is None:
                return WriteEvidence.NO_WORD
            if meta.get("resourceVersion") == body.get("metadata", {}).get("resourceVersion"):
                return WriteEvidence.NOT_DONE
            return WriteEvidence.DONE if _shows(found, body) else WriteEvidence.NO_WORD


def _shows(found: object, patch: object) -> bool:
    """Whether an object has all that a patch wanted; the version it was made for does not count."""
    if isinstance(patch, Mapping):
        held = found if isinstance(found, Mapping) else {}
        return all(key == "resourceVersion" or _shows(held.get(key), value) for key, value in patch.items())
    if isinstance(patch, list):
        held_items = found if isinstance(found, list) else []
        return len(held_items) >= len(patch) and all(map(_shows, held_items, patch))
    return found == patch
