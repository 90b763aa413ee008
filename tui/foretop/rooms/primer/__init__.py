"""The primer on the command line."""

from __future__ import annotations

from foretop.commands.exit_codes import PRINTED, WRITTEN, ExitCodes

COMMANDS = {
    "primer": ("foretop.rooms.primer.command", "Compute expressions that warm up a cluster before a schedule runs."),
    "prescaled": ("foretop.rooms.primer.prescaled", "Set the warm-up schedules of PreScaledCronJobs."),
}
EXIT_CODES = (ExitCodes(("primer",), PRINTED), ExitCodes(("prescaled",), WRITTEN))
