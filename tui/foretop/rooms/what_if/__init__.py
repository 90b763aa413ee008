"""The trial of a change, on the command line and on the screen."""

from __future__ import annotations

from foretop.commands.exit_codes import BAD_INPUT, NIGHT_OPEN, ExitCodes

COMMANDS = {
    "whatif": ("foretop.rooms.what_if.command", "Compare the coming night with what it would be after a change.")
}
EXIT_CODES = (
    ExitCodes(
        ("whatif",),
        {
            0: "with the change all runs are made, but for those that it pauses",
            1: "with it runs are lost, refused, invalid or paused (unless left out by --without)",
            **BAD_INPUT,
            **NIGHT_OPEN,
        },
    ),
)
