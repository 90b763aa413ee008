"""The recordings replayed in a box: what people and storage did in them, and the resulting history of each object."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from foretop_core.models import Backup, Restore
from foretop_demo.change_log import Change
from foretop_demo.controllers import Flags, SimulatedRun
from foretop_demo.kinds import Kind
from tests import recordings
from tests.demo.controller_box import ControllerBox, Raw
from tests.recordings import Event, Note

Key = tuple[str, str, str]
ObservedChange = tuple[str, str, Raw]
"""A change: the plural of the kind, the type of the change, the object."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MADE_BY_CONTROLLERS = {"metadata", "hooks", "ttl", "csiSnapshotTimeout", "itemOperationTimeout"}
_USER_DELETED = ("d", "team-3-wave-3")
_NAC = "openshift.io/oadp-nab-origin-nacuuid"
_NAR = "openshift.io/oadp-nar-origin-nacuuid"
_SYNCED = "openshift.io/oadp-nab-synced-from-nacuuid"


@dataclass(frozen=True)
class ReplayStep:
    """An action of a person, of the object storage, or of the server's machine."""

    t: datetime
    do: Callable[[ControllerBox], object]


def replay(name: str, flags: Flags, non_admin_at: datetime | None = None) -> list[ObservedChange]:
    """Repeat a recording's steps in a box at their own times; returns the changes that a watch would have seen."""
    entries = recordings.read(name)
    events = [entry for entry in entries if isinstance(entry, Event)]
    begin = events[0].t
    box = ControllerBox(begin, flags, _work(events), ("velero", *(f"team-{number}" for number in range(5))))
    seen: list[ObservedChange] = []

    def on_change(kind: Kind, change: Change) -> None:
        if kind.group in ("velero.io", "oadp.openshift.io"):
            seen.append((kind.plural, change.type.value, change.body))

    box.storage.subscribe(on_change)
    steps = [*_steps(entries), ReplayStep(_server_start(events), lambda box: box.velero.start())]
    if non_admin_at is not None:
        steps.append(ReplayStep(non_admin_at, lambda box: box.non_admin.start()))
    for step in sorted(steps, key=lambda step: step.t):
        box.engine.run_until(step.t)
        step.do(box)
    box.engine.run_until(entries[-1].t + timedelta(seconds=2))
    return seen


def recorded(name: str) -> list[ObservedChange]:
    return [(event.kind.plural, event.type, event.raw) for event in recordings.events(name)]


def histories(changes: Iterable[ObservedChange]) -> dict[Key, list[Any]]:
    """The visible states of each object, without repetitions."""
    found: defaultdict[Key, list[Any]] = defaultdict(list)
    counters: defaultdict[Key, list[str]] = defaultdict(list)
    runs: defaultdict[str, list[str]] = defaultdict(list)
    for plural, kind_of_change, body in changes:
        meta = body["metadata"]
        key = (plural, meta["namespace"], _plain(plural, meta["name"], runs))
        essence = "DELETED" if kind_of_change == "DELETED" else _essence(plural, body, counters[key])
        found[key].append(essence)
    return {key: [essence for essence, _ in groupby(seen)] for key, seen in found.items()}


def _plain(plural: str, name: str, runs: dict[str, list[str]]) -> str:
    """A name without its random part, and with the number of the run instead of its time."""
    if timed := re.fullmatch(r"(.+)-(\d{14})", name):
        known = runs[timed[1]]
        if name not in known:
            known.append(name)
        return f"{timed[1]} run {known.index(name) + 1}"
    plain = _UUID.sub("<uuid>", name)
    return re.sub(r"-[a-z0-9]{5}$", "-<any>", plain) if plural == "deletebackuprequests" else plain


