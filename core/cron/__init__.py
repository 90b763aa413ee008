"""The cron dialect of Velero and Kubernetes: robfig/cron, to the second."""

from __future__ import annotations

from core.cron.errors import CronError
from core.cron.fields import Fields
from core.cron.parser import parse
from core.cron.schedule import CronSchedule

__all__ = ["CronError", "CronSchedule", "Fields", "parse"]
