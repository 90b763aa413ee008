"""The changes of an object between two versions of it, and what an object proves of its own past."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import takewhile
from typing import Any

import msgspec

from foretop_core.foreign_text import redacted
from foretop_core.models import (
    Backup,
    DataMovement,
    NonAdmin,
    NonAdminBackupStorageLocation,
    Pod,
    Restore,
    Schedule,
)
from foretop_core.models.wire import ObjectRef, Resource, UnreadableObject
from foretop_core.rules.heartbeat import signs_in
from foretop_core.rules.pauses import pause_info, written_with

_LONGEST = 64
"""Letters of a phase, a condition or a field; anybody may write a megabyte into them."""
_LED_IN_BY = 12
_MOST_FIELDS = 12
"""Of one write; whoever writes a whole template anew is told of in a few lines."""
_OPEN = ("", "0s", "{}")
"""A field that is not there, as one program or the other writes it."""
CREATED, DELETED = "created", "deleted"


class ObservedTransition(msgspec.Struct, frozen=True, gc=False):
    """One change; `what` is `phase`, `Velero phase`, `paused`, a condition, a field of the spec, or what was done."""

    at: datetime
    key: ObjectRef
    what: str
    before: str = ""
    after: str = ""
    by: str = ""
    """Reads on after what was done: `by maria`, `with kubectl-edit`; "" where nothing says who."""
    told: bool = False
    """Only the object tells of it: nobody watched."""

    @property
    def text(self) -> str:
        """`phase: New → InProgress`; what was done stands for itself."""
        if not self.before and not self.after:
            return self.what
        return f"{self.what}: {self.before or 'none'} → {self.after or 'none'}"


def changes_between(
    key: ObjectRef, before: Resource | None, after: Resource | None, at: datetime
) -> Iterator[ObservedTransition]:
    """The difference of two versions of one object; one that was made anew under its name is deleted and created."""
    if isinstance(before, UnreadableObject) or isinstance(after, UnreadableObject):
        return
    if before is not None and (after is None or before.metadata.uid != after.metadata.uid):
        yield ObservedTransition(at, key, DELETED)
        before = None
    if after is None:
        return
    if before is None:
        yield ObservedTransition(at, key, CREATED, by=_only_writer(after))
        return
    old, new = _states(before), _states(after)
    if old != new:
        for what in {**old, **new}:
            was, now = old.get(what, ""), new.get(what, "")
            if was != now:
                by = pause_info(after).who if what == "paused" and isinstance(after, Schedule) else ""
                yield ObservedTransition(at, key, what[:_LONGEST], was[:_LONGEST], now[:_LONGEST], by)
    # The server fills in what was left open, and adds to it, when it takes a run up.
    if not isinstance(after, Backup | Restore) or old == new:
        yield from _fields_changed(key, before, after, at)


def _states(resource: Resource) -> dict[str, str]:
    """The states of an object that foretop tells in a word each."""
    phase = getattr(resource, "phase", None)
    facts = {"phase": phase} if isinstance(phase, str) else {}
    if isinstance(resource, Schedule):
        facts["paused"] = "true" if resource.spec.paused else "false"
    elif isinstance(resource, NonAdmin):
        facts |= {entry.type: entry.status for entry in resource.state.conditions}
        if (velero := resource.velero.status) is not None and velero.phase:
            facts["Velero phase"] = velero.phase
    elif isinstance(resource, NonAdminBackupStorageLocation):
        facts |= {entry.type: entry.status for entry in resource.status.conditions}
    return facts


def _fields_changed(key: ObjectRef, before: Resource, after: Resource, at: datetime) -> Iterator[ObservedTransition]:
    """The fields of the spec, without secrets in them; a pod's are those of whoever made it."""
    old, new = getattr(before, "spec", None), getattr(after, "spec", None)
    if old is new or old == new or isinstance(after, Pod) or type(old) is not type(new):
        return
    was, now = _fields(old), _fields(new)
    if isinstance(after, Schedule):
        # It is told as a state, with who did it.
        was.pop("spec.paused", None)
        now.pop("spec.paused", None)
    fields = [name for name in {**was, **now} if _differ(name, was.get(name, ""), now.get(name, ""))]
    if isinstance(after, Backup | Restore):
        # The server fills in what was left open when it begins.
        fields = [name for name in fields if was.get(name, "") not in _OPEN]
    by = _writer(before, after)
    for name in fields[:_MOST_FIELDS]:
        by_field = _expression_by(after) if name == "spec.schedule" and isinstance(after, Schedule) else ""
        yield ObservedTransition(
            at, key, name[:_LONGEST], *_from_where_they_differ(was.get(name, ""), now.get(name, "")), by_field or by
        )
    if len(fields) > _MOST_FIELDS:
        yield ObservedTransition(at, key, f"{len(fields) - _MOST_FIELDS} more fields of spec", by=by)


