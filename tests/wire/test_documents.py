"""The commands of README and manual: each is known with its options; each that ends by itself runs against the box."""

from __future__ import annotations

import re
import shlex
from itertools import chain
from pathlib import Path

import pytest

from foretop.cli import run
from foretop_core.pages import GET_TABLES, PAGES
from foretop_demo.local_api_server import LocalApiServer
from tests.rooms import samples
from tests.wire.boxes import kubeconfig
from tests.wire.command_fixtures import still_box

__all__ = ["still_box"]
_ROOT = Path(__file__).parents[2]
_PAGES = "".join((_ROOT / page).read_text() for page in ("README.md", "docs/manual.md", "CONTRIBUTING.md"))
_SHOWN = re.compile(r"^ {4}(foretop\b.*)$|`(foretop(?: [^`]*)?)`", re.MULTILINE)
_PLACEHOLDER = {"WHO": "auditor", "KIND": "schedule", "NAME": "nightly", "velero/daily": "velero/nightly"}
_READS = ("get", "describe", "report", "doctor", "next", "journal", "completion", *chain(*samples("READS")))
_FILE = """
apiVersion: velero.io/v1
kind: Schedule
metadata: {name: nightly, namespace: velero}
spec: {schedule: 30 2 * * 1-5}
"""


def shown() -> list[str]:
    """Every command in a block or between backquotes, without comment and pipe; those with alternatives one by one."""
    found = ["".join(match.groups("")).replace("\\|", "|") for match in _SHOWN.finditer(_PAGES)]
    plain = [re.split(r"  +#| \| ", command)[0].strip() for command in found]
    return sorted({one for command in plain for one in _alternatives(command)})


def _alternatives(command: str) -> list[str]:
    words = command.removesuffix(" …").split(" ")
    several = next((word for word in words if "|" in word and "'" not in word), None)
    if several is None:
        return [" ".join(words)]
    return [one for each in several.split("|") for one in _alternatives(command.replace(several, each, 1))]


@pytest.mark.parametrize("command", shown())
def test_a_command_of_the_pages_exists_with_its_options(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*shlex.split(command)[1:], "--help"]) == 0, capsys.readouterr().err


def ending() -> list[str]:
    """Those that read, print and end."""
    return [one for one in shown() if one.split()[1:2] and one.split()[1] in _READS and "--watch" not in one]


def test_the_manual_names_what_get_prints() -> None:
    (row,) = re.findall(r"the rows of a view: ([a-z, ]+);", _PAGES)
    named = set(row.split(", "))
    assert {page.get[0][0] for page in PAGES.values() if page.get} <= named <= GET_TABLES.keys()


def test_the_pages_have_commands() -> None:
    assert len(shown()) > 30
    assert len(ending()) > 15


@pytest.mark.parametrize("command", ending())
def test_a_command_of_the_pages_runs(
    command: str,
    still_box: LocalApiServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [_PLACEHOLDER.get(word, word) for word in shlex.split(command)[1:]]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schedules.yaml").write_text(_FILE)
    monkeypatch.setenv("KUBECONFIG", kubeconfig(still_box, tmp_path))
    assert run(words) in (0, 1), capsys.readouterr().err
