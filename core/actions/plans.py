"""A plan: the exact writes, and the sentences by which a person decides about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from core.actions.intents import Intent
from core.models.kinds import Kind

Method = Literal["PATCH", "POST", "DELETE"]


@dataclass(frozen=True, slots=True)
class Target:
    """Which object of which cluster."""

    context: str
    kind: Kind
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind.name.lower()} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Write:
    """One request; `before` holds what it changes, as it was."""

    method: Method
    body: dict[str, Any]
    before: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """What is done to one object."""

    target: Target
    write: Write
    changes: tuple[str, ...]
    """`spec.paused true → false`."""
    forecast: str
    """What will happen, in one sentence."""
    command: str
    """The kubectl or velero line that does the same."""
    warnings: tuple[str, ...] = ()

    def same_as(self, other: Step) -> bool:
        """Whether a person who agreed to one has agreed to the other: all but the version it was planned on."""
        return (
            _without_version(self.write.body) == _without_version(other.write.body)
            and self.write.method == other.write.method
            and (self.changes, self.forecast, self.warnings) == (other.changes, other.forecast, other.warnings)
        )


@dataclass(frozen=True, slots=True)
class Refusal:
    """An object for which the wish cannot be granted, and why."""

    target: Target
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one wish comes to, as of one moment."""

    intent: Intent
    at: datetime
    steps: tuple[Step, ...]
    refused: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()


def _without_version(body: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in body.get("metadata", {}).items() if key != "resourceVersion"}
    return {**body, "metadata": meta}
