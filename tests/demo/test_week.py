"""A simulated week: nothing is lost or duplicated, nothing goes backwards, nothing grows without bound."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from foretop_core.cron import Dialect, parse
from foretop_core.models import Backup, Restore
from foretop_demo.change_log import Change
from foretop_demo.controllers import Flags, SimulatedRun
from foretop_demo.kinds import Kind
from tests.demo.controller_box import ControllerBox

START = datetime(2026, 11, 15, 0, 0, 17, tzinfo=UTC)
WEEK = timedelta(days=7)
CRONS = {
    "hourly": "5 * * * *",
    "office": "30 9-17 * * mon-fri",
    "nightly": "30 2 * * *",
    "berlin": "CRON_TZ=Europe/Berlin 0 3 * * *",
    "six-hourly": "15 */6 * * *",
    "weekly": "0 4 * * 3",
    "two-days": "0 12 */2 * *",
}
ORDER = ("", "Queued", "ReadyToStart", "InProgress", "Finalizing", "Completed", "Deleting")


def _work(run: Backup | Restore) -> SimulatedRun:
    return SimulatedRun(timedelta(minutes=3), 500, steps=4)


class ChangeObserver:
    """Records every change: the phases of each backup, and the number of objects."""

    def __init__(self, box: ControllerBox) -> None:
        self.phases: defaultdict[str, list[str]] = defaultdict(list)
        self.made: Counter[str] = Counter()
        box.storage.subscribe(self._on_change)

    def _on_change(self, kind: Kind, change: Change) -> None:
        if kind.kind != "Backup":
            return
        meta: dict[str, Any] = change.body["metadata"]
        if change.type == "ADDED":
            self.made[meta["name"]] += 1
        if change.type != "DELETED":
            self.phases[meta["name"]].append((change.body.get("status") or {}).get("phase", ""))


@pytest.fixture(scope="module")
def week() -> tuple[ControllerBox, ChangeObserver, list[int]]:
    box = ControllerBox(START, Flags(concurrent_backups=2), _work)
    observer = ChangeObserver(box)
    box.add_location(validationFrequency="1h", backupSyncPeriod="1h")
    box.velero.start()
    box.non_admin.start()
    for name, cron in CRONS.items():
        template = {"includedNamespaces": [name], "ttl": "24h0m0s"}
        box.create("Schedule", "velero", name, {"schedule": cron, "template": template})
    sizes = []
    for day in range(7):
        box.create("NonAdminBackup", "team-a", f"day-{day}", {"backupSpec": {}})
        box.engine.advance(WEEK / 7)
        if day:
            box.patch("NonAdminBackup", "team-a", f"day-{day - 1}", {"spec": {"deleteBackup": True}})
        sizes.append(sum(len(box.all(kind.kind)) for kind in box.storage.catalog))
    return box, observer, sizes


def test_schedules_fire_when_their_expressions_say(week: tuple[ControllerBox, ChangeObserver, list[int]]) -> None:
    """In the first minute pass, at second 17, after every run."""
    _, observer, _ = week
    for name, cron in CRONS.items():
        runs = parse(cron, Dialect.NETRESEARCH).between(START, START + WEEK)
        expected = [f"{name}-{run + timedelta(seconds=17):%Y%m%d%H%M%S}" for run in runs]
        assert [made for made in observer.made if made.startswith(f"{name}-")] == expected


def test_no_backup_is_lost_or_duplicated(week: tuple[ControllerBox, ChangeObserver, list[int]]) -> None:
    box, observer, _ = week
    assert set(observer.made.values()) == {1}
    present = {body["metadata"]["name"] for body in box.all("Backup")}
    ended = {name for name, phases in observer.phases.items() if "Completed" in phases}
    assert set(observer.made) - ended <= present, "what is gone was completed first"
    assert len(ended) > 200


def test_no_phase_goes_backwards(week: tuple[ControllerBox, ChangeObserver, list[int]]) -> None:
    _, observer, _ = week
    for name, phases in observer.phases.items():
        places = [ORDER.index(phase) for phase in phases]
        assert places == sorted(places), name


def test_objects_do_not_accumulate(week: tuple[ControllerBox, ChangeObserver, list[int]]) -> None:
    """Backups live for a day and are collected within the hour, so the second day has as many as the last."""
    box, _, sizes = week
    assert max(sizes[1:]) - min(sizes[1:]) < 15, sizes
    assert box.engine.pending < 20
