"""Themes: their colours can be read and told apart, the terminal's own stay the default, and a choice is remembered."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from rich.color import Color, ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color as ScreenColour

from foretop.terminal.themes import (
    REVERSED,
    TERMINAL,
    THEMES,
    AsciiFilter,
    ColourlessFilter,
    ThemeFilter,
    complete,
    next_theme,
)
from foretop.widgets.column_layout import ColumnSlot
from foretop.widgets.styles import BORDER, DIM, FAINT, style_of
from foretop.widgets.table_strips import RowState, row_strip
from foretop_core.config.allowed_names import BUILT_IN_THEMES
from foretop_core.config.config_file import read_config
from foretop_core.config.live_config import LiveConfig, remember_theme, remembered_theme
from foretop_core.models.wire import ObjectRef
from foretop_core.tables.engine.status_glyphs import StatusGlyph, Tone
from foretop_core.tables.engine.view import Cell, Column, Row
from tests.tui.pilot import Screen, screen
from tests.tui.test_config import change, configured

_TONES = ("good", "running", "waiting", "paused", "warn", "bad")
_DEUTAN = ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0))
_PROTAN = ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0))
"""What eyes without green or red cones make of linear red, green and blue."""


def _linear(colour: str) -> tuple[float, ...]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return tuple(part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)


def _luminance(colour: str) -> float:
    red, green, blue = _linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """As WCAG computes it."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _distance(one: str, other: str, eyes: tuple[tuple[float, ...], ...]) -> float:
    """How far two colours are from each other as these eyes see them, from 0 to about 1.7."""
    seen = [
        [
            max(0.0, sum(share * part for share, part in zip(row, _linear(colour), strict=True))) ** (1 / 2.2)
            for row in eyes
        ]
        for colour in (one, other)
    ]
    return math.dist(*seen)


@pytest.mark.parametrize("name", THEMES)
def test_every_colour_of_a_theme_can_be_read_on_its_background(name: str) -> None:
    theme = THEMES[name]
    least = 7.0 if name == "high-contrast" else 4.5
    poor = {tone: contrast(theme[tone], theme["background"]) for tone in ("foreground", "dim", *_TONES)}
    assert {tone: ratio for tone, ratio in poor.items() if ratio < least} == {}
    assert contrast(theme["border"], theme["background"]) >= 3
    assert contrast(theme["bright"], theme["background"]) > contrast(theme["foreground"], theme["background"]) - 0.01


@pytest.mark.parametrize("name", [name for name, theme in THEMES.items() if theme["raised"] != REVERSED])
def test_every_state_can_be_read_in_the_row_under_the_cursor(name: str) -> None:
    theme = THEMES[name]
    poor = {tone: contrast(theme[tone], theme["raised"]) for tone in ("foreground", "bright", *_TONES)}
    assert {tone: ratio for tone, ratio in poor.items() if ratio < 4.5} == {}
    assert contrast(theme["raised"], theme["background"]) > 1.1


def test_a_track_is_fainter_than_a_border_and_still_seen() -> None:
    for theme in THEMES.values():
        track = contrast(theme["faint"], theme["background"])
        assert 1.3 < track < contrast(theme["border"], theme["background"])


@pytest.mark.parametrize(
    ("skin", "bright"),
    [({"background": "#112233"}, "#ffffff"), ({"background": "#ffffff", "foreground": "#222222"}, "#000000")],
)
def test_a_skin_without_the_newer_roles_gets_them_from_its_text_and_ground(skin: dict[str, str], bright: str) -> None:
    made = complete(skin)
    assert made["bright"] == bright
    assert 1.1 < contrast(made["raised"], made["background"]) < contrast(made["faint"], made["background"]) < 2
    assert complete({**skin, "raised": "#123456", "faint": "#654321"})["raised"] == "#123456"
    assert ThemeFilter(skin).raises_cursor


def test_of_a_skin_in_the_terminals_colours_the_row_under_the_cursor_is_reversed() -> None:
    made = complete({"background": "default", "foreground": "white"})
    assert (made["raised"], made["bright"], made["faint"]) == (REVERSED, "white", made["border"])
    assert not ThemeFilter({"background": "default"}).raises_cursor


