"""What is said before a forecast while Velero is silent: it does nothing of what is asked before it is back."""

from __future__ import annotations

from datetime import datetime

from foretop_core.rules.sentences import render
from foretop_core.rules.snapshot import ClusterSnapshot


def waits_for_velero(snapshot: ClusterSnapshot, namespace: str, done: str, now: datetime) -> str:
    """`nothing is deleted until Velero is back (no sign of activity from Velero since 02:16:03Z), then `, or ""."""
    beat = snapshot.heartbeat(namespace)
    silence = beat.silence(now)
    return f"nothing is {done} until {beat.awaited(now)} ({render(silence, now)}), then " if silence else ""
