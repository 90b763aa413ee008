"""Go's durations as they stand in the API: `720h0m0s`, `1m`, `0`."""

from __future__ import annotations

from datetime import timedelta

from foretop_core.cron.go_compat import GoError, parse_duration
from foretop_core.rules import humanize

_SERVERS_DEFAULT = "the server's default"


def read_duration(text: str) -> timedelta | None:
    """None where there is none or it cannot be read: the API server has let it through, so nobody is told here."""
    try:
        return timedelta(microseconds=parse_duration(text) // 1000)
    except GoError:
        return None


def duration_setting(text: str, default: str = _SERVERS_DEFAULT) -> str:
    """`30 days (720h0m0s)`; a setting that is zero, or not there, leaves it to the server."""
    length = read_duration(text)
    if not text or length == timedelta():
        return default
    return f"{humanize.duration(length)} ({text})" if length is not None else text
