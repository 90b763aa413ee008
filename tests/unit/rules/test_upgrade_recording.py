"""A cluster that was upgraded from Velero 1.18.2 to 1.18.3 with nine schedules, event by event."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise

import pytest

from foretop_core.cron import Dialect
from foretop_core.models import Resource, Schedule
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.forecast import invalid, is_due, next_run
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage import triage
from tests.recordings import Event, Note, read

NAME = "upgrade"
FIRST_SIGN_OF_ROBFIG = "wrap"
"""Only robfig v3 refuses this schedule with that message."""
FIRST_SIGN_OF_NETRESEARCH = "quoted"
"""The first schedule that the new server validated and accepted."""


@cache
def moments() -> tuple[tuple[datetime, str, ClusterSnapshot], ...]:
    """The cluster after each event, and the object of the event."""
    objects: dict[tuple[str, str, str], Resource] = {}
    found = []
    for entry in read(NAME):
        if isinstance(entry, Event):
            objects[entry.key] = entry.object
            found.append((entry.t, entry.object.name, assemble(objects.values())))
    return tuple(found)


def upgraded_at() -> datetime:
    return next(entry.t for entry in read(NAME) if isinstance(entry, Note) and "upgraded" in entry.text)


def first_event(name: str, after: datetime, phase: str) -> datetime:
    """The time at which a schedule was first seen in a phase after a given time."""
    return next(
        entry.t
        for entry in read(NAME)
        if isinstance(entry, Event)
        and isinstance(entry.object, Schedule)
        and entry.object.name == name
        and entry.t > after
        and entry.object.phase == phase
    )


def settled(dialect: Dialect) -> Iterator[tuple[datetime, ClusterSnapshot]]:
    """The times at which the behaviour of a server has shown its dialect."""
    begin = datetime.fromisoformat("2026-11-15T00:00:00Z")
    old = first_event(FIRST_SIGN_OF_ROBFIG, begin, "FailedValidation")
    new = first_event(FIRST_SIGN_OF_NETRESEARCH, upgraded_at(), "Enabled")
    for t, _, snapshot in moments():
        if (old <= t < upgraded_at()) if dialect is Dialect.ROBFIG else t >= new:
            yield t, snapshot


@pytest.mark.parametrize("dialect", [Dialect.ROBFIG, Dialect.NETRESEARCH])
def test_the_dialect_is_correct_from_the_first_evidence_on(dialect: Dialect) -> None:
    found = [snapshot.verdict("velero") for _, snapshot in settled(dialect)]
    assert len(found) > 30
    assert {verdict.candidates for verdict in found} == {(dialect,)}


def test_before_the_first_evidence_the_dialect_is_open_or_the_previous_server_s() -> None:
    new = first_event(FIRST_SIGN_OF_NETRESEARCH, upgraded_at(), "Enabled")
    for t, _, snapshot in moments():
        if t < new:
            assert Dialect.ROBFIG in snapshot.verdict("velero").candidates


def test_the_change_of_server_is_detected_by_its_behaviour() -> None:
    new = first_event(FIRST_SIGN_OF_NETRESEARCH, upgraded_at(), "Enabled")
    at_that_event = next(snapshot for t, name, snapshot in moments() if t == new and name == FIRST_SIGN_OF_NETRESEARCH)
    found = at_that_event.verdict("velero")
    assert found.reasons[-1:] == ("it accepts 'CRON_TZ=\"Asia/Tokyo\" * * * * *' (quoted)",)
    assert any("it refuses '* 22-21 * * *'" in other for other in found.contradictions)


def validated_since(schedule: Schedule, t: datetime, dialect: Dialect) -> bool:
    """Whether this server, and not the previous one, has written the schedule's phase."""
    since = upgraded_at() if dialect is Dialect.NETRESEARCH else datetime.fromisoformat("2026-11-15T00:00:00Z")
    return any(
        isinstance(entry, Event) and entry.object.name == schedule.name and since < entry.t <= t and schedule.phase
        for entry in read(NAME)
    )


@pytest.mark.parametrize("dialect", [Dialect.ROBFIG, Dialect.NETRESEARCH])
def test_validity_agrees_with_the_server_at_that_time(dialect: Dialect) -> None:
    compared = 0
    for t, snapshot in settled(dialect):
        for schedule in snapshot.schedules:
            if validated_since(schedule, t, dialect):
                read_in = snapshot.dialect(schedule)
                assert read_in is not None
                assert bool(invalid(schedule, read_in)) is (schedule.phase == "FailedValidation"), (t, schedule.name)
                compared += 1
    assert compared > 200


@pytest.mark.parametrize("dialect", [Dialect.ROBFIG, Dialect.NETRESEARCH])
def test_every_backup_was_due_by_the_reading_at_that_time(dialect: Dialect) -> None:
    """A run starts in the first minute pass after it is due."""
    made = 0
    snapshots = list(settled(dialect))
    for (t, before), (_, after) in pairwise(snapshots):
        held = {schedule.name: schedule for schedule in before.schedules}
        for schedule in after.schedules:
            earlier = held.get(schedule.name)
            if earlier is None or schedule.status.last_backup == earlier.status.last_backup:
                continue
            at = schedule.status.last_backup
            assert at is not None
            read_in = before.dialect(earlier)
            assert read_in is not None
            assert is_due(earlier, at + timedelta(seconds=1), read_in), (t, schedule.name)
            made += 1
    assert made >= (5 if dialect is Dialect.ROBFIG else 10)


def test_the_schedule_with_both_days_has_no_run_on_the_new_server_that_day() -> None:
    (t, snapshot) = list(settled(Dialect.NETRESEARCH))[-1]
    both = next(schedule for schedule in snapshot.schedules if schedule.name == "both-days")
    assert both.phase == "Enabled"
    run = next_run(both, Dialect.NETRESEARCH)
    assert run == datetime.fromisoformat("2027-02-15T00:00:00Z")
    assert not is_due(both, t, Dialect.NETRESEARCH)


def codes(snapshot: ClusterSnapshot, t: datetime) -> set[tuple[str, str]]:
    return {(finding.code, finding.subject.name) for finding in triage(snapshot, t).findings}


def test_findings_are_those_of_the_current_server() -> None:
    t, snapshot = list(settled(Dialect.ROBFIG))[-1]
    invalid_before = {name for code, name in codes(snapshot, t) if code == "schedule-invalid"}
    assert invalid_before == {"wrap", "manual", "sunday-7", "quoted"}
    t, snapshot = list(settled(Dialect.NETRESEARCH))[-1]
    invalid_after = {name for code, name in codes(snapshot, t) if code == "schedule-invalid"}
    assert invalid_after == {"step-24", "step-60", "fast"}
    assert ("schedule-never-fires", "manual") in codes(snapshot, t)
    assert ("schedule-overdue", "both-days") not in codes(snapshot, t)
