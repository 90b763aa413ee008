"""The base of all modal windows: escape, q and ctrl+c close each."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

Answer = TypeVar("Answer")


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

    def show_notice(self, text: str) -> bool:
        """Shows a message inside the window; False where it has no place for one, and the message waits."""
        return False
