"""Ten thousand non-admin backups in two hundred namespaces, most of them finished."""

from __future__ import annotations

from datetime import timedelta

from foretop_demo.controllers.simulated_runs import SimulatedRun
from foretop_demo.scenarios.scenario_builder import HOME, ScenarioBuilder
from foretop_demo.scenarios.tenant_activity import app_name, teams_create_backups

COUNT = 10_000
_TEAMS = tuple(f"team-{number:03}" for number in range(200))


def set_up(builder: ScenarioBuilder) -> None:
    builder.namespace(HOME, *_TEAMS)
    builder.location()
    server = builder.velero(concurrent=4)
    for number in range(60):
        builder.schedule(f"nightly-{number:02}", f"{number} {number % 24} * * *", [f"app-{number:02}"], runs=5)
    for number in range(COUNT):
        started = builder.now - timedelta(seconds=600 + 240 * number)
        work = SimulatedRun(
            timedelta(seconds=30 + number % 200), 20 + number % 900, errors=1 if number % 97 == 0 else 0
        )
        builder.history.nab(HOME, _TEAMS[number % 200], f"{app_name(number)}-{number:05}", started, work)
    server.start()
    builder.non_admin().start()
    builder.start_process(teams_create_backups(builder, _TEAMS, waiting=8, at_most=COUNT + 20))