def test_in_the_colour_blind_theme_all_tones_can_be_told_apart_by_eyes_without_red_or_green() -> None:
    theme = THEMES["colour-blind"]
    for eyes in (_DEUTAN, _PROTAN):
        near = {
            (one, other): round(_distance(theme[one], theme[other], eyes), 2) for one, other in combinations(_TONES, 2)
        }
        assert {pair: far for pair, far in near.items() if far < 0.12} == {}


def test_every_theme_has_every_colour_and_the_names_are_those_of_the_configuration() -> None:
    assert (TERMINAL, *THEMES) == BUILT_IN_THEMES
    assert len({frozenset(theme) for theme in THEMES.values()}) == 1


def test_each_tone_gets_the_colour_of_its_meaning_and_what_is_dim_is_not_dimmed_twice() -> None:
    theme = THEMES["dark"]
    styles = [style_of(tone) for tone in Tone]
    segments = ThemeFilter(theme).apply([Segment("x", style) for style in styles], ScreenColour(0, 0, 0))
    for tone, segment in zip(Tone, segments, strict=True):
        assert segment.style is not None
        name = "foreground" if tone is Tone.PLAIN else tone.value
        assert segment.style.color == Color.parse(theme[name]), tone
        assert segment.style.bgcolor == Color.parse(theme["background"])
        assert not segment.style.dim
        assert bool(segment.style.bold) is bool(style_of(tone).bold)


def test_a_skin_takes_what_it_leaves_out_from_dark_and_other_attributes_stay() -> None:
    (made,) = ThemeFilter({"bad": "#123456"}).apply(
        [Segment("x", style_of(Tone.BAD) + Style(reverse=True))], ScreenColour(0, 0, 0)
    )
    assert made.style is not None
    assert made.style.color == Color.parse("#123456")
    assert made.style.bgcolor == Color.parse(THEMES["dark"]["background"])
    assert made.style.reverse
    assert made.style.bold


def test_the_themes_go_round() -> None:
    names = [TERMINAL]
    while (following := next_theme(names[-1], {"mine": {}})) != TERMINAL:
        names.append(following)
    assert names == [TERMINAL, *THEMES, "mine"]
    assert next_theme("gone", {}) == TERMINAL


def grounds(shown: Screen) -> set[str]:
    """The backgrounds of all cells."""
    strips = shown.app.screen._compositor.render_strips()
    return {
        segment.style.bgcolor.name if segment.style and segment.style.bgcolor else ""
        for strip in strips
        for segment in strip
    }


@pytest.mark.sweep
async def test_a_key_shows_the_next_theme_and_remembers_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with configured(tmp_path, "") as shown:
        assert grounds(shown) <= {"", "default"}
        await shown.press("ctrl+t")
        assert shown.app.told[-1][1] == "Theme dark"
        assert grounds(shown) == {THEMES["dark"]["background"], THEMES["dark"]["raised"]}
        await shown.press("question_mark")
        assert grounds(shown) == {THEMES["dark"]["background"]}, "the page behind is faint, its cursor too"
        await shown.until(lambda: remembered_theme({"XDG_STATE_HOME": str(tmp_path)}) == "dark")


@pytest.mark.sweep
async def test_the_page_behind_a_window_is_faint_and_comes_back_as_it_was() -> None:
    def header(shown: Screen) -> set[str]:
        line = shown.app.screen._compositor.render_strips()[0]
        return {segment.style.color.name if segment.style and segment.style.color else "" for segment in line}

    async with screen() as shown:
        before, text = header(shown), shown.lines[0]
        await shown.press("question_mark")
        await shown.until(lambda: header(shown) == {FAINT.color.name if FAINT.color else ""})
        assert shown.lines[0] == text
        await shown.press("escape")
        await shown.until(lambda: header(shown) == before)


async def test_a_skin_of_the_file_is_shown_and_taken_up_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with configured(tmp_path, "theme: mine\nskins: {mine: {background: '#112233'}}\n") as shown:
        assert grounds(shown) == {"#112233", complete({"background": "#112233"})["raised"]}
        await change(shown, "theme: mine\nskins: {mine: {background: '#332211'}}\n")
        assert grounds(shown) == {"#332211", complete({"background": "#332211"})["raised"]}
        await shown.press("ctrl+t")
        assert shown.app.told[-1][1] == "Theme terminal until you quit: config.yaml sets another"
        assert grounds(shown) <= {"", "default"}


