"""The program in a real pseudo-terminal: real bytes in, and what an emulator makes of the bytes that come out."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml
from textual.events import Key

from foretop.terminal.probe import typed_in
from foretop.terminal.textual_internals import parse_keys
from foretop.widgets.table_strips import MARKED
from tests.terminal import Terminal
from tests.tui.filled_dashboard import TOKEN

_FORETOP = (sys.executable, "-m", "foretop")
_VISITED = (sys.executable, "-m", "tests.tui.filled_dashboard")
_SIXTEEN = frozenset({"default", "black", "red", "green", "brown", "blue", "magenta", "cyan", "white"})
_ESCAPE, _CTRL_C, _CTRL_R, _CTRL_SPACE, _CTRL_BACKSLASH = "\x1b", "\x03", "\x12", "\x00", "\x1c"


@pytest.fixture(scope="module")
def kubeconfig() -> Iterator[str]:
    """A quiet cluster in a box, in a process of its own."""
    serve = [*_FORETOP, "demo", "--scene", "quiet", "--seed", "1", "--serve"]
    with subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def is_left_as_found(terminal: Terminal) -> None:
    assert terminal.modes() == terminal.modes_before
    assert terminal.settings() == terminal.settings_before
    assert terminal.output.count(b"\x1b[>") == terminal.output.count(b"\x1b[<u"), "the keyboard's mode is given back"


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_a_visit_from_the_start_over_filter_and_detail_to_the_end(kubeconfig: str, size: tuple[int, int]) -> None:
    with Terminal([*_FORETOP, "--kubeconfig", kubeconfig], *size) as terminal:
        terminal.shows(lambda lines: "API ●" in lines[0])
        assert terminal.modes() != terminal.modes_before
        terminal.press("7")
        terminal.shows("mail-2026")
        terminal.press("/ledger")
        terminal.shows(lambda lines: not any("mail-2026" in line for line in lines))
        terminal.press(_ESCAPE)
        terminal.shows("mail-2026")
        terminal.press("\r")
        terminal.shows("Overview ─ Volumes")
        terminal.press("q")
        terminal.shows(lambda lines: not any("Overview ─ Volumes" in line for line in lines))
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)


@pytest.mark.parametrize("environ", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_what_is_typed_before_the_screen_is_there_is_not_lost(environ: dict[str, str]) -> None:
    with Terminal(_VISITED, 80, 24, environ) as terminal:
        terminal.press("7/mongo\r")
        terminal.shows(lambda lines: "/mongo" in lines[2] and "mongo-nightly" in lines[4] and not lines[5].strip())
        terminal.shows(lambda lines: "q back" in lines[23])
        terminal.press("q")
        terminal.shows("14-2200")
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)


def test_what_is_typed_while_the_terminal_is_asked_is_not_taken_for_its_answer() -> None:
    assert typed_in(b"7/m\x1b[1;2Rail\n") == b"7/mail\r"
    assert typed_in(b"\x1b[A") == b"\x1b[A"
    assert typed_in(b"\x1b[12;3R") == b""


def test_keys_come_as_terminals_send_them() -> None:
    with Terminal(_VISITED, 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        terminal.press("2")
        terminal.shows("CRON")
        terminal.press(" jj" + _CTRL_SPACE)
        terminal.shows(lambda lines: sum(line.startswith(MARKED) for line in lines) == 4)
        terminal.press(_CTRL_BACKSLASH)
        terminal.shows(lambda lines: not any(line.startswith(MARKED) for line in lines))
        terminal.press(">")
        terminal.shows("NAME↑")
        terminal.press("O")
        terminal.shows("NAME↓")
        terminal.press(">")
        terminal.shows("CRON↑")
        terminal.press("<")
        terminal.shows("NAME↑")


@pytest.mark.parametrize("way", ["qq", _CTRL_C, ":q\r", signal.SIGTERM, signal.SIGHUP])
def test_the_terminal_is_left_as_it_was_found(way: str | signal.Signals) -> None:
    with Terminal([*_VISITED, "--mouse"], 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        assert 1000 << 5 in terminal.modes()
        if isinstance(way, signal.Signals):
            terminal.signal(way)
            assert terminal.ended() == 128 + way
        else:
            terminal.press(way)
            assert terminal.ended() == 0
        is_left_as_found(terminal)


def test_a_program_that_loses_its_terminal_ends() -> None:
    with Terminal(_VISITED, 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        assert terminal.hang_up() == 128 + signal.SIGHUP


_WAITS_FOR_IT = """
import signal, subprocess, sys
signal.signal(signal.SIGHUP, lambda *_: None)
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


