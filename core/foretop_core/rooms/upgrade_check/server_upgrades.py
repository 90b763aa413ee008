"""The effect of a Velero upgrade on the schedules of each server."""

from __future__ import annotations

from datetime import datetime

import msgspec

from foretop_core.cron import Dialect
from foretop_core.errors import BadInput
from foretop_core.models import Schedule
from foretop_core.rules.cron_dialects import ALL_DIALECTS, DialectVerdict, Release, read_release, readings, releases_of
from foretop_core.rules.cron_dialects.upgrade_effect import UpgradeEffect, upgrade_effect
from foretop_core.rules.snapshot import ClusterSnapshot

NEEDED = frozenset({"", "Schedule"})
"""Of what was not seen, the kinds that hold schedules; "" is a whole cluster."""


class ScheduleUpgrade(msgspec.Struct, frozen=True):
    """One schedule that is read differently after an upgrade; several for one schedule where its release is open."""

    schedule: Schedule
    before: str
    """The release that the server has, or those that it may have and that read the schedule like this."""
    effect: UpgradeEffect


class ServerUpgrade(msgspec.Struct, frozen=True):
    """The schedules of one server, and those that change."""

    context: str
    namespace: str
    verdict: DialectVerdict
    before: str
    schedules: int
    changes: tuple[ScheduleUpgrade, ...]

    @property
    def changed(self) -> int:
        return len({change.schedule.name for change in self.changes})

    @property
    def losing_all(self) -> int:
        """Schedules that make no backup at all any more, by at least one release that the server may have."""
        return len({change.schedule.name for change in self.changes if change.effect.loses_all})


def target(text: str) -> tuple[Release, Dialect]:
    """The release to upgrade to; raises BadInput in one line for what is none or leaves the dialect open."""
    release = read_release(text)
    if len(release.dialects) > 1:
        raise BadInput(
            f"Velero {release} does not determine how cron is read", hint=f"give the patch, such as {release}.3"
        )
    return release, release.dialects[0]


def server_upgrades(snapshot: ClusterSnapshot, to: Dialect, now: datetime) -> tuple[ServerUpgrade, ...]:
    """Every server of a context that has schedules, by namespace."""
    return tuple(_server(snapshot, namespace, to, now) for namespace in sorted(snapshot.schedules_by_namespace))


def _server(snapshot: ClusterSnapshot, namespace: str, to: Dialect, now: datetime) -> ServerUpgrade:
    verdict = snapshot.verdict(namespace)
    schedules = sorted(snapshot.schedules_by_namespace[namespace], key=lambda schedule: schedule.name)
    possible = _possible(verdict, to)
    changes = [change for schedule in schedules for change in _changes(schedule, verdict, possible, to, now)]
    return ServerUpgrade(
        snapshot.context, namespace, verdict, _release(verdict, possible), len(schedules), tuple(changes)
    )


def _possible(verdict: DialectVerdict, to: Dialect) -> tuple[Dialect, ...]:
    """The dialects that the server may have now; where that is open, those of releases before the new one."""
    earlier = ALL_DIALECTS[: ALL_DIALECTS.index(to)]
    return tuple(each for each in verdict.candidates if verdict.is_certain or each in earlier) or verdict.candidates


def _changes(
    schedule: Schedule, verdict: DialectVerdict, possible: tuple[Dialect, ...], to: Dialect, now: datetime
) -> list[ScheduleUpgrade]:
    upgrades = []
    for reading in readings(schedule.spec.schedule, possible):
        effect = upgrade_effect(schedule.spec.schedule, reading.dialect, to, now)
        if effect is not None:
            upgrades.append(ScheduleUpgrade(schedule, _release(verdict, reading.dialects), effect))
    return upgrades


def _release(verdict: DialectVerdict, dialects: tuple[Dialect, ...]) -> str:
    """`1.18.2` where the release is known, otherwise `1.15 to 1.18.2`."""
    release = verdict.release
    if release is not None and verdict.is_certain and release.dialects == dialects:
        return str(release)
    return releases_of(dialects).removeprefix("Velero ")
