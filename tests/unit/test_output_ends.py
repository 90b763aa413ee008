"""Where output goes: a reader that leaves, a full disk, a terminal that obeys what it is sent; and odd files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from foretop.commands.output import emit, without_controls
from foretop_core.config.config_reader import read_settings
from foretop_core.errors import BadInput
from foretop_core.kube.connection.config import ConnectionOptions
from foretop_core.kube.connection.kubeconfig import choose_contexts
from foretop_core.models import manifest_reader
from foretop_core.tables.text.terminal_text import clean

pytestmark = pytest.mark.long

INVISIBLE = "\U000e0041\u3164\u115f\u1160\uffa0\u2800\u034f\ufe0f\u180b\U000e0100\xad\u180e\u061c\u17b4\u206a\ufff0"
"""Letters that a terminal draws as nothing or as a blank: two texts that look the same, and hidden messages."""
HOSTILE = {"name": f"a\x7f{INVISIBLE}b\x9b31mc\u202ed\u2066e\u200bf\u0085g\u2028h\x1bi", "plain": "Zürich 日本"}


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_is_printed_for_machines_moves_no_terminal_and_means_the_same(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    emit(HOSTILE, form)
    said = capsys.readouterr().out
    assert not set(said) & {*INVISIBLE}
    assert not set(said) & set("\x7f\x9b\u202e\u2066\u200b\u0085\u2028\x1b")
    assert (json.loads(said) if form == "json" else yaml.safe_load(said)) == HOSTILE
    emit({"plain": HOSTILE["plain"]}, form)
    assert HOSTILE["plain"] in capsys.readouterr().out


def test_lines_move_no_terminal_and_stay_readable() -> None:
    shown = without_controls(f"{HOSTILE['name']}\t{HOSTILE['plain']}\n")
    assert shown.endswith("h\\u001bi\tZürich 日本\n")
    assert not {*shown} & {*INVISIBLE}
    assert not [letter for letter in shown if not letter.isprintable() and letter not in "\n\t"]


@pytest.mark.parametrize("letter", INVISIBLE)
def test_what_is_shown_has_no_letter_that_nobody_sees(letter: str) -> None:
    code = ord(letter)
    spelt = f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    assert clean(f"a{letter}b") == f"a{spelt}b"


def foretop(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "foretop", *arguments]


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    for arguments in (("next", "@hourly"), ("--help",)):
        ended = subprocess.run(foretop(*arguments), stdout=writes, stderr=subprocess.PIPE, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")
    os.close(writes)


def test_a_disk_that_is_full_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(foretop("next", "@hourly"), stdout=full, stderr=subprocess.PIPE, check=False)
    assert ended.returncode == 2
    assert ended.stderr == b"foretop: Standard output cannot be written: no space left on device\n"


def test_neither_a_home_nor_standard_input_is_needed() -> None:
    environ = {key: value for key, value in os.environ.items() if key != "HOME" and not key.startswith("XDG_")}
    command = ["sh", "-c", 'exec "$@" 0<&-', "sh", *foretop("next", "@hourly")]
    ended = subprocess.run(command, env=environ, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_standard_streams_that_are_closed_are_no_fault(closed: str, tmp_path: Path) -> None:
    environ = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    for arguments, code in ((("next", "@hourly"), 0), (("--help",), 0), (("next", "no expression"), 2)):
        command = ["sh", "-c", f'exec "$@" {closed}', "sh", *foretop(*arguments)]
        ended = subprocess.run(command, env=environ, capture_output=True, check=False)
        assert ended.returncode == code, ended.stderr
        assert b"fault" not in ended.stderr
    assert not (tmp_path / "state").exists(), "no crash was reported"


DEEP = {
    "brackets": "[" * 30_000,
    "closed brackets": "[" * 30_000 + "]" * 30_000,
    "braces": "{a: " * 30_000,
    "items": "- " * 30_000,
    "items far apart": "-  " * 30_000,
    "keys": "?  " * 30_000,
    "items of keys": "-   ?  " * 20_000,
    "beside things": "[a, " * 5_000,
    "indentation": "\n".join(f"{' ' * depth}a:" for depth in range(2_000)),
}
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("text", [*DEEP.values(), BOMB], ids=[*DEEP, "aliases"])
def test_a_file_that_would_break_its_reader_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not valid YAML"):
        manifest_reader.read(text, "a file")
    (tmp_path / "config").write_text(text)
    with pytest.raises(BadInput, match="Cannot read the kubeconfig"):
        choose_contexts(ConnectionOptions(kubeconfig=str(tmp_path / "config")), {})


@pytest.mark.parametrize("value", ['!!bool "perhaps"', "!!timestamp soon", "!!int abc", "9" * 5_000, "!!float x"])
def test_a_value_that_does_not_fit_is_one_line(value: str, tmp_path: Path) -> None:
    text = f"apiVersion: v1\nkind: Config\nodd: {value}\n"
    with pytest.raises(BadInput, match="is not valid YAML at line 3"):
        manifest_reader.read(text, "a file")
    (tmp_path / "config").write_text(text)
    with pytest.raises(BadInput, match="Cannot read the kubeconfig"):
        choose_contexts(ConnectionOptions(kubeconfig=str(tmp_path / "config")), {})


@pytest.mark.parametrize("value", ["1" + ":1" * 100_000, "1" + ":1" * 100_000 + ".5", "2026-02-30", "!!int '1:30'"])
def test_times_and_numbers_to_the_base_of_60_are_text_as_in_go(value: str) -> None:
    (found,) = manifest_reader.read_documents(f"odd: {value}\n", "a file")
    assert found == {"odd": value.removeprefix("!!int ").strip("'")}


@pytest.mark.parametrize("value", ["2026-02-30", "9" * 5_000, "1" + ":1" * 50_000, "'[[[[[[[['", "'&a [*a]'"])
def test_a_setting_that_is_no_value_is_a_mistake_and_the_rest_is_used(value: str) -> None:
    found = read_settings(f"warmUpMinutes: {value}\npage: queue\n")
    assert [mistake.line for mistake in found.mistakes] == [1]
    assert found.settings.page == "queue"


def test_ordinary_anchors_and_many_brackets_are_read() -> None:
    item = "apiVersion: velero.io/v1\nkind: Schedule\nmetadata: {name: s%d, labels: {}}\nspec: {schedule: '@daily'}\n"
    shared = "apiVersion: velero.io/v1\nkind: Schedule\nmetadata: &m {name: x}\nspec: {schedule: '@daily'}\nold: *m\n"
    found = manifest_reader.read("---\n".join([*(item % number for number in range(200)), shared]), "a file")
    assert len(found.objects) == 201
