"""Which columns stay where there is no room for all, and how their cells are shortened."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from foretop.panes.page_records import TABLE_PAGES
from foretop.widgets.column_layout import ColumnPriorities, arrange
from foretop_core.models import Backup, from_builtins
from foretop_core.tables.engine.status_glyphs import phase_briefs
from foretop_core.tables.engine.view import Cell, Column, View, fit, wording
from foretop_core.tables.resources.runs import BackupsView, owner_texts
from foretop_core.tables.resources.schedules import SchedulesView
from tests.objects import backup
from tests.tui.fake_source import backup_dict

_TENANT = {"openshift.io/oadp-nab-origin-name": "web", "openshift.io/oadp-nab-origin-namespace": "team-a"}
TENANTS = from_builtins(Backup, backup_dict("team-a-web", "Completed", notes=_TENANT))

_AT_80 = 76
"""What a line of 80 cells has for columns."""


def _shown(columns: tuple[Column[Any], ...], natural: dict[str, int], priorities: ColumnPriorities) -> dict[str, int]:
    sizes = [max(column.cells, natural.get(column.name, len(column.title))) for column in columns]
    return {columns[slot.index].name: slot.width for slot in arrange(columns, sizes, _AT_80, priorities)}


def _least(page: str, natural: dict[str, int]) -> dict[str, int]:
    """As a table without anything asked for shows them."""
    view = TABLE_PAGES[page].view
    without = view.on_request if isinstance(view, View) else frozenset({"severity"})
    return _shown(view.columns, natural, replace(TABLE_PAGES[page].priorities, without=without))


def test_further_columns_leave_the_most_important_ones() -> None:
    natural = {
        "name": 22,
        "namespace": 13,
        "cron": 18,
        "meaning": 40,
        "next": 15,
        "last": 17,
        "runs": 12,
        "outcome": 16,
    }
    priorities = ColumnPriorities(("next", "last", "cron"), wide=True, least={"last": 6, "cron": 12, "next": 12})
    shown = _shown(SchedulesView().columns, natural, priorities)
    assert {"name", "cron", "next", "last", "namespace"} <= shown.keys()


def test_a_narrow_line_of_protection_has_the_age_of_a_copy_against_what_is_promised() -> None:
    natural = {"name": 16, "state": 14, "newest": 6, "copies": 4, "expires": 8, "next": 6, "by": 14, "covers": 33}
    shown = _least("protection", natural)
    assert list(shown) == ["name", "state", "promise", "newest", "of", "copies", "next", "volumes"]
    assert shown["promise"] >= 11


def test_a_narrow_line_of_schedules_has_each_time_and_twenty_letters_of_a_name() -> None:
    long = {"name": 40, "namespace": 20, "cron": 30, "runs": 30, "to": 20, "meaning": 60}
    assert _least("schedules", long) == {"name": 20, "cron": 18, "next": 7, "at": 5, "last": 6, "runs": 10}


def test_triage_gives_most_of_a_narrow_line_to_what_is_wrong() -> None:
    shown = _least("triage", {"subject": 40, "what": 60})
    assert "severity" not in shown
    assert "since" in shown
    assert shown["what"] > shown["subject"] >= 24


def test_a_narrow_line_has_the_name_and_the_progress_of_a_tenants_backup() -> None:
    shown = _least("nonadmin", {"namespace": 11, "name": 26, "velero": 15, "queue": 11})
    assert shown["name"] >= 20
    assert list(shown) == ["namespace", "name", "conditions", "velero", "progress", "age"]


def test_no_column_goes_when_a_duration_grows() -> None:
    columns = BackupsView().columns
    priorities = ColumnPriorities(("phase", "started", "errors", "warnings", "took", "expires"), least={"name": 24})
    young = {"name": 40, "phase": 9, "started": 8, "took": 3, "expires": 6}
    old = {"name": 40, "phase": 10, "started": 8, "took": 6, "expires": 9}
    assert _shown(columns, young, priorities).keys() == _shown(columns, old, priorities).keys()


def test_cells_that_are_alike_are_shortened_together() -> None:
    column = next(column for column in BackupsView().columns if column.name == "from")
    cells = [
        Cell(texts[0], briefs=texts[1:])
        for texts in map(owner_texts, (TENANTS, backup("nightly-1", of="nightly"), backup("mine")))
    ]
    assert column.alike

    def texts(size: int) -> list[str]:
        return [fit(cell, column, size, least=wording(cells, size)) for cell in cells]

    assert texts(16) == ["nab team-a/web", "schedule nightly", "by hand"]
    assert texts(15) == ["nab team-a", "schedule", "by hand"]
    assert texts(9) == ["nab", "schedule", "by hand"], "a column that has room for the word shows it"
    assert texts(7) == ["nab", "sched", "hand"]
    assert texts(3) == ["nab", "sc…", "ha…"]


def test_a_long_phase_is_shortened_to_a_word_and_not_cut() -> None:
    phase = next(column for column in BackupsView().columns if column.name == "phase")
    for long in (
        "WaitingForPluginOperations",
        "WaitingForPluginOperationsPartiallyFailed",
        "FinalizingPartiallyFailed",
        "PartiallyFailed",
        "FailedValidation",
    ):
        assert "…" not in fit(Cell(long, briefs=phase_briefs(long)), phase, phase.cells)
