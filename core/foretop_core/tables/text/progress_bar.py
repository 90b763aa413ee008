"""Progress bars."""

from __future__ import annotations


def bar(done: int, total: int, cells: int) -> str:
    """To the nearest cell; but only what is done is drawn full. Never wider than `cells`, whatever the numbers are."""
    if total <= 0 or done <= 0:
        full = 0
    elif done >= total:
        full = cells
    else:
        full = min(cells - 1, (2 * cells * done + total) // (2 * total))
    return f"{'▇' * full}{'▁' * (cells - full)}"
