"""The files of backups and restores: their logs, what went wrong in them, and what is inside."""

from __future__ import annotations

from foretop.commands.exit_codes import ALWAYS, ExitCodes

COMMANDS = {
    "taken": ("foretop.rooms.run_files.command", "What a backup holds, and what the next run of a schedule takes.")
}
_NO_FILE = {3: "its files cannot be had"}
EXIT_CODES = (
    ExitCodes(("taken",), {0: "read, whatever it says", 1: "a part could not be read", **ALWAYS}),
    ExitCodes(
        ("backup logs", "restore logs", "nab logs"), {0: "the whole log", 1: "a part of it", **ALWAYS, **_NO_FILE}
    ),
    ExitCodes(
        ("backup results", "restore results", "nab results", "nar results"), {0: "printed", **ALWAYS, **_NO_FILE}
    ),
)
