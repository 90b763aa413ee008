"""The header: connection and Velero told apart, and whole items left out where there is no room."""

from __future__ import annotations

from datetime import timedelta

import pytest

from foretop.main_screen.tab_bar_text import tabs
from foretop.widgets.paragraphs import Line
from foretop.widgets.styles import CURSOR
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.kube.watching.watch_sink import WatchState
from foretop_core.models.kinds import BACKUP, KINDS, SCHEDULE, STORAGE
from foretop_core.pages import TABS
from tests.tui.fake_source import FilledSource, calm, troubled
from tests.tui.pilot import screen

OPENSHIFT = "openshift-adp/api-prod-eu-example-com:6443/kube:admin"


def text_of(line: Line) -> str:
    return "".join(piece.text for piece in line)


async def test_a_silent_velero_is_not_live() -> None:
    async with screen(FilledSource(calm())) as shown:
        assert "API ● live   Velero 1.18 ● active" in shown.status
        shown.source.manual.advance(timedelta(minutes=12))
        await shown.tick()
        assert "API ● live   Velero 1.18 ✗ silent 12m" in shown.status


async def test_where_velero_is_not_installed_the_header_says_so() -> None:
    source = FilledSource([])
    for kind in (SCHEDULE, BACKUP, STORAGE):
        source.fare(kind, WatchState.NOT_INSTALLED)
    async with screen(source) as shown:
        assert "API ● live   Velero ✗ not installed" in shown.status


async def test_a_cluster_that_was_never_reached_is_not_stale() -> None:
    source = FilledSource([])
    for kind in KINDS:
        source.fare(kind, WatchState.STALE, "the connection was refused")
    async with screen(source) as shown:
        await shown.press("2")
        assert "API ▲ cannot connect, again in 8s" in shown.status
        assert "Velero" not in shown.status
        assert "Cannot connect for 40 seconds: the connection was refused" in shown.text


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        (120, " prod-eu   all namespaces"),
        (80, " prod-eu   all ns     ‖ 2/6, 1 over   API ● live   Velero ●   ✗5 ▲3   02:41:07Z"),
        (40, " prod-eu    ‖ 2/6, 1 over  API ●  ✗5 ▲3"),
    ],
)
async def test_whole_items_are_left_out_the_least_important_first(columns: int, header: str) -> None:
    async with screen(size=(columns, 12)) as shown:
        assert shown.lines[0].startswith(header)
        assert "✗5 ▲3" in shown.lines[0], "what is wrong is always counted"


@pytest.mark.parametrize(
    ("columns", "header"),
    [
        (160, f" {OPENSHIFT}   all namespaces "),
        (80, " prod-eu-example-com   "),
        (40, " prod-eu…-com          ‖1  API ●  ✗5 ▲3"),
    ],
)
async def test_a_long_context_is_shortened_to_its_cluster(columns: int, header: str) -> None:
    async with screen(FilledSource(troubled(), (OPENSHIFT,)), size=(columns, 12)) as shown:
        assert shown.lines[0].startswith(header)
        assert "✗5 ▲3" in shown.lines[0]


@pytest.mark.parametrize("columns", [40, 47, 55, 64, 72, 80, 93, 101, 120])
async def test_no_item_is_crushed_at_any_width(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FilledSource, "skew", lambda _self, _context: timedelta(hours=6, minutes=12))
    display_options = DisplayOptions(flash=False, read_only=True)
    async with screen(
        FilledSource(troubled(), ("a", "b", "c")), size=(columns, 12), display_options=display_options
    ) as shown:
        items = {item.strip() for item in shown.lines[0].split("  ") if item.strip()}
        assert items <= {
            *(
                "3 contexts",
                "all namespaces",
                "all ns",
                "API ● 3 of 3 live",
                "API ● 3/3",
                "Velero 1.18 ● active",
                "Velero ● active",
            ),
            *("‖ 6 of 18 paused, 3 overdue", "‖ 6/18, 3 over", "‖3"),
            *("Velero ●", "✗15 ▲9", "READ-ONLY", "RO", "local clock 6h12m slow", "clock 6h12m slow", "02:41:07Z"),
        }
        assert {"3 contexts", "✗15 ▲9"} <= items
        assert items & {"API ● 3 of 3 live", "API ● 3/3"}
        assert items & {"READ-ONLY", "RO"}
        assert items & {"‖ 6 of 18 paused, 3 overdue", "‖ 6/18, 3 over", "‖3"}


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("tab", TABS, ids=lambda tab: tab.id)
def test_the_current_tab_is_marked_at_every_width(columns: int, tab: object) -> None:
    current = next(one for one in TABS if one is tab)
    line = tabs(TABS, current.id, columns)
    assert len(text_of(line)) <= columns
    marked = "".join(piece.text for piece in line if piece.style.reverse == CURSOR.reverse)
    assert marked.replace(" ", "") in (f"{current.digit}{current.short}", f"{current.digit}{current.name}")
    assert [letter for letter in text_of(line) if letter.isdigit()] == list("123456789")


def test_tabs_have_their_full_names_where_there_is_room() -> None:
    assert "2 Schedules  3 NonAdmin  4 Queue  5 Calendar" in text_of(tabs(TABS, "triage", 120))
    assert "2Sched 3NonAdm 4Queue 5Cal" in text_of(tabs(TABS, "triage", 80))


@pytest.mark.parametrize(("size", "fits"), [((40, 10), True), ((39, 24), False), ((80, 9), False), ((20, 4), False)])
async def test_a_terminal_that_is_too_small_says_so(size: tuple[int, int], fits: bool) -> None:
    async with screen(size=size) as shown:
        words = " ".join(" ".join(strip.text for strip in shown.app.screen._compositor.render_strips()).split())
        assert ("prod-eu" in words) is fits
        assert (words == f"Terminal too small: {size[0]}x{size[1]}. foretop needs 40x10. q quits.") is not fits
