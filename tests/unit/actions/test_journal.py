"""The journal: readable only by its owner, each entry bounded, and an error if it cannot be written."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import pytest

from foretop_core.actions import journal as journals
from foretop_core.actions.journal import Journal, JournalEntry, default_path, entry_line
from foretop_core.config.config_file import read_config
from foretop_core.config.live_config import remembered_theme
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.kubeconfig import choose_contexts
from foretop_core.own_files import replace_own_file

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")


def entry(number: int, text: str = "") -> JournalEntry:
    return JournalEntry(
        at="2026-11-15T02:41:07Z",
        user="maria",
        context="prod",
        kind="Schedule",
        namespace="velero",
        name=f"s-{number}",
        method="PATCH",
        before={"spec": {"paused": False}},
        patch={"spec": {"paused": True}, "note": text},
        result="done",
    )


def test_only_the_owner_can_read_it_even_if_it_was_readable_before(tmp_path: Path) -> None:
    held = Journal(tmp_path / "state" / "foretop" / "journal")
    held.append(entry(1))
    assert stat.S_IMODE(held.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(held.folder.stat().st_mode) == 0o700
    held.path.chmod(0o644)
    held.append(entry(2))
    assert stat.S_IMODE(held.path.stat().st_mode) == 0o600
    assert [one.name for one in held.read()] == ["s-1", "s-2"]


def test_no_entry_of_the_last_thirty_days_is_dropped_for_its_size(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal")
    for number in range(600):
        held.append(entry(number, "x" * 10_000))
    assert [one.name for one in held.read()] == [f"s-{number}" for number in range(600)]


def test_each_day_has_a_file_and_those_of_thirty_days_are_kept(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    for number in range(40):
        Journal(folder, today=partial(date.fromordinal, 740_000 + number)).append(entry(number))
    assert len(list(folder.iterdir())) == 31
    assert [one.name for one in Journal(folder).read()] == [f"s-{number}" for number in range(9, 40)]


def test_what_is_not_a_file_of_a_day_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    folder.mkdir(mode=0o700)
    others = [folder / name for name in ("notes.txt", "2001-13-01.jsonl", "2001-01-01.jsonl.bak")]
    days = [folder / f"2001-01-{day:02}.jsonl" for day in range(1, 32)]
    for path in (*others, *days):
        path.write_text("{}\n")
    Journal(folder).append(entry(1))
    assert set(folder.iterdir()) == {*others, *days[1:], Journal(folder).path}


@pytest.mark.parametrize("days", [40, 1000, 30_000])
def test_a_clock_that_jumps_ahead_costs_no_entry(days: int, tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    held = Journal(folder, today=partial(date.fromordinal, 740_000))
    held.append(entry(1))
    for number in (2, 3):
        Journal(folder, today=partial(date.fromordinal, 740_000 + days + number)).append(entry(number))
    Journal(folder, today=partial(date.fromordinal, 740_001)).append(entry(4))
    assert {one.name for one in held.read()} == {f"s-{number}" for number in range(1, 5)}


def test_a_write_whose_outcome_comes_after_midnight_is_one_entry(tmp_path: Path) -> None:
    before, after = (Journal(tmp_path / "journal", today=partial(date.fromordinal, 740_000 + day)) for day in (0, 1))
    before.append(msgspec.structs.replace(entry(1), result="sending", id="x"))
    after.append(msgspec.structs.replace(entry(1), result="done", id="x"))
    assert [one.result for one in after.read()] == ["done"]


def test_an_entry_of_sixteen_kibibytes_is_whole_and_one_byte_more_shortens_it() -> None:
    room = 16 * 1024 - len(entry_line(entry(1)))
    whole, shortened = (entry_line(entry(1, "x" * size)) for size in (room, room + 1))
    assert (len(whole), b"shortened by foretop" in whole, b"shortened by foretop" in shortened) == (16384, False, True)


@pytest.mark.parametrize(
    "large",
    [
        {"metadata": {"annotations": {"note": "é\x01" * 100_000}}},
        {"metadata": {"annotations": {f"a{number}": "x" for number in range(20_000)}}},
        {"spec": {"includedNamespaces": ["team"] * 50_000}},
        {"spec": {f"f{number}": {f"g{inner}": ["x" * 40] * 9 for inner in range(30)} for number in range(30)}},
        {"x" * 100_000: {"y": 1}},
    ],
)
def test_an_entry_is_bounded_and_says_what_is_missing(large: dict[str, Any], tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal")
    before = {"spec": {"paused": False}, **large}
    held.append(msgspec.structs.replace(entry(1), before=before, result="failed: " + "n" * 20_000))
    assert held.path.stat().st_size <= 16 * 1024
    (read,) = held.read()
    assert (read.name, read.user, read.context, read.patch["spec"]) == ("s-1", "maria", "prod", {"paused": True})
    assert read.result.startswith("failed: nnn")
    assert "by foretop: " in held.path.read_text()


def test_an_entry_that_fits_is_written_as_it_is(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal")
    held.append(entry(1, "x" * 15_000))
    assert next(held.read()) == entry(1, "x" * 15_000)


def test_a_value_that_is_nested_without_end_costs_itself_only(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"x": "y" * 20_000}
    for _ in range(300):
        deep = {"d": deep}
    held = Journal(tmp_path / "journal")
    held.append(msgspec.structs.replace(entry(1), before=deep))
    assert "nested too deeply" in held.path.read_text()
    assert [one.name for one in held.read()] == ["s-1"]


def test_a_full_disk_loses_nothing_of_what_was_written_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Journal(tmp_path / "journal")
    held.append(entry(1))
    before, write = held.path.read_bytes(), os.write

    def full(descriptor: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(descriptor, data[: len(data) // 2])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(ForetopError, match="cannot be written: no space left on device"):
        held.append(entry(2))
    monkeypatch.undo()
    assert held.path.read_bytes() == before


def hold(path: Path) -> BinaryIO:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = path.open("ab")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def test_a_lock_that_another_process_keeps_is_one_line(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal", lock_limit=0.1)
    with hold(held.path), pytest.raises(ForetopError, match=r"another process has locked it for 0\.1 s"):
        held.append(entry(1))
    with hold(held.path), pytest.raises(ForetopError, match=r"another process has locked it for 0\.1 s"):
        held.check()
    assert list(held.read()) == []


async def test_the_loop_goes_on_while_a_lock_is_waited_for(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal", lock_limit=30.0)
    with hold(held.path) as lock:
        waiting = [asyncio.ensure_future(held.append_in_thread(entry(number))) for number in range(8)]
        checking = asyncio.ensure_future(held.check_in_thread())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not any(one.done() for one in (*waiting, checking))
        fcntl.flock(lock, fcntl.LOCK_UN)
        await asyncio.gather(*waiting, checking)
    assert sorted(one.name for one in held.read()) == [f"s-{number}" for number in range(8)]


async def test_one_that_is_cancelled_while_it_waits_writes_nothing(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal", lock_limit=30.0)
    with hold(held.path):
        waiting = asyncio.ensure_future(held.append_in_thread(entry(1)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await held.append_in_thread(entry(2))
    assert [one.name for one in held.read()] == ["s-2"]


async def test_a_disk_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held, answers = Journal(tmp_path / "journal", lock_limit=0.0), threading.Event()

    def hang(*_: object) -> int:
        answers.wait()
        raise OSError

    monkeypatch.setattr(journals, "open_own_file", hang)
    with pytest.raises(ForetopError, match="cannot be written: the disk does not answer"):
        await held.append_in_thread(entry(1))
    answers.set()


_WRITER = """
import sys
from pathlib import Path
from tests.unit.actions.test_journal import entry
from foretop_core.actions.journal import Journal
for number in range(200):
    Journal(Path(sys.argv[1])).append(entry(number, sys.argv[2] * 3000))
