"""What a schedule will do next, what holds it up, and what pausing or unpausing it would do."""

from foretop_core.rules.forecast.overdue import GRACE, Holdup, Overdue, overdue
from foretop_core.rules.forecast.pausing import Choice, Unpausing, pause, unpause
from foretop_core.rules.forecast.timing import (
    base_time,
    blocker,
    expected_start,
    invalid,
    is_due,
    missed_runs,
    never_fires,
    next_run,
    run_after,
)

__all__ = [
    "GRACE",
    "Choice",
    "Holdup",
    "Overdue",
    "Unpausing",
    "base_time",
    "blocker",
    "expected_start",
    "invalid",
    "is_due",
    "missed_runs",
    "never_fires",
    "next_run",
    "overdue",
    "pause",
    "run_after",
    "unpause",
]
