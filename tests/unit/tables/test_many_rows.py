"""The rows of a page of very many objects, which are made some at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import GroupHeaderRow, StoreTableModel
from foretop_core.kube.watching.watch_sink import WatchScope
from foretop_core.models import Resource
from foretop_core.models.kinds import NAB
from foretop_core.store.store import MOST_AT_ONCE
from foretop_core.tables.engine.status_glyphs import StatusGlyph
from foretop_core.tables.engine.view import View
from foretop_core.tables.resources.nonadmin import NonAdminView
from foretop_core.tables.resources.queue import QueueView
from foretop_core.tables.resources.runs import BackupsView
from tests.counted_work import calls
from tests.crowds import nabs_of_many_teams, nabs_of_one_team, waiting
from tests.examples import sampled
from tests.tui.fake_source import CONTEXT, FilledSource


@pytest.mark.parametrize("count", sampled((3_000, 10_000, 50_000), 3_000))
@pytest.mark.parametrize("view", [QueueView, NonAdminView, BackupsView])
def test_a_page_of_very_many_is_made_in_steps_of_the_same_work(view: Callable[[], View[Any]], count: int) -> None:
    few, many = _steps(view(), 1_000), _steps(view(), count)
    assert len(many) > len(few) > 2
    assert max(many) <= 1.2 * max(few)


def steps_of_page(count: int) -> list[int]:
    return _steps(NonAdminView(), count)


def _steps(view: View[Any], count: int) -> list[int]:
    """How many functions each step calls in which the page of a view is made."""
    state, pages = _state_of(nabs_of_one_team(count)), list[StoreTableModel]()
    made = [calls(lambda: pages.append(StoreTableModel(state, view, worst_first=True)))]
    (page,) = pages
    while page.table.due:
        made.append(calls(page.table.bring))
    return made


def _state_of(objects: list[Resource]) -> DashboardState:
    """With the line of its server, as it was worked out beside the loop."""
    left = list[Callable[[], None]]()
    state = DashboardState(FilledSource(objects), lambda: 0.0, beside=left.append)
    state.render_context(CONTEXT).line("velero")
    while left:
        left.pop()()
    state.begin_frame()
    state.render_context(CONTEXT).line("velero")
    return state


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


@pytest.mark.parametrize("count", sampled((3_000, 10_000, 50_000), 3_000))
def test_the_groups_of_a_page_of_very_many_are_counted_in_steps_of_the_same_work(count: int) -> None:
    few, many = grouped_steps(1_000), grouped_steps(count)
    assert len(many) > len(few) > 2
    assert max(many) <= 1.2 * max(few)


def grouped_steps(count: int) -> list[int]:
    """How many functions each step calls in which the heads of all teams come to count their rows, and are drawn."""
    page = _page_of_teams(count)
    page.table.bring_all()
    page.toggle_groups()
    made = list[int]()
    while page.due:
        made.append(calls(lambda: (page.bring(), page.paint(0, 40))))
    return made


def _page_of_teams(count: int) -> StoreTableModel:
    return StoreTableModel(_state_of(nabs_of_many_teams(count)), NonAdminView(), worst_first=True)


def test_heads_that_count_in_steps_tell_the_same_as_those_that_count_at_once_whatever_comes_meanwhile() -> None:
    page, whole = _page_of_teams(2_000), _page_of_teams(2_000)
    page.toggle_groups()
    for number, what in enumerate(("ADDED", "DELETED", "MODIFIED", "DELETED", "ADDED")):
        source = page.state.source
        assert isinstance(source, FilledSource)
        nab, _ = waiting(550 + number if what != "ADDED" else 2_001 + number, f"team-{(550 + number) % 200}")
        source.store.sink(WatchScope(CONTEXT, NAB), source.manual).apply(what, nab)  # type: ignore[arg-type]
        page.pump()
        other = whole.state.source
        assert isinstance(other, FilledSource)
        other.store.sink(WatchScope(CONTEXT, NAB), other.manual).apply(what, nab)  # type: ignore[arg-type]
    assert page.due
    while page.pump() or page.due:
        pass
    while whole.pump() or whole.due:
        pass
    whole.toggle_groups()
    assert whole.groups is not None
    whole.groups.count_some(10_000)
    heads = [row for row in page.paint(0, 10_000) if isinstance(row, GroupHeaderRow)]
    assert heads == [row for row in whole.paint(0, 10_000) if isinstance(row, GroupHeaderRow)]
    assert sum(head.size for head in heads) == len(page.table)


@pytest.mark.parametrize("count", sampled((3_000, 10_000, 50_000), 3_000))
def test_one_change_in_a_page_in_groups_calls_no_more_functions_however_many_groups_there_are(count: int) -> None:
    assert work_of_a_change_in_groups(count) <= 1.2 * work_of_a_change_in_groups(1_000)


def work_of_a_change_in_groups(count: int) -> int:
    page = _page_of_teams(count)
    page.table.bring_all()
    page.toggle_groups()
    while page.due:
        page.bring()
    page.paint(0, 40)
    source = page.state.source
    assert isinstance(source, FilledSource)
    source.store.sink(WatchScope(CONTEXT, NAB), source.manual).apply("ADDED", waiting(count, "team-3")[0])
    return calls(lambda: (page.pump(), page.paint(0, 40)))
