"""Backups and restores for the rules' tests, and the recordings as the objects at each time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from foretop_core.models import Backup, BackupSpec, Resource, Restore
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION, NAB_NAMESPACE_ANNOTATION
from foretop_core.models.velero import SCHEDULE_LABEL, BackupStatus, ItemProgress, RestoreStatus
from foretop_core.models.wire import Metadata
from tests import recordings

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
CONCURRENCY = {"queue": 2}
"""The server flag of each recording whose concurrency was not the default of one."""

Recorded = Mapping[tuple[str, str, str], Resource]


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def backup(
    name: str,
    phase: str = "",
    *,
    created: float = 0,
    started: float | None = None,
    ended: float | None = None,
    place: int | None = None,
    namespaces: tuple[str, ...] = (),
    excluded: tuple[str, ...] = (),
    schedule: str = "",
    nab: str = "",
    items: tuple[int, int] | None = None,
    version: int = 0,
    velero: str = "velero",
) -> Backup:
    """A backup; times are minutes from noon, `nab` is namespace/name."""
    team, _, nab_name = nab.partition("/")
    origin = {NAB_NAMESPACE_ANNOTATION: team, NAB_NAME_ANNOTATION: nab_name} if nab else {}
    return Backup(
        metadata=Metadata(
            name=name,
            namespace=velero,
            creation_timestamp=at(created),
            resource_version=str(version or ""),
            labels={SCHEDULE_LABEL: schedule} if schedule else {},
            annotations=origin,
        ),
        spec=BackupSpec(included_namespaces=namespaces, excluded_namespaces=excluded),
        status=BackupStatus(
            phase=phase,
            start_timestamp=None if started is None else at(started),
            completion_timestamp=None if ended is None else at(ended),
            queue_position=place,
            progress=ItemProgress(items_backed_up=items[0], total_items=items[1]) if items else None,
        ),
    )


def restore(
    name: str,
    phase: str = "",
    *,
    created: float = 0,
    started: float | None = None,
    ended: float | None = None,
    version: int = 0,
) -> Restore:
    return Restore(
        metadata=Metadata(
            name=name, namespace="velero", creation_timestamp=at(created), resource_version=str(version or "")
        ),
        status=RestoreStatus(
            phase=phase,
            start_timestamp=None if started is None else at(started),
            completion_timestamp=None if ended is None else at(ended),
        ),
    )


def past(schedule: str, *lengths: float, nab: str = "") -> list[Backup]:
    """Completed runs long ago, the first the oldest, with these lengths in minutes."""
    start = -10_000.0
    return [
        backup(
            f"{schedule or nab}-past-{number}",
            "Completed",
            created=start + 100 * number,
            started=start + 100 * number,
            ended=start + 100 * number + length,
            schedule=schedule,
            nab=nab,
        )
        for number, length in enumerate(lengths)
    ]


def walk(name: str) -> Iterator[tuple[recordings.Event, Recorded]]:
    """Each event of a recording with the objects just before it."""
    objects: dict[tuple[str, str, str], Resource] = {}
    for event in recordings.events(name):
        yield event, objects
        if event.type == "DELETED":
            objects.pop(event.key, None)
        else:
            objects[event.key] = event.object


def backups_in(objects: Recorded) -> list[Backup]:
    return [entry for entry in objects.values() if isinstance(entry, Backup)]


def restores_in(objects: Recorded) -> list[Restore]:
    return [entry for entry in objects.values() if isinstance(entry, Restore)]


def objects_at(name: str, moment: str) -> Recorded:
    """The objects of a recording at a time of its night, given as hh:mm:ss."""
    until = datetime.fromisoformat(f"2026-11-15T{moment}+00:00")
    objects: Recorded = {}
    for event, objects in walk(name):
        if event.t > until:
            return dict(objects)
    return dict(objects)
