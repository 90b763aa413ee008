"""The header: connection and Velero told apart, and whole items left out where there is no room."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from foretop.main_screen.status_line_text import status
from foretop.main_screen.tab_bar_text import tabs
from foretop.widgets.line_widgets import StyledLine
from foretop.widgets.paragraphs import Line
from foretop.widgets.styles import CURSOR
from foretop_core.config.settings import Settings
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.kube.watching.watch_sink import WatchHealth, WatchScope, WatchState
from foretop_core.models import BackupStorageLocation
from foretop_core.models.kinds import BACKUP, DEPLOYMENT, KINDS, SCHEDULE, STORAGE
from foretop_core.models.wire import as_json
from foretop_core.pages import PAGES, TABS
from foretop_core.rules.pauses import PAUSED_BATCH, PAUSED_BY, PAUSED_UNTIL, PAUSED_WHY
from foretop_core.tables.text.terminal_text import width
from tests.objects import NOW, schedule
from tests.tui.dashboard_on_box import stand, unfolded
from tests.tui.fake_source import FilledSource, calm, troubled
from tests.tui.pilot import LARGE, MIDDLE, SMALL, screen
from tests.tui.test_quoted_times import state_of
from tests.tui.test_stale import wait_until_judged

OPENSHIFT = "openshift-adp/api-prod-eu-example-com:6443/kube:admin"


def text_of(line: Line) -> str:
    return "".join(piece.text for piece in line)


def header(source: FilledSource, cells: int = SMALL[0], options: DisplayOptions | None = None) -> str:
    """The first line of the screen, in so many cells."""
    line, time = map(text_of, status(state_of(source), options or DisplayOptions(), "all namespaces", cells))
    assert width(line) + width(time) <= cells
    return line.ljust(cells - width(time)) + time


async def test_a_silent_velero_is_not_live() -> None:
    async with screen(FilledSource(calm())) as shown:
        assert "API ●  Velero ●  " in shown.status
        for _ in range(4):
            shown.source.manual.advance(timedelta(minutes=3))
            await shown.tick()
        assert "API ●  Velero ✗ silent 12m" in shown.status


async def test_a_clock_that_jumps_does_not_silence_velero() -> None:
    """A machine that slept: nothing can have been read meanwhile."""
    async with screen(FilledSource(calm())) as shown:
        shown.source.manual.advance(timedelta(minutes=12))
        await shown.tick()
        assert "API ●  Velero · not known yet" in shown.status
        assert "not known yet whether it works" in shown.text
        assert "is judged at 02:56:07Z" in unfolded(shown.lines)
        for page in ("4", "5"):
            await shown.press(page)
            await shown.tick()
            assert "done by" not in shown.text
        await shown.press("1")
        for _ in range(2):
            shown.source.manual.advance(timedelta(minutes=2))
            await shown.tick()
        assert "API ●  Velero ✗ silent 16m" in shown.status
        await wait_until_judged(shown)
        assert "not known yet whether" not in shown.text


async def test_a_check_that_comes_in_ends_the_doubt_after_a_jump() -> None:
    async with screen(FilledSource(calm())) as shown:
        shown.source.manual.advance(timedelta(minutes=12))
        await shown.tick()
        assert "Velero ●" not in shown.status
        checked = as_json(next(item for item in calm() if isinstance(item, BackupStorageLocation)))
        checked["status"]["lastSyncedTime"] = "2026-11-15T02:53:03Z"
        shown.source.change(STORAGE, checked)
        await shown.tick()
        assert "API ●  Velero ●  " in shown.status
        await wait_until_judged(shown)
        assert "not known yet" not in shown.text


@pytest.mark.parametrize(
    ("scene", "ahead", "told"),
    [("outage", timedelta(days=4), "storage hangs"), ("dead", timedelta(days=-4), "down")],
)
async def test_a_clock_that_is_days_off_delays_no_judgement(scene: str, ahead: timedelta, told: str) -> None:
    """Before the first answer there is only the clock of this machine, and nothing that was read by it."""
    async with stand(scene, ahead=ahead) as at:
        await at.shown.until(lambda: "API ●" in at.shown.status)
        assert f"Velero ✗ {told}" in at.shown.status
        assert "No problems" not in at.shown.text


async def test_where_velero_is_not_installed_the_header_says_so() -> None:
    source = FilledSource([])
    for kind in (SCHEDULE, BACKUP, STORAGE):
        source.fare(kind, WatchState.NOT_INSTALLED)
    async with screen(source) as shown:
        assert "API ●  Velero ✗ not installed" in shown.status


@pytest.mark.sweep
async def test_a_cluster_that_was_never_reached_is_not_stale() -> None:
    source = FilledSource([])
    for kind in KINDS:
        source.fare(kind, WatchState.STALE, "the connection was refused")
    async with screen(source) as shown:
        await shown.press("2")
        assert "API ▲ cannot connect, again in 8s" in shown.status
        assert "Velero" not in shown.status
        assert "Cannot connect for 40 seconds: the connection was refused" in shown.text


def held(count: int, until: str = "2026-11-15T04:30:00Z", window: str = "ab12cd", why: str = "CHG-4711") -> list[Any]:
    """Schedules of one pause window, none of which has missed a run."""
    notes = {PAUSED_BY: "maria", PAUSED_WHY: why, PAUSED_UNTIL: until, PAUSED_BATCH: window}
    return [
        schedule(f"{window}-{number}", "0 4 * * *", last="2026-11-14T04:00:03Z", paused=True, annotations=notes)
        for number in range(count)
    ]


def between(line: str) -> list[str]:
    """The items of the line, whatever is between them."""
    return [item.strip() for item in line.split("  ") if item.strip()]


WIDE_REST = ["slots ▁▁▁ 0/3", "API ●", "Velero 1.18 ●", "02:41:07Z"]
NARROW_REST = ["slots 0/3", "API ●", "Velero ●", "02:41:07Z"]


@pytest.mark.parametrize(
    ("paused", "wide", "narrow"),
    [
        ([], [], []),
        (held(5), ["‖ CHG-4711: 5 paused, to resume 04:30"], ["‖ 5 paused, to resume 04:30"]),
        (held(5, why=""), ["‖ 5 paused, to resume 04:30"], ["‖ 5 paused, to resume 04:30"]),
        (held(5, until=""), ["‖ CHG-4711: 5 paused"], ["‖ 5 paused"]),
        (
            held(5, until="2026-11-16T04:30:00Z"),
            ["‖ CHG-4711: 5 paused, to resume 16 Nov"],
            ["‖ 5 paused, to resume 16 Nov"],
        ),
        (
            [*held(5), *held(4, window="x")],
            ["‖ 2 windows, 9 paused, first to resume 04:30"],
            ["‖ 9 paused, first to resume 04:30"],
        ),
        (
            [*held(1, until="2026-11-15T06:15:00Z"), *held(1, until="2026-11-15T05:00:00Z", window="x")],
            ["‖ 2 windows, 2 paused, first to resume 05:00"],
            ["‖ 2 paused, first to resume 05:00"],
        ),
        (held(5, until="2026-11-15T02:29:00Z"), ["‖ 5 paused, 12m past the end"], ["‖ 5 paused, 12m over"]),
    ],
    ids=["none", "window", "no reason", "no end", "another day", "two", "two ends", "over its end"],
)
def test_a_pause_window_is_in_the_header_until_somebody_resumes_it(
    paused: list[Any], wide: list[str], narrow: list[str]
) -> None:
    cluster = "prod-eu ▲1" if "past" in "".join(wide) else "prod-eu ●"
    source = FilledSource([*calm(), *paused])
    assert between(header(source, MIDDLE[0])) == [cluster, "all ns", *wide, *WIDE_REST]
    scope = ["all ns"] if len("".join(narrow)) < 15 else []
    rest = [item for item in NARROW_REST if item != "Velero ●" or "first" not in "".join(narrow)]
    assert between(header(source)) == [cluster, *scope, *narrow, *rest]


def test_what_is_overdue_goes_before_a_window_and_what_a_window_holds_is_not_meant() -> None:
    late = schedule("late", "0 * * * *", last="01:00:03", paused=True)
    source = FilledSource([*calm(), *held(5), late])
    assert "‖ 1 of 7 paused, 1 overdue  ‖ CHG-4711: 5 paused, to resume 04:30" in header(source, LARGE[0])
    assert "‖ 1 overdue  ‖ 5 paused  " in header(source)
    notes = {PAUSED_BY: "maria", PAUSED_UNTIL: "2026-11-15T04:30:00Z", PAUSED_BATCH: "ab12cd"}
    missing = schedule("etcd", "0 * * * *", last="01:00:03", paused=True, annotations=notes)
    assert "‖ 1 paused, 1 due, to resume 04:30" in header(FilledSource([*calm(), missing]))
    source = FilledSource([*calm(), missing, late])
    assert "‖ 1 overdue  ‖ 1 paused  " in header(source), "what a window misses on purpose is not overdue"
    assert "‖ 1 of 3 paused, 1 overdue  ‖ 1 paused, 1 due, to resume 04:30" in header(source, LARGE[0])
    endless = schedule("etcd", "0 * * * *", last="01:00:03", paused=True, annotations={PAUSED_BATCH: "ab12cd"})
    assert "‖ 1 of 2 paused, 1 overdue" in header(FilledSource([*calm(), endless]), LARGE[0])


@pytest.mark.parametrize("context", ["prod-eu", "minicluster-two"])
def test_an_open_window_stays_beside_an_overdue_pause_and_a_slow_clock(
    context: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FilledSource, "skew", lambda _self, _context: timedelta(minutes=3))
    items = set(between(header(FilledSource([*troubled(), *held(38)], (context,)))))
    assert items >= {"‖ 1 overdue", "02:41:07Z"}
    assert items & {"‖ 38 paused, to resume 04:30", "‖ 38 paused"}
    assert items & {"local clock 3m slow", "clock 3m slow"}


@pytest.mark.parametrize("context", ["prod-eu", "minicluster"])
def test_the_slots_stay_beside_an_open_window(context: str) -> None:
    """Who has paused everything waits for them to become free."""
    items = between(header(FilledSource([*troubled(), *held(38)], (context,))))
    assert "slots 3/3" in items
    assert set(items) & {"‖ 38 paused, to resume 04:30", "‖ 38 paused"}


def test_a_window_that_is_over_is_told_beside_what_is_overdue() -> None:
    late = schedule("late", "0 * * * *", last="01:00:03", paused=True)
    notes = {PAUSED_BY: "maria", PAUSED_UNTIL: "2026-11-15T02:29:00Z", PAUSED_BATCH: "ab12cd"}
    over = schedule("etcd", "0 * * * *", last="00:00:03", paused=True, annotations=notes)
    assert "‖ 1 overdue  ‖ 1 paused, 12m over" in header(FilledSource([*calm(), over, late]))
    alone = header(FilledSource([*calm(), over]))
    assert "‖ 1 paused, 12m over" in alone
    assert "overdue" not in alone


@pytest.mark.sweep
async def test_each_cluster_has_its_own_counts_and_slots() -> None:
    source = FilledSource(troubled(), ("prod-eu",))
    source.contexts = ("prod-eu", "prod-us")
    for kind in (SCHEDULE, BACKUP, STORAGE, DEPLOYMENT):
        source.store.sink(WatchScope("prod-us", kind), source.manual).health(WatchHealth(WatchState.LIVE, NOW))
    source.store.fill("prod-us", calm(), source.manual)
    async with screen(source, MIDDLE) as shown:
        assert shown.lines[0].startswith(" prod-eu ✗5 ▲3 · prod-us ●")
        assert "slots 3/3 · 0/3" in shown.status
        await shown.press(":", *"ctx prod-us", "enter")
        assert shown.lines[0].startswith(" prod-us ●   ")
        assert "slots ▁▁▁ 0/3" in shown.status


async def test_a_cluster_that_is_lost_says_so_where_its_counts_were() -> None:
    async with screen(FilledSource(troubled(), ("prod-eu", "prod-us")), LARGE) as shown:
        for kind in KINDS:
            shown.source.fare(kind, WatchState.STALE, "the connection was refused", ("prod-us",))
        await shown.tick()
        assert " prod-eu ✗5 ▲3 · prod-us ✗ unreachable, seen 40s ago   all namespaces" in shown.lines[0]
        assert "slots 3/3 · ?   API ✗ prod-us " in shown.status


async def test_a_cluster_that_is_not_seen_yet_is_named_and_not_counted() -> None:
    async with screen(FilledSource(troubled(), ("prod-eu", "prod-us")), LARGE) as shown:
        for kind in KINDS:
            shown.source.fare(kind, WatchState.SYNCING, "", ("prod-us",))
        await shown.tick()
        assert "API ▲ prod-us " in shown.status


def test_a_cluster_that_is_lost_is_in_triage_within_seconds_however_long_the_rules_rest() -> None:
    """They rest for a share of the time that they took: a minute on a slow machine. Here no time passes for them."""
    source = FilledSource(troubled(), ("prod-eu", "prod-us"))
    state = DashboardState(source, lambda: 0.0)
    state.judge(at_once=True)
    for kind in KINDS:
        source.fare(kind, WatchState.STALE, "the connection was refused", ("prod-us",))
    source.manual.advance(timedelta(seconds=6))
    state.begin_frame()
    state.judge()
    assert [one.subject.name for one in state.findings if one.code == "velero-out-of-reach"] == ["prod-us"]


def test_many_clusters_are_counted_together() -> None:
    line = header(FilledSource(troubled(), ("a", "b", "c", "d")))
    assert line.startswith(" 4 clusters ✗20 ▲12  ")
    assert "slots 12/12" in line


@pytest.mark.sweep
async def test_what_is_not_all_seen_is_not_well() -> None:
    async with screen(FilledSource(calm())) as shown:
        assert shown.lines[0].startswith(" prod-eu ●  ")
        shown.source.fare(BACKUP, WatchState.FORBIDDEN)
        await wait_until_judged(shown)
        assert shown.lines[0].startswith(" prod-eu ○  ")


@pytest.mark.parametrize("columns", [80, 120])
def test_the_speed_of_the_demo_is_always_told(columns: int) -> None:
    """At sixty times the speed a clock that nobody explains looks broken."""
    assert "demo ×60  " in header(FilledSource([*troubled(), *held(5)]), columns, DisplayOptions(speed=60.0))


@pytest.mark.sweep
def test_a_plain_terminal_gets_plain_blocks() -> None:
    plain = DisplayOptions(ascii=True)
    assert "slots ### 3/3" in header(FilledSource(troubled()), 120, plain)
    assert "slots ... 0/3" in header(FilledSource(calm()), 120, plain)


async def test_a_beat_that_changes_nothing_draws_only_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    async with screen(FilledSource([*calm(), *held(5)])) as shown:
        monkeypatch.setattr(StyledLine, "refresh", lambda line, *_args, **_more: drawn.append(line.id or ""))
        shown.source.manual.advance(timedelta(seconds=1))
        await shown.tick()
        assert drawn == ["clock"]


@pytest.mark.parametrize(
    ("columns", "items"),
    [
        (120, ["prod-eu ✗5 ▲3", "all ns", "‖ 2 of 6 paused, 1 overdue", "slots ███ 3/3", "API ●", "Velero 1.18 ●"]),
        (80, ["prod-eu ✗5 ▲3", "‖ 2 paused, 1 overdue", "slots 3/3", "API ●", "Velero ●"]),
        (60, ["prod-eu ✗5 ▲3", "‖ 1 overdue", "slots 3/3", "API ●"]),
        (40, ["prod-eu ✗5 ▲3", "‖ 1 overdue"]),
    ],
)
async def test_whole_items_are_left_out_the_least_important_first(columns: int, items: list[str]) -> None:
    async with screen(size=(columns, 12)) as shown:
        assert between(shown.lines[0]) == [*items, "02:41:07Z"]


@pytest.mark.parametrize(
    ("columns", "start"),
    [
        (200, f" {OPENSHIFT} ✗5 ▲3   all namespaces "),
        (80, " prod-eu-example-com ✗5 ▲3  "),
        (40, " prod-eu…-com ✗5 ▲3  "),
    ],
)
def test_a_long_context_is_shortened_to_its_cluster(columns: int, start: str) -> None:
    assert header(FilledSource(troubled(), (OPENSHIFT,)), columns).startswith(start)


@pytest.mark.parametrize("columns", [40, 47, 55, 64, 72, 80, 93, 101, 120])
def test_no_item_is_crushed_at_any_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FilledSource, "skew", lambda _self, _context: timedelta(hours=6, minutes=12))
    items = set(between(header(FilledSource(troubled(), ("a", "b", "c")), columns, DisplayOptions(read_only=True))))
    assert items <= {
        *("a ✗5 ▲3 · b ✗5 ▲3 · c ✗5 ▲3", "3 clusters ✗15 ▲9", "all ns", "API ●", "Velero 1.18 ●", "Velero ●"),
        *(
            "‖ 6 of 18 paused, 3 overdue",
            "‖ 6 paused, 3 overdue",
            "‖ 3 overdue",
            "‖3",
            "slots 3/3 · 3/3 · 3/3",
            "3/3 · 3/3 · 3/3",
        ),
        *("READ-ONLY", "RO", "local clock 6h12m slow", "clock 6h12m slow", "02:41:07Z", "02:41:07"),
    }
    assert items & {"a ✗5 ▲3 · b ✗5 ▲3 · c ✗5 ▲3", "3 clusters ✗15 ▲9"}
    assert items & {"READ-ONLY", "RO"}
    assert items & {"‖ 6 of 18 paused, 3 overdue", "‖ 6 paused, 3 overdue", "‖ 3 overdue", "‖3"}
    assert items & {"02:41:07Z", "02:41:07"}


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.id)
def test_the_current_tab_is_marked_at_every_width(columns: int, tab: object) -> None:
    current = next(one for one in TABS if one is tab)
    line = tabs(TABS, current.id, columns)
    assert len(text_of(line)) <= columns
    marked = "".join(piece.text for piece in line if piece.style.reverse == CURSOR.reverse)
    assert marked.replace(" ", "") in (f"{current.digit}{current.short}", f"{current.digit}{current.name}")
    assert [letter for letter in text_of(line) if letter.isdigit()] == [f"{tab.digit}" for tab in TABS]


def test_tabs_have_their_full_names_where_there_is_room() -> None:
    assert "2 Schedules  3 NonAdmin  4 Queue  5 Calendar" in text_of(tabs(TABS, "triage", 120))
    assert "2Sched 3NonAdm 4Queue 5Cal" in text_of(tabs(TABS, "triage", 80))


@pytest.mark.parametrize("columns", range(80, 201))
def test_the_tabs_keep_their_places_beside_a_page_without_one(columns: int) -> None:
    for page in (one for one in PAGES.values() if one not in TABS):
        line = text_of(tabs(TABS, page.id, columns, page))
        assert len(line) <= columns
        alone, _, beside = line.rpartition(" :")
        assert alone.rstrip() == text_of(tabs(TABS, "", columns)), page.id
        assert beside in (page.name, page.short)


@pytest.mark.sweep
async def test_storage_has_no_digit_and_stands_last_while_it_is_shown() -> None:
    async with screen() as shown:
        alone = "".join(f" {tab.digit}{tab.short}" for tab in TABS)
        assert shown.lines[1] == alone
        await shown.press(":", *"storage", "enter")
        assert shown.lines[1] == f"{alone} :Storage"
        await shown.press("escape")
        assert shown.page == "triage"


async def test_the_last_digit_opens_its_page_and_says_nothing_of_another() -> None:
    async with screen() as shown:
        await shown.press("9")
        assert shown.page == "protection"
        assert [text for _, text in shown.app.told if ":storage" in text] == []


async def test_the_configuration_chooses_and_orders_the_tabs() -> None:
    async with screen() as shown:
        shown.app.main_screen.configure(Settings(tabs=("storage", "triage", "pods")))
        await shown.tick()
        assert shown.lines[1] == " 1 Storage  2 Triage  3 Pods"
        await shown.press("1")
        assert shown.page == "storage"
        await shown.press("3", "7")
        assert shown.page == "pods"
        assert shown.app.told[-1][1] == "No tab has the digit 7: tabs in the configuration lists 3 pages"
        await shown.press(":", *"queue", "enter")
        assert shown.lines[1] == " 1 Storage  2 Triage  3 Pods  :Queue"
        await shown.press("escape")
        assert shown.page == "pods"
        shown.app.main_screen.configure(Settings())


@pytest.mark.parametrize(("size", "fits"), [((40, 10), True), ((39, 24), False), ((80, 9), False), ((20, 4), False)])
async def test_a_terminal_that_is_too_small_says_so(size: tuple[int, int], fits: bool) -> None:
    async with screen(size=size) as shown:
        words = " ".join(" ".join(strip.text for strip in shown.app.screen._compositor.render_strips()).split())
        assert ("prod-eu" in words) is fits
        assert (words == f"Terminal too small: {size[0]}x{size[1]}. foretop needs 40x10. q quits.") is not fits
