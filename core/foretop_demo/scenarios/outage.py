"""Object storage does not answer: backups hang, the queue is stalled, Velero shows no activity."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder
from foretop_demo.scenarios.tenant_activity import app_name

_TEAMS = ("team-pay", "team-shop", "team-ml", "team-search")
_DOWN_FOR = timedelta(minutes=9)


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME, *_TEAMS)
    builder.location()
    server = builder.velero(concurrent=2)
    for number, name in enumerate(("etcd", "orders", "mail", "stock", "sessions", "wiki")):
        minute = (builder.start.minute - 8 + 3 * number) % 60
        builder.schedule(f"{name}-hourly", f"{minute} * * * *", [name], ttl=timedelta(days=2))
    for number in range(12):
        started = builder.now - timedelta(minutes=50 + 61 * number)
        builder.past_nab(_TEAMS[number % 4], f"{app_name(number)}-{started:%d%H%M}", started)
    server.start()
    builder.non_admin().start()
    builder.at(builder.start - _DOWN_FOR, builder.buckets.stop)
    for number, team in enumerate(_TEAMS):
        asked = builder.start - _DOWN_FOR + timedelta(seconds=20 + 40 * number)
        builder.create_at(asked, "NonAdminBackup", team, f"before-upgrade-{number}", {"backupSpec": {}})
