"""The exit codes of a drill."""

from __future__ import annotations

from foretop.commands.exit_codes import ALWAYS, REFUSED, ExitCodes

EXIT_CODES = (
    ExitCodes(("drill",), {0: "all came back, or is deleted", 1: "something did not, or is not", **ALWAYS, **REFUSED}),
)
