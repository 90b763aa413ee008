"""A report as metrics in Prometheus' text format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from foretop.commands.output import without_controls
from foretop_core.rules.facts.server_facts import NOT_KNOWN_YET, ServerState

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
_NOT_KNOWN = (ServerState.NOT_KNOWN.value, NOT_KNOWN_YET)
Sample = tuple[Mapping[str, str], float]


def metrics_text(report: Mapping[str, Any]) -> str:
    """All metrics of a report, each with its help and type; what is not known has no sample."""
    return "".join(_lines(report))


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    for name, about, samples in _metrics(report):
        yield f"# HELP foretop_{name} {about}\n# TYPE foretop_{name} gauge\n"
        for labels, value in samples:
            yield f"foretop_{name}{_labels(labels)} {value:.0f}\n"


def _metrics(report: Mapping[str, Any]) -> Iterator[tuple[str, str, Sequence[Sample]]]:
    schedules, findings, line = report["schedules"], report["findings"], report["queue"]
    yield "report_timestamp_seconds", "When the report was made.", [({}, _seconds(report["at"]) or 0.0)]
    yield "findings", "Findings by severity and code.", _counted(findings, "context", "severity", "code")
    if "acknowledged" in report:
        apart = _counted(report["acknowledged"], "context", "severity", "code")
        yield "findings_acknowledged", "Acknowledged findings by severity and code.", apart
    yield "unreadable", "Objects and clusters that could not be read.", [({}, float(len(report["unreadable"])))]
    yield "not_visible", "Kinds that could not be seen.", [({}, float(len(report["notSeen"])))]
    known = [item for item in report["servers"] if item["state"] not in _NOT_KNOWN]
    alive = [(_server(item), float(item["state"] == ServerState.ACTIVE.value)) for item in known]
    yield "server_active", "Whether the Velero server is alive and its storage responds.", alive
    signs = [(_server(item), at) for item in report["servers"] if (at := _seconds(item["lastSign"])) is not None]
    yield "server_last_sign_timestamp_seconds", "When the Velero server last showed a sign of life.", signs
    yield "queue", "Backups and restores that run or wait.", _counted(line, "context", "namespace", "kind", "phase")
    for name, field, about in (
        ("next_run", "nextRun", "When the schedule is due next."),
        ("last_backup", "lastBackup", "When the schedule last made a backup."),
        ("last_ended", "lastEndedAt", "When the last backup of the schedule that has ended did so."),
    ):
        yield f"schedule_{name}_timestamp_seconds", about, _times(schedules, field)
    for field, about in (("paused", "Whether it is paused."), ("due", "Whether it is due.")):
        known = [item for item in schedules if item[field] is not None]
        yield f"schedule_{field}", about, [(_identity(item), float(item[field])) for item in known]


def _server(item: Mapping[str, Any]) -> Mapping[str, str]:
    return {"context": item["context"], "namespace": item["namespace"]}


def _counted(items: Sequence[Mapping[str, Any]], *names: str) -> list[Sample]:
    counts = Counter(tuple(str(item[name] or "") for name in names) for item in items)
    return [(dict(zip(names, key, strict=True)), float(number)) for key, number in sorted(counts.items())]


def _times(schedules: Sequence[Mapping[str, Any]], field: str) -> list[Sample]:
    known = [(item, _seconds(item[field])) for item in schedules]
    return [(_identity(item), at) for item, at in known if at is not None]


def _identity(item: Mapping[str, Any]) -> Mapping[str, str]:
    return {name: item[name] for name in ("context", "namespace", "name")}


def _seconds(time: str | None) -> float | None:
    return datetime.fromisoformat(time).timestamp() if time else None


def _labels(labels: Mapping[str, str]) -> str:
    inner = ",".join(f'{name}="{without_controls(value).translate(_ESCAPES)}"' for name, value in labels.items())
    return f"{{{inner}}}" if inner else ""