"""


def test_two_processes_lose_no_entry(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(folder), who]) for who in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    found = list(Journal(folder).read())
    for who in "ab":
        mine = [one.name for one in found if one.patch["note"] == who * 3000]
        assert mine == [f"s-{number}" for number in range(200)]


def test_a_foretop_that_waited_while_the_file_was_replaced_writes_to_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, lock = Journal(tmp_path / "journal"), fcntl.flock
    held.append(entry(1))

    def replaced_first(file: int, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        replace_own_file(held.path, held.path.read_bytes())
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", replaced_first)
    held.append(entry(2))
    assert [one.name for one in held.read()] == ["s-1", "s-2"]


def test_a_line_truncated_by_a_crash_costs_only_itself(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal")
    held.append(entry(1))
    with held.path.open("ab") as file:
        file.write(b'{"at": "2026\n')
    held.append(entry(2))
    assert [one.name for one in held.read()] == ["s-1", "s-2"]


def test_an_unwritable_journal_is_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ForetopError, match=r"The journal .* cannot be written: (file exists|not a directory)"):
        Journal(tmp_path / "file" / "journal").check()


def test_it_is_in_the_state_folder() -> None:
    assert default_path({"XDG_STATE_HOME": "/s"}) == Path("/s/foretop/journal")
    assert default_path({"HOME": "/home/m"}) == Path("/home/m/.local/state/foretop/journal")
    assert default_path({"HOME": "/home/m", "XDG_STATE_HOME": "relative"}).is_relative_to("/home/m")


def test_a_torn_line_costs_neither_the_next_entry_nor_the_others(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal")
    held.append(entry(1))
    with held.path.open("ab") as file:
        file.write(b'{"at": "2026\xc3')
    held.append(entry(2))
    assert held.path.read_bytes().count(b"\n") == 3
    with held.path.open("ab") as file:
        file.write(b"[" * 100_000 + b"\n")
    held.append(entry(3))
    assert [one.name for one in held.read()] == ["s-1", "s-2", "s-3"]


def test_a_write_has_the_result_of_its_last_line(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal")
    for number, results in enumerate((["sending", "done"], ["sending"], ["sending", "not sent: gone"], ["sending"])):
        for result in results:
            held.append(msgspec.structs.replace(entry(number), result=result, id=f"id-{number}"))
    held.append(msgspec.structs.replace(entry(3), result="failed: no", id="id-3"))
    lines = [(one.name, one.result.partition(":")[0]) for one in held.read()]
    assert lines == [("s-0", "done"), ("s-1", "unknown"), ("s-3", "failed")]


def test_a_journal_that_is_no_file_is_one_line_and_is_not_waited_for(tmp_path: Path) -> None:
    pipe, device = tmp_path / "pipe", tmp_path / "device"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path, why in ((pipe, "not a regular file"), (device, ".* is a link")):
        with pytest.raises(ForetopError, match="cannot be read"):
            list(Journal(path).read())
        with pytest.raises(ForetopError, match="cannot be written"):
            Journal(path).check()
        today = Journal(tmp_path / f"with-{path.name}")
        today.folder.mkdir(mode=0o700)
        path.rename(today.path)
        with pytest.raises(ForetopError, match=f"cannot be read: {why}"):
            list(today.read())
        with pytest.raises(ForetopError, match=f"cannot be written: {why}"):
            today.check()


def loosened(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o020)


def given_away(path: Path) -> None:
    os.chown(path, 65534, 65534)


@pytest.mark.parametrize(
    ("expose", "why"),
    [
        (loosened, "other users can write to"),
        pytest.param(given_away, "belongs to another user", marks=AS_ROOT),
    ],
)
def test_what_another_user_could_have_written_is_neither_believed_nor_written_to(
    expose: Callable[[Path], None], why: str, tmp_path: Path
) -> None:
    """A forged line would prove that a drill made what somebody else did; a planted link would lead elsewhere."""
    held = Journal(tmp_path / "journal")
    held.folder.mkdir(mode=0o700)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("of root alone")
    held.path.symlink_to(elsewhere)
    (held.folder / "2026-11-15.jsonl").write_bytes(msgspec.json.encode(entry(1)) + b"\n")
    expose(held.folder)
    with pytest.raises(ForetopError, match=f"cannot be read: .*{why}"):
        list(held.read())
    with pytest.raises(ForetopError, match=f"cannot be written: .*{why}"):
        held.append(entry(2))
    assert elsewhere.read_text() == "of root alone"


def test_no_other_file_of_ours_is_waited_for(tmp_path: Path) -> None:
    for name in ("config/foretop/config.yaml", "state/foretop/theme"):
        (tmp_path / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.mkfifo(tmp_path / name)
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    found = read_config(environ)
    assert found.protects_all
    assert "not a regular file" in found.mistakes[0]
    assert remembered_theme(environ) == ""


def test_a_kubeconfig_without_an_end_is_one_line() -> None:
    with pytest.raises(BadInput, match="it is larger than 32 MiB"):
        choose_contexts(ConnectionOptions(kubeconfig="/dev/zero"), {})
