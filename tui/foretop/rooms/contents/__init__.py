"""The contents of backups on the command line."""

from __future__ import annotations

COMMANDS = {
    "taken": ("foretop.rooms.contents.command", "What a backup holds, and what the next run of a schedule takes.")
}
