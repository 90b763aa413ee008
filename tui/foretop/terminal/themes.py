"""Themes in true colour: what is drawn in the terminal's own colours is given those of a theme on its way out.

Everything on the screen is drawn with the sixteen colours, each for one meaning: green is good, red is bad. A theme has
a colour for each meaning, and for text, background and borders. A terminal that has fewer colours shows the nearest.
Hue is state, brightness is focus: what is bold and has no colour gets that of `bright`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.color import Color as ScreenColour
from textual.filter import LineFilter

from foretop_core.tables.engine.status_glyphs import ascii_only

TERMINAL = "terminal"
"""The name of the theme that changes nothing."""
REVERSED = "reverse"
"""In the place of the colour of `raised`: the row under the cursor is reversed, as in the terminal's own colours."""
THEMES: dict[str, dict[str, str]] = {
    "dark": {
        "foreground": "#d4d7dd",
        "background": "#171a21",
        "border": "#6b7380",
        "dim": "#949ca8",
        "bright": "#ffffff",
        "faint": "#3a414d",
        "raised": "#2b3240",
        "good": "#8bc379",
        "running": "#5cc4cf",
        "waiting": "#7aa8f5",
        "paused": "#c792ea",
        "warn": "#e5c07b",
        "bad": "#f2777a",
    },
    "light": {
        "foreground": "#22262e",
        "background": "#fafafa",
        "border": "#8a909b",
        "dim": "#5c6370",
        "bright": "#000000",
        "faint": "#d3d8e0",
        "raised": "#e2e7ef",
        "good": "#2d7420",
        "running": "#0b6e7a",
        "waiting": "#1c56c2",
        "paused": "#86249c",
        "warn": "#885a00",
        "bad": "#b8161f",
    },
    "high-contrast": {
        "foreground": "#ffffff",
        "background": "#000000",
        "border": "#ffffff",
        "dim": "#c8c8c8",
        "bright": "#ffffff",
        "faint": "#808080",
        "raised": REVERSED,
        "good": "#5cff5c",
        "running": "#5cffff",
        "waiting": "#9cc4ff",
        "paused": "#ff9cff",
        "warn": "#ffff5c",
        "bad": "#ff8a8a",
    },
    "colour-blind": {
        "foreground": "#e6e6e6",
        "background": "#14161a",
        "border": "#777d88",
        "dim": "#9aa0aa",
        "bright": "#ffffff",
        "faint": "#3d434d",
        "raised": "#272c35",
        "good": "#56b4e9",
        "running": "#b5f0dc",
        "waiting": "#8093ff",
        "paused": "#cc79a7",
        "warn": "#f0e442",
        "bad": "#ff7621",
    },
}
"""Blue for good and orange for bad in the last one: red and green look alike to one man in twelve."""
_MEANINGS = {
    "green": "good",
    "cyan": "running",
    "blue": "waiting",
    "magenta": "paused",
    "yellow": "warn",
    "red": "bad",
    "bright_black": "border",
    "color(8)": "faint",
}
"""By the terminal's colour, what it is used for. The last two are one colour there and two in a theme."""
_RAISED = "bright_black"
"""The background of the row under the cursor, which is drawn only where a theme has a colour for it."""
_FAINT_SHARE, _RAISED_SHARE = 0.18, 0.12
"""How far from the background to the text the colours stand that a skin leaves out."""
_WITHOUT_DIM = Style(dim=False)
_ASCII = str.maketrans("═─│┊▼┌┐└┘╭╮╰╯┤▸▾‹›↑↓×░▒╌▎▁▂▃▄▅▆▇█▍▋▉▌▪━╸", "=-| v++`++++++>v<>^vx:/.'__--#######>*=-")


