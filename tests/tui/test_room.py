"""What is made of the room: the essentials at 40 by 12, more with more."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from foretop.pages.table_page import TablePage
from foretop.panes.page_records import TABLE_PAGES
from foretop.panes.run_chart_pane import run_chart_lines
from foretop.terminal.themes import to_ascii
from foretop.widgets.column_layout import LONG_NAME, NAME, arrange
from foretop.widgets.paragraphs import Line, Paragraph, span, wrap
from foretop.widgets.styles import style_of
from foretop.widgets.table_strips import section_strip
from foretop_core.clock import ManualClock
from foretop_core.dashboard.table_models import SectionRow
from foretop_core.models.kinds import SCHEDULE
from foretop_core.models.wire import ObjectRef, Resource
from foretop_core.pages import TABS
from foretop_core.store import Store
from foretop_core.tables.engine.render_context import RenderContextFactory
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.resources.schedules import SchedulesView
from tests.examples import sampled
from tests.objects import NOW, backup, schedule
from tests.tui.fake_source import FilledSource, calm
from tests.tui.pilot import LARGE, MIDDLE, SMALL, TINY, screen
from tests.tui.test_scenes import objects_of

_AT_40 = 36
"""What a line of 40 cells has for columns."""


@pytest.mark.parametrize(
    ("page", "natural", "essential"),
    [
        ("triage", {"subject": 40, "what": 60, "severity": 9, "since": 6}, {"subject", "what"}),
        ("nonadmin", {"namespace": 12, "name": 26, "velero": 15}, {"namespace", "name", "velero"}),
        ("queue", {"position": 2, "name": 60, "at": 6}, {"position", "name", "at"}),
        ("restores", {"name": 60, "backup": 60, "phase": 15}, {"name", "phase"}),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_forty_cells_have_what_a_row_is_about_and_how_it_is(
    page: str, natural: dict[str, int], essential: set[str]
) -> None:
    spec = TABLE_PAGES[page]
    columns = spec.view.columns
    sizes = [max(column.cells, natural.get(column.name, len(column.title))) for column in columns]
    slots = arrange(columns, sizes, _AT_40, spec.priorities)
    shown = {columns[slot.index].name: slot.width for slot in slots}
    assert essential <= shown.keys()
    assert slots[-1].x + slots[-1].width <= _AT_40


@pytest.mark.sweep
async def test_triage_says_at_forty_by_twelve_what_is_wrong_with_the_finding_under_the_cursor() -> None:
    async with screen(size=TINY) as shown:
        await shown.settle()
        assert isinstance(shown.app.main_screen.page, TablePage)
        assert len([line for line in shown.lines[3:6] if line.strip()]) == 3, shown.text
        await shown.press("tab")
        first = shown.pane
        assert len(first.split()) > 3
        await shown.press("tab", "down", "tab")
        assert shown.pane != first


def test_a_long_name_is_parted_before_its_uuid_also_where_a_colon_follows() -> None:
    name = "team-data-sessions-0226-8-b6bcf519-c041-4f66-a640-b2d9be1867e9"
    (first, second, *_) = wrap([Paragraph((span(name, bold=True), span(": InProgress")))], 53)
    assert _text(first) == "team-data-sessions-0226-8-"
    assert _text(second) == "b6bcf519-c041-4f66-a640-b2d9be1867e9: InProgress"
    assert (second[0].style.bold, second[1].style.bold) == (True, None)


@pytest.mark.sweep
async def test_a_name_takes_the_room_that_a_shorter_wording_beside_it_leaves() -> None:
    names = [f"team-{'x' * 36}-{number}" for number in range(3)]
    owned = [
        backup(
            name,
            started="02:00:03",
            ended="02:10:03",
            annotations={
                "openshift.io/oadp-nab-origin-name": "a-name-that-is-far-too-long-for-its-column-to-be-shown",
                "openshift.io/oadp-nab-origin-namespace": "team-a",
            },
        )
        for name in names
    ]
    async with screen(FilledSource([*calm(), *owned]), LARGE) as shown:
        await shown.press("7")
        assert any(line.endswith("  nab") for line in shown.table_lines), shown.text
        assert all(any(name in line for line in shown.lines) for name in names), shown.text


@pytest.mark.sweep
async def test_forty_cells_show_which_section_of_how_many_is_open() -> None:
    async with screen(size=TINY) as shown:
        await shown.press("7", "enter", "right")
        assert "─ Volumes ─ 2 of 7 sections ─" in shown.lines[3]
        await shown.press("2", "enter", "right")
        assert "─ Overview Events Changes Describe YAML" in shown.lines[3]


@pytest.mark.sweep
async def test_a_page_takes_no_room_before_it_is_the_one_on_the_screen() -> None:
    async with screen() as shown:
        await shown.settle()
        before = shown.table.size
        page = await shown.app.main_screen._page("backups")
        await shown.idle()
        assert shown.table.size == before
        assert not page.display


def _chart(objects: list[Resource], cells: int = 80) -> list[Line]:
    store = Store()
    clock = ManualClock(NOW)
    store.fill("prod", objects, clock)
    key = ObjectRef("prod", SCHEDULE.name, "velero", "etcd")
    found = store.get(key)
    assert found is not None
    entry = SchedulesView().entry(store, key, found)
    assert entry is not None
    render = RenderContextFactory(store, "prod").render_context(NOW)
    return wrap(run_chart_lines(entry, render, cells, 4), cells)


def _etcd(hour: int, minutes: int, phase: str = "Completed", **more: Any) -> Resource:
    at = f"{hour:02}:00"
    return backup(
        f"etcd-{hour:02}",
        phase,
        created=f"{at}:03",
        started=f"{at}:03",
        ended=f"{hour:02}:{minutes:02}:03",
        of="etcd",
        **more,
    )


def test_a_pause_is_not_counted_as_a_run() -> None:
    """As in the table, where it takes no outcome's place."""
    paused = schedule("etcd", "0 * * * *", last="00:00:03", paused=True)
    assert "RUNS  the only one" in _text(_chart([paused, _etcd(0, 5)])[0])


