"""The changes of a cluster of late: what was seen, and for the time before that what the objects tell of themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

import msgspec

from foretop_core.dashboard.state import DashboardState
from foretop_core.errors import Unreadable
from foretop_core.kube.connection.list_watch_codec import read_object
from foretop_core.models.kinds import Kind
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.rooms.archives.client import ArchiveClient
from foretop_core.rooms.archives.recording import Recording
from foretop_core.rules import humanize
from foretop_core.rules.changes import CREATED, ChangeList, ObservedTransition, change_list, changes_between
from foretop_core.rules.humanize import rfc3339
from foretop_core.tables.engine.json_items import Item
from foretop_core.tables.text.terminal_text import unsigned

HEAD = ("TIME", "OBJECT", "CHANGE", "BY")


class KeptChanges:
    """The changes of one cluster that a dashboard has at this moment; the list itself may be made in a thread."""

    def __init__(self, state: DashboardState, context: str, since: datetime) -> None:
        history = state.store.history
        self._context = context
        self._objects: Sequence[tuple[ObjectRef, Resource]] = list(state.store.objects(context))
        self._seen = [step for step in history.recent() if step.key.context == context]
        self._seen_from = history.kept_since(context)
        cluster = state.source.clusters.get(context)
        self._archive = cluster.client.archive if cluster and isinstance(cluster.client, ArchiveClient) else None
        self._since, self._until = since, state.now(context)

    def listed(self) -> ChangeList:
        """Costs a look at each object, and of a recording at each event of this time."""
        if self._archive is None:
            return change_list(self._objects, self._seen, self._seen_from, self._since, self._until)
        recording = self._archive.recording
        if recording is None:
            # An archive of one moment was never watched.
            return change_list(self._objects, (), None, self._since, self._until)
        seen = recorded_changes(recording, self._context, self._since, self._until)
        return change_list(self._objects, seen, recording.begin, self._since, self._until)


def recorded_changes(
    recording: Recording, context: str, since: datetime, until: datetime
) -> Iterator[ObservedTransition]:
    """The changes in this time, the oldest first."""
    raws = {(kind, key): raw for kind, held in recording.objects(since).items() for key, raw in held.items()}
    begin = recording.begin.replace(microsecond=0)
    for event in recording.events(recording.position(since), recording.position(until)):
        place = event.kind, event.key
        is_deleted = event.type == "DELETED"
        before, after = (
            read_event(event.kind, raws.get(place)),
            None if is_deleted else read_event(event.kind, event.raw),
        )
        if after is None and not is_deleted:
            # One that cannot be read is not gone.
            continue
        if is_deleted:
            raws.pop(place, None)
        else:
            raws[place] = event.raw
        for change in changes_between(ObjectRef(context, event.kind.name, *event.key), before, after, event.at):
            # A recording begins with what was there before it.
            if change.what != CREATED or (after is not None and after.created is not None and after.created >= begin):
                yield change


def read_event(kind: Kind, raw: bytes | None) -> Resource | None:
    """The object of an event; None for none, and for one that cannot be read."""
    try:
        return read_object(kind, msgspec.Raw(raw)) if raw is not None else None
    except Unreadable:
        return None


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
