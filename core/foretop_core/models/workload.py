"""The kinds around backups: cron jobs, events, and the objects that show Velero's flags and release."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

import msgspec

from foretop_core.models.wire import NONE, Count, Resource, Time, Wire

MOST_WARM_UP_MINUTES = 7 * 24 * 60
"""Nobody keeps nodes warm for longer than a week before a run."""


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
    """The whole job spec of a PreScaledCronJob, so that it can be written back unchanged."""

    job_template: Mapping[str, Any] = NONE


class CronJobTemplate(Wire, frozen=True):
    spec: PrimedSpec = PrimedSpec()


WarmUpMinutes = Annotated[int, msgspec.Meta(ge=0, le=MOST_WARM_UP_MINUTES)]


class PreScaledCronJobSpec(Wire, frozen=True):
    warm_up_time_mins: WarmUpMinutes = 0
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
    count: Count = 1
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


class StatusSchema(Wire, frozen=True):
    properties: Mapping[str, Any] = NONE


class ObjectProperties(Wire, frozen=True):
    status: StatusSchema = StatusSchema()


class ObjectSchema(Wire, frozen=True):
    properties: ObjectProperties = ObjectProperties()


class Validation(Wire, frozen=True):
    schema: ObjectSchema = msgspec.field(default=ObjectSchema(), name="openAPIV3Schema")


class DefinitionVersion(Wire, frozen=True):
    validation: Validation = msgspec.field(default=Validation(), name="schema")


class DefinitionSpec(Wire, frozen=True):
    versions: tuple[DefinitionVersion, ...] = ()


class CustomResourceDefinition(Resource, frozen=True):
    """The part of a CRD that lists the status fields of its kind."""

    spec: DefinitionSpec = DefinitionSpec()

    @property
    def status_fields(self) -> frozenset[str]:
        return frozenset(
            field for version in self.spec.versions for field in version.validation.schema.properties.status.properties
        )
