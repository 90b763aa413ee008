"""The one judge of answers to writes: only the object itself, or the server's word on its deletion, counts as done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from foretop_core.actions.plans import PlanStep
from foretop_core.errors import Unreadable

_WHAT = "The answer does not come from the API server"


def check_answer(step: PlanStep, body: bytes) -> None:
    """Raises Unreadable unless this answer shows that the write was made.

    A login page, another object, or the object as it was before are no answer to a write, whatever their status says.
    """
    found = read_object(step, body)
    if found is None:
        return
    meta = found["metadata"]
    if is_another(step, found) or not (meta.get("uid") and meta.get("creationTimestamp")):
        raise Unreadable(f"The answer is about another object than {step.target}", "its uid differs")
    match step.write.method:
        case "POST":
            made = True  # as the server wants it: an admission webhook may add to it
        case "PATCH":
            made = shows(found, step.write.body)
        case "DELETE":
            made = bool(meta.get("deletionTimestamp"))
    if not made:
        raise Unreadable("The answer does not show the change")


def read_object(step: PlanStep, body: bytes) -> dict[str, Any] | None:
    """The object of a step; None for the Status that tells of its deletion. Anything else is Unreadable."""
    try:
        found = msgspec.json.decode(body)
    except (ValueError, RecursionError) as problem:
        raise Unreadable(_WHAT, str(problem), "is there a proxy or a login page in between?") from None
    if not isinstance(found, dict):
        raise Unreadable(_WHAT, "it is not an object")
    if step.write.method == "DELETE" and found.get("kind") == "Status":
        _check_deletion(step, found)
        return None
    meta = found.get("metadata")
    if found.get("kind") != step.target.kind or not isinstance(meta, dict):
        raise Unreadable(_WHAT, f"it is not a {step.target.kind}")
    if (meta.get("namespace") or "") != step.target.namespace or not _is_named(step, meta.get("name")):
        raise Unreadable(f"The answer is not about {step.target}")
    return found


def is_another(step: PlanStep, found: Mapping[str, Any]) -> bool:
    """Whether the object is a namesake of the one that was meant: deleted and made again."""
    return bool(step.uid) and found["metadata"].get("uid") != step.uid


def shows(found: object, patch: object) -> bool:
    """Whether an object has all that a patch wanted; the version it was made for does not count."""
    if isinstance(patch, Mapping):
        held = found if isinstance(found, Mapping) else {}
        return all(key == "resourceVersion" or shows(held.get(key), value) for key, value in patch.items())
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
    told = details if isinstance(details, dict) else {}
    if found.get("status") != "Success" or told.get("name") != step.target.name:
        raise Unreadable(f"The answer is not about {step.target}")
    if step.uid and told.get("uid", step.uid) != step.uid:
        raise Unreadable(f"The answer is about another object than {step.target}", "its uid differs")
