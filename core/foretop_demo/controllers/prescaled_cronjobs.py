"""The prescaler operator in the box: a warm-up CronJob for every PreScaledCronJob that it can convert."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.models import CronJob, PreScaledCronJob, Resource
from foretop_core.models.kinds import CRON_JOB, PRESCALED
from foretop_demo.change_log import Key
from foretop_demo.controllers.controller_client import ControllerClient
from foretop_demo.controllers.engine import Engine
from foretop_demo.reconcile import reconcile_prescaled
from foretop_demo.reconcile.prescaled_cronjob import PREFIX

_HOP = timedelta(milliseconds=12)


class PrescalerController:
    """Reconciles a PreScaledCronJob when it changes, and when the CronJob that was made for it does."""

    def __init__(self, engine: Engine) -> None:
        self._group = engine.process_group()
        self._client = ControllerClient(engine.storage, "prescaler")

    def start(self) -> None:
        self._group.listen(PRESCALED, lambda key, old, new: self._group.enqueue(self._reconcile, key, _HOP))
        self._group.listen(CRON_JOB, self._on_job)
        for item in self._group.cache.all(PRESCALED, PreScaledCronJob):
            self._group.enqueue(self._reconcile, (item.namespace, item.name), _HOP)

    def _on_job(self, key: Key, old: Resource | None, new: Resource | None) -> None:
        if key[1].startswith(PREFIX):
            self._group.enqueue(self._reconcile, (key[0], key[1].removeprefix(PREFIX)), _HOP)

    def _reconcile(self, key: Key) -> None:
        prescaled = self._group.cache.get(PRESCALED, key, PreScaledCronJob)
        if prescaled is not None:
            job = self._group.cache.get(CRON_JOB, (key[0], f"{PREFIX}{key[1]}"), CronJob)
            self._client.apply(reconcile_prescaled(prescaled, [job] if job is not None else []).writes)
