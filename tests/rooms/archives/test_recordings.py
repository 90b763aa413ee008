"""Recordings as archives: the objects as they were at one moment of what a real Velero did."""

from __future__ import annotations

import gzip
import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foretop.cli import run
from foretop_core.clock import Clock, ManualClock
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, RESTORE, SCHEDULE, STORAGE_CLASS, Kind
from foretop_core.models.wire import ObjectRef, Resource, decode
from foretop_core.pages import GET_TABLES
from foretop_core.rooms.archives import recording
from foretop_core.rooms.archives.beside import Beside, RawObjects
from foretop_core.rooms.archives.contents import read_archive
from foretop_core.rooms.archives.members import Notes
from foretop_core.rooms.archives.recorder import Recorder
from foretop_core.rooms.archives.recording import Recording, State
from foretop_core.store import Store
from tests import recordings
from tests.objects import NOW, schedule
from tests.rooms.archives.packing import BUNDLE, event, indexed, tar
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


def _rows(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """Without what tells when it was looked at, and how the cluster is called."""
    left_out = {"context", "evidence", "expectedStart", "expectedEnd", "bytesPerSecond", "secondsLeft"}
    items = json.loads(capsys.readouterr().out)["items"]
    return [{name: part for name, part in item.items() if name not in left_out} for item in items]


@pytest.mark.parametrize("scene", ["contents", "protection", "volumes"])
def test_what_is_recorded_shows_what_the_cluster_showed(
    scene: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recording = tmp_path / "now.jsonl"
    with living_box(scene, tmp_path, 0.0) as (_, path):
        assert run(["record", "-o", str(recording), "--for", "4s", "--kubeconfig", path]) == 0
        assert f"foretop open {recording} shows it." in capsys.readouterr().out
        for view in sorted({word for word, (_, only) in GET_TABLES.items() if only is None}):
            kept, live = (
                (run(["get", view, "-o", "json", *source]), _rows(capsys))
                for source in (("-f", str(recording)), ("--kubeconfig", path))
            )
            assert kept == live, view
    assert stat.S_IMODE(recording.stat().st_mode) == 0o600


def test_a_full_file_gives_way_to_one_that_begins_with_all_objects(tmp_path: Path) -> None:
    recorder, store = recorder_of(tmp_path / "a.jsonl", 4000)
    recorder.begin()
    for number in range(20):
        store.fill("prod", [schedule(f"s{one}") for one in range(number + 1)], ManualClock(NOW))
    recorder.close()
    assert recorder.path.stat().st_size + recorder.older.stat().st_size < 12_000
    archive = read_archive(recorder.path, lambda _: None)
    assert len(archive.objects[SCHEDULE]) == 20
    assert archive.notes == (f"What happened before it began is in {recorder.older.name} beside it",)
    assert read_archive(recorder.older, lambda _: None).notes == ()


def test_a_recording_is_a_new_file_of_one_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["record", "-o", str(tmp_path / "a.txt")]) == 2
    assert "the name of a recording ends in .jsonl" in capsys.readouterr().err
    assert run(["record", "-o", str(tmp_path / "a.jsonl"), "--for", "soon"]) == 2
    assert "--for 'soon' is not a duration" in capsys.readouterr().err
    (tmp_path / "a.jsonl").write_text("mine")
    with pytest.raises(BadInput, match="is not written: File exists"):
        Recorder(tmp_path / "a.jsonl", 4000, Store(), "prod", ManualClock(NOW))


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


def test_a_packed_recording_and_one_in_an_archive_are_the_same(tmp_path: Path) -> None:
    whole = read_archive(_NIGHT, lambda _: None)
    (tmp_path / "night.jsonl.gz").write_bytes(gzip.compress(_NIGHT.read_bytes()))
    tar(tmp_path / "sent.tar.gz", {"sent/night.jsonl": _NIGHT.read_bytes()})
    for name in ("night.jsonl.gz", "sent.tar.gz"):
        archive = read_archive(tmp_path / name, lambda _: None)
        assert archive.objects == whole.objects
        assert archive.now == whole.now
        assert archive.notes == ()


def test_a_packed_recording_that_breaks_off_is_shown_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "night.jsonl.gz"
    path.write_bytes(gzip.compress(_NIGHT.read_bytes())[:-5000])
    archive = read_archive(path, lambda _: None)
    assert archive.objects[SCHEDULE]
    assert [note for note in archive.notes if note.startswith("night.jsonl cannot be read to its end (")]


def test_a_line_without_an_end_costs_itself_and_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_LINE", 10_000)
    path = tmp_path / "a.jsonl"
    lines = event("2026-11-19T02:00:00Z", "a"), b'{"t": "' + 100_000 * b"x", b"\n", event("2026-11-19T02:01:00Z", "b")
    path.write_bytes(b"".join(lines))
    notes = Notes()
    long = indexed(path, notes)
    assert [each.key[1] for each in long.events(0, len(long))] == ["a", "b"]
    assert notes.lines() == ("A line is longer than 10.0 kB: a.jsonl",)


@pytest.mark.parametrize(
    ("times", "order", "note"),
    [
        (("02:00", "02:01", "02:00:30", "02:02"), "abcd", "Out of order: shown in the order in which it came in"),
        (("02:00", "02:01", "2099", "02:02"), "abcd", "A time more than a day from all others is left out"),
        (("1970", "02:00", "02:01", "02:02"), "abcd", "A time more than a day from all others is left out"),
        (("02:00", "02:01", "02:02", "2099"), "abcd", "A time more than a day from all others is left out"),
    ],
)
def test_a_wrong_clock_moves_no_other_event(times: tuple[str, ...], order: str, note: str, tmp_path: Path) -> None:
    def written(time: str) -> str:
        return f"{time}-11-19T00:00:00Z" if len(time) == 4 else f"2026-11-19T{time}{':00' * (len(time) == 5)}Z"

    path, notes = tmp_path / "a.jsonl", Notes()
    path.write_bytes(b"".join(event(written(time), name) for time, name in zip(times, order, strict=True)))
    long = indexed(path, notes)
    seen = list(long.events(0, len(long)))
    assert "".join(each.key[1] for each in seen) == order
    assert [each.at for each in seen] == sorted(each.at for each in seen)
    assert {f"{each.at:%Y-%m-%d}" for each in seen} == {"2026-11-19"}
    (line,) = notes.lines()
    assert line.startswith(note)


def test_two_objects_of_one_name_are_the_later_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        event("2026-11-19T02:00:00Z", "a", "ADDED")
        + event("2026-11-19T02:01:00Z", "a", "ADDED", paused=True)
        + event("2026-11-19T02:02:00Z", "a", "DELETED", paused=True)
        + event("2026-11-19T02:03:00Z", "a", "ADDED")
    )
    long = indexed(path)
    paused = [b'"paused"' in raw for at in range(4) for raw in long.objects(long.moment(at)).get(SCHEDULE, {}).values()]
    assert paused == [False, True, False]


