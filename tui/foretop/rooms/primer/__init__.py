"""The primer on the command line."""

from __future__ import annotations

COMMANDS = {
    "primer": ("foretop.rooms.primer.command", "Compute expressions that warm up a cluster before a schedule runs."),
    "prescaled": ("foretop.rooms.primer.prescaled", "Set the warm-up schedules of PreScaledCronJobs."),
}
