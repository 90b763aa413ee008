"""A recording of a million events: what its index costs, and any moment of it after that."""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from foretop_core.rooms.archives.members import Notes
from foretop_core.rooms.archives.recording import Recording

_BEGIN = datetime(2026, 11, 19, tzinfo=UTC)
_PHASES = ("New", "Queued", "InProgress", "Finalizing", "Completed")


def write(path: Path, events: int, objects: int) -> None:
    """Backups that come, go through their phases and are deleted, so many of them alive at a time."""
    chance, phases, made = random.Random(7), [0] * objects, list(range(objects))
    with path.open("wb") as file:
        for number in range(events):
            place = chance.randrange(objects)
            phase = phases[place]
            at = f"{_BEGIN + timedelta(milliseconds=40 * number):%Y-%m-%dT%H:%M:%S.%f}Z"
            ends = phase == len(_PHASES)
            line = {
                "t": at,
                "kind": "backups",
                "type": "DELETED" if ends else "MODIFIED" if phase else "ADDED",
                "object": {
                    "apiVersion": "velero.io/v1",
                    "kind": "Backup",
                    "metadata": {
                        "name": f"nightly-{made[place]:07}",
                        "namespace": "velero",
                        "uid": f"{made[place]:032x}",
                        "resourceVersion": f"{number + 1}",
                        "creationTimestamp": f"{_BEGIN:%Y-%m-%dT%H:%M:%SZ}",
                        "labels": {"velero.io/schedule-name": f"nightly-{place % 100}"},
                    },
                    "spec": {"includedNamespaces": [f"team-{place % 500}"], "ttl": "720h0m0s", "note": "x" * 300},
                    "status": {"phase": _PHASES[min(phase, 4)], "progress": {"itemsBackedUp": number % 1000}},
                },
            }
            file.write(msgspec.json.encode(line) + b"\n")
            phases[place] = 0 if ends else phase + 1
            if ends and number < events - objects:
                made[place] = (made[place] + objects) % (8 * objects)


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
