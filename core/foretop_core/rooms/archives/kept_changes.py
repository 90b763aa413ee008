"""The changes of a cluster of late: what was seen, and for the time before that what the objects tell of themselves."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from foretop_core.dashboard.state import DashboardState
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rules import humanize
from foretop_core.rules.changes import ChangeList, ObservedTransition, change_list
from foretop_core.rules.humanize import rfc3339
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.text.terminal_text import unsigned

HEAD = ("TIME", "OBJECT", "CHANGE", "BY")


class KeptChanges:
    """The changes of one cluster that a dashboard has at this moment; the list itself may be made in a thread."""

    def __init__(self, state: DashboardState, context: str, since: datetime) -> None:
        history = state.store.history
        self._objects: Sequence[tuple[ObjectRef, Resource]] = list(state.store.objects(context))
        self._seen = [step for step in history.recent() if step.key.context == context]
        # An archive of one moment was never watched.
        self._seen_from = None if state.origins((context,)) else history.begun.get(context)
        self._since, self._until = since, state.now(context)

    def listed(self) -> ChangeList:
        return change_list(self._objects, self._seen, self._seen_from, self._since, self._until)


def beginning(changes: ChangeList, since: datetime, zone: tzinfo) -> str:
    """How far the list is to be believed; "" where all of its time was watched."""
    if changes.seen_from is None:
        return "Nobody watched: only what the objects that are there tell of themselves. Nothing else is known."
    if changes.seen_from <= since:
        return ""
    begun = humanize.time(changes.seen_from, since, zone)
    return f"Watched since {begun}; before that only what the objects that are there tell of themselves."


def cells(change: ObservedTransition, now: datetime, zone: tzinfo) -> tuple[str, str, str, str]:
    return (
        humanize.time(change.at, now, zone),
        unsigned(str(change.key)),
        unsigned(change.text),
        unsigned(change.by),
    )


def item(change: ObservedTransition) -> Item:
    return {
        "at": rfc3339(change.at),
        "context": change.key.context,
        "kind": change.key.kind,
        "namespace": change.key.namespace,
        "name": change.key.name,
        "what": change.what,
        "before": change.before or None,
        "after": change.after or None,
        "by": change.by or None,
        "seen": not change.told,
    }
