"""The exit codes of what asks for the contents of a backup."""

from __future__ import annotations

from foretop.commands.exit_codes import ALWAYS, ExitCodes

EXIT_CODES = (ExitCodes(("taken",), {0: "read, whatever it says", 1: "a part could not be read", **ALWAYS}),)
