"""The check of a Velero upgrade on the command line and on the screen."""

from __future__ import annotations

from foretop.commands.exit_codes import BAD_INPUT, NOT_JUDGED, ExitCodes

COMMANDS = {
    "upgrade-check": ("foretop.rooms.upgrade_check.command", "Show which schedules a Velero upgrade changes, and how.")
}
EXIT_CODES = (
    ExitCodes(
        ("upgrade-check",),
        {0: "nothing changes", 1: "something changes", **BAD_INPUT, NOT_JUDGED: "not everything could be read"},
    ),
)
