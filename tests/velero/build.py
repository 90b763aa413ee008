"""Builds Velero, its plugin for S3 and an object storage to point it at, once, into the cache of tests/real.

`python -m tests.velero.build` builds what is missing. `--cached` builds nothing: it ends with 0 where all of it is
there, and else says what is missing and ends with 3.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.real.build import BuildError, Kit, build_recipe, cached_servers, go_build, prepare, snapshot_crds
from tests.real.cache import kept, place

HERE = Path(__file__).parent
MODULES = HERE / "releases"
PLUGIN = "aws-plugin"
OBJECT_STORAGE = HERE / "object-storage.txt"
RELEASES = ("1.18.3", "1.18.2", "1.17.2")
"""The newest, the last with its old cron library, and the last without a queue of backups."""
OLDER = ("1.15.2", "1.14.1")
"""Before and after the change of the cron library before that: only an upgrade runs on them."""
_PLUGIN_NAME = "velero-plugin-for-aws"
_VERSION = "github.com/vmware-tanzu/velero/pkg/buildinfo.Version"
_ENVIRONMENT = {"GONOSUMDB": "github.com/project-velero/kopia"}
"""The module that Velero puts in kopia's place is not in the public list of checksums; our go.sum has it."""

NEWEST, WITHOUT_QUEUE = RELEASES[0], RELEASES[-1]

Say = Callable[[str], None]
NOT_CACHED = 3


@dataclass(frozen=True, slots=True)
class VeleroKit:
    """Everything that a real Velero needs: a cluster, the server of each release, its plugin and S3.

    The servers of older releases are those that were built before.
    """

    cluster: Kit
    servers: dict[str, Path]
    plugins: Path
    python_with_storage: Path
    snapshot_crds: tuple[Path, ...]
    """The definitions of CSI snapshots, which no cluster has of itself."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One folder of the cache: what decides its contents, and what fills it."""

    name: str
    recipe: str
    make: Callable[[Path, Say], None]

    @property
    def folder(self) -> Path:
        return place(self.name, self.recipe)

    def kept(self, say: Say) -> Path:
        return kept(self.name, self.recipe, partial(self._filled, say=say), say)

    def _filled(self, folder: Path, say: Say) -> None:
        self.make(folder, say)


def prepare_velero(say: Say) -> VeleroKit:
    """Find every part, building those that are missing, except for the older releases."""
    wanted = [*RELEASES, *(version for version in OLDER if _server(version).folder.is_dir())]
    return VeleroKit(
        cluster=prepare(say),
        servers={version: _server(version).kept(say) / "velero" for version in wanted},
        plugins=_plugin().kept(say),
        python_with_storage=_storage().kept(say) / "bin" / "python",
        snapshot_crds=snapshot_crds(say),
    )


def missing() -> list[str]:
    """The parts that would have to be built before the tests; without an older release its story is skipped."""
    parts = [*map(_server, RELEASES), _plugin(), _storage()]
    absent = [part.name for part in parts if not part.folder.is_dir()]
    return absent if cached_servers() else ["the API server", *absent]


def _server(version: str) -> _Part:
    flags = ("-ldflags", f"-s -w -X {_VERSION}=v{version}")
    module = MODULES / f"v{version}"

    def make(folder: Path, say: Say) -> None:
        what = f"Velero {version}, once, for some minutes,"
        go_build(what, [*flags, "-o", str(folder / "velero"), "tool"], say, module, _ENVIRONMENT)

    return _Part(f"velero-{version}", build_recipe(*_go_files(module), extra=repr(flags)), make)


def _plugin() -> _Part:
    flags = ("-ldflags", "-s -w")
    module = MODULES / PLUGIN

    def make(folder: Path, say: Say) -> None:
        go_build("its plugin for S3", [*flags, "-o", str(folder / _PLUGIN_NAME), "tool"], say, module)

    return _Part(PLUGIN, build_recipe(*_go_files(module), extra=repr(flags)), make)


def _storage() -> _Part:
    def make(folder: Path, say: Say) -> None:
        say("Installing an object storage for Velero")
        _run(sys.executable, "-m", "venv", "--clear", str(folder))
        quietly = ("--quiet", "--disable-pip-version-check")
        _run(str(folder / "bin" / "python"), "-m", "pip", "install", *quietly, "-r", str(OBJECT_STORAGE))

    version = ".".join(map(str, sys.version_info[:2]))
    return _Part("object-storage", build_recipe(OBJECT_STORAGE, extra=version), make)


def _go_files(module: Path) -> Iterator[Path]:
    yield module / "go.mod"
    yield module / "go.sum"


def _run(*command: str) -> None:
    done = subprocess.run(["nice", "-n", "10", *command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)} failed: {done.stderr.strip()}")


def main() -> int:
    if "--cached" in sys.argv[1:]:
        absent = missing()
        if absent:
            print(f"Not built yet: {', '.join(absent)}")
        return NOT_CACHED if absent else 0
    try:
        say = partial(print, flush=True)
        for version in OLDER:
            _server(version).kept(say)
        kit = prepare_velero(say)
    except BuildError as problem:
        print(problem, file=sys.stderr)
        return 1
    for version, server in kit.servers.items():
        print(f"Velero {version}: {server}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
