"""Findings about the Velero server itself: whether it is there, works and has restarted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import msgspec

from foretop_core.models import Pod
from foretop_core.models.wire import ObjectRef
from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import ProtectionJudge, ProtectionLimits
from foretop_core.rules.facts.run_facts import Run, has_ended
from foretop_core.rules.facts.schedule_facts import ScheduleFacts
from foretop_core.rules.facts.server_facts import ServerFacts, ServerState, server_facts
from foretop_core.rules.heartbeat import PERIOD, last_start
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot, VeleroInfo
from foretop_core.rules.triage.finding import QUEUE, SHOW_PODS, SHOW_QUEUE, Finding, Severity, Thresholds, brief
from foretop_core.rules.velero_pods import crash_text, failing_server, last_words, pod_state


def silent_servers(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for namespace in snapshot.velero_namespaces:
        server, beat = server_facts(snapshot, namespace, now), snapshot.heartbeat(namespace)
        checked = beat.checked(now)
        if server.silent_for is None or checked is None:
            continue
        pods = _unready(snapshot.server(namespace))
        failing = failing_server(snapshot.pods, namespace) if pods else None
        what, store = _what(server, failing), "" if pods else "the object store, "
        also = (
            sentence(
                f" The server works ({server.sign} at ",
                server.sign.at,
                f"), so a backup is created, but {beat.holds_back(now)}. Restores wait too.",
            )
            if server.state is ServerState.STORAGE_HANGS and server.sign is not None
            else ""
        )
        waits = _outage(snapshot, namespace, now, limits.protection).words
        yield Finding(
            "velero-no-pulse",
            Severity.ERROR,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            server.since,
            what,
            sentence(
                _lead(server),
                sentence(" ", crash_text(failing)) if failing is not None else f" {pods}." if pods else "",
                f" It checks its storage every {humanize.interval(beat.period or PERIOD)}; the last time was ",
                checked,
                ".",
                also,
            ),
            sentence(
                f"Check {store}the Velero pod in {namespace} and its log",
                SHOW_PODS,
                "; see what waits",
                SHOW_QUEUE,
                ".",
            ),
            (snapshot.ref(failing),) if failing is not None else (),
            hits=_in_a_row(waits, _held_up(snapshot, namespace), _under_way(snapshot, namespace, server)),
            raw=last_words(failing) if failing is not None else "",
        )


def servers_not_judged(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """A clock has jumped: until that is long enough ago, a server that does nothing looks like one that works."""
    for namespace in snapshot.velero_namespaces:
        beat = snapshot.heartbeat(namespace)
        judged_at, checked = beat.judged_at(now), beat.checked(now)
        if judged_at is None or checked is None:
            continue
        yield Finding(
            "velero-not-judged",
            Severity.WARNING,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            beat.jumped,
            "not known yet whether it works",
            sentence(
                "The clock of the cluster or of this machine has jumped, or this machine slept. The last check of the "
                "storage that was read is of ",
                checked,
                "; whether Velero is silent or that is only old is judged at ",
                judged_at,
                ", or when the next check comes in.",
            ),
            "Wait until then, or run foretop report: it reads everything again.",
        )


def _in_a_row(*sentences: Text) -> Text:
    texts = [text for text in sentences if text]
    return sentence(*(part for place, text in enumerate(texts) for part in (" " if place else "", text)))


def _what(server: ServerFacts, failing: Pod | None) -> str:
    if server.state is ServerState.DOWN:
        none_ready = "down: no pod of it is ready"
        return brief(f"down: pod in {pod_state(failing)}", none_ready) if failing is not None else none_ready
    if server.state is ServerState.STORAGE_HANGS:
        return "storage hangs, nothing is done"
    return "silent: down, or storage hangs"


def _lead(server: ServerFacts) -> str:
    match server.state:
        case ServerState.DOWN:
            return "Velero is down: nothing is backed up or restored until it is back."
        case ServerState.STORAGE_HANGS:
            return "The storage hangs: Velero waits for it, and completes nothing."
        case _:
            return "Velero does nothing: it is down, or its storage hangs. Nothing is backed up or restored."


def _open_runs(snapshot: ClusterSnapshot, namespace: str) -> list[Run]:
    """The runs that the page of the queue lists."""
    runs: tuple[Run, ...] = (*snapshot.open_backups.get(namespace, ()), *snapshot.open_restores.get(namespace, ()))
    return [run for run in runs if not has_ended(run)]


def _held_up(snapshot: ClusterSnapshot, namespace: str) -> str:
    """How many runs stand still in the queue of the server."""
    kinds = Counter(type(run).__name__.lower() for run in _open_runs(snapshot, namespace))
    counts = humanize.join([humanize.count(number, noun) for noun, number in kinds.items()])
    return f"{counts} {'stands' if kinds.total() == 1 else 'stand'} still." if counts else ""


def _under_way(snapshot: ClusterSnapshot, namespace: str, server: ServerFacts) -> str:
    """The runs that the server was at work on, and their fate."""
    names = [run.name for run in _open_runs(snapshot, namespace) if run.phase == "InProgress"]
    if not names:
        return ""
    was = "was" if len(names) == 1 else "were"
    return f"{humanize.join(names)} {was} running: {server.fate_of_running(len(names))}."


def unready_servers(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    """No pod of the server is ready; where it has fallen silent as well, that finding says so."""
    for namespace, velero in snapshot.servers.items():
        pods = _unready(velero)
        if not pods or snapshot.heartbeat(namespace).silent_for(now) is not None:
            continue
        scaled = velero.wanted_pods == 0
        failing = failing_server(snapshot.pods, namespace)
        yield Finding(
            "velero-not-ready",
            Severity.ERROR,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            None,
            "scaled down to no pods" if scaled else "no pod of it is ready",
            sentence(
                "No pod of Velero is ready: nothing is backed up or restored until one is.",
                sentence(" ", crash_text(failing)) if failing is not None else f" {pods}.",
            ),
            f"Scale the Deployment velero in {namespace} up again."
            if scaled
            else sentence(
                f"See why the pod in {namespace} is not ready by its state, restarts and log", SHOW_PODS, "."
            ),
            (snapshot.ref(failing),) if failing is not None else (),
            hits=_under_way(snapshot, namespace, server_facts(snapshot, namespace, now)),
            raw=last_words(failing) if failing is not None else "",
        )


def _unready(server: VeleroInfo) -> str:
    """The Deployment's report of its pods where none is ready; "" where one is, or nothing is reported."""
    if not server.is_down:
        return ""
    if server.wanted_pods == 0:
        return "Its Deployment is scaled to 0 pods"
    return f"Its Deployment has 0 of {humanize.count(server.wanted_pods or 0, 'pod')} ready"


