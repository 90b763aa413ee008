"""The Velero server is down: no sign of activity, overdue schedules, and requests that nobody picks up."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder
from foretop_demo.scenarios.velero_pods import crash_server

_DEAD_FOR = timedelta(minutes=14)
_WHY = "An error occurred: unable to create plugin client: exec format error"


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME, "team-pay", "team-shop")
    builder.location()
    server = builder.velero(concurrent=2)
    for number, name in enumerate(("etcd", "orders", "mail", "stock")):
        minute = (builder.start.minute - 15 + 4 * number) % 60
        builder.schedule(f"{name}-hourly", f"{minute} * * * *", [name], ttl=timedelta(days=2))
    builder.schedule("warehouse", "0 1 * * *", ["warehouse"])
    for number in range(6):
        builder.past_nab("team-pay", f"ledger-{number}", builder.now - timedelta(hours=2 + 7 * number))
    server.start()
    builder.non_admin().start()
    builder.create("NonAdminBackup", "team-pay", "ledger", {"backupSpec": {}})
    builder.at(builder.start - _DEAD_FOR, server.kill)
    asked = builder.start - timedelta(minutes=6)
    builder.create_at(asked, "NonAdminBackup", "team-shop", "carts", {"backupSpec": {}})
    builder.at(builder.start - _DEAD_FOR, lambda: _crash(builder))


def _crash(builder: ScenarioBuilder) -> None:
    builder.set_status("Deployment", HOME, "velero", {"readyReplicas": 0})
    crash_server(builder.engine.storage, HOME, builder.now, _WHY)
