"""Velero's schedule controller in the box: a reconcile on every spec change, and of all schedules once a minute."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.cron import Dialect
from foretop_core.models import Backup, Resource, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.rules import forecast
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import ProcessGroup
from foretop_demo.reconcile import Behaviour, Patch, reconcile_schedule

_HOP = timedelta(milliseconds=9)


class ScheduleController:
    """Reconciles schedules. Its server default for skipImmediately is set to false by releases at its first use."""

    def __init__(
        self,
        group: ProcessGroup,
        client: ControllerClient,
        namespace: str,
        dialect: Dialect,
        skip_default: bool,
        behaviour: Behaviour,
        keeps_errors: bool,
    ) -> None:
        self._group = group
        self._client = client
        self._namespace = namespace
        self._dialect = dialect
        self.skip_default = skip_default
        self._behaviour = behaviour
        self._keeps_errors = keeps_errors
        self._not_due_until: dict[Key, tuple[Schedule, float]] = {}
        group.listen(SCHEDULE, self._on_change)

    def reconcile_all(self) -> None:
        """The once-a-minute pass."""
        now = self._group.now().timestamp()
        for schedule in sorted(self._group.cache.all(SCHEDULE, Schedule), key=lambda item: item.name):
            key = (schedule.namespace, schedule.name)
            not_due = self._not_due_until.get(key)
            if schedule.namespace != self._namespace or (not_due and not_due[0] is schedule and now <= not_due[1]):
                continue
            self.reconcile(key)

    def reconcile(self, key: Key) -> None:
        """Reconcile until nothing is left to write: first the phase and the skip, then the backup."""
        while (schedule := self._group.cache.get(SCHEDULE, key, Schedule)) is not None:
            runs = self._group.cache.under(BACKUP, "schedule", "/".join(key), Backup)
            answer = reconcile_schedule(
                schedule,
                runs,
                self._group.now(),
                self._dialect,
                self.skip_default,
                self._behaviour,
                keeps_errors=self._keeps_errors,
            )
            if answer.server_default_used:
                self.skip_default = False
            refused = self._client.apply(answer.writes)
            if not answer.writes:
                self._mark_not_due(key, schedule)
            if refused or not self._is_first_step(answer.writes):
                return

    def _is_first_step(self, writes: tuple[object, ...]) -> bool:
        return len(writes) == 1 and isinstance(writes[0], Patch)

    def _mark_not_due(self, key: Key, schedule: Schedule) -> None:
        """Remember that an unchanged schedule needs no reconcile until its next run."""
        run = forecast.next_run(schedule, self._dialect)
        if run is not None:
            self._not_due_until[key] = (schedule, run.timestamp())

    def _on_change(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if not isinstance(new, Schedule):
            self._not_due_until.pop(key, None)
            return
        unchanged = isinstance(old, Schedule) and old.spec == new.spec
        if key[0] == self._namespace and not unchanged and not new.spec.paused:
            self._group.enqueue(self.reconcile, key, _HOP)
