"""`python -m trials.bench.large_archive`: a must-gather of 200 MB, from the command to the first rows."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from trials.bench import Figure

_MB = 10**6
_JSON, _YAML, _LOGS = 20 * _MB, 5 * _MB, 175 * _MB
_LOG = 5 * _MB
_BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
_GOAL = 5.0


def make(folder: Path) -> None:
    """Writes backups as JSON, volumes of them as YAML, and the logs of pods."""
    velero = folder / "must-gather/namespaces/velero"
    _fill(velero / "velero.io/backups/backups.json", _JSON, json.dumps)
    _fill(
        velero / "velero.io/restores/restores.yaml", _YAML, lambda value: str(yaml.dump(value, Dumper=yaml.CSafeDumper))
    )
    line = 'time="2026-11-01T02:00:00Z" level=info msg="Backed up 812 items out of an estimated total of 4711"\n'
    for number in range(_LOGS // _LOG):
        log = velero / f"pods/velero-{number}/velero/velero/logs/current.log"
        log.parent.mkdir(parents=True)
        log.write_text(line * (_LOG // len(line)))


def _fill(path: Path, size: int, written: Any) -> None:
    path.parent.mkdir(parents=True)
    kind = "Backup" if path.stem == "backups" else "Restore"
    each = len(written({"items": [_run(kind, number) for number in range(100)]})) / 100
    items = [_run(kind, number) for number in range(int(size / each))]
    path.write_text(written({"apiVersion": "v1", "kind": "List", "items": items}))


def _run(kind: str, number: int) -> dict[str, Any]:
    begin = _BEGIN + timedelta(minutes=number)
    times = {"startTimestamp": f"{begin:%Y-%m-%dT%H:%M:%SZ}", "completionTimestamp": f"{begin:%Y-%m-%dT%H:%M:59Z}"}
    return {
        "apiVersion": "velero.io/v1",
        "kind": kind,
        "metadata": {
            "name": f"run-{number:06}",
            "namespace": "velero",
            "uid": f"uid-{kind}-{number}",
            "resourceVersion": str(1000 + number),
            "creationTimestamp": times["startTimestamp"],
            "labels": {"velero.io/schedule-name": f"daily-{number % 50}", "velero.io/storage-location": "default"},
            "managedFields": [
                {
                    "apiVersion": "velero.io/v1",
                    "fieldsType": "FieldsV1",
                    "fieldsV1": {"f:status": {f"f:field-{field}": {} for field in range(12)}},
                    "manager": "velero-server",
                    "operation": "Update",
                    "time": times["completionTimestamp"],
                }
            ],
        },
        "spec": {"includedNamespaces": [f"team-{number % 200}"], "ttl": "720h0m0s", "storageLocation": "default"},
        "status": {"phase": "Completed", "version": 1, "progress": {"itemsBackedUp": 812, "totalItems": 812}, **times},
    }


def measure() -> Iterable[Figure]:
    """The whole command, from its start in a new process to its end."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        make(tree)
        packed = Path(folder) / "gathered.tar.gz"
        with tarfile.open(packed, "w:gz", compresslevel=6) as tar:
            tar.add(tree / "must-gather", "must-gather")
        for name, path in (("a directory", tree), (f"{packed.stat().st_size / _MB:.0f} MB of tar.gz", packed)):
            for view in ("backups", "findings"):
                began, worked = time.perf_counter(), _cpu()
                rows = subprocess.run(
                    [sys.executable, "-m", "foretop", "get", view, "-f", str(path), "-o", "name"],
                    check=True,
                    capture_output=True,
                    env={**os.environ, "KUBECONFIG": ""},
                ).stdout.count(b"\n")
                told = f"200 MB as {name}: {rows:,} {view}"
                yield Figure(told, time.perf_counter() - began, _GOAL, "s")
                yield Figure(f"{told}, of the processor", _cpu() - worked, _GOAL, "s")


def _cpu() -> float:
    """Seconds of the processor that ended children took: the machine may have other work."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    for figure in measure():
        print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
