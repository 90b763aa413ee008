"""The check of a Velero upgrade on the command line and on the screen."""

from __future__ import annotations

COMMANDS = {
    "upgrade-check": ("foretop.rooms.upgrade_check.command", "Show which schedules a Velero upgrade changes, and how.")
}
