"""The one judge of what became of a write: by its answer or, where that was lost, by the object itself.

Only the object, or the server's word on its deletion, counts as done. Nothing is sent a second time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import Enum
from typing import Any

import msgspec

from foretop_core.actions.plans import PlanStep
from foretop_core.errors import ForetopError, Unreadable
from foretop_core.kube.connection import api_paths
from foretop_core.kube.connection.client import ApiClient
from foretop_core.kube.connection.connection_errors import ApiError
from foretop_core.models.kinds import kind_of_ref

_WHAT = "The answer does not come from the API server"


class ChangeNotShown(Unreadable):
    """The answer is the object, without the change: a webhook may have taken it out again."""


def check_answer(step: PlanStep, body: bytes) -> None:
    """Raises Unreadable unless this answer shows that the write was made; ChangeNotShown where it shows the contrary.

    A login page, another object, or the object as it was before do not answer a write, whatever their status says.
    """
    answer = read_object(step, body)
    if answer is None:
        return
    meta = answer["metadata"]
    if is_another(step, answer) or not (meta.get("uid") and meta.get("creationTimestamp")):
        raise Unreadable(f"The answer is about another object than {step.target}", "its uid differs")
    match step.write.method:
        case "POST":
            made = True  # as the server wants it: an admission webhook may add to it
        case "PATCH":
            made = shows(answer, step.write.body)
        case "DELETE":
            made = bool(meta.get("deletionTimestamp"))
    if not made:
        raise ChangeNotShown("The answer does not show the change")


def read_object(step: PlanStep, body: bytes) -> dict[str, Any] | None:
    """The object of a step; None for the Status that tells of its deletion. Anything else is Unreadable."""
    try:
        answer = msgspec.json.decode(body)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(_WHAT, str(problem), "is there a proxy or a login page in between?") from None
    if not isinstance(answer, dict):
        raise Unreadable(_WHAT, "it is not an object")
    if step.write.method == "DELETE" and answer.get("kind") == "Status":
        _check_deletion(step, answer)
        return None
    meta = answer.get("metadata")
    if answer.get("kind") != step.target.kind or not isinstance(meta, dict):
        raise Unreadable(_WHAT, f"it is not a {step.target.kind}")
    if (meta.get("namespace") or "") != step.target.namespace or not _is_named(step, meta.get("name")):
        raise Unreadable(f"The answer is not about {step.target}")
    return answer


def is_another(step: PlanStep, found: Mapping[str, Any]) -> bool:
    """True if the object is a namesake of the one that was meant: deleted and made again."""
    return bool(step.uid) and found["metadata"].get("uid") != step.uid


def shows(found: object, patch: object) -> bool:
    """True if an object has all that a patch wanted; the version it was made for does not count."""
    if isinstance(patch, Mapping):
        fields = found if isinstance(found, Mapping) else {}
        return all(key == "resourceVersion" or shows(fields.get(key), value) for key, value in patch.items())
    if isinstance(patch, list):
        return _shows_items(found if isinstance(found, list) else [], patch)
    return found == patch


def _shows_items(held: list[Any], wanted: list[Any]) -> bool:
    """Items with a name are found by it, as a strategic patch does; others by their place."""
    if wanted and all(isinstance(item, Mapping) and "name" in item for item in wanted):
        named = {item.get("name"): item for item in held if isinstance(item, Mapping)}
        return all(shows(named.get(item["name"]), item) for item in wanted)
    return len(held) >= len(wanted) and all(map(shows, held, wanted))


def _is_named(step: PlanStep, name: object) -> bool:
    start = step.write.body.get("metadata", {}).get("generateName") if step.write.method == "POST" else None
    return isinstance(name, str) and (name.startswith(start) if start else name == step.target.name)


def _check_deletion(step: PlanStep, found: Mapping[str, Any]) -> None:
    details = found.get("details")
    deleted = details if isinstance(details, dict) else {}
    if found.get("status") != "Success" or deleted.get("name") != step.target.name:
        raise Unreadable(f"The answer is not about {step.target}")
    if step.uid and deleted.get("uid", step.uid) != step.uid:
        raise Unreadable(f"The answer is about another object than {step.target}", "its uid differs")


# Where the answer was lost

_EACH = 0.5


class _ObjectList(msgspec.Struct):
    kind: str
    items: list[dict[str, Any]] | None = None


class WriteEvidence(Enum):
    """The evidence that the object itself gives."""

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
        evidence = await verify_write(client, step, patience)
        if evidence is not WriteEvidence.NOT_DONE or loop.time() >= end:
            return evidence


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
        item = read_object(step, answer.body)
        if item is None:
            raise Unreadable(f"The answer is not about {target}")
        return item
    labels = step.write.body["metadata"].get("labels", {})
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    answer = await client.request(
        "GET", api_paths.collection(kind_of_ref(target), target.namespace), {"labelSelector": selector}
    )
    items = answer.read(_ObjectList).items or []
    return items[0] if items else None


def judge_write(step: PlanStep, found: dict[str, Any] | None) -> WriteEvidence:
    """Judges a write by the object as it is now, or by its absence."""
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
    """The marks of a new object: its labels, and all that it says itself, whether its kind has a spec or not."""
    content = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    return {**content, "metadata": {"labels": body["metadata"].get("labels", {})}}
