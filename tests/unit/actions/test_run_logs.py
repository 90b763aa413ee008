"""Logs that have come: their size, their levels, where they are saved."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from foretop_core.actions.run_logs import LogLevel, LogText, RunLog, log_file_name
from foretop_core.errors import BadInput

LINES = ("level=info msg=ä", "level=error msg=full", "plain")


def test_the_size_is_in_bytes_where_they_are_known() -> None:
    text = "\n".join(LINES).encode()
    assert RunLog(LogText(text)).size == len(text)
    assert RunLog(LINES).size == sum(map(len, LINES))


async def test_each_line_has_its_level() -> None:
    log = await RunLog(LINES, partial=True, why="denied").with_levels()
    assert log.levels == (LogLevel.OTHER, LogLevel.ERROR, LogLevel.OTHER)
    assert (log.lines, log.partial, log.why) == (LINES, True, "denied")


def test_lines_are_counted_from_one() -> None:
    assert list(RunLog(LINES).search("LEVEL")) == [(1, LINES[0]), (2, LINES[1])]
    assert list(RunLog(LINES).search("absent")) == []


def test_a_log_is_whole_unless_it_says_otherwise() -> None:
    assert not RunLog(LINES).partial


def test_a_saved_log_is_for_its_owner_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "one.log"
    RunLog(LINES).save(path)
    assert path.read_text(encoding="utf-8") == "".join(f"{line}\n" for line in LINES)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(BadInput, match=r"one\.log cannot be written: File exists"):
        RunLog(()).save(path)
    with pytest.raises(BadInput, match="cannot be written: No such file or directory"):
        RunLog(()).save(tmp_path / "absent" / "one.log")
    assert path.stat().st_size > 0


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("daily-20261115024107", "daily-20261115024107.log"),
        ("Team_a.one", "Team_a.one.log"),
        ("../../etc/x y", "_.._etc_x_y.log"),
        ("...", "run.log"),
        ("", "run.log"),
    ],
)
def test_the_name_of_the_file_is_that_of_the_run_without_what_could_harm(name: str, file: str) -> None:
    assert log_file_name(name) == file
