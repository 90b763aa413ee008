"""One way of saying things on all pages, in every scene: signs are explained, durations alike, the normal muted."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache
from unicodedata import category

import pytest

from foretop.app import Dashboard
from foretop.panes.detail_sections import describe_object, sections_of
from foretop.panes.page_records import SCREEN_PAGES, TABLE_PAGES, ScreenPage
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import LABEL, Paragraph
from foretop_core.dashboard.session_protocol import DisplayOptions
from foretop_core.dashboard.state import DashboardState
from foretop_core.dashboard.table_models import TableModel
from foretop_core.rules.phases import ENDED, FAULTY, FINISHING, HOLDS_SLOT, WAITING
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone, phase_tone, run_mark
from tests.examples import sampled
from tests.settled_scenes import SCENE_NAMES
from tests.tui.fake_source import FilledSource, calm
from tests.tui.pilot import SMALL, Screen, running, screen
from tests.tui.test_findings_agree import source_of

SHORT = re.compile(r"(?<![\w.@:/=-])(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?![\w-])")
LONG = re.compile(r"\b\d[\d,]* (?:second|minute|hour|day)s?\b")
AS_WRITTEN = re.compile(r"\(\w+\)|back-off \w+ restarting")
"""A field of the spec behind its words, and what the kubelet says."""
ODD = re.compile(r"\b\d+:\d\d min|\b\d+ ?(?:sec|min|mins|secs|hrs|hr)\b|\b\d+\.\d+ ?(?:s|m|h|d|days|hours|minutes)\b")
SCENES = sampled(SCENE_NAMES, "outage", "maintenance", "nonadmin-status")


@cache
def state_of(scene: str) -> DashboardState:
    state = DashboardState(source_of(scene, timedelta(minutes=11)), lambda: 0.0)
    state.judge(at_once=True)
    return state


def tables(scene: str) -> Iterator[tuple[str, ScreenPage, TableModel]]:
    state = state_of(scene)
    for page, spec in TABLE_PAGES.items():
        rows = spec.rows(state)
        rows.pump()
        yield page, spec, rows


def text(paragraphs: Sequence[Paragraph]) -> str:
    return "\n".join("".join(span.text for span in one.spans) for one in paragraphs)


BAR = "promise"
"""A bar is in the colour of its state, also where that is good: the share is what one looks at."""


def signs(said: str) -> set[str]:
    """What is neither a letter nor punctuation, nor the line between two steps."""
    symbols = ("So", "Sm", "Sk", "No", "Lm")
    return {sign for sign in said.replace("─", "") if ord(sign) > 127 and category(sign) in symbols}


def explained(page: str) -> str:
    return "".join(f"{sign.text} {sign.meaning}" for sign in SCREEN_PAGES[page].signs)


@pytest.mark.parametrize("scene", SCENES)
def test_every_sign_of_a_page_is_in_its_legend(scene: str) -> None:
    state, missing = state_of(scene), set[str]()
    for page, spec, rows in tables(scene):
        drawn = {row.mark.value for row in rows.paint(0, len(rows.lines))}
        for row in rows.paint(0, len(rows.lines)):
            drawn |= {sign for cell in row.cells for sign in signs(cell.text)}
        for key, _ in rows.table:
            drawn |= signs(text(spec.pane(rows, key, state)))
        missing |= {f"{page}: {sign}" for sign in drawn if sign not in explained(page)}
    assert sorted(missing) == []


@pytest.mark.parametrize("scene", SCENES)
def test_a_space_stands_between_every_label_and_its_text(scene: str) -> None:
    state = state_of(scene)
    labels = {
        one.label for _, spec, rows in tables(scene) for key, _ in rows.table for one in spec.pane(rows, key, state)
    }
    assert sorted(label for label in labels if len(label) >= LABEL) == []


@pytest.mark.parametrize("scene", SCENES)
def test_every_sign_of_a_detail_page_is_in_its_legend(scene: str) -> None:
    state, drawn = state_of(scene), set[str]()
    for page, _, rows in tables(scene):
        for key, _ in rows.table if page != "triage" else ():
            for section in sections_of(key.kind):
                drawn |= signs(text([*describe_object(state, key, section)])) if section != "yaml" else set()
    assert sorted(sign for sign in drawn if sign not in explained("detail")) == []


@pytest.mark.sweep
def test_an_object_is_told_on_its_detail_as_in_the_pane_of_its_page() -> None:
    told = set[str]()
    for scene in ("default", "volumes"):
        state = state_of(scene)
        for page, spec, rows in tables(scene):
            for key, _ in rows.table if page in ("storage", "pods", "movements", "repositories") else ():
                entry = rows.entry(key)
                assert spec.tells is not None
                assert entry is not None
                pane = text([*spec.tells(entry, rows.render_context(key, entry))])
                assert text([*describe_object(state, key, "overview")]).startswith(pane), (page, key)
                told.add(key.kind)
    assert told >= {"BackupStorageLocation", "NonAdminBackupStorageLocationRequest", "BackupRepository", "DataUpload"}


@pytest.mark.parametrize("scene", SCENES)
def test_durations_are_short_in_cells_and_in_words_in_sentences(scene: str) -> None:
    state = state_of(scene)
    found: set[str] = set()
    for page, spec, rows in tables(scene):
        for row in (one for one in rows.paint(0, len(rows.lines)) if one.cells):
            for column, cell in zip(rows.columns, row.cells, strict=True):
                is_odd = LONG.search(cell.text) or ODD.search(cell.text)
                if is_odd and column.name not in ("what", "meaning", "cron", "name"):
                    found.add(f"{page}.{column.name}: {cell.text}")
        for key, _ in rows.table:
            sections = [one for one in sections_of(key.kind) if one != "yaml"] if page != "triage" else ()
            said = [spec.pane(rows, key, state), *(describe_object(state, key, one) for one in sections)]
            for line in "\n".join(text([*one]) for one in said).splitlines():
                plain = AS_WRITTEN.sub("", line) if "┤" not in line else ""  # The scale of a chart is a cell.
                if any(match.group() for match in SHORT.finditer(plain)) or ODD.search(plain):
                    found.add(f"{page}: {line}")
    assert sorted(found) == []


def test_a_phase_in_words_has_the_colour_of_its_sign_and_what_is_well_is_muted() -> None:
    """The word is there whatever the colour; what is well stands back, and all else has a sign that says so."""
    for phase in sorted(ENDED | HOLDS_SLOT | WAITING | FINISHING | FAULTY):
        mark, tone = run_mark(phase), phase_tone(phase)
        if phase in FAULTY:
            assert (mark, tone) in {(StatusGlyph.BROKEN, Tone.BAD), (StatusGlyph.LOOK, Tone.WARN)}, phase
        elif phase == "Completed":
            assert (mark, tone) == (StatusGlyph.HEALTHY, Tone.DIM)
        else:
            assert mark is not StatusGlyph.HEALTHY, phase
            assert tone not in (Tone.PLAIN, Tone.GOOD), phase


@pytest.mark.parametrize("scene", SCENES)
def test_a_row_that_is_well_has_no_coloured_cell_and_one_that_is_not_has_its_sign(scene: str) -> None:
    found: set[str] = set()
    for page, _, rows in tables(scene):
        for row in (one for one in rows.paint(0, len(rows.lines)) if one.cells):
            cells = zip(rows.columns, row.cells, strict=True)
            tones = {cell.tone for column, cell in cells if cell.text and column.name != BAR}
            if row.mark is StatusGlyph.HEALTHY and tones & {Tone.GOOD, Tone.BAD}:
                found.add(f"{page} {row.key.name} is well: {tones}")
            is_bad = row.mark in (StatusGlyph.BROKEN, StatusGlyph.LOOK) and page != "triage"
            if is_bad and not tones & {Tone.BAD, Tone.WARN}:
                found.add(f"{page} {row.key.name} is not well: {[cell.text for cell in row.cells]}")
    assert sorted(found) == []


@pytest.mark.parametrize("scene", ["outage", "default"])
def test_items_are_named_once(scene: str) -> None:
    state = state_of(scene)
    for page, spec, rows in tables(scene):
        for key, _ in rows.table if page in ("queue", "backups", "nonadmin") else ():
            for one in spec.pane(rows, key, state):
                assert one.label != "Items" or "items" not in text([one])


@pytest.mark.sweep
async def test_a_plain_count_is_dim_and_one_of_a_narrowed_table_is_not() -> None:
    async with screen(size=SMALL) as shown:
        await shown.press("7")
        page = shown.app.main_screen.page
        assert page is not None
        assert page.hint_tone is Tone.DIM
        await shown.press("slash", *"etcd", "enter")
        assert page.hint_tone is Tone.WARN
        await shown.press("slash", "ctrl+u", *"-l ===", "enter")
        assert page.hint_tone is Tone.BAD


@pytest.mark.sweep
async def test_the_calendars_pane_takes_no_more_lines_than_it_needs() -> None:
    async with screen(size=(120, 36)) as shown:
        await shown.press("5")
        await shown.settle()
        pane = shown.app.main_screen.query_one("CalendarPage #pane", TextPane)
        assert pane.lines_wanted(120) <= pane.size.height <= pane.lines_wanted(120) + 1


@pytest.mark.sweep
async def test_a_page_says_that_foretop_is_connecting() -> None:
    gate, source = threading.Event(), FilledSource(calm())

    def opened() -> FilledSource:
        gate.wait()
        return source

    app = Dashboard(opened, DisplayOptions(flash=False))
    async with running(app, SMALL) as pilot:
        shown = Screen(app, pilot, source)
        try:
            await shown.until(lambda: "◐ Connecting…" in shown.text)
            await shown.press("7")
            await shown.until(lambda: "◐ Connecting…" in shown.text)
        finally:
            gate.set()
        await shown.until(lambda: "etcd-hourly-20261115020003" in shown.text)
        assert "Connecting…" not in shown.text
