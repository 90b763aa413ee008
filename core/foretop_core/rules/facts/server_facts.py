"""Facts of one Velero server: whether it is alive and what shows it, its release and its slots."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from foretop_core.models.kinds import STORAGE
from foretop_core.rules.heartbeat import PERIOD, SILENT_PERIODS, Heartbeat, LifeSign, unchecked_for
from foretop_core.rules.phases import HOLDS_SLOT
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.velero_pods import PodHealth, pod_health, restarts, server_started

__all__ = [
    "NOT_KNOWN_YET",
    "PERIOD",
    "Heartbeat",
    "LifeSign",
    "ServerFacts",
    "ServerPod",
    "ServerState",
    "judge_server",
    "server_facts",
    "unchecked_for",
]

NOT_KNOWN_YET = "not known yet"
"""Said on every page of what has not come in, and of nothing else."""


class ServerState(StrEnum):
    NOT_KNOWN = "not known"
    ACTIVE = "active"
    STORAGE_HANGS = "storage hangs"
    SILENT = "silent"
    DOWN = "down"


class ServerPod(msgspec.Struct, frozen=True):
    """The pod that runs a server, as it is reported."""

    name: str
    is_ready: bool
    restarts: int
    started: datetime | None
    """When the server in it was last started; None while it does not run."""


class ServerFacts(msgspec.Struct, frozen=True):
    """One Velero server at one moment.

    `sign` is the newest sign of life, `since` the last one of what is missing, and `silent_for` how long that is ago.
    `reason` says why the state is not known, and is "" where it is.
    """

    namespace: str
    state: ServerState
    sign: LifeSign | None = None
    since: datetime | None = None
    silent_for: timedelta | None = None
    silence: Text = ""
    awaited: str = ""
    """Whom its backups wait for while it is silent: `Velero` or `the storage`."""
    reason: Text = ""
    judged_at: datetime | None = None
    """When it can be told whether it is silent; None where it can be now."""
    version: str = ""
    slots: int | None = None
    busy: int = 0
    """How many of its slots are taken."""
    pod: ServerPod | None = None
    """None where pods are not watched."""

    @property
    def word(self) -> str:
        """The state as every page calls it."""
        if self.state is ServerState.NOT_KNOWN and (self.reason == NOT_KNOWN_YET or self.judged_at is not None):
            return NOT_KNOWN_YET
        return self.state.value

    def fate_of_running(self, count: int = 1) -> str:
        """The fate of the runs that a silent server is at work on; a server that starts marks them Failed."""
        they, are, stay, them = ("it", "is", "stays", "it") if count == 1 else ("they", "are", "stay", "them")
        if self.state is ServerState.STORAGE_HANGS:
            until = f"{they} {stay} InProgress until the storage responds"
            return f"{until}; if Velero restarts before, {they} {are} marked Failed"
        return f"Velero marks {them} Failed when it starts again"

    @property
    def is_silent(self) -> bool:
        return self.silent_for is not None


def server_facts(
    snapshot: ClusterSnapshot, namespace: str, now: datetime, beat: Heartbeat | None = None
) -> ServerFacts:
    """The facts of the server of a namespace; `beat` is its rhythm where that is at hand."""
    velero = snapshot.server(namespace)
    pod = _pod(snapshot, namespace)
    facts = judge_server(beat or snapshot.heartbeat(namespace), now, namespace, _why_unseen(snapshot), pod)
    busy = snapshot.lookups.unfinished_backups(namespace, HOLDS_SLOT)
    return msgspec.structs.replace(facts, version=velero.version, slots=velero.concurrency, busy=busy, pod=pod)


def _pod(snapshot: ClusterSnapshot, namespace: str) -> ServerPod | None:
    pod = snapshot.server_pod(namespace)
    if pod is None:
        return None
    return ServerPod(pod.name, pod_health(pod) is PodHealth.READY, restarts(pod), server_started(pod))


def judge_server(
    beat: Heartbeat, now: datetime, namespace: str = "", unseen: Text = "", pod: ServerPod | None = None
) -> ServerFacts:
    """Judges by its rhythm and its pod if a server is alive; `unseen` says why its storage locations are not seen."""
    checked, work = beat.checked(now), beat.last_work(now)
    check = LifeSign(checked, STORAGE.name, "", "was checked") if checked is not None else None
    signs = [sign for sign in (check, work, beat.last_start(now)) if sign is not None]
    sign = max(signs, key=lambda one: one.at, default=None)
    silent_for = beat.silent_for(now)
    if silent_for is not None:
        return ServerFacts(
            namespace,
            ServerState(beat.silence_word(now)),
            sign,
            beat.last_sign(now),
            silent_for,
            beat.silence(now),
            beat.awaited_part(now),
        )
    if (judged_at := beat.judged_at(now)) is not None:
        reason = sentence("a clock has jumped; whether it works is judged at ", judged_at)
        return ServerFacts(namespace, ServerState.NOT_KNOWN, sign, silence=reason, reason=reason, judged_at=judged_at)
    is_checked = checked is not None and beat.period is not None
    is_ready = pod is not None and pod.is_ready
    if is_checked or is_ready or (work is not None and now - work.at <= SILENT_PERIODS * PERIOD):
        return ServerFacts(namespace, ServerState.ACTIVE, sign)
    return ServerFacts(namespace, ServerState.NOT_KNOWN, sign, reason=unseen or _why_not_known(beat))


def _why_unseen(snapshot: ClusterSnapshot) -> Text:
    if snapshot.is_loading:
        return NOT_KNOWN_YET
    gap = snapshot.gap(STORAGE)
    return "" if gap is None else gap.reason


def _why_not_known(beat: Heartbeat) -> str:
    if beat.pulse is not None and beat.period is not None:
        return "the checks of its storage lie in the future"
    return "it has no storage location that it checks, and did nothing else lately"
