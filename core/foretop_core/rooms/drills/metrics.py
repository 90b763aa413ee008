"""When each namespace was last restored on trial."""

from __future__ import annotations

from collections.abc import Iterator

from foretop_core.rules.metric_families import Family, Measure, MeasuredCluster, Sample, at

LAST_DRILL = Family(
    "namespace_last_drill_timestamp_seconds", "When the namespace was last restored on trial.", ("target",)
)


def measure_drills(cluster: MeasuredCluster) -> Iterator[Sample]:
    protection = cluster.snapshot.protection
    for name in protection.names:
        row = protection.row(name)
        if row is not None and row.drill is not None:
            yield from at(LAST_DRILL, (name,), row.drill.at)


MEASURES: tuple[Measure, ...] = (measure_drills,)
