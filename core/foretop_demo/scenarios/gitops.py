"""Schedules that are kept in Git: Argo CD puts back what is changed by hand, and counts copied labels as its own."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.controllers.gitops import MANAGER, GitOpsController
from foretop_demo.kinds import Json
from foretop_demo.reconcile.writes import wire_time
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder

_LABEL = {"app.kubernetes.io/instance": "backup-policies"}
_TRACKING = "backup-policies:velero.io/Schedule:{}/{}"


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME)
    builder.location()
    server = builder.velero(concurrent=2)
    git = GitOpsController(builder.engine, HOME)
    for name, cron, by_label in (("orders-hourly", "10 * * * *", True), ("ledger-nightly", "15 1 * * *", False)):
        tracking = {"argocd.argoproj.io/tracking-id": _TRACKING.format(HOME, name)}
        meta: Json = {"labels": _LABEL} if by_label else {"annotations": tracking}
        spec: Json = {
            "schedule": cron,
            "paused": False,
            "template": {"includedNamespaces": [name.partition("-")[0]], "ttl": "720h0m0s"},
        }
        git.keep(name, {"metadata": {"name": name, "namespace": HOME, **meta}, "spec": spec})
        _applied(builder, name, meta, spec)
    builder.schedule("by-hand", "40 * * * *", ["shop"])
    server.start()
    git.start()
    builder.non_admin().start()


def _applied(builder: ScenarioBuilder, name: str, meta: Json, spec: Json) -> None:
    """As a sync of Argo CD left it a month ago, with the backups of the last hours."""
    made = builder.start - timedelta(days=30)
    owned: Json = {"f:schedule": {}, "f:paused": {}, "f:template": {}}
    entry = {
        "apiVersion": "velero.io/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": owned},
        "manager": MANAGER,
        "operation": "Update",
        "time": wire_time(made),
    }
    builder.schedule(name, str(spec["schedule"]), list(spec["template"]["includedNamespaces"]), runs=4)
    builder.adopt("Schedule", HOME, name, {**meta, "managedFields": [entry]}, spec)
