"""The "now" of an archive: by its names, by what was done, and never by a clock that was wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from foretop_core.errors import BadInput
from foretop_core.rooms.archives.contents import read_archive
from tests.rooms.archives.packing import listed, schedule, tree

MORNING = "2026-11-19T02:00:00Z"


def made_at(folder: Path, files: dict[str, bytes]) -> tuple[str, tuple[str, ...]]:
    archive = read_archive(tree(folder / "sent", files), lambda _: None)
    return f"{archive.now:%Y-%m-%dT%H:%M:%SZ}", archive.notes


def test_the_newest_thing_done_and_nothing_that_is_planned(tmp_path: Path) -> None:
    planned = schedule("a", MORNING)
    planned["status"] = {"lastBackup": "2026-11-19T03:00:04Z", "expiration": "2026-12-19T03:00:04Z"}
    assert made_at(tmp_path, {"a.json": listed(planned)}) == ("2026-11-19T03:00:04Z", ())


def test_a_name_goes_before_that_though_nothing_was_done_for_days(tmp_path: Path) -> None:
    now, notes = made_at(tmp_path, {"schedules-2026-11-22T02-20-52Z.9181.json": listed(schedule("a", MORNING))})
    assert (now, notes) == ("2026-11-22T02:20:52Z", ())


@pytest.mark.parametrize("wrong", ["2031-01-01T00-00-00Z", "2020-01-01T00-00-00Z"])
def test_a_name_of_another_time_is_left_out(wrong: str, tmp_path: Path) -> None:
    now, notes = made_at(tmp_path, {f"schedules-{wrong}.json": listed(schedule("a", MORNING))})
    assert now == MORNING
    assert notes[0].startswith("A time in a name is left out, for nothing was done near it: 20")


def test_an_object_of_another_time_is_left_out(tmp_path: Path) -> None:
    items = schedule("a", MORNING), schedule("b", MORNING), schedule("odd", "2031-01-01T00:00:00Z")
    now, notes = made_at(tmp_path, {"a.json": listed(*items)})
    assert now == MORNING
    assert notes == ("A time more than a day after all others is left out: 2031-01-01T00:00:00Z (Schedule velero/odd)",)


def test_without_any_time_it_cannot_be_shown(tmp_path: Path) -> None:
    timeless = schedule("a")
    del timeless["metadata"]["creationTimestamp"]
    with pytest.raises(BadInput, match="says when it was made"):
        made_at(tmp_path, {"a.json": listed(timeless)})
