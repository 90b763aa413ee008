"""A screen starts here as cheaply as for the other tests of the screen, and foresees as soon as on the calendar."""

from __future__ import annotations

from tests.tui.conftest import _cheaper_textual
from tests.tui.test_calendar import _foresees_at_once

__all__ = ["_cheaper_textual", "_foresees_at_once"]
