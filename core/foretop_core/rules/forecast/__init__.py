"""Forecasts of a schedule: its next run, the reason for a delay, the effect of pausing and unpausing."""

from foretop_core.rules.forecast.next_run_time import (
    base_time,
    blocker,
    expected_start,
    invalid,
    is_due,
    missed_runs,
    never_fires,
    next_run,
    run_after,
    runs_to_come,
)
from foretop_core.rules.forecast.overdue import GRACE, DelayReason, Overdue, overdue
from foretop_core.rules.forecast.pause_effect import (
    Choice,
    Readings,
    UnpauseForecast,
    may_be_due,
    pause,
    pause_as_read,
    unpause,
    unpause_as_read,
    what_continues,
)

__all__ = [
    "GRACE",
    "Choice",
    "DelayReason",
    "Overdue",
    "Readings",
    "UnpauseForecast",
    "base_time",
    "blocker",
    "expected_start",
    "invalid",
    "is_due",
    "may_be_due",
    "missed_runs",
    "never_fires",
    "next_run",
    "overdue",
    "pause",
    "pause_as_read",
    "run_after",
    "runs_to_come",
    "unpause",
    "unpause_as_read",
    "what_continues",
]