def test_so_many_objects_and_events_are_read_and_the_rest_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, notes = tmp_path / "a.jsonl", Notes()
    path.write_bytes(b"".join(event(f"2026-11-19T02:00:{number:02}Z", f"s{number % 20}") for number in range(60)))
    monkeypatch.setattr(recording, "MOST_OBJECTS", 10)
    assert len(indexed(path, notes)) == 30
    assert notes.lines() == ("Only the first 10 objects of it are shown: a.jsonl and 29 more",)
    monkeypatch.setattr(recording, "MOST_EVENTS", 7)
    assert len(indexed(path, notes := Notes())) == 7
    assert notes.lines() == ("Only its first 7 events are read: a.jsonl",)


def test_a_recording_that_is_cut_while_it_is_shown_costs_what_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(event("2026-11-19T02:00:00Z", "a") + event("2026-11-19T02:01:00Z", "b"))
    long = indexed(path)
    os.truncate(path, len(event("2026-11-19T02:00:00Z", "a")) + 5)
    assert list(long.objects(long.end)[SCHEDULE]) == [("velero", "a")]


def recorder_of(path: Path, most: int = 10**6, clock: Clock | None = None) -> tuple[Recorder, Store]:
    store = Store()
    return Recorder(path, most, store, "prod", clock or ManualClock(NOW)), store


