"""The exit codes of `whatif`: those of the night after the change."""

from __future__ import annotations

from foretop.commands.exit_codes import NIGHT_JUDGED, ExitCodes

EXIT_CODES = (ExitCodes(("whatif",), NIGHT_JUDGED),)
