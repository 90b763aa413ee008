"""Drills on the command line and on the screen."""

from __future__ import annotations

from foretop.commands.exit_codes import ALWAYS, REFUSED, ExitCodes

COMMANDS = {
    "drill": ("foretop.rooms.drills.command", "Restore a namespace beside it on trial, compare, and delete it again.")
}
EXIT_CODES = (
    ExitCodes(("drill",), {0: "all came back, or is deleted", 1: "something did not, or is not", **ALWAYS, **REFUSED}),
)
