"""Covers everything while the terminal is too small to show anything true."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Static

LEAST_CELLS, LEAST_LINES = 40, 10


def is_too_small(size: Size) -> bool:
    return size.width < LEAST_CELLS or size.height < LEAST_LINES


class TooSmallScreen(ModalScreen[None]):
    """One sentence; what is below waits, and no key reaches it."""

    DEFAULT_CSS = """
    TooSmallScreen { background: ansi_default; }
    TooSmallScreen Static { width: 100%; text-align: center; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,ctrl+c", "app.leave", show=False)]

    def compose(self) -> ComposeResult:
        yield Static("", markup=False)

    def on_resize(self, event: events.Resize) -> None:
        size = event.size
        self.query_one(Static).update(
            f"Terminal too small: {size.width}x{size.height}. foretop needs {LEAST_CELLS}x{LEAST_LINES}. q quits."
        )
