"""The page of a schedule: its sentence, how it is set up, the chart, and the table of its runs with a cursor."""

from __future__ import annotations

from typing import Any

import pytest

from foretop.pages.detail_page import DetailPage
from foretop_core.models.kinds import BACKUP
from foretop_core.models.wire import ObjectRef, Resource
from tests.objects import backup, schedule
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import FilledSource, meta
from tests.tui.pilot import LARGE, MIDDLE, SMALL, Screen, screen


def _run(hour: int, phase: str = "Completed", waited: int = 0, **more: Any) -> Resource:
    return backup(
        f"etcd-{hour:02}",
        phase,
        created=f"{hour:02}:00:03",
        started=f"{hour:02}:{waited:02}:03",
        ended=f"{hour:02}:{waited + 5:02}:03",
        of="etcd",
        **more,
    )


def _objects() -> list[Resource]:
    return [schedule("etcd", "0 * * * *", last="02:00:03"), _run(0), _run(1, waited=2), _run(2, "Failed")]


def _page(shown: Screen) -> DetailPage:
    page = shown.app.main_screen.page
    assert isinstance(page, DetailPage)
    return page


def _of(name: str) -> ObjectRef:
    return ObjectRef("prod-eu", BACKUP.name, "velero", name)


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE, LARGE])
async def test_the_runs_have_a_table_with_a_cursor(size: tuple[int, int]) -> None:
    async with screen(FilledSource(_objects()), size=size) as shown:
        await shown.press("2", "enter")
        head = next(line for line in shown.lines if "STARTED" in line)
        assert [word for word in head.split() if word.isalpha()][:7] == [
            *("STARTED", "PHASE", "TOOK", "WAITED", "ITEMS", "E", "W"),
        ]
        assert ("BACKUP" in head) == (size != SMALL)
        rows = [line for line in shown.lines if " 15 Nov 0" in line]
        assert [row.split("15 Nov ")[1].split()[:2] for row in rows] == [
            ["02:00", "Failed"],
            ["01:02", "Completed"],
            ["00:00", "Completed"],
        ]
        assert "+2m" in rows[1]
        assert "▌" in rows[0]
        assert "Its last run failed, after 2 good ones." in shown.text
        assert "Related" not in shown.text


async def test_enter_opens_the_run_under_the_cursor() -> None:
    async with screen(FilledSource(_objects())) as shown:
        await shown.press("2", "enter", "down", "enter")
        assert _page(shown).key == _of("etcd-01")
        await shown.press("escape")
        assert _page(shown).run_under_cursor() == _of("etcd-01")
        await shown.press("escape")
        assert shown.app.main_screen.current == "schedules"


async def test_a_new_run_leaves_the_cursor_on_its_run() -> None:
    async with screen(FilledSource(_objects())) as shown:
        await shown.press("2", "enter", "down")
        assert _page(shown).run_under_cursor() == _of("etcd-01")
        new = {"metadata": meta("etcd-03", created="2026-11-15T02:40:03Z", labels={"velero.io/schedule-name": "etcd"})}
        shown.source.change(BACKUP, new)
        await shown.tick()
        assert _page(shown).run_under_cursor() == _of("etcd-01")
        await shown.press("g")
        assert _page(shown).run_under_cursor() == _of("etcd-03")


@pytest.mark.sweep
async def test_a_schedule_without_runs_and_other_sections_have_no_table_of_them() -> None:
    async with screen(FilledSource([schedule("etcd", "0 * * * *")])) as shown:
        await shown.press("2", "enter")
        assert "STARTED" not in shown.text
        assert "enter open" not in shown.footer
    async with screen(FilledSource(_objects())) as shown:
        await shown.press("2", "enter", "right")
        assert "STARTED" not in shown.text
        assert _page(shown).run_under_cursor() is None


@pytest.mark.sweep
async def test_from_120_columns_on_its_name_its_state_and_the_sections_are_in_the_frame() -> None:
    async with screen(FilledSource(_objects()), size=MIDDLE) as shown:
        await shown.press("2", "enter")
        assert shown.lines[2].startswith("┌─ ✗ schedule velero/etcd ─")
        assert shown.lines[2].endswith(" Overview ─ Events ─ Changes ─ Describe ─ YAML  ─┐")
        assert shown.lines[-2] == f"└{'─' * 118}┘"


@pytest.mark.sweep
async def test_beside_its_runs_e_edits_the_schedule() -> None:
    async with stand("default") as at:
        await at.shown.press("2", "slash", *"metrics", "enter", "enter")
        await at.shown.until(lambda: "e edit" in at.shown.footer)
        await at.shown.press("e")
        await at.shown.sees("Edit metrics-hourly in")


@pytest.mark.sweep
async def test_below_a_narrow_table_the_signs_of_the_strip_are_explained() -> None:
    async with screen(FilledSource(_objects())) as shown:
        await shown.press("2")
        assert "Runs     F failed" in shown.pane
        assert "partly failed" not in shown.pane
    async with screen(FilledSource(_objects()[:3])) as shown:
        await shown.press("2")
        assert "Runs " not in shown.pane


@pytest.mark.sweep
async def test_what_triage_says_to_do_stands_on_the_page_of_the_schedule_too() -> None:
    runs = [_run(hour, "PartiallyFailed") for hour in range(3)]
    async with screen(FilledSource([_objects()[0], *runs]), size=LARGE) as shown:
        await shown.press("1")
        await shown.tick()
        remedy = next(line for line in shown.pane.splitlines() if line.startswith("Do "))
        await shown.press("2", "enter")
        assert remedy.split(maxsplit=1)[1][:40] in shown.text
        assert shown.text.count("Do  ") == 1


async def test_below_a_wide_chart_stands_each_new_day() -> None:
    old, end = "2026-11-14T23:00:03Z", "2026-11-14T23:05:03Z"
    before = backup("etcd-old", created=old, started=old, ended=end, of="etcd")
    for runs, days in ((_objects(), ""), ([*_objects(), before], "14 Nov")):
        async with screen(FilledSource(runs), size=MIDDLE) as shown:
            await shown.press("2", "enter")
            axis = next(number for number, line in enumerate(shown.lines) if "└──" in line[:12])
            below = shown.lines[axis + 1].strip("│")
            assert below.strip() == (days or "F failed"), "all of one day, or no room for the second one"


@pytest.mark.sweep
async def test_every_key_that_a_schedule_s_page_names_works_there() -> None:
    """Its remedy is that of Triage, where the finding names the run."""
    async with stand("default") as at:
        await at.shown.press("2", "slash", *"metrics", "enter", "enter")
        await at.see("(x) or logs (l) for the errors, fix them and run it again (t).")
        for key, opens in (("l", "Fetch the log of metrics-hourly-"), ("t", "Back up metrics-hourly now")):
            await at.shown.press(key)
            await at.shown.sees(opens)
            await at.shown.press("escape")


@pytest.mark.sweep
async def test_a_nab_s_own_page_and_row_take_the_key_that_its_finding_names() -> None:
    async with stand("default") as at:
        await at.shown.press("3", "slash", *"own-bucket", "enter")
        await at.shown.until(lambda: "a approve" in at.shown.footer)
        await at.shown.press("enter")
        await at.see("Decide about the request", "(a), then ask the owner")
        await at.shown.press("a")
        await at.shown.until(lambda: at.has_dialog)
        await at.see("team-iot")
