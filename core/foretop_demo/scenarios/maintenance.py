"""All schedules are paused for an upgrade that is nearly done; several will be due at once."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder

_SCHEDULES = (
    ("etcd-hourly", "0 * * * *"),
    ("orders-hourly", "20 * * * *"),
    ("mail-30m", "*/30 * * * *"),
    ("sessions-15m", "*/15 * * * *"),
    ("warehouse-nightly", "30 1 * * *"),
    ("ledger-nightly", "15 2 * * *"),
    ("wiki-nightly", "0 5 * * *"),
    ("audit-weekly", "0 3 * * 1"),
    ("legal-monthly", "0 6 1 * *"),
)


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME)
    builder.location()
    server = builder.velero()
    for number, (name, cron) in enumerate(_SCHEDULES):
        skip = (False, None, True)[number % 3]
        since = builder.start - timedelta(hours=2, minutes=3 * number)
        builder.schedule(name, cron, [name.partition("-")[0]], paused_since=since, skip=skip)
    made_paused = {"schedule": "*/10 * * * *", "paused": True, "template": {"includedNamespaces": ["shop"]}}
    builder.create("Schedule", HOME, "made-paused", made_paused)
    server.start()
    builder.non_admin().start()