def positions(changes: Iterable[ObservedChange], until: str) -> dict[str, list[int | None]]:
    """The queue positions that Velero and the non-admin controller gave to each object, until a backup was done."""
    found: defaultdict[str, list[int | None]] = defaultdict(list)
    for plural, _, body in changes:
        status, name = body.get("status") or {}, _UUID.sub("<uuid>", body["metadata"]["name"])
        if name == until and status.get("phase") == "Finalizing":
            break
        if plural == "backups":
            found[name].append(status.get("queuePosition"))
        elif plural == "nonadminbackups":
            found[f"nab {name}"].append((status.get("queueInfo") or {}).get("estimatedQueuePosition"))
    return {name: [position for position, _ in groupby(seen)] for name, seen in found.items()}


def _essence(plural: str, body: Raw, times: list[str]) -> Any:
    status, spec, meta = body.get("status") or {}, body["spec"], body["metadata"]
    held = (tuple(meta.get("finalizers") or ()), "deletionTimestamp" in meta)
    match plural:
        case "schedules":
            moments = [f"{field} {status[field]}" for field in ("lastBackup", "lastSkipped") if status.get(field)]
            times.extend(moment for moment in moments if moment not in times)
            made = [len([each for each in times if each.startswith(field)]) for field in ("lastBackup", "lastSkipped")]
            errors = tuple(status.get("validationErrors") or ())
            return (spec.get("paused") or False, spec.get("skipImmediately"), status.get("phase"), errors, *made)
        case "backups" | "restores":
            said = [status.get(field) for field in ("phase", "failureReason", "errors")]
            ended = [field for field in ("startTimestamp", "completionTimestamp") if status.get(field)]
            return (*said, tuple(status.get("validationErrors") or ()), *ended, held if plural == "restores" else "")
        case "nonadminbackups" | "nonadminrestores":
            return _nonadmin(status, spec, held)
        case "backupstoragelocations":
            return (status.get("phase"), spec["objectStorage"]["bucket"])
        case _:
            return (status.get("phase"), tuple(status.get("errors") or ()))


def _nonadmin(status: Raw, spec: Raw, held: Any) -> Any:
    conditions = tuple(
        (entry["type"], entry["status"], entry["reason"], _UUID.sub("<uuid>", entry["message"]))
        for entry in status.get("conditions", ())
    )
    velero = status.get("veleroBackup") or status.get("veleroRestore") or {}
    name = _UUID.sub("<uuid>", velero.get("name", ""))
    copied = (velero.get("status") or {}).get("phase")
    request = ((status.get("veleroDeleteBackupRequest") or {}).get("status") or {}).get("phase")
    return (status.get("phase"), conditions, name, copied, request, spec.get("deleteBackup") or False, *held)


def _work(events: list[Event]) -> Callable[[Backup | Restore], SimulatedRun]:
    """The outcome of a restore is an input of the recording; its backups all succeed."""
    errors = {event.object.name: event.raw.get("status", {}).get("errors", 0) for event in events}
    wrong = {_UUID.sub("", name): count for name, count in errors.items() if count}

    def work_of(run: Backup | Restore) -> SimulatedRun:
        failed = wrong.get(_UUID.sub("", run.name), 0) if isinstance(run, Restore) else 0
        return SimulatedRun(timedelta(milliseconds=280), 2, errors=failed, steps=1)

    return work_of


def _server_start(events: list[Event]) -> datetime:
    checked = next(event for event in events if event.kind.plural == "backupstoragelocations" and "status" in event.raw)
    return checked.t - timedelta(milliseconds=100)


def _steps(entries: Iterable[Event | Note]) -> Iterator[ReplayStep]:
    held: dict[Key, Event] = {}
    submitted = _submitted(entries)
    for entry in entries:
        if isinstance(entry, Note):
            yield from _noted(entry)
            continue
        before = held.get(entry.key)
        if entry.type == "DELETED":
            held.pop(entry.key, None)
            if entry.kind.plural == "schedules" or _UUID.sub("", entry.object.name).rstrip("-") in _USER_DELETED:
                yield _deletion(entry)
            continue
        held[entry.key] = entry
        if before is None:
            if _made_by_hand(entry, submitted):
                yield _creation(entry)
        else:
            yield from _changes(before, entry)


