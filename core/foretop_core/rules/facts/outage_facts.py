"""Facts of an outage: the schedules and namespaces that a silent Velero server holds up."""

from __future__ import annotations

from datetime import datetime

import msgspec

from foretop_core.rules import humanize
from foretop_core.rules.facts.namespace_facts import ProtectionJudge
from foretop_core.rules.facts.schedule_facts import ScheduleFacts, schedule_facts
from foretop_core.rules.sentences import Text, sentence
from foretop_core.rules.snapshot import ClusterSnapshot


class OutageFacts(msgspec.Struct, frozen=True):
    """The schedules and copies that wait for one server or its storage."""

    schedules: tuple[ScheduleFacts, ...]
    late: tuple[tuple[datetime, str], ...]
    """From when on the copy of a namespace that no other server copies is older than promised, the soonest first."""

    @property
    def words(self) -> Text:
        """`5 schedules wait for Velero, 4 of them overdue. The first copy is too old from 20:43:00Z on (etcd).`"""
        if not self.schedules:
            return ""
        count, overdue = len(self.schedules), sum(one.overdue is not None for one in self.schedules)
        waits = f"{humanize.count(count, 'schedule')} wait{'s' if count == 1 else ''} for {self.schedules[0].waits_for}"
        said: Text = (
            f"{waits}, {f'{overdue:,} of them' if overdue < count else 'all'} overdue." if overdue else f"{waits}."
        )
        now = self.schedules[0].now
        old = [name for at, name in self.late if at <= now]
        if old:
            whose = humanize.count(len(old), "namespace")
            said = sentence(said, f" The copies of {whose} are older than promised ({humanize.join(old)}).")
        coming = self.late[len(old) :]
        if coming:
            at, name = coming[0]
            said = sentence(said, f" The {'next' if old else 'first'} copy is too old from ", at, f" on ({name}).")
        return said


def outage_facts(snapshot: ClusterSnapshot, namespace: str, now: datetime, judge: ProtectionJudge) -> OutageFacts:
    """The schedules whose runs wait for the server of a namespace, and the namespaces that only those copy."""
    held = [
        facts
        for schedule in snapshot.schedules_by_namespace.get(namespace, ())
        if (facts := schedule_facts(snapshot, schedule, now)).waits_for and not facts.invalid
    ]
    late: list[tuple[datetime, str]] = []
    for name in snapshot.protection.names:
        row = snapshot.protection.row(name)
        active = [cover.schedule for cover in row.covers if cover.is_active] if row is not None else []
        if row is None or not active or any(schedule.namespace != namespace for schedule in active):
            continue
        at = judge.late_from(row)
        if at is not None:
            late.append((at, name))
    return OutageFacts(tuple(held), tuple(sorted(late)))
