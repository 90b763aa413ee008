"""Themes in true colour: what is drawn in the terminal's own colours is given those of a theme on its way out.

Everything on the screen is drawn with the sixteen colours, each for one meaning: green is good, red is bad. A theme has
a colour for each meaning, and for text, background and borders. A terminal that has fewer colours shows the nearest.
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

TERMINAL = "terminal"
"""The name of the theme that changes nothing."""
THEMES: dict[str, dict[str, str]] = {
    "dark": {
        "foreground": "#d4d7dd",
        "background": "#171a21",
        "border": "#6b7380",
        "dim": "#949ca8",
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
        "good": "#56b4e9",
        "running": "#b5f0dc",
        "waiting": "#6a80f0",
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
}
"""By the terminal's colour, what it is used for."""
_NOT_DIM = Style(dim=False)


class ThemeFilter(LineFilter):
    """Gives every piece of a line the colours of one theme."""

    def __init__(self, colours: Mapping[str, str]) -> None:
        super().__init__()
        named = {**THEMES["dark"], **colours}
        self._colours = {name: Color.parse(colour) for name, colour in named.items()}
        self._style = lru_cache(4096)(self._themed)

    def apply(self, segments: list[Segment], background: ScreenColour) -> list[Segment]:
        style = self._style
        return [Segment(text, style(own or Style()), control) for text, own, control in segments]

    def _themed(self, style: Style) -> Style:
        """A theme's own dim colour stands in the place of the terminal's dimming, which many can hardly read."""
        ground = self._meaning(style.bgcolor, "background")
        if style.dim and (style.color is None or style.color.is_default):
            return style + _NOT_DIM + Style.from_color(self._colours["dim"], ground)
        return style + Style.from_color(self._meaning(style.color, "foreground"), ground)

    def _meaning(self, colour: Color | None, default: str) -> Color:
        if colour is None or colour.is_default:
            return self._colours[default]
        name = _MEANINGS.get(colour.name)
        return self._colours[name] if name else colour


def theme_colours(name: str, skins: Mapping[str, Mapping[Any, str]]) -> Mapping[str, str] | None:
    """The colours of a theme; None for the terminal's own, and for a name that does not exist."""
    return dict(skins[name]) if name in skins else THEMES.get(name)


def next_theme(name: str, skins: Mapping[str, object]) -> str:
    """The theme after this one, the terminal's own first and the person's skins last, and round again."""
    names = [TERMINAL, *THEMES, *(one for one in skins if one not in THEMES)]
    return names[(names.index(name) + 1) % len(names)] if name in names else TERMINAL
