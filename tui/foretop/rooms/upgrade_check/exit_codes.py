"""The exit codes of `upgrade-check`."""

from __future__ import annotations

from foretop.commands.exit_codes import BAD_INPUT, NOT_JUDGED, ExitCodes

EXIT_CODES = (
    ExitCodes(
        ("upgrade-check",),
        {0: "nothing changes", 1: "something changes", **BAD_INPUT, NOT_JUDGED: "not everything could be read"},
    ),
)