def complete(colours: Mapping[str, str]) -> Mapping[str, str]:
    """The colours of a theme or skin with those that it leaves out: from dark, or derived from its text and ground.

    From colours of the terminal nothing can be derived: then the row under the cursor is reversed, as there.
    """
    named = {**THEMES["dark"], **colours}
    if not (named["background"].startswith("#") and named["foreground"].startswith("#")):
        derived = {"bright": named["foreground"], "faint": named["border"], "raised": REVERSED}
        return {**named, **derived, **colours}
    ground, text = ScreenColour.parse(named["background"]), ScreenColour.parse(named["foreground"])
    derived = {
        "bright": "#ffffff" if ground.brightness < text.brightness else "#000000",
        "faint": ground.blend(text, _FAINT_SHARE).hex.lower(),
        "raised": ground.blend(text, _RAISED_SHARE).hex.lower(),
    }
    return {**named, **derived, **colours}


class ThemeFilter(LineFilter):
    """Gives every piece of a line the colours of one theme."""

    def __init__(self, colours: Mapping[str, str]) -> None:
        super().__init__()
        named = complete(colours)
        self.raises_cursor = named["raised"] != REVERSED
        """Whether the row under the cursor has a background of its own instead of being reversed."""
        self._colours = {name: Color.parse(colour) for name, colour in named.items() if colour != REVERSED}
        self._style = lru_cache(4096)(self._themed)

    def apply(self, segments: list[Segment], background: ScreenColour) -> list[Segment]:
        style = self._style
        return [Segment(text, style(own or Style()), control) for text, own, control in segments]

    def _themed(self, style: Style) -> Style:
        """A theme's own dim colour stands in the place of the terminal's dimming, which many can hardly read."""
        is_raised = style.bgcolor is not None and style.bgcolor.name == _RAISED
        ground = self._colours["raised"] if is_raised else self._meaning(style.bgcolor, "background")
        if style.color is not None and not style.color.is_default:
            return style + Style.from_color(self._meaning(style.color, "foreground"), ground)
        if style.dim:
            return style + _WITHOUT_DIM + Style.from_color(self._colours["foreground" if is_raised else "dim"], ground)
        is_bright = style.bold and not style.reverse
        return style + Style.from_color(self._colours["bright" if is_bright else "foreground"], ground)

    def _meaning(self, colour: Color | None, default: str) -> Color:
        if colour is None or colour.is_default:
            return self._colours[default]
        name = _MEANINGS.get(colour.name)
        return self._colours[name] if name else colour


def to_ascii(text: str) -> str:
    """The text in the signs that every terminal has; nothing changes its width."""
    return text if text.isascii() else ascii_only(text).translate(_ASCII)


class AsciiFilter(LineFilter):
    """Draws every piece of a line in ASCII characters."""

    def apply(self, segments: list[Segment], background: ScreenColour) -> list[Segment]:
        return [Segment(to_ascii(text), own, control) for text, own, control in segments]


class ColourlessFilter(LineFilter):
    """Dims borders and tracks where colours are not wanted: without theirs they would stand out."""

    def apply(self, segments: list[Segment], background: ScreenColour) -> list[Segment]:
        return [Segment(text, _dimmed(own) if own else own, control) for text, own, control in segments]


@lru_cache(512)
def _dimmed(style: Style) -> Style:
    is_line = style.color is not None and _MEANINGS.get(style.color.name) in ("border", "faint")
    return style + Style(dim=True) if is_line else style


def theme_colours(name: str, skins: Mapping[str, Mapping[Any, str]]) -> Mapping[str, str] | None:
    """The colours of a theme; None for the terminal's own, and for a name that does not exist."""
    return dict(skins[name]) if name in skins else THEMES.get(name)


def next_theme(name: str, skins: Mapping[str, object]) -> str:
    """The theme after this one, the terminal's own first and the person's skins last, and round again."""
    names = [TERMINAL, *THEMES, *(skin for skin in skins if skin not in THEMES)]
    return names[(names.index(name) + 1) % len(names)] if name in names else TERMINAL
