"""The calendar by its keys: the night ahead, its words, and the lane under the cursor."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from threading import Event
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from foretop.app import Dashboard
from foretop.pages.calendar_page import CalendarPage
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.timeline import Timeline
from foretop_core.dashboard import night_player
from foretop_core.dashboard.night_player import NightPlayer
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import CronJob, PreScaledCronJob, Resource, Schedule, from_builtins
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, PRESCALED, SCHEDULE, Kind
from foretop_core.models.nonadmin import NAB_NAMESPACE_ANNOTATION
from foretop_core.rules.night.night import ForeseenRun, Foresight
from tests.crowds import nabs_of_one_team
from tests.objects import NOW, at, backup, location, schedule, upload
from tests.tui.dashboard_on_box import stand, unfolded
from tests.tui.fake_source import FilledSource, calm, meta, troubled
from tests.tui.pilot import MIDDLE, SMALL, Screen, running, screen


@pytest.fixture(autouse=True)
def _foresees_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A change makes another night at the next beat, whatever the one before has cost."""
    monkeypatch.setattr(night_player, "_SOONEST", 0.0)
    monkeypatch.setattr(night_player, "_SHARE", 0)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", [BACKUP, DEPLOYMENT])
async def test_the_night_is_not_known_while_first_lists_come_in_and_is_played_as_soon_as_they_have(kind: Kind) -> None:
    source = FilledSource(troubled())
    health, scope = source.store.health, WatchScope("prod-eu", kind, "not-listed-yet")
    health.report(scope, WatchHealth(WatchState.SYNCING, NOW, seen=3, expected=14))
    async with screen(source, size=MIDDLE) as shown:
        await shown.press("5")
        await shown.until(lambda: "Not known yet: lists are loading." in shown.text)
        assert "Peak" not in shown.text
        health.report(scope, WatchHealth(WatchState.LIVE, NOW))
        await shown.until(lambda: "Peak" in shown.text)
        assert "Not known yet" not in shown.text


def prescaled(name: str, cron: str, minutes: int) -> PreScaledCronJob:
    spec = {"warmUpTimeMins": minutes, "cronJob": {"spec": {"schedule": cron}}}
    return from_builtins(PreScaledCronJob, {"metadata": meta(name, "batch"), "spec": spec})


def cron_job(name: str, cron: str) -> CronJob:
    return from_builtins(CronJob, {"metadata": meta(name, "batch"), "spec": {"schedule": cron}})


def schedule_dict(name: str, cron: str, **spec: Any) -> dict[str, Any]:
    return {"metadata": meta(name), "spec": {"schedule": cron, **spec}, "status": {"phase": "Enabled"}}


def ran(name: str, cron: str, last: str, **spec: Any) -> dict[str, Any]:
    """A schedule that has run lately, so that it is not due at once."""
    status = {"phase": "Enabled", "lastBackup": f"2026-11-15T{last}Z"}
    return {**schedule_dict(name, cron, **spec), "status": status}


def night() -> list[Resource]:
    return [*troubled(), prescaled("orders", "0 6 * * *", 30), cron_job("autogen-orders", "30 5 * * *")]


@asynccontextmanager
async def calendar(
    source: FilledSource | None = None, size: tuple[int, int] = SMALL, display_options: DisplayOptions | None = None
) -> AsyncIterator[tuple[Screen, Timeline]]:
    async with screen(source or FilledSource(night()), size, display_options) as shown:
        await shown.press("5")
        page = shown.app.main_screen.page
        assert isinstance(page, CalendarPage)
        await shown.until(lambda: _is_drawn(shown, page.lanes))
        yield shown, page.lanes


def _is_drawn(shown: Screen, lanes: Timeline) -> bool:
    """The lanes have their facts, and those are on the screen, as far as there are any."""
    if lanes.timeline is None or not lanes.timeline.order:
        return lanes.timeline is not None
    first = lanes.timeline.order[0].name[:6]
    return bool(lanes.lines) and any(first in line for line in shown.lines)


async def until_beats(shown: Screen, is_so: Callable[[], bool]) -> None:
    """Beats until the night that is foreseen meanwhile shows it."""

    for _ in range(500):
        await shown.tick()
        if is_so():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"it never came to that; the screen:\n{shown.text}")


def words_of(shown: Screen) -> str:
    """What the page says of the lane under the cursor."""
    assert shown.app.main_screen.page is not None
    pane = shown.app.main_screen.page.query_one("#pane", TextPane)
    return " ".join(pane.text.split())


def hours_of(shown: Screen) -> str:
    return next(line for line in shown.lines if "night ahead" in line or "next hours" in line)


TO_HOURS = ("z", "z", "z")
"""The keys to the zoom with the smallest cells."""


def signs_at(line: str, sign: str) -> list[int]:
    return [place for place, one in enumerate(line) if one == sign and place > STATE]


