"""What keeps the coming run of a schedule from being a backup."""

from __future__ import annotations

from datetime import datetime

from foretop_core.models import Schedule
from foretop_core.rules.forecast import blocker
from foretop_core.rules.heartbeat import Heartbeat
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot
from foretop_core.rules.storage_refusal import schedule_refusal


def coming_run_obstacle(snapshot: ClusterSnapshot, schedule: Schedule, now: datetime, beat: Heartbeat) -> Text:
    """A silent server, or storage that cannot be used; reads on after the time that the run is due, "" for neither."""
    refusal = schedule_refusal(snapshot, schedule)
    silence = beat.silence(now)
    if not silence:
        return f"but Velero refuses it while {refusal}" if refusal else ""
    held = blocker(schedule, snapshot.backups_by_schedule.get((schedule.namespace, schedule.name), ()))
    what = f"but it is not created until {held.name} has ended" if held is not None else beat.coming_run_phrase(now)
    return sentence(what, ": ", silence, f", and Velero refuses it while {refusal}" if refusal else "")
