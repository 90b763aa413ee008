"""A recording of a million events: what its index costs, and any moment of it after that."""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import deque
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from foretop_core.rooms.archives.members import Notes
from foretop_core.rooms.archives.recording import Recording

_BEGIN = datetime(2026, 11, 19, tzinfo=UTC)
_AT_ONCE = 20
_PHASES = ("New", "Queued", "InProgress", "Finalizing", "Completed")


def write(path: Path, events: int, objects: int) -> None:
    """Backups that go through their phases, twenty at a time, and are deleted when there are too many."""
    chance, running, next_one = random.Random(7), [[number, 0] for number in range(_AT_ONCE)], _AT_ONCE
    ended: deque[int] = deque()
    with path.open("wb") as file:
        for number in range(events):
            if len(ended) > objects:
                file.write(_line(number, ended.popleft(), len(_PHASES) - 1, "DELETED"))
                continue
            place = chance.randrange(_AT_ONCE)
            backup, phase = running[place]
            file.write(_line(number, backup, phase, "MODIFIED" if phase else "ADDED"))
            running[place][1] += 1
            if phase == len(_PHASES) - 1:
                ended.append(backup)
                running[place], next_one = [next_one, 0], next_one + 1


def _line(number: int, backup: int, phase: int, word: str) -> bytes:
    at = _BEGIN + timedelta(milliseconds=40 * number)
    status: dict[str, object] = {"phase": _PHASES[phase], "startTimestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}"}
    if phase == len(_PHASES) - 1:
        status["completionTimestamp"] = f"{at:%Y-%m-%dT%H:%M:%SZ}"
    name = f"nightly-{backup % 100}-{backup:014}"
    meta = {
        "name": name,
        "namespace": "velero",
        "uid": f"{backup:032x}",
        "resourceVersion": f"{number + 1}",
        "creationTimestamp": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "labels": {"velero.io/schedule-name": f"nightly-{backup % 100}"},
    }
    spec = {"includedNamespaces": [f"team-{backup % 500}"], "ttl": "720h0m0s", "note": "x" * 300}
    whole = {"apiVersion": "velero.io/v1", "kind": "Backup", "metadata": meta, "spec": spec, "status": status}
    line = {"t": f"{at:%Y-%m-%dT%H:%M:%S.%f}Z", "kind": "backups", "type": word, "object": whole}
    return msgspec.json.encode(line) + b"\n"


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(events: int, objects: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.jsonl"
        write(path, events, objects)
        size, before, began = path.stat().st_size / 2**20, _peak(), time.perf_counter()
        with path.open("rb") as file:
            recording = Recording(file, path.name, Notes(), lambda _: None)
        took, index = time.perf_counter() - began, _peak() - before
        print(f"{len(recording):,} events, {size:,.0f} MiB: index in {took:.1f} s, {index:.0f} MiB at most")
        chance, folds, reads = random.Random(3), [], []
        span = recording.end - recording.begin
        for _ in range(40):
            moment = recording.begin + span * chance.random()
            began = time.perf_counter()
            recording.state(recording.position(moment))
            folded = time.perf_counter()
            shown = recording.objects(moment)
            folds.append(folded - began)
            reads.append(time.perf_counter() - folded)
        count = sum(map(len, shown.values()))
        print(
            f"a moment: state in {max(folds) * 1000:.0f} ms, its {count:,} objects in {max(reads):.2f} s at most of 40"
        )
        print(f"memory after 40 moments: {_peak() - before:.0f} MiB more than before the index")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:] or ("1000000", "10000")))