def test_a_chart_of_runs_is_as_high_as_they_took_and_marks_failures_besides_their_colour() -> None:
    runs = [_etcd(0, 5), _etcd(1, 30, "Failed"), _etcd(2, 10)]
    lines = _chart([schedule("etcd", "0 * * * *", last="02:00:03"), *runs])
    assert [_text(line).rstrip() for line in lines[1:6]] == [
        " 30m┤  █",
        "    │  █",
        " 15m┤  █ ▃",
        "    │▅ █ █",
        "    └──F───",
    ]
    assert any(piece.style == style_of(Tone.BAD) and "█" in piece.text for piece in lines[1])
    assert "F failed" in _text(lines[6])
    assert all(to_ascii(_text(line)).isascii() for line in lines)


def test_a_run_that_was_missed_has_its_place_in_the_chart() -> None:
    lines = _chart([schedule("etcd", "0 * * * *", last="02:00:03"), _etcd(0, 5), _etcd(2, 5)])
    assert _text(lines[5]).rstrip() == "    └──×───"
    assert "RUNS  last 3, oldest first" in _text(lines[0])


def test_a_wider_line_has_a_longer_chart() -> None:
    objects = [schedule("etcd", "0 * * * *", last="02:00:03"), *(_etcd(hour, 5) for hour in range(3))]
    assert _text(_chart(objects, 13)[-1]).rstrip() == "    └──────"
    assert _text(_chart(objects, 9)[-1]).rstrip() == "    └────"


def _text(line: Line) -> str:
    return "".join(piece.text for piece in line)


@pytest.mark.sweep
@pytest.mark.parametrize(("size", "is_told"), [((80, 40), False), (MIDDLE, True), (LARGE, True)])
async def test_from_120_columns_on_the_queue_tells_what_has_ended_in_the_last_hour(
    size: tuple[int, int], is_told: bool
) -> None:
    runs: list[Resource] = [
        backup("now", "InProgress", created="02:40:03", started="02:40:03"),
        backup("good", created="02:10:03", started="02:12:03", ended="02:13:03"),
        backup("bad", "Failed", created="02:00:03", started="02:00:03", ended="02:01:03"),
        backup("old", created="00:00:03", started="00:00:03", ended="00:01:03"),
    ]
    async with screen(FilledSource(runs), size=size) as shown:
        await shown.press("4")
        await shown.settle()
        assert ("ENDED IN THE LAST HOUR 1 good, 1 not, waited up to 2m" in shown.text) is is_told
        named = [line.split()[2] for line in shown.lines if re.search(r" [●✗]  +(good|bad|old) ", line)]
        assert named == (["bad", "good"] if is_told else [])
        await shown.press("G")
        assert shown.table.cursor is not None
        assert shown.table.cursor.name == "now"
        await shown.press("slash", "n", "enter")
        assert "ENDED IN" not in shown.text


@pytest.mark.sweep
async def test_what_ended_well_is_drawn_as_long_as_it_took_against_the_longest_that_is_shown() -> None:
    runs: list[Resource] = [
        backup("now", "InProgress", created="02:40:03", started="02:40:03"),
        backup("long", created="02:10:03", started="02:10:03", ended="02:14:03"),
        backup("half", created="02:15:03", started="02:15:03", ended="02:17:03"),
        backup("bad", "Failed", created="02:00:03", started="02:00:03", ended="02:20:03"),
    ]
    async with screen(FilledSource(runs), size=MIDDLE) as shown:
        await shown.press("4")
        await shown.settle()
        bars = {
            name: next(line for line in shown.lines if f"  {name} " in line).count("▆") for name in ("long", "half")
        }
        assert abs(bars["long"] - 2 * bars["half"]) <= 1 < bars["half"]
        assert any(re.search(r" bad .* Failed ", line) for line in shown.lines)


