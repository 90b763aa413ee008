"""The rows of a page of very many objects, which are made some at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models.kinds import NAB
from foretop_core.store.store import MOST_AT_ONCE
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import View
from foretop_core.tables.resources.nonadmin import NonAdminView
from foretop_core.tables.resources.queue import QueueView
from foretop_core.tables.resources.runs import BackupsView
from tests.counted_work import calls
from tests.crowds import nabs_of_one_team, waiting
from tests.examples import sampled
from tests.tui.fake_source import CONTEXT, FilledSource


@pytest.mark.parametrize("count", sampled((3_000, 10_000, 50_000), 3_000))
@pytest.mark.parametrize("view", [QueueView, NonAdminView, BackupsView])
def test_a_page_of_very_many_is_made_in_steps_of_the_same_work(view: Callable[[], View[Any]], count: int) -> None:
    few, many = _steps(view(), 1_000), _steps(view(), count)
    assert len(many) > len(few) > 2
    assert max(many) <= 1.2 * max(few)


def _steps(view: View[Any], count: int) -> list[int]:
    """How many functions each step calls in which the page of a view is made."""
    source, left = FilledSource(nabs_of_one_team(count)), list[Callable[[], None]]()
    state, pages = DashboardState(source, lambda: 0.0, beside=left.append), list[StoreTableModel]()
    state.render_context(CONTEXT).line("velero")
    while left:
        left.pop()()
    state.begin_frame()
    state.render_context(CONTEXT).line("velero")
    made = [calls(lambda: pages.append(StoreTableModel(state, view, worst_first=True)))]
    (page,) = pages
    while page.table.due:
        made.append(calls(page.table.bring))
    return made


def test_a_page_made_in_steps_has_the_rows_and_the_order_of_one_made_at_once() -> None:
    source = FilledSource(nabs_of_one_team(MOST_AT_ONCE))
    state = DashboardState(source, lambda: 0.0)
    page, whole = (StoreTableModel(state, NonAdminView(), worst_first=True) for _ in range(2))
    whole.table.bring_all()
    wanted = [key for key, _ in whole.table]
    assert 0 < len(page.table) < len(wanted)
    page.table.bring_one(wanted[-1])
    assert wanted[-1] in page.table
    source.store.sink(WatchScope(CONTEXT, NAB), source.manual).apply("DELETED", waiting(3, "team-a")[0])
    while page.pump() or page.table.due:
        pass
    assert [key for key, _ in page.table] == [key for key in wanted if key.name != "nab-00003"]
    assert page.marks == {**whole.marks, StatusGlyph.WAITING: whole.marks[StatusGlyph.WAITING] - 1}
