"""Velero's schedule controller in the box: a look on every change of a spec, and at all of them once a minute."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.cron import Dialect
from foretop_core.minicluster.change_log import Key
from foretop_core.minicluster.controllers.controller_client import ControllerClient
from foretop_core.minicluster.controllers.engine import ProcessGroup
from foretop_core.minicluster.reconcile import Behaviour, Patch, reconcile_schedule
from foretop_core.models import Backup, Resource, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.rules import forecast

_HOP = timedelta(milliseconds=9)


class ScheduleController:
    """Keeps the server's default for skipImmediately, which releases turn to false at its first use."""

    def __init__(
        self,
        scope: ProcessGroup,
        hand: ControllerClient,
        namespace: str,
        dialect: Dialect,
        skip_default: bool,
        behaviour: Behaviour,
    ) -> None:
        self._scope = scope
        self._hand = hand
        self._namespace = namespace
        self._dialect = dialect
        self.skip_default = skip_default
        self._behaviour = behaviour
        self._rests: dict[Key, tuple[Schedule, float]] = {}
        scope.hear(SCHEDULE, self._heard)

    def look_at_all(self) -> None:
        """The once-a-minute pass."""
        now = self._scope.now().timestamp()
        for schedule in sorted(self._scope.cabinet.all(SCHEDULE, Schedule), key=lambda item: item.name):
            key = (schedule.namespace, schedule.name)
            rest = self._rests.get(key)
            if schedule.namespace != self._namespace or (rest and rest[0] is schedule and now <= rest[1]):
                continue
            self.look(key)

    def look(self, key: Key) -> None:
        """Judge until nothing is left to write: first the phase and the skip, then the backup."""
        while (schedule := self._scope.cabinet.get(SCHEDULE, key, Schedule)) is not None:
            runs = self._scope.cabinet.under(BACKUP, "schedule", "/".join(key), Backup)
            answer = reconcile_schedule(
                schedule, runs, self._scope.now(), self._dialect, self.skip_default, self._behaviour
            )
            if answer.server_default_used:
                self.skip_default = False
            refused = self._hand.apply(answer.writes)
            if not answer.writes:
                self._rest(key, schedule)
            if refused or not self._is_first_step(answer.writes):
                return

    def _is_first_step(self, writes: tuple[object, ...]) -> bool:
        return len(writes) == 1 and isinstance(writes[0], Patch)

    def _rest(self, key: Key, schedule: Schedule) -> None:
        """Until its next run an unchanged schedule needs no look."""
        run = forecast.next_run(schedule, self._dialect)
        if run is not None:
            self._rests[key] = (schedule, run.timestamp())

    def _heard(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if not isinstance(new, Schedule):
            self._rests.pop(key, None)
            return
        unchanged = isinstance(old, Schedule) and old.spec == new.spec
        if key[0] == self._namespace and not unchanged and not new.spec.paused:
            self._scope.look(self.look, key, _HOP)
