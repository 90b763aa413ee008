"""The chart of the seed as an oracle: whether a step of a NAB or NAR is in it. Recordings and the simulator are held
against it; the dashboard itself tells a step back by the store's history."""

from __future__ import annotations

import msgspec

from foretop_core.models import NonAdmin
from foretop_core.rules.nonadmin_lifecycle import CONDITIONS, DELETING, is_synced, is_true

_ORDER = {"": 0, "New": 1, "BackingOff": 2, "Created": 3, "Deleting": 4, "Deletion": 4}
_KNOWN_BACK = {("Created", "BackingOff")}
"""The seed forbids every backward step; released controllers make this one."""


class PhaseTransition(msgspec.Struct, frozen=True):
    """A change. `known`: in the chart or made by a released controller; `backwards`: against the forward-only rule."""

    known: bool
    backwards: bool
    restored_by_sync: bool
    text: str


def transition(before: NonAdmin | None, after: NonAdmin | None) -> PhaseTransition:
    """The change of an object between two observations; None means that it did not exist."""
    if after is None:
        return _gone(before)
    if before is None or before.metadata.uid != after.metadata.uid:
        return _appeared(after)
    if before.phase != after.phase:
        return _moved(before, after)
    odd = _odd_conditions(before, after)
    return PhaseTransition(not odd, False, False, odd or _same_phase(before, after))


def _gone(before: NonAdmin | None) -> PhaseTransition:
    if before is None or before.phase in DELETING or not before.metadata.finalizers:
        return PhaseTransition(True, False, False, "gone")
    return PhaseTransition(False, False, False, f"deleted while {_shown(before)}, without passing through Deleting")


def _appeared(after: NonAdmin) -> PhaseTransition:
    if after.phase == "Created" and is_synced(after):
        return _brought_back()
    return PhaseTransition(_all_known(after), False, False, f"first seen as {_shown(after)}")


def _brought_back() -> PhaseTransition:
    text = "recreated by the sync: its backup is still in the bucket"
    return PhaseTransition(True, False, True, text)


def _moved(before: NonAdmin, after: NonAdmin) -> PhaseTransition:
    if not before.phase and after.phase == "Created" and is_synced(after):
        return _brought_back()
    text = f"{_shown(before)} → {_shown(after)}"
    back = after.phase in _ORDER and _ORDER[after.phase] < _ORDER.get(before.phase, 0)
    if back:
        accepted = after.condition("Accepted")
        why = f" ({accepted.reason})" if accepted is not None and accepted.reason else ""
        known = (before.phase, after.phase) in _KNOWN_BACK
        return PhaseTransition(known, True, False, f"{text}, backwards{why}")
    skips = (before.phase, after.phase) in {("", "BackingOff"), ("", "Created")}
    odd = _odd_conditions(before, after)
    return PhaseTransition(_all_known(after) and not skips and not odd, False, False, odd or text)


def _odd_conditions(before: NonAdmin, after: NonAdmin) -> str:
    """Violations of the rules that Queued and Deleting never clear and a condition is never removed."""
    for entry in before.state.conditions:
        now = after.condition(entry.type)
        if now is None:
            return f"condition {entry.type} was removed"
        if entry.type in {"Queued", "Deleting"} and is_true(entry) and not is_true(now):
            return f"condition {entry.type} went from True to {now.status}"
    return ""


def _same_phase(before: NonAdmin, after: NonAdmin) -> str:
    for kind in CONDITIONS:
        was, now = before.condition(kind), after.condition(kind)
        if now is not None and (was is None or was.status != now.status):
            return f"{kind} {now.status}" + (f" ({now.reason})" if now.reason else "")
    return f"stays {_shown(after)}"


def _all_known(obj: NonAdmin) -> bool:
    return obj.phase in _ORDER and all(entry.type in CONDITIONS for entry in obj.state.conditions)


def _shown(obj: NonAdmin) -> str:
    return obj.phase or "no phase"
