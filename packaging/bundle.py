"""`make bundle`: foretop and an interpreter of its own in one file that is copied to a bastion and run there.

The interpreter is a build of CPython for any Linux, as a Go module carries it for programs that embed Python: it is
linked with its own OpenSSL, and asks for an old glibc alone. Where there is no Go to fetch it with, it can be given.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import importlib.util
import io
import json
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 40_000_000
MOST_GLIBC = "2.28"
"""The glibc of RHEL 8."""
PYTHON = "3.14"
MODULE = "github.com/kluctl/go-embed-python"
MODULE_VERSION = "v0.0.0-3.14.6-20260610-1"
MODULE_SUM = "h1:oGUS7++Wm3LgxUfD6AmJgKbKQD2wdQFO9PzyJv6T+E4="
"""As in a go.sum: over the files of the module, so that it is the same for every archive of them."""
ARCHIVE_ROOT = f"{MODULE}@{MODULE_VERSION}/python/internal/data/linux-amd64/"
NOT_NEEDED = re.compile(
    r"lib/python3\.\d+/(?:test|idlelib|tkinter|turtledemo|ensurepip|pydoc_data|unittest|venv|lib-dynload|curses|sqlite3|dbm"
    r"|_pyrepl|site-packages|config-[^/]*|__phello__)(?:/|$)|(?:.*/)?__pycache__/|lib/python3\.\d+/turtle\.py$"
)
"""lib-dynload has only modules of tests, Tk and dbm, for the others are part of the interpreter."""
KEPT_OF_KUBERNETES = ("client/configuration.py", "client/exceptions.py", "client/rest.py", "utils/*.py")
"""foretop uses the package's HTTP client alone; its models, with pydantic, would be more than half of the whole."""
SITE = '''"""Finds the system's certificates: the interpreter looks where Debian has them."""

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


def main() -> int:
    options = _options()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        print("bundle: the interpreter is for Linux on x86_64, and is run to compile for it", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="foretop-bundle-") as folder:
        home = Path(folder, "home")
        home.mkdir()
        _unpack(options.interpreter or _fetched(), home)
        _install(home, Path(folder))
        _compile(home)
        _check(home)
        glibc = _lowest_glibc(home)
        made = _write(home, version, glibc, options.output)
    size = made.stat().st_size
    print(f"{made}: {size / 1_000_000:.1f} MB, CPython {MODULE_VERSION.split('-')[1]}, glibc {glibc} or later")
    if size > MOST_BYTES or _as_numbers(glibc) > _as_numbers(MOST_GLIBC):
        print(f"bundle: at most {MOST_BYTES // 1_000_000} MB and glibc {MOST_GLIBC} are allowed", file=sys.stderr)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bundle", description=__doc__)
    parser.add_argument("--interpreter", type=Path, help="the Go module's zip file, where Go cannot fetch it")
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "foretop-linux-x86_64")
    return parser.parse_args()


def _fetched() -> Path:
    package = importlib.util.find_spec("go")
    folders = package.submodule_search_locations or () if package else ()
    go = shutil.which("go") or next(
        (found for one in folders if (found := shutil.which("go", path=f"{one}/bin"))), None
    )
    if go is None:
        raise SystemExit(
            f"bundle: no go on PATH (install it, or give --interpreter the zip file of {MODULE} {MODULE_VERSION})"
        )
    with tempfile.TemporaryDirectory() as folder:
        download = [go, "mod", "download", "-json", f"{MODULE}@{MODULE_VERSION}"]
        done = subprocess.run(download, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    told = json.loads(done.stdout or "{}")
    if "Zip" not in told:
        raise SystemExit(f"bundle: Go cannot fetch {MODULE} {MODULE_VERSION}: {told.get('Error', 'no reason given')}")
    return Path(told["Zip"])


def _unpack(archive: Path, home: Path) -> None:
    with zipfile.ZipFile(archive) as module:
        found = _module_sum(module)
        if found != MODULE_SUM:
            raise SystemExit(f"bundle: {archive.name} has the checksum {found}, not {MODULE_SUM}")
        for name in module.namelist():
            inner = name.removeprefix(ARCHIVE_ROOT)
            if name == inner or not _is_needed(inner):
                continue
            content = module.read(name)
            if inner.endswith(".gz"):
                inner, content = inner.removesuffix(".gz"), gzip.decompress(content)
            path = home / inner
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    # Empty, but looked for: it tells the interpreter where it is.
    (home / "lib" / f"python{PYTHON}" / "lib-dynload").mkdir()
    python = home / "bin" / f"python{PYTHON}"
    python.chmod(0o755)
    python.rename(home / "bin" / "python3")


def _module_sum(module: zipfile.ZipFile) -> str:
    """The checksum that Go writes as h1: of the list of the files' checksums."""
    lines = (f"{hashlib.sha256(module.read(name)).hexdigest()}  {name}\n" for name in sorted(module.namelist()))
    return "h1:" + base64.b64encode(hashlib.sha256("".join(lines).encode()).digest()).decode()


def _is_needed(name: str) -> bool:
    return name == f"bin/python{PYTHON}.gz" or (name.startswith("lib/python") and not NOT_NEEDED.match(name))


def _install(home: Path, folder: Path) -> None:
    """foretop's own wheel and what it needs, for the interpreter's version and the oldest glibc that has wheels."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("foretop-*.whl")
    locked = folder / "lock.txt"
    own = f"{wheel} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}"
    locked.write_text((ROOT / "lock.txt").read_text().partition("\n# build:")[0] + f"\n{own}\n")
    site = home / "lib" / f"python{PYTHON}" / "site-packages"
    platforms = ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_12_x86_64", "manylinux_2_5_x86_64")
    install = [*pip, "install", "--no-deps", "--no-compile", "--only-binary=:all:", "--implementation=cp"]
    install += [f"--python-version={PYTHON}", *(f"--platform={one}" for one in platforms), f"--target={site}"]
    subprocess.run([*install, "--require-hashes", "-r", str(locked)], check=True)
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
    contents = (path.read_bytes() for path in home.rglob("*") if path.is_file())
    found = {
        version.decode()
        for content in contents
        if content.startswith(b"\x7fELF")
        for version in re.findall(rb"GLIBC_(\d+\.\d+)", content)
    }
    return max(found, key=_as_numbers)


def _as_numbers(version: str) -> list[int]:
    return [int(number) for number in version.split(".")]


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
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(
        launcher(body, version, glibc, sum(path.stat().st_blocks for path in home.rglob("*")) * 512) + body
    )
    output.chmod(0o755)
    return output


def launcher(body: bytes, version: str, glibc: str, unpacked: int) -> bytes:
    """The script that stands before the archive in the file; what it must know of it is filled in."""
    marks = {
        "VERSION": version,
        "ID": f"{version}-{hashlib.sha256(body).hexdigest()[:12]}",
        # Versions as numbers, for a shell to compare.
        "ORDER": str(int("".join(f"{int(number):04d}" for number in re.findall(r"\d+", version)[:3]))),
        "GLIBC": glibc,
        "MEGABYTES": str(unpacked // 1_000_000 + 1),
    }
    script = (ROOT / "packaging" / "launcher.sh").read_text()
    for mark, value in marks.items():
        script = script.replace(f"@{mark}@", value)
    # Both of a fixed width, for they change the length that they tell of.
    length = len(script.replace("@OFFSET@", "0" * 5).replace("@SIZE@", "0" * 9).encode())
    return script.replace("@OFFSET@", f"{length + 1:05d}").replace("@SIZE@", f"{length + len(body):09d}").encode()


if __name__ == "__main__":
    sys.exit(main())
