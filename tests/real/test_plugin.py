"""foretop as a plugin that kubectl itself finds, runs and completes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from foretop.commands.complete_words import PATIENCE
from foretop_demo.local_api_server import LocalApiServer
from tests.real.build import Kit
from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import OBJECTS

SECONDS = 120
PROGRAMS = {
    "kubectl-foretop": "from foretop.__main__ import start; start()",
    "kubectl_complete-foretop": "from foretop.__main__ import complete_for_kubectl; complete_for_kubectl()",
}


@pytest.fixture(scope="module")
def box() -> Iterator[LocalApiServer]:
    with box_in_thread(OBJECTS) as made:
        yield made


@pytest.fixture
def environ(box: LocalApiServer, tmp_path: Path) -> dict[str, str]:
    """The programs that an installation puts on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, code in PROGRAMS.items():
        program = folder / name
        program.write_text(f"#!{sys.executable}\n{code}\n")
        program.chmod(0o755)
    return {
        "PATH": f"{folder}{os.pathsep}{os.defpath}",
        "HOME": str(tmp_path),
        "KUBECONFIG": kubeconfig(box, tmp_path),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        PATIENCE: str(SECONDS),
    }


def kubectl(kit: Kit, environ: dict[str, str], *arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [str(kit.kubectl), *arguments]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == code, done.stderr
    return done


def test_kubectl_lists_and_runs_the_plugin(kit: Kit, environ: dict[str, str]) -> None:
    assert "/bin/kubectl-foretop" in kubectl(kit, environ, "plugin", "list").stdout
    printed = kubectl(kit, environ, "foretop", "get", "schedules", "-n", "velero", "-o", "name").stdout
    assert printed == kubectl(kit, environ, "get", "schedules", "-n", "velero", "-o", "name").stdout
    refused = kubectl(kit, environ, "foretop", "get", "sails", code=2).stderr
    assert refused.startswith("foretop: ")
    assert "(see kubectl foretop get --help)" in refused


def test_kubectl_completes_the_plugins_words(kit: Kit, environ: dict[str, str]) -> None:
    found = kubectl(kit, environ, "__complete", "foretop", "describe", "schedule", "ho").stdout
    assert found.splitlines() == ["hourly", ":4"]
