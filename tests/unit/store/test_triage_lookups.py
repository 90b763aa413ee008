"""Findings from the store's indexes are those of a look at every object, and cost the same in a large cluster."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from types import FrameType
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from foretop_core.clock import ManualClock
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, Resource, from_builtins
from foretop_core.models.kinds import BACKUP, NAB, NAR, RESTORE, SCHEDULE, STORAGE, Kind
from foretop_core.rules.lookups import Lookups
from foretop_core.rules.triage import triage
from foretop_core.store import Store
from foretop_core.tables.resources.runs import BackupsView
from tests.examples import few_or_many
from tests.objects import NOW
from tests.tui.fake_source import FilledSource

pytestmark = pytest.mark.long

CONTEXT = "prod"
KINDS = (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, NAR)
PHASES = {
    SCHEDULE: ("Enabled", "FailedValidation"),
    STORAGE: ("Available", "Unavailable"),
    BACKUP: ("", "Queued", "ReadyToStart", "InProgress", "Finalizing", "Completed", "Failed", "FailedValidation"),
    RESTORE: ("", "InProgress", "Completed", "PartiallyFailed", "Failed"),
    NAB: ("", "New", "BackingOff", "Created", "Deleting"),
    NAR: ("", "New", "BackingOff", "Created", "Deleting"),
}

numbers = st.integers(0, 2)
moments = st.sampled_from((-5000, -3000, -121, -61, -60, -30, -4, -3, -2, -1, 0, 61, 200))
"""In minutes from now."""
bodies = st.fixed_dictionaries(
    {
        "number": numbers,
        "phase": st.integers(0, 9),
        "created": moments,
        "started": st.none() | moments,
        "ended": st.none() | moments,
        "expires": st.none() | moments,
        "uuid": st.integers(0, 1),
        "place": st.integers(0, 2),
        "deleting": st.booleans(),
        "restarted": st.booleans(),
    }
)
events = st.tuples(st.sampled_from(KINDS), st.sampled_from(("MODIFIED", "DELETED")), bodies)
relists = st.tuples(st.sampled_from(KINDS), st.just("relist"), st.lists(bodies, max_size=3))
steps = st.tuples(st.none(), st.just("clock"), st.integers(-60, 3000))


class World:
    """A store behind watches of every kind, and its clock."""

    def __init__(self) -> None:
        self.store, self.clock, self.version = Store(), ManualClock(NOW), 0
        for kind in KINDS:
            self.sink(kind).health(WatchHealth(WatchState.LIVE, NOW))

    def sink(self, kind: Kind) -> Any:
        return self.store.sink(WatchScope(CONTEXT, kind), self.clock)

    def take(self, kind: Kind | None, what: str, body: Any) -> None:
        if kind is None:
            self.clock.advance(timedelta(minutes=body))
        elif what == "relist":
            self.sink(kind).replace_begin()
            self.sink(kind).page([self.made(kind, each) for each in {one["number"]: one for one in body}.values()])
            self.sink(kind).replace_end()
        else:
            self.sink(kind).apply(what, self.made(kind, body))

    def made(self, kind: Kind, body: dict[str, Any]) -> Resource:
        self.version += 1
        phase = PHASES[kind][body["phase"] % len(PHASES[kind])]
        tenant = kind in (NAB, NAR)
        label = "openshift.io/oadp-nab-origin-nacuuid" if kind is BACKUP else "openshift.io/oadp-nar-origin-nacuuid"
        labels = {label: f"u{body['uuid']}"} if kind in (BACKUP, RESTORE) and body["uuid"] else {}
        name = f"x{body['number']}"
        if kind is BACKUP and body["place"]:
            labels["velero.io/schedule-name"] = f"x{body['place']}"
            if body["number"] > 1:
                name = f"x{body['place']}-{NOW + timedelta(minutes=body['created']):%Y%m%d%H%M%S}"
        run = {
            "phase": phase,
            "startTimestamp": _time(body["started"]),
            "completionTimestamp": _time(body["ended"]),
            "expiration": _time(body["expires"]),
            "failureReason": "found during the server starting" if body["restarted"] else "",
        }
        velero = {"nacuuid": f"u{body['uuid']}", "name": f"x{body['number']}", "namespace": "velero"}
        copied = {**velero, "status": {"phase": PHASES[BACKUP][body["phase"] % 8]}} if body["uuid"] else {}
        status: dict[str, Any] = run if kind in (BACKUP, RESTORE) else {"phase": phase}
        if tenant:
            status["queueInfo"] = {"estimatedQueuePosition": body["place"]}
            status["veleroBackup" if kind is NAB else "veleroRestore"] = copied
        elif kind is STORAGE:
            status["lastSyncedTime"] = _time(body["created"])
        meta = {
            "name": name,
            "namespace": f"team-{body['place']}" if tenant else "velero",
            "uid": f"{kind.name}-{body['number']}",
            "resourceVersion": str(self.version),
            "creationTimestamp": _time(body["created"]),
            "deletionTimestamp": _time(body["created"]) if body["deleting"] and tenant else None,
            "labels": labels,
        }
        spec = {"schedule": "0 2 * * *", "paused": body["deleting"]} if kind is SCHEDULE else {}
        return from_builtins(kind.model, {"metadata": meta, "spec": spec, "status": status})


def _time(minutes: int | None) -> str | None:
    return None if minutes is None else (NOW + timedelta(minutes=minutes)).isoformat()


@few_or_many(30, 150, st.lists(events | relists | steps, min_size=1, max_size=12))
def test_findings_from_the_indexes_equal_those_of_a_look_at_every_object(story: list[tuple[Any, str, Any]]) -> None:
    world = World()
    for step in story:
        world.take(*step)
        now = world.clock.now()
        snapshot = world.store.snapshot(CONTEXT)
        assert snapshot.live is not None
        assert snapshot.live.is_current()
        assert _answers(snapshot.lookups, now) == _answers(replace(snapshot, live=None).lookups, now)
        _has_the_newest(snapshot.lookups, snapshot.backups)
        assert triage(snapshot, now) == triage(replace(snapshot, live=None), now)


def _answers(lookups: Lookups, now: datetime) -> list[object]:
    """All lookups that have one right answer."""
    names = [f"x{number}" for number in range(4)]
    return [
        lookups.open_backups(),
        lookups.open_restores(),
        lookups.faulty_backups(),
        lookups.faulty_restores(),
        lookups.backups_cut_off(),
        [lookups.unfinished_backups("velero", {phase}) for phase in PHASES[BACKUP]],
        lookups.backups_expiring_until(now),
        lookups.backup_namespaces(),
        lookups.unsettled_nonadmin(),
        lookups.faulty_nonadmin(),
        lookups.queued_nonadmin(),
        [lookups.backups_of_schedule("velero", name) for name in names],
        [lookups.nonadmin_named("team-1", name) for name in names],
        lookups.backups_of_uuid("u1"),
        lookups.restores_of_uuid("u1"),
        lookups.nabs_of_uuid("u1"),
        lookups.nars_of_uuid("u1"),
    ]


def _has_the_newest(lookups: Lookups, backups: tuple[Backup, ...]) -> None:
    """The rest of the answer is not needed."""
    scheduled = [one for one in backups if one.created and one.schedule_name]
    newest = max((one.created for one in scheduled if one.created), default=NOW)
    recent = {one.name for one in scheduled if one.created and newest - one.created <= timedelta(hours=1)}
    assert recent <= {one.name for one in lookups.newest_scheduled_backups("velero")}
    moved = [at for one in backups for at in (one.started, one.status.completion_timestamp) if at]
    found = lookups.last_moved_backups("velero")
    assert max(moved, default=None) == max(
        (at for one in found for at in (one.started, one.status.completion_timestamp) if at), default=None
    )


@few_or_many(15, 50, st.lists(events, min_size=1, max_size=6), st.lists(events, min_size=1, max_size=6))
def test_a_snapshot_stays_of_its_moment_while_the_store_goes_on(
    before: list[tuple[Any, str, Any]], after: list[tuple[Any, str, Any]]
) -> None:
    world = World()
    for step in before:
        world.take(*step)
    held = world.store.snapshot(CONTEXT)
    found = triage(replace(held, live=None), NOW)
    for step in after:
        world.take(*step)
    assert triage(held, NOW) == found


def test_a_look_after_one_change_costs_the_same_among_many_objects() -> None:
    few, many = _judging_calls(50), _judging_calls(1_000)
    assert few == many


def test_one_event_derives_one_row() -> None:
    source = FilledSource([], (CONTEXT,))
    clock = source.manual
    sink = source.store.sink(WatchScope(CONTEXT, BACKUP), clock)
    sink.replace_begin()
    sink.page(_ended(BACKUP, number) for number in range(200))
    sink.replace_end()
    model = StoreTableModel(DashboardState(source, lambda: 0.0), BackupsView())
    derived = model.table.derived
    sink.apply("MODIFIED", _changed(_ended(BACKUP, 7)))
    model.pump()
    assert model.table.derived - derived == 1


def _judging_calls(number: int) -> int:
    """How many functions are called for a triage after one event, in a cluster of so many NABs and their backups."""
    store, clock = Store(), ManualClock(NOW)
    for kind in (BACKUP, NAB):
        sink = store.sink(WatchScope(CONTEXT, kind), clock)
        sink.health(WatchHealth(WatchState.LIVE, NOW))
        sink.replace_begin()
        sink.page(_ended(kind, each) for each in range(number))
        sink.replace_end()
    triage(store.snapshot(CONTEXT), NOW)
    store.sink(WatchScope(CONTEXT, NAB), clock).apply("MODIFIED", _changed(_ended(NAB, 7)))
    return sum(_calls(lambda: triage(store.snapshot(CONTEXT), NOW)))


def _calls(work: Any) -> Iterator[int]:
    counted = [0]

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        counted[0] += event == "call"

    # Whoever listens to the garbage collector would be counted too.
    gc.disable()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    yield counted[0]


def _ended(kind: Kind, number: int) -> Resource:
    """One of many that have ended well, each some hours after the one before."""
    run = {
        "phase": "Completed",
        "startTimestamp": _time(-600 - number * 300),
        "completionTimestamp": _time(-590 - number * 300),
        "expiration": _time(40_000),
    }
    meta = {
        "name": f"x{number}",
        "namespace": "velero" if kind is BACKUP else "team",
        "uid": f"{kind.name}-{number}",
        "resourceVersion": str(number + 1),
        "creationTimestamp": _time(-600 - number * 300),
        "labels": {"openshift.io/oadp-nab-origin-nacuuid": f"u{number}"} if kind is BACKUP else {},
    }
    if kind is BACKUP:
        return from_builtins(kind.model, {"metadata": meta, "status": run})
    velero = {"nacuuid": f"u{number}", "name": f"x{number}", "namespace": "velero", "status": run}
    return from_builtins(
        kind.model,
        {"metadata": meta, "status": {"phase": "Created", "queueInfo": {}, "veleroBackup": velero}},
    )


def _changed(item: Resource) -> Resource:
    meta = msgspec.structs.replace(item.metadata, resource_version="999999", labels={"touched": "yes"})
    return msgspec.structs.replace(item, metadata=meta)
