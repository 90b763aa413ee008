"""Panes and details at 80 by 24: what tells comes first, and what is cut says so."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from textual.geometry import Region

from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph, wrap
from foretop_core.models.kinds import BACKUP, NAB, SCHEDULE
from tests.tui.fake_source import FilledSource, troubled
from tests.tui.pilot import screen


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


def test_no_line_breaks_between_a_key_and_its_label() -> None:
    spans = (Span("enter"), Span(" open the location"), Span("   "), Span("J"), Span(" go to its row"))
    keys = [Paragraph(spans, in_items=True)]
    assert texts(keys, 24) == ["enter open the location", "J go to its row"]
    assert texts(keys, 80) == ["enter open the location   J go to its row"]
    assert texts(keys, 18) == ["enter open the", "location", "J go to its row"]


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


async def test_the_pane_takes_what_it_needs_and_keeps_it_while_one_goes_from_row_to_row() -> None:
    async with screen(FilledSource(troubled(), ("eu", "us"))) as shown:
        await shown.press("1", "home")
        pane = shown.app.main_screen.page.query_one("#pane", TextPane)  # type: ignore[union-attr]
        heights, most = [pane.size.height], 0
        for key in (*["down"] * 10, *["up"] * 10):
            await shown.press(key)
            wanted = pane.lines_wanted(80)
            most = max(most, wanted)
            heights.append(pane.size.height)
            assert min(wanted, 9) <= pane.size.height <= max(3, most)
        assert heights == sorted(heights)
        assert len({*heights}) > 1
        await shown.press("slash", *"collide", "enter")
        assert pane.size.height < heights[-1]


async def test_the_signs_of_runs_are_explained_where_they_stand_and_all_of_them_in_help() -> None:
    async with screen() as shown:
        await shown.press("2")
        await shown.on(shown.source.key(SCHEDULE, "velero", "etcd-hourly"))
        assert "LAST 10 RUNS, oldest first: P partly failed, _ not made" in shown.pane
        assert "V refused" not in shown.pane
        await shown.on(shown.source.key(SCHEDULE, "velero", "cassandra"))
        assert "oldest first" not in shown.pane
        await shown.press("?", "end", *["pagedown"] * 6)
        assert re.search(r"V +refused", shown.text)


async def test_the_detail_of_a_backup_draws_its_path() -> None:
    async with screen() as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("enter")
        assert "New ✓ ─ Queued ✓ ─ InProgress ◐ ─ Completed" in shown.text


async def test_the_detail_of_a_tenants_backup_names_its_velero_object_both_queues_and_its_spec() -> None:
    async with screen() as shown:
        await shown.press("3")
        await shown.on(shown.source.key(NAB, "team-pay", "ledger"))
        await shown.press("enter")
        for label in (
            "Velero ",
            "Queue    1st waiting, 3 running",
            "The controller estimates ~1",
            "Spec     namespaces team-pay · TTL",
        ):
            assert label in shown.text


async def test_a_title_that_does_not_fit_is_cut_with_an_ellipsis() -> None:
    async with screen(size=(40, 24)) as shown:
        await shown.press("7")
        await shown.on(shown.source.key(BACKUP, "velero", "mongo-nightly-20261115023003"))
        await shown.press("enter")
        title = shown.lines[3]
        assert title.startswith(" backup velero/mongo")
        assert "…" in title
        assert title.endswith("3003")
