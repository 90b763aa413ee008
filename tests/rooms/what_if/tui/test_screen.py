"""What if on the calendar, on a finding and on the page of a schedule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foretop.rooms.what_if.dialog import WhatIfScreen
from foretop_core.rooms.what_if.comparison import Move, Pause
from foretop_demo.local_api_server import LocalApiServer
from tests.examples import sampled
from tests.objects import backup, location, schedule
from tests.tui.dashboard_on_box import stand, unfolded
from tests.tui.fake_source import FilledSource
from tests.tui.pilot import MIDDLE, SMALL, screen
from tests.tui.test_calendar import calendar, hourly, until_beats
from tests.tui.test_unseen import before
from tests.wire.test_cluster import make


async def test_what_if_shows_both_nights_and_refuses_what_cannot_be_in_a_line() -> None:
    nightly = schedule("nightly", "0 4 * * *", last="2026-11-14T04:00:03Z")
    runs = [
        backup(f"nightly-{day}", created=at, started=at, ended=f"2026-11-{day}T04:20:03Z", of="nightly")
        for day in (12, 13, 14)
        for at in (f"2026-11-{day}T04:00:03Z",)
    ]
    async with calendar(FilledSource([nightly, *runs, location()]), MIDDLE) as (shown, _):
        await shown.press("W")
        await shown.until(lambda: "What if: nightly" in shown.text)
        await shown.press("ctrl+u", *"30 3 * * *")
        await until_beats(shown, lambda: "ends 30 minutes sooner" in " ".join(shown.text.split()))
        assert "[ Edit schedule ]" in shown.text, "what was tried goes on to the ordinary dialog"
        await shown.press("ctrl+u", *"0 4 * * *", "tab", "tab", *"-1")
        await until_beats(shown, lambda: "cannot take -1 times as long" in " ".join(shown.text.split()))
        await shown.press("ctrl+u", "tab", *"audit=0 4 * * *")
        await until_beats(shown, lambda: "audit: 1 run more." in " ".join(shown.text.split()))
        await shown.press("ctrl+u", *"audit")
        await until_beats(shown, lambda: "'audit' is not a change (write NAME=VALUE)" in " ".join(shown.text.split()))
        await shown.press("ctrl+u", "tab", *"nan")
        await until_beats(shown, lambda: "'nan' is not a number" in " ".join(shown.text.split()))


async def test_a_new_schedule_that_was_tried_goes_on_to_the_dialog_that_creates_it(tmp_path: Path) -> None:
    place, spec = {"namespace": "openshift-adp"}, {"schedule": "0 4 * * *", "template": {}}
    async with LocalApiServer() as running:
        make(running, "Namespace", {"name": "openshift-adp"})
        make(running, "Deployment", {"name": "velero", **place}, spec={})
        make(running, "Schedule", {"name": "nightly", **place}, spec=spec)
        async with before(running, tmp_path, "admin") as shown:
            await shown.press("5")
            await shown.until(lambda: "nightly" in shown.text)
            await shown.press("W")
            await shown.until(lambda: "What if: " in shown.text)
            await shown.press("tab", "tab", "tab", *"audit=30 4 * * *")
            await shown.until(lambda: "[ Create schedule ]" in shown.text)
            await shown.press("tab", "tab", "tab", "tab", "tab", "enter")
            await shown.until(lambda: "schedule openshift-adp/audit is created: 30 4 * * *" in shown.text)


@pytest.mark.parametrize("size", sampled((SMALL, MIDDLE), SMALL))
async def test_what_if_tries_changes_of_several_schedules_at_once(size: tuple[int, int]) -> None:
    others = [schedule(name, "0 * * * *", last="02:00:03") for name in ("crm", "mail")]
    async with calendar(FilledSource([*hourly(), *others]), size) as (shown, _):
        await shown.press("W")
        await shown.until(lambda: "What if: " in shown.text)
        assert "nothing is written." in shown.text, "whole, where the title was cut to nothing is wr…"
        tried = shown.app.screen
        assert isinstance(tried, WhatIfScreen)
        mine = tried.key.name
        first, second = sorted({"etcd", "crm", "mail"} - {mine})
        await shown.press("ctrl+u", *"30 * * * *", "shift+tab", "shift+tab", "shift+tab")
        await shown.press(*f"{first}=15 * * * *; {second}=paused")
        said = f"Only tried out, not written from here: cron of {first}, pause of {second}."
        await until_beats(shown, lambda: said in unfolded(shown.lines))
        assert tried.changes() == [Move(mine, "30 * * * *"), Move(first, "15 * * * *"), Pause(second)]
        await until_beats(shown, lambda: re.search(r"as it is +then", shown.text) is not None)
        await shown.press("ctrl+u", *"nobody=paused")
        await until_beats(shown, lambda: "There is no schedule nobody in " in unfolded(shown.lines))


@pytest.mark.parametrize("size", sampled((SMALL, MIDDLE), SMALL))
async def test_what_if_says_before_the_button_is_pressed_what_is_no_part_of_the_plan(size: tuple[int, int]) -> None:
    async with calendar(FilledSource(hourly()), size) as (shown, _):
        await shown.press("W")
        await shown.until(lambda: "What if: etcd" in shown.text)
        assert "Only tried out" not in shown.text
        await shown.press("ctrl+u", *"30 * * * *", "tab", "tab", "2", "tab", "tab", *"3", "tab", *"04:00-05:00")
        slots = "slots (--concurrent-backups of Velero)"
        said = f"Only tried out, not written from here: times as long, {slots}, the stop of Velero."
        await until_beats(shown, lambda: said in unfolded(shown.lines))
        assert "[ Edit schedule ]" in shown.text
        await shown.press("ctrl+u", "shift+tab", "shift+tab", "shift+tab", "ctrl+u")
        await until_beats(shown, lambda: f"Only tried out, not written from here: {slots}." in unfolded(shown.lines))
        await shown.press("shift+tab", "shift+tab", "ctrl+u", *"0 * * * *")
        await until_beats(shown, lambda: "[ Make the change ]" in shown.text)
        assert f"Only tried out, not written from here: {slots}." in unfolded(shown.lines)


async def test_what_if_refuses_where_the_calendar_can_foresee_nothing() -> None:
    silent = location(checked="01:00:00", synced="01:00:00")
    async with calendar(FilledSource([silent, *hourly()[1:]]), MIDDLE) as (shown, _):
        await until_beats(shown, lambda: "Nothing can be foreseen: the storage of Velero" in shown.text)
        await shown.press("W")
        await shown.until(lambda: "What if: etcd" in shown.text)
        await until_beats(shown, lambda: "Nothing can be foreseen: the storage of Velero hangs" in shown.text)
        await until_beats(shown, lambda: re.findall(r"If back +(\w+)", shown.text) == ["now", "at", "at"])
        await shown.press("ctrl+u", *"30 3 * * *")
        await until_beats(shown, lambda: "Edit schedule" in shown.text)
        assert "Nothing can be foreseen: the storage of Velero hangs" in shown.text
        await until_beats(shown, lambda: re.findall(r"Then +(\w+)", shown.text) == ["now", "at", "at"])


async def test_w_on_a_run_that_will_be_lost_tries_a_change_of_its_schedule() -> None:
    """It takes 25 minutes and is due every ten."""
    runs = []
    for number, began in enumerate(("00:00:03", "00:30:03", "01:00:03", "01:30:03")):
        ended = f"{began[:3]}{int(began[3:5]) + 25}:03"
        runs.append(backup(f"often-{number}", created=began, started=began, ended=ended, of="often"))
    often = schedule("often", "*/10 * * * *", last="02:40:03")
    calm = schedule("calm", "0 4 * * *", last="02:40:03")
    async with screen(FilledSource([location(), calm, often, *runs])) as shown:
        await shown.until(lambda: "will lose" in shown.text)
        while "Try a change" not in shown.pane:
            await shown.press("down")
        assert "Try a change (W)" in shown.pane
        await shown.press("W")
        await shown.until(lambda: "What if: often" in shown.text)
        await shown.press("escape")
        assert shown.page == "calendar"
        await shown.press("escape")
        assert shown.page == "triage"


async def test_the_page_of_a_schedule_has_its_key() -> None:
    async with stand("default") as at:
        await at.shown.press("2", "slash", *"metrics", "enter", "enter", "W")
        await at.shown.sees("What if: metrics-hourly")
