"""The volumes that the next run of a schedule takes and leaves out, as its page and the dialogs that write one tell."""

from __future__ import annotations

import msgspec

from foretop_core.models import BackupSpec, Schedule
from foretop_core.models.kinds import CLAIM, DATA_UPLOAD, POD_VOLUME_BACKUP, VOLUME
from foretop_core.models.velero import ScheduleMetadata, ScheduleSpec
from foretop_core.rules import humanize
from foretop_core.rules.snapshot import ClusterSnapshot

KINDS_OF_VOLUMES = frozenset(kind.name for kind in (CLAIM, VOLUME, POD_VOLUME_BACKUP, DATA_UPLOAD))
"""The kinds that are watched to tell it."""
MOST_CLAIMS = 5000
"""To foretell each of more takes too long for a page that is drawn while somebody types."""
_MOST_TOLD = 3


class NextVolumes(msgspec.Struct, frozen=True):
    """All namespaces of one schedule together."""

    refused: str = ""
    """Why Velero refuses the run, or why it takes nothing at all."""
    taken: int = 0
    left_out: tuple[tuple[str, str], ...] = ()
    """Namespace and name of each claim, and why."""
    open: tuple[tuple[str, str], ...] = ()
    """The same, of those of which it is not known."""
    is_chosen: bool = True
    """True if somebody wanted it so of all that is left out."""

    @property
    def sentence(self) -> str:
        """`the next run takes 3 volumes, leaves out 1`."""
        if self.refused:
            return self.refused
        if not (self.taken or self.left_out or self.open):
            return "its namespaces have none"
        counted = [f"takes {humanize.count(self.taken, 'volume')}"]
        counted += [f"leaves out {len(self.left_out)}"] if self.left_out else []
        counted += [f"{len(self.open)} not known"] if self.open else []
        return f"the next run {', '.join(counted)}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The first of those that it leaves out, and of those that are not known, with the reason."""
        told = [f"{name} left out: {why}" for name, why in self.left_out[:_MOST_TOLD]]
        more = len(self.left_out) - _MOST_TOLD
        told += [f"and {more} more left out"] if more > 0 else []
        return (*told, *(f"{name} not known: {why}" for name, why in self.open[:1]))


def next_volumes(snapshot: ClusterSnapshot, schedule: Schedule) -> NextVolumes | None:
    """None where there is nothing to tell: no claim was read, or there are too many."""
    if not snapshot.claims or len(snapshot.claims) > MOST_CLAIMS:
        return None
    plan = snapshot.next_run(schedule)
    if plan.refused:
        return NextVolumes(f"Velero refuses the next run: {plan.refused}")
    if plan.nothing:
        return NextVolumes(f"the next run takes nothing: {plan.nothing}")
    by_namespace = snapshot.next_volumes_of(schedule)
    left_out = [(space, one) for space, found in by_namespace.items() for one in found.left_out]
    return NextVolumes(
        "",
        sum(len(found.taken) for found in by_namespace.values()),
        tuple((f"{space}/{one.name}", one.why) for space, one in left_out),
        tuple((f"{space}/{one.name}", one.why) for space, found in by_namespace.items() for one in found.open),
        all(one.is_chosen for _, one in left_out),
    )


def described(namespace: str, name: str, template: BackupSpec) -> Schedule:
    """A schedule that is not there yet, as far as it decides about volumes."""
    meta = ScheduleMetadata(name=name, namespace=namespace)
    return Schedule(metadata=meta, spec=ScheduleSpec(template=template))
