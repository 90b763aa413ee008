"""How far something has come, drawn."""

from __future__ import annotations


def bar(done: int, total: int, cells: int) -> str:
    """Full cells for what is done; one that is not full is not drawn so, for then it would be over."""
    full = cells * min(done, total) // total if total else 0
    return f"{'▇' * full}{'▁' * (cells - full)}"