def test_a_program_that_nobody_tells_of_its_lost_terminal_ends_too() -> None:
    """The leader of its session hears of it, and waits for the program, as make does."""
    with Terminal([sys.executable, "-c", _WAITS_FOR_IT, *_VISITED], 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        assert terminal.hang_up() == 128 + signal.SIGHUP


def test_a_sigcont_without_a_suspend_starts_no_second_reader_of_the_keys() -> None:
    with Terminal(_VISITED, 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        threads = _threads(terminal.pid)
        terminal.signal(signal.SIGCONT)
        terminal.press("2")
        terminal.shows("CRON")
        assert _threads(terminal.pid) == threads
        terminal.press("qq")
        assert terminal.ended() == 0


def _threads(pid: int) -> list[str]:
    """The ids of its threads; a second reader of the keys would be one more."""
    return sorted(os.listdir(f"/proc/{pid}/task"))


def test_a_crash_leaves_the_terminal_in_order_a_report_and_no_values(tmp_path: Path) -> None:
    with Terminal([*_VISITED, "crash"], environ={"XDG_STATE_HOME": str(tmp_path)}) as terminal:
        assert terminal.ended() == 1
        terminal.shows("ZeroDivisionError: a fault with 19 letters in it")
        assert TOKEN.encode() not in terminal.output
        assert b"Traceback" not in terminal.output
        is_left_as_found(terminal)
    (report,) = (tmp_path / "foretop").glob("crash-*.txt")
    assert report.stat().st_mode & 0o777 == 0o600
    assert TOKEN not in report.read_text()
    assert "in start" in report.read_text()


_HOSTILE = (
    "\x1b[115:83;2;83u",
    "\x1b[999999999999u",
    "\x1b[<1;99999999999;1M",
    "\x1b[;;;;;u",
    "\x1b[1114112u",
    "\x1b[?2026;9$y",
    "\x1b[48;99999;99999;0;0t",
    "\x1b[?2048;1$y\x1b[48;0;0;0;0t\x1b[<0;1;1M",
    "\x1b[48;0;0;8;8t\x1b[<64;5;9M",
)


def test_no_piece_of_any_sequence_is_too_odd_for_the_reader_of_keys() -> None:
    dice = random.Random(14)
    pieces = (
        *_HOSTILE,
        "\x1b",
        "\x1b[",
        "\x1b[<",
        "\x1b[48;0;0;0;0t",
        "\x1b[200~",
        "\x9b",
        "\0",
        *"0123456789;:<>?$~uMmtyAR",
    )
    for _ in range(2_000):
        typed = "".join(dice.choices(pieces, k=dice.randint(1, 12)))
        keys = [event.key for event in parse_keys(f"{typed}\x1b[201~\x1b[24~\x1b[24~") if isinstance(event, Key)]
        assert "f12" in keys, repr(typed)


def test_hostile_bytes_from_the_terminal_end_nothing() -> None:
    with Terminal(_VISITED, 80, 24) as terminal:
        for bytes_in in _HOSTILE:
            terminal.shows(
                lambda lines: "storage s3-us" in "".join(lines) and not any("CRON" in line for line in lines)
            )
            terminal.press_bytes(bytes_in.encode() + b"\xff\xfe\xc3(\x80")
            terminal.press("2")
            terminal.shows("CRON")
            assert terminal.is_running, f"{bytes_in!r} ended it"
            terminal.press("1")
        terminal.shows("storage s3-us")
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)


@pytest.mark.sweep
def test_noise_from_the_terminal_ends_nothing() -> None:
    """Neither keys that quit nor those that stop or suspend are in it."""
    dice = random.Random(14)
    letters = [letter for letter in range(256) if chr(letter) not in "qQ\x03\x05\x1a\x1c\x11\x13"]
    with Terminal(_VISITED, 80, 24) as terminal:
        terminal.shows("etcd-hourly")
        for _ in range(10):
            noise = bytes(dice.choices([*letters, *b"\x1b[" * 40, *b"0123456789;:<u" * 6], k=200))
            terminal.press_bytes(noise)
        terminal.press_bytes(b"\x1b[200~\x1b[201~")
        terminal.settled()
        assert terminal.is_running


@pytest.mark.parametrize(
    ("environ", "option", "lights_up"),
    [
        ({}, [], True),
        ({"SSH_CONNECTION": "10.0.0.1 50022 10.0.0.2 22"}, [], False),
        ({"SSH_CONNECTION": "10.0.0.1 50022 10.0.0.2 22"}, ["--flash"], True),
    ],
)
def test_over_ssh_nothing_flashes_unless_it_is_asked_for(
    environ: dict[str, str], option: list[str], lights_up: bool
) -> None:
    with Terminal([*_VISITED, *option], 80, 24, environ) as terminal:
        terminal.shows("etcd-hourly")
        terminal.press("7")
        terminal.shows(lambda lines: any(_is_row(line, "InProgress") for line in lines))
        terminal.settled()
        before = terminal.written
        terminal.press(_CTRL_R)
        terminal.shows(lambda lines: any(_is_row(line, "Completed") for line in lines))
        assert bool(_LIT.search(terminal.output[before:])) == lights_up


_LIT = re.compile(rb"\x1b\[(?:[\d;]*;)?4(?:;[\d;]*)?m[^\x1b]*Completed")
"""The new phase as a lit cell: underlined, which nothing else on its row is."""


def _is_row(line: str, phase: str) -> bool:
    return "mongo-nightly" in line and phase in line


@pytest.mark.parametrize(
    ("environ", "option"), [({"TERM": "linux"}, []), ({"LC_ALL": "C", "PYTHONUTF8": "0"}, []), ({}, ["--ascii"])]
)
def test_a_terminal_without_our_signs_gets_letters(environ: dict[str, str], option: list[str]) -> None:
    with Terminal([*_VISITED, *option], 80, 24, environ) as terminal:
        terminal.shows("x     2h  storage s3-us")
        terminal.press("5")
        terminal.shows("night ahead")
        terminal.press("?")
        terminal.shows("The signs of this page")
        terminal.press("q8")
        terminal.shows("RESTORE")
        assert terminal.output.isascii()


def test_without_colour_there_is_none() -> None:
    with Terminal(_VISITED, 80, 24, {"NO_COLOR": "1"}) as terminal:
        terminal.shows("✗     2h  storage s3-us")
        terminal.settled()
        assert {(cell.fg, cell.bg) for cell in terminal.cells()} == {("default", "default")}
        terminal.shows(lambda _: any(cell.reverse for cell in terminal.cells()))


@pytest.mark.parametrize("term", ["xterm-16color", "screen", "xterm-256color"])
def test_colours_are_the_sixteen_of_the_terminal(term: str) -> None:
    with Terminal(_VISITED, 80, 24, {"TERM": term}) as terminal:
        terminal.shows("✗     2h  storage s3-us")
        terminal.press("5")
        terminal.shows("night ahead")
        terminal.settled()
        colours = {colour for cell in terminal.cells() for colour in (cell.fg, cell.bg)}
        assert len(colours) > 2
        assert {colour.removeprefix("bright") for colour in colours} <= _SIXTEEN


def test_a_kubeconfig_that_cannot_be_read_is_told_and_tried_again(kubeconfig: str, tmp_path: Path) -> None:
    broken = tmp_path / "kubeconfig"
    broken.write_text("contexts: [")
    with Terminal([*_FORETOP, "--kubeconfig", str(broken)], 80, 24) as terminal:
        terminal.shows("Fix the file")
        terminal.shows(lambda lines: "▲ Cannot read the kubeconfig " in lines[0])
        terminal.press("5")
        terminal.shows(lambda lines: "5Cal" in lines[1] and any("Fix the file" in line for line in lines))
        broken.write_text(Path(kubeconfig).read_text())
        terminal.press(_CTRL_R)
        terminal.shows(lambda lines: "API ●" in lines[0])
        terminal.press("qq")
        assert terminal.ended() == 0


def test_a_server_that_refuses_is_told_and_waited_for(tmp_path: Path) -> None:
    nobody = tmp_path / "kubeconfig"
    nobody.write_text(yaml.safe_dump(_kubeconfig("http://127.0.0.1:1", {"token": "t"})))
    with Terminal([*_FORETOP, "--kubeconfig", str(nobody)], 80, 24) as terminal:
        terminal.shows(lambda lines: "▲ cannot connect" in lines[0] and "refused" in "".join(lines))
        terminal.shows("foretop retries in")


def test_a_plugin_that_needs_a_person_gets_the_terminal(kubeconfig: str, tmp_path: Path) -> None:
    server, token = _address(kubeconfig)
    plugin = tmp_path / "login"
    plugin.write_text(_PLUGIN.format(python=sys.executable, token=token))
    plugin.chmod(0o700)
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin)}}
    config = tmp_path / "kubeconfig"
    config.write_text(yaml.safe_dump(_kubeconfig(server, user)))
    with Terminal([*_FORETOP, "--kubeconfig", str(config)], 80, 24) as terminal:
        terminal.shows(
            lambda lines: "signed out" in lines[0] and any("nobody is there to ask" in line for line in lines)
        )
        terminal.shows("i signs in")
        terminal.press("i")
        terminal.shows("Password:")
        assert terminal.settings() == terminal.settings_before
        terminal.press("sesame\n")
        terminal.shows(lambda lines: "API ●" in lines[0])
        terminal.press("qq")
        assert terminal.ended() == 0
        is_left_as_found(terminal)
        assert token.encode() not in terminal.output


_PLUGIN = """#!{python}
import json, os, sys
if not json.loads(os.environ["KUBERNETES_EXEC_INFO"])["spec"]["interactive"]:
    sys.exit("nobody is there to ask")
print("Password: ", end="", file=sys.stderr, flush=True)
if input() != "sesame":
    sys.exit("wrong")
answer = {{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {{"token": "{token}"}}}}
print(json.dumps(answer))
"""


def _address(kubeconfig: str) -> tuple[str, str]:
    content = yaml.safe_load(Path(kubeconfig).read_text())
    server = content["clusters"][0]["cluster"]["server"].partition("/token/")[0]
    return server, content["users"][0]["user"]["token"]


def _kubeconfig(server: str, user: Mapping[str, object]) -> dict[str, object]:
    return {
        "clusters": [{"name": "there", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": user}],
        "contexts": [{"name": "there", "context": {"cluster": "there", "user": "me"}}],
        "current-context": "there",
    }
