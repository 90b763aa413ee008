"""The level of a log line in the formats that Velero's pods write."""

from __future__ import annotations

import pytest

from foretop_core.actions.run_logs import LogLevel, log_level


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ('time="2026-11-15T02:01:00Z" level=error msg="Disk full" backup=velero/one', LogLevel.ERROR),
        ('time="2026-11-15T02:01:00Z" level=fatal msg="no storage"', LogLevel.ERROR),
        ("level=panic msg=x", LogLevel.ERROR),
        ('time="2026-11-15T02:01:00Z" level=warning msg="slow"', LogLevel.WARNING),
        ('{"level":"error","ts":"2026-11-15T02:01:00Z","msg":"Reconciler error"}', LogLevel.ERROR),
        ('{"ts":1, "level": "warn", "msg":"retry"}', LogLevel.WARNING),
        ("E1115 02:01:00.123456       1 leaderelection.go:330] error retrieving lock", LogLevel.ERROR),
        ("W1115 02:01:00.123456       1 warnings.go:70] deprecated", LogLevel.WARNING),
        ("I1115 02:01:00.123456       1 request.go:655] throttled", LogLevel.OTHER),
        ("panic: runtime error: invalid memory address", LogLevel.ERROR),
        ("fatal error: concurrent map writes", LogLevel.ERROR),
        ('time="2026-11-15T02:01:00Z" level=info msg="no level=error here"', LogLevel.OTHER),
        ('level=info msg="error: none"', LogLevel.OTHER),
        ('toplevel=error msg="another key"', LogLevel.OTHER),
        ("Everything is well", LogLevel.OTHER),
        ("", LogLevel.OTHER),
    ],
)
def test_the_level_is_read_in_every_format(line: str, level: LogLevel) -> None:
    assert log_level(line) is level
