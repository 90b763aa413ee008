"""A screen starts here as cheaply as for the other tests of the screen."""

from __future__ import annotations

from tests.tui.conftest import _cheaper_textual

__all__ = ["_cheaper_textual"]
