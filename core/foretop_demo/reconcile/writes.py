"""The writes of a reconciler, as small values to be applied in order."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from typing import Any, TypeAlias

import msgspec

from foretop_core.models.kinds import Kind
from foretop_core.models.wire import OwnerReference

Fields: TypeAlias = Mapping[str, Any]


class Behaviour(Enum):
    """Which behaviour to follow where the documents and the released controllers differ."""

    RELEASED = "released"
    SEED = "seed"


class Create(msgspec.Struct, frozen=True):
    """A new object; with `generate_name` the name is a prefix, as in the API."""

    kind: Kind
    namespace: str
    name: str
    spec: Fields
    labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    generate_name: bool = False


class Patch(msgspec.Struct, frozen=True):
    """A merge patch of the object, including its status if the kind has no status subresource."""

    kind: Kind
    namespace: str
    name: str
    patch: Fields


class PatchStatus(msgspec.Struct, frozen=True):
    """A merge patch of the status subresource: `patch` is what goes under `status`."""

    kind: Kind
    namespace: str
    name: str
    patch: Fields


class Delete(msgspec.Struct, frozen=True):
    kind: Kind
    namespace: str
    name: str


Write: TypeAlias = Create | Patch | PatchStatus | Delete


class Reconciled(msgspec.Struct, frozen=True):
    """One small step: apply the writes in order, read the objects again, and reconcile until none is left.

    `requeue` asks for another reconcile although nothing may change; `problem` is why a controller stopped.
    """

    writes: tuple[Write, ...] = ()
    requeue: bool = False
    problem: str = ""
    server_default_used: bool = False


def merge_patch(before: Fields, after: Fields) -> dict[str, Any]:
    """The merge patch from one plain value to the other; lists are replaced as a whole."""
    patch: dict[str, Any] = {key: None for key in before if key not in after}
    for key, wanted in after.items():
        present = before.get(key)
        if isinstance(wanted, Mapping) and isinstance(present, Mapping):
            inner = merge_patch(present, wanted)
            if inner:
                patch[key] = inner
        elif key not in before or present != wanted:
            patch[key] = wanted
    return patch


def to_second(moment: datetime) -> datetime:
    """A time without its fraction, as the API stores it."""
    return moment.astimezone(UTC).replace(microsecond=0)


def wire_time(moment: datetime) -> str:
    return to_second(moment).strftime("%Y-%m-%dT%H:%M:%SZ")
