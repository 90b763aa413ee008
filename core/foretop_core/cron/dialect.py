"""The cron libraries that servers are built with; each reads some expressions in its own way."""

from __future__ import annotations

from enum import Enum


class Dialect(Enum):
    """One library's reading of expressions; the value is the library and the measured version."""

    ROBFIG1 = "robfig/cron v1.1.0"
    ROBFIG = "robfig/cron v3.0.1"
    NETRESEARCH = "netresearch/go-cron v0.15.0"
