"""The one file of `make bundle`, run as on a machine without Python; skipped where it was not made."""

from __future__ import annotations

import base64
import os
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest
import trustme
import yaml

from tests.wire.boxes import box_in_thread, kubeconfig
from tests.wire.test_commands import OBJECTS

ROOT = Path(__file__).parents[2]
BUNDLE = ROOT / "dist" / "foretop-linux-x86_64"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
TOOLS = ("sh", "tar", "gzip", "tail", "mktemp", "mkdir", "mv", "rm", "ls", "grep", "id", "wc")
SECONDS = 300
NOBODY = 65534
IS_ROOT = os.geteuid() == 0
USERS = [os.geteuid(), NOBODY] if IS_ROOT else [os.geteuid()]
AS_ROOT = pytest.mark.skipif(not IS_ROOT, reason="only root can act as two users, and mount")

pytestmark = pytest.mark.skipif(not BUNDLE.exists(), reason="run make bundle first")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all users can enter, with the few programs that a bundle needs."""
    with TemporaryDirectory(dir="/tmp", prefix="foretop-bundle-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "bin").mkdir()
        for name in TOOLS:
            (folder / "bin" / name).symlink_to(Path("/bin", name))
        shutil.copy(BUNDLE, folder / "foretop")
        yield folder


def begin(folder: Path, *arguments: str, user: int = os.geteuid(), **environ: str) -> subprocess.Popen[str]:
    options: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if user != os.geteuid() else {}
    started: subprocess.Popen[str] = subprocess.Popen(
        [str(folder / "foretop"), *arguments],
        env={"PATH": str(folder / "bin"), **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    return started


def printed(running: subprocess.Popen[str]) -> str:
    out, err = running.communicate(timeout=SECONDS)
    assert (running.returncode, err) == (0, "")
    return out


def refused(running: subprocess.Popen[str]) -> str:
    out, err = running.communicate(timeout=SECONDS)
    assert (running.returncode, out) == (2, "")
    (line,) = err.splitlines()
    return line


def unpacked(given: Path, user: int = os.geteuid()) -> list[Path]:
    found = set((given / f"foretop-bundle-{user}").iterdir())
    return sorted(found - {given / f"foretop-bundle-{user}" / "made-by-foretop"})


@contextmanager
def in_front_of(url: str, tls: ssl.SSLContext) -> Iterator[str]:
    """A server that takes the requests by TLS and passes them on."""
    target = urlsplit(url)

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    class Passing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with (
                tls.wrap_socket(self.request, server_side=True) as outside,
                socket.create_connection((target.hostname or "", target.port or 80)) as inside,
            ):
                answers = threading.Thread(target=pump, args=(inside, outside), daemon=True)
                answers.start()
                pump(outside, inside)
                answers.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Passing) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"https://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_the_one_file_runs_where_there_is_no_python(folder: Path) -> None:
    home: dict[str, Any] = {"HOME": str(folder)}
    assert printed(begin(folder, "--version", **home)) == f"foretop {VERSION}\n"
    (tree,) = unpacked(folder / ".cache")
    assert tree.name.startswith(f"{VERSION}-")
    assert "Europe/Berlin" in printed(begin(folder, "next", "0 9 * * *", "--tz", "Europe/Berlin", **home))
    authority, tls = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    with box_in_thread(OBJECTS) as box:
        plain = Path(kubeconfig(box, folder))
        assert "schedule.velero.io/hourly" in printed(
            begin(folder, "get", "schedules", "-o", "name", KUBECONFIG=str(plain), **home)
        )
        config = yaml.safe_load(plain.read_text())
        cluster = config["clusters"][0]["cluster"]
        with in_front_of(cluster["server"], tls) as url:
            cluster["server"] = url
            cluster["certificate-authority-data"] = base64.b64encode(authority.cert_pem.bytes()).decode()
            secure = folder / "secure"
            secure.write_text(yaml.safe_dump(config))
            assert "schedule.velero.io/hourly" in printed(
                begin(folder, "get", "schedules", "-o", "name", KUBECONFIG=str(secure), **home)
            )


def test_nothing_in_it_asks_for_a_newer_glibc_than_rhel_8_has(folder: Path) -> None:
    printed(begin(folder, "--version", HOME=str(folder)))
    (tree,) = unpacked(folder / ".cache")
    asked = {
        (int(major), int(minor))
        for path in tree.rglob("*")
        if path.is_file() and (content := path.read_bytes()).startswith(b"\x7fELF")
        for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", content)
    }
    assert max(asked) <= (2, 28)
    assert BUNDLE.stat().st_size <= 40_000_000


@pytest.mark.parametrize("user", USERS)
def test_it_keeps_to_itself_in_a_used_folder_and_twice_at_once(folder: Path, user: int) -> None:
    used = folder / "used"
    for name in ("Documents", "projects", ".hidden"):
        (used / name).mkdir(parents=True)
    if user != os.geteuid():
        os.chown(used, user, user)
    before = sorted(used.iterdir())
    twice = [begin(folder, "--version", user=user, FORETOP_BUNDLE_DIR=str(used)) for _ in "12"]
    assert [printed(one) for one in twice] == [f"foretop {VERSION}\n"] * 2
    assert sorted(used.iterdir()) == sorted([*before, used / f"foretop-bundle-{user}"])
    (tree,) = unpacked(used, user)
    assert {path.lstat().st_uid for path in tree.rglob("*")} == {user}


@AS_ROOT
def test_each_user_of_a_shared_folder_has_a_tree_and_none_runs_that_of_another(folder: Path) -> None:
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    environ: dict[str, Any] = {"FORETOP_BUNDLE_DIR": str(shared)}
    for user in USERS:
        assert printed(begin(folder, "--version", user=user, **environ)) == f"foretop {VERSION}\n"
    (tree,) = unpacked(shared)
    shutil.rmtree(shared / f"foretop-bundle-{NOBODY}")
    planted = shared / f"foretop-bundle-{NOBODY}"
    tree.parent.rename(planted)
    for path in (planted, *planted.rglob("*")):
        os.chown(path, 7, 7)
        path.chmod(0o777)
    (planted / tree.name / "bin" / "python3").write_text("#!/bin/sh\necho planted\n")
    assert f"{planted} belongs to another user" in refused(begin(folder, "--version", user=NOBODY, **environ))
    shared.chmod(0o777)
    assert f"other users can write to {shared}" in refused(begin(folder, "--version", **environ))


@AS_ROOT
def test_on_a_full_disk_it_says_so_and_leaves_nothing(folder: Path) -> None:
    small = folder / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=50m,mode=755", "tmpfs", str(small)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        environ: dict[str, Any] = {"FORETOP_BUNDLE_DIR": str(small)}
        for _ in "12":
            assert "is the disk full? (make room, or set" in refused(begin(folder, "--version", **environ))
            assert unpacked(small) == []
        subprocess.run(["mount", "-o", "remount,size=200m", str(small)], check=True)
        assert printed(begin(folder, "--version", **environ)) == f"foretop {VERSION}\n"
        assert len(unpacked(small)) == 1
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