@pytest.mark.sweep
async def test_without_colours_a_theme_has_none_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with screen() as shown:
        shown.app.show_theme("dark")
        await shown.tick()
        assert grounds(shown) <= {"", "default"}


def test_what_was_chosen_is_used_where_nothing_else_names_a_theme(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    remember_theme(environ, "light")
    assert LiveConfig(read_config(environ), environ).settings.theme == "light"
    assert LiveConfig(read_config(environ), environ, {"theme": "dark"}).settings.theme == "dark"
    named = {**environ, "FORETOP_THEME": "high-contrast"}
    assert LiveConfig(read_config(named), named).settings.theme == "high-contrast"
    remember_theme(environ, "a skin that was deleted")
    assert LiveConfig(read_config(environ), environ).settings.theme == TERMINAL


def test_dim_text_is_dim_in_the_terminals_own_colours() -> None:
    assert DIM.dim
    assert DIM.color is None


_COLUMNS: tuple[Column[Any], ...] = (
    Column("name", "NAME", lambda entry, _: "", lambda _: ""),
    Column("last", "LAST", lambda *_: "", lambda _: ""),
)
_ROW = Row(ObjectRef("", "Schedule", "", "mail"), StatusGlyph.BROKEN, (Cell("mail"), Cell("55m P", Tone.WARN)))


def _cursor_row(theme: str, *, marked: bool = False, ascii: bool = False) -> list[Segment]:
    """The row under the cursor as a theme shows it."""
    colours = THEMES.get(theme)
    theming = ThemeFilter(colours) if colours else None
    how = RowState(True, marked, frozenset(), raised=theming is not None and theming.raises_cursor)
    slots = (ColumnSlot(0, 0, 6), ColumnSlot(1, 8, 6))
    segments = list(row_strip(_COLUMNS, slots, _ROW, how, 20))
    for filter in (theming, AsciiFilter() if ascii else None):
        segments = filter.apply(segments, ScreenColour(0, 0, 0)) if filter is not None else segments
    return segments


@pytest.mark.parametrize("theme", [TERMINAL, *THEMES])
def test_the_row_under_the_cursor_is_one_piece_and_has_a_sign(theme: str) -> None:
    segments = _cursor_row(theme)
    assert "".join(segment.text for segment in segments).startswith("▌✗ mail    55m P")
    styles = [segment.style for segment in segments if segment.style]
    if theme in (TERMINAL, "high-contrast"):
        assert all(style.reverse for style in styles)
        assert len({(style.color, style.bgcolor) for style in styles}) <= 2
        assert not any(style.color == Color.parse("yellow") for style in styles)
    else:
        colours = THEMES[theme]
        assert {style.bgcolor for style in styles} == {Color.parse(colours["raised"])}
        assert {Color.parse(colours["bad"]), Color.parse(colours["warn"])} <= {style.color for style in styles}
        assert not any(style.reverse for style in styles)


def test_a_marked_row_has_a_sign_of_its_own_in_ascii_too() -> None:
    assert _cursor_row(TERMINAL, marked=True)[0].text == "▪"
    assert _cursor_row(TERMINAL, marked=True, ascii=True)[0].text == "*"
    assert _cursor_row(TERMINAL, ascii=True)[0].text == ">"


def test_without_colour_borders_and_tracks_are_dim() -> None:
    made = ColourlessFilter().apply([Segment("─", BORDER), Segment("─", FAINT), Segment("x")], ScreenColour(0, 0, 0))
    assert [bool(segment.style and segment.style.dim) for segment in made] == [True, True, False]


def test_in_the_terminals_colours_a_track_is_drawn_like_a_border_and_a_theme_tells_them_apart() -> None:
    assert BORDER.render("─", color_system=ColorSystem.STANDARD) == FAINT.render("─", color_system=ColorSystem.STANDARD)
    border, faint = ThemeFilter(THEMES["dark"]).apply(
        [Segment("─", BORDER), Segment("─", FAINT)], ScreenColour(0, 0, 0)
    )
    assert border.style is not None
    assert faint.style is not None
    assert border.style.color == Color.parse(THEMES["dark"]["border"])
    assert faint.style.color == Color.parse(THEMES["dark"]["faint"])
