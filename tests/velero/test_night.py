"""The coming hours of a real Velero, foretold again and again, beside what it then did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from foretop_core.rules.build_snapshot import assemble
from foretop_core.rules.night.night import night
from foretop_core.rules.night.outlook import outlook
from tests.agreement.beside_velero import listed
from tests.judged_forecasts import Side, ToldRun, judged_runs, told_runs
from tests.velero.forecasts import Forecast, Verdict
from tests.velero.real_cluster import RealVeleroCluster
from tests.velero.stories import wait_until_available
from tests.velero.velero_cluster import TEAMS, VELERO_NAMESPACE, ServerFlags, StorySteps

_SCHEDULES = {
    "every": "* * * * *",
    "even": "*/2 * * * *",
    "odd": "1-59/2 * * * *",
    "third": "*/3 * * * *",
    "fourth": "*/4 * * * *",
    "fifth": "*/5 * * * *",
}
_LEARNS, _FORETOLD, _EVERY = timedelta(minutes=3), timedelta(minutes=8), timedelta(seconds=30)
_FEWEST, _SHARE = 12, 0.75
"""Ranges should hold nine in ten; runs share one queue, so that several fall outside together."""


def _foretell(cluster: RealVeleroCluster, told: dict[object, ToldRun]) -> None:
    """Notes what is told first of each run, as foretop does."""
    seen = listed(cluster.api_server.admin, "night", "")
    ahead = night(assemble(list(seen.objects)), VELERO_NAMESPACE, seen.now, timedelta(minutes=10))
    assert ahead.slots == 2
    for run in told_runs("", outlook(ahead)):
        told.setdefault(run.key, run)


def _foretell_for(cluster: RealVeleroCluster, length: timedelta, told: dict[object, ToldRun]) -> None:
    end = cluster.now() + length
    while cluster.now() < end:
        _foretell(cluster, told)
        cluster.wait(_EVERY.total_seconds())


def _judged(cluster: RealVeleroCluster, told: dict[object, ToldRun], killed: datetime) -> Iterator[Verdict]:
    """Judges starts and ends: what was told before a restart, of a run that had not ended by then, is void."""
    seen = listed(cluster.api_server.admin, "night", "")
    for one in judged_runs(assemble(list(seen.objects)), told.values()):
        run = one.told
        is_void = run.told < killed <= run.end[1]
        for field, side, (first, last) in (("night start", one.start, run.start), ("night end", one.end, run.end)):
            forecast = Forecast(run.told, field, run.schedule, first)
            outcome = "open" if side is None else "kept" if side is Side.INSIDE else "broken"
            why = f"{side}, told until {last:%H:%M:%S}" if outcome == "broken" else ""
            yield Verdict(forecast, "void", "Velero was killed") if is_void else Verdict(forecast, outcome, why)


@pytest.mark.seconds(760)
def test_starts_and_ends_fall_inside_their_ranges_before_and_after_a_restart(
    cluster: RealVeleroCluster, verdicts: list[tuple[str, Verdict]]
) -> None:
    steps, flags = StorySteps(cluster), ServerFlags(concurrent_backups=2)
    cluster.start(flags)
    wait_until_available(steps)
    for number, (name, cron) in enumerate(_SCHEDULES.items()):
        steps.schedule(name, cron, TEAMS[number % len(TEAMS)])
    cluster.wait(_LEARNS.total_seconds())
    told: dict[object, ToldRun] = {}
    _foretell_for(cluster, _FORETOLD / 2, told)
    killed = cluster.now()
    cluster.kill()
    cluster.wait(10)
    cluster.start(flags)
    _foretell_for(cluster, _FORETOLD / 2, told)
    cluster.wait(60)
    steps.wait_until_idle()
    found = list(_judged(cluster, told, killed))
    verdicts.extend(("night", verdict) for verdict in found)
    assert any(verdict.forecast.made_at > killed for verdict in found if verdict.outcome == "kept")
    for field in ("night start", "night end"):
        counts = Counter(verdict.outcome for verdict in found if verdict.forecast.field == field)
        judged = counts["kept"] + counts["broken"]
        print(f"{field}: {counts['kept']} of {judged} inside")
        assert judged >= _FEWEST, counts
        assert counts["kept"] >= _SHARE * judged, [verdict for verdict in found if verdict.outcome == "broken"]
