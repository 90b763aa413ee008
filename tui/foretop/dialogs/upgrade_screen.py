"""The window that tells which schedules an upgrade of Velero changes, as `foretop upgrade-check` does."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical

from foretop.dialogs.base_modal import TextModal
from foretop.widgets.line_widgets import TextPane
from foretop.widgets.paragraphs import Paragraph, Span, paragraph
from foretop.widgets.styles import BOLD, DIM
from foretop_core.tables.text.terminal_text import clean


class UpgradeScreen(TextModal):
    """Scrolls where it does not fit."""

    def __init__(self, release: str, lines: Sequence[str], ascii: bool) -> None:
        super().__init__(ascii)
        self._release = release
        self._lines = lines

    def compose(self) -> ComposeResult:
        with Vertical(classes="window -tall"):
            yield TextPane(ascii=self.ascii, id="upgrade")

    def on_mount(self) -> None:
        title = Span(f"Upgrade to Velero {self._release}", BOLD)
        other = "   foretop upgrade-check --to VERSION for another release, esc/q close"
        said = [Paragraph((title, Span(other, DIM))), paragraph("")]
        said += [Paragraph((Span(clean(line)),), indent=4) for line in self._lines]
        self.query_one(TextPane).show(said)
