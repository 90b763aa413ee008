"""A plan: the exact writes, and the sentences by which a person decides about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from foretop_core.actions.action_record import ActionRecord
from foretop_core.models import Resource
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import ObjectRef
from foretop_core.rules.facts.pause_facts import PauseEffect, UnpauseEffect
from foretop_core.rules.snapshot import ClusterSnapshot

Method = Literal["PATCH", "POST", "DELETE"]
Form = Literal["merge", "strategic"]
VERBS: dict[Method, str] = {"PATCH": "patch", "POST": "create", "DELETE": "delete"}


class Write(msgspec.Struct, frozen=True):
    """One request; `before` holds what it changes, as it was."""

    method: Method
    body: dict[str, Any]
    before: dict[str, Any] = msgspec.field(default_factory=dict)
    form: Form = "merge"
    """Lists of built-in kinds are patched strategically, item by item; custom kinds know merge patches only."""


class NamedSource(msgspec.Struct, frozen=True):
    """An object that a new one names; it must be this very one when the new one is made, which a name does not say."""

    target: ObjectRef
    uid: str
    repeated: tuple[str, ...] = ()
    """The way to the part of it that is the spec of the new one, with the fields too that foretop does not know."""


class PlanStep(msgspec.Struct, frozen=True):
    """One write, to one object."""

    target: ObjectRef
    write: Write
    changes: tuple[str, ...]
    """`spec.paused true → false`."""
    forecast: str
    """What will happen, in one sentence."""
    command: str
    """The kubectl or velero line that does the same."""
    warnings: tuple[str, ...] = ()
    source: NamedSource | None = None
    """What a new object is made from, or is to delete."""
    progress: str = ""
    """`61 % moved`: how far the object is. It goes on by itself, so that nobody agrees to it."""
    drill: str = ""
    """The id of the drill that it is part of, for the journal."""
    summary: tuple[str, ...] = ()
    """The first of the changes, of a new object: that it is made, and what it means; its fields follow."""
    basis: msgspec.Struct | None = None
    """What a person agrees to in the place of the forecast, where a status that goes on by itself shall not stop it."""
    effect: PauseEffect | UnpauseEffect | None = None
    """The same as the forecast in facts, for a table of many; they go on by themselves, as the progress does."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The changes without the summary: `spec.paused true → false`."""
        return self.changes[len(self.summary) :]

    @property
    def forecast_and_progress(self) -> str:
        return f"{self.forecast} ({self.progress} now)" if self.progress else self.forecast

    @property
    def uid(self) -> str:
        """The uid of the object that it is meant for; "" for one that is still to be made."""
        if self.write.method == "POST":
            return ""
        part = self.write.body.get("preconditions" if self.write.method == "DELETE" else "metadata") or {}
        return str(part.get("uid", ""))

    def same_as(self, other: PlanStep) -> bool:
        """True if a person who agreed to one has agreed to the other: all but its version and progress.

        The uid counts: a namesake that was made meanwhile is another object.
        """
        return (
            _without_version(self.write.body) == _without_version(other.write.body)
            and (self.target, self.write.method) == (other.target, other.write.method)
            and (self.changes, self.warnings, self.source) == (other.changes, other.warnings, other.source)
            and (self.basis or self.forecast) == (other.basis or other.forecast)
        )


class Refusal(msgspec.Struct, frozen=True):
    """An object that the action is refused for, and why."""

    target: ObjectRef
    why: str


class Plan(msgspec.Struct, frozen=True):
    """All that one action writes, as of one moment."""

    record: ActionRecord
    at: datetime
    steps: tuple[PlanStep, ...]
    refused: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """The rights that are asked for are those of the writes: none of them may be missing in the record."""
        declared = {(needed.verb, needed.kind.name) for needed in self.record.rights}
        for step in self.steps:
            if (right := (VERBS[step.write.method], step.target.kind)) not in declared:
                raise ValueError(f"{self.record.id} writes what its record does not declare: {right[0]} {right[1]}")

    @property
    def contexts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.target.context for step in self.steps))

    def part(self, context: str) -> Plan:
        """The part of it that is sent to one cluster."""
        return replace(self, steps=tuple(step for step in self.steps if step.target.context == context))


Planner: TypeAlias = Callable[[ClusterSnapshot, Iterable[Any], datetime], Plan]
"""An action with all that a person has chosen: what it comes to for these objects of that snapshot, as of a moment."""


def chosen(planner: Callable[..., Plan], **choices: Any) -> Planner:
    """A planner with what a person has chosen."""
    return lambda snapshot, items, now: planner(snapshot, items, now=now, **choices)


def objects_of(snapshot: ClusterSnapshot, kind: Kind) -> tuple[Any, ...]:
    """All objects of a kind that actions are asked of."""
    resources: tuple[Resource, ...] = getattr(snapshot, _PLACES[kind.name])
    return resources


def replace_object(snapshot: ClusterSnapshot, kind: Kind, item: Resource) -> ClusterSnapshot:
    """The same snapshot with one object as it was read just now; no lookup has the object as it was before."""
    place = _PLACES.get(kind.name)
    if place is None:
        return snapshot
    before = objects_of(snapshot, kind)
    others = tuple(other for other in before if (other.namespace, other.name) != (item.namespace, item.name))
    change: dict[str, Any] = {place: (*others, item), "live": None}
    return replace(snapshot, **change)


_PLACES = {
    "Schedule": "schedules",
    "Backup": "backups",
    "Restore": "restores",
    "NonAdminBackup": "nabs",
    "NonAdminRestore": "nars",
    "NonAdminBackupStorageLocationRequest": "storage_requests",
    "PodVolumeBackup": "movements",
    "PodVolumeRestore": "movements",
    "DataUpload": "movements",
    "DataDownload": "movements",
    "ConfigMap": "config_maps",
    "PreScaledCronJob": "prescaled",
    "CronJob": "cron_jobs",
}


def _without_version(body: dict[str, Any]) -> dict[str, Any]:
    """A patch names the version in its metadata, a delete in its preconditions."""
    return {
        key: {inner: value for inner, value in part.items() if inner != "resourceVersion"}
        if key in ("metadata", "preconditions")
        else part
        for key, part in body.items()
    }
