"""The phases of Velero's backups and restores in sets for the rules; an unknown phase belongs to no set."""

from __future__ import annotations

WAITING = frozenset({"", "New", "Queued"})
"""Velero has not begun: on releases without a queue a waiting backup has no status at all."""

QUEUE_PHASES = frozenset({"Queued", "ReadyToStart"})
"""Releases before 1.18 have no queue and none of these."""

HOLDS_SLOT = frozenset({"ReadyToStart", "InProgress"})
"""Counts against `--concurrent-backups`; finishing backups no longer do."""

FINISHING = frozenset(
    {
        "WaitingForPluginOperations",
        "WaitingForPluginOperationsPartiallyFailed",
        "Finalizing",
        "FinalizingPartiallyFailed",
    }
)

MOVES_DATA = frozenset({"WaitingForPluginOperations", "WaitingForPluginOperationsPartiallyFailed"})
"""All items are done, and volumes are still on their way."""

ENDED = frozenset({"Completed", "PartiallyFailed", "Failed", "FailedValidation", "Deleting"})

FAULTY = frozenset({"PartiallyFailed", "Failed", "FailedValidation"})

OUTCOMES = {"Failed": "failed", "PartiallyFailed": "partly failed", "FailedValidation": "was refused"}
"""The faulty phases in words."""

USABLE = frozenset({"Completed", "PartiallyFailed"})
"""Something can be restored from it."""

HOLDS_SCHEDULE = frozenset({"", "New", "InProgress"})
"""The overlap guard: a schedule with a backup in one of these starts no other."""
READABLE = frozenset(
    {
        "Completed",
        "PartiallyFailed",
        "Failed",
        "WaitingForPluginOperations",
        "WaitingForPluginOperationsPartiallyFailed",
    }
)
"""Only in these has Velero uploaded log and results."""


def why_no_files(phase: str) -> str:
    """Why log and results of a run in this phase cannot be fetched; "" where Velero has stored them."""
    if phase in READABLE:
        return ""
    if phase == "FailedValidation":
        return "it was refused before it ran"
    if phase == "Deleting":
        return "Velero is deleting it, with its log and results"
    if phase in WAITING or phase == "ReadyToStart":
        return f"it has not begun ({phase or 'New'})"
    return f"it has not ended ({phase})"
