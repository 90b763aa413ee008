"""A backup kept for longer, or for less long: when it expires is set together with the TTL that tells so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from foretop_core.actions.action_record import LATE, ActionRecord, CommandLine, DialogSpec, TextField
from foretop_core.actions.planners.backups import requested_deletion
from foretop_core.actions.plans import Plan, PlanStep, Refusal
from foretop_core.actions.step_builders import patch_step
from foretop_core.actions.validation import days_in_hours, go_duration
from foretop_core.errors import BadInput
from foretop_core.models import Backup, Resource
from foretop_core.models.kinds import BACKUP, RequiredPermission
from foretop_core.models.nonadmin import NAB_NAME_ANNOTATION
from foretop_core.rules import humanize, phases
from foretop_core.rules.humanize import read_duration, rfc3339
from foretop_core.rules.snapshot import ClusterSnapshot

_HOW = "+7d adds to what is left, 30d counts from its start, 2027-01-31 is a date"
_SECOND = timedelta(seconds=1)


class NewLifetime(msgspec.Struct, frozen=True):
    """How long from its start, how much longer than now, or until when: one of the three."""

    ttl: str = ""
    until: datetime | None = None
    more: str = ""
    """A duration that is added to the present expiration."""


def read_lifetime(text: str) -> NewLifetime:
    """`+7d` is added to what is left, `720h` counts from the start of the backup, as Velero counts.

    A date is the start of that day in UTC.
    """
    if not text.strip():
        raise BadInput("A new lifetime is needed", "", _HOW)
    if text.strip().startswith("+"):
        return NewLifetime(more=go_duration(days_in_hours(text.strip()[1:]), "The lifetime"))
    try:
        until = datetime.fromisoformat(text.strip())
    except ValueError:
        return NewLifetime(ttl=go_duration(days_in_hours(text.strip()), "The lifetime"))
    try:
        return NewLifetime(until=(until if until.tzinfo else until.replace(tzinfo=UTC)).astimezone(UTC))
    except OverflowError:
        raise BadInput(f"{text.strip()!r} is out of range", "", _HOW) from None


def plan_extend(snapshot: ClusterSnapshot, backups: Iterable[Backup], request: NewLifetime, now: datetime) -> Plan:
    """Spec and status in one patch: Velero reads the expiration alone, and a person reads the TTL."""
    steps: list[PlanStep] = []
    refused: list[Refusal] = []
    for backup in backups:
        why = EXTEND_BACKUP.applies(backup, lambda: False) or requested_deletion(snapshot, backup)
        if why:
            refused.append(Refusal(snapshot.ref(backup), why))
        else:
            steps.append(_step(snapshot, backup, request, now))
    return Plan(EXTEND_BACKUP, now, tuple(steps), tuple(refused))


def _step(snapshot: ClusterSnapshot, backup: Backup, request: NewLifetime, now: datetime) -> PlanStep:
    begun = backup.started or backup.metadata.creation_timestamp or now
    ttl, until = _new(begun, request, max(backup.status.expiration or now, now))
    if until <= now:
        raise BadInput(f"{backup.name} would expire {humanize.time(until, now)}", "that is over", _HOW)
    old = backup.status.expiration
    patch = {"spec": {"ttl": ttl}, "status": {"expiration": rfc3339(until)}}
    before = {"spec": {"ttl": backup.spec.ttl}, "status": {"expiration": rfc3339(old)}}
    warnings = []
    if old is not None and until < old:
        warnings.append(f"That is {humanize.duration(old - until)} earlier than before.")
    if backup.annotation(NAB_NAME_ANNOTATION):
        warnings.append("It belongs to a tenant's NAB.")
    text = f"it expires {humanize.time(until, now)}, in {humanize.duration(until - now)}"
    forecast = f"{text}, and not {humanize.time(old, now)}" if old is not None else text
    where = snapshot.ref(backup)
    return patch_step(where, backup, patch, before, forecast, tuple(warnings))


def _new(begun: datetime, request: NewLifetime, expires: datetime) -> tuple[str, datetime]:
    """The TTL as Go writes it, counted from the start, and the moment that it comes to; more is added to `expires`."""
    if request.until is not None:
        length = request.until - begun
    elif request.more:
        length = expires - begun + (read_duration(request.more) or timedelta())
    else:
        length = read_duration(request.ttl) or timedelta()
    seconds = max(length // _SECOND, 0)
    try:
        until = (begun + seconds * _SECOND).replace(microsecond=0)
    except OverflowError:
        raise BadInput(f"{request.ttl or request.more} is out of range", "", _HOW) from None
    return f"{seconds // 3600}h{seconds // 60 % 60}m{seconds % 60}s", until


def _is_kept(item: Resource, _moves: Callable[[], bool]) -> str:
    phase = item.phase if isinstance(item, Backup) else ""
    if item.metadata.deletion_timestamp is not None or phase == "Deleting":
        return "it is being deleted"
    return "" if phase in phases.USABLE else f"there is nothing to keep in it ({phase or 'New'})"


def _current(backup: Backup, now: datetime) -> str:
    if backup.status.expiration is None:
        return "It has no expiration."
    return f"it expires {humanize.time(backup.status.expiration, now)} (TTL {backup.spec.ttl})"


EXTEND_BACKUP = ActionRecord(
    170,
    "extend-backup",
    "Extend its life",
    "v",
    (BACKUP,),
    (RequiredPermission("patch", BACKUP),),
    plan_extend,
    many=True,
    applies=_is_kept,
    short="extend",
    footer=LATE,
    words=("ttl", "expiration", "keep"),
    dialog=DialogSpec(
        "Extend the life of {}",
        "Extend",
        fields=(TextField("request", "Keep", "+7d for more, 30d from its start, 2027-01-31", read_lifetime),),
        current=_current,
    ),
    commands=(CommandLine("backup extend", "foretop backup extend nightly-20261115010012 --ttl 2160h"),),
    purpose="extend the life of backups",
)
