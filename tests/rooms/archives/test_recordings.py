"""Recordings as archives: the objects as they were at one moment of what a real Velero did."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from foretop_core.errors import BadInput
from foretop_core.models import Backup
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import decode
from foretop_core.rooms.archives.contents import read_archive
from tests import recordings
from tests.rooms.archives.packing import BUNDLE

_NIGHT = recordings.FOLDER / "night.jsonl"


def states(at: datetime) -> dict[str, str]:
    """The backups that the events up to then have left, and their phases."""
    phases: dict[str, str] = {}
    for event in recordings.events("night", "backups"):
        if event.t <= at:
            phases[event.object.name] = event.object.phase  # type: ignore[attr-defined]
            if event.type == "DELETED":
                del phases[event.object.name]
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
    last = [entry.t for entry in recordings.read("night")][-1]
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