STATE = 27
"""Cells of a lane's name and state in a narrow terminal."""


def lane_of(shown: Screen, name: str) -> str:
    return next(line for line in shown.lines if line.lstrip(" ▌>│|").startswith(f"{name} "))


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_the_night_is_drawn_under_its_hours(size: tuple[int, int]) -> None:
    async with calendar(size=size) as (shown, _):
        await shown.press(*TO_HOURS)
        head = hours_of(shown)
        orders = lane_of(shown, "orders")
        assert signs_at(orders, "▎") == [head.index("06:00")]
        assert orders[: orders.rindex("▎")].endswith("▒▒▒▒")
        paused = lane_of(shown, "cassandra")
        assert {head.index(f"0{hour}:00") for hour in (4, 5, 6)} <= set(signs_at(paused, "‖"))
        assert "above maximum" in lane_of(shown, "broken")
        assert "now" in head
        assert shown.faults == []


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE, (160, 45), (200, 60)])
async def test_the_night_reaches_to_the_morning(size: tuple[int, int]) -> None:
    """At 80 columns it had five hours: the jam that the words named was not in the picture."""
    async with calendar(size=size) as (_, lanes):
        assert lanes.axis is not None
        assert lanes.axis.end - NOW > timedelta(hours=9)


async def test_z_goes_through_the_night_a_day_and_a_week_and_enter_opens_a_day() -> None:
    async with calendar() as (shown, lanes):
        for words in ("24 hours", "slots of", "next hours", "night ahead"):
            await shown.press("z")
            assert words in shown.text
        await shown.press("z", "z", "down", "enter")
        assert "24 hours" in shown.text
        axis = lanes.axis
        assert axis is not None
        assert f"{axis.start:%d %H:%M}" == "16 00:00"


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE, (200, 60)])
async def test_a_day_on_which_many_wait_stays_within_its_frame(size: tuple[int, int]) -> None:
    """At 120 columns `10 wait` has more cells than are left beside the cells of a day."""
    many = [schedule_dict(f"s{number}", "0 3 * * 0-5") for number in range(14)]
    long = [
        backup(f"s{number}-1", created="01:00:00", started="01:00:00", ended="01:20:00", of=f"s{number}")
        for number in range(14)
    ]
    source = FilledSource([location(), *(from_builtins(Schedule, one) for one in many), *long])
    async with calendar(source, size) as (shown, _):
        await shown.press("z", "z")
        assert any(line.rstrip("│ ").endswith(" WAITING") for line in shown.lines)
        assert any("no wait" in line for line in shown.lines), "a day without waiting says so"
        days = [line for line in shown.lines if re.search(r"\d\d(?: wait|, done)", line)]
        assert days
        assert {len(line.rstrip()) <= size[0] for line in shown.lines} == {True}
        if size != SMALL:
            assert {line[-1] for line in days} == {"│"}
            assert {line[-2] for line in days} == {" "}


async def test_a_theme_raises_the_whole_lane_under_the_cursor() -> None:
    """The colours of its runs stay; without a theme its name alone is reversed."""
    async with calendar(size=MIDDLE) as (shown, lanes):
        for theme, is_raised in (("dark", True), ("terminal", False), ("high-contrast", False)):
            shown.app.show_theme(theme)
            assert shown.app.main_screen.page is not None
            shown.app.main_screen.page.pulse()
            (line,) = [one for one in lanes.lines if any(piece.text.startswith("▌") for piece in one)]
            inner = line[1:-2]
            assert all(piece.style.bgcolor is not None for piece in inner) is is_raised
            assert any(piece.style.reverse for piece in inner) is not is_raised


