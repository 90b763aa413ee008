"""Triage on the screen: what a key does on a finding that is about no single object."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from itertools import count

import pytest

from foretop.dialogs.base_modal import ChoicePicker
from foretop.pages.table_page import TablePage
from foretop.panes.triage_pane import finding_pane
from foretop.widgets.styles import style_of
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import EventType
from foretop_core.models import Deployment, NonAdminBackup, Schedule
from foretop_core.models.kinds import BACKUP, SCHEDULE
from foretop_core.models.wire import as_json
from foretop_core.rules.pauses import PAUSED_BATCH, PAUSED_BY, PAUSED_UNTIL
from foretop_core.tables.engine.status_glyphs import Tone
from tests.objects import NOW, at, backup, location, nab, schedule
from tests.tui.dashboard_on_box import stand
from tests.tui.fake_source import CONTEXT, FilledSource, calm, meta
from tests.tui.pilot import SMALL, screen


async def test_nothing_can_be_written_from_a_finding_about_the_server_itself() -> None:
    async with stand("dead") as at:
        await at.see("Velero is down")
        assert at.shown.names()[0] == ""
        assert "J jump" in at.shown.footer
        for offered in ("pause", "logs", "back up", "delete"):
            assert offered not in at.shown.footer
        await at.shown.press("s", "l", "t", "ctrl+d")
        assert not at.has_dialog


@pytest.mark.sweep
async def test_the_fate_of_what_a_dead_server_was_running_is_told_beside_its_schedule_too() -> None:
    async with stand("dead") as at:
        fate = "Velero marks it Failed when it starts again"
        await at.see(fate)
        await at.go("2", at.key(SCHEDULE, "etcd-hourly"))
        await at.see("Last etcd-hourly-", f"InProgress; {fate}")


async def test_enter_on_a_server_without_a_pulse_shows_its_pods_and_escape_comes_back() -> None:
    silent = location(checked="02:20:03", synced="02:20:03")
    waiting = backup("first", "Queued", created="02:30:00", queuePosition=1)
    async with screen(FilledSource([silent, waiting])) as shown:
        assert "enter open" in shown.footer
        assert "enter open the pods of Velero" in shown.pane
        await shown.press("enter")
        assert shown.page == "pods"
        await shown.press("escape")
        assert shown.page == "triage"


async def test_enter_on_schedules_that_start_together_asks_which_of_them() -> None:
    names = ("first", "second", "third", "fourth")
    crowd = [schedule(name, "30 5 * * *", created="2026-11-14T06:00:00Z") for name in names]
    server = next(item for item in calm() if isinstance(item, Deployment))
    async with screen(FilledSource([location(), server, *crowd])) as shown:
        await shown.press("enter")
        assert isinstance(shown.app.screen, ChoicePicker)
        await shown.press("down", "enter")
        await shown.until(lambda: shown.page == "schedules")
        assert shown.table.cursor is not None
        assert shown.table.cursor.name == "fourth"


@pytest.mark.sweep
async def test_a_finding_stands_under_the_one_that_explains_it_and_says_so() -> None:
    gone = location("offsite", "Unavailable", message="no such bucket")
    refusal = "backup can't be created because BackupStorageLocation offsite is in Unavailable status"
    refused = backup(
        "copy-20261115020003",
        "FailedValidation",
        created="02:00:03",
        of="copy",
        spec={"storageLocation": "offsite"},
        validationErrors=[refusal],
    )
    copying = schedule("copy", last="02:00:03", template={"storageLocation": "offsite"})
    broken = schedule("broken", "0 0 * * 8")
    async with screen(FilledSource([location(), gone, copying, refused, broken])) as shown:
        assert shown.names() == ["offsite", "copy", "broken"]
        assert "└ schedule copy" in shown.lines[4]
        await shown.press("down")
        assert "Cause    storage velero/offsite: " in shown.pane
        await shown.press("slash", *"schedule", "enter")
        assert "└" not in shown.text


def test_the_name_of_a_schedule_that_it_stops_has_the_colour_of_its_row() -> None:
    stopped = schedule("copies", last="02:00:03", template={"storageLocation": "offsite"})
    broken = schedule("run", "0 0 * * 8")
    state = DashboardState(FilledSource([location("offsite", "Unavailable"), location(), stopped, broken]), lambda: 0.0)
    state.judge(at_once=True)
    (found,) = (one for one in state.findings if one.code == "storage-unavailable")
    (told,) = (one for one in finding_pane(found, state.render_context_of(found)) if one.label == "Hits")
    coloured = {piece.text for piece in told.spans if piece.style in (style_of(Tone.WARN), style_of(Tone.BAD))}
    assert coloured == {"copies"}, "a word of the sentence is not the schedule of that name"
    assert "".join(piece.text for piece in told.spans).startswith(
        "1 schedule writes to it: copies. The run of copies at"
    )


async def test_a_table_that_does_not_fit_says_which_of_its_rows_are_to_be_seen() -> None:
    broken = [schedule(f"broken-{number:02}", "0 0 * * 8") for number in range(22)]
    async with screen(FilledSource([location(), *broken])) as shown:
        assert shown.rule.endswith("1–14 of 22")
        await shown.press("G")
        assert shown.rule.endswith("9–22 of 22")


@pytest.mark.sweep
async def test_with_every_schedule_paused_the_screen_is_not_calm_and_enter_shows_them() -> None:
    window = [schedule(name, "0 * * * *", last="01:00:03", paused=True) for name in ("a", "b", "c")]
    async with screen(FilledSource([location(), *window])) as shown:
        assert "▲1" in shown.status
        assert "all 3 paused, 3 overdue" in shown.text
        await shown.press("enter")
        assert shown.page == "schedules"


async def test_with_the_only_schedule_paused_nothing_wrong_is_said_with_what_that_means() -> None:
    async with screen(FilledSource([location(), schedule(cron="0 * * * *", last="02:00:03", paused=True)])) as shown:
        assert "‖ No problems, but no upcoming run:" in shown.text
        assert "all schedules are paused (1); 2 opens them" in shown.text


async def test_where_a_paused_schedule_is_overdue_page_and_header_say_so() -> None:
    late = schedule("late", cron="0 * * * *", last="01:00:03", paused=True)
    async with screen(FilledSource([location(), late, schedule("good", last="02:00:03")])) as shown:
        assert "paused and overdue" in shown.text
        assert "No problems" not in shown.text
        assert "‖ 1 paused, 1 overdue " in shown.status


async def test_a_window_that_should_have_ended_is_in_the_header_though_nothing_is_overdue() -> None:
    notes = {PAUSED_BY: "maria", PAUSED_UNTIL: "2026-11-15T02:29:00Z", PAUSED_BATCH: "CHG-1"}
    held = schedule("held", cron="0 4 * * *", last="2026-11-14T04:00:03Z", paused=True, annotations=notes)
    async with screen(FilledSource([location(), held, schedule("good", last="02:00:03")])) as shown:
        assert "over, 1 still paused" in shown.text
        assert "‖ 1 paused, 12m over " in shown.status


def test_a_window_is_told_in_the_second_after_its_end_however_long_a_look_takes() -> None:
    notes = {PAUSED_BY: "maria", PAUSED_UNTIL: "2026-11-15T03:00:00Z", PAUSED_BATCH: "CHG-1"}
    held = schedule("held", cron="0 4 * * *", last="2026-11-14T04:00:03Z", paused=True, annotations=notes)
    source = FilledSource([location(), held, schedule("good", last="02:00:03")])
    state = DashboardState(source, lambda: 0.0)
    state.judge(at_once=True)
    assert "window-overrun" not in [one.code for one in state.findings]
    source.manual.advance(at("03:00:01") - NOW)
    state.begin_frame()
    state.judge()
    assert "window-overrun" in [one.code for one in state.findings]


def slow_looks(*schedules: Schedule) -> tuple[FilledSource, DashboardState, Callable[..., int]]:
    """Each second one change, or none, and how many are paused by the latest look, which took a second."""
    source, seconds = FilledSource([location(), *schedules]), count(0.0)
    state = DashboardState(source, lambda: next(seconds))

    def paused(changed: Schedule | None = None, what: EventType = "MODIFIED") -> int:
        if changed is not None:
            source.change(SCHEDULE, as_json(changed), what=what)
        source.manual.advance(timedelta(seconds=1))
        state.begin_frame()
        state.judge()
        return state.pauses(CONTEXT).without_window

    state.judge(at_once=True)
    return source, state, paused


def test_after_a_write_of_ones_own_no_look_rests_until_one_has_seen_it() -> None:
    """Who has resumed a window waits for the header to say so, however long a look takes or the watch is behind."""
    source, state, paused = slow_looks(schedule("held", paused=True), schedule("other"))
    assert paused(schedule("other", paused=True)) == 1, "it rests"
    state.note_write(source.key(SCHEDULE, "velero", "held"), "102")
    assert paused() == 2, "it does not rest, and what was written has not come in yet"
    assert [paused(), paused(schedule("held"))] == [2, 1]
    assert paused(schedule("other")) == 1, "it rests again"
    state.note_write(source.key(SCHEDULE, "velero", "deleted"), "")
    assert [paused(), paused(schedule("held", paused=True))] == [0, 0], "what is gone is seen to be gone"
    state.note_write(source.key(SCHEDULE, "velero", "never-shown"), "200")
    assert paused() == 1
    assert [paused() for _ in range(10)][-1] == 1
    assert paused(schedule("held")) == 1, "after a while nobody waits for it"


def test_a_write_to_what_is_gone_since_is_not_waited_for() -> None:
    """What has a finalizer has a version when it is deleted, and can be gone before that version was seen."""
    source, state, paused = slow_looks(schedule("leaving"), schedule("other"))
    assert paused(schedule("other", paused=True)) == 0, "it rests"
    state.note_write(source.key(SCHEDULE, "velero", "leaving"), "300")
    assert paused(schedule("leaving"), "DELETED") == 1
    assert paused(schedule("other")) == 1, "it rests again"


def partly_failed(number: int) -> NonAdminBackup:
    status = {"phase": "PartiallyFailed", "errors": 1, "completionTimestamp": f"2026-11-15T02:{number:02}:00Z"}
    velero = {"nacuuid": f"u-{number}", "name": f"v-{number}", "namespace": "velero", "status": status}
    return nab(f"copy-{number}", veleroBackup=velero)


async def test_enter_opens_the_line_of_many_findings_and_closes_it_again() -> None:
    async with screen(FilledSource([location(), *(partly_failed(number) for number in range(1, 6))])) as shown:
        assert len(shown.names()) == 1
        assert "5 nabs" in shown.text
        assert "enter open all 5" in shown.pane
        await shown.press("enter")
        assert shown.names()[1:] == ["copy-5", "copy-4", "copy-3", "copy-2", "copy-1"]
        assert "└ nab" in shown.text
        await shown.press("down")
        assert "enter open the NAB" in shown.pane
        assert "Cause" not in shown.pane
        await shown.press("up", "enter")
        assert len(shown.names()) == 1
        await shown.press("slash", *"copy-3", "enter")
        assert shown.names() == ["copy-3"]


@pytest.mark.sweep
async def test_the_pane_below_few_findings_takes_the_lines_that_they_leave_free() -> None:
    silent = location(checked="02:20:03", synced="02:20:03")
    waiting = backup("first", "Queued", created="02:30:00", queuePosition=1)
    async with screen(FilledSource([silent, waiting]), size=SMALL) as shown:
        await shown.settle()
        assert "Keys" in shown.pane
        assert "…" not in shown.pane
        lines = shown.app.main_screen.page.query_one("#pane-box").size.height  # type: ignore[union-attr]
        await shown.press("slash", "z")
        await shown.settle()
        await shown.press("escape", "escape")
        await shown.settle()
        assert shown.app.main_screen.page.query_one("#pane-box").size.height == lines > 6  # type: ignore[union-attr]


@pytest.mark.sweep
async def test_the_pane_gives_the_lines_back_when_many_findings_come() -> None:
    source = FilledSource([location(), schedule("bad", "61 2 * * *", phase="FailedValidation")])
    async with screen(source, size=SMALL) as shown:
        await shown.settle()
        page = shown.app.main_screen.page
        assert isinstance(page, TablePage)
        assert page.state is not None
        assert page.query_one("#pane-box").size.height > 6
        for number in range(20):
            spec, status = {"schedule": "61 2 * * *"}, {"phase": "FailedValidation"}
            source.change(SCHEDULE, {"metadata": meta(f"bad-{number}"), "spec": spec, "status": status})
        for _ in range(3):
            source.manual.advance(timedelta(minutes=1))
            page.state.judge(at_once=True)
            await shown.tick()
        assert shown.table.rows is not None
        assert shown.table.rows.table.total > 20
        assert page.query_one("#pane-box").size.height == 6


async def test_where_rows_come_and_go_the_pane_has_lines_that_are_free_and_its_border_seldom_moves() -> None:
    """At 80x24 the text was cut below six free rows."""
    source = FilledSource([location(), *(backup(f"b{number}") for number in range(3))])
    async with screen(source, size=SMALL) as shown:
        await shown.press("7")
        await shown.settle()
        page = shown.app.main_screen.page
        assert page is not None

        async def height(number: int, what: EventType = "MODIFIED") -> int:
            source.change(BACKUP, {"metadata": meta(f"b{number}"), "status": {"phase": "Completed"}}, what=what)
            await shown.tick()
            await shown.settle()
            return page.query_one("#pane-box").size.height

        heights = [await height(number) for number in range(2, 12)]
        assert heights[0] > 10
        assert heights[-1] == 6
        assert heights == sorted(heights, reverse=True)
        assert len(set(heights)) <= 4, heights
        for what in ("DELETED", "MODIFIED"):
            assert await height(11, what) == 6, "a row more or less moves nothing"
