"""The texts of dialogs and of what is stale follow the zone that is chosen for the screen."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

import pytest

from foretop.app import Dashboard
from foretop.panes.stale_notice import as_of
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, NAB, NAR, RESTORE, SCHEDULE, STORAGE
from foretop_core.rules.sentences import sentence
from foretop_core.rules.snapshot import VisibilityGap
from foretop_core.tables.text.times import TimeZoneMode, TimeZoneSetting
from tests.objects import NOW
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import FilledSource, troubled

BERLIN = ZoneInfo("Europe/Berlin")
IN_UTC = re.compile(r"\d\d:\d\d(?::\d\d)?Z\b")


@pytest.mark.sweep
async def test_a_dialog_writes_its_times_in_the_chosen_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dashboard, "my_zone", BERLIN)
    async with stand("quiet") as at:
        await at.go("2", at.key(SCHEDULE, "mail"))
        await at.shown.press("t")
        name = re.search(r"mail-\d+", at.shown.text)
        await at.shown.press("escape", "Z", "s")
        await at.see("the run of", "CET will not start")
        assert at.dialog.planned is not None
        (step,) = at.dialog.planned.plan.steps
        assert not IN_UTC.search(str(step.forecast)), "what is written to the object stays in UTC"
        await at.shown.press("escape", "t")
        again = re.search(r"mail-\d+", at.shown.text)
        assert name is not None
        assert again is not None
        assert again.group()[:13] == name.group()[:13], "names are in UTC, as Velero writes them"


def test_what_is_stale_is_so_since_a_time_in_the_chosen_zone() -> None:
    source = FilledSource(troubled())
    state = DashboardState(source, lambda: 0.0)
    for kind in (SCHEDULE, BACKUP, RESTORE, STORAGE, NAB, NAR, DEPLOYMENT):
        source.fare(kind, WatchState.STALE, "connection refused")
    state.zoning = TimeZoneSetting(TimeZoneMode.MINE, BERLIN)
    assert re.fullmatch(r"as of \d\d:\d\d:\d\d CET", as_of(state))
    gap = VisibilityGap("prod", "Schedule", sentence("stale since ", NOW))
    assert gap.why().endswith("Z")
    assert gap.why(BERLIN).endswith(" CET")
