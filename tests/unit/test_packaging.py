"""What packaging/ holds is held to the code: roles, version, launcher."""

from __future__ import annotations

import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from foretop_core.actions.action_catalog import INTENTS
from foretop_core.session import WATCHED
from tests.unit.test_wheel import _ROOT, built

PACKAGING = _ROOT / "packaging"
VERSION = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"]


def rules(name: str) -> list[dict[str, Any]]:
    documents = yaml.safe_load_all((PACKAGING / "in-cluster.yaml").read_text())
    found: list[dict[str, Any]] = next(
        one["rules"] for one in documents if one["kind"] == "ClusterRole" and one["metadata"]["name"] == name
    )
    return found


def allows(granted: list[dict[str, Any]], verb: str, group: str, resource: str) -> bool:
    return any(
        verb in rule["verbs"] and group in rule["apiGroups"] and {resource, "*"} & set(rule["resources"])
        for rule in granted
    )


def test_the_reading_role_reads_all_that_foretop_watches_and_writes_nothing() -> None:
    granted = rules("foretop-read")
    for kind in WATCHED:
        for verb in ("get", "list", "watch"):
            assert allows(granted, verb, kind.group, kind.plural), (verb, kind.plural)
    assert {verb for rule in granted for verb in rule["verbs"]} == {"get", "list", "watch"}


def test_both_roles_together_allow_every_action() -> None:
    granted = [*rules("foretop-read"), *rules("foretop-write")]
    for intent in INTENTS:
        for needed in intent.rights:
            assert allows(granted, needed.verb, needed.kind.group, needed.kind.plural), (intent.id, needed)


def test_the_plugins_manifest_has_the_version() -> None:
    manifest = yaml.safe_load((PACKAGING / "krew.yaml").read_text())
    assert manifest["spec"]["version"] == f"v{VERSION}"
    assert manifest["metadata"]["name"] == "foretop"


def test_the_launcher_unpacks_once_keeps_one_version_and_names_what_is_wrong(tmp_path: Path) -> None:
    """With a stand-in for the interpreter, so that nothing needs to be built."""
    first = launcher(tmp_path, "1.0-a")
    cache = tmp_path / "cache"
    assert started(first, tmp_path) == "python -I -m foretop get schedules"
    (cache / "1.0-a" / "bin" / "python3").write_text("#!/bin/sh\necho again\n")
    assert started(first, tmp_path) == "again"
    assert started(launcher(tmp_path, "1.1-b"), tmp_path) == "python -I -m foretop get schedules"
    assert [path.name for path in cache.iterdir()] == ["1.1-b"]
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = run(first, {"FORETOP_BUNDLE_DIR": f"{blocked}/x"})
    assert done.returncode == 2
    assert "set FORETOP_BUNDLE_DIR" in done.stderr.splitlines()[-1]
    done = run(launcher(tmp_path, "1.2-c", "#!/bin/sh\nexit 1\n"), {"FORETOP_BUNDLE_DIR": str(cache)})
    assert "older than glibc 2.17" in done.stderr
    assert [path.name for path in cache.iterdir()] == ["1.1-b"]


def launcher(folder: Path, identity: str, interpreter: str = '#!/bin/sh\necho "python $*"\n') -> Path:
    python = folder / "bin" / "python3"
    python.parent.mkdir(exist_ok=True)
    python.write_text(interpreter)
    python.chmod(0o755)
    with tarfile.open(folder / "archive", "w:gz") as tar:
        tar.add(python.parent, "bin")
    script = (PACKAGING / "launcher.sh").read_text()
    for mark, value in (("VERSION", "1"), ("ID", identity), ("GLIBC", "2.17")):
        script = script.replace(f"@{mark}@", value)
    size = len(script.replace("@OFFSET@", "00000").encode()) + 1
    made = folder / f"foretop-{identity}"
    made.write_bytes(script.replace("@OFFSET@", f"{size:05d}").encode() + (folder / "archive").read_bytes())
    made.chmod(0o755)
    return made


def run(program: Path, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", **environ}
    command = [str(program), "get", "schedules"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def started(program: Path, folder: Path) -> str:
    done = run(program, {"FORETOP_BUNDLE_DIR": str(folder / "cache")})
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("target", ["wheel", "sdist"])
def test_what_is_built_has_the_entry_points_and_no_tests(tmp_path: Path, target: str) -> None:
    made = built(target, tmp_path)
    assert VERSION in made.name
    if target == "sdist":
        with tarfile.open(made) as tar:
            tops = {name.split("/")[1] for name in tar.getnames() if "/" in name}
        assert {"core", "tui", "packaging", "pyproject.toml", "README.md", "LICENSE"} <= tops
        assert "tests" not in tops
        return
    with zipfile.ZipFile(made) as wheel:
        (entries,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        text = wheel.read(entries).decode()
    for name in ("foretop", "kubectl-foretop", "kubectl_complete-foretop"):
        assert f"{name} = foretop.__main__:" in text
