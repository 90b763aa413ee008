"""The cron dialects of Velero and Kubernetes: how each of their libraries reads an expression, to the second."""

from __future__ import annotations

from foretop_core.cron.dialect_rules import CronError, Dialect, quoted, shown
from foretop_core.cron.fields import Fields
from foretop_core.cron.parser import parse
from foretop_core.cron.schedule import CronSchedule

__all__ = ["CronError", "CronSchedule", "Dialect", "Fields", "parse", "quoted", "shown"]