_EDGES = (80, 120)
_SIZES = (80, 100, 119, 120, 140, 160, 200)
_NAMED = ("name", "subject", "backup", "namespace")


@pytest.mark.parametrize("sizes", sampled((_EDGES, _SIZES), _EDGES), ids=len)
async def test_a_wider_terminal_shows_no_less_of_a_name_and_no_column_fewer_than_80(sizes: tuple[int, ...]) -> None:
    """Up to the length that names are served to; at 119 the pane is below and the table has all the room."""
    rooms: dict[str, list[dict[str, int]]] = {}
    async with screen(FilledSource(objects_of("default"))) as shown:
        for size in sizes:
            await shown.pilot.resize_terminal(size, 40)
            for tab in TABS:
                await shown.press(str(tab.digit))
                if isinstance(shown.app.main_screen.page, TablePage):
                    await shown.settle()
                    columns = shown.table.rows.columns if shown.table.rows else ()
                    slots = {columns[slot.index].name: slot.width for slot in shown.table._slots}
                    rooms.setdefault(tab.id, []).append(slots)
    assert len(rooms) == 7
    for page, found in rooms.items():
        first, below = found[0], sizes.index(120)
        for line in (found[:below], [first, *found[below:]]):
            for narrower, wider in pairwise(line):
                for column in set(_NAMED) & set(first):
                    most = LONG_NAME if column != "backup" else NAME
                    assert wider[column] >= min(narrower[column], most), (page, column, narrower, wider)
                assert first.keys() <= wider.keys(), (page, first, wider)


@pytest.mark.sweep
async def test_a_large_terminal_has_bars_of_how_long_backups_took_on_the_scale_of_those_in_sight() -> None:
    many: list[Resource] = [
        backup(f"run-{place:03}", started="01:00:00", ended=f"01:{40 if place < 2 else 10}:00") for place in range(100)
    ]
    async with screen(FilledSource(many), LARGE) as shown:
        await shown.press("7")
        bars = {found[0]: line.count("▆") for line in shown.table_lines if (found := re.search(r"run-\d+", line))}
        assert 2 * bars["run-002"] < bars["run-000"] == bars["run-001"]
        await shown.press("end")
        last = {line.count("▆") for line in shown.table_lines if "run-" in line}
        assert len(last) == 1
        assert last.pop() > bars["run-002"], "the two long ones are out of sight"
    async with screen(FilledSource(many), MIDDLE) as shown:
        await shown.press("7")
        assert not any("▆" in line for line in shown.lines)


def test_a_text_of_one_line_is_shown_whole_where_there_is_room() -> None:
    raw = Paragraph((span("unable to create plugin client: exec format error"),), label="Raw", one_line="d")
    others = [Paragraph((span("Velero is down."),))]
    assert [_text(line) for line in wrap([*others, raw], 34, 2)][1] == "Raw      unable to create plug…  d"
    told = wrap([*others, raw], 34, 4)
    assert [_text(line).rstrip() for line in told[1:]] == [
        "Raw      unable to create plugin",
        "         client: exec format error",
    ]
    assert len(wrap([*others, raw], 34)) == 2, "a text that scrolls has it in one line"


async def test_a_long_name_in_the_title_of_the_pane_leaves_its_state_there() -> None:
    name = f"before-upgrade-{'x' * 60}-20261115023000"
    async with screen(FilledSource([*calm(), backup(name, "Failed")]), SMALL) as shown:
        await shown.press("7", "slash", *"before-upgrade", "enter")
        rule = next(line for line in shown.lines if line.startswith("─ before-upgrade"))
        assert re.fullmatch(r"─ before-upgrade-x+….*20261115023000 ✗ ─* 1 of 2 ─", rule), rule


def test_the_head_of_a_section_yields_the_name_of_its_cluster_before_its_words() -> None:
    context = "arn:aws:eks:eu-west-1:123456789012:cluster/production"
    words = "3 of 3 slots, the next is free about 02:30:17; IN, AT: end"
    row = SectionRow(ObjectRef("", "", "", ""), StatusGlyph.UNSET, (), f"RUNNING {context}", words)
    text = section_strip(row, 80).text
    assert text.startswith(" RUNNING arn:")
    assert text.rstrip().endswith("IN, AT: end")
    assert "…" in section_strip(row, 40).text[16:]
