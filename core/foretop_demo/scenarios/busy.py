"""The busy cluster with a past that fits its future: tenants ask as they did the day before, and keep it for a day."""

from __future__ import annotations

from datetime import datetime, timedelta

from foretop_demo.scenarios.default import SLOTS, TEAMS, servers_and_schedules, tenants_with_problems, warm_ups
from foretop_demo.scenarios.scenario_builder import ScenarioBuilder
from foretop_demo.scenarios.tenant_activity import (
    past_requests,
    teams_ask_now_and_then,
    teams_create_backups,
    teams_restore,
)

_DAY = timedelta(days=1)
_WAITING = 5


def set_up(builder: ScenarioBuilder) -> None:
    _set_up(builder)


def short_rush(builder: ScenarioBuilder) -> None:
    """Tenants who have kept the queue filled for half an hour, and do for half an hour more."""
    _set_up(builder, rush=timedelta(minutes=60))


def long_rush(builder: ScenarioBuilder) -> None:
    """The same for almost three hours in all."""
    _set_up(builder, rush=timedelta(minutes=170))


def requests_an_hour(at: datetime) -> float:
    return 10.0 if 6 <= at.hour < 20 else 5.0


def _set_up(builder: ScenarioBuilder, rush: timedelta | None = None) -> None:
    server = servers_and_schedules(builder)
    past_requests(builder, TEAMS, requests_an_hour, _DAY, SLOTS)
    tenants_with_problems(builder)
    warm_ups(builder)
    server.start()
    builder.non_admin().start()
    builder.start_process(teams_ask_now_and_then(builder, TEAMS, requests_an_hour, kept=_DAY))
    if rush is not None:
        until = builder.now + rush
        builder.start_process(teams_create_backups(builder, TEAMS, _WAITING, at_most=None, until=until))
    builder.start_process(teams_restore(builder, timedelta(minutes=20), at_most=15))
