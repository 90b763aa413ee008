"""Samples of all clusters as text: OpenMetrics, or the older format of Prometheus."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import msgspec

from foretop_core.foreign_text import redacted
from foretop_core.rules.metric_families import Family, FamilyKind, Sample
from foretop_core.tables.text.terminal_text import unsigned

OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PLAIN = "text/plain; version=0.0.4; charset=utf-8"
DROPPED = Family("series_dropped", "Series that were left out because their family has too many.", ("family",))
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_LONGEST_LABEL = 253
"""No name in Kubernetes is longer; an expression may be."""


class ClusterSample(msgspec.Struct, frozen=True, gc=False):
    """A sample with its cluster; "" for one of the exporter itself."""

    cluster: str
    sample: Sample


class Exposition(msgspec.Struct, frozen=True):
    """A finished answer in one format, as it is and compressed."""

    text: bytes
    compressed: bytes


def expositions(samples: Iterable[ClusterSample], most: int) -> dict[str, Exposition]:
    """By content type; the families in the order of their names, of each at most so many series."""
    by_family: dict[Family, dict[str, dict[str, float]]] = {}
    for one in samples:
        # No two series may have the same labels: of names that are alike without their secrets one stays.
        by_family.setdefault(one.sample.family, {}).setdefault(_value(one.cluster), {})[_labels(one)] = one.sample.value
    dropped: dict[str, float] = {}
    for family, by_cluster in by_family.items():
        if (more := sum(map(len, by_cluster.values())) - most) > 0:
            dropped[_labels(ClusterSample("", Sample(DROPPED, (f"foretop_{family.name}",), more)))] = more
    if dropped:
        by_family[DROPPED] = {"": dropped}
    families = sorted(by_family.items(), key=lambda one: one[0].name)
    bounded = [(family, _bounded(by_cluster.values(), most)) for family, by_cluster in families]
    return {
        OPEN_METRICS: _finished(chain(_lines(bounded, is_open=True), ["# EOF\n"])),
        PLAIN: _finished(_lines(bounded, is_open=False)),
    }


def _bounded(clusters: Iterable[dict[str, float]], most: int) -> list[tuple[str, float]]:
    """As many of each cluster: one with very many leaves room for the others."""
    ranked = sorted((place, one) for series in clusters for place, one in enumerate(sorted(series.items())))
    return sorted(one for _, one in ranked[:most])


def _finished(lines: Iterable[str]) -> Exposition:
    text = "".join(lines).encode()
    return Exposition(text, gzip.compress(text, compresslevel=1, mtime=0))


def _lines(families: Iterable[tuple[Family, Sequence[tuple[str, float]]]], *, is_open: bool) -> Iterator[str]:
    for family, series in families:
        name = f"foretop_{family.name}"
        sample_name = f"{name}_info" if family.kind is FamilyKind.INFO else name
        # The older format has neither infos nor sets of states.
        told, kind = (name, family.kind.value) if is_open else (sample_name, FamilyKind.GAUGE.value)
        yield f"# HELP {told} {family.about}\n# TYPE {told} {kind}\n"
        for labels, value in series:
            yield f"{sample_name}{labels} {value:.15g}\n"


def _labels(one: ClusterSample) -> str:
    family, values = one.sample.family, one.sample.labels
    names = (*family.labels, *((f"foretop_{family.name}",) if family.kind is FamilyKind.STATESET else ()))
    pairs = list(zip(names, values, strict=True))
    if one.cluster:
        pairs.insert(0, ("cluster", one.cluster))
    inner = ",".join(f'{name}="{_value(value)}"' for name, value in pairs)
    return f"{{{inner}}}" if inner else ""


def _value(text: str) -> str:
    return redacted(unsigned(text))[:_LONGEST_LABEL].translate(_ESCAPES)
