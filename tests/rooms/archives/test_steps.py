"""The moments beside one of a recording: of changes, of phases and of findings."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.rooms.archives.recording import Recording
from foretop_core.rooms.archives.steps import Course, Stop, changes, findings, stop_beside
from foretop_core.rules.triage import Thresholds
from tests import recordings
from tests.rooms.archives.packing import event, indexed

_SMALLEST = timedelta(microseconds=1)


def night() -> Recording:
    return indexed(recordings.FOLDER / "night.jsonl")


def stops(recording: Recording, by: int, course: Course) -> list[Stop]:
    """All of them, from one end to the other, however slow the machine is."""
    at, found = recording.begin - _SMALLEST if by > 0 else recording.end + _SMALLEST, list[Stop]()
    while (stop := stop_beside(recording, at, by, course, lambda: 0.0)) is not None:
        at = stop.at
        found.append(stop)
    return found


@pytest.mark.parametrize("matter", ["changes", "findings"])
def test_back_are_the_same_stops_as_forth(matter: str, tmp_path: Path) -> None:
    path = tmp_path / "evening.jsonl"
    path.write_bytes(b"".join((recordings.FOLDER / "night.jsonl").read_bytes().splitlines(keepends=True)[:150]))
    recording = indexed(path)
    course = changes(recording) if matter == "changes" else findings(recording, Thresholds())
    forth = stops(recording, 1, course)
    assert forth
    assert {stop.at for stop in stops(recording, -1, course)} == {stop.at for stop in forth}
    if matter == "findings":
        assert {stop.text.partition(":")[0] for stop in forth} <= {"new", "over"}


def test_the_phases_of_an_object_are_those_it_had() -> None:
    recording, name = night(), "etcd-20261116152638"
    phases: list[tuple[datetime, str]] = []
    for each in recordings.events("night", "backups"):
        phase = each.object.phase  # type: ignore[attr-defined]
        if each.object.name == name and (not phases or phases[-1][1] != phase):
            phases.append((each.t, phase))
    course = changes(recording, ("velero", name), BACKUP)
    forth = stops(recording, 1, course)
    assert [stop.at for stop in forth if "phase: " in stop.text] == [at for at, _ in phases[1:]]
    assert forth[0] == Stop(phases[0][0], f"{name}: created")
    assert stops(recording, -1, course) == forth[::-1]
    assert stops(recording, 1, changes(recording, ("velero", "nobody"), BACKUP)) == []


def test_a_pause_and_a_deletion_are_told_and_a_beat_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        event("2026-11-19T02:00:00Z", "web", "ADDED")
        + event("2026-11-19T02:01:00Z", "web")
        + event("2026-11-19T02:02:00Z", "web", paused=True)
        + event("2026-11-19T02:03:00Z", "web", "DELETED")
    )
    recording = indexed(path)
    texts = ["web: created", "web: paused: false → true", "web: deleted"]
    for course in (changes(recording), changes(recording, ("velero", "web"), SCHEDULE)):
        assert [stop.text for stop in stops(recording, 1, course)] == texts


@pytest.mark.parametrize("by", [1, -1])
def test_a_long_search_says_how_far_it_came(by: int, tmp_path: Path) -> None:
    path, ticks = tmp_path / "a.jsonl", iter(range(0, 10_000, 6))
    path.write_bytes(b"".join(event(f"2026-11-19T02:{n // 60:02}:{n % 60:02}Z", "web") for n in range(600)))
    recording = indexed(path)
    stop = stop_beside(recording, recording.moment(300), by, changes(recording), lambda: next(ticks))
    assert stop is not None
    assert stop.text == f"nothing else {'until' if by > 0 else 'since'} then"
