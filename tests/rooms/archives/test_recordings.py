"""Recordings as archives: the objects as they were at one moment of what a real Velero did."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foretop.cli import run
from foretop_core.clock import ManualClock
from foretop_core.errors import BadInput
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.models.wire import decode
from foretop_core.rooms.archives import recording
from foretop_core.rooms.archives.contents import read_archive
from foretop_core.rooms.archives.recorder import Recorder
from foretop_core.rooms.archives.recording import Recording, State
from foretop_core.store import Store
from tests import recordings
from tests.objects import NOW, schedule
from tests.rooms.archives.packing import BUNDLE, event, indexed
from tests.wire.boxes import living_box

_NIGHT = recordings.FOLDER / "night.jsonl"


def states(at: datetime) -> dict[str, str]:
    """The backups that the events up to then have left, and their phases."""
    phases: dict[str, str] = {}
    for seen in recordings.events("night", "backups"):
        if seen.t <= at:
            phases[seen.object.name] = seen.object.phase  # type: ignore[attr-defined]
            if seen.type == "DELETED":
                del phases[seen.object.name]
    return phases


@pytest.mark.parametrize("minutes", [1, 7, 13, 19])
def test_a_recording_is_shown_as_of_any_moment(minutes: int) -> None:
    begin = next(recordings.events("night")).t
    at = begin + timedelta(minutes=minutes)
    archive = read_archive(_NIGHT, lambda _: None, at)
    held = archive.objects.get(BACKUP, {})
    shown = {name: decode(Backup, raw).phase for (_, name), raw in held.items()}
    assert shown == states(at)
    assert archive.now == at
    assert archive.is_listed(BACKUP, "velero")


def test_its_end_is_shown_where_no_moment_is_named() -> None:
    last = [seen.t for seen in recordings.events("night")][-1]
    assert read_archive(_NIGHT, lambda _: None).now == last


def test_a_line_that_is_cut_costs_itself(tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(_NIGHT.read_bytes()[:200_000] + b"\n{}\nnonsense\n")
    archive = read_archive(cut, lambda _: None)
    assert archive.notes == (f"A line cannot be read: {cut.name} and 2 more",)
    assert archive.objects[BACKUP]


def test_before_its_beginning_there_is_nothing_and_an_archive_has_one_moment() -> None:
    early = datetime(2020, 1, 1, tzinfo=UTC)
    with pytest.raises(BadInput, match="Nothing in"):
        read_archive(_NIGHT, lambda _: None, early)
    with pytest.raises(BadInput, match="it is of one moment, and no recording"):
        read_archive(BUNDLE, lambda _: None, early)


def test_what_is_recorded_shows_what_the_cluster_showed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = tmp_path / "now.jsonl"
    with living_box("contents", tmp_path, 0.0) as (_, path):
        assert run(["record", "-o", str(recording), "--for", "4s", "--kubeconfig", path]) == 0
        assert f"foretop open {recording} shows it." in capsys.readouterr().out
        for view in ("schedules", "backups", "storage"):
            shown = [
                (run(["get", view, "-o", "name", *source]), capsys.readouterr().out)
                for source in (("-f", str(recording)), ("--kubeconfig", path))
            ]
            assert shown[0] == shown[1]
            assert shown[0][1]
    assert stat.S_IMODE(recording.stat().st_mode) == 0o600


def test_a_full_file_gives_way_to_one_that_begins_with_all_objects(tmp_path: Path) -> None:
    store, clock = Store(), ManualClock(NOW)
    feed = store.feed.subscribe()
    recorder = Recorder(tmp_path / "a.jsonl", 4000, store, "prod")
    for number in range(20):
        store.fill("prod", [schedule(f"s{one}") for one in range(number + 1)], clock)
        recorder.write(feed.drain().items(), clock.now())
    recorder.close()
    assert recorder.path.stat().st_size + recorder.older.stat().st_size < 12_000
    archive = read_archive(recorder.path, lambda _: None)
    assert len(archive.objects[SCHEDULE]) == 20


def test_a_recording_is_a_new_file_of_one_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "-o", str(tmp_path / "a.txt")]) == 2
    assert "the name of a recording ends in .jsonl" in capsys.readouterr().err
    assert run(["record", "-o", str(tmp_path / "a.jsonl"), "--for", "soon"]) == 2
    assert "--for 'soon' is not a duration" in capsys.readouterr().err
    (tmp_path / "a.jsonl").write_text("mine")
    with pytest.raises(BadInput, match="is not written: File exists"):
        Recorder(tmp_path / "a.jsonl", 4000, Store(), "prod")


def test_a_moment_costs_the_events_since_a_key_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "LEAST_FRAME", 100)
    path = tmp_path / "long.jsonl"
    times = [f"{NOW + timedelta(seconds=number):%Y-%m-%dT%H:%M:%SZ}" for number in range(5000)]
    path.write_bytes(b"".join(event(at, f"s{number % 40}") for number, at in enumerate(times)))
    long, folded = indexed(path), 0

    def counted(self: Recording, state: State, begin: int, end: int) -> None:
        nonlocal folded
        folded += end - begin
        fold(self, state, begin, end)

    fold = Recording._fold
    monkeypatch.setattr(Recording, "_fold", counted)
    for number in range(0, 5000, 250):
        folded = 0
        state = long.state(number)
        assert folded <= 100
        assert sorted(state)[-40:] == sorted(max((n for n in range(k, number, 40)), default=-1) for k in range(40))
