"""The journal: readable only by its owner, bounded, and an error if it cannot be written."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from foretop_core.actions import journal as journals
from foretop_core.actions.acknowledgement_file import acknowledgements_of
from foretop_core.actions.journal import Journal, JournalEntry, default_path
from foretop_core.config.config_file import read_config
from foretop_core.config.theme_memory import remembered_theme
from foretop_core.errors import BadInput, ForetopError
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.kubeconfig import choose_contexts
from foretop_core.own_files import replace_own_file


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
    path = tmp_path / "state" / "foretop" / "journal.jsonl"
    Journal(path).append(entry(1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    Journal(path).append(entry(2))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in Journal(path).read()] == ["s-1", "s-2"]


def test_it_is_bounded_and_keeps_the_newest_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journals, "MOST_BYTES", 20_000)
    held = Journal(tmp_path / "journal.jsonl")
    for number in range(300):
        held.append(entry(number, "x" * 200))
    assert held.path.stat().st_size <= 20_000
    names = [one.name for one in held.read()]
    assert names[-1] == "s-299"
    assert names == [f"s-{number}" for number in range(300 - len(names), 300)]


def test_making_room_leaves_the_newer_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Journal(tmp_path / "journal.jsonl")
    for number in range(10, 30):
        held.append(entry(number))
    monkeypatch.setattr(journals, "MOST_BYTES", held.path.stat().st_size)
    held.append(entry(30))
    assert [one.name for one in held.read()] == [f"s-{number}" for number in range(21, 31)]


@pytest.mark.parametrize(("room", "kept"), [(0, 2), (-1, 1)])
def test_a_line_that_just_fits_makes_no_room(
    room: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Journal(tmp_path / "journal.jsonl")
    held.append(entry(1))
    monkeypatch.setattr(journals, "MOST_BYTES", 2 * held.path.stat().st_size + room)
    held.append(entry(2))
    assert len(list(held.read())) == kept


def test_a_full_disk_loses_nothing_of_what_was_written_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Journal(tmp_path / "journal.jsonl")
    for number in range(60):
        held.append(entry(number, "x" * 200))
    before = held.path.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(journals, "MOST_BYTES", len(before))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ForetopError, match="cannot be written: no space left on device"):
        held.append(entry(60))
    assert held.path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [held.path]


def test_a_foretop_that_waited_while_another_made_room_writes_to_the_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, lock = Journal(tmp_path / "journal.jsonl"), fcntl.flock
    held.append(entry(1))

    def replaced_first(file: BinaryIO, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        replace_own_file(held.path, held.path.read_bytes())
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", replaced_first)
    held.append(entry(2))
    assert [one.name for one in held.read()] == ["s-1", "s-2"]


def test_a_line_truncated_by_a_crash_costs_only_itself(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal.jsonl")
    held.append(entry(1))
    with held.path.open("ab") as file:
        file.write(b'{"at": "2026\n')
    held.append(entry(2))
    assert [one.name for one in held.read()] == ["s-1", "s-2"]


def test_an_unwritable_journal_is_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ForetopError, match=r"The journal .* cannot be written: file exists"):
        Journal(tmp_path / "file" / "journal.jsonl").check()


def test_it_is_in_the_state_folder() -> None:
    assert default_path({"XDG_STATE_HOME": "/s"}) == Path("/s/foretop/journal.jsonl")
    assert default_path({"HOME": "/home/m"}) == Path("/home/m/.local/state/foretop/journal.jsonl")
    assert default_path({"HOME": "/home/m", "XDG_STATE_HOME": "relative"}).is_relative_to("/home/m")


def test_a_torn_line_costs_neither_the_next_entry_nor_the_others(tmp_path: Path) -> None:
    held = Journal(tmp_path / "journal.jsonl")
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
    held = Journal(tmp_path / "journal.jsonl")
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
    for path in (pipe, device, tmp_path):
        with pytest.raises(ForetopError, match="cannot be read"):
            list(Journal(path).read())
        with pytest.raises(ForetopError, match="cannot be written"):
            Journal(path).check()


def test_of_a_journal_that_somebody_made_huge_the_newest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with path.open("wb") as file:
        file.truncate(2**34)
        file.seek(2**34)
        file.write(b"\n" + msgspec.json.encode(entry(7)) + b"\n")
    assert [one.name for one in Journal(path).read()] == ["s-7"]


def test_no_other_file_of_ours_is_waited_for(tmp_path: Path) -> None:
    for name in ("config/foretop/config.yaml", "state/foretop/theme", "state/foretop/acknowledged.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(tmp_path / name)
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
    found = read_config(environ)
    assert found.protects_all
    assert "not a regular file" in found.mistakes[0]
    assert remembered_theme(environ) == ""
    assert acknowledgements_of(environ).read() == {}


def test_a_kubeconfig_without_an_end_is_one_line() -> None:
    with pytest.raises(BadInput, match="it is larger than 32 MiB"):
        choose_contexts(ConnectionOptions(kubeconfig="/dev/zero"), {})
