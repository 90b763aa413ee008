"""Recent backups of a Velero server that ended, run or wait, each from its submission on."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from foretop_core.models import Backup, DataUpload
from foretop_core.rules.night.lengths import was_synced
from foretop_core.rules.phases import ENDED, FINISHING
from foretop_core.rules.queue.owners import Owner, owner_of
from foretop_core.rules.queue.positions import has_ended
from foretop_core.rules.schedule_history import submitted
from foretop_core.rules.snapshot import ClusterSnapshot

PAST = timedelta(hours=48)
"""How far back runs are shown beside those to come."""


class PastRun(msgspec.Struct, frozen=True, gc=False):
    """A backup that exists; `start` is None before it has begun, `end` before it has ended."""

    owner: Owner
    name: str
    phase: str
    submitted: datetime
    start: datetime | None
    end: datetime | None
    released: datetime | None = None
    """The moment at which it gave its slot back, where it went on after that."""

    @property
    def is_refused(self) -> bool:
        return self.phase == "FailedValidation"


def past_runs(snapshot: ClusterSnapshot, namespace: str, since: datetime) -> tuple[PastRun, ...]:
    """The backups of a server that were not over by `since`, in the order of their submission.

    One that the sync brought here ran in another cluster, and took no slot of this server.
    """
    runs = []
    for run in snapshot.backups_by_namespace.get(namespace, ()):
        status, moment = run.status, submitted(run)
        over = status.completion_timestamp
        if over is None and run.phase in ENDED:
            over = status.start_timestamp or moment
        if (over is not None and over < since) or was_synced(run):
            continue
        if over is None and has_ended(run):
            continue
        released = None
        if over is not None:
            released = volumes_made(snapshot, run)
        elif run.phase in FINISHING:
            released = snapshot.seen.phase_since.get(snapshot.ref(run)) or volumes_made(snapshot, run)
            released = released or status.start_timestamp
        runs.append(PastRun(owner_of(run), run.name, run.phase, moment, status.start_timestamp, over, released))
    return tuple(sorted(runs, key=lambda run: (run.submitted, run.name)))


def volumes_made(snapshot: ClusterSnapshot, run: Backup) -> datetime | None:
    """When the last of the volumes was made that are moved after its items; None where there is none."""
    made = (volume.created for volume in snapshot.movements_of(run) if isinstance(volume, DataUpload))
    return max((moment for moment in made if moment is not None), default=None)
