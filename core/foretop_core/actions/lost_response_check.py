"""The check whether a write with a lost response was made. Reads the object; nothing is sent a second time."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any

import msgspec

from foretop_core.actions.plans import PlanStep
from foretop_core.actions.write_answer import is_another, read_object, shows
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import kind_of_ref

_EACH = 0.5


class _ObjectList(msgspec.Struct):
    kind: str
    items: list[dict[str, Any]] | None = None


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
                    return judge_write(step, await _look(client, step))
                except ForetopError:
                    await _pause(patience)
    except TimeoutError:
        return WriteEvidence.NO_ANSWER


async def keep_looking(client: ApiClient, step: PlanStep, patience: float, seconds: float) -> WriteEvidence:
    """Looks for that long whether a write that is not there yet still comes: a request can outlive its connection."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while True:
        await _pause(seconds)
        found = await verify_write(client, step, patience)
        if found is not WriteEvidence.NOT_DONE or loop.time() >= end:
            return found


async def _pause(limit: float) -> None:
    """Between two looks: several fit into any limit."""
    await asyncio.sleep(min(_EACH, limit / 4))


async def _look(client: ApiClient, step: PlanStep) -> dict[str, Any] | None:
    """The object as it is; None where there is none."""
    target = step.target
    if not step.write.body.get("metadata", {}).get("generateName"):
        try:
            answer = await client.request("GET", api_paths.item(kind_of_ref(target), target.namespace, target.name))
        except ApiError as problem:
            if problem.status == 404 and problem.is_status:
                return None
            raise
        found = read_object(step, answer.body)
        if found is None:
            raise Unreadable(f"The answer is not about {target}")
        return found
    labels = step.write.body["metadata"].get("labels", {})
    wanted = ",".join(f"{key}={value}" for key, value in labels.items())
    answer = await client.request(
        "GET", api_paths.collection(kind_of_ref(target), target.namespace), {"labelSelector": wanted}
    )
    items = answer.read(_ObjectList).items or []
    return items[0] if items else None


def judge_write(step: PlanStep, found: dict[str, Any] | None) -> WriteEvidence:
    """What the object as it is now, or its absence, tells of the write."""
    body, meta = step.write.body, (found or {}).get("metadata", {})
    match step.write.method:
        case "POST":
            if found is None:
                return WriteEvidence.NOT_DONE
            return WriteEvidence.DONE if shows(found, _content(body)) else WriteEvidence.NO_WORD
        case "DELETE":
            if found is None or is_another(step, found) or meta.get("deletionTimestamp"):
                return WriteEvidence.DONE
            return WriteEvidence.NOT_DONE
        case "PATCH":
            if found is None or is_another(step, found):
                return WriteEvidence.NO_WORD
            if meta.get("resourceVersion") == body.get("metadata", {}).get("resourceVersion"):
                return WriteEvidence.NOT_DONE
            return WriteEvidence.DONE if shows(found, body) else WriteEvidence.NO_WORD


def _content(body: dict[str, Any]) -> dict[str, Any]:
    """What a new object is known by: its labels, and all that it says itself, whether its kind has a spec or not."""
    said = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    return {**said, "metadata": {"labels": body["metadata"].get("labels", {})}}
