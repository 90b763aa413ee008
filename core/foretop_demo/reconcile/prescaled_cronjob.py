"""The prescaler operator: one CronJob for each PreScaledCronJob, to warm the nodes before the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from foretop_core.cron import CronError, Dialect, parse
from foretop_core.models import CronJob, PreScaledCronJob
from foretop_core.models.kinds import CRON_JOB, PRESCALED
from foretop_core.models.wire import OwnerReference, as_json
from foretop_core.rules.prescaler import PrescalerError, prescaler
from foretop_demo.reconcile.writes import Create, Patch, Reconciled, merge_patch

PREFIX = "autogen-"


def reconcile_prescaled(prescaled: PreScaledCronJob, cron_jobs: Sequence[CronJob]) -> Reconciled:
    """The CronJob `autogen-<name>` with the primed schedule; if there is none, `problem` says why."""
    if prescaled.metadata.deletion_timestamp is not None:
        return Reconciled()
    try:
        schedule = _primed(prescaled)
    except (CronError, PrescalerError) as problem:
        return Reconciled(problem=str(problem))
    wanted: dict[str, Any] = {**as_json(prescaled.spec.cron_job.spec), "schedule": schedule}
    name = f"{PREFIX}{prescaled.name}"
    present = next((job for job in cron_jobs if (job.namespace, job.name) == (prescaled.namespace, name)), None)
    if present is None:
        create = Create(CRON_JOB, prescaled.namespace, name, wanted, owner_references=(_owner(prescaled),))
        return Reconciled((create,))
    patch = merge_patch(as_json(present.spec), {key: wanted[key] for key in wanted if key != "jobTemplate"})
    if not patch:
        return Reconciled()
    return Reconciled((Patch(CRON_JOB, prescaled.namespace, name, {"spec": patch}),))


def _primed(prescaled: PreScaledCronJob) -> str:
    """The primed schedule; one that was given by hand wins if it parses."""
    spec = prescaled.spec
    if spec.primer_schedule:
        parse(spec.primer_schedule, Dialect.ROBFIG)
        return spec.primer_schedule
    return prescaler(spec.cron_job.spec.schedule, spec.warm_up_time_mins).expression


def _owner(prescaled: PreScaledCronJob) -> OwnerReference:
    return OwnerReference(
        api_version=PRESCALED.api_version,
        kind=PRESCALED.name,
        name=prescaled.name,
        uid=prescaled.metadata.uid,
        controller=True,
    )
