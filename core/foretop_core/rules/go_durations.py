"""Go's durations as they stand in the API: `720h0m0s`, `1m`, `0`."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.cron.go_compat import GoError, parse_duration


def read_duration(text: str) -> timedelta | None:
    """None where there is none or it cannot be read: the API server has let it through, so nobody is told here."""
    try:
        return timedelta(microseconds=parse_duration(text) // 1000)
    except GoError:
        return None
