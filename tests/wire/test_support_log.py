"""`--log-file` and FORETOP_LOG: what foretop did and what failed, redacted, bounded, and for its owner alone."""

from __future__ import annotations

import io
import logging
import os
import stat
from collections.abc import Iterator
from logging.handlers import QueueListener
from pathlib import Path

import pytest

from foretop.cli import run
from foretop.commands import support_log
from foretop.commands.support_log import start_log
from foretop_core.errors import BadInput
from foretop_core.logs import logger, set_level
from tests.wire.boxes import box_in_thread

_log = logger("foretop_core.test")


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("FORETOP_LOG", raising=False)
    yield
    set_level()


def test_a_command_logs_what_it_did_before_or_after_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORETOP_LOG", "debug")
    with box_in_thread() as box:
        kubeconfig = str(box.kubeconfig(tmp_path / "kubeconfig"))
        assert run(["--log-file", str(tmp_path / "a.log"), "get", "backups", "--kubeconfig", kubeconfig]) == 0
        assert run(["get", "backups", "--kubeconfig", kubeconfig, "--log-file", str(tmp_path / "b.log")]) == 0
        token = box.token()
    for name in ("a.log", "b.log"):
        text = (tmp_path / name).read_text()
        assert "GET /apis/velero.io/v1/backups: 200" in text
        assert "backups.velero.io in minicluster/: live" in text
        assert token not in text
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_without_a_file_it_is_in_the_state_folder_and_without_both_there_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with box_in_thread() as box:
        kubeconfig = str(box.kubeconfig(tmp_path / "kubeconfig"))
        assert run(["get", "backups", "--kubeconfig", kubeconfig]) == 0
        assert not (tmp_path / "state").exists()
        monkeypatch.setenv("FORETOP_LOG", "info")
        assert run(["get", "backups", "--kubeconfig", kubeconfig]) == 0
    assert "live" in (tmp_path / "state" / "foretop" / "foretop.log").read_text()
    assert "GET" not in (tmp_path / "state" / "foretop" / "foretop.log").read_text()


def test_a_failure_has_its_traceback_and_no_secret(tmp_path: Path) -> None:
    stop = start_log(str(tmp_path / "log"), {})
    try:
        raise ValueError("no such token=eyJhbGciOiJSUzI1NiJ9.abc at https://me:s3cret-word@host/x")
    except ValueError as problem:
        _log.error("asking https://me:s3cret-word@host with Bearer abcdef1234567890abcdef1234567890", exc_info=problem)
    stop()
    text = (tmp_path / "log").read_text()
    assert "ERROR foretop_core.test asking https://" in text
    assert "test_support_log.py" in text
    assert "in test_a_failure_has_its_traceback_and_no_secret" in text
    for secret in ("s3cret-word", "eyJhbGciOiJSUzI1NiJ9", "abcdef1234567890abcdef1234567890"):
        assert secret not in text


def test_what_looks_like_a_token_is_not_in_it_though_nothing_names_it(tmp_path: Path) -> None:
    path = tmp_path / "log"
    stop = start_log(str(path), {})
    _log.error("it answered kX9fQ2kX9fQ2kX9fQ2kX9fQ2 in 3 s")
    stop()
    assert "it answered [hidden] in 3 s" in path.read_text()


def test_control_characters_and_long_texts_do_not_reach_the_file(tmp_path: Path) -> None:
    stop = start_log(str(tmp_path / "log"), {})
    _log.error("a\x1b[2Jb\nc" + " word" * 100_000)
    stop()
    (line,) = (tmp_path / "log").read_text().splitlines()
    assert "\x1b" not in line
    assert len(line) < 5000


def test_the_file_is_bounded_with_one_older_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support_log, "MOST_BYTES", 20_000)
    for _ in range(10):
        stop = start_log(str(tmp_path / "log"), {})
        for number in range(100):
            _log.info("message %s", number)
        stop()
    assert sorted(path.name for path in tmp_path.glob("log*")) == ["log", "log.1"]
    assert all(path.stat().st_size <= 20_000 for path in tmp_path.glob("log*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("log*")} == {0o600}
    assert (tmp_path / "log").read_text().splitlines()[-1].endswith("message 99")


@pytest.mark.parametrize("size", [3, 30_000])
@pytest.mark.parametrize("name", ["log", "log.1"])
def test_a_file_that_is_not_a_log_of_foretop_is_left_alone(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--log-file /var/log/syslog` would push the older syslog.1 out of the way."""
    monkeypatch.setattr(support_log, "MOST_BYTES", 20_000)
    other = tmp_path / name
    other.write_text("x" * size)
    other.chmod(0o644)
    with pytest.raises(BadInput, match=f"{name} is not a log of foretop"):
        start_log(str(tmp_path / "log"), {})
    assert other.read_text() == "x" * size
    assert stat.S_IMODE(other.stat().st_mode) == 0o644


def test_a_file_that_takes_the_place_of_the_older_log_meanwhile_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(support_log, "MOST_BYTES", 20_000)
    stop = start_log(str(tmp_path / "log"), {})
    (tmp_path / "log.1").write_text("of somebody else")
    for number in range(1000):
        _log.info("message %s", number)
    stop()
    assert (tmp_path / "log.1").read_text() == "of somebody else"
    assert (tmp_path / "log").stat().st_size <= 20_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
def test_a_file_of_another_user_is_not_logged_to(tmp_path: Path) -> None:
    (tmp_path / "log").touch()
    os.chown(tmp_path / "log", 65534, 65534)
    with pytest.raises(BadInput, match="belongs to another user"):
        start_log(str(tmp_path / "log"), {})


def test_a_disk_that_is_slower_than_the_log_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support_log, "_MOST_WAITING", 5)
    monkeypatch.setattr(QueueListener, "start", lambda self: None)
    monkeypatch.setattr(QueueListener, "stop", lambda self: None)
    stop = start_log(str(tmp_path / "log"), {})
    for number in range(100):
        _log.info("message %s", number)
    stop()


def test_what_cannot_be_used_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    for path in ("file/log", "pipe", "."):
        assert run(["--log-file", str(tmp_path / path), "config", "path"]) == 2
        assert f"The log file {tmp_path / path} cannot be written: " in capsys.readouterr().err
    with pytest.raises(BadInput, match=r"FORETOP_LOG=loud is not a level .give debug, info, warning, error"):
        start_log(None, {"FORETOP_LOG": "loud"})


def test_nothing_is_written_to_standard_error_where_there_is_no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    errors = io.StringIO()
    monkeypatch.setattr("sys.stderr", errors)
    _log.critical("a fault")
    set_level(logging.DEBUG)
    _log.critical("a fault")
    assert errors.getvalue() == ""
