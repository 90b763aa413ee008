"""Clusters in which tenants ask for very many things at once, one kind at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from foretop_core.models import (
    Backup,
    Deployment,
    NonAdminBackup,
    NonAdminRestore,
    Resource,
    Restore,
    Schedule,
    from_builtins,
)
from tests.objects import NOW

_ENDED, _AT_WORK = 30, 2
"""Backups of the team that have ended, and those at work."""
_SCHEDULES = 20


def nabs_of_one_team(count: int) -> list[Resource]:
    """So many NABs of one team, each with a backup that waits."""
    return _tenants(count, lambda _: "team-a")


def nabs_of_many_teams(count: int) -> list[Resource]:
    return _tenants(count, lambda number: f"team-{number % (count // 10)}")


def nabs_that_failed(count: int) -> list[Resource]:
    """So many NABs of one team, each with a backup that failed a moment ago."""
    objects: list[Resource] = [_server()]
    for number in range(count):
        made = NOW - timedelta(minutes=30) + timedelta(microseconds=number)
        times = {"startTimestamp": made.isoformat(), "completionTimestamp": (made + timedelta(minutes=4)).isoformat()}
        status = {"phase": "Failed", "failureReason": "the storage is full", **times}
        objects += [
            _nab(number, "team-a", made, status),
            _backup(number, "team-a", made, status),
        ]
    return objects


def nars_that_failed(count: int) -> list[Resource]:
    """So many NARs of one team, each with a restore that failed a moment ago."""
    objects: list[Resource] = [_server()]
    for number in range(count):
        made, uuid = NOW - timedelta(minutes=30) + timedelta(microseconds=number), f"uuid-{number}"
        name = _name(number, "team-a")
        times = {"startTimestamp": made.isoformat(), "completionTimestamp": (made + timedelta(minutes=4)).isoformat()}
        status = {"phase": "Failed", "failureReason": "the storage is full", **times}
        led_to = {"name": name, "namespace": "velero", "nacuuid": uuid, "status": status}
        nar = {"metadata": _meta(f"nar-{number:05}", "team-a", made), "spec": {}}
        marks = {"labels": {"openshift.io/oadp-nar-origin-nacuuid": uuid}}
        restore = {"metadata": _meta(name, "velero", made) | marks, "spec": {"backupName": "one"}, "status": status}
        objects += [
            from_builtins(NonAdminRestore, {**nar, "status": {"phase": "Created", "veleroRestore": led_to}}),
            from_builtins(Restore, restore),
        ]
    return objects


def patterns_of_namespaces(count: int) -> list[Resource]:
    """Each waiting backup has a pattern of its own."""
    return _tenants(count, lambda _: "team-a", lambda number: {"includedNamespaces": [f"shop-{number:05}*"]})


def schedules_once_a_day(count: int) -> list[Resource]:
    return _schedules_alone(count, lambda number: f"{number % 60} {number // 60 % 2} * * *")


def schedules_every_minute(count: int) -> list[Resource]:
    return _schedules_alone(count, lambda _: "* * * * *")


def schedules_that_never_fire(count: int) -> list[Resource]:
    return _schedules_alone(count, lambda _: "0 0 31 2 *")


CROWDS: Mapping[str, Callable[[int], list[Resource]]] = {
    "NABs of one team": nabs_of_one_team,
    "NABs of many teams": nabs_of_many_teams,
    "NARs that failed": nars_that_failed,
    "patterns of namespaces": patterns_of_namespaces,
    "schedules, once a day": schedules_once_a_day,
    "schedules, every minute": schedules_every_minute,
    "schedules that never fire": schedules_that_never_fire,
}


def waiting(number: int, team: str, spec: Mapping[str, Any] | None = None) -> tuple[Resource, Resource]:
    """A NAB of a team, with its backup in the queue."""
    made = NOW - timedelta(minutes=30) + timedelta(microseconds=number)
    return (
        _nab(number, team, made),
        _backup(number, team, made, {"phase": "Queued", "queuePosition": number + 1}, spec),
    )


def _tenants(
    count: int, team: Callable[[int], str], spec: Callable[[int], Mapping[str, Any]] = lambda _: {}
) -> list[Resource]:
    objects: list[Resource] = [_server(), *_of_schedules(_SCHEDULES, lambda number: f"{3 * number} 3 * * *")]
    for number in range(count):
        objects += waiting(number, team(number), spec(number))
    objects += _ended()
    for place in range(_AT_WORK):
        begun = NOW - timedelta(minutes=2, seconds=place)
        status = {"phase": "InProgress", "startTimestamp": begun.isoformat()}
        objects.append(_backup(-_ENDED - 1 - place, f"team-at-work-{place}", begun, status))
    return objects


def _schedules_alone(count: int, cron: Callable[[int], str]) -> list[Resource]:
    return [_server(), *_of_schedules(count, cron), *_ended()]


def _ended() -> Iterator[Resource]:
    for back in range(1, _ENDED + 1):
        begun = NOW - timedelta(minutes=20 * back)
        times = {"startTimestamp": begun.isoformat(), "completionTimestamp": (begun + timedelta(minutes=4)).isoformat()}
        yield _backup(-back, "team-a", begun, {"phase": "Completed", **times})


def _of_schedules(count: int, cron: Callable[[int], str]) -> list[Resource]:
    return [
        from_builtins(
            Schedule,
            {
                "metadata": _meta(f"schedule-{number:05}", "velero", NOW - timedelta(days=20)),
                "spec": {"schedule": cron(number), "template": {"includedNamespaces": [f"shop-{number}"]}},
                "status": {"phase": "Enabled", "lastBackup": (NOW - timedelta(minutes=1)).isoformat()},
            },
        )
        for number in range(count)
    ]


def _server() -> Resource:
    container = {"name": "velero", "image": "velero/velero:v1.18.3", "args": ["server", "--concurrent-backups=3"]}
    spec = {"replicas": 1, "template": {"spec": {"containers": [container]}}}
    return from_builtins(Deployment, {"metadata": _meta("velero", "velero", NOW - timedelta(days=20)), "spec": spec})


def _nab(number: int, team: str, made: datetime, copied: Mapping[str, Any] | None = None) -> Resource:
    velero = {
        "name": _name(number, team),
        "namespace": "velero",
        "nacuuid": f"uuid-{number}",
        "status": copied or {"phase": "Queued"},
    }
    queue = {} if copied else {"queueInfo": {"estimatedQueuePosition": number + 1}}
    status = {"phase": "Created", "veleroBackup": velero, **queue}
    return from_builtins(
        NonAdminBackup, {"metadata": _meta(f"nab-{number:05}", team, made), "spec": {}, "status": status}
    )


def _backup(
    number: int, team: str, made: datetime, status: Mapping[str, Any], spec: Mapping[str, Any] | None = None
) -> Resource:
    marks = {
        "labels": {"openshift.io/oadp-nab-origin-nacuuid": f"uuid-{number}"},
        "annotations": {
            "openshift.io/oadp-nab-origin-name": f"nab-{number:05}",
            "openshift.io/oadp-nab-origin-namespace": team,
        },
    }
    meta = _meta(_name(number, team), "velero", made) | marks
    return from_builtins(
        Backup, {"metadata": meta, "spec": {"includedNamespaces": [team], **(spec or {})}, "status": status}
    )


def _name(number: int, team: str) -> str:
    return f"{team}-{number:05}"


def _meta(name: str, namespace: str, made: datetime) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": namespace,
        "uid": f"{namespace}-{name}",
        "resourceVersion": "1",
        "creationTimestamp": made.isoformat(),
    }
