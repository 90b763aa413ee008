"""The files of a run in its bucket: a log and results with as many errors and warnings as its status counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle, islice

import msgspec

from foretop_core.models import Backup, Restore
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time

Run = Backup | Restore
_MOST_LOGGED = 200


class LogProblem(msgspec.Struct, frozen=True):
    """One log line at error or warning level; without a namespace it is cluster-scoped."""

    level: str
    namespace: str
    resource: str
    name: str
    message: str
    error: str = ""


def log_text(run: Run) -> str:
    """Velero's log of this run, as far as its status allows."""
    return "".join(f"{line}\n" for line in _log(run))


def results_text(run: Run) -> str:
    """The same errors and warnings, by namespace."""
    found = log_problems(run)
    return json.dumps({f"{level}s": _part(run, level, found) for level in ("error", "warning")})


def log_problems(run: Run) -> tuple[LogProblem, ...]:
    """The errors and warnings of a run, always the same for the same run."""
    makers = _backup_errors, _backup_warnings
    if isinstance(run, Restore):
        makers = _restore_errors, _restore_warnings
    errors, warnings = (make(run) for make in makers)
    return (*islice(warnings, run.status.warnings), *islice(errors, run.status.errors))


def _numbered(run: Run) -> Iterator[tuple[int, str]]:
    namespaces = [name for name in run.spec.included_namespaces if name != "*"] or ["default"]
    return enumerate(cycle(namespaces))


def _backup_errors(run: Run) -> Iterator[LogProblem]:
    failed = "Error backing up item"
    for number, namespace in _numbered(run):
        claim = LogProblem(
            "error", namespace, "persistentvolumeclaims", f"data-{namespace}-{number}", failed, "no snapshot in time"
        )
        pod = LogProblem("error", namespace, "pods", f"{namespace}-{number}", "Error executing hook", "exit code 1")
        volume = LogProblem(
            "error", "", "persistentvolumes", f"pv-{namespace}-{number}", failed, "its driver does not answer"
        )
        yield (claim, pod, volume)[number % 3]


def _backup_warnings(run: Run) -> Iterator[LogProblem]:
    for number, namespace in _numbered(run):
        yield LogProblem(
            "warning", namespace, "pods", f"{namespace}-{number}", "volume scratch is mounted nowhere and left out"
        )


def _restore_errors(run: Run) -> Iterator[LogProblem]:
    for number, namespace in _numbered(run):
        yield LogProblem(
            "error", namespace, "persistentvolumeclaims", f"data-{namespace}-{number}", "quota exceeded: storage"
        )


def _restore_warnings(run: Run) -> Iterator[LogProblem]:
    for number, namespace in _numbered(run):
        yield LogProblem(
            "warning", namespace, "ConfigMap", f"settings-{number}", "it differs from the one in the backup"
        )


def _part(run: Run, level: str, found: tuple[LogProblem, ...]) -> Json:
    """The results of one level; empty parts are left out, as Velero does."""
    part: Json = {}
    for problem in found:
        if problem.level != level:
            continue
        sentence = _of_restore(problem) if isinstance(run, Restore) else _of_backup(problem)
        if problem.namespace:
            part.setdefault("namespaces", {}).setdefault(problem.namespace, []).append(sentence)
        else:
            part.setdefault("cluster", []).append(sentence)
    return part


def _of_backup(problem: LogProblem) -> str:
    error = f" error: /{problem.error}" if problem.error else ""
    return f" resource: /{problem.resource} name: /{problem.name} message: /{problem.message}{error}"


def _of_restore(problem: LogProblem) -> str:
    if problem.level == "warning":
        return f'could not restore, {problem.resource} "{problem.name}" already exists. Warning: {problem.message}'
    return f"error restoring {problem.resource}/{problem.namespace}/{problem.name}: {problem.message}"


def _log(run: Run) -> Iterator[str]:
    status, noun = run.status, "backup" if isinstance(run, Backup) else "restore"
    begun = wire_time(status.start_timestamp) if status.start_timestamp else ""
    ended = wire_time(status.completion_timestamp) if status.completion_timestamp else begun
    subject = f"{noun}={run.namespace}/{run.name}"
    total = status.progress.total_items if status.progress else 0
    yield f'time="{begun}" level=info msg="Setting up {noun} log" {subject}'
    yield f'time="{begun}" level=info msg="Starting {noun}" {subject}'
    for name in run.spec.included_namespaces or ("*",):
        yield f'time="{begun}" level=info msg="Including namespace {name}" {subject}'
    for number in range(1, min(total, _MOST_LOGGED) + 1):
        done = f"Processing item {number} of {total}"
        yield f'time="{begun}" level=info msg="{done}" progress={number}/{total} {subject}'
    for problem in log_problems(run):
        about = f'error="{problem.error}" name={problem.name} namespace={problem.namespace} resource={problem.resource}'
        fields = f"{subject} {about}" if noun == "backup" else f"{about} {subject}"
        yield f'time="{ended}" level={problem.level} msg="{problem.message}" {fields}'
    if status.failure_reason:
        yield f'time="{ended}" level=error msg="{status.failure_reason}" {subject}'
    yield f'time="{ended}" level=info msg="{noun.capitalize()} ended: {run.phase}" {subject}'
