"""Files that foretop keeps: nobody else's folder, no link, and never a half of one."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from foretop.commands.demo import own_state
from foretop.commands.support_log import start_log
from foretop.dialogs.text_screens import MessagesScreen
from foretop.terminal.crash_report import write_crash_report
from foretop.terminal.editor import create_draft
from foretop_core.actions.journal import Journal, default_path
from foretop_core.config.live_config import remember_theme, remembered_theme
from foretop_core.errors import ForetopError
from foretop_core.own_files import create_file, own_folder, read_own_file, real_place, replace_in, replace_own_file
from tests.unit.actions.test_journal import entry

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
ANOTHER = 54321


@pytest.fixture
def of_root(tmp_path: Path) -> Path:
    path = tmp_path / "of-root"
    path.mkdir(mode=0o700)
    (path / "secret").write_text("of root alone")
    return path


def given_away(path: Path) -> None:
    os.lchown(path, ANOTHER, ANOTHER)


# In the state folder of another user


def keep_theme(environ: Mapping[str, str]) -> None:
    remember_theme(environ, "dark")


def keep_journal(environ: Mapping[str, str]) -> None:
    Journal(default_path(environ)).append(entry(1))


def keep_crash(environ: Mapping[str, str]) -> None:
    assert write_crash_report(ValueError("no"), environ) is None


def keep_draft(environ: Mapping[str, str]) -> None:
    create_draft(default_path(environ).parent / "edits", "nightly", "spec: {}")


def keep_log(environ: Mapping[str, str]) -> None:
    stop = start_log(None, environ)
    logging.getLogger("foretop").error("seen")
    stop()


KEEPERS = (keep_theme, keep_journal, keep_crash, keep_draft, keep_log)
SILENT = (keep_theme, keep_crash)
"""Of these the loss is told elsewhere, or is none."""


def kept(keep: Callable[[Mapping[str, str]], None], folder: Path) -> None:
    environ = {"XDG_STATE_HOME": str(folder)}
    if keep in SILENT:
        keep(environ)
        return
    with pytest.raises(ForetopError) as told:
        keep(environ)
    assert "\n" not in str(told.value)


@AS_ROOT
@pytest.mark.parametrize("keep", KEEPERS)
def test_a_state_folder_that_leads_into_one_of_root_s_is_not_followed(
    keep: Callable[[Mapping[str, str]], None], of_root: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    (state / "foretop").symlink_to(of_root)
    given_away(state / "foretop")
    given_away(state)
    kept(keep, state)
    assert [path.name for path in of_root.iterdir()] == ["secret"]


@AS_ROOT
@pytest.mark.parametrize("keep", KEEPERS)
def test_a_link_in_a_state_folder_of_another_user_leads_nowhere(
    keep: Callable[[Mapping[str, str]], None], of_root: Path, tmp_path: Path
) -> None:
    home = tmp_path / "state" / "foretop"
    home.mkdir(mode=0o700, parents=True)
    for name in ("theme", "foretop.log", "journal", "edits"):
        (home / name).symlink_to(of_root if name in ("journal", "edits") else of_root / "secret")
        given_away(home / name)
    given_away(home)
    kept(keep, tmp_path / "state")
    assert (of_root / "secret").read_text() == "of root alone"
    assert [path.name for path in of_root.iterdir()] == ["secret"]


@AS_ROOT
def test_why_a_file_is_not_written_is_one_clear_line(of_root: Path, tmp_path: Path) -> None:
    home = tmp_path / "foretop"
    home.mkdir(mode=0o700)
    (home / "theme").symlink_to(of_root / "secret")
    with pytest.raises(OSError, match="theme is a link"):
        replace_own_file(home / "theme", b"dark\n")
    given_away(home)
    with pytest.raises(PermissionError, match="foretop belongs to another user"):
        replace_own_file(home / "theme", b"dark\n")
    assert remembered_theme({"XDG_STATE_HOME": str(tmp_path)}) == ""
    (tmp_path / "link").symlink_to(of_root)
    given_away(tmp_path / "link")
    with pytest.raises(PermissionError, match="link is a link that another user has made"):
        read_own_file(tmp_path / "link" / "secret", 100)
    assert (of_root / "secret").read_text() == "of root alone"


@AS_ROOT
def test_a_demo_begins_anew_only_in_a_folder_of_its_own(
    of_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (of_root / "2026-11-15.jsonl").write_text("{}\n")
    link = tmp_path / "state" / "foretop" / "demo" / "foretop" / "journal"
    link.parent.mkdir(mode=0o700, parents=True)
    link.symlink_to(of_root)
    given_away(link)
    with own_state():
        pass
    assert (of_root / "2026-11-15.jsonl").exists()


@AS_ROOT
def test_a_kubeconfig_behind_a_link_of_another_user_is_left_alone(of_root: Path, tmp_path: Path) -> None:
    (tmp_path / "config").symlink_to(of_root / "secret")
    given_away(tmp_path / "config")
    with (
        pytest.raises(PermissionError, match="config is a link that another user has made"),
        real_place(tmp_path / "config"),
    ):
        pass


# In a folder of one's own


def test_links_of_one_s_own_are_followed_to_the_folder_and_to_a_kubeconfig(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles", tmp_path / "state"
    real.mkdir(mode=0o700)
    link.symlink_to("dotfiles")
    replace_own_file(link / "theme", b"dark\n")
    assert read_own_file(real / "theme", 100) == b"dark\n"
    (real / "kube").write_text("old")
    (real / "kube").chmod(0o640)
    (real / "config").symlink_to("../dotfiles/kube")
    (tmp_path / "config").symlink_to(real / "config")
    with real_place(tmp_path / "config") as (folder, name):
        replace_in(folder, name, b"new", os.stat(name, dir_fd=folder))
    assert (tmp_path / "config").is_symlink()
    assert ((real / "kube").read_text(), stat.S_IMODE((real / "kube").stat().st_mode)) == ("new", 0o640)


def test_links_without_an_end_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels"), real_place(tmp_path / "a"):
        pass
    with pytest.raises(OSError, match=r"directory|links"), own_folder(tmp_path / "a"):
        pass


def test_a_folder_that_others_can_write_to_is_refused_with_what_to_do(tmp_path: Path) -> None:
    tmp_path.chmod(0o770)
    with pytest.raises(PermissionError, match=r"other users can write to .*, chmod go-w it"):
        replace_own_file(tmp_path / "theme", b"dark\n")
    assert not (tmp_path / "theme").exists()


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_a_file_that_others_can_write_to_is_not_read_whoever_owns_it(mode: int, tmp_path: Path) -> None:
    """An entry of the journal tells what a drill may delete: anybody could have added one."""
    tmp_path.chmod(0o755)
    replace_own_file(tmp_path / "foretop" / "theme", b"dark\n")
    (tmp_path / "foretop" / "theme").chmod(mode)
    assert remembered_theme({"XDG_STATE_HOME": str(tmp_path)}) == ""
    remember_theme({"XDG_STATE_HOME": str(tmp_path)}, "light")
    assert remembered_theme({"XDG_STATE_HOME": str(tmp_path)}) == "light", "it is replaced all the same"
    journal = Journal(tmp_path / "foretop" / "journal")
    journal.append(entry(1))
    journal.path.chmod(mode)
    for use in (lambda: list(journal.read()), lambda: journal.append(entry(2))):
        with pytest.raises(ForetopError, match=r"other users can write to .*\.jsonl, chmod go-w it"):
            use()


def test_folders_that_are_made_are_for_their_owner_alone_whatever_the_mask(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        replace_own_file(tmp_path / "state" / "foretop" / "theme", b"dark\n")
        Journal(tmp_path / "state" / "foretop" / "journal").append(entry(1))
    finally:
        os.umask(before)
    for name in ("state", "state/foretop", "state/foretop/journal"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "state/foretop/theme").stat().st_mode) == 0o600


def test_what_cannot_be_replaced_stays_and_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    replace_own_file(tmp_path / "theme", b"dark\n")

    def fails(*_: object, **__: object) -> None:
        raise OSError("no")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fails)
        with pytest.raises(OSError, match="no"):
            replace_own_file(tmp_path / "theme", b"light\n")
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"dark\n"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_own_file(tmp_path / "folder", b"dark\n")


def test_a_new_file_takes_the_place_of_none(tmp_path: Path) -> None:
    (tmp_path / "old.log").write_text("mine")
    (tmp_path / "link.log").symlink_to(tmp_path / "gone")
    for name in ("old.log", "link.log"):
        with pytest.raises(FileExistsError):
            create_file(tmp_path / name)
    assert (tmp_path / "old.log").read_text() == "mine"
    assert not (tmp_path / "gone").exists()


# Times that cannot be


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-11-15", "soon", ""])
def test_a_time_of_the_journal_that_cannot_be_told_ends_nothing(at: str) -> None:
    odd = replace(entry(1), at=at)
    assert odd.moment is None
    MessagesScreen([], [odd], datetime(2026, 11, 15, tzinfo=UTC))
