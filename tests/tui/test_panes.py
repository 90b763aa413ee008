"""Panes and details at 80 by 24: what tells comes first, and what is cut says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import pytest
from msgspec.structs import replace
from textual.geometry import Region, Size

from foretop.pages.table_page import TablePage
from foretop.panes.nonadmin_pane import nonadmin_pane
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, span, wrap
from foretop_core.models import Resource
from foretop_core.models.kinds import BACKUP, NAB, REPOSITORY, SCHEDULE, STORAGE
from tests.objects import backup, condition, nab
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import FilledSource, troubled
from tests.tui.pilot import LARGE, MIDDLE, SMALL, Screen, screen
from tests.unit.rules.test_protection import copy, namespace
from tests.unit.rules.test_protection import nab as tenant_backup
from tests.unit.tables.test_views import Shown


def texts(paragraphs: Sequence[Paragraph], cells: int, lines: int | None = None) -> list[str]:
    return ["".join(piece.text for piece in line).rstrip() for line in wrap(paragraphs, cells, lines)]


@pytest.mark.parametrize("cells", range(20, 60))
def test_a_sentence_without_room_loses_its_end_and_says_so(cells: int) -> None:
    words = " ".join(f"word{place}" for place in range(60))
    told = texts([paragraph(f"begins {words}", label="Status", yields=True), paragraph("next")], cells, 5)
    assert len(told) == 5
    assert told[3].endswith(" …")
    assert all(len(line) <= cells for line in told)
    shown = " ".join(" ".join(told[:4]).removesuffix("…").split())
    assert f"Status begins {words}".startswith(shown), "nothing is missing in the middle"


def test_groups_stand_apart_where_there_is_room_for_all_empty_lines_and_a_chart_at_the_bottom() -> None:
    said = [
        paragraph("late"),
        Paragraph((span("u"),), "Do", apart=True),
        Paragraph((span("enter"),), "Keys", apart=True),
    ]
    close, apart = ["late", "Do       u", "Keys     enter"], ["late", "", "Do       u", "", "Keys     enter"]
    assert [texts(said, 40, lines) for lines in (None, 3, 4, 5, 9)] == [close, close, close, apart, apart]
    chart = Paragraph((span("RUNS"),), at_bottom=True)
    assert texts([*said, chart], 40, 4) == [*close, "RUNS"]
    assert texts([*said, chart], 40, 9) == [*apart, "", "", "", "RUNS"]
    long = paragraph("x " * 60, yields=True, least=1)
    assert texts([*said, long], 20, 6) == texts([*close_up(said), long], 20, 6), "nothing is cut for an empty line"


def close_up(said: Sequence[Paragraph]) -> list[Paragraph]:
    return [replace(one, apart=False) for one in said]


def test_the_key_stands_at_the_last_text_that_is_cut_and_not_at_one_that_is_gone() -> None:
    said = [paragraph("late " * 30, yields=True), paragraph("5 minutes", label="Since", yields=True, least=0)]
    told = ["".join(piece.text for piece in line) for line in wrap(said, 40, 2, "tab")]
    assert len(told) == 2
    assert told[-1].endswith(" … tab")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("warehouse-nightly-20261115023403", ["warehouse-nightly-", "20261115023403"]),
        ("spec.backupSpec.includeClusterResources", ["spec.backupSpec.", "includeClusterResources"]),
        ("team-a/warehouse-nightly-copy", ["team-a/", "warehouse-nightly-copy"]),
        ("a" * 30, ["a" * 25, "a" * 5]),
        ("one-two-" + "b" * 40, ["one-two-" + "b" * 17, "b" * 23]),
    ],
)
def test_a_long_name_is_parted_at_a_joint_where_its_parts_fit(name: str, lines: list[str]) -> None:
    """The stamp of a backup was cut in the middle of its digits."""
    assert texts([paragraph(name)], 25) == lines


async def test_scrolling_a_pane_whose_text_fits_leaves_its_groups() -> None:
    async with screen(size=MIDDLE) as shown:
        await shown.press("2")
        before = shown.pane
        assert "\n\n" in before
        await shown.press("shift+down")
        assert shown.pane == before


def test_no_line_breaks_between_a_key_and_its_label() -> None:
    spans = (Span("enter"), Span(" open the location"), Span("   "), Span("J"), Span(" go to its row"))
    keys = [Paragraph(spans, in_items=True)]
    assert texts(keys, 24) == ["enter open the location", "J go to its row"]
    assert texts(keys, 80) == ["enter open the location   J go to its row"]
    assert texts(keys, 18) == ["enter open the", "location", "J go to its row"]


@pytest.mark.parametrize("cells", range(19, 24))
def test_a_key_whose_words_are_longer_than_a_line_begins_one_of_its_own(cells: int) -> None:
    keys = [
        Paragraph((Span("enter"), Span(" open a job"), Span("   "), Span("p"), Span(f" {'x ' * 12}y")), in_items=True)
    ]
    first, second, *_ = texts(keys, cells)
    assert first == "enter open a job"
    assert second.startswith("p x x x")


@pytest.mark.sweep
async def test_a_step_with_a_long_name_stands_apart_from_its_time() -> None:
    made = [condition("Accepted", "True", "BackupAccepted"), condition("Queued", "True", "BackupScheduled")]
    ended = {"phase": "PartiallyFailed", "completionTimestamp": "2026-11-15T02:05:00Z"}
    asked = nab("orders", conditions=made, veleroBackup={"name": "done", "namespace": "velero", "status": ended})
    async with screen(FilledSource([asked]), MIDDLE) as shown:
        await shown.press("3")
        await shown.until(lambda: "Steps" in shown.pane)
        assert "✗ PartiallyFailed 02:05:00Z" in shown.pane


@pytest.mark.parametrize(("size", "is_told"), [(SMALL, False), (MIDDLE, True), (LARGE, True)])
@pytest.mark.sweep
async def test_a_schedule_tells_its_keys_beside_the_table(size: tuple[int, int], is_told: bool) -> None:
    async with stand("default", size=size) as at:
        await at.shown.press("2")
        await at.shown.until(lambda: at.shown.page == "schedules" and "Cron" in at.shown.pane)
        await at.shown.until(lambda: ("Keys" in at.shown.pane and "s pause" in at.shown.pane) is is_told)


async def test_below_the_table_too_a_schedule_says_what_to_do_about_what_is_wrong() -> None:
    """At 80 columns only Triage had said it: the page of schedules said what is wrong, and nothing of the way out."""
    async with stand("default") as at:
        await at.go("2", at.key(SCHEDULE, "broken"))
        await at.see("Do Correct its cron (e).")
        assert at.shown.pane.index("Velero refuses it") < at.shown.pane.index("Do  ") < at.shown.pane.index("Cron  ")


async def test_a_schedule_that_runs_well_says_what_is_wrong_before_what_to_do() -> None:
    """Its backups may be pruned: the pane had told what to set in Git, and nothing of why."""
    async with stand("gitops") as at:
        await at.go("2", at.key(SCHEDULE, "orders-hourly"))
        await at.see("Argo CD may prune its backups. Do Set spec.template.metadata.labels")
        await at.go("2", at.key(SCHEDULE, "by-hand"))
        await at.see("Last by-hand-")
        assert at.shown.pane.strip().startswith("Next ")


async def test_a_repository_whose_maintenance_fails_says_so_first_and_what_to_do() -> None:
    """`Ready` stood first, in green, and nothing told what to do; the namespace knew nothing of it."""
    async with stand("volumes") as at:
        await at.go("repositories", at.key(REPOSITORY, "kafka-default-kopia"))
        await at.see("Ready, but its latest maintenance failed. Do Check the maintenance job of kafka")
        assert "Failed   error to prune: repository is locked" in at.shown.pane
        await at.shown.press("9", "slash", *"kafka", "enter", "enter")
        await at.see("kafka-default-kopia: Ready, maintained 3 days ago, its latest maintenance failed")


async def test_a_storage_location_that_cannot_be_used_says_so_first_and_what_to_do() -> None:
    """Its repositories stand among the locations, and say there what they say on their own page."""
    async with stand("protection") as at:
        await at.go("storage", at.key(STORAGE, "offsite"))
        await at.see(
            "Unavailable. The bucket offsite-eu-west does not exist. Do Create the bucket or correct its name."
        )
        assert at.shown.pane.index("Do  ") < at.shown.pane.index("Says  ")
        await at.go("storage", at.key(REPOSITORY, "ledger-default-kopia"))
        await at.see("NotReady. Do Check the storage location default and Velero's log (:pods)")


async def test_a_movement_begins_with_its_phase_below_the_title_that_has_its_name() -> None:
    async with stand("volumes") as at:
        await at.shown.press(":", *"movements", "enter")
        await at.see("uploading to repository: connection reset")
        assert at.shown.pane.strip().startswith("Failed on worker-1, 30.0 GB of 60.0 GB (50 %)")


async def test_the_signs_of_the_strip_do_not_part_the_two_ways_of_unpausing() -> None:
    async with stand("maintenance", size=(80, 40)) as at:
        await at.go("2", at.key(SCHEDULE, "mail-30m"))
        await at.see("If unpaused: ", "Without skip: ", "Runs ‖ paused")
        order = [at.shown.pane.index(words) for words in ("If unpaused: ", "Without skip: ", "Runs  ", "Last  ")]
        assert order == sorted(order)


@pytest.mark.sweep
async def test_beside_the_table_keys_come_last_but_for_a_chart() -> None:
    async with stand("default", size=MIDDLE) as at:
        await at.see("worst first")
        for tab, words in (("3", r"Steps.*Keys"), ("2", r"Keys.*RUNS")):
            await at.shown.press(tab, "down")
            await at.shown.until(partial(_says, at.shown, words))


def _says(shown: Screen, words: str) -> bool:
    return re.search(words, shown.pane, re.DOTALL) is not None


async def test_a_text_that_became_shorter_leaves_nothing_of_the_longer_one() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("y", "space", "pagedown", "pagedown")
        pane = shown.app.main_screen.page.query_one("#detail-body", TextPane)  # type: ignore[union-attr]
        assert pane.top > 0
        before = list(pane._lines)
        marked: list[Region] = []
        pane.refresh = lambda *regions, **_: marked.extend(regions) or pane  # type: ignore[method-assign, func-returns-value]
        pane.show([paragraph("It is gone.")])
        painted = {region.y for region in marked}
        assert pane.top == 0
        assert painted >= {y for y in range(pane.size.height) if before[y : y + 1]} - {0}


@pytest.mark.parametrize(
    ("size", "pane", "rows"),
    [(SMALL, (80, 5), 14), ((80, 40), (80, 16), 19), (MIDDLE, (36, 35), 34), (LARGE, (70, 55), 54)],
)
@pytest.mark.sweep
async def test_table_and_pane_have_a_fixed_share_whatever_row_is_under_the_cursor(
    size: tuple[int, int], pane: tuple[int, int], rows: int
) -> None:
    async with screen(FilledSource(troubled(), ("eu", "us")), size) as shown:
        await shown.press("1", "home")
        page = shown.app.main_screen.page
        assert isinstance(page, TablePage)
        sizes = {(page.pane.size, page.table.height)}
        for key in (*["down"] * 10, *["up"] * 10):
            await shown.press(key)
            sizes.add((page.pane.size, page.table.height))
        await shown.press("slash", *"paused", "enter")
        assert sizes == {(Size(*pane), rows)}
        assert page.table.height == rows - 1, "the line of the filter is above it, and nothing else has moved"


async def test_a_key_leads_into_the_pane_where_it_does_not_fit_and_back() -> None:
    async with screen(size=(80, 20)) as shown:
        await shown.press("2")
        await shown.on(shown.source.key(SCHEDULE, "velero", "etcd-hourly"))
        page = shown.app.main_screen.page
        assert isinstance(page, TablePage)
        assert shown.lines[-2].strip().endswith("more, tab"), shown.text
        row = page.table.cursor
        await shown.press("tab", "end")
        assert page.pane.has_focus
        assert "more" not in shown.lines[-2]
        assert page.pane.top > 0
        assert page.table.cursor == row
        await shown.press("escape")
        assert page.table.has_focus


@pytest.mark.sweep
async def test_in_a_low_terminal_the_pane_is_hidden_until_it_is_asked_for() -> None:
    async with screen(size=(80, 18)) as shown:
        await shown.settle()
        page = shown.app.main_screen.page
        assert isinstance(page, TablePage)
        assert page.table.height == 14
        await shown.press("tab")
        assert page.pane.size.height == 14
        assert "Do " in shown.text
        await shown.press("tab")
        assert page.table.has_focus
        assert page.table.height == 14


async def test_the_signs_of_runs_are_explained_where_they_stand_and_all_of_them_in_help() -> None:
    async with screen(size=MIDDLE) as shown:
        await shown.press("2")
        await shown.on(shown.source.key(SCHEDULE, "velero", "etcd-hourly"))
        assert "oldest first" in shown.pane
        assert "P partly failed" in shown.pane
        assert "× not made" in shown.pane
        assert "V refused" not in shown.pane
        await shown.on(shown.source.key(SCHEDULE, "velero", "cassandra"))
        assert "oldest first" not in shown.pane
        await shown.press("?", "end", *["pagedown"] * 6)
        assert re.search(r"V +refused", shown.text)


@pytest.mark.sweep
async def test_the_detail_of_a_backup_draws_its_path() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("enter")
        assert "New ✓ ─ Queued ✓ ─ InProgress ◐ ─ Completed" in shown.text


@pytest.mark.sweep
async def test_the_detail_of_a_tenants_backup_names_its_velero_object_both_queues_and_its_spec() -> None:
    async with screen() as shown:
        await shown.press("3")
        await shown.on(shown.source.key(NAB, "team-pay", "ledger"))
        await shown.press("enter")
        for label in (
            "Velero ",
            "Queue    1st waiting, 3 running",
            "The controller reports place ~1",
            "Spec     namespaces team-pay · TTL",
        ):
            assert label in shown.text


async def test_a_title_that_does_not_fit_is_cut_with_an_ellipsis() -> None:
    async with screen(size=(40, 24)) as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("enter")
        title = shown.lines[2]
        assert title.startswith(" ◐ backup veler")
        assert "…" in title
        assert title.endswith("3003")


async def test_a_running_backup_of_a_schedule_is_told_with_the_usual_length() -> None:
    hours = ("00", "01", "02")
    past = [
        backup(f"daily-{hour}", created=f"{hour}:00:00", started=f"{hour}:00:00", ended=f"{hour}:10:00", of="daily")
        for hour in hours
    ]
    runs: list[Resource] = [*past, backup("runs", "InProgress", started="02:36:07", of="daily"), backup("alone", "New")]
    async with screen(FilledSource(runs)) as shown:
        await shown.press("4")
        await shown.on(shown.source.key(BACKUP, "velero", "runs"))
        await shown.press("tab")
        assert re.search(r"Usual +10 minutes", shown.pane)
        await shown.press("tab")
        await shown.on(shown.source.key(BACKUP, "velero", "alone"))
        await shown.press("tab")
        assert "Usual" not in shown.pane


def test_a_nab_whose_fault_no_longer_counts_says_early_from_when_the_complete_copy_is() -> None:
    objects = [namespace("team"), tenant_backup("team", "mine", "PartiallyFailed"), copy("later", "team")]
    table = Shown("nonadmin", objects)
    ((_, entry),) = table.model.ordered()
    told = texts(nonadmin_pane(entry, table.render_context()), 78)
    line = told.index("Triage   not listed: the backup of the namespace from 01:41:07Z is complete")
    assert told[line + 1].startswith("Next"), "where lines are few, it is in sight"
