"""The contents of backups on the command line."""

from __future__ import annotations

from foretop.commands.exit_codes import ALWAYS, ExitCodes

COMMANDS = {
    "taken": ("foretop.rooms.contents.command", "What a backup holds, and what the next run of a schedule takes.")
}
EXIT_CODES = (ExitCodes(("taken",), {0: "read, whatever it says", 1: "a part could not be read", **ALWAYS}),)
