"""The prescaler operator in the box: a CronJob that warms the nodes for every PreScaledCronJob it can convert."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.minicluster.change_log import Key
from foretop_core.minicluster.controllers.controller_client import ControllerClient
from foretop_core.minicluster.controllers.engine import Engine
from foretop_core.minicluster.reconcile import reconcile_prescaled
from foretop_core.minicluster.reconcile.prescaled import PREFIX
from foretop_core.models import CronJob, PreScaledCronJob, Resource
from foretop_core.models.kinds import CRON_JOB, PRESCALED

_HOP = timedelta(milliseconds=12)


class PrescalerController:
    """Looks at a PreScaledCronJob when it changes, and when the CronJob that it made does."""

    def __init__(self, engine: Engine) -> None:
        self._scope = engine.scope()
        self._hand = ControllerClient(engine.storage, "prescaler")

    def start(self) -> None:
        self._scope.hear(PRESCALED, lambda key, old, new: self._scope.look(self._look, key, _HOP))
        self._scope.hear(CRON_JOB, self._heard_job)
        for item in self._scope.cabinet.all(PRESCALED, PreScaledCronJob):
            self._scope.look(self._look, (item.namespace, item.name), _HOP)

    def _heard_job(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if key[1].startswith(PREFIX):
            self._scope.look(self._look, (key[0], key[1].removeprefix(PREFIX)), _HOP)

    def _look(self, key: Key) -> None:
        prescaled = self._scope.cabinet.get(PRESCALED, key, PreScaledCronJob)
        if prescaled is not None:
            job = self._scope.cabinet.get(CRON_JOB, (key[0], f"{PREFIX}{key[1]}"), CronJob)
            self._hand.apply(reconcile_prescaled(prescaled, [job] if job is not None else []).writes)
