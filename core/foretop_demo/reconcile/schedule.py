"""Velero's schedule controller: the writes of one reconcile of a Schedule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from foretop_core.cron import CronError, Dialect
from foretop_core.models import Backup, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.models.velero import SCHEDULE_LABEL
from foretop_core.models.wire import OwnerReference
from foretop_core.rules import forecast
from foretop_core.rules.cron_dialects import expression
from foretop_demo.reconcile.specs import backup_fields
from foretop_demo.reconcile.writes import Behaviour, Create, Patch, Reconciled, wire_time


def reconcile_schedule(
    schedule: Schedule,
    backups: Sequence[Backup],
    now: datetime,
    dialect: Dialect,
    server_default: bool = False,
    behaviour: Behaviour = Behaviour.RELEASED,
    zone: tzinfo = UTC,
    keeps_errors: bool = False,
) -> Reconciled:
    """The next step of a Schedule, on change and once a minute, on a server with this dialect.

    First the phase and the used skipImmediately, in one patch; then, if due and not blocked, a Backup and
    lastBackup. `server_default_used` reports that the released bug has set the server's default to false. With
    `keeps_errors` the errors of a schedule that is valid by now stay in its status.
    """
    if schedule.spec.paused:
        return Reconciled()
    errors = _errors(schedule, dialect)
    skip, used = _use_skip(schedule, server_default, now, behaviour)
    patch = _first_pass(schedule, errors, skip, keeps_errors)
    if patch:
        write = Patch(SCHEDULE, schedule.namespace, schedule.name, patch)
        return Reconciled((write,), server_default_used=used)
    if errors:
        return Reconciled(problem=errors[0])
    if not forecast.is_due(schedule, now, dialect, zone) or forecast.blocker(schedule, backups) is not None:
        return Reconciled()
    return _submit(schedule, backups, now.astimezone(zone))


def _errors(schedule: Schedule, dialect: Dialect) -> tuple[str, ...]:
    if not schedule.spec.schedule:
        return ("Schedule must be a non-empty valid Cron expression",)
    parsed = expression(schedule.spec.schedule, dialect)
    return (f"invalid schedule: {parsed}",) if isinstance(parsed, CronError) else ()


def _use_skip(
    schedule: Schedule, server_default: bool, now: datetime, behaviour: Behaviour
) -> tuple[dict[str, Any], bool]:
    """The patch of skipImmediately in this reconcile, and whether the server's default of true was used.

    The seed applies the default to new schedules only and clears a used field; releases set it to false.
    """
    field = schedule.spec.skip_immediately
    seed = behaviour is Behaviour.SEED
    if field is None and seed and schedule.phase not in {"", "New"}:
        return {}, False
    skips = server_default if field is None else field
    if not skips:
        return ({"spec": {"skipImmediately": False}} if field is None else {}), False
    status = {"status": {"lastSkipped": wire_time(now)}}
    if seed:
        return ({"spec": {"skipImmediately": None}, **status} if field else status), False
    return {"spec": {"skipImmediately": False}, **status}, field is None


def _first_pass(
    schedule: Schedule, errors: tuple[str, ...], skip: dict[str, Any], keeps_errors: bool
) -> dict[str, Any]:
    phase = "FailedValidation" if errors else "Enabled"
    status: dict[str, Any] = dict(skip.get("status", {}))
    if schedule.phase != phase:
        status["phase"] = phase
    if schedule.status.validation_errors != errors and (errors or not keeps_errors):
        status["validationErrors"] = list(errors) or None
    return {**skip, **({"status": status} if status else {})}


def _submit(schedule: Schedule, backups: Sequence[Backup], now: datetime) -> Reconciled:
    """A Backup and the new lastBackup; neither if the name is already taken in the same second."""
    name = f"{schedule.name}-{now:%Y%m%d%H%M%S}"
    if any((entry.namespace, entry.name) == (schedule.namespace, name) for entry in backups):
        return Reconciled(problem=f'backups.velero.io "{name}" already exists')
    template = schedule.spec.template
    labels = template.metadata.get("labels") or schedule.metadata.labels
    create = Create(
        BACKUP,
        schedule.namespace,
        name,
        backup_fields(template),
        labels={**labels, SCHEDULE_LABEL: schedule.name},
        annotations=dict(schedule.metadata.annotations),
        owner_references=_owner(schedule),
    )
    said = Patch(SCHEDULE, schedule.namespace, schedule.name, {"status": {"lastBackup": wire_time(now)}})
    return Reconciled((create, said))


def _owner(schedule: Schedule) -> tuple[OwnerReference, ...]:
    if not schedule.spec.use_owner_references_in_backup:
        return ()
    owner = OwnerReference(
        api_version=SCHEDULE.api_version,
        kind=SCHEDULE.name,
        name=schedule.name,
        uid=schedule.metadata.uid,
        controller=True,
    )
    return (owner,)
