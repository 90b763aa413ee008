"""The kinds around the backups: cron jobs, events, and the Deployment that shows Velero's flags."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from foretop_core.models.wire import NONE, Resource, Time, Wire


class CronJobSpec(Wire, frozen=True):
    schedule: str = ""
    time_zone: str = ""
    suspend: bool = False


class CronJobStatus(Wire, frozen=True):
    last_schedule_time: Time | None = None
    last_successful_time: Time | None = None


class CronJob(Resource, frozen=True):
    spec: CronJobSpec = CronJobSpec()
    status: CronJobStatus = CronJobStatus()


class PrimedSpec(CronJobSpec, frozen=True):
    """What a PreScaledCronJob wants run, whole, so that it can be written out again."""

    job_template: Mapping[str, Any] = NONE


class CronJobTemplate(Wire, frozen=True):
    spec: PrimedSpec = PrimedSpec()


class PreScaledCronJobSpec(Wire, frozen=True):
    warm_up_time_mins: int = 0
    primer_schedule: str = ""
    cron_job: CronJobTemplate = CronJobTemplate()


class PreScaledCronJob(Resource, frozen=True):
    spec: PreScaledCronJobSpec = PreScaledCronJobSpec()


class ObjectReference(Wire, frozen=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Event(Resource, frozen=True):
    involved_object: ObjectReference = ObjectReference()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int = 1
    first_timestamp: Time | None = None
    last_timestamp: Time | None = None
    event_time: Time | None = None

    @property
    def seen(self) -> datetime | None:
        return self.last_timestamp or self.event_time or self.first_timestamp or self.created


class Container(Wire, frozen=True):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()


class PodSpec(Wire, frozen=True):
    containers: tuple[Container, ...] = ()


class PodTemplate(Wire, frozen=True):
    spec: PodSpec = PodSpec()


class DeploymentSpec(Wire, frozen=True):
    template: PodTemplate = PodTemplate()


class Deployment(Resource, frozen=True):
    spec: DeploymentSpec = DeploymentSpec()