def _noted(note: Note) -> Iterator[ReplayStep]:
    if "stops answering" in note.text:
        yield ReplayStep(note.t, lambda box: box.buckets.stop())
    elif "answers again" in note.text:
        yield ReplayStep(note.t, lambda box: box.buckets.answer())
    elif "restarts" in note.text:
        yield ReplayStep(note.t + timedelta(seconds=5), lambda box: box.velero.kill())
        yield ReplayStep(note.t + timedelta(seconds=10.5), lambda box: box.velero.start())
    elif upgraded := re.search(r"is upgraded to (\S+)", note.text):
        version = upgraded[1]
        yield ReplayStep(note.t + timedelta(seconds=0.7), lambda box: box.velero.restart(version))


def _submitted(entries: Iterable[Event | Note]) -> set[str]:
    """The names that the schedule controller gave: those whose time is the lastBackup of their schedule."""
    names = set()
    for entry in entries:
        if isinstance(entry, Event) and entry.kind.plural == "schedules":
            last = (entry.raw.get("status") or {}).get("lastBackup")
            if last:
                names.add(f"{entry.object.name}-{re.sub('[^0-9]', '', last)}")
    return names


def _made_by_hand(entry: Event, submitted: set[str]) -> bool:
    labels = entry.object.metadata.labels
    if entry.kind.plural == "backups":
        return entry.object.name not in submitted and _NAC not in labels
    return not labels.keys() & {_NAC, _NAR, _SYNCED}


def _creation(entry: Event) -> ReplayStep:
    meta = entry.object.metadata
    kept = {"name": meta.name, "namespace": meta.namespace, "labels": meta.labels, "annotations": meta.annotations}
    body = {"metadata": kept, "spec": entry.raw["spec"], **({"status": {}} if "status" in entry.raw else {})}
    return ReplayStep(entry.t, lambda box: box.storage.create(box.storage.kind(entry.kind.name), body))


def _deletion(entry: Event) -> ReplayStep:
    """The deletion of an object; that of a NAB has another random part in the box."""
    pattern = _UUID.sub("<uuid>", entry.object.name)

    def delete(box: ControllerBox) -> None:
        for body in box.all(entry.kind.name):
            if _UUID.sub("<uuid>", body["metadata"]["name"]) == pattern:
                box.delete(entry.kind.name, body["metadata"]["namespace"], body["metadata"]["name"])

    return ReplayStep(entry.t, delete)


def _changes(before: Event, after: Event) -> Iterator[ReplayStep]:
    """A person's spec changes, and deletions that are held by a finalizer."""
    patch = _spec_patch(before.raw["spec"], after.raw["spec"])
    meta, plural = after.object.metadata, after.kind.plural
    velero_did = plural == "schedules" and patch == {"skipImmediately": False}
    if patch and not velero_did and plural in ("nonadminbackups", "backupstoragelocations", "schedules"):
        yield _patching(after, patch)
    marked = meta.deletion_timestamp is not None and before.object.metadata.deletion_timestamp is None
    if marked and plural.startswith("nonadmin") and not after.raw["spec"].get("deleteBackup"):
        yield ReplayStep(after.t, lambda box: box.delete(after.kind.name, meta.namespace, meta.name))


def _patching(entry: Event, spec: Raw) -> ReplayStep:
    name = entry.object.metadata
    return ReplayStep(entry.t, lambda box: box.patch(entry.kind.name, name.namespace, name.name, {"spec": spec}))


def _spec_patch(before: Raw, after: Raw) -> Raw:
    patch: Raw = {}
    for key in before.keys() | after.keys():
        if before.get(key) == after.get(key) or key in _MADE_BY_CONTROLLERS:
            continue
        one, other = before.get(key), after.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            if inner := _spec_patch(one, other):
                patch[key] = inner
        else:
            patch[key] = other
    return patch
