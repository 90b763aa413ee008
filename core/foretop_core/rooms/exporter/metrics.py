"""The metrics of schedules, namespaces, servers with their queue and night, and tenants' objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from foretop_core.models.kinds import BACKUP
from foretop_core.rules.facts.namespace_facts import ProtectionJudge, ProtectionState
from foretop_core.rules.facts.nonadmin_facts import LastingNonAdminFacts, NonAdminState
from foretop_core.rules.facts.run_facts import queue_line
from foretop_core.rules.facts.schedule_facts import ScheduleFacts, schedule_facts
from foretop_core.rules.facts.server_facts import ServerState, server_facts
from foretop_core.rules.facts.size_facts import DAY
from foretop_core.rules.metric_families import Family, FamilyKind, Measure, MeasuredCluster, Sample, at, states
from foretop_core.rules.night.night import likely_night, night
from foretop_core.rules.night.outlook import by_six, next_waits, outlook
from foretop_core.rules.phases import WAITING
from foretop_core.rules.schedule_history import began
from foretop_core.rules.snapshot import ClusterSnapshot

_SCHEDULE = ("velero_namespace", "schedule")
_SERVER = ("velero_namespace",)
_TARGET = ("target",)
_RESULTS = ("Completed", "PartiallyFailed", "Failed", "FailedValidation")

SCHEDULE = Family("schedule", "A schedule and its cron expression.", (*_SCHEDULE, "expression"), FamilyKind.INFO)
PAUSED = Family("schedule_paused", "1 while the schedule is paused.", _SCHEDULE)
PAUSE_ENDS = Family(
    "schedule_pause_ends_timestamp_seconds", "When the pause is to end, by the note of who paused it.", _SCHEDULE
)
NEXT_RUN = Family(
    "schedule_next_run_timestamp_seconds", "When the schedule is due next; past while it is due.", _SCHEDULE
)
EXPECTED_START = Family(
    "schedule_expected_start_timestamp_seconds", "When Velero will create the next backup.", _SCHEDULE
)
LAST_STATUS = Family(
    "schedule_last_run_status", "How the last backup that has ended did so.", _SCHEDULE, FamilyKind.STATESET
)
LAST_SUCCESS = Family("schedule_last_success_timestamp_seconds", "When the newest good backup was started.", _SCHEDULE)
PROMISE = Family("schedule_promise_seconds", "How old the newest good backup may be before it is late.", _SCHEDULE)
LATE = Family("schedule_late_seconds", "For how long a good backup has been late; 0 while it is not.", _SCHEDULE)
WAIT = Family("schedule_wait_seconds", "How long the next backup is likely to wait for a slot.", _SCHEDULE)

PROTECTION = Family("namespace_protection", "The protection of the namespace.", _TARGET, FamilyKind.STATESET)
NEWEST_COPY = Family("namespace_newest_copy_timestamp_seconds", "When the newest copy was started.", _TARGET)
GOOD_COPIES = Family("namespace_good_copies", "Good copies that a restore can reach.", _TARGET)
LAST_EXPIRY = Family("namespace_last_expiry_timestamp_seconds", "When the last good copy expires.", _TARGET)
VOLUMES_EXPECTED = Family(
    "namespace_volumes_expected",
    "Volumes that the newest copy should have; those that somebody chose to leave out do not count.",
    _TARGET,
)
VOLUMES_TAKEN = Family("namespace_volumes_in_newest_copy", "Volumes that the newest copy is proven to have.", _TARGET)
COPY_BYTES = Family("namespace_copy_bytes", "Bytes of the volumes in the newest copy.", _TARGET)

SERVER = Family("server", "A Velero server and its release.", (*_SERVER, "version"), FamilyKind.INFO)
SERVER_STATE = Family("server_state", "The state of the Velero server.", _SERVER, FamilyKind.STATESET)
SLOTS = Family("slots", "Backups that the server runs at the same time.", _SERVER)
SLOTS_IN_USE = Family("slots_in_use", "Backups that hold a slot.", _SERVER)
QUEUE_LENGTH = Family("queue_length", "Backups and restores that have not ended.", (*_SERVER, "kind", "phase"))
OLDEST_WAIT = Family("queue_oldest_wait_seconds", "How long the oldest backup or restore has waited.", _SERVER)
STORAGE_AVAILABLE = Family(
    "storage_available", "1 while Velero says that the storage location is available.", (*_SERVER, "storage")
)
NIGHT_DONE = Family(
    "night_done_timestamp_seconds",
    "When the backups of the night are expected to be done: likely (0.5), and in nine of ten courses (0.9).",
    (*_SERVER, "certainty"),
)
NIGHT_DEADLINE = Family(
    "night_deadline_timestamp_seconds", "The end of the night that is foreseen: 06:00 UTC.", _SERVER
)
RUNS_LAST_NIGHT = Family(
    "runs_last_night", "Backups started in the last 24 hours that have ended.", (*_SERVER, "result")
)
RUNS_LOST = Family("runs_expected_lost", "Runs of the next 24 hours that are not expected to be made.", _SERVER)

NABS = Family("nonadmin_backups", "NonAdminBackups.", (*_TARGET, "phase"))
NARS = Family("nonadmin_restores", "NonAdminRestores.", (*_TARGET, "phase"))
WAITING_OLDEST = Family(
    "nonadmin_waiting_oldest_seconds", "How long the oldest NonAdminBackup or NonAdminRestore has waited.", _TARGET
)


def measure_schedules(cluster: MeasuredCluster) -> Iterator[Sample]:
    snapshot, now, limits = cluster.snapshot, cluster.now, cluster.limits
    waits = {
        (namespace, name): wait
        for namespace in snapshot.schedules_by_namespace
        for name, (_, wait) in next_waits(likely_night(snapshot, namespace, now)).items()
    }
    for schedule in snapshot.schedules:
        key = schedule.namespace, schedule.name
        facts = schedule_facts(snapshot, schedule, now, limits.overdue)
        yield Sample(SCHEDULE, (*key, schedule.spec.schedule), 1.0)
        yield Sample(PAUSED, key, float(schedule.spec.paused))
        yield from at(PAUSE_ENDS, key, facts.pause.until if facts.pause is not None else None)
        yield from at(NEXT_RUN, key, facts.next_run)
        yield from at(EXPECTED_START, key, facts.expected_start)
        if facts.last_ended is not None:
            yield from states(LAST_STATUS, key, _RESULTS, facts.last_ended.phase)
        yield from _promised(facts, limits.gap, key)
        if key in waits:
            yield Sample(WAIT, key, waits[key].total_seconds())


def _promised(facts: ScheduleFacts, gap: timedelta, key: tuple[str, str]) -> Iterator[Sample]:
    good = facts.newest_good
    since = began(good) if good is not None else None
    late_from = facts.promised_since(gap) if since is None else facts.late_from(since, gap)
    yield from at(LAST_SUCCESS, key, since)
    if late_from is not None and not facts.schedule.spec.paused:
        yield Sample(LATE, key, max(0.0, (facts.now - late_from).total_seconds()))
        if since is not None:
            yield Sample(PROMISE, key, (late_from - since).total_seconds())


def measure_namespaces(cluster: MeasuredCluster) -> Iterator[Sample]:
    """Leaves out the namespaces that need no backup."""
    judge = ProtectionJudge(cluster.snapshot, cluster.now, cluster.limits.protection)
    protection = cluster.snapshot.protection
    for name in protection.names:
        row = protection.row(name)
        if row is None:
            continue
        facts = judge.facts(row)
        if facts.state is ProtectionState.IGNORED:
            continue
        volumes = facts.volumes
        yield from states(PROTECTION, (name,), ProtectionState, facts.state)
        yield from at(NEWEST_COPY, (name,), row.copies.usable_at)
        yield Sample(GOOD_COPIES, (name,), float(facts.good_in_reach))
        yield from at(LAST_EXPIRY, (name,), row.copies.last_expiry)
        if not volumes.unknown:
            yield Sample(VOLUMES_EXPECTED, (name,), float(volumes.expected - len(volumes.chosen)))
            yield Sample(VOLUMES_TAKEN, (name,), float(len(volumes.taken)))
        if volumes.size is not None:
            yield Sample(COPY_BYTES, (name,), float(volumes.size))


def measure_servers(cluster: MeasuredCluster) -> Iterator[Sample]:
    snapshot, now = cluster.snapshot, cluster.now
    for namespace in snapshot.velero_namespaces:
        server, line = server_facts(snapshot, namespace, now), queue_line(snapshot, namespace, now)
        if server.version:
            yield Sample(SERVER, (namespace, server.version), 1.0)
        yield from states(SERVER_STATE, (namespace,), ServerState, server.state)
        if server.slots is not None:
            yield Sample(SLOTS, (namespace,), float(server.slots))
        if snapshot.gap(BACKUP) is not None:
            # Nothing seen is no empty queue.
            continue
        yield Sample(SLOTS_IN_USE, (namespace,), float(server.busy))
        unfinished = [entry.run for entry in line.by_run.values()]
        # An empty queue is zero long, and not unknown.
        lengths = Counter({("Backup", "New"): 0, ("Backup", "Queued"): 0, ("Restore", "New"): 0})
        lengths.update((type(run).__name__, run.phase or "New") for run in unfinished)
        for (kind, phase), count in lengths.items():
            yield Sample(QUEUE_LENGTH, (namespace, kind, phase), float(count))
        waiting = [run.created for run in unfinished if run.phase in WAITING and run.created is not None]
        yield Sample(OLDEST_WAIT, (namespace,), (now - min(waiting)).total_seconds() if waiting else 0.0)
    for place in snapshot.storage:
        if place.status.phase:
            is_available = float(place.status.phase == "Available")
            yield Sample(STORAGE_AVAILABLE, (place.namespace, place.name), is_available)


def measure_nights(cluster: MeasuredCluster) -> Iterator[Sample]:
    snapshot, now = cluster.snapshot, cluster.now
    for namespace in snapshot.velero_namespaces:
        if snapshot.gap(BACKUP) is None:
            yield from _ended(snapshot, namespace, now)
        ahead = outlook(night(snapshot, namespace, now))
        if ahead.night.unknown:
            continue
        yield Sample(RUNS_LOST, (namespace,), float(len(ahead.lost)))
        yield from at(NIGHT_DEADLINE, (namespace,), by_six(ahead.night, ahead.schedules, UTC).begins)
        if ahead.night_end is not None:
            likely, by = ahead.night_end
            yield from at(NIGHT_DONE, (namespace, "0.5"), likely)
            yield from at(NIGHT_DONE, (namespace, "0.9"), by)


def _ended(snapshot: ClusterSnapshot, namespace: str, now: datetime) -> Iterator[Sample]:
    runs = snapshot.backups_by_namespace.get(namespace, ())
    # One that Velero refuses never starts.
    phases = Counter(run.phase for run in runs if now - DAY <= began(run) <= now)
    for result in _RESULTS:
        yield Sample(RUNS_LAST_NIGHT, (namespace, result), float(phases[result]))


def measure_tenants(cluster: MeasuredCluster) -> Iterator[Sample]:
    snapshot = cluster.snapshot
    for family, items in ((NABS, snapshot.nabs), (NARS, snapshot.nars)):
        counts = Counter((item.namespace, item.phase or "New") for item in items)
        for (namespace, phase), count in counts.items():
            yield Sample(family, (namespace, phase), float(count))
    oldest: dict[str, datetime] = {}
    for item in (*snapshot.nabs, *snapshot.nars):
        state, phase = LastingNonAdminFacts(item, snapshot.velero_run(item)).state_and_phase
        is_waiting = state is NonAdminState.WAITING or (state is NonAdminState.VELERO and phase in WAITING)
        if is_waiting and item.created is not None:
            oldest[item.namespace] = min(item.created, oldest.get(item.namespace, item.created))
    for namespace, since in oldest.items():
        yield Sample(WAITING_OLDEST, (namespace,), (cluster.now - since).total_seconds())


MEASURES: tuple[Measure, ...] = (
    measure_schedules,
    measure_namespaces,
    measure_servers,
    measure_nights,
    measure_tenants,
)
