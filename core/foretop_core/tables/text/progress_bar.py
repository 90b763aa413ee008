"""Progress bars."""

from __future__ import annotations


def bar(done: int, total: int, cells: int) -> str:
    """To the nearest cell; but only what is done is drawn full."""
    full = cells if 0 < total <= done else min(cells - 1, round(cells * done / total)) if total else 0
    return f"{'▇' * full}{'▁' * (cells - full)}"
