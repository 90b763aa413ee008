"""The level of a log line, as Velero, its plugins and the Kubernetes libraries write it."""

from __future__ import annotations

import re
from enum import Enum

_KEYED = re.compile(r'(?:^|[\s{,])"?level"?\s*[=:]\s*"?(\w+)')
_KLOG = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d")
"""The prefix of klog: `E1115 10:04:31.123456`."""
_SEARCHED = 400
"""The level stands near the beginning; the rest of a long line is not searched."""


class LogLevel(Enum):
    ERROR = "error"
    WARNING = "warning"
    OTHER = "other"


_LEVELS = {
    "error": LogLevel.ERROR,
    "fatal": LogLevel.ERROR,
    "panic": LogLevel.ERROR,
    "critical": LogLevel.ERROR,
    "e": LogLevel.ERROR,
    "f": LogLevel.ERROR,
    "warning": LogLevel.WARNING,
    "warn": LogLevel.WARNING,
    "w": LogLevel.WARNING,
}


def log_level(line: str) -> LogLevel:
    """logrus (`level=error`), JSON (`"level":"error"`), klog (`E1115 10:04:31`) and a Go panic; else OTHER."""
    start = line[:_SEARCHED]
    match = _KEYED.search(start) or _KLOG.match(start)
    if match is not None:
        return _LEVELS.get(match[1].lower(), LogLevel.OTHER)
    return LogLevel.ERROR if start.startswith(("panic: ", "fatal error: ")) else LogLevel.OTHER
