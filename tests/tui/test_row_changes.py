"""`get -w` before a cluster in which nothing happens."""

from __future__ import annotations

import asyncio
from typing import cast

import pytest

from foretop.commands import view_rows
from foretop.commands.view_rows import ResourceRows, row_changes
from foretop_core.session import Session
from foretop_core.tables.resources.schedules import SchedulesView
from tests.objects import schedule
from tests.tui.fake_source import FilledSource


async def test_waiting_for_changes_leaves_no_tasks_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch may stand for days: a task for each second of it would fill the memory."""
    monkeypatch.setattr(view_rows, "_LONGEST", 0.01)
    monkeypatch.setattr(view_rows, "_EACH", 0.0)
    rows = ResourceRows(cast("Session", FilledSource([schedule()])), SchedulesView(), "", None)
    changes = row_changes(rows)
    assert [one.type for one in await anext(changes)] == ["ADDED"]
    running = len(asyncio.all_tasks())
    for _ in range(5):
        assert await anext(changes) == []
    assert len(asyncio.all_tasks()) == running