def restarted_servers(snapshot: ClusterSnapshot, now: datetime, limits: Thresholds) -> Iterator[Finding]:
    for namespace in snapshot.velero_namespaces:
        backups = snapshot.faulty_backups.get(namespace, ())
        traces = (last_start(backups), snapshot.seen.restarted.get(namespace))
        moment = max((trace for trace in traces if trace is not None), default=None)
        if moment is None or now - moment > limits.recent_restart:
            continue
        recent = [backup for backup in backups if last_start((backup,)) == moment]
        lost = f" {humanize.join([backup.name for backup in recent])} was running and is Failed." if recent else ""
        yield Finding(
            "velero-restarted",
            Severity.NOTE,
            ObjectRef(snapshot.context, QUEUE, namespace, ""),
            moment,
            "has restarted",
            sentence(
                "Velero restarted at ",
                moment,
                f".{lost} Queued backups continue, due schedules create theirs at once.",
            ),
            "Run the lost backups again; if it happens again, find out why the pod restarts (memory, eviction).",
            tuple(snapshot.ref(backup) for backup in recent),
            told_until=moment + limits.recent_restart,
        )


class _Outage(msgspec.Struct, frozen=True):
    """The schedules and copies that wait for one server or its storage."""

    schedules: tuple[ScheduleFacts, ...]
    late: tuple[tuple[datetime, str], ...]
    """From when on the copy of a namespace that no server at work copies is older than promised, the soonest first."""

    @property
    def words(self) -> Text:
        """`5 schedules wait for Velero, 4 of them overdue. The first copy is too old from 20:43:00Z on (etcd).`"""
        if not self.schedules:
            return ""
        count, overdue = len(self.schedules), sum(facts.overdue is not None for facts in self.schedules)
        waits = f"{humanize.count(count, 'schedule')} wait{'s' if count == 1 else ''} for {self.schedules[0].waits_for}"
        which = f"{overdue:,} of them " if overdue < count else "all " if count > 1 else ""
        text: Text = f"{waits}, {which}overdue." if overdue else f"{waits}."
        now = self.schedules[0].now
        old = [name for late_at, name in self.late if late_at <= now]
        if old:
            whose = humanize.count(len(old), "namespace")
            text = sentence(text, f" The copies of {whose} are older than promised ({humanize.join(old)}).")
        coming = self.late[len(old) :]
        if coming:
            moment, name = coming[0]
            text = sentence(text, f" The {'next' if old else 'first'} copy is too old from ", moment, f" on ({name}).")
        return text


def _outage(snapshot: ClusterSnapshot, namespace: str, now: datetime, limits: ProtectionLimits) -> _Outage:
    """The schedules whose runs wait for the server of a namespace, and the namespaces that no other server copies."""
    judge = ProtectionJudge(snapshot, now, limits)
    late: list[tuple[datetime, str]] = []
    for name in snapshot.protection.names:
        row = snapshot.protection.row(name)
        facts = judge.facts(row) if row is not None else None
        if facts is None or all(entry.schedule.namespace != namespace for entry in facts.held_up):
            continue
        if facts.late_from is not None:
            late.append((facts.late_from, name))
    of_server = map(judge.schedule, snapshot.schedules_by_namespace.get(namespace, ()))
    return _Outage(tuple(entry for entry in of_server if entry.waits_for and not entry.invalid), tuple(sorted(late)))
