"""Benchmark of a complete triage in a very large cluster."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta

from foretop_core.models import Backup, Resource, Schedule, from_builtins
from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.triage import triage
from tests.objects import NOW
from trials.bench import Figure, seconds_per_call

SCHEDULES, RUNS = 10_000, 5


def cluster(seed: int = 1) -> list[Resource]:
    """Ten thousand schedules of many shapes with five runs each, some of them failed."""
    chance = random.Random(seed)
    made: list[Resource] = [
        from_builtins(
            Schedule,
            {
                "metadata": {
                    "name": f"s{number}",
                    "namespace": "velero",
                    "creationTimestamp": "2026-06-01T00:00:00Z",
                },
                "spec": {
                    "schedule": f"{chance.randrange(60)} {chance.randrange(24)} * * *",
                    "paused": number % 50 == 0,
                },
                "status": {"phase": "Enabled", "lastBackup": (NOW - timedelta(minutes=1)).isoformat()},
            },
        )
        for number in range(SCHEDULES)
    ]
    for number in range(SCHEDULES):
        for day in range(RUNS):
            begun = NOW - timedelta(days=day, minutes=30)
            phase = "Completed" if chance.random() < 0.97 else "Failed"
            made.append(
                from_builtins(
                    Backup,
                    {
                        "metadata": {
                            "name": f"s{number}-{begun:%Y%m%d%H%M%S}",
                            "namespace": "velero",
                            "creationTimestamp": begun.isoformat(),
                            "labels": {"velero.io/schedule-name": f"s{number}"},
                        },
                        "status": {
                            "phase": phase,
                            "startTimestamp": begun.isoformat(),
                            "completionTimestamp": (begun + timedelta(minutes=9)).isoformat(),
                        },
                    },
                )
            )
    return made


def measure() -> Iterator[Figure]:
    objects = cluster()
    took = seconds_per_call(lambda: triage(assemble(objects), NOW), 1, rounds=3)
    yield Figure("triage, 10,000 schedules, 50,000 backups", took, 1.0, "s")
