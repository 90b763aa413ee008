"""The one file of `make bundle`, run as on a machine without Python; skipped where it was not made."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import OBJECTS

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "dist" / "foretop-linux-x86_64"
TOOLS = ("sh", "tar", "gzip", "tail", "mktemp", "mkdir", "mv", "rm", "ls", "grep", "id")
SECONDS = 120


@pytest.mark.skipif(not BUNDLE.exists(), reason="run make bundle first")
def test_the_one_file_runs_where_there_is_no_python(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(Path("/bin", name))
    environ = {"PATH": str(tools), "HOME": str(tmp_path)}

    def printed(*arguments: str) -> str:
        command = [str(BUNDLE), *arguments]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert printed("--version") == f"foretop {version}\n"
    (home,) = (tmp_path / ".cache" / "foretop" / "bundle").iterdir()
    assert home.name.startswith(f"{version}-")
    assert "Europe/Berlin" in printed("next", "0 9 * * *", "--tz", "Europe/Berlin")
    with box_in_thread(OBJECTS) as box:
        environ["KUBECONFIG"] = kubeconfig(box, tmp_path)
        assert "schedule.velero.io/hourly" in printed("get", "schedules", "-o", "name")
