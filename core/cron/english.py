"""Schedules in plain English."""

from __future__ import annotations

from datetime import timedelta

from core.cron.fields import Fields


def describe(fields: Fields | None, every: timedelta | None) -> str:
    return ""