@pytest.mark.sweep
async def test_whoever_comes_back_after_hours_does_not_read_the_old_night(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words stood there until the ranges of the new one were drawn."""
    async with calendar(FilledSource(hourly()[1:])) as (shown, lanes):
        await until_beats(shown, lambda: lanes.night is not None and lanes.night.night.draws > 0)
        await shown.press("1")
        for name in ("FEWEST_DRAWS", "_MOST_CPU"):
            monkeypatch.setattr(f"foretop_core.dashboard.night_player.{name}", 10**6)
        shown.source.manual.advance(timedelta(hours=2))
        await shown.press("5")
        await until_beats(shown, lambda: lanes.night is not None and lanes.night.night.now >= at("04:41"))


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, (120, 40)])
async def test_the_night_before_a_pause_is_not_told_as_if_it_were_now(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with calendar(FilledSource(hourly()), size) as (shown, _):
        await until_beats(shown, lambda: "By 06:00" in shown.text)
        slots = _slots_of(shown)
        assert slots[STATE:].strip(" │┤1"), "the coming runs are drawn"
        with monkeypatch.context() as slow:
            slow.setattr(NightPlayer, "work", lambda *_, **__: ())
            shown.source.change(SCHEDULE, ran("etcd", "0 * * * *", "02:00:03", paused=True))
            await until_beats(shown, lambda: "being computed" in shown.text)
            assert "By 06:00" not in shown.text
            assert "Peak" not in shown.text
            assert "starts 03:00" not in shown.text
            assert not _slots_of(shown)[STATE:].strip(" │┤1")
        await until_beats(shown, lambda: "until resumed: 1 is paused" in shown.text)
        assert "being computed" not in shown.text
        shown.source.change(BACKUP, _begun("etcd-9"))
        await shown.tick()
        assert "being computed" not in shown.text, "what runs moves on all the time, and plays another night soon"


async def test_a_night_that_was_left_before_it_was_played_is_played_on_return(monkeypatch: pytest.MonkeyPatch) -> None:
    async with calendar(FilledSource(hourly())) as (shown, lanes):
        await until_beats(shown, lambda: bool(_ranges(lanes)) and not _is_played(shown))
        with monkeypatch.context() as slow:
            for name in ("FEWEST_DRAWS", "_MOST_CPU"):
                slow.setattr(f"foretop_core.dashboard.night_player.{name}", 10**6)
            before = lanes.night
            shown.source.change(BACKUP, _begun("etcd-9"))
            await until_beats(shown, lambda: _is_played(shown))
            await shown.press("1")
        await shown.press("5")
        await until_beats(shown, lambda: lanes.night is not None and lanes.night is not before)
        assert lanes.night is not None
        assert [run.name for run in lanes.night.night.runs if run.name] == ["etcd-9"]
        assert lanes.night.night.now < at("02:42"), "another minute plays another night in any case"


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, (120, 40)])
async def test_the_chart_says_of_now_what_header_and_queue_say(size: tuple[int, int]) -> None:
    """A cell is an average of many minutes; of those that have not passed nobody asks at now."""
    begun = backup("etcd-9", "InProgress", created="02:40:50", started="02:40:50", of="etcd")
    waiting = [backup(f"hand-{n}", "Queued", created=f"02:41:0{n}") for n in range(3)]
    async with calendar(FilledSource([*hourly(), begun, *waiting]), size) as (shown, lanes):
        await until_beats(shown, lambda: lanes.night is not None)
        axis = lanes.axis
        assert axis is not None
        place = hours_of(shown).index("▼")
        assert _slots_of(shown)[place] == "█"
        queue = next(line for line in shown.lines if "waiting  " in line)
        assert queue[place] == "3"


def _is_played(shown: Screen) -> bool:
    return any(worker.group == "night" and worker.is_running for worker in shown.app.workers)


def _begun(name: str) -> dict[str, Any]:
    status = {"phase": "InProgress", "startTimestamp": "2026-11-15T02:40:00Z"}
    return {"metadata": meta(name), "spec": {}, "status": status}


def _slots_of(shown: Screen) -> str:
    return next(line for line in shown.lines if "slots " in line and "night ahead" not in line and "┤" in line)


async def test_left_and_right_move_by_a_quarter_and_z_returns_to_now() -> None:
    async with calendar() as (shown, lanes):
        before = lanes.axis
        await shown.press("right")
        after = lanes.axis
        assert before is not None
        assert after is not None
        assert after.start - before.start == timedelta(minutes=before.step * (before.cells // 4))
        await shown.press("z", *TO_HOURS)
        assert lanes.axis == before


async def test_a_key_draws_again_and_foresees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async with calendar() as (shown, lanes):
        assert lanes.timeline is not None
        model = lanes.timeline
        await shown.until(lambda: bool(model.nights) and all(one.night.draws for one in model.nights.values()))
        seen: list[int] = []
        monkeypatch.setattr(Foresight, "__init__", lambda *_: seen.append(1))
        await shown.press("down", "up", "right", "left")
        assert seen == []


async def test_moving_leads_through_the_lanes_and_stays_at_their_ends() -> None:
    many = [from_builtins(Schedule, schedule_dict(f"s{number:03}", "0 * * * *")) for number in range(200)]
    async with calendar(FilledSource([*many])) as (shown, lanes):

        def on() -> str:
            assert lanes.cursor is not None
            return lanes.cursor.name

        assert on() == "s000"
        await shown.press("down", "j")
        assert on() == "s002"
        await shown.press("up", "k", "k")
        assert on() == "s000"
        await shown.press("pagedown")
        assert on() == f"s{lanes.height - 1:03}"
        await shown.press("pageup", "end")
        assert on() == "s199"
        assert "200 of 200" in shown.text
        await shown.press("ctrl+b", "ctrl+f", "G", "down")
        assert on() == "s199"
        await shown.press("home")
        assert on() == "s000"


@pytest.mark.sweep
async def test_the_cursor_stays_with_its_schedule_while_others_come_and_go() -> None:
    async with calendar() as (shown, lanes):
        await shown.press("down", "down")
        key = lanes.cursor
        shown.source.change(SCHEDULE, ran("aaa-first", "15 * * * *", "02:15:03"))
        await until_beats(shown, lambda: "×" in lane_of(shown, "aaa-first") or "░" in lane_of(shown, "aaa-first"))
        assert lanes.cursor == key
        assert lanes.timeline is not None
        night = lanes.timeline.night_of(key)
        assert night is not None
        first = shown.source.key(SCHEDULE, "velero", "aaa-first")
        assert [f"{run.due:%H:%M}" for run in night.foreseen[first]][:3] == ["03:15", "04:15", "05:15"]


@pytest.mark.sweep
async def test_a_change_in_the_cluster_is_on_the_lane_at_the_next_beat() -> None:
    async with calendar(FilledSource(calm())) as (shown, _):
        await shown.press(*TO_HOURS)
        shown.source.change(SCHEDULE, ran("etcd-hourly", "0 5 * * *", "02:00:03"))
        await until_beats(shown, lambda: "2h18m" in lane_of(shown, "etcd-hourly"))
        assert len(signs_at(lane_of(shown, "etcd-hourly"), "╌")) <= 1
        assert lane_of(shown, "etcd-hourly")[hours_of(shown).index("05:00")] == "▆"
        shown.source.change(SCHEDULE, ran("etcd-hourly", "0 5 * * *", "02:00:03", paused=True))
        await until_beats(shown, lambda: bool(signs_at(lane_of(shown, "etcd-hourly"), "‖")))
        assert signs_at(lane_of(shown, "etcd-hourly"), "‖") == [hours_of(shown).index("05:00")]


async def test_an_idle_second_paints_no_lane_again() -> None:
    async with calendar() as (shown, lanes):
        before = list(lanes.lines)
        shown.source.manual.advance(timedelta(seconds=1))
        await shown.tick()
        assert list(lanes.lines) == before


async def test_jumping_leads_to_the_row_of_the_schedule_and_enter_opens_it() -> None:
    async with calendar() as (shown, lanes):
        await shown.press("down", "home")
        key = lanes.cursor
        await shown.press("J")
        assert shown.page == "schedules"
        assert shown.table.cursor == key
        await shown.press("5", "enter")
        assert shown.page == "detail"
        assert "schedule velero/etcd-hourly" in shown.text
        await shown.press("q")
        assert shown.page == "calendar"
        assert lanes.cursor == key


async def test_jumping_from_a_prescaled_job_opens_it_for_it_has_no_table() -> None:
    async with calendar() as (shown, lanes):
        assert lanes.go_to(shown.source.key(PRESCALED, "batch", "orders"))
        await shown.press("J")
        assert shown.page == "detail"
        assert "batch/orders" in shown.text


async def test_a_filter_narrows_the_lanes_and_escape_brings_them_back() -> None:
    async with calendar() as (shown, lanes):
        await shown.press("slash", *"hourly")
        assert lanes.timeline is not None
        assert [key.name for key in lanes.timeline.order] == ["etcd-hourly", "sales-hourly"]
        assert "cassandra" not in shown.text
        await shown.press("enter", "down")
        assert lanes.has_focus
        assert lanes.cursor is not None
        assert lanes.cursor.name == "sales-hourly"
        await shown.press("escape")
        assert "cassandra" in shown.text
        assert lanes.cursor.name == "sales-hourly"
        await shown.press("slash", *"zz")
        assert 'No row has "zz".  esc shows all ' in shown.text
        await shown.press("ctrl+w", "!")
        assert "text is missing after !" in shown.text
        await shown.press("ctrl+c")
        names = [key.name for key in lanes.timeline.order if key.name]
        assert sorted(names) == sorted(
            ["broken", "cassandra", "etcd-hourly", "mongo-nightly", "orders", "reports", "sales-hourly"]
        )
        assert not shown.app._exit


async def test_what_was_typed_before_the_facts_came_narrows_them_when_they_come() -> None:
    filled, may_open = FilledSource(night()), Event()

    def opened() -> FilledSource:
        assert may_open.wait(120)
        return filled

    app = Dashboard(opened, DisplayOptions(flash=False, page="calendar"))
    async with running(app, SMALL) as pilot:
        shown = Screen(app, pilot, filled)
        await shown.until(lambda: app.main_screen.page is not None)
        await shown.press("slash", *"hourly")
        may_open.set()
        await shown.until(lambda: "etcd-hourly" in shown.text)
        assert "cassandra" not in shown.text


@pytest.mark.sweep
async def test_the_hours_are_those_of_the_zone_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dashboard, "my_zone", ZoneInfo("Asia/Tokyo"))
    async with calendar() as (shown, _):
        await shown.press("Z", *TO_HOURS)
        head = hours_of(shown)
        assert lane_of(shown, "orders").index("▎") == head.index("15:00")


@pytest.mark.sweep
async def test_without_line_drawing_everything_is_ascii() -> None:
    async with calendar(display_options=DisplayOptions(ascii=True, flash=False)) as (shown, _):
        assert shown.text.isascii()
        await shown.press(*TO_HOURS)
        assert shown.text.isascii()
        assert "////'" in lane_of(shown, "orders")


@pytest.mark.sweep
async def test_an_empty_cluster_says_so_and_the_keys_do_no_harm() -> None:
    source = FilledSource([one for one in calm() if not isinstance(one, Schedule)])
    async with calendar(source) as (shown, lanes):
        assert "No schedules." in shown.text
        await shown.press("down", "end", "z", "J", "p")
        assert lanes.cursor is None
        assert shown.page == "calendar"
        assert shown.faults == []


@pytest.mark.sweep
async def test_lanes_of_two_clusters_say_whose_they_are() -> None:
    source = FilledSource(calm(), ("prod-eu", "prod-us"))
    async with calendar(source) as (shown, _):
        assert lane_of(shown, "eu etcd-hourly")
        assert lane_of(shown, "us etcd-hourly")
        assert "together" not in words_of(shown)


@pytest.mark.sweep
async def test_a_lane_has_the_sign_that_the_coming_run_has_on_the_page_of_schedules() -> None:
    """A Velero that is down makes no run, whether one is overdue yet or not, or another still runs."""
    silent = location(checked="02:10:03", synced="02:10:03")
    late, hourly = schedule("late", "20 * * * *", last="01:20:03"), schedule("hourly", "0 * * * *", last="02:00:03")
    held = schedule("held", "9 * * * *", last="02:09:03")
    runs = backup("held-1", "InProgress", created="02:09:03", started="02:09:03", of="held")
    async with calendar(FilledSource([silent, late, hourly, held, runs])) as (shown, _):
        signs = {name: lane_of(shown, name).split()[1] for name in ("late", "hourly", "held")}
        assert signs == {"late": "✗", "hourly": "▲", "held": "▲"}
        assert {name: lane_of(shown, name).split()[2] for name in signs} == {
            "late": "due",
            "hourly": "18m?",
            "held": "now",
        }
        await shown.press("2")
        await shown.until(
            lambda: all(re.search(rf"(?m)^[ ▌]{sign} .*\b{name} ", shown.text) for name, sign in signs.items())
        )


@pytest.mark.sweep
async def test_what_starts_next_comes_first_and_the_screen_stays_with_it_until_somebody_moves() -> None:
    soon, later = ran("z-soon", "45 2 * * *", "01:00:03"), ran("a-later", "50 2 * * *", "01:00:03")
    async with calendar(FilledSource([from_builtins(Schedule, one) for one in (later, soon)])) as (shown, lanes):
        assert lanes.timeline is not None
        assert [key.name for key in lanes.timeline.order] == ["z-soon", "a-later"]
        shown.source.manual.advance(timedelta(minutes=5))
        await until_beats(shown, lambda: " due " in lane_of(shown, "z-soon"))
        shown.source.change(SCHEDULE, ran("z-soon", "45 2 * * *", "02:45:03"))

        def order() -> list[str]:
            return [key.name for key in lanes.timeline.order] if lanes.timeline else []

        await until_beats(shown, lambda: order() == ["a-later", "z-soon"])
        assert lanes.cursor == shown.source.key(SCHEDULE, "velero", "a-later")
        await shown.press("down", "up")
        shown.source.manual.advance(timedelta(minutes=5))
        await shown.tick()
        assert lanes.cursor == shown.source.key(SCHEDULE, "velero", "a-later")


@pytest.mark.sweep
async def test_z_keeps_the_schedule_under_the_cursor_and_the_rule_says_where_it_is() -> None:
    async with calendar() as (shown, lanes):
        before = lanes.cursor
        assert lanes.timeline is not None
        assert f"lane 1 of {len(lanes.timeline.order)}" in shown.text
        await shown.press("z")
        shown.source.manual.advance(timedelta(minutes=35))
        await shown.tick()
        assert lanes.cursor == before


async def test_w_lists_all_that_start_together_and_leads_to_the_chosen_ones() -> None:
    crons = {
        "alone": "7 5 * * *",
        "early": "0 4 * * *",
        "early-too": "0 4 * * *",
        "six": "0 6 * * *",
        "sixth": "0 6 * * *",
    }
    objects = [from_builtins(Schedule, schedule_dict(name, cron)) for name, cron in crons.items()]
    async with calendar(FilledSource([*calm(), *objects])) as (shown, lanes):
        await shown.press("o")
        assert "Starting in the same minute within 24 hours: 2 sets" in shown.text
        assert re.search(r"04:00 +3 together: early, early-too and etcd-hourly", shown.text)
        await shown.press("down", "enter")
        assert lanes.cursor is not None
        assert lanes.cursor.name == "etcd-hourly"
        assert re.fullmatch(r"3 start together .*06:00.*: etcd-hourly, six, sixth", shown.app.told[-1][1])


@pytest.mark.sweep
async def test_sets_of_two_clusters_are_listed_by_their_first_minute_with_their_cluster() -> None:
    crons = {"early": "0 4 * * *", "six": "0 6 * * *"}
    objects = [from_builtins(Schedule, schedule_dict(name, cron)) for name, cron in crons.items()]
    async with calendar(FilledSource([*calm(), *objects], ("prod-eu", "prod-us"))) as (shown, _):
        await shown.press("o")
        listed = re.findall(r"(\d\d:\d\d) +(eu|us) +2 together: (\w+)", shown.text)
        assert listed == [
            ("04:00", "eu", "early"),
            ("04:00", "us", "early"),
            ("06:00", "eu", "etcd"),
            ("06:00", "us", "etcd"),
        ]


async def test_a_constant_delay_drifts_and_is_in_no_set_that_starts_together() -> None:
    """As in Triage."""
    drifting = from_builtins(Schedule, ran("drifting", "@every 1h", "02:00:03"))
    paused = from_builtins(Schedule, ran("paused", "@every 2h", "02:00:03", paused=True))
    async with calendar(FilledSource([*calm(), drifting, paused])) as (shown, _):
        await shown.press("o")
        told = "No two schedules start together within 24 hours; 1 with @every not counted"
        assert shown.app.told[-1][1] == told


async def test_w_says_where_nothing_starts_together() -> None:
    async with calendar(FilledSource(calm())) as (shown, _):
        await shown.press("o")
        assert shown.app.told[-1][1] == "No two schedules start together within 24 hours"


async def test_the_words_of_a_job_say_when_it_is_due_and_warmed_up() -> None:
    async with calendar() as (shown, lanes):
        assert lanes.go_to(shown.source.key(PRESCALED, "batch", "orders"))
        await shown.idle()
        await shown.press(*["shift+down"] * 5)
        assert "06:00, at 06:00 every day" in words_of(shown)
        assert "30 minutes before: 05:30 → 06:00" in words_of(shown)
        assert "by autogen-orders, 30 5 * * *" in words_of(shown)


async def test_a_run_that_is_due_and_about_to_be_made_is_told_before_the_next_one() -> None:
    """`Due` told the run after it, above the start of this one."""
    etcd = from_builtins(Schedule, ran("etcd", "41 * * * *", "01:41:30"))
    past = [
        backup(f"etcd-{n}", created=f"0{n}:41:30", started=f"0{n}:41:30", ended=f"0{n}:45:30", of="etcd")
        for n in range(2)
    ]
    async with calendar(FilledSource([*calm(), *past, etcd]), MIDDLE) as (shown, lanes):
        assert lanes.go_to(shown.source.key(SCHEDULE, "velero", "etcd"))
        await until_beats(shown, lambda: "Starts" in words_of(shown))
        assert re.search(r"Due since 02:41 .*Next 03:41, at 41 minutes past every hour", words_of(shown))


@pytest.mark.sweep
async def test_the_words_of_a_lane_say_when_it_starts_and_ends_and_with_whom() -> None:
    two = [from_builtins(Schedule, ran(name, "0 4 * * *", "02:00:03")) for name in ("early", "early-too")]
    async with calendar(FilledSource([*calm(), *two]), MIDDLE) as (shown, lanes):
        assert lanes.go_to(shown.source.key(SCHEDULE, "velero", "early"))
        await until_beats(shown, lambda: "90% sure by" in words_of(shown))
        assert "04:00, at 04:00 every day" in words_of(shown)
        assert re.search(r"Starts 04:14, waits 14m", words_of(shown))
        assert re.search(r"Ends 04:24, 90% sure by 04:3", words_of(shown))
        assert re.search(r"With early-too", words_of(shown))


@pytest.mark.sweep
async def test_a_minute_without_the_first_byte_of_a_volume_leaves_no_known_end_as_in_the_queue() -> None:
    """No object changes meanwhile, and now stays in its cell."""
    media = from_builtins(Schedule, ran("media", "40 * * * *", "02:40:30"))
    past = [
        backup(f"media-{n}", created=f"0{n}:40:30", started=f"0{n}:40:30", ended=f"0{n}:52:30", of="media")
        for n in range(2)
    ]
    runs = backup("media-now", "InProgress", created="02:40:30", started="02:40:30", of="media")
    waits = upload("thumbs", "Accepted", of="media-now", created="02:41:30")
    async with calendar(FilledSource([*calm(), media, *past, runs, waits]), (120, 40)) as (shown, lanes):
        assert lanes.go_to(shown.source.key(SCHEDULE, "velero", "media"))

        async def at_minute(minute: int) -> str:
            shown.source.manual.advance(timedelta(minutes=1))
            await until_beats(shown, lambda: bool(lanes.night and lanes.night.night.now.minute == minute))
            return words_of(shown)

        assert "Ends 02:5" in await at_minute(42)
        assert "Ends" not in await at_minute(43)


@pytest.mark.sweep
async def test_a_paused_lane_says_when_it_would_run_and_a_broken_one_why_not() -> None:
    async with calendar(size=MIDDLE) as (shown, lanes):
        assert lanes.go_to(shown.source.key(SCHEDULE, "velero", "broken"))
        await shown.idle()
        assert 'It does not run: end of range (8) above maximum (7): "8".' in words_of(shown)
        assert lanes.go_to(shown.source.key(SCHEDULE, "velero", "cassandra"))
        await shown.idle()
        assert "Would at once, then 03:00, every 30 minutes, if it were not paused" in words_of(shown)
        await shown.press("home")
        assert re.search(r"Runs since 01:00.* Next 03:00, .* Overdue since 02:00", words_of(shown)), (
            "the run at work first"
        )


@pytest.mark.sweep
async def test_time_passes_and_now_stays_at_a_quarter() -> None:
    async with calendar() as (shown, _):
        await shown.press(*TO_HOURS)
        place, six = hours_of(shown).index("▼"), hours_of(shown).index("06:00")
        shown.source.manual.advance(timedelta(minutes=36))
        await shown.tick()
        assert hours_of(shown).index("▼") == place
        assert hours_of(shown).index("06:00") == six - 6
        await until_beats(shown, lambda: lane_of(shown, "orders")[six - 6 :][:1] == "▎")


@pytest.mark.sweep
async def test_the_words_scroll_where_they_do_not_fit() -> None:
    async with calendar(size=(60, 18)) as (shown, lanes):
        assert lanes.go_to(shown.source.key(PRESCALED, "batch", "orders"))
        await shown.idle()
        assert "by autogen-orders" not in shown.text
        await shown.press(*["shift+down"] * 9)
        assert "by autogen-orders" in shown.text
        await shown.press(*["shift+up"] * 9)
        assert "by autogen-orders" not in shown.text


@pytest.mark.sweep
async def test_a_job_takes_no_slot_and_is_in_no_set_that_starts_together() -> None:
    two = [from_builtins(Schedule, ran(name, "0 4 * * *", "02:00:03")) for name in ("early", "early-too")]
    async with calendar(FilledSource([*calm(), *two, prescaled("batch", "0 4 * * *", 5)]), MIDDLE) as (shown, lanes):
        await until_beats(shown, lambda: lanes.night is not None)
        assert lanes.night is not None
        assert {run.owner.name for run in lanes.night.night.runs} == {"early", "early-too", "etcd-hourly"}
        await shown.press("o")
        assert re.search(r"04:00 +3 together: early, early-too and etcd-hourly", shown.text)


async def test_a_run_that_velero_will_refuse_has_its_sign_and_takes_no_slot() -> None:
    offsite = schedule("offsite", "0 4 * * *", last="2026-11-14T04:00:03Z", template={"storageLocation": "away"})
    objects = [*calm(), location("away", phase="Unavailable"), offsite]
    async with calendar(FilledSource(objects), MIDDLE) as (shown, lanes):
        await shown.press(*TO_HOURS)
        assert lanes.go_to(shown.source.key(SCHEDULE, "velero", "offsite"))
        await until_beats(shown, lambda: "refused" in words_of(shown))
        assert lane_of(shown, "offsite").index("×") == hours_of(shown).index("04:00")
        night = lanes.night
        assert night is not None
        refused = [run for run in night.night.typical if run.owner.name == "offsite"]
        assert refused
        assert all(run.start == run.released for run in refused)


async def test_a_window_is_drawn_and_told_and_can_be_switched_off() -> None:
    async with calendar(size=MIDDLE) as (shown, _):
        await shown.press(":", *"window 03:00-05:00", "enter")
        await until_beats(shown, lambda: "Window" in shown.text and "═" in hours_of(shown))
        await shown.press(":", *"window 5-3", "enter")
        assert "═" in hours_of(shown), "one that cannot be read changes nothing"
        await shown.press(":", *"window off", "enter")
        await until_beats(shown, lambda: "═" not in hours_of(shown))


@pytest.mark.sweep
@pytest.mark.parametrize("size", [SMALL, MIDDLE])
async def test_the_words_of_the_night_go_on_below_where_a_row_is_free(size: tuple[int, int]) -> None:
    names = [f"a-schedule-with-a-long-name-{number}" for number in range(5)]
    paused = [schedule(name, "0 4 * * *", paused=True) for name in names]
    async with calendar(FilledSource([*paused, location()]), size) as (shown, _):
        page = shown.app.main_screen.page
        assert page is not None
        pane = page.query_one("#pane" if size == SMALL else "#night", TextPane)
        await until_beats(shown, lambda: "Paused" in pane.text)
        told = f"5 schedules, all night: {names[0]}, {names[1]}, {names[2]} and 2 more"
        assert told in " ".join(pane.text.split())


async def test_the_line_of_a_lane_says_that_its_run_does_not_come_while_velero_is_silent() -> None:
    """It had said `next 03:00`, as if that were a backup."""
    silent = location(checked="01:00:00", synced="01:00:00")
    async with calendar(FilledSource([silent, *hourly()[1:]]), (80, 24)) as (shown, _):
        await until_beats(shown, lambda: "etcd due 03:00" in shown.text)
        assert re.search(
            r"This +etcd due 03:00 +Due +03:00, .* +created then; it completes when the storage", " ".join(shown.lines)
        )
        for _ in range(20):
            shown.source.manual.advance(timedelta(minutes=2))
            await shown.tick()
        await until_beats(shown, lambda: "etcd overdue since 03:00" in shown.text)


@pytest.mark.sweep
async def test_the_slots_in_use_reach_to_now_where_nothing_can_be_foreseen() -> None:
    """A silent server has no courses to draw: the page went on asking for them, and never took another look."""
    silent = location(checked="01:00:00", synced="01:00:00")
    going = backup("etcd-3", "InProgress", created="02:30:03", started="02:30:03", of="etcd")
    async with calendar(FilledSource([silent, *hourly()[1:], going]), (120, 40)) as (shown, lanes):
        await until_beats(shown, lambda: lanes.night is not None)
        shown.source.manual.advance(timedelta(minutes=30))
        await until_beats(shown, lambda: lanes.night is not None and lanes.night.night.now >= at("03:11"))
        bars = next(line for line in shown.lines if "slots in use" in line)
        lane = lane_of(shown, "etcd")
        assert bars.rindex("█") >= lane.rindex("█") - 1, "the lane is drawn to now"


def hourly() -> list[Resource]:
    """A schedule that has run three times, so that the next run can be told."""
    runs = [
        backup(f"etcd-{hour}", created=f"0{hour}:00:03", started=f"0{hour}:00:03", ended=f"0{hour}:05:03", of="etcd")
        for hour in (0, 1, 2)
    ]
    return [location(), schedule("etcd", "0 * * * *", last="02:00:03"), *runs]


def _ranges(lanes: Timeline) -> tuple[ForeseenRun, ...]:
    """The runs of the night, once it has ranges."""
    return lanes.night.night.runs if lanes.night is not None and lanes.night.night.draws else ()


@pytest.mark.sweep
@pytest.mark.parametrize(("number", "said"), [(40, "▌non-admin, 40 nab "), (140, "▌140 nab ")])
async def test_the_number_of_those_that_share_a_lane_is_not_cut(number: int, said: str) -> None:
    tenants = [
        backup(f"t-{at}", "Queued", created="02:40:00", annotations={NAB_NAMESPACE_ANNOTATION: "team"})
        for at in range(number)
    ]
    async with calendar(FilledSource([location(), *tenants])) as (shown, _):
        await until_beats(shown, lambda: "nab" in "".join(shown.lines))
        assert any(said in line for line in shown.lines), shown.text


async def test_what_keeps_a_run_of_a_dead_velero_is_said_once_at_80_columns() -> None:
    async with stand("dead") as box:
        await box.shown.press("5")
        await box.see("mail-hourly")
        await box.shown.press("down", "down")
        await box.see("This mail-hourly overdue since 02:23 ", "Overdue since 02:23, but it is not created until")
        await box.see("late: etcd-hourly")
        assert unfolded(box.shown.lines).count("but it is not created") == 1


async def test_a_long_night_drawn_beside_the_loop_looks_as_one_that_is_waited_for() -> None:
    async with screen(FilledSource(nabs_of_one_team(600)), size=MIDDLE) as shown:
        await shown.press("5")
        lanes = shown.app.screen.query_one(Timeline)
        page = shown.app.screen.query_one(CalendarPage)
        await shown.until(lambda: lanes.night is not None and lanes.night.is_long and lanes.night.night.draws > 0)
        await shown.until(lambda: " nab" in shown.text and "Peak" in shown.text)
        await shown.until(lambda: not any(worker.group == "pieces" for worker in shown.app.workers))
        beside, lanes.pieces = tuple(lanes.lines), None
        page.pulse()
        assert tuple(lanes.lines) == beside
