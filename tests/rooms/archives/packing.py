"""Archives made for a test, as trees, tars and zips of the same files."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from foretop_core.rooms.archives.members import Notes
from foretop_core.rooms.archives.recording import Recording

BUNDLE = Path(__file__).parent / "data" / "velero-debug.tar.gz"
BUNDLED_AT = "2026-11-19T02:20:52Z"


def schedule(name: str, at: str = "2026-11-19T02:00:00Z", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "velero.io/v1",
        "kind": "Schedule",
        "metadata": {"name": name, "namespace": "velero", "creationTimestamp": at, "resourceVersion": "7"},
        "spec": {"schedule": "0 3 * * *", "template": {"includedNamespaces": ["shop"]}, **spec},
    }


def listed(*items: dict[str, Any], kind: str = "List", version: str = "v1") -> bytes:
    return json.dumps({"apiVersion": version, "kind": kind, "items": items}).encode()


def tree(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def tar(path: Path, files: Mapping[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as packed:  # type: ignore[call-overload]
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def event(at: str, name: str = "a", type: str = "MODIFIED", **spec: Any) -> bytes:
    """A line of a recording."""
    line = {"t": at, "kind": "schedules", "type": type, "object": schedule(name, **spec)}
    return json.dumps(line).encode() + b"\n"


def indexed(path: Path, notes: Notes | None = None) -> Recording:
    with path.open("rb") as file:
        return Recording(file, path.name, notes or Notes(), lambda _: None)
