"""Findings about non-admin backups and restores, and about the tenants' storage."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import chain

from foretop_core.foreign_text import named, quoted
from foretop_core.models import Backup, NonAdmin, NonAdminBackup, NonAdminRestore, Restore
from foretop_core.models.nonadmin import NAB_UUID_LABEL, NAR_UUID_LABEL
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.nonadmin_facts import (
    NonAdminFacts,
    NonAdminState,
    nonadmin_facts,
    told_before,
    vanished_words,
)
from foretop_core.rules.lookups import in_order
from foretop_core.rules.phases import FAULTY, OUTCOMES
from foretop_core.rules.queue import Positions, disagreement
from foretop_core.rules.refusal_actor import NeededAction, is_decided, who_must_act
from foretop_core.rules.sentences import Key, Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.triage.finding import READ_LOGS, READ_RESULTS, Finding, Severity, Thresholds, brief
from foretop_core.rules.triage.runs import blamed_location, reason

_FIELD_PREFIX = re.compile(r"^NonAdmin(Backup|Restore) (nonAdmin\w+\.)?spec\.\w+Spec\.")
_FIELD = re.compile(r"\w+", re.ASCII)
Pair = tuple[NonAdmin, Backup | Restore]


def refused(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for item in snapshot.lookups.unsettled_nonadmin():
        facts = nonadmin_facts(snapshot, item, now)
        if facts.state is not NonAdminState.REFUSED or facts.severity is None:
            continue
        accepted = item.condition("Accepted")
        message = accepted.message if accepted else "the controller gives no reason"
        needed = who_must_act(snapshot, item)
        request = needed.request
        yield Finding(
            "nonadmin-refused",
            facts.severity,
            snapshot.ref(item),
            told_before(now, accepted.last_transition_time, item.created) if accepted else item.created,
            _refused_for(message, needed),
            needed.waits if request is not None else sentence(_why_refused(message), " ", needed.waits),
            needed.remedy,
            (snapshot.ref(request),) if request else (),
            accepted.reason if accepted else "",
            snapshot.ref(request) if request else None,
            raw=f"{accepted.reason}: {message}" if accepted else message,
            group="" if request else "refused for a field of the spec",
        )


def _why_refused(message: str) -> str:
    return f"The controller refuses it: {quoted(_FIELD_PREFIX.sub('', message).rstrip('.'))}."


def _refused_for(message: str, needed: NeededAction) -> str:
    """With the field that is wrong, where the message begins with one."""
    if needed.request is not None:
        return "its storage waits for approval"
    field = _FIELD.match(_FIELD_PREFIX.sub("", message)) if _FIELD_PREFIX.match(message) else None
    if field and field[0] == "backupName" and "not found" in message:
        return "refused: no such NAB"
    return brief(f"refused: {field[0]}", "refused by the controller") if field else "refused by the controller"


def went_back(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """The phase may only go forward; the released controller breaks that when the Velero object vanishes."""
    lookups = snapshot.lookups
    watched = (lookups.nonadmin_named(ref.namespace, ref.name) for ref in snapshot.seen.went_back)
    for item in _once(chain(lookups.unsettled_nonadmin(), *watched)):
        subject = snapshot.ref(item)
        change = snapshot.seen.went_back.get(subject)
        accepted = item.condition("Accepted")
        vanished = item.phase == "BackingOff" and item.is_lost
        if not vanished and (change is None or change.after != item.phase):
            continue
        before = change.before if change else "Created"
        since = change.at if change else accepted.last_transition_time if accepted else None
        if vanished:
            yield _vanished(snapshot, nonadmin_facts(snapshot, item, now), since)
            continue
        yield Finding(
            "nonadmin-went-back",
            Severity.WARNING,
            subject,
            since,
            brief(f"went back to {item.phase}", "its phase went back"),
            f"It went back from {named(before)} to {named(item.phase)}: a phase should only move forward.",
            "Check the log of the non-admin controller.",
        )


def _vanished(snapshot: ClusterSnapshot, facts: NonAdminFacts, since: datetime | None) -> Finding:
    """The controller has noticed that the Velero object is gone; the sync may have brought a backup back since."""
    item, accepted = facts.item, facts.item.condition("Accepted")
    if facts.expired_at is not None:
        return Finding(
            "nonadmin-went-back",
            Severity.NOTE,
            snapshot.ref(item),
            since,
            "its Velero backup has expired",
            facts.gone,
            f"No action is needed. The owner in {item.namespace} can delete it.",
            needs_action=False,
        )
    velero = "backup" if isinstance(item, NonAdminBackup) else "restore"
    what, evidence = f"its Velero {velero} is gone", f"{vanished_words(item, facts.run)}."
    remedy = f"Ask the owner in {item.namespace} to create a new one, and find out who deleted the Velero {velero}."
    if facts.run is not None:
        what = f"its Velero {velero} was gone"
        remedy = f"If it stays {named(item.phase)}, ask the owner in {item.namespace} to create a new one."
    raw = accepted.message if accepted else ""
    return Finding("nonadmin-went-back", Severity.WARNING, snapshot.ref(item), since, what, evidence, remedy, raw=raw)


def backups_gone(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """NABs that report a copy which Velero no longer has."""
    if not snapshot.lookups.backup_namespaces():
        return
    for item in snapshot.lookups.nabs_without_backup():
        facts = nonadmin_facts(snapshot, item, now)
        if facts.is_gone:
            yield Finding(
                "nonadmin-backup-gone",
                Severity.WARNING,
                snapshot.ref(item),
                facts.expired_at,
                "its Velero backup is gone",
                facts.gone,
                "Check that the non-admin controller runs: it marks such a NAB within a second. Ask the owner in "
                f"{item.namespace} to create a new one.",
            )


def stuck_deleting(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for item in snapshot.lookups.unsettled_nonadmin():
        facts = nonadmin_facts(snapshot, item, now, limits.deleting)
        since = told_before(now, facts.deleting_since, item.created)
        if since is None or facts.severity is None:
            continue
        evidence, remedy, errors = _way_out(snapshot, item)
        yield Finding(
            "nonadmin-stuck-deleting",
            facts.severity,
            snapshot.ref(item),
            since,
            "its deletion is stuck",
            evidence,
            remedy,
            raw=errors,
        )


def velero_failed(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    lookups = snapshot.lookups
    owners = chain(
        lookups.faulty_nonadmin(),
        *(lookups.nabs_of_uuid(uuid) for backup in lookups.faulty_backups() if (uuid := backup.label(NAB_UUID_LABEL))),
        *(lookups.nars_of_uuid(uuid) for run in lookups.faulty_restores() if (uuid := run.label(NAR_UUID_LABEL))),
    )
    for item in _once(owners):
        facts = nonadmin_facts(snapshot, item, now)
        live, status = facts.run, facts.status
        if item.phase != "Created" or status is None or status.phase not in FAULTY or facts.severity is None:
            continue
        since = status.completion_timestamp or status.start_timestamp or item.created
        if facts.is_overtaken or facts.is_gone:
            continue
        run = "backup" if isinstance(item, NonAdminBackup) else "restore"
        reasons = "; ".join(status.validation_errors) or status.failure_reason
        why = reason(live) if live is not None else reasons or humanize.count(status.errors, "error")
        yield Finding(
            "nonadmin-velero-failed",
            facts.severity,
            snapshot.ref(item),
            since,
            f"Velero's {run} {OUTCOMES[status.phase]}",
            f"Velero's {run} {OUTCOMES[status.phase]}{'' if reasons else f', {why}'}, though its phase stays Created: "
            f"{item.velero.name}.",
            _after_failure(item, live, status.phase),
            (snapshot.ref(live),) if live is not None else (),
            status.phase,
            blamed_location(snapshot, live) if isinstance(live, Backup) else None,
            raw=reasons,
        )


def _after_failure(item: NonAdmin, live: Backup | Restore | None, phase: str) -> Text:
    """Velero writes no log for what it refuses, and none can be had of an object that is not known."""
    ask_owner = "and ask the owner to create a new one."
    if phase == "FailedValidation":
        return f"Fix the cause named in the message {ask_owner}"
    if live is None and not item.velero.name:
        return f"Find the cause in the log of the Velero server {ask_owner}"
    return sentence("Read its results", *READ_RESULTS, " or logs", *READ_LOGS, f", fix the cause, {ask_owner}")


def positions_off(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """The reported place in the queue is an estimate that freezes; say where it misleads."""
    lookups = snapshot.lookups
    backups, restores = lookups.open_backups(), lookups.open_restores()
    queued = lookups.queued_nonadmin()
    nabs = chain(
        (item for item in queued if isinstance(item, NonAdminBackup)),
        *(lookups.nabs_of_uuid(uuid) for backup in backups if (uuid := backup.label(NAB_UUID_LABEL))),
    )
    nars = chain(
        (item for item in queued if isinstance(item, NonAdminRestore)),
        *(lookups.nars_of_uuid(uuid) for run in restores if (uuid := run.label(NAR_UUID_LABEL))),
    )
    yield from _all_off(snapshot, _reporting(_with_live(snapshot, nabs)), backups, now, limits)
    yield from _all_off(snapshot, _reporting(_with_live(snapshot, nars)), restores, now, limits)


def _with_live(
    snapshot: ClusterSnapshot, items: Iterable[NonAdmin]
) -> Iterator[tuple[NonAdmin, Backup | Restore | None]]:
    """Each once, with its Velero object."""
    return ((item, snapshot.velero_run(item)) for item in _once(items))


def _once(items: Iterable[NonAdmin]) -> tuple[NonAdmin, ...]:
    return in_order({(type(item), item.namespace, item.name): item for item in items}.values())


def waiting_storage_requests(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for request in snapshot.storage_requests:
        source = request.status.non_admin_backup_storage_location
        if is_decided(request) or request.created is None or now - request.created < limits.storage_request:
            continue
        asker = f"{source.namespace}/{source.name}" if source.name else request.name
        yield Finding(
            "storage-request-waiting",
            Severity.WARNING,
            snapshot.ref(request),
            request.created,
            "waits for your approval",
            sentence(f"{asker} asked for a storage location at ", request.created, ", and waits for a decision."),
            sentence("Approve or reject the request", Key("decide-storage"), "."),
            (ObjectRef(snapshot.context, "NonAdminBackupStorageLocation", source.namespace, source.name),)
            if source.name
            else (),
            hits="Backups that use it are refused until then.",
            called=asker,
        )


def _reporting(pairs: Iterable[tuple[NonAdmin, Backup | Restore | None]]) -> list[Pair]:
    """Without those, the many, that have ended and report it: they agree."""
    return [
        (item, live)
        for item, live in pairs
        if live is not None
        and (info := item.state.queue_info) is not None
        and (info.estimated_queue_position or live.status.completion_timestamp is None)
    ]


def _all_off(
    snapshot: ClusterSnapshot,
    pairs: list[Pair],
    runs: Iterable[Backup | Restore],
    now: datetime,
    limits: Thresholds,
) -> Iterator[Finding]:
    ended = [live for _, live in pairs if live.status.completion_timestamp is not None]
    positions = Positions.of([*ended, *(run for run in runs if run.status.completion_timestamp is None)])
    for item, live in pairs:
        yield from _off(snapshot, item, live, positions, now, limits)


def _off(
    snapshot: ClusterSnapshot,
    item: NonAdmin,
    live: Backup | Restore,
    positions: Positions,
    now: datetime,
    limits: Thresholds,
) -> Iterator[Finding]:
    gap = disagreement(item, positions)
    if gap is None or gap.reported == gap.live or item.phase != "Created":
        return
    if not _settled(item, live, now, limits.position_off):
        return
    where = "has ended" if gap.live == 0 else f"is number {gap.live} in Velero's order, those that run among them"
    why = (
        f"has not updated it since and would report {gap.recomputed} now"
        if gap.is_stale
        else "orders by creation second only"
    )
    yield Finding(
        "position-off",
        Severity.NOTE,
        snapshot.ref(item),
        None,
        "reports a wrong queue position",
        f"It reports position {gap.reported}, but {live.name} {where} ({live.phase or 'New'}): the controller {why}.",
        "Trust the queue, not the estimate. No action is needed.",
        (snapshot.ref(live),),
        needs_action=False,
    )


def _settled(item: NonAdmin, live: Backup | Restore, now: datetime, limit: timedelta) -> bool:
    """The controller follows a change within the second: only an older difference counts."""
    queued = item.condition("Queued")
    latest = max(
        (
            moment
            for moment in (
                queued.last_transition_time if queued else None,
                live.status.start_timestamp,
                live.status.completion_timestamp,
                live.created,
            )
            if moment is not None and told_before(now, moment, None) is not None
        ),
        default=now,
    )
    return now - latest >= limit


def _way_out(snapshot: ClusterSnapshot, item: NonAdmin) -> tuple[str, str, str]:
    """The reason that holds up its deletion, the remedy, and the raw error where there is one."""
    if isinstance(item, NonAdminBackup) and not (item.spec.delete_backup or item.spec.force_delete_backup):
        return (
            "It was deleted without spec.deleteBackup, so the controller keeps it and the data.",
            "Set spec.deleteBackup to true to delete the data too, or remove the finalizer to release the object.",
            "",
        )
    request = item.status.velero_delete_backup_request if isinstance(item, NonAdminBackup) else None
    if request and request.status and request.status.errors:
        return (
            "Velero could not delete its data.",
            "Fix the cause; the controller retries.",
            "; ".join(request.status.errors),
        )
    backup = snapshot.velero_backup(item) if isinstance(item, NonAdminBackup) else None
    location = snapshot.location(backup.namespace, backup.spec.storage_location) if backup else None
    if location is not None and location.phase == "Unavailable":
        return (
            f"Its data is in storage location {location.name}, which is unavailable.",
            f"Fix storage location {location.name}; the deletion then goes on by itself.",
            location.status.message,
        )
    return (
        "The controller has accepted the deletion and waits for Velero.",
        "Check the DeleteBackupRequest and the Velero log. Removing the finalizer releases the object but "
        "keeps the data.",
        "",
    )
