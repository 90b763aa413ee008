"""The trial of a change, on the command line and on the screen."""

from __future__ import annotations

from foretop.commands.exit_codes import NIGHT_JUDGED, ExitCodes

COMMANDS = {
    "whatif": ("foretop.rooms.what_if.command", "Compare the coming night with what it would be after a change.")
}
EXIT_CODES = (ExitCodes(("whatif",), NIGHT_JUDGED),)
