"""What packaging/ holds is held to the code: roles, version, launcher."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import pytest
import yaml

from foretop_core.actions.action_catalog import RECORDS
from foretop_core.session import WATCHED
from tests.examples import sampled
from tests.rooms import ROOM_ACTIONS
from tests.unit.test_wheel import _ROOT, built

pytestmark = pytest.mark.long

PACKAGING = _ROOT / "packaging"
VERSION = tomllib.loads((_ROOT / "pyproject.toml").read_text())["project"]["version"]


def _bundle_script() -> ModuleType:
    """packaging/bundle.py, by its path: another package has the folder's name."""
    spec = importlib.util.spec_from_file_location("foretop_bundle", PACKAGING / "bundle.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


BUNDLE = _bundle_script()


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


def test_the_roles_together_allow_every_action_but_those_of_rooms() -> None:
    granted = [rule for name in ("foretop-read", "foretop-write") for rule in rules(name)]
    for record in (one for one in RECORDS if one.id not in ROOM_ACTIONS):
        for needed in record.rights:
            assert allows(granted, needed.verb, needed.kind.group, needed.kind.plural), (record.id, needed)


def test_the_plugins_manifest_has_the_version() -> None:
    manifest = yaml.safe_load((PACKAGING / "krew.yaml").read_text())
    assert manifest["spec"]["version"] == f"v{VERSION}"
    assert manifest["metadata"]["name"] == "foretop"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all users can enter, as pytest's own cannot be."""
    with TemporaryDirectory(dir="/tmp", prefix="foretop-launcher-") as made:
        Path(made).chmod(0o755)
        yield Path(made)


AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
NOBODY = 65534
TOOLS = ("sh", "tar", "gzip", "tail", "mktemp", "mkdir", "mv", "rm", "ls", "grep", "id", "wc")
STAND_IN = '#!/bin/sh\necho "python $*"\n'
"""For the interpreter, so that nothing needs to be built."""


def bundle(folder: Path, version: str, interpreter: str = STAND_IN, fill: int = 0) -> Path:
    """A file as `make bundle` writes it, with the stand-in."""
    tree = folder / f"tree-{version}"
    python = tree / "bin" / "python3"
    python.parent.mkdir(parents=True)
    python.write_text(interpreter)
    python.chmod(0o755)
    (tree / "lib" / "python3.14").mkdir(parents=True)
    (tree / "lib" / "python3.14" / "os.py").write_bytes(os.urandom(fill))
    packed = folder / f"{version}.tar.gz"
    with tarfile.open(packed, "w:gz") as tar:
        for name in ("bin", "lib"):
            tar.add(tree / name, name)
    shutil.rmtree(tree)
    made = folder / f"foretop-{version}"
    body = packed.read_bytes()
    made.write_bytes(BUNDLE.launcher(body, version, "2.17", 1_000_000) + body)
    made.chmod(0o755)
    return made


def start(
    program: Path, given: Path | str, user: int | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "FORETOP_BUNDLE_DIR": str(given), **environ}
    return subprocess.run(
        [str(program), "get", "schedules"],
        env=environment,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def started(program: Path, given: Path, user: int | None = None, **environ: str) -> str:
    done = start(program, given, user, **environ)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def refused(program: Path, given: Path | str, user: int | None = None, **environ: str) -> str:
    """The one line of a start that came to nothing."""
    done = start(program, given, user, **environ)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


def folder_in(given: Path, user: int = os.geteuid()) -> Path:
    return given / f"foretop-bundle-{user}"


def trees(given: Path) -> list[str]:
    """The versions that are unpacked there."""
    found = {path.name for path in folder_in(given).iterdir()} - {"made-by-foretop"}
    return sorted(name.partition("-")[0] for name in found)


def the_tree(given: Path) -> Path:
    (found,) = (path.parent for path in given.glob("foretop-bundle-*/*/ready"))
    return found


def test_the_launcher_unpacks_once_and_names_what_is_wrong(folder: Path) -> None:
    first = bundle(folder, "1.0.0")
    cache = folder / "cache"
    assert started(first, cache) == "python -I -m foretop get schedules"
    (the_tree(cache) / "bin" / "python3").write_text("#!/bin/sh\necho again $(umask)\n")
    os.umask(mask := os.umask(0))
    assert started(first, cache) == f"again {mask:04o}"
    blocked = folder / "file"
    blocked.write_text("")
    assert "set FORETOP_BUNDLE_DIR to a folder of your own" in refused(first, f"{blocked}/x")
    assert "older than glibc 2.17" in refused(bundle(folder, "1.2.0", "#!/bin/sh\nexit 1\n"), cache)
    assert trees(cache) == ["1.0.0"]
    (the_tree(cache) / "bin" / "python3").unlink()
    assert "is damaged (remove it)" in refused(first, cache)


def test_the_launcher_unpacks_into_the_caches_folder(folder: Path) -> None:
    program = bundle(folder, "1.0.0")
    started(program, Path(), FORETOP_BUNDLE_DIR="", HOME=str(folder))
    started(program, Path(), FORETOP_BUNDLE_DIR="", HOME="/", XDG_CACHE_HOME=str(folder / "xdg"))
    assert trees(folder / ".cache") == trees(folder / "xdg") == ["1.0.0"]


def test_the_launcher_touches_one_folder_of_its_own_in_a_used_one(folder: Path) -> None:
    used = folder / "used"
    for name in ("Documents", "projects", "0.9.0-abc", ".hidden"):
        (used / name).mkdir(parents=True)
        (used / name / "ready").write_text(f"{name} 1\n")
    before = sorted(used.iterdir())
    for version in ("1.0.0", "1.1.0"):
        started(bundle(folder, version), used)
    assert sorted(used.iterdir()) == sorted([*before, folder_in(used)])
    assert trees(used) == ["1.1.0"]


@pytest.mark.skipif(shutil.which("busybox") is None, reason="there is no busybox on PATH")
def test_busybox_is_enough_for_the_launcher(folder: Path) -> None:
    busybox = str(shutil.which("busybox"))
    tools = folder / "bin"
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(busybox)
    for version in ("1.0.0", "1.1.0"):
        program = bundle(folder, version)
        shell = folder / f"with-{version}"
        shell.write_text(f"#!/bin/sh\nexec {busybox} sh {program}\n")
        shell.chmod(0o755)
        for _ in "12":
            assert started(shell, folder / "cache", PATH=str(tools)) == "python -I -m foretop"
    assert trees(folder / "cache") == ["1.1.0"]
    (folder / "cache").chmod(0o777)
    assert "can write to" in refused(shell, folder / "cache", PATH=str(tools))


def test_the_launcher_leaves_a_folder_alone_that_it_did_not_make(folder: Path) -> None:
    theirs = folder_in(folder)
    (theirs / "notes").mkdir(parents=True)
    assert "was not made by foretop" in refused(bundle(folder, "1.0.0"), folder)
    assert list(theirs.iterdir()) == [theirs / "notes"]
    shutil.rmtree(theirs)
    (folder / "elsewhere").mkdir()
    theirs.symlink_to(folder / "elsewhere")
    assert "is a link" in refused(bundle(folder, "1.1.0"), folder)
    assert list((folder / "elsewhere").iterdir()) == []


def test_the_launcher_removes_only_older_versions_of_itself_that_nothing_runs(folder: Path) -> None:
    given = folder / "cache"
    for version in ("1.0.0", "1.5.0", "3.0.0"):
        started(bundle(folder, version), given)
    assert trees(given) == ["3.0.0"]
    root = folder_in(given)
    for version in ("1.1.0", "1.2.0", "1.3.0"):
        made = bundle(folder, version)
        started(made, given)
        shutil.copytree(the_tree_of(given, version), folder / version)
    for version in ("1.1.0", "1.2.0"):
        shutil.copytree(folder / version, root / (folder / version / "ready").read_text().split()[0])
    (the_tree_of(given, "1.1.0") / "used-by" / "another-machine").write_text("")
    (root / "notes").mkdir()
    (root / "0.9.0-mine").mkdir()
    (root / "0.9.0-mine" / "ready").write_text("0.8.0-theirs 80000\n")
    runs = the_tree_of(given, "1.2.0") / "bin" / "python3"
    shutil.copy(os.path.realpath("/bin/cat"), runs)
    with subprocess.Popen([str(runs)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        started(bundle(folder, "2.0.0"), given)
        assert trees(given) == ["0.9.0", "1.1.0", "1.2.0", "2.0.0", "3.0.0", "notes"]
        running.stdin.close()
    started(bundle(folder, "2.1.0"), given)
    assert trees(given) == ["0.9.0", "1.1.0", "2.1.0", "3.0.0", "notes"]


def the_tree_of(given: Path, version: str) -> Path:
    (found,) = folder_in(given).glob(f"{version}-*")
    return found


def test_two_first_starts_at_once_both_run_and_leave_one_tree(folder: Path) -> None:
    """Each waits with its copy unpacked until the other has one too."""
    ends = []
    for name in ("arrived", "go"):
        os.mkfifo(folder / name)
        ends.append(os.open(folder / name, os.O_RDWR))
    arrived, go = ends
    waits = f"echo > {folder}/arrived; read -r go < {folder}/go"
    program = bundle(folder, "1.0.0", f'#!/bin/sh\n[ "$2" != -c ] || {{ {waits}; }}\necho "python $*"\n')
    given = folder / "cache"
    environ = {"PATH": "/usr/bin:/bin", "FORETOP_BUNDLE_DIR": str(given)}
    both = [subprocess.Popen([str(program)], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "12"]
    for _ in both:
        assert os.read(arrived, 1) == b"\n"
    assert len(list(folder_in(given).glob(".draft*"))) == 2
    os.write(go, b"\n\n")
    for one in both:
        out, err = one.communicate(timeout=120)
        assert (one.returncode, out, err) == (0, b"python -I -m foretop\n", b"")
    for end in ends:
        os.close(end)
    assert trees(given) == ["1.0.0"]


@pytest.mark.parametrize("ended", [signal.SIGTERM, signal.SIGKILL])
def test_a_start_that_is_killed_leaves_nothing_that_is_used_or_stays(folder: Path, ended: signal.Signals) -> None:
    os.mkfifo(folder / "arrived")
    waits = f'#!/bin/sh\n[ "$2" != -c ] || {{ echo $PPID > {folder}/arrived; kill -{ended} $PPID; }}\n'
    given = folder / "cache"
    environ = {"PATH": "/usr/bin:/bin", "FORETOP_BUNDLE_DIR": str(given)}
    with subprocess.Popen([str(bundle(folder, "1.0.0", waits))], env=environ) as killed:
        assert int((folder / "arrived").read_text()) == killed.pid
    drafts = list(folder_in(given).glob(".draft*"))
    assert len(drafts) == (ended == signal.SIGKILL)
    other = folder_in(given) / f".draft+elsewhere+{killed.pid}+abcdef"
    other.mkdir()
    started(bundle(folder, "1.1.0"), given)
    assert trees(given) == [other.name, "1.1.0"]


def test_a_full_disk_is_one_line_and_nothing_of_it_is_used(folder: Path) -> None:
    """By the limit of a file's size, which a shell without rights can set too; tests/real fills a disk."""
    program = bundle(folder, "1.0.0", fill=100_000)
    given = folder / "cache"
    limited = folder / "limited"
    limited.write_text(f"#!/bin/sh\ntrap '' XFSZ\nulimit -f 20\nexec {program}\n")
    limited.chmod(0o755)
    assert "is the disk full? (make room, or set FORETOP_BUNDLE_DIR" in refused(limited, given)
    assert trees(given) == []
    assert started(program, given)


def test_a_copy_that_was_cut_short_is_refused(folder: Path) -> None:
    program = bundle(folder, "1.0.0", fill=10_000)
    program.write_bytes(program.read_bytes()[:-1000])
    assert refused(program, folder / "cache").endswith("is not complete (copy it again)")


def test_a_folder_that_others_can_write_to_is_refused_at_every_start(folder: Path) -> None:
    program = bundle(folder, "1.0.0")
    given = folder / "team" / "cache"
    given.mkdir(parents=True)
    for mode in (0o775, 0o757):
        given.parent.chmod(mode)
        line = f"foretop: other users can write to {given.parent} (chmod go-w it, or set FORETOP_BUNDLE_DIR"
        assert refused(program, given).startswith(line)
        assert list(given.iterdir()) == []
    given.parent.chmod(0o1777)
    assert started(program, given)
    given.parent.chmod(0o770)
    assert "can write to" in refused(program, given)
    folder.chmod(0o700)
    assert started(program, given)
    folder.chmod(0o755)
    given.parent.chmod(0o755)
    folder_in(given).chmod(0o1777)
    assert "can write to" in refused(program, given)
    folder_in(given).chmod(0o755)
    for name in ("bin", "bin/python3", "lib", "lib/python3.14", "."):
        the_tree(given).chmod(0o755)
        path = the_tree(given) / name
        mode = path.stat().st_mode
        path.chmod(mode | 0o020)
        assert "can write to" in refused(program, given), name
        path.chmod(mode)
    assert started(program, given)


@AS_ROOT
def test_what_another_user_planted_is_not_run(folder: Path) -> None:
    program = bundle(folder, "1.0.0")
    given = folder / "shared"
    given.mkdir()
    given.chmod(0o1777)
    assert started(program, given)
    tree = the_tree(given)
    for path in (folder_in(given), tree, tree / "ready", tree / "bin", tree / "bin" / "python3", given):
        os.chown(path, NOBODY, NOBODY)
        (tree / "bin" / "python3").write_text("#!/bin/sh\necho planted\n")
        assert f"{path} belongs to another user" in refused(program, given)
        os.chown(path, 0, 0)
    link = folder / "link"
    link.symlink_to(given)
    assert started(program, link) == "planted"
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    assert f"{link}" in refused(program, link)
    assert f"{link}" in refused(program, link / "more")


@AS_ROOT
def test_another_user_has_a_tree_of_its_own_in_a_shared_folder(folder: Path) -> None:
    program = bundle(folder, "1.0.0")
    home = folder / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    assert started(program, home, NOBODY) == "python -I -m foretop get schedules"
    assert the_tree(home).stat().st_uid == NOBODY
    assert f"{home} belongs to another user" in refused(program, home)
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    assert started(program, shared)
    assert started(program, shared, NOBODY)
    assert {path.stat().st_uid: path for path in shared.iterdir()} == {
        user: folder_in(shared, user) for user in (0, NOBODY)
    }


@AS_ROOT
def test_without_a_home_the_predictable_folder_is_checked_too(folder: Path) -> None:
    """In a mount namespace that has a /var/tmp of its own."""
    alone = ["unshare", "-m", "sh", "-ec"]
    own = "mount -t tmpfs -o mode=1777 tmpfs /var/tmp"
    if subprocess.run([*alone, own], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    program = bundle(folder, "1.0.0")
    planted = "/var/tmp/foretop-bundle-65534"
    story = (
        f"{own}; unset HOME XDG_CACHE_HOME FORETOP_BUNDLE_DIR; {program} one; mv /var/tmp/foretop-bundle-0 {planted}; "
        f"chown -R 7 {planted}; chmod -R 777 {planted}; exec setpriv --reuid 65534 --clear-groups {program} two"
    )
    done = subprocess.run([*alone, story], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["python -I -m foretop one"]
    assert (
        done.stderr == f"foretop: {planted} belongs to another user (set FORETOP_BUNDLE_DIR to a folder of your own)\n"
    )


@pytest.mark.parametrize("target", sampled(["wheel", "sdist"], "wheel"))
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
