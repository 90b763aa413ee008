"""The installed files: two packages and nothing else, so that no other program's modules are overwritten."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", tmp_path_factory.mktemp("wheel"))


def built(target: str, folder: Path) -> Path:
    """A wheel or an sdist, made from the tree."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(build, cwd=_ROOT, check=True, capture_output=True)
    (made,) = folder.iterdir()
    return made


def test_the_wheel_has_every_module_and_its_data_and_no_other_package(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tops = {name.partition("/")[0] for name in names}
    (information,) = (top for top in tops if top.endswith(".dist-info"))
    assert tops == {"foretop_core", "foretop_demo", "foretop", information}
    tracked = subprocess.run(["git", "ls-files", "core", "tui"], cwd=_ROOT, capture_output=True, text=True, check=True)
    shipped = {name.partition("/")[2] for name in tracked.stdout.splitlines()}
    assert shipped
    assert {name for name in names if not name.startswith(information)} == shipped


def test_it_works_beside_another_package_named_core(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "core").mkdir(parents=True)
    (site / "core" / "__init__.py").write_text("owner = 'somebody else'\n")
    zipfile.ZipFile(wheel).extractall(site)
    code = (
        "import sys, core, foretop, foretop_core.cron as cron\n"
        "print(core.owner, cron.__file__.startswith(sys.argv[1]))\n"
        "print([name for name in ('textual', 'aiohttp') if name in sys.modules])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-c", code, str(site)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["somebody else True", "[]"]
    command = [sys.executable, "-m", "foretop", "--version"]
    version = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert version.stdout.startswith("foretop ")
