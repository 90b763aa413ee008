"""Ten thousand non-admin backups in two hundred namespaces, most of them long done."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.minicluster.controllers.simulated_runs import SimulatedRun
from foretop_core.minicluster.scenarios.scenario_builder import HOME, ScenarioBuilder
from foretop_core.minicluster.scenarios.tenant_activity import app_name, teams_ask

COUNT = 10_000
_TEAMS = tuple(f"team-{number:03}" for number in range(200))


def set_up(stage: ScenarioBuilder) -> None:
    stage.namespace(HOME, *_TEAMS)
    stage.location()
    server = stage.velero(concurrent=4)
    for number in range(60):
        stage.schedule(f"nightly-{number:02}", f"{number} {number % 24} * * *", [f"app-{number:02}"], runs=5)
    for number in range(COUNT):
        started = stage.now - timedelta(seconds=600 + 240 * number)
        work = SimulatedRun(
            timedelta(seconds=30 + number % 200), 20 + number % 900, errors=1 if number % 97 == 0 else 0
        )
        stage.past.nab(HOME, _TEAMS[number % 200], f"{app_name(number)}-{number:05}", started, work)
    server.start()
    stage.non_admin().start()
    stage.play(teams_ask(stage, _TEAMS, waiting=8, at_most=COUNT + 20))
