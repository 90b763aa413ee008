"""What a write led to is printed with the names of the objects where there are several."""

from __future__ import annotations

import pytest

from foretop.commands.action_reporter import ActionReporter
from foretop_core.actions.plan_executor import Outcome, Result
from foretop_core.actions.planners.pausing import PauseRequest, plan_pause
from foretop_core.rules.snapshot import ClusterSnapshot
from tests.objects import NOW, schedule


@pytest.mark.parametrize(
    ("names", "told"), [(("a", "b"), ["  a: picked up", "  b: picked up"]), (("a",), ["  picked up"])]
)
def test_what_is_waited_for_names_each_of_several(
    names: tuple[str, ...], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    schedules = [schedule(name, "0 * * * *") for name in names]
    plan = plan_pause(ClusterSnapshot("prod"), schedules, PauseRequest("maria", "w1", "", None), NOW)
    reporter = ActionReporter("text", "prod", asks=False)
    for step in plan.steps:
        reporter.result(Result(step, Outcome.DONE))
    for step in plan.steps:
        reporter.news(step, "picked up")
    assert [line for line in capsys.readouterr().out.splitlines() if "picked up" in line] == told
