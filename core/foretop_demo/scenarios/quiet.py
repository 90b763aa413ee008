"""A calm afternoon: a few healthy schedules and an empty queue."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.controllers.simulated_runs import SimulatedRun
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME, "team-pay", "team-shop")
    builder.location()
    server = builder.velero()
    for number, name in enumerate(("etcd", "orders", "wiki", "ledger", "mail")):
        at = builder.start + timedelta(minutes=20 + 31 * number)
        builder.work[name] = SimulatedRun(timedelta(seconds=45 + 20 * number), 300 + 90 * number)
        builder.schedule(name, f"{at.minute} {at.hour} * * *", [name])
    for number, team in enumerate(("team-pay", "team-shop")):
        started = builder.now - timedelta(hours=5 + number)
        builder.past_nab(team, f"before-release-{number}", started)
    server.start()
    builder.non_admin().start()
