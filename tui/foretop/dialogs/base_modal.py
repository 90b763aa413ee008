"""The base of all modal windows: escape, q and ctrl+c close each."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

Answer = TypeVar("Answer")
_WINDOWS = ((160, 120), (120, 100), (0, 78))
"""From how many columns of the terminal on a window has how many."""


class BaseModal(ModalScreen[Answer]):
    """A modal window that can be closed without an answer."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "leave", "out", show=False),
    ]

    def __init__(self, ascii: bool) -> None:
        super().__init__()
        self.ascii = ascii
        self.is_left = False
        self.set_class(ascii, "-ascii")

    def action_leave(self) -> None:
        self.is_left = True
        self.dismiss(None)

    @property
    def window_cells(self) -> int:
        """The width of its window, as the style sheet has it; the screen gets its class of size only after this."""
        cells = self.app.size.width
        return min(cells, next(wide for least, wide in _WINDOWS if cells >= least))

    def show_notice(self, text: str) -> bool:
        """Shows a message inside the window; False where it has no place for one, and the message waits."""
        return False
