"""What the tab key gives: from the table, from the kubeconfig, from the cluster, and in the shells themselves."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from foretop.bindings import ROOM_ACTIONS_FILE, WRITE_ACTIONS_FILE
from foretop.commands.complete_words import PATIENCE, TABLE, complete, completions
from foretop.commands.completion import SCRIPTS
from foretop_core.config.allowed_names import ACTION_NAMES_FILE
from foretop_core.pages import ROOM_PAGES_FILE
from foretop_demo.local_api_server import LocalApiServer
from tests import generated_tables
from tests.terminal import Terminal
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import OBJECTS

SECONDS = 120


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS) as made:
        yield made


@pytest.fixture
def environ(box: LocalApiServer, tmp_path: Path) -> dict[str, str]:
    config = kubeconfig(box, tmp_path)
    folders = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    return {**os.environ, **folders, "KUBECONFIG": config, PATIENCE: str(SECONDS)}


def words(environ: dict[str, str], *typed: str) -> list[str]:
    return [word for word, _ in completions(typed[:-1], typed[-1], environ)[0]]


def test_the_table_has_what_the_commands_have() -> None:
    assert TABLE.read_text(encoding="utf-8") == generated_tables.text(), "run python -m tests.write_tables"
    assert ACTION_NAMES_FILE.read_text(encoding="utf-8") == generated_tables.action_names()
    assert WRITE_ACTIONS_FILE.read_text(encoding="utf-8") == generated_tables.write_actions()
    assert ROOM_ACTIONS_FILE.read_text(encoding="utf-8") == generated_tables.room_actions()
    assert ROOM_PAGES_FILE.read_text(encoding="utf-8") == generated_tables.room_pages()


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (("des",), ["describe"]),
        (("schedule", "un"), ["unpause"]),
        (("get", "sch"), ["schedules", "schedule"]),
        (("get", "schedules", "-o", "js"), ["json"]),
        (("get", "schedules", "--output=js"), ["--output=json"]),
        (("-n", "velero", "get", "--no-h"), ["--no-headers"]),
        (("completion", ""), list(SCRIPTS)),
        (("--kubeconfig", "x", "--context", ""), []),
        (("journal", "-o", "y"), ["yaml"]),
    ],
)
def test_words_and_options_come_from_the_table(
    tmp_path: Path, typed: tuple[str, ...], found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert words({"HOME": str(tmp_path)}, *typed) == found


def test_contexts_and_users_come_from_the_kubeconfig(environ: dict[str, str]) -> None:
    assert words(environ, "get", "schedules", "--context", "") == ["minicluster"]
    assert words(environ, "--user", "") != []


def test_names_come_from_the_cluster(environ: dict[str, str]) -> None:
    for typed, found in (
        (("get", "schedules", "-n", "ve"), ["velero"]),
        (("schedule", "pause", ""), ["broken", "hourly"]),
        (("schedule", "pause", "hourly", "b"), ["broken"]),
        (("describe", "nab", ""), ["orders"]),
        (("backup", "create", "--from-schedule", "h"), ["hourly"]),
        (("-n", "velero", "restore", "delete", ""), ["back"]),
        (("-n", "nowhere", "restore", "delete", ""), []),
    ):
        assert words(environ, *typed) == found, typed


@pytest.mark.sweep
def test_names_are_kept_for_the_next_time(environ: dict[str, str], tmp_path: Path) -> None:
    assert words(environ, "schedule", "pause", "") == ["broken", "hourly"]
    (kept,) = (tmp_path / "cache" / "foretop" / "completion").iterdir()
    kept.write_text('["kept"]')
    assert words(environ, "schedule", "pause", "") == ["kept"]
    assert kept.parent.stat().st_mode & 0o077 == 0
    ahead = datetime(2400, 1, 1, tzinfo=UTC).timestamp()
    os.utime(kept, (ahead, ahead))
    assert words(environ, "schedule", "pause", "") == ["broken", "hourly"], "this machine's clock was ahead"


def test_a_cluster_that_is_gone_gives_no_words_and_no_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with box_in_thread() as made:
        gone = kubeconfig(made, tmp_path)
    environ = {**os.environ, "KUBECONFIG": gone, "XDG_CACHE_HOME": str(tmp_path), PATIENCE: str(SECONDS)}
    assert complete(["schedule", "pause", ""], environ) == 0
    assert capsys.readouterr().out == ":0\n"


def test_a_file_name_fits_where_a_file_is_wanted(capsys: pytest.CaptureFixture[str]) -> None:
    complete(["report", "-f", ""])
    assert capsys.readouterr().out == ":0\n"


BASH = """
source <(foretop completion bash)
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _foretop_complete 2>/dev/null; echo "${COMPREPLY[*]}"; }
try foretop des
try foretop schedule pause ho
try foretop --context min
try foretop get schedules --output = js
"""
ZSH = """
autoload -Uz compinit; compinit -u
source <(foretop completion zsh)
_describe() { shift 2; print -l -- ${(P)1%%:*}; }
compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- $@; }
try() { words=("$@"); CURRENT=$#; _foretop; }
try foretop des
try foretop schedule pause ho
try foretop --context min
"""
FISH = """
foretop completion fish | source
complete -C 'foretop des'
complete -C 'foretop schedule pause ho'
complete -C 'foretop --context min'
"""


@pytest.mark.parametrize(
    ("shell", "script", "found"),
    [
        ("bash", BASH, ["describe", "hourly", "minicluster", "json"]),
        ("zsh", ZSH, ["describe", "hourly", "minicluster"]),
        ("fish", FISH, ["describe", "hourly", "minicluster"]),
    ],
)
def test_a_shell_completes(shell: str, script: str, found: list[str], environ: dict[str, str], tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    program = tmp_path / "bin" / "foretop"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m foretop "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{environ['PATH']}"
    plain = {"bash": ("--norc",), "zsh": ("-f",), "fish": ("--no-config",)}[shell]
    command = [shell, *plain, "-c", script]
    done = subprocess.run(
        command, env={**environ, "PATH": path}, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    said = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    assert said == found, done.stderr


PLANTED = (
    "foretop.py",
    "sitecustomize.py",
    "usercustomize.py",
    "json.py",
    "yaml.py",
    "click.py",
    "foretop/__init__.py",
)


def test_the_tab_key_runs_nothing_of_the_current_folder(environ: dict[str, str], tmp_path: Path) -> None:
    """In a real bash, whose PATH and PYTHONPATH name the current folder as careless profiles do."""
    folder, ran = tmp_path / "hostile", tmp_path / "ran"
    (folder / "foretop").mkdir(parents=True)
    for name in PLANTED:
        (folder / name).write_text(f"open({str(ran)!r}, 'a').write({name!r})\n")
    for name in ("python", "python3", "kubectl-foretop"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >> {ran}\n")
        (folder / name).chmod(0o755)
    program = Path(sys.executable).with_name("foretop")
    script = subprocess.run([program, "completion", "bash"], capture_output=True, check=True, env=environ).stdout
    (tmp_path / "completion").write_bytes(script)
    path = f"{program.parent}{os.pathsep}{environ['PATH']}{os.pathsep}{os.pathsep}."
    careless = {**environ, "PATH": path, "PYTHONPATH": os.pathsep, "PS1": "$ "}
    with Terminal([shutil.which("bash") or "bash", "--norc", "-i"], 100, 10, careless, folder) as terminal:
        terminal.press(f"source {tmp_path}/completion\r")
        terminal.press("foretop schedule pause ho\t")
        terminal.shows("foretop schedule pause hourly")
        # An interactive bash does not end when it is asked to.
        terminal.press("\x15exit\r")
        assert terminal.ended() == 0
    assert not ran.exists(), ran.read_text()


def test_a_foretop_in_the_current_folder_is_not_run_by_the_tab_key(environ: dict[str, str], tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "foretop").write_text(f"#!/bin/sh\ntouch {ran}\n")
    (tmp_path / "here" / "foretop").chmod(0o755)
    script = f"{SCRIPTS['bash']}\nCOMP_WORDS=(foretop des); COMP_CWORD=1; _foretop_complete 2>/dev/null"
    for first in ("", "."):
        command = ["bash", "--norc", "-c", script]
        path = f"{first}{os.pathsep}/usr/bin{os.pathsep}/bin"
        subprocess.run(command, env={**environ, "PATH": path}, cwd=tmp_path / "here", check=False)
    assert not ran.exists()


def test_nothing_in_the_current_folder_is_run_when_kubectl_completes_the_plugin(
    environ: dict[str, str], tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    here, bin_folder = tmp_path / "here", tmp_path / "bin"
    here.mkdir()
    bin_folder.mkdir()
    script = str(Path(__file__).parents[2] / "packaging" / "kubectl_complete-foretop")
    for name in ("foretop", "kubectl-foretop"):
        (here / name).write_text(f"#!/bin/sh\ntouch {ran}\n")
        (here / name).chmod(0o755)
    for path in (".:/usr/bin:/bin", ":/usr/bin:/bin", "/usr/bin:/bin:", "../here:/usr/bin:/bin"):
        subprocess.run(["sh", script, "get", ""], env={**environ, "PATH": path}, cwd=here, check=False)
    assert not ran.exists()
    for name in ("kubectl-foretop", "foretop"):
        (bin_folder / name).write_text(f'#!/bin/sh\necho {name} "$@" "${{PYTHONPATH-none}}"\n')
        (bin_folder / name).chmod(0o755)
        found = {**environ, "PATH": f"{bin_folder}:/usr/bin:/bin", "PYTHONPATH": "/a:lib"}
        done = subprocess.run(["sh", script, "get", "b"], env=found, capture_output=True, text=True, check=True)
        assert done.stdout == f"{name} __complete get b none\n"


HOSTILE_NAMES = ["$(touch ran)", "`touch ran`", "a;b", "a\nb", "a\x1b[2J", "x y", "A", "-n", "a" * 254, "", "é"]


@pytest.mark.sweep
def test_only_valid_names_of_a_cluster_are_completed(environ: dict[str, str], tmp_path: Path) -> None:
    assert words(environ, "schedule", "pause", "") == ["broken", "hourly"]
    (kept,) = (tmp_path / "cache" / "foretop" / "completion").iterdir()
    kept.write_text(json.dumps([*HOSTILE_NAMES, "team-a/daily.1", "a/b/c", "$(x)/daily", "fine"]))
    assert words(environ, "schedule", "pause", "") == ["team-a/daily.1", "fine"]


SHOWN_CONTEXTS = sorted(["min $(touch ran)", "min'`touch ran`", 'min";touch ran;"', "min\\", ":a[$(touch ran)]"])
HOSTILE_CONTEXTS = [*SHOWN_CONTEXTS, "min\nx", "min\x1b[2J"]
QUOTED = {
    "bash": """COMP_WORDS=(foretop --context ''); COMP_CWORD=2; _foretop_complete 2>/dev/null
for word in "${COMPREPLY[@]}"; do eval "printf '%s\\n' $word"; done""",
    "fish": "for word in (complete -C 'foretop --context '); string escape -- $word | string unescape; end",
    "zsh": """compadd() {
    while [[ $1 != -- ]]; do [[ $1 == *Q* ]] && print unquoted; shift; done
    shift; print -rl -- $@
}
words=(foretop --context ''); CURRENT=3; _foretop""",
}
"""Whatever is put on the line is read by the shell as exactly that name; fish and zsh quote it themselves."""


@pytest.mark.parametrize("shell", list(QUOTED))
def test_contexts_are_quoted_for_the_shell(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in HOSTILE_CONTEXTS]
    (tmp_path / "config").write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "contexts": contexts}))
    folder = Path(sys.executable).parent
    environ = {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "KUBECONFIG": str(tmp_path / "config"),
    }
    plain = {"bash": ("--norc",), "zsh": ("-f",), "fish": ("--no-config",)}[shell]
    before = "compdef() { :; }\n" if shell == "zsh" else ""
    command = [str(shutil.which(shell)), *plain, "-c", f"{before}{SCRIPTS[shell]}\n{QUOTED[shell]}"]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert sorted(done.stdout.splitlines()) == SHOWN_CONTEXTS, done.stderr
    assert not (tmp_path / "ran").exists()
