"""The Velero server is gone: no pulse, schedules overdue, and nobody takes up what is asked for."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.minicluster.scenarios.scenario_builder import HOME, ScenarioBuilder

_DEAD_FOR = timedelta(minutes=14)


def set_up(stage: ScenarioBuilder) -> None:
    stage.namespace(HOME, "team-pay", "team-shop")
    stage.location()
    server = stage.velero(concurrent=2)
    for number, name in enumerate(("etcd", "orders", "mail", "stock")):
        minute = (stage.start.minute - 15 + 4 * number) % 60
        stage.schedule(f"{name}-hourly", f"{minute} * * * *", [name], ttl=timedelta(days=2))
    stage.schedule("warehouse", "0 1 * * *", ["warehouse"])
    for number in range(6):
        stage.past_nab("team-pay", f"ledger-{number}", stage.now - timedelta(hours=2 + 7 * number))
    server.start()
    stage.non_admin().start()
    stage.ask("NonAdminBackup", "team-pay", "ledger", {"backupSpec": {}})
    stage.at(stage.start - _DEAD_FOR, server.kill)
    asked = stage.start - timedelta(minutes=6)
    stage.ask_at(asked, "NonAdminBackup", "team-shop", "carts", {"backupSpec": {}})
    stage.at(stage.start - _DEAD_FOR, lambda: stage.set_status("Deployment", HOME, "velero", {"readyReplicas": 0}))