def watching(store: Store, kind: Kind, state: WatchState = WatchState.LIVE) -> None:
    store.health.report(WatchScope("prod", kind, "velero"), WatchHealth(state, NOW))


def put(store: Store, item: Resource) -> None:
    store.put(ObjectRef("prod", type(item).__name__, item.namespace, item.name), item, NOW)


def test_what_was_watched_is_known_though_there_was_none_of_it(tmp_path: Path) -> None:
    recorder, store = recorder_of(tmp_path / "a.jsonl")
    for kind in (SCHEDULE, RESTORE):
        watching(store, kind)
    put(store, schedule())
    recorder.begin()
    recorder.close()
    archive = read_archive(recorder.path, lambda _: None)
    assert archive.is_listed(RESTORE, "velero")
    assert not archive.is_listed(RESTORE, "shop")
    assert not archive.is_listed(BACKUP, "velero")
    assert archive.notes == ()


def test_a_time_in_which_nobody_watched_is_said(tmp_path: Path) -> None:
    clock = ManualClock(NOW)
    recorder, store = recorder_of(tmp_path / "a.jsonl", clock=clock)
    watching(store, SCHEDULE)
    put(store, schedule())
    recorder.begin()
    for after, state in ((1, WatchState.SYNCING), (2, WatchState.LIVE), (60, WatchState.STALE), (120, WatchState.LIVE)):
        watching(store, SCHEDULE, state)
        clock.set(NOW + timedelta(seconds=after))
        recorder.note_watched()
    recorder.close()
    (note,) = read_archive(recorder.path, lambda _: None).notes
    what, _, gap = note.partition(": ")
    assert what == "Not everything was watched all the time, and what happened meanwhile is not known"
    lost, back = (f"{NOW + timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}" for minutes in (1, 2))
    assert gap == f"schedules from {lost} to {back}"


def test_what_is_read_beside_the_watches_is_recorded_where_it_is_another(tmp_path: Path) -> None:
    recorder, _ = recorder_of(tmp_path / "a.jsonl")
    recorder.begin()

    def read(*names: str, problems: int = 0) -> Beside:
        objects: RawObjects = {(STORAGE_CLASS, "", name): {"metadata": {"name": name}} for name in names}
        listed = set() if problems else {(STORAGE_CLASS, "")}
        return Beside(objects, listed, [ForetopError("no answer")] * problems)

    for found in (read("fast", "slow"), read("fast", "slow"), read(problems=1), read("slow")):
        recorder.take_beside(found)
    recorder.close()
    long = indexed(recorder.path)
    assert [(each.type, each.key[1]) for each in long.events(0, len(long))] == [
        ("ADDED", "fast"),
        ("ADDED", "slow"),
        ("DELETED", "fast"),
    ]


def test_each_step_of_an_object_is_recorded_and_no_word_that_is_not_one(tmp_path: Path) -> None:
    recorder, store = recorder_of(tmp_path / "a.jsonl")
    recorder.begin()
    for phase in ("New", "FailedValidation", "Enabled", "Enabled"):
        put(store, schedule(phase=phase))
    recorder.close()
    long = indexed(recorder.path)
    phases = [decode(Schedule, each.raw).phase for each in long.events(0, len(long))]
    assert phases == ["New", "FailedValidation", "Enabled"]


def test_a_full_disk_ends_a_recording_and_no_watch(tmp_path: Path) -> None:
    recorder, store = recorder_of(tmp_path / "a.jsonl")
    recorder._file.close()
    recorder._file = os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb")
    recorder.begin()
    put(store, schedule())
    recorder.close()
    assert recorder.failed is not None
    assert recorder.failed.strerror == "No space left on device"
