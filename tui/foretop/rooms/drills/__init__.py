"""Drills on the command line and on the screen."""

from __future__ import annotations

COMMANDS = {
    "drill": ("foretop.rooms.drills.command", "Restore a namespace beside it on trial, compare, and delete it again.")
}
