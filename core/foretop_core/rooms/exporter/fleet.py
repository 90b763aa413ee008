"""The fleet: a row for each cluster, from the metrics of the exporter, whether made here or asked of Prometheus."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from foretop_core.rooms.exporter.exposition import ClusterSample
from foretop_core.rules.metric_families import FamilyKind
from foretop_core.rules.severity import Severity
from foretop_core.rules.triage.ranking import strikes_server

_GRAVEST_FIRST = tuple(Severity)
_STOPPED = timedelta(minutes=10)
"""Numbers are a minute old at most, and clocks a little apart: an exporter with older ones has stopped."""


class Series(msgspec.Struct, frozen=True):
    """One number of one cluster, by the name of its metric without `foretop_`."""

    name: str
    labels: Mapping[str, str]
    value: float


def series_of(sample: ClusterSample) -> Series:
    """A sample as Prometheus would tell it."""
    family = sample.sample.family
    own = (f"foretop_{family.name}",) if family.kind is FamilyKind.STATESET else ()
    labels = dict(zip((*family.labels, *own), sample.sample.labels, strict=True))
    name = f"{family.name}_info" if family.kind is FamilyKind.INFO else family.name
    return Series(name, {"cluster": sample.cluster, **labels}, sample.sample.value)


class ClusterState(StrEnum):
    """A cluster in a word, the worst first."""

    NO_NEWS = "no news"
    ERRORS = "errors"
    WARNINGS = "warnings"
    LOADING = "loading"
    """Its first lists come in."""
    NOT_ALL_SEEN = "not all seen"
    NO_PROBLEMS = "no problems"


_UNKNOWN = (ClusterState.NO_NEWS, ClusterState.LOADING)


class WorstFinding(msgspec.Struct, frozen=True):
    """The finding that Triage puts first, and since when the oldest of its kind lasts."""

    severity: Severity
    code: str
    since: datetime | None


class LastRuns(msgspec.Struct, frozen=True):
    """Backups of the last 24 hours by how they ended, and the runs of the next that are not expected to be made."""

    completed: int
    partly_failed: int
    failed: int
    expected_lost: int


class ClusterRow(msgspec.Struct, frozen=True):
    """One cluster as the fleet shows it; None where nothing is known of it."""

    cluster: str
    uids: tuple[str, ...]
    """Of two clusters that have one name more than one; none where nobody could read it."""
    state: ClusterState
    judged: datetime | None
    """When its exporter worked this out."""
    stale: float
    """Seconds without news of it, or of its exporter where that has stopped."""
    worst: WorstFinding | None
    errors: int
    warnings: int
    releases: tuple[str, ...]
    slots: int | None
    slots_in_use: int
    waiting: int
    night: LastRuns | None
    done_by: datetime | None
    """When the night is done in nine of ten courses."""
    late: int
    """Namespaces whose newest copy is late."""
    oldest_late: tuple[str, datetime] | None
    """Of those the one with the oldest copy."""
    paused: int
    unavailable: tuple[str, ...]
    """Storage locations that Velero cannot use."""
    is_asked: bool = False
    """Told by Prometheus, beside clusters that are watched."""
    other_names: tuple[str, ...] = ()
    """Of the same uid: they are taken for this cluster."""


NEEDED = (
    '{__name__=~"foretop_(up|stale_seconds|cluster_info|server_info|visible|slots|slots_in_use|findings|worst_finding_info|judged_timestamp_seconds|'
    "finding_oldest_timestamp_seconds|runs_last_night|runs_expected_lost|night_done_timestamp_seconds|"
    'storage_available|queue_length)"}',
    "foretop_schedule_paused == 1",
    'foretop_namespace_protection{foretop_namespace_protection="late"} == 1',
    "foretop_namespace_newest_copy_timestamp_seconds and on (cluster, target) "
    'foretop_namespace_protection{foretop_namespace_protection="late"} == 1',
    # Of a cluster whose exporter has gone all else is gone too.
    "max by (__name__, cluster) (last_over_time(foretop_judged_timestamp_seconds[1d])) "
    "unless on (cluster) foretop_judged_timestamp_seconds",
)
"""The queries whose answers together are what a fleet is made of."""


def fleet(series: Iterable[Series], now: datetime) -> tuple[ClusterRow, ...]:
    """The clusters at a moment, from the numbers of all of them."""
    by_name: dict[str, list[Series]] = {}
    for one in series:
        if name := one.labels.get("cluster", ""):
            by_name.setdefault(name, []).append(one)
    return ranked(cluster_row(name, of_cluster, now) for name, of_cluster in by_name.items())


def ranked(rows: Iterable[ClusterRow]) -> tuple[ClusterRow, ...]:
    """Puts those first that need somebody; several names of one uid are one, that with news and of these the worst."""
    distinct: list[ClusterRow] = []
    places: dict[str, int] = {}
    """By uid, the place among them."""
    for row in sorted(rows, key=lambda row: (row.state is ClusterState.NO_NEWS, urgency(row))):
        twin = next((places[uid] for uid in row.uids if uid in places), None)
        if twin is None:
            places.update(dict.fromkeys(row.uids, len(distinct)))
            distinct.append(row)
        else:
            distinct[twin] = replace(distinct[twin], other_names=(*distinct[twin].other_names, row.cluster))
    return tuple(sorted(distinct, key=urgency))


def merged(watched: Sequence[ClusterRow], asked: Iterable[ClusterRow]) -> tuple[ClusterRow, ...]:
    """Clusters that are watched and those that Prometheus tells of: those of one uid, or else of one name, are one.

    What is watched counts, unless nothing is known of it there.
    """
    rows, names = list(watched), {row.cluster for row in watched}
    for other in asked:
        twin = next((place for place, row in enumerate(watched) if _is_same(row, other)), None)
        if twin is None:
            name = f"{other.cluster} (by Prometheus)" if other.cluster in names else other.cluster
            rows.append(replace(other, cluster=name, is_asked=True))
        elif watched[twin].state in _UNKNOWN and other.state not in _UNKNOWN:
            rows[twin] = replace(other, cluster=watched[twin].cluster, is_asked=True)
    return ranked(rows)


def _is_same(one: ClusterRow, other: ClusterRow) -> bool:
    if one.uids and other.uids:
        return not set(one.uids).isdisjoint(other.uids)
    return one.cluster == other.cluster


def urgency(row: ClusterRow) -> tuple[object, ...]:
    """Puts the worst first: as in Triage, what strikes a whole server counts before numbers."""
    since = row.worst.since if row.worst is not None else None
    strikes_less = row.worst is None or not strikes_server(row.worst.code)
    places = tuple(ClusterState)
    numbers = -row.errors, -row.warnings, since.timestamp() if since else math.inf
    return places.index(row.state), strikes_less, *numbers, row.cluster


def cluster_row(name: str, series: Iterable[Series], now: datetime) -> ClusterRow:
    """The row of one cluster, from its numbers; those that are none cost themselves only."""
    series = [one for one in series if math.isfinite(one.value)]

    def values(metric: str, **labels: str) -> list[float]:
        return [one.value for one in series if one.name == metric and labels.items() <= one.labels.items()]

    def total(metric: str, **labels: str) -> int:
        return int(sum(values(metric, **labels)))

    def told(metric: str, label: str, value: float = 1.0) -> tuple[str, ...]:
        found = {one.labels.get(label, "") for one in series if one.name == metric and one.value == value}
        return tuple(sorted(filter(None, found)))

    errors, warnings = (total("findings", severity=one.value) for one in (Severity.ERROR, Severity.WARNING))
    late = {
        one.labels.get("target", "")
        for one in series
        if one.name == "namespace_protection" and one.value and one.labels.get("foretop_namespace_protection") == "late"
    }
    copies = [
        (one.value, one.labels["target"])
        for one in series
        if one.name == "namespace_newest_copy_timestamp_seconds" and one.labels.get("target") in late
    ]
    slots = values("slots")
    judged = _moment(min(values("judged_timestamp_seconds"), default=None))
    stale = max(values("stale_seconds"), default=0.0)
    ups = values("up")
    has_stopped = judged is None or not ups or abs(now - judged) > _STOPPED
    if judged is not None and has_stopped:
        stale = max(0.0, (now - judged).total_seconds())
    visible = values("visible")
    has_night = values("runs_last_night") or values("runs_expected_lost")
    night = LastRuns(
        total("runs_last_night", result="Completed"),
        total("runs_last_night", result="PartiallyFailed"),
        total("runs_last_night", result="Failed") + total("runs_last_night", result="FailedValidation"),
        total("runs_expected_lost"),
    )
    return ClusterRow(
        cluster=name,
        uids=told("cluster_info", "uid"),
        state=_state(
            errors,
            warnings,
            is_up=not has_stopped and all(ups),
            is_loading=not has_stopped and not stale,
            sees_all=bool(visible) and all(visible),
        ),
        judged=judged,
        stale=stale,
        worst=_worst(series),
        errors=errors,
        warnings=warnings,
        releases=told("server_info", "version"),
        slots=int(sum(slots)) if slots else None,
        slots_in_use=total("slots_in_use"),
        waiting=sum(total("queue_length", phase=phase) for phase in ("New", "Queued")),
        night=night if has_night else None,
        done_by=_moment(max(values("night_done_timestamp_seconds", certainty="0.9"), default=None)),
        late=len(late),
        oldest_late=_oldest(copies),
        paused=total("schedule_paused"),
        unavailable=told("storage_available", "storage", 0.0),
    )


def _oldest(copies: list[tuple[float, str]]) -> tuple[str, datetime] | None:
    at, target = min(copies, default=(0.0, ""))
    moment = _moment(at)
    return (target, moment) if target and moment is not None else None


def _state(errors: int, warnings: int, *, is_up: bool, is_loading: bool, sees_all: bool) -> ClusterState:
    if not is_up:
        return ClusterState.LOADING if is_loading else ClusterState.NO_NEWS
    if errors:
        return ClusterState.ERRORS
    if warnings:
        return ClusterState.WARNINGS
    return ClusterState.NO_PROBLEMS if sees_all else ClusterState.NOT_ALL_SEEN


def _worst(series: Sequence[Series]) -> WorstFinding | None:
    """The graver one, where several clusters have one name."""
    worst = [
        (_GRAVEST_FIRST.index(Severity(severity)), one.labels.get("code", ""))
        for one in series
        if one.name == "worst_finding_info" and (severity := one.labels.get("severity", "")) in _GRAVEST_FIRST
    ]
    if not worst:
        return None
    place, code = min(worst)
    key = {"code": code, "severity": _GRAVEST_FIRST[place].value}
    since = (
        one.value
        for one in series
        if one.name == "finding_oldest_timestamp_seconds" and key.items() <= one.labels.items()
    )
    return WorstFinding(_GRAVEST_FIRST[place], code, _moment(min(since, default=None)))


def _moment(seconds: float | None) -> datetime | None:
    """None also for what lies beyond all calendars."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
    except (OverflowError, OSError, ValueError):
        return None