def _from_where_they_differ(was: str, now: str) -> tuple[str, str]:
    """Both texts; of long ones the beginning that they share is left out."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(was, now, strict=False))
    shared = sum(1 for _ in alike) - _LED_IN_BY
    if max(len(was), len(now)) > _LONGEST and shared > 0:
        was, now = f"…{was[shared:]}", f"…{now[shared:]}"
    return was[:_LONGEST], now[:_LONGEST]


def _differ(name: str, was: str, now: str) -> bool:
    # An empty selector takes nothing, and none takes all.
    return was != now and not (was in _OPEN and now in _OPEN and not name.endswith("labelSelector"))


def _fields(spec: Any) -> dict[str, str]:
    return {
        name: text for part, value in msgspec.to_builtins(spec).items() for name, text in _leaves(value, f"spec.{part}")
    }


def _leaves(part: Any, above: str) -> Iterator[tuple[str, str]]:
    if part == {} and above == "spec.template":
        return
    if isinstance(part, Mapping) and part:
        for name, value in part.items():
            yield from _leaves(value, f"{above}.{name}")
    elif isinstance(part, str):
        yield above, redacted(part)
    else:
        yield above, redacted(msgspec.json.encode(part).decode())


def _writers(resource: Resource) -> dict[str, None]:
    return dict.fromkeys(entry.manager for entry in resource.metadata.managed_fields if entry.manager)


def _only_writer(resource: Resource) -> str:
    """The program that wrote all of it; of several it is not known which one came first."""
    programs = list(_writers(resource))
    return written_with(programs[0]) if len(programs) == 1 else ""


def _writer(before: Resource, after: Resource) -> str:
    """The program that has written it for the first time, or the only one that ever did."""
    fresh = [program for program in _writers(after) if program not in _writers(before)]
    return written_with(fresh[0]) if len(fresh) == 1 else _only_writer(after) if not fresh else ""


def _expression_by(schedule: Schedule) -> str:
    field = schedule.expression_field_set
    return written_with(field.manager) if field is not None and field.manager else ""


def told_by(key: ObjectRef, resource: Resource) -> Iterator[ObservedTransition]:
    """Tells what the times in an object prove, whoever watched; what lies between them is not known."""
    meta = resource.metadata
    if meta.creation_timestamp is not None:
        yield ObservedTransition(meta.creation_timestamp, key, CREATED, by=_only_writer(resource), told=True)
    if meta.deletion_timestamp is not None:
        yield ObservedTransition(meta.deletion_timestamp, key, "asked to be deleted", told=True)
    for moment, did in _times(resource):
        yield ObservedTransition(moment, key, did, told=True)
    if not isinstance(resource, Schedule):
        return
    made, set_paused, written = meta.creation_timestamp, resource.paused_field_set, resource.expression_field_set
    # Both fields are set when it is made, too.
    if set_paused is not None and set_paused.time is not None and (resource.spec.paused or set_paused.time != made):
        word = "paused" if resource.spec.paused else "paused set to false"
        yield ObservedTransition(set_paused.time, key, word, by=pause_info(resource).who, told=True)
    if written is not None and written.time is not None and written.time != made:
        yield ObservedTransition(written.time, key, "spec.schedule written", by=_expression_by(resource), told=True)


def _times(resource: Resource) -> Iterator[tuple[datetime, str]]:
    phase = str(getattr(resource, "phase", ""))[:_LONGEST]
    if isinstance(resource, DataMovement):
        status = resource.status
        if status.start_timestamp is not None:
            yield status.start_timestamp, "started"
        if status.completion_timestamp is not None:
            yield status.completion_timestamp, f"ended, {status.phase[:_LONGEST]}"
        return
    for sign in signs_in(resource):
        yield sign.at, f"{sign.did}, {phase}" if sign.did == "ended" and phase else sign.did
    conditions = resource.state.conditions if isinstance(resource, NonAdmin) else ()
    for entry in conditions:
        if entry.last_transition_time is not None:
            yield entry.last_transition_time, f"{entry.type[:_LONGEST]} is {entry.status[:_LONGEST]}"


class ChangeList(msgspec.Struct, frozen=True):
    """The changes of one cluster within a time, the newest first."""

    changes: tuple[ObservedTransition, ...]
    seen_from: datetime | None
    """Since when somebody watched; of what lies before only the objects that are still there tell."""


def change_list(
    objects: Iterable[tuple[ObjectRef, Resource]],
    seen: Iterable[ObservedTransition],
    seen_from: datetime | None,
    since: datetime,
    until: datetime,
) -> ChangeList:
    """Lists what was seen, and for the time before that what the objects tell."""
    begin = seen_from if seen_from is not None else until
    found = [step for step in seen if since <= step.at <= until]
    if since < begin:
        told = (step for key, item in objects for step in told_by(key, item))
        within = (step for step in told if since <= step.at <= until and (seen_from is None or step.at < begin))
        # Objects come from many watches, whichever was first.
        found += sorted(within, key=lambda step: (step.at, step.key))
    return ChangeList(tuple(sorted(found, key=lambda step: step.at)[::-1]), seen_from)
