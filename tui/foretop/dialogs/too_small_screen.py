"""A notice over everything while the terminal is too small."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import Static


class TooSmallScreen(Screen[None]):
    """One sentence; no key reaches what is below."""

    DEFAULT_CSS = """
    TooSmallScreen { background: ansi_default; }
    TooSmallScreen Static { width: 100%; text-align: center; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,ctrl+c", "app.leave", show=False)]

    def __init__(self, least: Size) -> None:
        super().__init__()
        self._least = least

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def on_resize(self, event: events.Resize) -> None:
        size, least = event.size, self._least
        self.query_one(Static).update(
            f"Terminal too small: {size.width}x{size.height}. foretop needs {least.width}x{least.height}. q quits."
        )
